//! `lmlang schema`: the GraphQL schema.

use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;

/// What to do with the schema.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with the schema.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print it in the schema definition language, sorted.
    Print,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let Action::Print = args.action;
    let sdl = lmlang_graphql::schema::sdl();
    output.data(&json!({ "sdl": sdl }), || sdl.clone())?;
    Ok(Exit::Success)
}
