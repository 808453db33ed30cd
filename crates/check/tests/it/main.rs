//! Tests of checking through its public interface.

mod differences;
mod examples;
mod laws;
mod mutations;
mod planted;
mod refusals;
mod tools;
