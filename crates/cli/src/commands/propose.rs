//! `lmlang propose`: many candidates for one change, tried on copies and ranked; nothing is stored.

use std::path::PathBuf;

use clap::ValueEnum;
use lmlang_ir::told::{EDITED, NOW};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::commands::edit::{check, name};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, say};
use crate::proposed::{Origin, Proposed, fragments};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::input;

/// Which program, which candidates, and what they are measured by.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// A list of candidates in a file, `-` for standard input; each is a list of edits, as `lmlang edit` takes it:
    /// `[[{"setDoc": {..}}], [{"addText": {..}}]]`.
    file: PathBuf,
    /// The revision that all of them are made on [default: the head].
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
    /// What they have to meet besides that they can be applied; several with commas between them [default: cases,contracts].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "GATE")]
    gates: Vec<Gate>,
    /// How long all of them may take, in seconds; what is not known by then counts as missed.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// How many nodes the test cases of one candidate may execute together.
    #[arg(long, value_name = "NODES")]
    fuel: Option<u64>,
    /// A name for the tournament, by which its subscription can be found while it runs.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// What a candidate has to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Gate {
    /// Nothing that it touches is left incomplete.
    Complete,
    /// No test case that it may concern fails.
    Cases,
    /// No input is found that breaks the contracts of what it changes.
    Contracts,
}

impl Gate {
    fn name(self) -> &'static str {
        match self {
            Gate::Complete => "complete",
            Gate::Cases => "cases",
            Gate::Contracts => "contracts",
        }
    }
}

const PROPOSE: &str = "mutation($input: ProposeManyInput!) {
  tried: proposeMany(input: $input) {
    tournamentId
    ranked {
      index rank missed casesPassed casesFailed casesUndecided contractsBroken broken fuelUsed
      outcome { ...Proposed }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    tried: Tournament,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tournament {
    tournament_id: String,
    ranked: Vec<Candidate>,
}

/// What came of a candidate.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: u64,
    rank: Option<u64>,
    missed: Vec<String>,
    cases_passed: u64,
    cases_failed: u64,
    cases_undecided: u64,
    contracts_broken: u64,
    broken: Vec<String>,
    fuel_used: u64,
    outcome: Proposed,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let candidates = args.candidates()?;
    let gates: Vec<&str> = args.gates.iter().map(|gate| gate.name()).collect();
    let request = json!({
        "programId": args.program,
        "baseRevision": args.base,
        "candidates": candidates,
        "gates": (!gates.is_empty()).then_some(gates),
        "timeoutMs": args.timeout.saturating_mul(1000),
        "fuel": args.fuel,
        "idempotencyKey": args.key,
    });
    let document = format!("{PROPOSE}\n{}", fragments());
    let answer: Answer = with_client(settings, Missing::Refuse, async |client| {
        client.ask(&document, &json!({ "input": request })).await
    })?;
    let Tournament { tournament_id, ranked } = answer.tried;
    let json: Vec<Value> = ranked.iter().map(Candidate::json).collect();
    output.data(&json!({ "tournamentId": tournament_id, "ranked": json }), || {
        let mut text = columns(&ranked.iter().map(Candidate::row).collect::<Vec<_>>());
        ranked.iter().for_each(|candidate| text.push_str(&candidate.mistakes()));
        text
    })?;
    match ranked.first().filter(|best| best.missed.is_empty()) {
        Some(best) => {
            let (index, program) = (best.index, &args.program);
            say(format_args!(
                "nothing is stored: `lmlang edit {program}` takes the edits of candidate {index}"
            ));
            Ok(Exit::Success)
        }
        None => {
            say("no candidate meets all gates");
            Ok(Exit::Failure)
        }
    }
}

impl Args {
    fn candidates(&self) -> Result<Vec<Vec<Map<String, Value>>>, Error> {
        let text = input(&self.file)?;
        let candidates: Vec<Vec<Map<String, Value>>> = serde_json::from_str(&text).map_err(|error| {
            Error::Input(format!("`{}` is no list of lists of edits: {error}", name(&self.file)))
        })?;
        for (index, edits) in candidates.iter().enumerate() {
            check(&list(index as u64), edits)?;
        }
        Ok(candidates)
    }
}

/// What places call the edits of a candidate.
fn list(index: u64) -> String {
    format!("candidates[{index}]")
}

impl Candidate {
    fn json(&self) -> Value {
        json!({
            "index": self.index,
            "rank": self.rank,
            "missed": self.missed,
            "casesPassed": self.cases_passed,
            "casesFailed": self.cases_failed,
            "casesUndecided": self.cases_undecided,
            "contractsBroken": self.contracts_broken,
            "broken": self.broken,
            "fuelUsed": self.fuel_used,
            "outcome": self.outcome.json(),
        })
    }

    /// Its rank, which one it is, what it misses, how its cases stand, and what it would change.
    fn row(&self) -> [String; 6] {
        let missed = match self.missed.as_slice() {
            [] => "meets all gates".to_owned(),
            missed => format!("misses {}", missed.join(", ")),
        };
        let cases = self.cases_passed + self.cases_failed + self.cases_undecided;
        let cases = format!("cases: {} of {cases} hold", self.cases_passed);
        [
            self.rank.map(|rank| rank.to_string()).unwrap_or_default(),
            format!("candidate {}", self.index),
            missed,
            cases,
            format!("fuel {}", self.fuel_used),
            self.what(),
        ]
    }

    /// What would become of its edits.
    fn what(&self) -> String {
        match &self.outcome {
            Proposed::Applied(applied) => {
                let found = applied.diagnostics_added.len() as u64;
                format!("{}, {}", applied.changed, counted(found, "new finding", "new findings"))
            }
            Proposed::Rejected(rejected) => {
                format!("rejected: {}", counted(rejected.errors.len() as u64, "mistake", "mistakes"))
            }
            Proposed::InConflict(conflict) => {
                format!("in {}", counted(conflict.conflicts.len() as u64, "conflict", "conflicts"))
            }
        }
    }

    /// Why its edits cannot be applied, if so, in lines.
    fn mistakes(&self) -> String {
        let origin = Origin::List(list(self.index));
        match &self.outcome {
            Proposed::Applied(_) => String::new(),
            Proposed::Rejected(rejected) => {
                rejected.errors.iter().map(|mistake| mistake.text(&origin)).collect()
            }
            Proposed::InConflict(conflict) => {
                conflict.conflicts.iter().map(|of| of.text([NOW, EDITED])).collect()
            }
        }
    }
}
