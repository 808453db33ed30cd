//! `lmlang doctor`: whether a database is sound.

use lmlang_engine::Engine;
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, bar, counted, say};
use crate::session::{Missing, block_on, open};
use crate::settings::Settings;

/// Nothing to choose.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let bar = bar("replaying logs", 0);
    let checkup = block_on(async {
        let engine: Engine = open(settings, Missing::Refuse).await?;
        let checkup = engine
            .doctor(|progress| {
                bar.set_length(progress.of);
                bar.set_position(progress.done);
            })
            .await;
        engine.close().await;
        Ok(checkup?)
    });
    bar.finish_and_clear();
    let checkup = checkup?;
    let findings: Vec<String> = checkup.findings().collect();
    let structure = &checkup.structure;
    let json = json!({
        "database": settings.location()?.to_string(),
        "sound": findings.is_empty(),
        "programs": structure.programs,
        "entries": structure.entries,
        "snapshots": structure.snapshots,
        "objects": structure.objects,
        "orphans": structure.orphans,
        "replayed": checkup.replayed,
        "findings": findings,
    });
    output.data(&json, || {
        let entries = |number| counted(number, "entry", "entries");
        let mut text = format!(
            "{}, {}, {}, {}; {} replayed\n",
            counted(structure.programs, "program", "programs"),
            entries(structure.entries),
            counted(structure.snapshots, "snapshot", "snapshots"),
            counted(structure.objects, "object", "objects"),
            entries(checkup.replayed)
        );
        findings.iter().for_each(|finding| text.push_str(&format!("{finding}\n")));
        text
    })?;
    if findings.is_empty() {
        say("the database is sound");
        return Ok(Exit::Success);
    }
    say(counted(findings.len() as u64, "finding", "findings"));
    Ok(Exit::Failure)
}
