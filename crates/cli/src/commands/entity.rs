//! `lmlang entity`: what agents keep beside programs.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, cell, moment};
use crate::settings::Settings;

mod changing;
mod reading;

/// What to do with entities.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with entities.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them by label and key.
    List {
        /// Only those of this label.
        label: Option<String>,
        /// Only those with this key.
        #[arg(long)]
        key: Option<String>,
        /// How many at most.
        #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Go on behind this cursor, which is told where more follow.
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Show one: its properties, and the relations around it.
    Show {
        /// The entity: `LABEL:KEY`, such as `Ticket:T-1`.
        #[arg(value_parser = named)]
        entity: Name,
        /// How many relations away what is shown may lie.
        #[arg(long, value_name = "RELATIONS", default_value_t = 1)]
        hops: u32,
    },
    /// Make one, or merge properties into the one that is there; exits with 9 when that is so already.
    Set {
        /// The entity: `LABEL:KEY`, such as `Ticket:T-1`.
        #[arg(value_parser = named)]
        entity: Name,
        #[command(flatten)]
        props: Props,
        /// Make none: it must be there.
        #[arg(long)]
        existing: bool,
    },
    /// Make a relation between two, or merge properties into the one that is there; exits with 9 when that is so already.
    Relate {
        /// Where it begins: `LABEL:KEY`.
        #[arg(value_parser = named)]
        from: Name,
        /// What it says, such as `DEPENDS_ON`.
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Where it ends: `LABEL:KEY`.
        #[arg(value_parser = named)]
        to: Name,
        #[command(flatten)]
        props: Props,
    },
    /// Delete a relation between two.
    Unrelate {
        /// Where it begins: `LABEL:KEY`.
        #[arg(value_parser = named)]
        from: Name,
        /// What it says.
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Where it ends: `LABEL:KEY`.
        #[arg(value_parser = named)]
        to: Name,
    },
    /// Delete one.
    Delete {
        /// The entity: `LABEL:KEY`, such as `Ticket:T-1`.
        #[arg(value_parser = named)]
        entity: Name,
        /// Its relations as well; without this, one that has some is refused.
        #[arg(long)]
        detach: bool,
    },
    /// Make many changes, all of them or none; exits with 9 when nothing changes.
    Patch {
        /// A list of operations in a file, `-` for standard input: `[{"upsert_node": {"label": "Ticket", "key": "T-1"}}]`, as
        /// `applyPatch` takes them.
        file: PathBuf,
        /// Only say what would come of it.
        #[arg(long)]
        dry_run: bool,
    },
}

/// Properties that are said.
#[derive(Debug, clap::Args)]
struct Props {
    /// A property: `name=value`; a value that is no JSON is a text, `null` takes it away, and `@FILE` is the text of a file. What
    /// is not named stays.
    #[arg(value_name = "NAME=VALUE")]
    fields: Vec<String>,
    /// The properties as a JSON object in a file, or `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "fields")]
    props: Option<PathBuf>,
}

/// How an entity is named.
#[derive(Clone, Debug)]
struct Name {
    label: String,
    key: String,
}

/// Reads a label and a key. No label has a colon.
fn named(given: &str) -> Result<Name, &'static str> {
    match given.split_once(':') {
        Some((label, key)) if !label.is_empty() && !key.is_empty() => {
            Ok(Name { label: label.to_owned(), key: key.to_owned() })
        }
        Some(_) | None => Err("expected `LABEL:KEY`"),
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.label, self.key)
    }
}

/// An entity.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entity {
    id: String,
    label: String,
    key: String,
    props: Value,
    created_at: String,
    updated_at: String,
}

impl Entity {
    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "label": self.label,
            "key": self.key,
            "props": self.props,
            "createdAt": moment(&self.created_at),
            "updatedAt": moment(&self.updated_at),
        })
    }

    /// The entity as a row: its name, when it changed last, and what is known of it.
    fn row(&self) -> [String; 3] {
        [format!("{}:{}", self.label, self.key), moment(&self.updated_at), known(&self.props)]
    }
}

/// Properties in a line; nothing where there are none.
fn known(props: &Value) -> String {
    match props.as_object() {
        Some(props) if props.is_empty() => String::new(),
        Some(_) | None => cell(props),
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::List { label, key, limit, after } => {
            let variables = json!({ "label": label, "key": key, "after": after });
            reading::list(variables, *limit, settings, output)
        }
        Action::Show { entity, hops } => reading::show(entity, *hops, settings, output),
        Action::Set { entity, props, existing } => changing::set(entity, props, *existing, settings, output),
        Action::Relate { from, kind, to, props } => {
            changing::relate([from, to], kind, props, settings, output)
        }
        Action::Unrelate { from, kind, to } => changing::unrelate([from, to], kind, settings),
        Action::Delete { entity, detach } => changing::delete(entity, *detach, settings),
        Action::Patch { file, dry_run } => changing::patch(file, *dry_run, settings, output),
    }
}
