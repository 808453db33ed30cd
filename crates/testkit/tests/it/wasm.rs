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
mod stuck;
mod suite;
mod world;
mod written;
