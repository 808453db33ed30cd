//! Tests of the trace tier through its public interface.

mod files;
mod kernels;
mod laws;
mod limits;
mod tools;
