//! The store on real files, with faults.

mod committer;
mod doctor;
mod faults;
mod feed;
mod fixture;
mod kill;
mod log;
mod objects;
mod opening;
mod power_loss;
mod programs;
mod simulations;
mod tokens;
