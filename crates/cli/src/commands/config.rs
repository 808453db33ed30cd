//! `lmlang config`: the settings, and where each of them comes from.

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};
use crate::settings::{Layers, NAMES};

/// What to do with the settings.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with the settings.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the settings that are in force.
    Show {
        /// Also say where each comes from: a flag, an environment variable, a file or the default.
        #[arg(long)]
        origin: bool,
    },
}

/// A setting.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: Value,
    origin: String,
    meaning: &'static str,
}

pub(crate) fn run(args: &Args, layers: &Layers, output: Output) -> Result<Exit, Error> {
    let Action::Show { origin } = &args.action;
    // Settings are texts, flags and lists of texts.
    let mut values = serde_json::to_value(layers.settings()?).expect("settings have a JSON form");
    for secret in ["token", "database_url", "neo4j_password"] {
        if !values[secret].is_null() {
            // Who shows the settings to somebody does not mean to show this.
            values[secret] = "(hidden)".into();
        }
    }
    let settings: Vec<Setting> = NAMES
        .iter()
        .map(|(name, meaning)| Setting {
            name,
            value: values[name].clone(),
            origin: layers.origin(name),
            meaning,
        })
        .collect();
    output.data(&settings, || {
        let row = |setting: &Setting| {
            let from = if *origin { format!("# {}", setting.origin) } else { String::new() };
            [setting.name.to_owned(), format!("= {}", setting.value), from]
        };
        columns(&settings.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(Exit::Success)
}
