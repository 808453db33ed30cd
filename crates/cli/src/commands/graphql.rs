//! `lmlang graphql`: any operation of the schema, asked as it stands.

use std::io::Read;

use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::error::{Error, refused_exit};
use crate::exit::Exit;
use crate::output::Output;
use crate::session::Missing;
use crate::settings::Settings;

/// What is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The document: `{ programs { nodes { name } } }`; `-` reads it from standard input.
    document: String,
    /// Its variables, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
    vars: Map<String, Value>,
    /// Which of its operations, where it has several.
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
}

fn object(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Prints the whole answer, and ends as its first error says. A change is asked for once: give it an idempotency key.
pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut document = args.document.clone();
    if document == "-" {
        document.clear();
        let read = std::io::stdin().read_to_string(&mut document);
        read.map_err(|source| Error::Io { what: "reading standard input", source })?;
    }
    let request = json!({ "query": document, "variables": args.vars, "operationName": args.operation });
    let answer = with_client(settings, Missing::Refuse, async |client| client.send(request).await)?;
    let answer: Value = serde_json::from_slice(&answer).map_err(Error::Answer)?;
    output.data(&answer, || format!("{answer:#}\n"))?;
    Ok(match answer["errors"].get(0) {
        Some(error) => refused_exit(error["extensions"]["code"].as_str().unwrap_or_default()),
        None => Exit::Success,
    })
}
