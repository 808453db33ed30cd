//! `lmlang history`: the revisions of a program.

use std::str::FromStr;

use lmlang_ir::Ref;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Counts, Output, columns, moment, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which program, and which of its revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    #[command(flatten)]
    view: View,
    /// How many at most.
    #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only those by this author.
    #[arg(long = "by", value_name = "NAME")]
    by: Option<String>,
    /// Only those that changed this entity, such as `f7` or `n12`.
    #[arg(long, value_name = "REF", value_parser = Ref::from_str)]
    touching: Option<Ref>,
}

const DOCUMENT: &str =
    "query($id: ID, $name: String, $at: String, $first: Int!, $after: String, $author: String, $touching: String) {
  program(id: $id, name: $name, at: $at) {
    history(first: $first, after: $after, author: $author, touching: $touching) {
      nodes {
        number branch kind createdAt actor { name } message checkpoint rootHash
        parents { number } target { number } changed { added removed modified }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct History {
    history: Page<Revision>,
}

/// A revision.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Revision {
    number: u64,
    branch: String,
    kind: String,
    created_at: String,
    actor: Author,
    message: Option<String>,
    checkpoint: Option<String>,
    root_hash: String,
    parents: Vec<Numbered>,
    target: Option<Numbered>,
    changed: Counts,
}

/// An author, as far as commands show it.
#[derive(Debug, Deserialize)]
pub(crate) struct Author {
    pub(crate) name: String,
}

/// A revision that is named only.
#[derive(Debug, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
}

impl Revision {
    fn json(&self) -> Value {
        json!({
            "revision": format!("r{}", self.number),
            "branch": self.branch,
            "kind": self.kind.to_ascii_lowercase(),
            "time": moment(&self.created_at),
            "author": self.actor.name,
            "message": self.message,
            "parents": self.parents.iter().map(|parent| format!("r{}", parent.number)).collect::<Vec<_>>(),
            "target": self.target.as_ref().map(|target| format!("r{}", target.number)),
            "checkpoint": self.checkpoint,
            "added": self.changed.added,
            "removed": self.changed.removed,
            "modified": self.changed.modified,
            "rootHash": self.root_hash,
        })
    }

    /// The revision as a row: number, hash, kind, changes, author, time and what it is about.
    fn row(&self) -> [String; 7] {
        [
            format!("r{}", self.number),
            self.root_hash[..12].to_owned(),
            self.kind.to_ascii_lowercase(),
            self.changed.to_string(),
            self.actor.name.clone(),
            moment(&self.created_at),
            self.about(),
        ]
    }

    /// What it was made for: what it went to, took back, brought in or named, and why.
    fn about(&self) -> String {
        let target = self.target.as_ref().map(|target| format!("r{}", target.number));
        let what = match (self.kind.as_str(), target) {
            ("CHECKPOINT", target) => self.checkpoint.as_deref().map(|name| match target {
                Some(target) => format!("`{name}` at {target}"),
                None => format!("`{name}` removed"),
            }),
            ("BRANCH", Some(target)) => Some(format!("`{}` from {target}", self.branch)),
            ("REVERT", Some(target)) => Some(format!("without {target}")),
            ("MERGE", _) => self.parents.get(1).map(|from| format!("with r{}", from.number)),
            (_, target) => target.map(|target| format!("to {target}")),
        };
        [what, self.message.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["author"] = args.by.clone().into();
    variables["touching"] = args.touching.map(|touched| touched.to_string()).into();
    let (revisions, more) = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: About<History>| answer.program.history;
        client.list(DOCUMENT, variables, args.limit as usize, page).await
    })?;
    let json: Vec<Value> = revisions.iter().map(Revision::json).collect();
    output.data(&json, || columns(&revisions.iter().map(Revision::row).collect::<Vec<_>>()))?;
    if more {
        say(format_args!("older revisions are left out; `-n {}` shows more", args.limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}
