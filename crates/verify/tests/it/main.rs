//! Tests of the verifier over its public surface.

mod build;
mod codes;
mod findings;
mod laws;
mod mutate;
mod unassigned;
