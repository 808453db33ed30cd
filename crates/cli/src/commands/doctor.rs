//! `lmlang doctor`: whether a database is sound, and whether models answer.

use lmlang_agents::model::{Described, ModelError, Probe};
use lmlang_engine::Engine;
use serde_json::{Value, json};

use crate::error::Error;
use crate::exit::Exit;
use crate::misset;
use crate::output::{Output, bar, columns, counted, say};
use crate::session::{Missing, block_on, open};
use crate::settings::Settings;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ask each model that flows are configured to ask for one token, instead of checking the database.
    #[arg(long)]
    models: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    if args.models {
        return models(settings, output);
    }
    if let Some(url) = &settings.server {
        return Err(Error::NotByServer("a database is checked where it is", url.clone()));
    }
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
        "runs": checkup.runs,
        "entities": checkup.entities,
        "findings": findings,
    });
    output.data(&json, || {
        let entries = |number| counted(number, "entry", "entries");
        let if_any = |number, one, many| match number {
            0 => String::new(),
            number => format!(", {}", counted(number, one, many)),
        };
        let runs = if_any(checkup.runs, "run", "runs");
        let entities = if_any(checkup.entities, "entity or relation", "entities and relations");
        let mut text = format!(
            "{}, {}, {}, {}{runs}{entities}; {} replayed\n",
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

/// Asks every model that the settings name for one token.
fn models(settings: &Settings, output: Output) -> Result<Exit, Error> {
    misset::doubtful(&settings.llm).iter().for_each(|told| say(format!("warning: {told}")));
    let models = settings.models()?;
    let rows = block_on(async {
        let mut rows = Vec::new();
        for described in models.describe() {
            let probe = match models.is_configured(&described.role) {
                true => Some(models.probe(&described.role).await),
                false => None,
            };
            rows.push((described, probe));
        }
        Ok(rows)
    })?;
    let failed = rows.iter().filter(|(_, probe)| matches!(probe, Some(Err(_)))).count();
    let json: Vec<Value> = rows
        .iter()
        .map(|(described, probe)| {
            let mut json = json!({
                "role": described.role.name(), "provider": described.provider, "model": described.model,
                "server": described.server,
            });
            match probe {
                None => {}
                Some(Ok(probe)) => {
                    json["answered"] = json!({
                        "model": probe.model,
                        "milliseconds": probe.latency.total_ms,
                        "inputTokens": probe.usage.input,
                        "outputTokens": probe.usage.output,
                    });
                }
                Some(Err(error)) => {
                    json["error"] = json!({ "code": error.code(), "message": error.to_string() });
                }
            }
            json
        })
        .collect();
    output.data(&json, || {
        let row = |(described, probe): &(&Described, Option<Result<Probe, ModelError>>)| {
            let told = match probe {
                None => "no model is configured: flows decide by rules of their own".to_owned(),
                Some(Ok(probe)) => {
                    format!("answered as {} in {} ms", probe.model, probe.latency.total_ms)
                }
                Some(Err(error)) => format!("{error} ({})", error.code()),
            };
            let model = described.model.clone().unwrap_or_else(|| "-".to_owned());
            [described.role.name().to_owned(), described.provider.clone(), model, told]
        };
        columns(&rows.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(if failed == 0 { Exit::Success } else { Exit::Failure })
}
