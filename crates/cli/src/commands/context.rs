//! `lmlang context`: what a model is told of a part of a program.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// What it is about, and how much it may take.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// What it is about, by refs or paths: nodes, functions, types, fields, storage, modules.
    #[arg(required = true)]
    focus: Vec<String>,
    #[command(flatten)]
    view: View,
    /// The tokens that the text may take.
    #[arg(long, value_name = "TOKENS", default_value_t = 4_000)]
    budget: u32,
    /// The `token` of an earlier context, which `--json` shows: only what has changed since is told.
    #[arg(long, value_name = "TOKEN")]
    since: Option<String>,
    /// How tokens are counted: `o200k_base` or `cl100k_base`.
    #[arg(long, value_name = "NAME", default_value = "o200k_base")]
    tokenizer: String,
    /// How much is said of functions.
    #[arg(long, value_enum, default_value_t)]
    detail: Detail,
}

/// How much is said of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// No comments, and refs only where there is no name.
    Summary,
    /// Refs and comments.
    #[default]
    Standard,
    /// Runs as well.
    Full,
}

const DOCUMENT: &str = "query($id: ID, $name: String, $at: String, $input: ContextInput!) {
  program(id: $id, name: $name, at: $at) {
    context(input: $input) {
      text tokensUsed tokensWhole stages complete token changedSince
      included { ref kind role tokens stage }
      omitted { what count howToAsk }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    context: Pack,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pack {
    text: String,
    tokens_used: u64,
    tokens_whole: u64,
    stages: Vec<String>,
    complete: bool,
    token: String,
    changed_since: Vec<String>,
    included: Vec<Value>,
    omitted: Vec<Omitted>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Omitted {
    what: String,
    count: u64,
    how_to_ask: String,
}

impl Omitted {
    fn json(&self) -> Value {
        json!({ "what": self.what, "count": self.count, "howToAsk": self.how_to_ask })
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["input"] = json!({
        "focus": args.focus,
        "budgetTokens": args.budget,
        "since": args.since,
        "tokenizer": args.tokenizer,
        "detail": match args.detail {
            Detail::Summary => "SUMMARY",
            Detail::Standard => "STANDARD",
            Detail::Full => "FULL",
        },
    });
    let answer: About<Answer> =
        with_client(settings, Missing::Refuse, async |client| client.ask(DOCUMENT, &variables).await)?;
    let pack = answer.program.context;
    let json = json!({
        "text": pack.text,
        "tokensUsed": pack.tokens_used,
        "tokensWhole": pack.tokens_whole,
        "stages": pack.stages,
        "complete": pack.complete,
        "token": pack.token,
        "changedSince": pack.changed_since,
        "included": pack.included,
        "omitted": pack.omitted.iter().map(Omitted::json).collect::<Vec<_>>(),
    });
    output.data(&json, || pack.text.clone())?;
    for omitted in &pack.omitted {
        say(format_args!("left out: {} ({})", omitted.what, omitted.count));
    }
    let tokens = counted(pack.tokens_used, "token", "tokens");
    match pack.tokens_used == pack.tokens_whole {
        true => say(tokens),
        false => say(format_args!("{tokens} of {}", pack.tokens_whole)),
    }
    Ok(Exit::Success)
}
