//! `lmlang find`: entities of a program by words.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Where, and what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// Words of names, paths, docs or signatures; the best match comes first, and nothing where none occurs.
    #[arg(required = true)]
    words: Vec<String>,
    #[command(flatten)]
    view: View,
    /// Only entities of this kind; may be given several times [default: all but nodes and regions].
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<Kind>,
    /// How many at most.
    #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Module,
    Type,
    Function,
    Region,
    Variable,
    Contract,
    Node,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Module => "MODULE",
            Kind::Type => "TYPE",
            Kind::Function => "FUNCTION",
            Kind::Region => "REGION",
            Kind::Variable => "VARIABLE",
            Kind::Contract => "CONTRACT",
            Kind::Node => "NODE",
        }
    }
}

const DOCUMENT: &str =
    "query($program: ID!, $query: String!, $kinds: [EntityKind!], $at: String, $first: Int!, $after: String) {
  findText(programId: $program, query: $query, kinds: $kinds, at: $at, first: $first, after: $after) {
    nodes { ref kind path text score } pageInfo { hasNextPage endCursor }
  }
}";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    find_text: Page<Found>,
}

/// Something that was found.
#[derive(Debug, Deserialize)]
struct Found {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    path: String,
    text: String,
    score: f64,
}

impl Found {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind,
            "path": self.path,
            "text": self.text,
            "score": self.score,
        })
    }

    fn row(&self) -> [String; 3] {
        [self.of.clone(), self.kind.to_ascii_lowercase(), self.text.clone()]
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let kinds: Vec<&str> = args.kind.iter().map(|kind| kind.name()).collect();
    let variables = json!({
        "program": args.program,
        "query": args.words.join(" "),
        "kinds": (!kinds.is_empty()).then_some(kinds),
        "at": args.view.at,
    });
    let (found, more) = with_client(settings, Missing::Refuse, async |client| {
        client.list(DOCUMENT, variables, args.limit as usize, |answer: Answer| answer.find_text).await
    })?;
    let json: Vec<Value> = found.iter().map(Found::json).collect();
    output.data(&json, || columns(&found.iter().map(Found::row).collect::<Vec<_>>()))?;
    if found.is_empty() {
        say("no match");
    }
    if more {
        say(format_args!("the rest is left out; `-n {}` shows more", args.limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}
