//! `lmlang diff`: how two revisions of a program differ.

use std::collections::BTreeSet;

use lmlang_history::{ChangeKind, Diff};
use lmlang_ir::text::{Detail, print_function, print_storage, print_type};
use lmlang_ir::{FuncRef, Program, Ref, TypeRef, VarRef};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::Output;
use crate::session::with_program;
use crate::settings::Settings;

/// Which program, and which revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The older revision.
    from: String,
    /// The newer revision [default: the head].
    to: Option<String>,
    /// Only say what differs, without the text.
    #[arg(long)]
    stat: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (from, to) = with_program(settings, &args.program, |engine, open| async move {
        let from = engine.revision(&open, Some(&args.from)).await?;
        let to = engine.revision(&open, args.to.as_deref()).await?;
        Ok((from, to))
    })?;
    let (before, after) = (from.checked.program(), to.checked.program());
    let diff = lmlang_history::diff(before, after);
    let counts = diff.counts();
    let json = json!({
        "from": format!("r{}", from.entry.number),
        "to": format!("r{}", to.entry.number),
        "added": counts.added,
        "removed": counts.removed,
        "modified": counts.modified,
        "functions": diff.functions.iter().map(|function| {
            let list = |refs: &[Ref]| refs.iter().map(Ref::to_string).collect::<Vec<_>>();
            json!({
                "ref": function.function.to_string(),
                "path": path(before, after, function.function.into()),
                "change": word(function.change),
                "added": list(&function.added),
                "removed": list(&function.removed),
                "modified": list(&function.modified),
            })
        }).collect::<Vec<Value>>(),
        "others": diff.others.iter().map(|other| json!({
            "ref": other.of.to_string(),
            "path": path(before, after, other.of),
            "change": word(other.change),
        })).collect::<Vec<Value>>(),
        "edits": diff.edits.iter().map(|edit| edit.to_string()).collect::<Vec<String>>(),
    });
    output.data(&json, || {
        let mut text = summary(&diff, before, after);
        if !args.stat {
            text.push_str(&listing(&diff, before, after));
        }
        text
    })?;
    Ok(Exit::Success)
}

fn word(change: ChangeKind) -> &'static str {
    match change {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Modified => "modified",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Moved => "moved",
    }
}

/// What an entity is called, in the newer revision where it is there.
fn path(before: &Program, after: &Program, of: Ref) -> String {
    let program = if after.place(of).is_some() { after } else { before };
    program.path(of)
}

fn summary(diff: &Diff, before: &Program, after: &Program) -> String {
    let counts = diff.counts();
    let mut text = format!("+{} -{} ~{}\n", counts.added, counts.removed, counts.modified);
    for other in &diff.others {
        let name = path(before, after, other.of);
        text.push_str(&format!("{} {} {name}\n", word(other.change), other.of));
    }
    for function in &diff.functions {
        let (of, name) = (function.function, path(before, after, function.function.into()));
        let (added, removed) = (function.added.len(), function.removed.len());
        let modified = function.modified.len();
        text.push_str(&format!("{} {of} {name}  +{added} -{removed} ~{modified}\n", word(function.change)));
    }
    text
}

/// The text of everything that differs, line by line.
fn listing(diff: &Diff, before: &Program, after: &Program) -> String {
    let others = diff.others.iter().map(|other| other.of);
    let functions = diff.functions.iter().map(|function| Ref::from(function.function));
    let mut text = String::new();
    for of in others.chain(functions).collect::<BTreeSet<Ref>>() {
        let (old, new) = (print(before, of), print(after, of));
        let name = path(before, after, of);
        if old != new {
            let lines = TextDiff::from_lines(&old, &new);
            text.push('\n');
            text.push_str(&lines.unified_diff().header(&name, &name).to_string());
        }
    }
    text
}

/// An entity as text; empty where it is not there. Modules are shown by what stands in them.
fn print(program: &Program, of: Ref) -> String {
    if program.place(of).is_none() {
        return String::new();
    }
    if let Ok(function) = FuncRef::try_from(of) {
        print_function(program, function, Detail::Full)
    } else if let Ok(ty) = TypeRef::try_from(of) {
        print_type(program, ty, Detail::Full)
    } else if let Ok(storage) = VarRef::try_from(of) {
        print_storage(program, storage, Detail::Full)
    } else {
        String::new()
    }
}
