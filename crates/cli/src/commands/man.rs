//! `lmlang man`: the manual pages.

use std::path::PathBuf;

use clap::CommandFactory;
use serde_json::json;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say};

/// Where they go.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A folder, made if there is none: `man -l DIR/lmlang.1` shows a page, and `DIR` can be a `man1` of `MANPATH`.
    folder: PathBuf,
}

/// Writes a page for each command, and one of them all.
pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let failed = |source| Error::Write { path: args.folder.clone(), source };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(failed)?;
    let pages = std::fs::read_dir(&args.folder).map_err(failed)?;
    let mut names: Vec<String> = Vec::new();
    for page in pages {
        let name = page.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.starts_with("lmlang") && name.ends_with(".1") {
            names.push(name);
        }
    }
    names.sort_unstable();
    output.data(&json!({ "pages": names }), String::new)?;
    say(counted(names.len() as u64, "page", "pages"));
    Ok(Exit::Success)
}
