//! `lmlang diff`: how two revisions of a program differ.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client, Page, named, with_client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Counts, Form, Output};
use crate::session::Missing;
use crate::settings::Settings;

/// Which program, and which revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The older revision.
    from: String,
    /// The newer revision [default: the head of the branch].
    to: Option<String>,
    /// The branch whose head is the newer revision.
    #[arg(long, default_value = "main", conflicts_with = "to", value_name = "NAME")]
    branch: String,
    /// Only say what differs, without the text.
    #[arg(long)]
    stat: bool,
}

const SUMMARY: &str = "query($id: ID, $name: String, $from: String!, $to: String!, $text: Boolean!) {
  program(id: $id, name: $name) {
    diff(from: $from, to: $to) {
      from { number } to { number } changed { added removed modified }
      text(maxBytes: 2147483647) @include(if: $text)
    }
  }
}";

const FUNCTIONS: &str =
    "query($id: ID, $name: String, $from: String!, $to: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name) {
    diff(from: $from, to: $to) {
      functions(first: $first, after: $after) {
        nodes { ref path change added removed modified }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}";

const EDITS: &str =
    "query($id: ID, $name: String, $from: String!, $to: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name) {
    diff(from: $from, to: $to) {
      edits(first: $first, after: $after) { nodes { text } pageInfo { hasNextPage endCursor } }
    }
  }
}";

/// A part of a difference.
#[derive(Debug, Deserialize)]
struct Differing<T> {
    diff: T,
}

#[derive(Debug, Deserialize)]
struct Summary {
    from: Numbered,
    to: Numbered,
    changed: Counts,
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Functions {
    functions: Page<Function>,
}

/// What differs in a function.
#[derive(Debug, Deserialize)]
struct Function {
    #[serde(rename = "ref")]
    of: String,
    path: String,
    change: String,
    added: Vec<String>,
    removed: Vec<String>,
    modified: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Edits {
    edits: Page<Edit>,
}

#[derive(Debug, Deserialize)]
struct Edit {
    text: String,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = named(&args.program);
    variables["from"] = args.from.clone().into();
    variables["to"] = args.to.as_ref().unwrap_or(&args.branch).clone().into();
    with_client(settings, Missing::Refuse, async |client| {
        let mut of_summary = variables.clone();
        of_summary["text"] = (!args.stat).into();
        let summary: About<Differing<Summary>> = client.ask(SUMMARY, &of_summary).await?;
        let Summary { from, to, changed, text } = summary.program.diff;
        let page = |answer: About<Differing<Functions>>| answer.program.diff.functions;
        let (functions, _) = client.list(FUNCTIONS, variables.clone(), usize::MAX, page).await?;
        match output.form {
            Form::Text => {
                let mut shown = format!("{changed}\n");
                functions.iter().for_each(|function| shown.push_str(&function.line()));
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    shown.push('\n');
                    shown.push_str(&text);
                }
                output.text(&shown)
            }
            Form::Json => output.json(&json!({
                "from": format!("r{}", from.number),
                "to": format!("r{}", to.number),
                "added": changed.added,
                "removed": changed.removed,
                "modified": changed.modified,
                "functions": functions.iter().map(Function::json).collect::<Vec<Value>>(),
                "edits": edits(client, variables).await?,
                "text": text,
            })),
        }
    })?;
    Ok(Exit::Success)
}

/// The edits that turn one revision into the other, each in one line.
async fn edits(client: &Client, variables: Value) -> Result<Vec<String>, Error> {
    let page = |answer: About<Differing<Edits>>| answer.program.diff.edits;
    let (edits, _) = client.list(EDITS, variables, usize::MAX, page).await?;
    Ok(edits.into_iter().map(|edit| edit.text).collect())
}

impl Function {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "path": self.path,
            "change": self.change,
            "added": self.added,
            "removed": self.removed,
            "modified": self.modified,
        })
    }

    fn line(&self) -> String {
        let (added, removed, modified) = (self.added.len(), self.removed.len(), self.modified.len());
        let change = self.change.to_ascii_lowercase();
        format!("{change} {} {}  +{added} -{removed} ~{modified}\n", self.of, self.path)
    }
}
