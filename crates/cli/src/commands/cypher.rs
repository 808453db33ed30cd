//! `lmlang cypher`: questions about entities and programs.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::error::Error;
use crate::exit::Exit;
use crate::fields;
use crate::output::{Output, cell, columns, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::argument;

/// What is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The query, which only reads: `MATCH (f:Function)-[:CALLS]->(g) RETURN f.path, g.path`; `-` reads it from standard input.
    query: String,
    /// A value for each `$name` of the query, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = fields::read)]
    vars: Map<String, Value>,
}

const ASK: &str = "query($query: String!, $params: JSON) {
  cypher(query: $query, params: $params) { columns rows truncated }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    cypher: Table,
}

/// What a query answers.
#[derive(Debug, Deserialize)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    truncated: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let variables = json!({ "query": argument(&args.query)?, "params": args.vars });
    let answer: Answer =
        with_client(settings, Missing::Refuse, async |client| client.ask(ASK, &variables).await)?;
    let Table { columns: names, rows, truncated } = answer.cypher;
    let json = json!({ "columns": names, "rows": rows, "complete": !truncated });
    output.data(&json, || {
        let told = rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>());
        columns(&std::iter::once(names.clone()).chain(told).collect::<Vec<Vec<String>>>())
    })?;
    let rows = counted(rows.len() as u64, "row", "rows");
    match truncated {
        true => say(format_args!("{rows}; the rest is left out: `SKIP` and `LIMIT` ask for less at a time")),
        false => say(format_args!("{rows}, that is all")),
    }
    Ok(Exit::Success)
}
