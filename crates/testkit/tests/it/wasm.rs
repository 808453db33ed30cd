//! WebAssembly modules in and out.

mod examples;
mod oracle;
mod smith;
mod suite;
