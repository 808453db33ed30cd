//! `lmlang coverage`: the nodes that no test case reaches.

use lmlang_ir::Ref;
use serde::Deserialize;

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::nodes::Node;
use crate::output::{Output, columns, counted, rest_behind, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which program, or which function of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// Only the nodes of this function, by path (`module::name`), name or ref.
    function: Option<String>,
    #[command(flatten)]
    view: View,
    /// How many nodes at most.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this cursor, which is told where more follow.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

const NODES: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) { stats { nodes } }
}";

const NODES_OF_FUNCTION: &str =
    "query($id: ID, $name: String, $at: String, $ref: String, $function: String) {
  program(id: $id, name: $name, at: $at) { function(ref: $ref, name: $function) { ref nodes(first: 1) { totalCount } } }
}";

const UNCOVERED: &str =
    "query($id: ID, $name: String, $at: String, $of: String, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    uncovered(function: $of, first: $first, after: $after) {
      nodes { ref owner { path } text(detail: SUMMARY) } pageInfo { hasNextPage endCursor } totalCount
    }
  }
}";

#[derive(Debug, Deserialize)]
struct OfProgram {
    stats: Stats,
}

#[derive(Debug, Deserialize)]
struct Stats {
    nodes: u64,
}

#[derive(Debug, Deserialize)]
struct OfFunction {
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(rename = "ref")]
    of: String,
    nodes: Total,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Total {
    total_count: u64,
}

#[derive(Debug, Deserialize)]
struct Uncovered {
    uncovered: Page<Node>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let variables = args.view.of(&args.program);
    let (nodes, part) = with_client(settings, Missing::Refuse, async |client| {
        let (nodes, of) = match &args.function {
            None => {
                let answer: About<OfProgram> = client.ask(NODES, &variables).await?;
                (answer.program.stats.nodes, None)
            }
            Some(function) => {
                let mut variables = variables.clone();
                let key = if function.parse::<Ref>().is_ok() { "ref" } else { "function" };
                variables[key] = function.clone().into();
                let answer: About<OfFunction> = client.ask(NODES_OF_FUNCTION, &variables).await?;
                let Function { of, nodes } = answer.program.function;
                (nodes.total_count, Some(of))
            }
        };
        let mut variables = variables.clone();
        variables["of"] = of.into();
        variables["after"] = args.after.clone().into();
        let page = |answer: About<Uncovered>| answer.program.uncovered;
        Ok((nodes, client.part(UNCOVERED, variables, args.limit as usize, page).await?))
    })?;
    let mut json = part.json(Node::json);
    json["nodes"] = nodes.into();
    output.data(&json, || columns(&part.items.iter().map(Node::row).collect::<Vec<_>>()))?;
    if let Some(next) = &part.next {
        say(rest_behind(next));
    }
    let uncovered = part.total.unwrap_or(part.items.len() as u64);
    say(format_args!("no test case reaches {uncovered} of {}", counted(nodes, "node", "nodes")));
    Ok(Exit::Success)
}
