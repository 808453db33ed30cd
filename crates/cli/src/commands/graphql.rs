//! `lmlang graphql`: any operation of the schema, asked as it stands.

use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::codes::refused_exit;
use crate::error::Error;
use crate::exit::Exit;
use crate::fields;
use crate::output::{Form, Output};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::argument;

/// What is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The document: `{ programs { nodes { name } } }`; `-` reads it from standard input.
    document: String,
    /// Its variables, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = fields::read)]
    vars: Map<String, Value>,
    /// Which of its operations, where it has several.
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
}

/// Prints the whole answer, of a subscription each as it comes, and ends as its first error says. A change is asked for
/// once: give it an idempotency key.
pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let document = argument(&args.document)?;
    let request = json!({ "query": document, "variables": args.vars, "operationName": args.operation });
    with_client(settings, Missing::Refuse, async |client| {
        let mut exit = Exit::Success;
        let mut answers = client.stream(request).await?;
        while let Some(answer) = answers.next().await? {
            let answer: Value = serde_json::from_slice(&answer).map_err(Error::Answer)?;
            match output.form {
                Form::Text => output.text(&format!("{answer:#}\n"))?,
                Form::Json => output.json_line(&answer)?,
            }
            if let (Exit::Success, Some(error)) = (exit, answer["errors"].get(0)) {
                exit = refused_exit(error["extensions"]["code"].as_str().unwrap_or_default());
            }
        }
        Ok(exit)
    })
}
