//! Tests of the fast tier through its public interface.

mod agree;
mod bounds;
mod tools;
