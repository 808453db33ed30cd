//! `lmlang program`: the programs of a database.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client, Page, named, with_client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, ask, columns, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

mod making;

/// What to do with programs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with programs.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make one, from a text, from another program, or empty; `lmlang import` makes one of a WebAssembly module.
    Create(making::CreateArgs),
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
        #[command(flatten)]
        view: View,
    },
    /// Give one another name.
    Rename {
        /// The program, by name or id.
        program: String,
        /// Its name from now on.
        name: String,
    },
    /// Say what one is for.
    Describe {
        /// The program, by name or id.
        program: String,
        /// What it is for, in words; `-` reads them from standard input, and nothing takes away what is said.
        doc: String,
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

const LIST: &str = "query($search: String, $first: Int!, $after: String) {
  programs(search: $search, first: $first, after: $after) {
    nodes { programId name doc }
    pageInfo { hasNextPage endCursor }
  }
}";

const SHOW: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) {
    programId name doc rootHash revision { number }
    stats { modules types functions nodes holes }
    errors: diagnostics(first: 1, severity: ERROR) { totalCount }
    warnings: diagnostics(first: 1, severity: WARNING) { totalCount }
    incomplete: functions(first: 1, complete: false) { totalCount }
  }
}";

const FUNCTIONS: &str = "query($id: ID, $name: String, $at: String, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    functions(first: $first, after: $after) {
      nodes { ref path visibility signature nodes(first: 1) { totalCount } }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

const WHICH: &str = "query($id: ID, $name: String) { program(id: $id, name: $name) { programId name } }";

pub(crate) const DELETE: &str =
    "mutation($input: DeleteProgramInput!) { deleteProgram(input: $input) { deleted } }";

#[derive(Debug, Deserialize)]
struct Programs {
    programs: Page<Listed>,
}

/// A program, as lists show it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    program_id: String,
    name: String,
    doc: Option<String>,
}

/// A program, as it is shown alone.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(flatten)]
    listed: Listed,
    root_hash: String,
    revision: Numbered,
    stats: Stats,
    errors: Total,
    warnings: Total,
    incomplete: Total,
}

#[derive(Debug, Deserialize)]
struct Stats {
    modules: u64,
    types: u64,
    functions: u64,
    nodes: u64,
    holes: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Total {
    total_count: u64,
}

#[derive(Debug, Deserialize)]
struct Functions {
    functions: Page<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(rename = "ref")]
    of: String,
    path: String,
    visibility: String,
    signature: String,
    nodes: Total,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::List { search } => list(search.as_deref(), settings, output),
        Action::Show { program, view } => show(program, view, settings, output),
        Action::Create(args) => making::create(args, settings, output),
        Action::Rename { program, name } => making::rename(program, name, settings, output),
        Action::Describe { program, doc } => making::describe(program, doc, settings, output),
        Action::Delete { program, yes } => delete(program, *yes, settings),
    }
}

fn list(search: Option<&str>, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (programs, _) = with_client(settings, Missing::Refuse, async |client| {
        client.list(LIST, json!({ "search": search }), usize::MAX, |answer: Programs| answer.programs).await
    })?;
    let json: Vec<Value> = programs.iter().map(Listed::json).collect();
    output.data(&json, || {
        let row = |program: &Listed| [program.name.clone(), first_line(program.doc())];
        columns(&programs.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(Exit::Success)
}

impl Listed {
    fn json(&self) -> Value {
        json!({ "id": self.program_id, "name": self.name, "doc": self.doc() })
    }

    fn doc(&self) -> &str {
        self.doc.as_deref().unwrap_or_default()
    }
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

fn show(program: &str, view: &View, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = view.of(program);
    let (shown, functions) = with_client(settings, Missing::Refuse, async |client| {
        let shown: About<Shown> = client.ask(SHOW, &variables).await?;
        // The functions of what was shown, whatever the head is by now.
        variables["at"] = format!("r{}", shown.program.revision.number).into();
        let page = |answer: About<Functions>| answer.program.functions;
        let (functions, _) = client.list(FUNCTIONS, variables, usize::MAX, page).await?;
        Ok((shown.program, functions))
    })?;
    output.data(&shown.json(&functions), || shown.text(&functions))?;
    Ok(Exit::Success)
}

impl Shown {
    fn json(&self, functions: &[Function]) -> Value {
        let mut json = self.listed.json();
        json["revision"] = format!("r{}", self.revision.number).into();
        json["rootHash"] = self.root_hash.clone().into();
        json["modules"] = self.stats.modules.into();
        json["types"] = self.stats.types.into();
        json["nodes"] = self.stats.nodes.into();
        json["holes"] = self.stats.holes.into();
        json["errors"] = self.errors.total_count.into();
        json["warnings"] = self.warnings.total_count.into();
        json["incompleteFunctions"] = self.incomplete.total_count.into();
        json["functions"] = functions.iter().map(Function::json).collect();
        json
    }

    fn text(&self, functions: &[Function]) -> String {
        let Stats { modules, types, functions: count, nodes, .. } = self.stats;
        let size = [
            counted(modules, "module", "modules"),
            counted(types, "type", "types"),
            counted(count, "function", "functions"),
            counted(nodes, "node", "nodes"),
        ];
        let findings = [
            counted(self.errors.total_count, "error", "errors"),
            counted(self.warnings.total_count, "warning", "warnings"),
            counted(self.incomplete.total_count, "incomplete function", "incomplete functions"),
        ];
        let mut text = columns(
            &[
                ("name", self.listed.name.clone()),
                ("id", self.listed.program_id.clone()),
                ("doc", self.listed.doc().to_owned()),
                ("revision", format!("r{}  {}", self.revision.number, &self.root_hash[..12])),
                ("size", size.join(", ")),
                ("findings", findings.join(", ")),
            ]
            .map(|(name, value)| [name.to_owned(), value]),
        );
        let rows: Vec<_> = functions.iter().map(Function::row).collect();
        if !rows.is_empty() {
            text.push('\n');
            text.push_str(&columns(&rows));
        }
        text
    }
}

impl Function {
    fn row(&self) -> [String; 2] {
        let public = if self.visibility == "PUBLIC" { "pub " } else { "" };
        [format!("{public}{}", self.path), self.signature.clone()]
    }

    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "path": self.path,
            "public": self.visibility == "PUBLIC",
            "signature": self.signature,
            "nodes": self.nodes.total_count,
        })
    }
}

fn delete(program: &str, yes: bool, settings: &Settings) -> Result<Exit, Error> {
    let Listed { program_id, name, .. } =
        with_client(settings, Missing::Refuse, async |client| which(client, program).await)?;
    if !yes {
        match ask(format_args!("Delete program `{name}`?")) {
            Some(true) => {}
            Some(false) => return Ok(Exit::Failure),
            None => return Err(Error::NotConfirmed { what: "program delete" }),
        }
    }
    let input = json!({ "programId": program_id });
    with_client(settings, Missing::Refuse, async |client| {
        client.change::<Value>(DELETE, input, "lmlang program list").await
    })?;
    say(format_args!("deleted `{name}`"));
    Ok(Exit::Success)
}

async fn which(client: &Client, program: &str) -> Result<Listed, Error> {
    let found: About<Listed> = client.ask(WHICH, &named(program)).await?;
    Ok(found.program)
}
