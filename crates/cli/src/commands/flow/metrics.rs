//! How runs went, counted.

use chrono::{SecondsFormat, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::flow::shown::with_moments;
use crate::duration::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, moment, say};
use crate::session::Missing;
use crate::settings::Settings;

const METRICS: &str = "query($program: ID, $flow: String, $since: DateTime, $until: DateTime) {
  metrics(program: $program, flow: $flow, since: $since, until: $until) {
    runs entries truncated oldest
    tools { kind name calls ok failed codes { code count } classes { class count } meanMs p95Ms }
    models { provider model calls ok failed codes { code count } inputTokens outputTokens costUsd meanMs p95Ms }
    classes { class count retried asked diverted stopped codes { code count } }
  }
}";

/// Which runs are counted.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only runs of this flow.
    #[arg(long)]
    flow: Option<String>,
    /// Only runs about this program, by name or id; one that was deleted by its id.
    #[arg(long)]
    program: Option<String>,
    /// Only what happened since so long ago, such as `12h` or `7d` [default: all].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<TimeDelta>,
    /// Only what happened before so long ago [default: until now].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    until: Option<TimeDelta>,
}

#[derive(Debug, Deserialize)]
struct Counted {
    metrics: Value,
}

pub(super) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let ago = |given: Option<TimeDelta>| {
        let at = given.and_then(|ago| Utc::now().checked_sub_signed(ago));
        at.map(|at| at.to_rfc3339_opts(SecondsFormat::Micros, true))
    };
    let variables = json!({
        "program": args.program,
        "flow": args.flow,
        "since": ago(args.since),
        "until": ago(args.until),
    });
    let found: Counted =
        with_client(settings, Missing::Refuse, async |client| client.ask(METRICS, &variables).await)?;
    output.data(&with_moments(&found.metrics, &["oldest"]), || text(&found.metrics))?;
    if found.metrics["truncated"] == true {
        say("what is older was not counted: `--since`, `--flow` and `--program` count less");
    }
    Ok(Exit::Success)
}

fn text(metrics: &Value) -> String {
    let whole = |value: &Value| value.as_u64().unwrap_or(0);
    let mut text = counted(whole(&metrics["runs"]), "run", "runs");
    if let Some(oldest) = metrics["oldest"].as_str() {
        text += &format!(" since {}", moment(oldest));
    }
    text.push('\n');
    let list = |field: &str| metrics[field].as_array().cloned().unwrap_or_default();
    let (tools, models, classes) = (list("tools"), list("models"), list("classes"));
    let mut rows: Vec<[String; 6]> = Vec::with_capacity(tools.len() + models.len());
    rows.extend(tools.iter().map(|tool| called(tool, word(&tool["kind"]), word(&tool["name"]).to_owned())));
    rows.extend(models.iter().map(|model| {
        let name = match model["model"].as_str() {
            Some(name) => format!("{} {name}", word(&model["provider"])),
            None => word(&model["provider"]).to_owned(),
        };
        called(model, "model", name)
    }));
    text += &columns(&rows);
    let class = |class: &Value| {
        let count = |field: &str| whole(&class[field]);
        [
            word(&class["class"]).to_lowercase(),
            counted(count("count"), "failure", "failures"),
            format!("{} tried again", count("retried")),
            match count("diverted") {
                0 => format!("{} asked about", count("asked")),
                diverted => format!("{} asked about, {diverted} went on elsewhere", count("asked")),
            },
            format!("{} for good", count("stopped")),
            codes(class),
        ]
    };
    text + &columns(&classes.iter().map(class).collect::<Vec<_>>())
}

/// How calls went.
fn called(of: &Value, kind: &str, name: String) -> [String; 6] {
    let whole = |field: &str| of[field].as_u64().unwrap_or(0);
    let failed = match (whole("failed"), codes(of)) {
        (0, _) => String::new(),
        (failed, codes) => format!("{failed} failed: {codes}"),
    };
    let took = match (of["meanMs"].as_f64(), of["p95Ms"].as_f64()) {
        (Some(mean), Some(p95)) => format!("{mean:.1} ms, 95 of 100 within {p95:.1} ms"),
        _ => String::new(),
    };
    let spent = match (of["inputTokens"].as_u64(), of["costUsd"].as_f64()) {
        (None, _) => String::new(),
        (Some(asked), cost) => {
            let cost = cost.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            format!("{asked} + {} tokens{cost}", whole("outputTokens"))
        }
    };
    [kind.to_owned(), name, counted(whole("calls"), "call", "calls"), took, failed, spent]
}

/// Codes with how often each came.
fn codes(of: &Value) -> String {
    let codes = of["codes"].as_array().into_iter().flatten();
    let codes: Vec<String> = codes
        .map(|code| format!("{} {}", code["count"].as_u64().unwrap_or(0), word(&code["code"])))
        .collect();
    codes.join(", ")
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_told_by_tool_model_and_class() {
        let metrics = json!({
            "runs": 2, "entries": 6, "truncated": false, "oldest": "2026-01-02T03:04:05.5Z",
            "tools": [
                { "kind": "tool", "name": "hammer", "calls": 3, "failed": 2, "meanMs": 1.5, "p95Ms": 3.0,
                  "codes": [{ "code": "BUSY", "count": 2 }] },
                { "kind": "http", "name": "GET /streams", "calls": 1, "failed": 0, "meanMs": 2.0, "p95Ms": 2.0,
                  "codes": [] },
            ],
            "models": [
                { "provider": "openai", "model": "m", "calls": 1, "failed": 0, "meanMs": 10.0, "p95Ms": 10.0,
                  "codes": [], "inputTokens": 7, "outputTokens": 2, "costUsd": 0.0125 },
            ],
            "classes": [
                { "class": "RANDOM", "count": 2, "retried": 1, "asked": 1, "stopped": 0,
                  "codes": [{ "code": "BUSY", "count": 2 }] },
            ],
        });
        let expect = "\
2 runs since 2026-01-02T03:04:05Z
tool   hammer        3 calls  1.5 ms, 95 of 100 within 3.0 ms    2 failed: 2 BUSY
http   GET /streams  1 call   2.0 ms, 95 of 100 within 2.0 ms
model  openai m      1 call   10.0 ms, 95 of 100 within 10.0 ms                    7 + 2 tokens, $0.0125
random  2 failures  1 tried again  1 asked about  0 for good  2 BUSY
";
        assert_eq!(text(&metrics), expect);
    }
}
