//! The fast tier: a function runs as compiled code.
//!
//! A function is written with all that it reaches as a WebAssembly module that counts its fuel ([`lmlang_wasm::metered`]),
//! and wasmtime compiles that. What comes out is what a run in the interpreter gives: values, steps, fuel, output, files. A run
//! that does not return says only that it stopped: why, where and with which values is for the interpreter to find out,
//! which does the same again. So there is one place that says how runs fail.
//!
//! A run has a thread of its own, for the stack that deep recursion takes. Whoever runs it is asked for more from time to
//! time, on the thread that waits.
//!
//! Its tests stand beside those of WebAssembly in and out, in `testkit/tests/it/tiers`: both tiers run the same.

#![forbid(unsafe_code)]

mod change;
mod compiler;
mod cost;
mod host;
mod refusal;
mod run;
mod unit;
mod values;

pub use change::{Change, Tier};
pub use compiler::{Compiler, nodes};
pub use refusal::Refusal;
pub use run::{Ending, Runner, Start};
pub use unit::Unit;
