//! `lmlang ask`: questions about the graph of a program.

use std::cell::RefCell;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client, Page, Part, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, counted, rest_behind, say};
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
    /// for `callers`, `callees` and `dependents` one function, type or storage; for `impact` anything; for the others
    /// functions, types or modules, or nothing for all.
    of: Vec<String>,
    #[command(flatten)]
    view: View,
    /// How many answers at most.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this cursor, which is told where more follow.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// Who writes something.
    Writers,
    /// Who reads something.
    Readers,
    /// Functions that call a function or take a reference to it.
    Callers,
    /// Functions that a function calls or takes a reference to.
    Callees,
    /// Functions that name something directly: that call a function, mention a type, use storage.
    Dependents,
    /// Functions, types and contracts that a change of something could affect, the nearest first.
    Impact,
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
    /// The name under which the API answers it, where it is one question among others there.
    fn name(self) -> Option<&'static str> {
        match self {
            Question::Writers => Some("WRITERS"),
            Question::Readers => Some("READERS"),
            Question::DeadCode => Some("DEAD_CODE"),
            Question::UnusedTypes => Some("UNUSED_TYPES"),
            Question::MayTrap => Some("MAY_TRAP"),
            Question::HasEffect => Some("HAS_EFFECT"),
            Question::Callers | Question::Callees | Question::Dependents | Question::Impact => None,
        }
    }

    /// The name on the command line.
    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

const ANALYSIS: &str =
    "query($id: ID, $name: String, $at: String, $question: Question!, $of: [String!], $first: Int!,
    $after: String) {
  program(id: $id, name: $name, at: $at) {
    analysis(question: $question, of: $of, first: $first, after: $after) {
      nodes { ref kind text reason } pageInfo { hasNextPage endCursor } totalCount
    }
  }
}";

const CALLERS: &str = "query($id: ID, $name: String, $at: String, $of: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    entity(of: $of) { kind: __typename ... on Function { list: callers(first: $first, after: $after) { ...Named } } }
  }
}";

const CALLEES: &str = "query($id: ID, $name: String, $at: String, $of: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    entity(of: $of) { kind: __typename ... on Function { list: callees(first: $first, after: $after) { ...Named } } }
  }
}";

const DEPENDENTS: &str =
    "query($id: ID, $name: String, $at: String, $of: String!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    entity(of: $of) {
      kind: __typename
      ... on Function { list: callers(first: $first, after: $after) { ...Named } }
      ... on TypeDef { list: usedBy(first: $first, after: $after) { ...Named } }
      ... on Storage { list: usedBy(first: $first, after: $after) { ...Named } }
    }
  }
}";

const NAMED: &str = "fragment Named on FunctionConnection {
  nodes { ref path signature } pageInfo { hasNextPage endCursor } totalCount
}";

const IMPACT: &str =
    "query($id: ID, $name: String, $at: String, $of: [String!]!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    impact(of: $of, first: $first, after: $after) {
      functions { ...Named }
      types { ref path } storage { ref path } contracts { ref message } exports totalCount truncated
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Analysis {
    analysis: Page<Answer>,
}

/// An answer.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(rename = "ref")]
    of: String,
    kind: String,
    text: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
struct OfEntity {
    entity: Listed,
}

#[derive(Debug, Deserialize)]
struct Listed {
    kind: String,
    /// Nothing of what is not asked about so.
    list: Option<Page<Function>>,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(rename = "ref")]
    of: String,
    path: String,
    signature: String,
}

#[derive(Debug, Deserialize)]
struct OfImpact {
    impact: Impact,
}

/// What a change could affect.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Impact {
    functions: Page<Function>,
    types: Vec<Container>,
    storage: Vec<Container>,
    contracts: Vec<Contract>,
    exports: Vec<String>,
    total_count: u64,
    truncated: bool,
}

/// A type or storage.
#[derive(Debug, Deserialize)]
struct Container {
    #[serde(rename = "ref")]
    of: String,
    path: String,
}

#[derive(Debug, Deserialize)]
struct Contract {
    #[serde(rename = "ref")]
    of: String,
    message: String,
}

/// Answers, as far as they were asked for.
struct Answers {
    items: Vec<Answer>,
    /// Where to go on; nothing at the end.
    next: Option<String>,
    total: Option<u64>,
    /// Whether there are no others.
    complete: bool,
    /// Of `impact` alone: the names under which what is affected is exported.
    exports: Option<Vec<String>>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let answers = with_client(settings, Missing::Refuse, async |client| match args.question.name() {
        Some(question) => args.analysis(client, question).await,
        None if args.question == Question::Impact => args.impact(client).await,
        None => args.functions(client).await,
    })?;
    output.data(&answers.json(), || columns(&answers.items.iter().map(Answer::row).collect::<Vec<_>>()))?;
    if let Some(exports) = answers.exports.as_ref().filter(|exports| !exports.is_empty()) {
        say(format_args!("exported as {}", exports.join(", ")));
    }
    let count = answers.items.len() as u64;
    match (answers.complete, &answers.next) {
        (true, _) => say(format_args!("{}, that is all", counted(count, "answer", "answers"))),
        (false, Some(next)) => say(rest_behind(next)),
        (false, None) => say("types or contracts are left out: there are too many for one answer"),
    }
    Ok(Exit::Success)
}

impl Args {
    /// How many answers are asked for.
    fn most(&self) -> usize {
        self.limit as usize
    }

    async fn analysis(&self, client: &Client, question: &str) -> Result<Answers, Error> {
        let mut variables = self.view.of(&self.program);
        variables["question"] = question.into();
        variables["of"] = self.of.clone().into();
        variables["after"] = self.after.clone().into();
        let page = |answer: About<Analysis>| answer.program.analysis;
        let Part { items, next, total } = client.part(ANALYSIS, variables, self.most(), page).await?;
        Ok(Answers { items, complete: next.is_none(), next, total, exports: None })
    }

    /// Functions that stand in a relation to one thing.
    async fn functions(&self, client: &Client) -> Result<Answers, Error> {
        let [given] = self.of.as_slice() else {
            let (question, found) = (self.question.word(), self.of.len());
            let told = format!("`{question}` is asked about one thing: expected 1, found {found}");
            return Err(Error::Input(told));
        };
        let document = match self.question {
            Question::Callers => CALLERS,
            Question::Callees => CALLEES,
            _ => DEPENDENTS,
        };
        let mut variables = self.view.of(&self.program);
        variables["of"] = given.clone().into();
        variables["after"] = self.after.clone().into();
        let kind = RefCell::new(None);
        let page = |answer: About<OfEntity>| {
            let Listed { kind: found, list } = answer.program.entity;
            kind.replace(list.is_some().then_some(found));
            list.unwrap_or_else(Page::empty)
        };
        let document = format!("{document}\n{NAMED}");
        let Part { items, next, total } = client.part(&document, variables, self.most(), page).await?;
        let Some(kind) = kind.into_inner() else {
            let question = self.question.word();
            return Err(Error::Input(format!("`{given}` is nothing that has {question}")));
        };
        let reason = match (self.question, kind.as_str()) {
            (Question::Callees, _) => format!("{given} calls it or takes a reference to it"),
            (_, "Function") => format!("calls {given} or takes a reference to it"),
            (_, _) => format!("mentions {given}"),
        };
        let items = items.into_iter().map(|function| function.answer(&reason)).collect();
        Ok(Answers { items, complete: next.is_none(), next, total, exports: None })
    }

    async fn impact(&self, client: &Client) -> Result<Answers, Error> {
        if self.of.is_empty() {
            return Err(Error::Input("`impact` is asked about what would change: name it".to_owned()));
        }
        let mut variables = self.view.of(&self.program);
        variables["of"] = self.of.clone().into();
        variables["after"] = self.after.clone().into();
        let rest: RefCell<Option<Impact>> = RefCell::new(None);
        let page = |answer: About<OfImpact>| {
            let mut impact = answer.program.impact;
            let functions = std::mem::replace(&mut impact.functions, Page::empty());
            rest.replace(Some(impact));
            functions
        };
        let document = format!("{IMPACT}\n{NAMED}");
        let Part { items, next, .. } = client.part(&document, variables, self.most(), page).await?;
        let mut items: Vec<Answer> =
            items.into_iter().map(|function| function.answer("reaches what would change")).collect();
        let mut complete = next.is_none();
        let mut total = None;
        let mut exports = None;
        if let Some(impact) = rest.into_inner() {
            // What is told with each page stands behind the last one.
            if complete {
                items.extend(impact.types.into_iter().map(|of| of.answer("TYPE")));
                items.extend(impact.storage.into_iter().map(|of| of.answer("VARIABLE")));
                items.extend(impact.contracts.into_iter().map(Contract::answer));
                complete = !impact.truncated;
            }
            total = Some(impact.total_count);
            exports = Some(impact.exports);
        }
        Ok(Answers { items, next, total, complete, exports })
    }
}

impl Answers {
    fn json(&self) -> Value {
        let mut json = json!({
            "items": self.items.iter().map(Answer::json).collect::<Vec<_>>(),
            "complete": self.complete,
            "total": self.total,
            "next": self.next,
        });
        if let Some(exports) = &self.exports {
            json["exports"] = exports.clone().into();
        }
        json
    }
}

impl Answer {
    fn json(&self) -> Value {
        json!({
            "ref": self.of,
            "kind": self.kind,
            "text": self.text,
            "reason": self.reason,
        })
    }

    fn row(&self) -> [String; 3] {
        [self.of.clone(), self.text.clone(), self.reason.clone()]
    }
}

impl Function {
    fn answer(self, reason: &str) -> Answer {
        let text = format!("{} {}", self.path, self.signature);
        Answer { of: self.of, kind: "FUNCTION".to_owned(), text, reason: reason.to_owned() }
    }
}

impl Container {
    fn answer(self, kind: &str) -> Answer {
        let reason = "contains what would change".to_owned();
        Answer { of: self.of, kind: kind.to_owned(), text: self.path, reason }
    }
}

impl Contract {
    fn answer(self) -> Answer {
        let reason = "is of one of these functions".to_owned();
        Answer { of: self.of, kind: "CONTRACT".to_owned(), text: self.message, reason }
    }
}
