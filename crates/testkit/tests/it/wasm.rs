//! WebAssembly modules in and out.

mod driven;
mod examples;
mod floats;
mod generated;
mod oracle;
mod smith;
mod suite;
mod world;
mod written;
