//! What each revision changes about the findings of the verifier.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Actor, Args};
use crate::error::Error;
use crate::findings::{FOUND, Found};
use crate::output::{Form, Output, counted, moment};

const DELTAS: &str = "subscription($program: ID!, $branch: String, $after: String, $scope: [String!]) {
  event: diagnostics(programId: $program, branch: $branch, after: $after, scope: $scope) {
    cursor complete
    revision { number createdAt actor { name kind } }
    added { ...Found } resolved { ...Found }
  }
}";

/// What a revision changed about the findings.
#[derive(Debug, Deserialize)]
struct Delta {
    cursor: String,
    complete: bool,
    revision: Revision,
    added: Vec<Found>,
    resolved: Vec<Found>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Revision {
    number: u64,
    created_at: String,
    actor: Actor,
}

/// What is asked for behind a cursor.
pub(super) fn request(args: &Args, program: Option<&str>, cursor: Option<&str>) -> Value {
    let variables = json!({
        "program": program,
        "branch": args.branch,
        "after": cursor,
        "scope": (!args.functions.is_empty()).then_some(&args.functions),
    });
    json!({ "query": format!("{DELTAS}\n{FOUND}"), "variables": variables })
}

pub(super) fn print(event: Value, output: Output) -> Result<(), Error> {
    let delta: Delta = serde_json::from_value(event).map_err(Error::Answer)?;
    match output.form {
        Form::Json => output.json_line(&delta.json()),
        Form::Text => output.item(&delta.text()),
    }
}

impl Delta {
    fn json(&self) -> Value {
        let Delta { cursor, complete, revision, added, resolved } = self;
        json!({
            "cursor": cursor,
            "revision": format!("r{}", revision.number),
            "time": moment(&revision.created_at),
            "author": revision.actor.name,
            "complete": complete,
            "added": added.iter().map(Found::json).collect::<Vec<_>>(),
            "resolved": resolved.iter().map(Found::json).collect::<Vec<_>>(),
        })
    }

    /// The revision, then a line for each finding that came or went.
    fn text(&self) -> String {
        let Revision { number, created_at, actor } = &self.revision;
        let added = counted(self.added.len() as u64, "finding", "findings");
        let mut text = format!(
            "{}  {} ({})  r{number}: {added} more, {} gone\n",
            moment(created_at),
            actor.name,
            actor.kind.to_ascii_lowercase(),
            self.resolved.len(),
        );
        for (sign, findings) in [('+', &self.added), ('-', &self.resolved)] {
            for found in findings {
                text.push_str(&format!("  {sign} {}\n", found.head()));
            }
        }
        text
    }
}
