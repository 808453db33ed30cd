//! WebAssembly modules in and out.

mod examples;
mod floats;
mod oracle;
mod smith;
mod suite;
