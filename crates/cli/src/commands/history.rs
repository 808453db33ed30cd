//! `lmlang history`: the revisions of a program.

use std::str::FromStr;

use lmlang_engine::HistoryQuery;
use lmlang_history::log::{Header, RevisionKind};
use lmlang_ir::Ref;
use serde::Serialize;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};
use crate::session::with_program;
use crate::settings::Settings;

/// Which program, and which of its revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
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

/// A revision.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Revision {
    revision: String,
    kind: &'static str,
    time: String,
    author: String,
    message: Option<String>,
    parents: Vec<String>,
    target: Option<String>,
    name: Option<String>,
    added: u64,
    removed: u64,
    modified: u64,
    root_hash: String,
}

impl From<&Header> for Revision {
    fn from(entry: &Header) -> Revision {
        let number = |number: &u64| format!("r{number}");
        Revision {
            revision: number(&entry.number),
            kind: kind(entry.kind),
            time: moment(entry.time),
            author: entry.actor.name.clone(),
            message: entry.message.clone(),
            parents: entry.parents.iter().map(number).collect(),
            target: entry.target.as_ref().map(number),
            name: entry.name.clone(),
            added: entry.counts.added,
            removed: entry.counts.removed,
            modified: entry.counts.modified,
            root_hash: entry.root_hash.to_string(),
        }
    }
}

impl Revision {
    /// The revision as a row: number, hash, kind, changes, author, time and what it is about.
    fn row(&self) -> [String; 7] {
        let about = match (&self.name, &self.target, &self.message) {
            (Some(name), Some(target), _) => format!("`{name}` at {target}"),
            (Some(name), None, _) => format!("`{name}` removed"),
            (None, Some(target), _) => format!("to {target}"),
            (None, None, message) => message.clone().unwrap_or_default(),
        };
        let changes = format!("+{} -{} ~{}", self.added, self.removed, self.modified);
        [
            self.revision.clone(),
            self.root_hash[..12].to_owned(),
            self.kind.to_owned(),
            changes,
            self.author.clone(),
            self.time.clone(),
            about,
        ]
    }
}

/// The name of a kind, in lower case.
pub(crate) fn kind(kind: RevisionKind) -> &'static str {
    match kind {
        RevisionKind::Create => "create",
        RevisionKind::Edit => "edit",
        RevisionKind::Undo => "undo",
        RevisionKind::Redo => "redo",
        RevisionKind::Revert => "revert",
        RevisionKind::Restore => "restore",
        RevisionKind::Merge => "merge",
        RevisionKind::Import => "import",
        RevisionKind::Checkpoint => "checkpoint",
        RevisionKind::Branch => "branch",
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let page = with_program(settings, &args.program, |engine, open| async move {
        let query = HistoryQuery {
            newest: open.timeline.head().last,
            before: u64::MAX,
            author: args.by.clone(),
            touching: args.touching,
            kind: None,
            limit: args.limit as usize,
        };
        Ok(engine.history(&open, &query).await?)
    })?;
    let revisions: Vec<Revision> = page.entries.iter().map(|entry| entry.as_ref().into()).collect();
    output.data(&revisions, || columns(&revisions.iter().map(Revision::row).collect::<Vec<_>>()))?;
    if page.more {
        say(format_args!("older revisions are left out; `-n {}` shows more", args.limit.saturating_mul(2)));
    }
    Ok(Exit::Success)
}
