//! What the benchmarks that compare have in common: rounds in which everything takes its turn, a report with targets, a
//! client that costs little, and servers as processes of their own.
//!
//! Absolute figures on a shared machine mean little, so each is set beside something that ran in the same rounds, in
//! shuffled order, after both gave the same answer. What is measured is in `benches`, a file or a folder for each block.
//! Read [`rounds`], then [`report`]; [`load`] over [`http`], [`socket`] and [`process`] are for servers, [`editor`] is a client
//! of ours.

pub mod editor;
pub mod http;
pub mod load;
pub mod process;
pub mod report;
pub mod rounds;
pub mod socket;
