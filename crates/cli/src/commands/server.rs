//! `lmlang server`: who answers, and what it allows.

use lmlang_ir::text::nearest;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};
use crate::session::Missing;
use crate::settings::Settings;

/// What to do with a server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with a server.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show what answers requests here, a server or this command itself, what it can do, and its limits.
    Show {
        /// Only these limits, by the names that errors give them.
        #[arg(value_name = "LIMIT")]
        limits: Vec<String>,
    },
}

const INFO: &str = "{ serverInfo { name version storage features diagnosticsUrl limits } }";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    server_info: Info,
}

/// What a server is, and what it allows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    name: String,
    version: String,
    storage: String,
    features: Vec<String>,
    diagnostics_url: Option<String>,
    limits: Map<String, Value>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let Action::Show { limits } = &args.action;
    let (at, answer) = with_client(settings, Missing::Refuse, async |client| {
        let answer: Answer = client.ask(INFO, &json!({})).await?;
        Ok((client.address(), answer))
    })?;
    let info = answer.server_info;
    if limits.is_empty() {
        output.data(&info.json(&at), || info.text(&at))?;
        return Ok(Exit::Success);
    }
    let mut chosen = Map::new();
    for name in limits {
        let Some(limit) = info.limits.get(name) else {
            let near = nearest(name, info.limits.keys().map(String::as_str));
            return Err(Error::not_found(format!("there is no limit `{name}`"), near));
        };
        chosen.insert(name.clone(), limit.clone());
    }
    output.data(&chosen, || rows(&chosen))?;
    Ok(Exit::Success)
}

impl Info {
    fn json(&self, at: &str) -> Value {
        json!({
            "at": at,
            "name": self.name,
            "version": self.version,
            "storage": self.storage,
            "features": self.features,
            "diagnosticsUrl": self.diagnostics_url,
            "limits": self.limits,
        })
    }

    fn text(&self, at: &str) -> String {
        let head = [
            ("at", at.to_owned()),
            ("version", format!("{} {}", self.name, self.version)),
            ("storage", self.storage.clone()),
            ("features", self.features.join(", ")),
        ];
        let head = columns(&head.map(|(word, value)| [word.to_owned(), value]));
        format!("{head}\n{}", rows(&self.limits))
    }
}

/// Limits by name.
fn rows(limits: &Map<String, Value>) -> String {
    let row = |(name, limit): (&String, &Value)| {
        let limit = if limit.is_null() { "none".to_owned() } else { limit.to_string() };
        [name.clone(), limit]
    };
    columns(&limits.iter().map(row).collect::<Vec<_>>())
}
