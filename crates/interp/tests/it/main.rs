//! Tests of the trace tier through its public interface.

mod branches;
mod coverage;
mod debug;
mod expressions;
mod functions;
mod input;
mod kernels;
mod laws;
mod limits;
mod memory;
mod record;
mod tools;
mod traces;
mod why;
