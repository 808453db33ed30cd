//! `lmlang mutate`: which small changes of a function its test cases, and contracts, do not notice.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which function.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The function, by path (`module::name`), name or ref.
    function: String,
    #[command(flatten)]
    view: View,
}

const MUTATIONS: &str = "query($id: ID, $name: String, $at: String, $function: String!) {
  program(id: $id, name: $name, at: $at) {
    mutations(function: $function) { score killed possible skipped survived { node change reached } }
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    mutations: Report,
}

/// What became of the changes.
#[derive(Debug, Deserialize)]
struct Report {
    score: Option<f64>,
    killed: u64,
    possible: u64,
    skipped: u64,
    survived: Vec<Survivor>,
}

/// A change that nobody noticed.
#[derive(Debug, Deserialize)]
struct Survivor {
    node: String,
    change: String,
    reached: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["function"] = args.function.clone().into();
    let answer: About<Answer> =
        with_client(settings, Missing::Refuse, async |client| client.ask(MUTATIONS, &variables).await)?;
    let report = answer.program.mutations;
    output
        .data(&report.json(), || columns(&report.survived.iter().map(Survivor::row).collect::<Vec<_>>()))?;
    say(report.summary());
    Ok(Exit::Success)
}

impl Report {
    fn json(&self) -> Value {
        json!({
            "score": self.score,
            "killed": self.killed,
            "possible": self.possible,
            "skipped": self.skipped,
            "survived": self.survived.iter().map(Survivor::json).collect::<Vec<_>>(),
        })
    }

    /// The score, and what it is made of.
    fn summary(&self) -> String {
        let Some(score) = self.score else { return "there is nothing to change".to_owned() };
        let tried = counted(self.killed + self.survived.len() as u64, "change", "changes");
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!("; {skipped} more would make the program wrong"),
        };
        format!("mutation score {score:.2}: {} of {tried} noticed{skipped}", self.killed)
    }
}

impl Survivor {
    fn json(&self) -> Value {
        json!({ "node": self.node, "change": self.change, "reached": self.reached })
    }

    fn row(&self) -> [String; 3] {
        let reached = if self.reached { "" } else { "no test case reaches it" };
        [self.node.clone(), self.change.clone(), reached.to_owned()]
    }
}
