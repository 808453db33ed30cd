//! `lmlang compare`: where the runs of a function at two revisions part, and an input on which they do.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::callee::unquoted;
use crate::client::{About, named, with_client};
use crate::commands::case::Path;
use crate::ends::{END, End};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say};
use crate::session::Missing;
use crate::settings::Settings;

/// Which function, with what, and at which revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The function, by name, path (`module::name`) or ref.
    function: String,
    /// Its arguments, in the text form: `5`, `f64:0.1`, `[i32: 1, 2]`, `Point{x: 1, y: 2}`; for the type `string` the text
    /// itself.
    #[arg(allow_negative_numbers = true)]
    args: Vec<String>,
    /// Instead of running it with given arguments, look for the smallest ones on which it does not do the same at both, for
    /// ten seconds at most.
    #[arg(long, conflicts_with = "args")]
    search: bool,
    /// The one revision.
    #[arg(long, value_name = "REVISION")]
    from: String,
    /// The other revision.
    #[arg(long, value_name = "REVISION", default_value = "main")]
    to: String,
}

const COMPARE: &str = "mutation($input: CompareRunsInput!) {
  compared: compareRuns(input: $input) {
    same sameSteps
    firstDifference { ...Step } insteadOf { ...Step }
    before { ...End } after { ...End }
    causedBy { number message }
  }
}
fragment Step on TraceStep { seq function node op inputs outputs }";

const SEARCH: &str = "query($id: ID, $name: String, $function: String!, $from: String!, $to: String!) {
  program(id: $id, name: $name) {
    behaviourDiff(function: $function, from: $from, to: $to) {
      function { path } args stdin before { ...End } after: outcome { ...End } shrinkSteps
      distinctions { what place before after }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    compared: Comparison,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Searched {
    behaviour_diff: Option<Differing>,
}

/// Arguments with which a function does not do the same.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Differing {
    function: Path,
    args: Vec<String>,
    /// What is read of standard input.
    stdin: Option<String>,
    before: Option<End>,
    after: End,
    shrink_steps: u64,
    distinctions: Vec<Distinction>,
}

/// Something that is not the same.
#[derive(Debug, Deserialize)]
struct Distinction {
    what: String,
    place: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comparison {
    same: bool,
    same_steps: u64,
    first_difference: Option<Step>,
    instead_of: Option<Step>,
    before: End,
    after: End,
    caused_by: Option<Revision>,
}

#[derive(Debug, Deserialize)]
struct Step {
    seq: u64,
    function: String,
    node: String,
    op: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Revision {
    number: u64,
    message: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    if args.search {
        return search(args, settings, output);
    }
    let Args { program, function, args, from, to, .. } = args;
    let args: Vec<String> = args.iter().map(|given| unquoted(given)).collect();
    let input = json!({
        "programId": program, "function": function, "from": from, "to": to, "run": { "args": args },
    });
    let answer: Answer = with_client(settings, Missing::Refuse, async |client| {
        client.ask(&format!("{COMPARE}\n{END}"), &json!({ "input": input })).await
    })?;
    let found = answer.compared;
    output.data(&found.json(), || found.text(from, to))?;
    Ok(Exit::Success)
}

/// Looks for arguments on which the function does not do the same.
fn search(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let Args { program, function, from, to, .. } = args;
    let mut variables = named(program);
    variables["function"] = function.clone().into();
    variables["from"] = from.clone().into();
    variables["to"] = to.clone().into();
    let answer: About<Searched> = with_client(settings, Missing::Refuse, async |client| {
        client.ask(&format!("{SEARCH}\n{END}"), &variables).await
    })?;
    match answer.program.behaviour_diff {
        Some(found) => output.data(&found.json(), || found.text(from, to))?,
        None => {
            output.data(&json!({ "found": false }), String::new)?;
            say("no input is found on which they differ, which is no proof that there is none");
        }
    }
    Ok(Exit::Success)
}

impl Differing {
    fn json(&self) -> Value {
        json!({
            "found": true,
            "function": self.function.path,
            "args": self.args,
            "stdin": self.stdin,
            "before": self.before.as_ref().map(End::json),
            "after": self.after.json(),
            "distinctions": self.distinctions.iter().map(Distinction::json).collect::<Vec<_>>(),
            "shrinkSteps": self.shrink_steps,
        })
    }

    fn text(&self, from: &str, to: &str) -> String {
        let call = format!("{}({})", self.function.path, self.args.join(", "));
        let stdin = self.stdin.as_ref().map(|stdin| format!("standard input: {stdin:?}\n"));
        let before = self.before.as_ref().map(End::line).unwrap_or_default();
        let ends = format!("{from}: {before}\n{to}: {}\n", self.after.line());
        let others: String = self.distinctions.iter().filter_map(Distinction::line).collect();
        format!("{call}\n{}{ends}{others}", stdin.unwrap_or_default())
    }
}

impl Distinction {
    fn json(&self) -> Value {
        let Distinction { what, place, before, after } = self;
        json!({ "what": what, "place": place, "before": before, "after": after })
    }

    /// What is not the same, unless that is how the runs end, which is told anyway.
    fn line(&self) -> Option<String> {
        let Distinction { what, place, before, after } = self;
        let place = place.as_deref().unwrap_or_default();
        let of = match what.as_str() {
            "ENDING" | "RESULTS" => return None,
            "STDOUT" => "standard output".to_owned(),
            "STDERR" => "standard error".to_owned(),
            "FILE" => format!("what becomes of `{place}`"),
            "GLOBAL" => format!("global `{place}`"),
            "MEMORY" => format!("memory from {place} on"),
            other => other.to_lowercase(),
        };
        Some(match (before, after) {
            (Some(before), Some(after)) if what.starts_with("STD") => {
                format!("{of}: {before:?}, then {after:?}\n")
            }
            (Some(before), Some(after)) => format!("{of}: {before}, then {after}\n"),
            (_, _) => format!("{of} is not the same\n"),
        })
    }
}

impl Comparison {
    fn json(&self) -> Value {
        json!({
            "same": self.same,
            "sameSteps": self.same_steps,
            "firstDifference": self.first_difference.as_ref().map(Step::json),
            "insteadOf": self.instead_of.as_ref().map(Step::json),
            "before": self.before.json(),
            "after": self.after.json(),
            "causedBy": self.caused_by.as_ref().map(|revision| format!("r{}", revision.number)),
        })
    }

    fn text(&self, from: &str, to: &str) -> String {
        let steps = counted(self.same_steps, "step", "steps");
        if self.same {
            return format!("the same: {steps}, {}\n", self.after.line());
        }
        let mut text = format!("the same for {steps}\n");
        for (at, step) in [(from, &self.instead_of), (to, &self.first_difference)] {
            if let Some(step) = step {
                text.push_str(&format!("{at}: {}\n", step.line()));
            }
        }
        for (at, end) in [(from, &self.before), (to, &self.after)] {
            text.push_str(&format!("{at}: {}\n", end.line()));
        }
        if let Some(Revision { number, message }) = &self.caused_by {
            let why = message.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
            text.push_str(&format!("since r{number}{why}\n"));
        }
        text
    }
}

impl Step {
    fn json(&self) -> Value {
        json!({
            "seq": self.seq,
            "function": self.function,
            "node": self.node,
            "op": self.op,
            "inputs": self.inputs,
            "outputs": self.outputs,
        })
    }

    fn line(&self) -> String {
        let Step { seq, function, node, op, inputs, outputs } = self;
        let made = if outputs.is_empty() { String::new() } else { format!("  => {}", outputs.join(", ")) };
        format!("step {seq}, {function} {node} {op} ({}){made}", inputs.join(", "))
    }
}
