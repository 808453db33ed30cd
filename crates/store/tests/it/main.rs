//! The store on real databases, with faults.

mod backup;
mod backup_parts;
mod committer;
mod doctor;
mod entities;
mod faults;
mod feed;
mod file;
mod fixture;
mod flow_changes;
mod full;
mod journal;
mod log;
mod objects;
mod packing;
mod programs;
mod replicas;
mod secrets;
mod simulations;
mod tls;
mod tokens;
