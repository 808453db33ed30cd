//! Tests of what is no module.

mod modules;
