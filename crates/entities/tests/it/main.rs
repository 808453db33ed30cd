//! Tests of the crate from outside: cases as text, and laws.

mod cases;
mod laws;
mod patterns;
mod reading;
mod texts;
mod values;
