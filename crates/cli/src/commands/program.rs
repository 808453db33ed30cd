//! `lmlang program`: the programs of a database.

use lmlang_engine::{Error as EngineError, OpenProgram, ProgramInfo, Selector};
use lmlang_ir::text::print_signature;
use lmlang_ir::{Program, Visibility};
use serde_json::{Value, json};

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, ask, columns, moment, say};
use crate::session::{Missing, block_on, open, with_program};
use crate::settings::Settings;

/// What to do with programs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with programs.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them by name.
    List {
        /// Only those whose name contains this.
        #[arg(long)]
        search: Option<String>,
    },
    /// Show one: its head, how large it is, and its functions.
    Show {
        /// The program, by name or id.
        program: String,
        /// The revision [default: the head].
        #[arg(long, value_name = "REVISION")]
        at: Option<String>,
    },
    /// Delete one. Its log stays on the disk; its name is free again.
    Delete {
        /// The program, by name or id.
        program: String,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::List { search } => list(search.as_deref(), settings, output),
        Action::Show { program, at } => show(program, at.as_deref(), settings, output),
        Action::Delete { program, yes } => delete(program, *yes, settings),
    }
}

/// Programs read at a time.
const PAGE: usize = 500;

fn list(search: Option<&str>, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let programs = block_on(async {
        let engine = open(settings, Missing::Refuse).await?;
        let mut programs = Vec::new();
        loop {
            let after = programs.last().map(|last: &std::sync::Arc<ProgramInfo>| last.name.clone());
            let page = engine.programs(after.as_deref(), search, PAGE).await?;
            programs.extend(page.programs);
            if !page.more {
                break;
            }
        }
        engine.close().await;
        Ok(programs)
    })?;
    let json: Vec<Value> = programs.iter().map(|program| info(program)).collect();
    output.data(&json, || {
        columns(&programs.iter().map(|one| [one.name.clone(), first_line(&one.doc)]).collect::<Vec<_>>())
    })?;
    Ok(Exit::Success)
}

fn info(program: &ProgramInfo) -> Value {
    json!({
        "id": program.id.to_string(),
        "name": program.name,
        "doc": program.doc,
        "created": moment(program.created),
    })
}

/// Enough of a doc for a row.
fn first_line(doc: &str) -> String {
    const WIDTH: usize = 80;
    let line = doc.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line.to_owned(),
    }
}

fn show(program: &str, at: Option<&str>, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (open, revision) = with_program(settings, program, |engine, open: OpenProgram| async move {
        let revision = engine.revision(&open, at).await?;
        Ok((open, revision))
    })?;
    let (row, head) = (open.info(), open.timeline.head());
    let content = revision.checked.program();
    let (totals, tally) = (content.totals(), revision.checked.findings().tally());
    let number = |number| format!("r{number}");
    let mut json = info(&row);
    json["head"] = number(head.revision.entry.number).into();
    json["revision"] = number(revision.entry.number).into();
    json["rootHash"] = content.root_hash().to_string().into();
    json["undoable"] = head.line.undoable().into();
    json["redoable"] = head.line.redoable().into();
    json["modules"] = totals.modules.into();
    json["types"] = totals.types.into();
    json["nodes"] = totals.counts.nodes.into();
    json["errors"] = tally.errors.into();
    json["incomplete"] = (tally.stale + tally.incomplete).into();
    json["warnings"] = tally.warnings.into();
    json["functions"] = functions(content);
    output.data(&json, || {
        let mut text = columns(&[
            ["name".to_owned(), row.name.clone()],
            ["id".to_owned(), row.id.to_string()],
            ["doc".to_owned(), row.doc.clone()],
            ["created".to_owned(), moment(row.created)],
            [
                "revision".to_owned(),
                format!("r{}  {}", revision.entry.number, &content.root_hash().to_string()[..12]),
            ],
            [
                "size".to_owned(),
                format!(
                    "{} modules, {} types, {} functions, {} nodes",
                    totals.modules, totals.types, totals.functions, totals.counts.nodes
                ),
            ],
            [
                "findings".to_owned(),
                format!(
                    "{} errors, {} incomplete, {} warnings",
                    tally.errors,
                    tally.stale + tally.incomplete,
                    tally.warnings
                ),
            ],
        ]);
        let rows: Vec<_> =
            public(content).map(|(of, _)| [content.path(of.into()), print_signature(content, of)]).collect();
        if !rows.is_empty() {
            text.push('\n');
            text.push_str(&columns(&rows));
        }
        text
    })?;
    Ok(Exit::Success)
}

fn public(
    program: &Program,
) -> impl Iterator<Item = (lmlang_ir::FuncRef, &std::sync::Arc<lmlang_ir::Function>)> {
    program.functions().filter(|(_, function)| function.head().visibility == Visibility::Public)
}

fn functions(program: &Program) -> Value {
    let shown = |(of, function): (lmlang_ir::FuncRef, &std::sync::Arc<lmlang_ir::Function>)| {
        json!({
            "ref": of.to_string(),
            "path": program.path(of.into()),
            "public": function.head().visibility == Visibility::Public,
            "signature": print_signature(program, of),
            "nodes": function.body().counts().nodes,
        })
    };
    program.functions().map(shown).collect()
}

fn delete(program: &str, yes: bool, settings: &Settings) -> Result<Exit, Error> {
    let name = with_program(settings, program, |_, open| async move { Ok(open.info().name.clone()) })?;
    if !yes {
        match ask(format_args!("Delete program `{name}`?")) {
            Some(true) => {}
            Some(false) => return Ok(Exit::Failure),
            None => return Err(Error::NotConfirmed { what: "program delete" }),
        }
    }
    let deleted = with_program(settings, &name, |engine, open| async move {
        Ok(engine.delete_program(&Selector::Id(open.info().id)).await?)
    })?;
    if !deleted {
        let gone =
            EngineError::NotFound { what: "program", given: name, candidates: Vec::new(), retired: true };
        return Err(gone.into());
    }
    say(format_args!("deleted `{name}`"));
    Ok(Exit::Success)
}
