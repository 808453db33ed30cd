//! Tests of modules that come in and go out.

mod modules;
mod programs;
