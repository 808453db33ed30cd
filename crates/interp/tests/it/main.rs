//! Tests of the trace tier through its public interface.

mod kernels;
mod laws;
mod limits;
mod tools;
