//! `lmlang history`: the revisions of a program, or one of them with what it touched.

use clap::ValueEnum;
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
    /// One revision, with what it made, changed and removed, and what is left of that.
    #[arg(conflicts_with_all = ["by", "kind", "touching", "merged"])]
    revision: Option<String>,
    #[command(flatten)]
    view: View,
    /// How many at most; of one revision, how much of what it touched.
    #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only those by this author.
    #[arg(long = "by", value_name = "NAME")]
    by: Option<String>,
    /// Only those of this kind.
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Only those that changed this entity, by ref or path, such as `n12` or `module::name`.
    #[arg(long, value_name = "REF")]
    touching: Option<String>,
    /// With what merges have brought in: revisions of other branches, which may be gone.
    #[arg(long)]
    merged: bool,
}

impl Args {
    /// Whether it lists revisions, whoever made them.
    pub(crate) fn lists_all_authors(&self) -> bool {
        self.by.is_none() && self.revision.is_none()
    }
}

/// What a revision did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Create,
    Edit,
    Import,
    Undo,
    Redo,
    Restore,
    Revert,
    Merge,
    Checkpoint,
    Branch,
}

const DOCUMENT: &str = "query(
  $id: ID, $name: String, $at: String, $first: Int!, $after: String, $author: String, $kind: RevisionKind, $touching: String,
  $merged: Boolean!
) {
  program(id: $id, name: $name, at: $at) {
    history(first: $first, after: $after, author: $author, kind: $kind, touching: $touching, merged: $merged) {
      nodes { ...Shown } pageInfo { hasNextPage endCursor }
    }
  }
}";

const ONE: &str = "query($id: ID, $name: String, $at: String, $revision: String!) {
  program(id: $id, name: $name, at: $at) { revision(at: $revision) { ...Shown } }
}";

const TOUCHED: &str =
    "query($id: ID, $name: String, $at: String, $revision: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    revision(at: $revision) {
      touched(first: $first, after: $after) {
        nodes { ref kind change alive path provenance { modifiedIn { number } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}";

const SHOWN: &str = "fragment Shown on Revision {
  number branch kind createdAt actor { name } message checkpoint rootHash
  parents { number } target { number } changed { added removed modified }
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
            "kind": self.kind,
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
            ("BRANCH", None) => Some(format!("`{}` removed", self.branch)),
            ("REVERT", Some(target)) => Some(format!("without {target}")),
            ("MERGE", _) => self.parents.get(1).map(|from| format!("with r{}", from.number)),
            (_, target) => target.map(|target| format!("to {target}")),
        };
        // A table has a line for each.
        let message = self.message.as_deref().and_then(|message| message.lines().next());
        [what, message.map(str::to_owned)].into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

#[derive(Debug, Deserialize)]
struct One<T> {
    revision: T,
}

#[derive(Debug, Deserialize)]
struct Touching {
    touched: Page<Touched>,
}

/// An entity that a revision touched, and what is left of it.
#[derive(Debug, Deserialize)]
struct Touched {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    change: String,
    alive: bool,
    path: Option<String>,
    provenance: Option<Provenance>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Provenance {
    modified_in: Numbered,
}

impl Touched {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind,
            "change": self.change,
            "alive": self.alive,
            "path": self.path,
            "modifiedIn": self.provenance.as_ref().map(|found| format!("r{}", found.modified_in.number)),
        })
    }

    /// What became of it, and by which revision it is as it is, if not by the one that is shown.
    fn row(&self, shown: u64) -> [String; 4] {
        let modified = self.provenance.as_ref().map(|found| found.modified_in.number);
        let since = modified.filter(|number| *number != shown).map(|number| format!("as r{number} left it"));
        let left = if self.alive { since.unwrap_or_default() } else { "gone".to_owned() };
        [self.change.to_ascii_lowercase(), self.of.clone(), self.path.clone().unwrap_or_default(), left]
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    if let Some(revision) = &args.revision {
        variables["revision"] = revision.clone().into();
        return one(args, variables, settings, output);
    }
    variables["author"] = args.by.clone().into();
    variables["kind"] = args.kind.map(|kind| format!("{kind:?}").to_uppercase()).into();
    variables["touching"] = args.touching.clone().into();
    variables["merged"] = args.merged.into();
    let (revisions, more) = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: About<History>| answer.program.history;
        client.list(&format!("{DOCUMENT}\n{SHOWN}"), variables, args.limit as usize, page).await
    })?;
    let json: Vec<Value> = revisions.iter().map(Revision::json).collect();
    output.data(&json, || columns(&revisions.iter().map(Revision::row).collect::<Vec<_>>()))?;
    if more {
        say(format_args!("older revisions are left out; `-n {}` shows more", args.limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}

/// Shows one revision, with what it touched.
fn one(args: &Args, mut variables: Value, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (shown, (touched, more)) = with_client(settings, Missing::Refuse, async |client| {
        let shown: About<One<Revision>> = client.ask(&format!("{ONE}\n{SHOWN}"), &variables).await?;
        // A name may be that of another revision by now.
        variables["revision"] = format!("r{}", shown.program.revision.number).into();
        let page = |answer: About<One<Touching>>| answer.program.revision.touched;
        let touched = client.list(TOUCHED, variables, args.limit as usize, page).await?;
        Ok((shown.program.revision, touched))
    })?;
    let mut json = shown.json();
    json["touched"] = touched.iter().map(Touched::json).collect();
    output.data(&json, || {
        let touched: Vec<_> = touched.iter().map(|one| one.row(shown.number)).collect();
        columns(&[shown.row()]) + &columns(&touched)
    })?;
    if more {
        say(format_args!("the rest is left out; `-n {}` shows more", args.limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}
