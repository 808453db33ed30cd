//! `lmlang verify`: everything that the verifier finds in a program of a database, and inputs that break its functions.

use std::collections::BTreeMap;

use clap::ValueEnum;
use lmlang_graphql::schema::code_page;
use lmlang_ir::Ref;
use lmlang_ir::text::nearest;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::breaking::{Counts, SearchArgs, inconclusive};
use crate::client::{About, Client, Page, with_client};
use crate::commands::history::Numbered;
use crate::ends::{END, End};
use crate::error::Error;
use crate::exit::Exit;
use crate::findings::{FOUND, FOUND_AND_FIXES, Found, Severity};
use crate::output::{Output, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which program, and which findings.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    #[command(flatten)]
    view: View,
    /// Also fail on what is incomplete and on warnings.
    #[arg(long)]
    strict: bool,
    /// Only findings of this weight; may be given several times.
    #[arg(long, value_enum, value_name = "WEIGHT")]
    severity: Vec<Weight>,
    /// Only findings with this code, such as `UNUSED_VALUE`; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = known_code)]
    code: Vec<String>,
    /// Only findings in this function, by name, path (`module::name`) or ref.
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,
    /// Only findings in what can be touched by the changes since this revision.
    #[arg(long, value_name = "REVISION", conflicts_with = "function")]
    since: Option<String>,
    /// Only findings in what a change of this can touch, by ref or path; may be given several times.
    #[arg(long, value_name = "REF", conflicts_with_all = ["function", "since"])]
    touched: Vec<String>,
    /// Also warn of variables that may be read before they are assigned.
    #[arg(long, conflicts_with = "function")]
    unassigned: bool,
    /// Tell repairs as well, as lists of edits that `lmlang edit` takes.
    #[arg(long)]
    fixes: bool,
    #[command(flatten)]
    search: SearchArgs,
    /// Make test cases of inputs that break functions.
    #[arg(long, requires = "contracts")]
    add_cases: bool,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Weight {
    /// The program is wrong.
    Error,
    /// The program can be kept, and run up to there at most.
    Incomplete,
    /// Probably not what was meant.
    Warning,
}

const VERIFIED: &str =
    "query(
  $id: ID, $name: String, $at: String, $scope: VerifyScope!, $since: String, $touched: [String!], $unassigned: Boolean!,
  $listed: Boolean!
) {
  program(id: $id, name: $name, at: $at) {
    programId name revision { number }
    verify(scope: $scope, since: $since, touched: $touched, unassigned: $unassigned) {
      complete checkedFunctions
      truncated @include(if: $listed) errors @include(if: $listed) { ...Found } warnings @include(if: $listed) { ...Found }
    }
  }
}";

const OF_PROGRAM: &str = "query($id: ID, $at: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    diagnostics(first: $first, after: $after) { nodes { ...Found } pageInfo { hasNextPage endCursor } }
  }
}";

const OF_FUNCTION: &str =
    "query($id: ID, $at: String, $ref: String, $path: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    function(ref: $ref, name: $path) {
      diagnostics(first: $first, after: $after) { nodes { ...Found } pageInfo { hasNextPage endCursor } }
    }
  }
}";

const FUNCTIONS: &str = "query($id: ID, $at: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    functions(first: $first, after: $after) { nodes { ref path } pageInfo { hasNextPage endCursor } }
  }
}";

const SEARCH: &str = "mutation($input: CheckContractsInput!) {
  searched: checkContracts(input: $input) {
    coverage
    attempts {
      function tried discarded undecided undecidedWhy coverage ending message
      counterexample { args outcome { ...End } case { name } shrinkSteps }
    }
  }
}";

/// A program, verified.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verified {
    program_id: String,
    name: String,
    revision: Numbered,
    verify: Report,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    complete: bool,
    checked_functions: u64,
    /// These three only where no list of the program has them.
    truncated: Option<bool>,
    errors: Option<Vec<Found>>,
    warnings: Option<Vec<Found>>,
}

#[derive(Debug, Deserialize)]
struct OfProgram {
    diagnostics: Page<Found>,
}

#[derive(Debug, Deserialize)]
struct OfFunction {
    function: OfProgram,
}

#[derive(Debug, Deserialize)]
struct Functions {
    functions: Page<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(rename = "ref")]
    of: String,
    path: String,
}

#[derive(Debug, Deserialize)]
struct Searched {
    searched: Search,
}

/// What came of the search for inputs that break functions.
#[derive(Debug, Deserialize)]
struct Search {
    coverage: f64,
    attempts: Vec<Attempt>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    function: String,
    tried: u64,
    discarded: u64,
    undecided: u64,
    undecided_why: Vec<String>,
    coverage: f64,
    ending: Option<String>,
    message: Option<String>,
    counterexample: Option<Broken>,
}

/// An input that breaks a function.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Broken {
    args: Vec<String>,
    outcome: End,
    case: Option<Case>,
    shrink_steps: u64,
}

/// The test case that it became.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
}

/// What was found, all of it.
struct Seen {
    verified: Verified,
    findings: Vec<Found>,
    search: Option<Search>,
    /// Paths of functions by ref, where inputs were searched.
    paths: BTreeMap<String, String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut seen = with_client(settings, Missing::Refuse, async |client| args.look(client).await)?;
    seen.findings.retain(|found| args.shows(found));
    let broken = seen.search.iter().flat_map(|search| &search.attempts);
    let broken = broken.filter(|attempt| attempt.counterexample.is_some()).count();
    let wrong = seen.findings.iter().any(|found| args.strict || Weight::of(found) == Weight::Error);
    let ok = broken == 0 && !wrong;
    output.data(&seen.json(ok), || seen.text())?;
    seen.tell();
    Ok(if ok { Exit::Success } else { Exit::Verification })
}

/// The name of a code that findings can have.
fn known_code(given: &str) -> Result<String, String> {
    let wanted = given.to_ascii_uppercase();
    let names = || code_page::all().map(|page| page.code);
    if names().any(|name| name == wanted) {
        return Ok(wanted);
    }
    match nearest(&wanted, names()).as_slice() {
        [] => Err("there is no such code".to_owned()),
        near => Err(format!("there is no such code; did you mean: {}", near.join(", "))),
    }
}

impl Args {
    async fn look(&self, client: &Client) -> Result<Seen, Error> {
        let mut variables = self.view.of(&self.program);
        let is_local = self.since.is_some() || !self.touched.is_empty();
        variables["scope"] = if is_local { "LOCAL" } else { "FULL" }.into();
        variables["since"] = self.since.clone().into();
        variables["touched"] = json!((!self.touched.is_empty()).then_some(&self.touched));
        variables["unassigned"] = self.unassigned.into();
        // No list of the program has what was found for this request alone.
        variables["listed"] = (is_local || self.unassigned).into();
        let found = if self.fixes { FOUND_AND_FIXES } else { FOUND };
        let answer: About<Verified> = client.ask(&format!("{VERIFIED}\n{found}"), &variables).await?;
        let mut verified = answer.program;
        // What was verified, whatever the head is by now.
        let at = format!("r{}", verified.revision.number);
        let pinned = json!({ "id": verified.program_id, "at": at });
        let findings = match (&self.function, verified.verify.errors.take()) {
            (_, Some(mut errors)) => {
                errors.extend(verified.verify.warnings.take().unwrap_or_default());
                errors
            }
            (Some(function), None) => {
                let mut variables = pinned.clone();
                let key = if function.parse::<Ref>().is_ok() { "ref" } else { "path" };
                variables[key] = function.clone().into();
                let page = |answer: About<OfFunction>| answer.program.function.diagnostics;
                client.list(&format!("{OF_FUNCTION}\n{found}"), variables, usize::MAX, page).await?.0
            }
            (None, None) => {
                let page = |answer: About<OfProgram>| answer.program.diagnostics;
                client.list(&format!("{OF_PROGRAM}\n{found}"), pinned.clone(), usize::MAX, page).await?.0
            }
        };
        let mut seen = Seen { verified, findings, search: None, paths: BTreeMap::new() };
        if self.search.contracts {
            let input = json!({
                "programId": self.program,
                "at": at,
                "functions": self.function.as_ref().map(|function| [function]),
                "timeoutMs": self.search.timeout.saturating_mul(1000),
                "cases": self.search.cases,
                "seed": self.search.seed,
                "addCases": self.add_cases,
            });
            let look = format!("lmlang case list {}", self.program);
            let searched: Searched = client.change(&format!("{SEARCH}\n{END}"), input, &look).await?;
            seen.search = Some(searched.searched);
            let page = |answer: About<Functions>| answer.program.functions;
            let (functions, _) = client.list(FUNCTIONS, pinned, usize::MAX, page).await?;
            seen.paths = functions.into_iter().map(|function| (function.of, function.path)).collect();
        }
        Ok(seen)
    }

    /// Whether a finding is one of those that are wanted.
    fn shows(&self, found: &Found) -> bool {
        let weight = self.severity.is_empty() || self.severity.contains(&Weight::of(found));
        let code = self.code.is_empty() || self.code.contains(&found.code);
        weight && code
    }
}

impl Weight {
    fn of(found: &Found) -> Weight {
        match (found.severity, found.incomplete) {
            (Severity::Error, _) => Weight::Error,
            (Severity::Warning, true) => Weight::Incomplete,
            (Severity::Warning, false) => Weight::Warning,
        }
    }
}

impl Seen {
    fn count(&self, weight: Weight) -> u64 {
        self.findings.iter().filter(|found| Weight::of(found) == weight).count() as u64
    }

    fn json(&self, ok: bool) -> Value {
        let Verified { name, revision, verify, .. } = &self.verified;
        let mut json = json!({
            "program": name,
            "revision": format!("r{}", revision.number),
            "ok": ok,
            "complete": verify.complete,
            "checkedFunctions": verify.checked_functions,
            "truncated": verify.truncated.unwrap_or(false),
            "errors": self.count(Weight::Error),
            "incomplete": self.count(Weight::Incomplete),
            "warnings": self.count(Weight::Warning),
            "diagnostics": self.findings.iter().map(Found::json).collect::<Vec<_>>(),
        });
        if let Some(search) = &self.search {
            json["coverage"] = search.coverage.into();
            json["attempts"] =
                search.attempts.iter().map(|attempt| attempt.json(self.path(&attempt.function))).collect();
        }
        json
    }

    /// The findings, then the inputs that break functions.
    fn text(&self) -> String {
        let mut text: String = self.findings.iter().map(Found::text).collect();
        for attempt in self.search.iter().flat_map(|search| &search.attempts) {
            if let Some(broken) = &attempt.counterexample {
                text.push_str(&broken.text(self.path(&attempt.function)));
            }
        }
        text
    }

    /// Says how much was looked at and found.
    fn tell(&self) {
        let functions = counted(self.verified.verify.checked_functions, "function", "functions");
        let errors = counted(self.count(Weight::Error), "error", "errors");
        let warnings = counted(self.count(Weight::Warning), "warning", "warnings");
        let incomplete = self.count(Weight::Incomplete);
        if self.verified.verify.truncated == Some(true) {
            say("some findings are left out: without `--since` and `--touched` all are listed");
        }
        for attempt in self.search.iter().flat_map(|search| &search.attempts) {
            if let Some(why) = attempt.why(self.path(&attempt.function)) {
                say(why);
            }
        }
        let mut told = format!("{functions} verified: {errors}, {incomplete} incomplete, {warnings}");
        if let Some(search) = &self.search {
            let tried = search.attempts.iter().filter(|attempt| attempt.message.is_none()).count() as u64;
            let inputs =
                counted(search.attempts.iter().map(|attempt| attempt.tried).sum(), "input", "inputs");
            let broken = search.attempts.iter().filter(|attempt| attempt.counterexample.is_some()).count();
            let tried = counted(tried, "function", "functions");
            told.push_str(&format!("; {tried} tried with {inputs}, {broken} broken"));
        }
        say(told);
    }

    fn path<'a>(&'a self, of: &'a str) -> &'a str {
        self.paths.get(of).map_or(of, String::as_str)
    }
}

impl Attempt {
    fn json(&self, path: &str) -> Value {
        json!({
            "function": path,
            "ref": self.function,
            "tried": self.tried,
            "discarded": self.discarded,
            "undecided": self.undecided,
            "undecidedWhy": self.undecided_why,
            "coverage": self.coverage,
            "ending": self.ending,
            "message": self.message,
            "counterexample": self.counterexample.as_ref().map(Broken::json),
        })
    }

    /// Why nothing follows from the search, or less than it seems, if so.
    fn why(&self, path: &str) -> Option<String> {
        if self.counterexample.is_some() {
            return None;
        }
        let Attempt { tried, discarded, undecided, undecided_why, ending, message, .. } = self;
        let counts =
            Counts { tried: *tried, discarded: *discarded, undecided: *undecided, why: undecided_why };
        inconclusive(path, ending.as_deref(), message.as_deref(), counts)
    }
}

impl Broken {
    fn json(&self) -> Value {
        json!({
            "args": self.args,
            "outcome": self.outcome.json(),
            "case": self.case.as_ref().map(|case| &case.name),
            "shrinkSteps": self.shrink_steps,
        })
    }

    fn text(&self, path: &str) -> String {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let call = format!("{path}({})", self.args.join(", "));
        let case =
            self.case.as_ref().map(|case| format!("    test case `{}`\n", case.name)).unwrap_or_default();
        let end = self.outcome.line();
        format!("{red}error[COUNTEREXAMPLE]{red:#}: `{call}` breaks\n    {end}\n{case}")
    }
}
