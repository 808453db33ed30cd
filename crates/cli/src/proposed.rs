//! What became of proposed edits: applied, rejected with all mistakes, or in conflict.

use std::fmt::Write;

use lmlang_ir::told::{EDITED, NOW, UNCHANGED, candidates, carried_over};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::findings::{FOUND, Found, Place};
use crate::outcome::Conflict;
use crate::output::{Counts, Form, Output, counted, say};

/// What is asked about it.
const PROPOSED: &str = "fragment Proposed on ProposeEditOutcome {
  __typename
  ... on EditApplied {
    committed unchanged changed { added removed modified } created { ref kind name } revision { number }
    diff { from { number } } program { rootHash } rebasedOverCount
    diagnosticsAdded { ...Found } diagnosticsResolved { ...Found }
  }
  ... on EditRejected {
    errors {
      editIndex path code message line column expected found candidates
      details { function node region port expectedType actualType text }
    }
    suppressed
  }
  ... on EditConflict { base { number } head { number } conflicts { ref kind message base ours theirs } }
}";

/// The fragment `Proposed` with what it consists of.
pub(crate) fn fragments() -> String {
    format!("{PROPOSED}\n{FOUND}")
}

/// What edits are read from, as the places of mistakes say it.
#[derive(Debug)]
pub(crate) enum Origin {
    /// One text, whose lines are those of the file.
    File(String),
    /// A list, which places call by this name.
    List(String),
}

/// What became of it.
#[derive(Debug, Deserialize)]
#[serde(tag = "__typename")]
pub(crate) enum Proposed {
    #[serde(rename = "EditApplied")]
    Applied(Applied),
    #[serde(rename = "EditRejected")]
    Rejected(Rejected),
    #[serde(rename = "EditConflict")]
    InConflict(InConflict),
}

/// Edits that could be applied.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Applied {
    committed: bool,
    unchanged: bool,
    pub(crate) changed: Counts,
    created: Vec<Created>,
    revision: Option<Numbered>,
    diff: Between,
    program: Hashed,
    rebased_over_count: u64,
    pub(crate) diagnostics_added: Vec<Found>,
    diagnostics_resolved: Vec<Found>,
}

/// Something that edits made.
#[derive(Debug, Deserialize)]
struct Created {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Between {
    from: Option<Numbered>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hashed {
    root_hash: Option<String>,
}

/// Edits that are wrong.
#[derive(Debug, Deserialize)]
pub(crate) struct Rejected {
    pub(crate) errors: Vec<Mistake>,
    suppressed: u64,
}

/// A mistake in an edit, or in the text of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Mistake {
    edit_index: Option<u64>,
    path: Vec<String>,
    code: String,
    message: String,
    line: Option<u64>,
    column: Option<u64>,
    expected: Vec<String>,
    found: Option<String>,
    candidates: Vec<String>,
    details: Option<Place>,
}

/// Edits that others were faster than.
#[derive(Debug, Deserialize)]
pub(crate) struct InConflict {
    base: Option<Numbered>,
    head: Option<Numbered>,
    pub(crate) conflicts: Vec<Conflict>,
}

impl Proposed {
    /// What became of it, as the API calls it.
    fn name(&self) -> &'static str {
        match self {
            Proposed::Applied(_) => "EditApplied",
            Proposed::Rejected(_) => "EditRejected",
            Proposed::InConflict(_) => "EditConflict",
        }
    }

    pub(crate) fn json(&self) -> Value {
        let mut json = match self {
            Proposed::Applied(applied) => applied.json(),
            Proposed::Rejected(rejected) => rejected.json(),
            Proposed::InConflict(conflict) => conflict.json(),
        };
        json["outcome"] = self.name().into();
        json
    }

    /// Prints what became of it, and gives how the command ends.
    pub(crate) fn tell(&self, origin: &Origin, output: Output) -> Result<Exit, Error> {
        output.data(&self.json(), || match self {
            Proposed::Applied(applied) => applied.text(),
            Proposed::Rejected(_) | Proposed::InConflict(_) => String::new(),
        })?;
        let (told, exit) = match self {
            Proposed::Applied(_) => return Ok(Exit::Success),
            Proposed::Rejected(rejected) => (rejected.text(origin), Exit::Verification),
            Proposed::InConflict(conflict) => (conflict.text(), Exit::Conflict),
        };
        if output.form == Form::Text {
            say(told.trim_end());
        }
        Ok(exit)
    }
}

impl Applied {
    fn json(&self) -> Value {
        let all = |found: &[Found]| found.iter().map(Found::json).collect::<Vec<_>>();
        json!({
            "committed": self.committed,
            "before": self.diff.from.as_ref().map(|from| format!("r{}", from.number)),
            "revision": self.revision.as_ref().map(|made| format!("r{}", made.number)),
            "added": self.changed.added,
            "removed": self.changed.removed,
            "modified": self.changed.modified,
            "created": self.created.iter().map(Created::json).collect::<Vec<_>>(),
            "carriedOver": self.rebased_over_count,
            "newDiagnostics": all(&self.diagnostics_added),
            "resolvedDiagnostics": all(&self.diagnostics_resolved),
            "rootHash": self.program.root_hash,
            "unchanged": self.unchanged,
        })
    }

    /// The revision, what it made that has a name, and what the verifier finds newly and no more.
    fn text(&self) -> String {
        // Where no revision was made, the newest one is told alone.
        let newest = self.revision.as_ref().map(|revision| revision.number);
        let before = self.diff.from.as_ref().filter(|from| Some(from.number) != newest);
        let before = before.map(|from| format!("r{} -> ", from.number)).unwrap_or_default();
        let made = self.revision.as_ref().map(|made| format!("r{}", made.number));
        let made = made.unwrap_or_else(|| "dry run".to_owned());
        let mut text = format!("{before}{made}  {}\n", self.changed);
        for created in &self.created {
            if let Some(name) = &created.name {
                let kind = created.kind.to_ascii_lowercase();
                writeln!(text, "made {kind} {} {name}", created.of).expect("a string takes everything");
            }
        }
        if self.unchanged {
            writeln!(text, "{UNCHANGED}").expect("a string takes everything");
        }
        if self.rebased_over_count > 0 {
            writeln!(text, "{}", carried_over(self.rebased_over_count)).expect("a string takes everything");
        }
        self.diagnostics_added.iter().for_each(|found| text.push_str(&found.text()));
        for found in &self.diagnostics_resolved {
            write!(text, "resolved: {}", found.text()).expect("a string takes everything");
        }
        text
    }
}

impl Created {
    fn json(&self) -> Value {
        json!({ "ref": self.of, "kind": self.kind, "name": self.name })
    }
}

impl Rejected {
    fn json(&self) -> Value {
        json!({
            "committed": false,
            "errors": self.errors.iter().map(Mistake::json).collect::<Vec<_>>(),
            "suppressed": self.suppressed,
        })
    }

    /// All mistakes, each with its place.
    fn text(&self, origin: &Origin) -> String {
        let mut text: String = self.errors.iter().map(|mistake| mistake.text(origin)).collect();
        if self.suppressed > 0 {
            let more = counted(self.suppressed, "more mistake follows", "more mistakes follow");
            writeln!(text, "{more} from these").expect("a string takes everything");
        }
        text.push_str("nothing is changed\n");
        text
    }
}

impl Mistake {
    fn json(&self) -> Value {
        json!({
            "editIndex": self.edit_index,
            "path": self.path,
            "code": self.code,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "expected": self.expected,
            "found": self.found,
            "candidates": self.candidates,
            "place": self.details.as_ref().map(Place::json),
        })
    }

    /// What is the matter, and below it where: the line and column of the text, or the edit with its argument; the entity.
    pub(crate) fn text(&self, origin: &Origin) -> String {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let mut text = format!("{red}error[{}]{red:#}: {}\n", self.code, self.message);
        let argument = match (origin, self.edit_index) {
            (Origin::File(name), _) => name.clone(),
            (Origin::List(list), None) => list.clone(),
            (Origin::List(list), Some(index)) => {
                self.path.iter().fold(format!("{list}[{index}]"), |place, part| format!("{place}.{part}"))
            }
        };
        let line = self.line.map(|line| format!(":{line}:{}", self.column.unwrap_or(1))).unwrap_or_default();
        let at = self.details.as_ref().map(Place::words).unwrap_or_default();
        writeln!(text, "  --> {argument}{line}{at}").expect("a string takes everything");
        if let Some(line) = self.details.as_ref().and_then(Place::line) {
            writeln!(text, "    {line}").expect("a string takes everything");
        }
        if !self.candidates.is_empty() {
            writeln!(text, "  {}: {}", candidates(&self.code), self.candidates.join(", "))
                .expect("a string takes everything");
        }
        text
    }
}

impl InConflict {
    fn json(&self) -> Value {
        let number = |revision: &Option<Numbered>| revision.as_ref().map(|one| format!("r{}", one.number));
        json!({
            "committed": false,
            "conflict": {
                "base": number(&self.base),
                "head": number(&self.head),
                "conflicts": self.conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
            },
        })
    }

    /// What collides, and what to do about it.
    fn text(&self) -> String {
        let mut text: String = self.conflicts.iter().map(|of| of.text([NOW, EDITED])).collect();
        if let Some(head) = &self.head {
            let head = head.number;
            writeln!(text, "nothing is changed: read r{head}, and propose again with `--base r{head}`")
                .expect("a string takes everything");
        }
        text
    }
}
