//! Tests of the crate from outside: cases as text, and laws.

mod cases;
mod config;
mod laws;
mod values;
