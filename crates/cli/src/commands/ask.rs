//! `lmlang ask`: questions about the graph of a program.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// What is asked of which program.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// What is asked.
    #[arg(value_enum)]
    question: Question,
    /// What it is asked about, by refs or paths: for `writers` and `readers` fields, variants, types, variables or storage;
    /// for the others functions, types or modules, or nothing for all.
    of: Vec<String>,
    #[command(flatten)]
    view: View,
    /// How many answers at most.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// Who writes something.
    Writers,
    /// Who reads something.
    Readers,
    /// Functions that nothing reaches, and nodes whose values nobody uses.
    DeadCode,
    /// Types that nothing uses.
    UnusedTypes,
    /// Functions in which something may trap, or in what they call.
    MayTrap,
    /// Functions that do more than compute.
    HasEffect,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Question::Writers => "WRITERS",
            Question::Readers => "READERS",
            Question::DeadCode => "DEAD_CODE",
            Question::UnusedTypes => "UNUSED_TYPES",
            Question::MayTrap => "MAY_TRAP",
            Question::HasEffect => "HAS_EFFECT",
        }
    }
}

const DOCUMENT: &str =
    "query($id: ID, $name: String, $at: String, $question: Question!, $of: [String!], $first: Int!,
    $after: String) {
  program(id: $id, name: $name, at: $at) {
    analysis(question: $question, of: $of, first: $first, after: $after) {
      nodes { ref kind text reason } pageInfo { hasNextPage endCursor }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Analysis {
    analysis: Page<Answer>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    text: String,
    reason: String,
}

impl Answer {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind.to_ascii_lowercase(),
            "text": self.text,
            "reason": self.reason,
        })
    }

    fn row(&self) -> [String; 3] {
        [self.of.clone(), self.text.clone(), self.reason.clone()]
    }
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["question"] = args.question.name().into();
    variables["of"] = args.of.clone().into();
    let (answers, more) = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: About<Analysis>| answer.program.analysis;
        client.list(DOCUMENT, variables, args.limit as usize, page).await
    })?;
    let json: Vec<Value> = answers.iter().map(Answer::json).collect();
    output.data(&json, || columns(&answers.iter().map(Answer::row).collect::<Vec<_>>()))?;
    match more {
        true => say(format_args!("the rest is left out; `-n {}` shows more", args.limit.saturating_mul(2))),
        false => say(format_args!("{}, that is all", counted(answers.len() as u64, "answer", "answers"))),
    }
    Ok(Exit::Success)
}
