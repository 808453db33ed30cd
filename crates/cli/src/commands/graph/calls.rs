//! `lmlang graph calls`: which function calls which.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, rest_behind, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Of which program.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    #[command(flatten)]
    view: View,
    /// How many pairs of functions at most.
    #[arg(long, short = 'n', default_value_t = 200, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this cursor, which is told where more follow.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

const CALLS: &str = "query($id: ID, $name: String, $at: String, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    callGraph(first: $first, after: $after) {
      nodes { caller { ref path } callee { ref path } sites } pageInfo { hasNextPage endCursor } totalCount
    }
  }
}";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    call_graph: Page<Call>,
}

/// A function that calls another one.
#[derive(Debug, Deserialize)]
struct Call {
    caller: Function,
    callee: Function,
    sites: u64,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(rename = "ref")]
    of: String,
    path: String,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["after"] = args.after.clone().into();
    let part = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: About<Answer>| answer.program.call_graph;
        client.part(CALLS, variables, args.limit as usize, page).await
    })?;
    output.data(&part.json(Call::json), || columns(&part.items.iter().map(Call::row).collect::<Vec<_>>()))?;
    if let Some(next) = &part.next {
        say(rest_behind(next));
    }
    Ok(Exit::Success)
}

impl Call {
    fn json(&self) -> Value {
        json!({ "caller": self.caller.json(), "callee": self.callee.json(), "sites": self.sites })
    }

    fn row(&self) -> [String; 4] {
        let Call { caller, callee, sites } = self;
        [caller.path.clone(), "calls".to_owned(), callee.path.clone(), counted(*sites, "time", "times")]
    }
}

impl Function {
    fn json(&self) -> Value {
        json!({ "ref": self.of, "path": self.path })
    }
}
