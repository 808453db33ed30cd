//! Tests of the trace tier through its public interface.

mod branches;
mod functions;
mod kernels;
mod laws;
mod limits;
mod tools;
mod traces;
