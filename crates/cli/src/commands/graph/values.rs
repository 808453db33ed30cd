//! `lmlang graph run`: what some nodes compute, with values for what they take.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::callee::unquoted;
use crate::client::{About, with_client};
use crate::ends::{END, End};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which nodes, with what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// Nodes of one region, by ref or path (`module::function::name`); they run in the order of their region.
    #[arg(required = true)]
    nodes: Vec<String>,
    /// A value for something that they take from elsewhere (`n12`, `n12.1`, `g5.0`, `f7.0`), or for a hole (`n12.in0`); may be
    /// repeated.
    #[arg(long = "input", value_name = "PORT=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    inputs: Vec<(String, String)>,
    /// How many nodes may be executed.
    #[arg(long, value_name = "NODES")]
    fuel: Option<u64>,
    /// What they read of standard input.
    #[arg(long, value_name = "TEXT")]
    stdin: Option<String>,
    #[command(flatten)]
    view: View,
}

const RUN: &str =
    "query($id: ID, $name: String, $at: String, $nodes: [String!]!, $inputs: [PortValue!]!, $run: SimulateInput!) {
  program(id: $id, name: $name, at: $at) {
    ran: simulateNodes(nodes: $nodes, inputs: $inputs, run: $run) { outcome { ...End } stdout steps }
  }
}";

/// Reads a port and its value.
fn assignment(given: &str) -> Result<(String, String), &'static str> {
    match given.split_once('=') {
        Some(("", _)) | None => Err("expected `PORT=VALUE`"),
        Some((port, value)) => Ok((port.to_owned(), unquoted(value))),
    }
}

#[derive(Debug, Deserialize)]
struct Answer {
    ran: Ran,
}

/// What became of a run.
#[derive(Debug, Deserialize)]
struct Ran {
    outcome: End,
    stdout: String,
    steps: u64,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    let input = |(port, value): &(String, String)| json!({ "port": port, "value": value });
    variables["nodes"] = args.nodes.clone().into();
    variables["inputs"] = args.inputs.iter().map(input).collect::<Vec<Value>>().into();
    variables["run"] = json!({
        "args": [],
        "limits": args.fuel.map(|fuel| json!({ "fuel": fuel })),
        "stdin": args.stdin,
        "recordTrace": "CALLS",
    });
    let document = format!("{RUN}\n{END}");
    let answer: About<Answer> =
        with_client(settings, Missing::Refuse, async |client| client.ask(&document, &variables).await)?;
    let Ran { outcome, stdout, steps } = answer.program.ran;
    let mut json = outcome.json();
    json["stdout"] = stdout.clone().into();
    json["steps"] = steps.into();
    output.data(&json, || {
        let mut text = stdout;
        let values = outcome.values().unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') && !values.is_empty() {
            text.push('\n');
        }
        values.iter().for_each(|value| text.push_str(&format!("{value}\n")));
        text
    })?;
    if outcome.values().is_none() {
        say(outcome.line());
    }
    say(counted(steps, "step", "steps"));
    Ok(outcome.exit())
}
