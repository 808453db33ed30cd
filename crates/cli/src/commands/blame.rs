//! `lmlang blame`: who changed each part of something last, in which revision, and why.

mod walk;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, Part, with_client};
use crate::commands::blame::walk::{Contract, Place, Region, Walk};
use crate::commands::history::{Author, Numbered};
use crate::commands::show::kind;
use crate::error::Error;
use crate::exit::Exit;
use crate::nodes::first_line;
use crate::output::{Output, columns, counted, moment, rest_behind, say};
use crate::pinned::Pinned;
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Of what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// What it is asked of, by ref or path: a function with its contracts and nodes, a module with its functions, a type with
    /// its invariants; storage, a contract or a node alone.
    of: String,
    #[command(flatten)]
    view: View,
    /// How many parts at most.
    #[arg(long, short = 'n', default_value_t = 200, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this part, by ref, which is told where more follow.
    #[arg(long, value_name = "REF")]
    after: Option<String>,
}

/// Parts that are asked about at a time.
const AT_A_TIME: usize = 200;

const ENTITY: &str = "query($id: ID, $at: String, $of: String!) {
  program(id: $id, at: $at) {
    entity(of: $of) {
      kind: __typename id
      ... on Module { ref }
      ... on Function { ref body { ref id } contracts { id ref region { ref id } } nodes(first: 0) { totalCount } }
      ... on TypeDef { ref contracts { id ref region { ref id } } }
      ... on Storage { ref }
      ... on Contract { ref }
      ... on ComputeNode { ref }
    }
  }
}";

const FUNCTIONS: &str = "query($id: ID, $at: String, $module: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    functions(module: $module, first: $first, after: $after) {
      nodes { id ref } pageInfo { hasNextPage endCursor }
    }
  }
}";

const PARTS: &str = "query($ids: [ID!]!) {
  nodes(ids: $ids) {
    kind: __typename
    ... on Module { ref path provenance { ...Known } }
    ... on Function { ref path signature provenance { ...Known } }
    ... on TypeDef { ref path text provenance { ...Known } }
    ... on Storage { ref path text provenance { ...Known } }
    ... on Contract { ref text provenance { ...Known } }
    ... on ComputeNode { ref detailed: text(detail: SUMMARY) provenance { ...Known } }
  }
}
fragment Known on Provenance {
  createdIn { number } modifiedIn { number createdAt } actor { name } reason runId stepId
}";

#[derive(Debug, Deserialize)]
struct OfEntity {
    entity: Asked,
}

/// What is asked about.
#[derive(Debug, Deserialize)]
struct Asked {
    kind: String,
    id: String,
    /// None of what has no provenance.
    #[serde(rename = "ref")]
    of: Option<String>,
    body: Option<Region>,
    #[serde(default)]
    contracts: Vec<Contract>,
    /// Those of a function.
    nodes: Option<Count>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Count {
    total_count: u64,
}

#[derive(Debug, Deserialize)]
struct OfModule {
    functions: Page<Stub>,
}

/// A function of a module.
#[derive(Debug, Deserialize)]
struct Stub {
    id: String,
    #[serde(rename = "ref")]
    of: String,
}

#[derive(Debug, Deserialize)]
struct Found {
    nodes: Vec<Option<Blamed>>,
}

/// A part, and where it comes from.
#[derive(Debug, Deserialize)]
struct Blamed {
    kind: String,
    #[serde(rename = "ref")]
    of: String,
    path: Option<String>,
    signature: Option<String>,
    /// Its text, where there is only one form of it.
    text: Option<String>,
    /// Its text, in the form that was asked for.
    detailed: Option<String>,
    provenance: Option<Provenance>,
    #[serde(skip)]
    depth: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Provenance {
    created_in: Numbered,
    modified_in: Modified,
    actor: Author,
    reason: Option<String>,
    run_id: Option<String>,
    step_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Modified {
    number: u64,
    created_at: String,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (revision, part) = with_client(settings, Missing::Refuse, async |client| {
        let pinned = Pinned::find(client, &args.program, &args.view).await?;
        let part = args.part(&pinned).await?;
        Ok((pinned.revision, part))
    })?;
    let mut json = part.json(Blamed::json);
    json["revision"] = revision.into();
    output.data(&json, || columns(&part.items.iter().map(Blamed::row).collect::<Vec<_>>()))?;
    match &part.next {
        Some(next) => say(rest_behind(next)),
        None => say(format_args!("{}, that is all", counted(part.items.len() as u64, "part", "parts"))),
    }
    Ok(Exit::Success)
}

/// Parts of something in the order of its text, as many of them as are wanted.
#[derive(Debug)]
struct Places {
    items: Vec<Place>,
    more: bool,
    total: u64,
}

impl Args {
    /// The part of a list that is wanted, with where each comes from.
    async fn part(&self, pinned: &Pinned<'_>) -> Result<Part<Blamed>, Error> {
        let Places { items: wanted, more, total } = self.places(pinned).await?;
        let next = wanted.last().filter(|_| more).map(|last| last.of.clone());
        let mut items = Vec::with_capacity(wanted.len());
        for places in wanted.chunks(AT_A_TIME) {
            let ids: Vec<&str> = places.iter().map(|place| place.id.as_str()).collect();
            let found: Found = pinned.client.ask(PARTS, &json!({ "ids": ids })).await?;
            let found = found.nodes.into_iter().zip(places);
            items.extend(found.filter_map(|(found, place)| Some(Blamed { depth: place.depth, ..found? })));
        }
        Ok(Part { items, next, total: Some(total) })
    }

    /// Which parts are wanted. Of a function no more is asked for than what stands around these.
    async fn places(&self, pinned: &Pinned<'_>) -> Result<Places, Error> {
        let mut variables = pinned.variables();
        variables["of"] = self.of.as_str().into();
        let answer: About<OfEntity> = pinned.client.ask(ENTITY, &variables).await?;
        let Asked { kind, id, of, body, contracts, nodes } = answer.program.entity;
        let Some(of) = of else {
            let told = format!("nothing is recorded of `{}` alone: ask about its function", self.of);
            return Err(Error::Input(told));
        };
        let whole = Place { id, of: of.clone(), depth: 0 };
        match kind.as_str() {
            "Module" => {
                let mut variables = pinned.variables();
                variables["module"] = of.into();
                let page = |answer: About<OfModule>| answer.program.functions;
                let (functions, _) = pinned.client.list(FUNCTIONS, variables, usize::MAX, page).await?;
                let functions = functions.into_iter().map(|Stub { id, of }| Place { id, of, depth: 1 });
                self.among(std::iter::once(whole).chain(functions).collect())
            }
            "Function" => {
                let nodes = nodes.map_or(0, |nodes| nodes.total_count);
                let total = 1 + contracts.len() as u64 + nodes;
                let begun = match &self.after {
                    None => Some(Walk::whole(pinned, whole, contracts, body)),
                    Some(after) => Walk::behind(pinned, after, &of, contracts, body).await?,
                };
                let mut walk = begun.ok_or_else(|| self.no_part())?;
                let (items, more) = walk.take(self.limit as usize).await?;
                Ok(Places { items, more, total })
            }
            // The nodes of an invariant are of no function that was written.
            _ => {
                let contracts =
                    contracts.into_iter().map(|Contract { id, of, .. }| Place { id, of, depth: 1 });
                self.among(std::iter::once(whole).chain(contracts).collect())
            }
        }
    }

    /// The parts that are wanted of all that there are.
    fn among(&self, places: Vec<Place>) -> Result<Places, Error> {
        let total = places.len();
        let begin = match &self.after {
            None => 0,
            Some(after) => {
                let found = places.iter().position(|place| place.of == *after);
                found.ok_or_else(|| self.no_part())? + 1
            }
        };
        let items: Vec<Place> = places.into_iter().skip(begin).take(self.limit as usize).collect();
        let more = begin + items.len() < total;
        Ok(Places { items, more, total: total as u64 })
    }

    fn no_part(&self) -> Error {
        let after = self.after.as_deref().unwrap_or_default();
        Error::Input(format!("`{after}` is no part of `{}`: expected a ref of one", self.of))
    }
}

impl Blamed {
    fn json(&self) -> Value {
        let known = self.provenance.as_ref();
        json!({
            "ref": self.of,
            "kind": kind(&self.kind),
            "path": self.path,
            "text": self.line(),
            "createdIn": known.map(|known| format!("r{}", known.created_in.number)),
            "modifiedIn": known.map(|known| format!("r{}", known.modified_in.number)),
            "author": known.map(|known| &known.actor.name),
            "time": known.map(|known| moment(&known.modified_in.created_at)),
            "reason": known.and_then(|known| known.reason.as_ref()),
            "runId": known.and_then(|known| known.run_id.as_ref()),
            "stepId": known.and_then(|known| known.step_id.as_ref()),
        })
    }

    /// The part as a row: ref, revision, author, time, the first line of its text, and why it was changed.
    fn row(&self) -> [String; 6] {
        let line = format!("{}{}", "  ".repeat(self.depth), self.line());
        let Some(known) = &self.provenance else {
            return [self.of.clone(), String::new(), String::new(), String::new(), line, String::new()];
        };
        [
            self.of.clone(),
            format!("r{}", known.modified_in.number),
            known.actor.name.clone(),
            moment(&known.modified_in.created_at),
            line,
            known.reason.as_deref().map(first_line).unwrap_or_default(),
        ]
    }

    /// The first line of its text; of a function its signature, of a module its path.
    fn line(&self) -> String {
        let path = self.path.as_deref().unwrap_or_default();
        match (&self.signature, self.detailed.as_ref().or(self.text.as_ref())) {
            (Some(signature), _) => format!("{path} {signature}"),
            (None, Some(text)) => first_line(text),
            (None, None) => path.to_owned(),
        }
    }
}
