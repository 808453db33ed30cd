//! What is true of a database file only. On a server these are skipped by the name of this module.

mod alone;
mod busy;
mod kill;
mod moved;
mod opening;
mod power_loss;
