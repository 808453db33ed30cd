//! `lmlang import`: a program from a file.

use std::path::PathBuf;

use lmlang_engine::{Creation, NewProgramRequest};
use serde_json::json;

use crate::diagnostics::{check, show};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say, spinner};
use crate::session::{Missing, block_on, call, open};
use crate::settings::Settings;
use crate::source::{Source, leading_comment};

/// Which file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form; `-` for standard input.
    file: PathBuf,
    /// The program's name, needed for standard input [default: that of the file, without its suffix].
    #[arg(long)]
    name: Option<String>,
    /// What the program is for [default: the first paragraph of the comment that the file begins with].
    #[arg(long)]
    doc: Option<String>,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let stem = args.file.file_stem().filter(|stem| *stem != "-");
    let name = args.name.clone().or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned()));
    let name = name.ok_or(Error::NoName)?;
    let source = Source::read(&args.file)?;
    let doc = args.doc.clone().unwrap_or_else(|| leading_comment(&source.text));
    let request = NewProgramRequest { name, doc, text: Some(source.text.clone()) };
    let spinner = spinner(format!("importing {}", source.name()));
    let call = call(settings, args.message.clone());
    let created = block_on(async {
        let engine = open(settings, Missing::Make).await?;
        let created = engine.create_program(request, &call).await;
        engine.close().await;
        Ok(created?)
    });
    spinner.finish_and_clear();
    match created? {
        Creation::Created(program) => {
            let (info, head) = (program.info(), program.timeline.head());
            let totals = head.revision.checked.program().totals();
            let hash = head.revision.entry.root_hash.to_string();
            let json = json!({
                "id": info.id.to_string(),
                "name": info.name,
                "revision": format!("r{}", head.revision.entry.number),
                "rootHash": hash,
                "functions": totals.functions,
                "nodes": totals.counts.nodes,
            });
            output.data(&json, || format!("{}\n", info.name))?;
            say(format_args!(
                "{} functions, {} nodes, {}",
                totals.functions,
                totals.counts.nodes,
                &hash[..12]
            ));
            Ok(Exit::Success)
        }
        Creation::Rejected { .. } => {
            // The same reader and verifier, which know the places in the file here.
            show(&source, &check(&source).1);
            Ok(Exit::Verification)
        }
    }
}
