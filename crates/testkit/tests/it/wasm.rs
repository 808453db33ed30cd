//! WebAssembly modules in and out.

mod contracts;
mod driven;
mod examples;
mod floats;
mod generated;
mod oracle;
mod reference;
mod room;
mod smith;
mod suite;
mod world;
mod written;
