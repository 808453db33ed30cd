//! `lmlang graph`: the nodes of a program by what they are, what lies around them, and what some of them compute.

use clap::Subcommand;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;
use crate::settings::Settings;

mod calls;
mod part;
mod search;
mod values;

/// What is asked about the graph.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What is asked about the graph.
#[derive(Debug, Subcommand)]
enum Action {
    /// List nodes by their operator, type, constant, what they name, or who made them.
    Search(Box<search::Args>),
    /// Print what a node depends on, or what depends on it, within its function.
    Slice(part::SliceArgs),
    /// Print the nodes around something.
    Neighborhood(part::NeighborhoodArgs),
    /// List which function calls which.
    Calls(calls::Args),
    /// Run some nodes of one region, with values for what they take from elsewhere.
    Run(values::Args),
}

impl Args {
    /// Whether it lists nodes, whoever made them.
    pub(crate) fn lists_all_authors(&self) -> bool {
        matches!(&self.action, Action::Search(args) if args.by.is_none())
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Search(args) => search::run(args, settings, output),
        Action::Slice(args) => part::slice(args, settings, output),
        Action::Neighborhood(args) => part::neighborhood(args, settings, output),
        Action::Calls(args) => calls::run(args, settings, output),
        Action::Run(args) => values::run(args, settings, output),
    }
}
