//! `lmlang tool`: the tools for agents, from the command line.

use std::sync::Arc;

use lmlang_mcp::{Desk, TOOLS, Tool, desk, listing};
use serde_json::{Map, Value};

use crate::asking::Asking;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};
use crate::session::block_on;
use crate::settings::Settings;
use crate::source::argument;

/// What to do with the tools.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with the tools.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them; with `--json` with their schemas and annotations, as MCP's `tools/list` does.
    List,
    /// Call one, as MCP's `tools/call` does.
    Call {
        /// The tool's name.
        name: String,
        /// Its arguments, a JSON object; `-` reads them from standard input.
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::List => list(output),
        Action::Call { name, arguments } => call(name, arguments, settings, output),
    }
}

fn list(output: Output) -> Result<Exit, Error> {
    output.data(&listing(), || {
        let first = |tool: &Tool| {
            let sentence = tool.description.split_inclusive(". ").next().unwrap_or_default();
            sentence.trim_end().to_owned()
        };
        columns(&TOOLS.iter().map(|tool| [tool.name.to_owned(), first(tool)]).collect::<Vec<_>>())
    })?;
    Ok(Exit::Success)
}

fn call(name: &str, given: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let tool = desk::find(name)?;
    let arguments: Map<String, Value> = serde_json::from_str(&argument(given)?)
        .map_err(|source| Error::ToolArguments { tool: tool.name, source })?;
    let done = block_on(async {
        let asking = Arc::new(Asking::new(settings));
        let done = Desk::new(asking.clone()).call(tool, arguments, Arc::new(|_| {})).await;
        asking.close().await;
        Ok(done?)
    })?;
    output.data(&done.json(), || format!("{}\n", done.text()))?;
    Ok(exit(&done))
}

/// How the process ends on a result.
fn exit(done: &lmlang_mcp::ToolResult) -> Exit {
    let code = done.data()["errors"][0]["code"].as_str().unwrap_or_default();
    match (done.is_error(), done.data()["outcome"].as_str()) {
        (false, _) => Exit::Success,
        (true, Some("rejected")) => Exit::Verification,
        (true, Some("conflict")) => Exit::Conflict,
        (true, Some("refused")) => crate::codes::refused_exit(code),
        (true, _) => Exit::Failure,
    }
}
