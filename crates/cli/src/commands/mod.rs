//! The commands, one file each.

pub(crate) mod act;
pub(crate) mod approve;
pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod bisect;
pub(crate) mod blame;
pub(crate) mod branch;
pub(crate) mod build;
pub(crate) mod case;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod coverage;
pub(crate) mod cypher;
pub(crate) mod debug;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod entity;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod flow;
pub(crate) mod fmt;
pub(crate) mod graph;
pub(crate) mod graphql;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod listening;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod mutate;
pub(crate) mod program;
pub(crate) mod propose;
pub(crate) mod revert;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod server;
pub(crate) mod show;
pub(crate) mod talk;
pub(crate) mod test;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod travel;
pub(crate) mod verify;
pub(crate) mod watch;

use crate::cli::{Cli, Command};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::settings::Layers;

/// Carries a command out.
pub(crate) fn run(cli: Cli, output: Output) -> Result<Exit, Error> {
    if cli.author.is_some()
        && let Some(command) = cli.command.lists_all_authors()
    {
        return Err(Error::NoAuthor(command));
    }
    let flags = cli.flags();
    Layers::passed_over(&flags).iter().for_each(|told| say(format!("warning: {told}")));
    let layers = Layers::stack(&flags);
    match cli.command {
        Command::Serve(args) => serve::run(&args, &layers.settings()?, output),
        Command::Check(args) => check::run(&args, output),
        Command::Fmt(args) => fmt::run(&args, output),
        Command::Run(args) => run::run(&args, &layers, output),
        Command::Debug(args) => debug::run(&args, &layers, output),
        Command::Build(args) => build::run(&args, &layers, output),
        Command::Import(args) => import::run(&args, &layers.settings()?, output),
        Command::Export(args) => export::run(&args, &layers.settings()?, output),
        Command::Program(args) => program::run(&args, &layers.settings()?, output),
        Command::Show(args) => show::run(&args, &layers.settings()?, output),
        Command::Edit(args) => edit::run(&args, &layers.settings()?, output),
        Command::Verify(args) => verify::run(&args, &layers.settings()?, output),
        Command::Propose(args) => propose::run(&args, &layers.settings()?, output),
        Command::History(args) => history::run(&args, &layers.settings()?, output),
        Command::Blame(args) => blame::run(&args, &layers.settings()?, output),
        Command::Undo(args) => travel::undo(&args, &layers.settings()?, output),
        Command::Redo(args) => travel::redo(&args, &layers.settings()?, output),
        Command::Watch(args) => watch::run(&args, &layers.settings()?, output),
        Command::Checkpoint(args) => checkpoint::run(&args, &layers.settings()?, output),
        Command::Revert(args) => revert::run(&args, &layers.settings()?, output),
        Command::Branch(args) => branch::run(&args, &layers.settings()?, output),
        Command::Merge(args) => merge::run(&args, &layers.settings()?, output),
        Command::Diff(args) => diff::run(&args, &layers.settings()?, output),
        Command::Case(args) => case::run(&args, &layers.settings()?, output),
        Command::Test(args) => test::run(&args, &layers.settings()?, output),
        Command::Coverage(args) => coverage::run(&args, &layers.settings()?, output),
        Command::Mutate(args) => mutate::run(&args, &layers.settings()?, output),
        Command::Bisect(args) => bisect::run(&args, &layers.settings()?, output),
        Command::Compare(args) => compare::run(&args, &layers.settings()?, output),
        Command::Context(args) => context::run(&args, &layers.settings()?, output),
        Command::Ask(args) => ask::run(&args, &layers.settings()?, output),
        Command::Find(args) => find::run(&args, &layers.settings()?, output),
        Command::Graph(args) => graph::run(&args, &layers.settings()?, output),
        Command::Entity(args) => entity::run(&args, &layers.settings()?, output),
        Command::Cypher(args) => cypher::run(&args, &layers.settings()?, output),
        Command::Graphql(args) => graphql::run(&args, &layers.settings()?, output),
        Command::Flow(args) => flow::run(&args, &layers.settings()?, output),
        Command::Act(args) => act::run(&args, &layers.settings()?, output),
        Command::Chat(args) => chat::run(&args, &layers.settings()?, output),
        Command::Approve(args) => approve::approve(&args, &layers.settings()?, output),
        Command::Reject(args) => approve::reject(&args, &layers.settings()?, output),
        Command::Token(args) => token::run(&args, &layers.settings()?, output),
        Command::Server(args) => server::run(&args, &layers.settings()?, output),
        Command::Mcp(args) => mcp::run(&args, &layers.settings()?, output),
        Command::Tool(args) => tool::run(&args, &layers.settings()?, output),
        Command::Backup(args) => backup::run(&args, &layers.settings()?, output),
        Command::Schema(args) => schema::run(&args, output),
        Command::Doctor(args) => doctor::run(&args, &layers.settings()?, output),
        Command::Config(args) => config::run(&args, &layers, output),
        Command::Completions(args) => completions::run(&args, output),
        Command::Man(args) => man::run(&args, output),
        Command::Help(args) => help::run(&args, output),
    }
}
