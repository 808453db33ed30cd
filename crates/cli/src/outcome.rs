//! What became of a request for a revision: made, nothing to do, or in conflict.

use std::fmt::Write;

use lmlang_ir::told::{NOW, WENT};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Counts, Form, Output, say};

/// What is asked about an outcome.
pub(crate) const OUTCOME: &str = "fragment Became on RevisionOutcome {
  __typename
  ... on RevisionMade {
    committed changed { added removed modified } revision { number kind target { number } }
    diff { from { number } } program { rootHash }
  }
  ... on NothingToDo { reason }
  ... on EditConflict { base { number } head { number } conflicts { ref kind message base ours theirs } }
}";

/// What became of it.
#[derive(Debug, Deserialize)]
#[serde(tag = "__typename", rename_all_fields = "camelCase")]
pub(crate) enum Outcome {
    RevisionMade { committed: bool, changed: Counts, revision: Option<Made>, diff: Between, program: Hashed },
    NothingToDo { reason: String },
    EditConflict { base: Option<Numbered>, head: Numbered, conflicts: Vec<Conflict> },
}

#[derive(Debug, Deserialize)]
pub(crate) struct Made {
    number: u64,
    kind: String,
    target: Option<Numbered>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Between {
    from: Numbered,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hashed {
    root_hash: String,
}

/// One thing that collides.
#[derive(Debug, Deserialize)]
pub(crate) struct Conflict {
    #[serde(rename = "ref")]
    pub(crate) of: String,
    kind: String,
    message: String,
    base: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
}

impl Outcome {
    pub(crate) fn json(&self) -> Value {
        match self {
            Outcome::RevisionMade { committed, changed, revision, diff, program } => json!({
                "committed": committed,
                "before": format!("r{}", diff.from.number),
                "revision": revision.as_ref().map(|made| format!("r{}", made.number)),
                "target": revision.as_ref().and_then(Made::target),
                "added": changed.added,
                "removed": changed.removed,
                "modified": changed.modified,
                "rootHash": program.root_hash,
            }),
            Outcome::NothingToDo { reason } => json!({ "committed": false, "reason": reason }),
            Outcome::EditConflict { base, head, conflicts } => json!({
                "committed": false,
                "conflict": {
                    "base": base.as_ref().map(|base| format!("r{}", base.number)),
                    "head": format!("r{}", head.number),
                    "conflicts": conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
                },
            }),
        }
    }

    /// What was made, in a line; empty when nothing was.
    pub(crate) fn text(&self) -> String {
        let Outcome::RevisionMade { changed, revision, diff, .. } = self else { return String::new() };
        let before = diff.from.number;
        let made = revision.as_ref().map_or_else(|| "dry run".to_owned(), |made| format!("r{}", made.number));
        let content = revision.as_ref().and_then(Made::content).unwrap_or_default();
        format!("r{before} -> {made}{content}  {changed}\n")
    }

    /// Why nothing was made, if so, in lines.
    fn reason(&self) -> String {
        match self {
            Outcome::RevisionMade { .. } => String::new(),
            Outcome::NothingToDo { reason } => format!("{reason}\n"),
            Outcome::EditConflict { conflicts, .. } => {
                conflicts.iter().map(|conflict| conflict.text([NOW, WENT])).collect()
            }
        }
    }

    /// Tells why nothing was made, if so and unless the JSON form has told it, and gives how the command ends.
    pub(crate) fn end(&self, output: Output) -> Exit {
        let reason = self.reason();
        if output.form == Form::Text && !reason.is_empty() {
            say(reason.trim_end());
        }
        match self {
            Outcome::RevisionMade { .. } => Exit::Success,
            Outcome::NothingToDo { .. } => Exit::Nothing,
            Outcome::EditConflict { .. } => Exit::Conflict,
        }
    }

    /// Prints what became of it, and gives how the command ends.
    pub(crate) fn tell(&self, output: Output) -> Result<Exit, Error> {
        output.data(&self.json(), || self.text())?;
        Ok(self.end(output))
    }
}

impl Made {
    fn target(&self) -> Option<String> {
        self.target.as_ref().map(|target| format!("r{}", target.number))
    }

    /// What its content is, by the content of another one.
    fn content(&self) -> Option<String> {
        let word = if self.kind == "REVERT" { "without" } else { "as" };
        self.target().map(|target| format!(" ({word} {target})"))
    }
}

impl Conflict {
    /// Whether the head has moved from what was expected.
    pub(crate) fn is_stale(&self) -> bool {
        self.kind == "STALE_BASE"
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind,
            "message": self.message,
            "base": self.base,
            "ours": self.ours,
            "theirs": self.theirs,
        })
    }

    /// What collides, and what each side has there, by the words for the two.
    pub(crate) fn text(&self, [ours, theirs]: [&str; 2]) -> String {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let mut text = format!("{red}conflict[{}]{red:#} {}: {}\n", self.kind, self.of, self.message);
        let sides = [("base", &self.base), (ours, &self.ours), (theirs, &self.theirs)];
        if sides.iter().all(|(_, side)| side.is_none()) {
            return text;
        }
        // Two blanks stand before the longest.
        let width = 2 + sides.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let indent = width + 2;
        for (name, side) in sides {
            let mut lines = side.as_deref().unwrap_or("(not there)").lines();
            let first = lines.next().unwrap_or_default();
            writeln!(text, "{name:>width$}: {first}").expect("a string takes everything");
            lines.for_each(|line| {
                writeln!(text, "{:indent$}{line}", "").expect("a string takes everything");
            });
        }
        text
    }
}
