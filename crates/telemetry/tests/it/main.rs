//! Tests of the exporter against a collector on the loopback address.

mod collector;
mod faults;
mod sending;
