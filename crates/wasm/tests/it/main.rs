//! Tests of modules that come in and go out.

mod carried;
mod hostile;
mod modules;
mod programs;
mod sections;
mod sizes;
mod threads;
