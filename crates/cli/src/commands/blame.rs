//! `lmlang blame`: who changed each part of something last, in which revision, and why.

use std::collections::BTreeMap;
use std::vec::IntoIter;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client, Page, Part, with_client};
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
      ... on Function { ref body { ref } contracts { id ref region { ref } } }
      ... on TypeDef { ref contracts { id ref region { ref } } }
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

const NODES: &str = "query($id: ID, $at: String, $function: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    function(ref: $function) {
      nodes(first: $first, after: $after) {
        nodes { id ref index region { ref } regions(first: 100) { nodes { ref } } }
        pageInfo { hasNextPage endCursor }
      }
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
    body: Option<Named>,
    #[serde(default)]
    contracts: Vec<Contract>,
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(rename = "ref")]
    of: String,
}

#[derive(Debug, Deserialize)]
struct Contract {
    id: String,
    #[serde(rename = "ref")]
    of: String,
    region: Named,
}

#[derive(Debug, Deserialize)]
struct OfModule {
    functions: Page<Stub>,
}

#[derive(Debug, Deserialize)]
struct OfFunction {
    function: Nodes,
}

#[derive(Debug, Deserialize)]
struct Nodes {
    nodes: Page<Node>,
}

/// A function of a module.
#[derive(Debug, Deserialize)]
struct Stub {
    id: String,
    #[serde(rename = "ref")]
    of: String,
}

/// A node, and where it stands.
#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    #[serde(rename = "ref")]
    of: String,
    index: u64,
    region: Named,
    regions: Regions,
}

#[derive(Debug, Deserialize)]
struct Regions {
    nodes: Vec<Named>,
}

/// A part, by its place in the text.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    id: String,
    of: String,
    depth: usize,
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
        let places = places(&pinned, &args.of).await?;
        let part = args.part(client, places).await?;
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

/// What something is made of, in the order of its text.
async fn places(pinned: &Pinned<'_>, given: &str) -> Result<Vec<Place>, Error> {
    let mut variables = pinned.variables();
    variables["of"] = given.into();
    let answer: About<OfEntity> = pinned.client.ask(ENTITY, &variables).await?;
    let Asked { kind, id, of, body, contracts } = answer.program.entity;
    let Some(of) = of else {
        return Err(Error::Input(format!("nothing is recorded of `{given}` alone: ask about its function")));
    };
    let mut places = vec![Place { id, of: of.clone(), depth: 0 }];
    match kind.as_str() {
        "Module" => {
            let mut variables = pinned.variables();
            variables["module"] = of.into();
            let page = |answer: About<OfModule>| answer.program.functions;
            let (functions, _) = pinned.client.list(FUNCTIONS, variables, usize::MAX, page).await?;
            places.extend(functions.into_iter().map(|Stub { id, of }| Place { id, of, depth: 1 }));
        }
        "Function" => {
            let mut variables = pinned.variables();
            variables["function"] = of.into();
            let page = |answer: About<OfFunction>| answer.program.function.nodes;
            let (nodes, _) = pinned.client.list(NODES, variables, usize::MAX, page).await?;
            places.extend(in_order(contracts, body, nodes));
        }
        // The nodes of an invariant are of no function that was written.
        _ => {
            places.extend(contracts.into_iter().map(|Contract { id, of, .. }| Place { id, of, depth: 1 }));
        }
    }
    Ok(places)
}

/// The contracts and nodes of a function as they stand in its text.
fn in_order(contracts: Vec<Contract>, body: Option<Named>, nodes: Vec<Node>) -> Vec<Place> {
    let mut regions: BTreeMap<String, Vec<Node>> = BTreeMap::new();
    for node in nodes {
        regions.entry(node.region.of.clone()).or_default().push(node);
    }
    for nodes in regions.values_mut() {
        nodes.sort_by_key(|node| node.index);
    }
    let mut places = Vec::new();
    for Contract { id, of, region } in contracts {
        places.push(Place { id, of, depth: 1 });
        walk(&region.of, 2, &mut regions, &mut places);
    }
    if let Some(body) = body {
        walk(&body.of, 1, &mut regions, &mut places);
    }
    // Of more regions of one node than a page holds.
    while let Some(region) = regions.keys().next().cloned() {
        walk(&region, 1, &mut regions, &mut places);
    }
    places
}

/// The nodes of a region, each with those of the regions that it owns.
fn walk(region: &str, depth: usize, regions: &mut BTreeMap<String, Vec<Node>>, places: &mut Vec<Place>) {
    let mut open: Vec<(usize, IntoIter<Node>)> = Vec::new();
    open.extend(regions.remove(region).map(|nodes| (depth, nodes.into_iter())));
    while let Some((depth, nodes)) = open.last_mut() {
        let depth = *depth;
        let Some(Node { id, of, regions: inner, .. }) = nodes.next() else {
            open.pop();
            continue;
        };
        places.push(Place { id, of, depth });
        for region in inner.nodes.iter().rev() {
            open.extend(regions.remove(&region.of).map(|nodes| (depth + 1, nodes.into_iter())));
        }
    }
}

impl Args {
    /// The part of a list that is wanted, with where each comes from.
    async fn part(&self, client: &Client, places: Vec<Place>) -> Result<Part<Blamed>, Error> {
        let total = places.len();
        let begin = match &self.after {
            None => 0,
            Some(after) => match places.iter().position(|place| place.of == *after) {
                Some(found) => found + 1,
                None => {
                    let told = format!("`{after}` is no part of `{}`: expected a ref of one", self.of);
                    return Err(Error::Input(told));
                }
            },
        };
        let wanted: Vec<Place> = places.into_iter().skip(begin).take(self.limit as usize).collect();
        let more = begin + wanted.len() < total;
        let next = wanted.last().filter(|_| more).map(|last| last.of.clone());
        let mut items = Vec::with_capacity(wanted.len());
        for places in wanted.chunks(AT_A_TIME) {
            let ids: Vec<&str> = places.iter().map(|place| place.id.as_str()).collect();
            let found: Found = client.ask(PARTS, &json!({ "ids": ids })).await?;
            let found = found.nodes.into_iter().zip(places);
            items.extend(found.filter_map(|(found, place)| Some(Blamed { depth: place.depth, ..found? })));
        }
        Ok(Part { items, next, total: Some(total as u64) })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(of: &str) -> Named {
        Named { of: of.to_owned() }
    }

    fn node(of: &str, region: &str, index: u64, inner: &[&str]) -> Node {
        let regions = Regions { nodes: inner.iter().map(|of| named(of)).collect() };
        Node { id: String::new(), of: of.to_owned(), index, region: named(region), regions }
    }

    /// Refs grow with time, not with the place in the text.
    #[test]
    fn parts_stand_in_the_order_of_the_text() {
        let contract = Contract { id: String::new(), of: "k1".to_owned(), region: named("g2") };
        let nodes = vec![
            node("n5", "g1", 1, &["g4", "g3"]),
            node("n6", "g3", 0, &[]),
            node("n7", "g4", 0, &[]),
            node("n8", "g1", 2, &[]),
            node("n9", "g1", 0, &[]),
            node("n10", "g2", 0, &[]),
            node("n11", "g9", 0, &[]),
        ];
        let places = in_order(vec![contract], Some(named("g1")), nodes);
        let seen: Vec<(&str, usize)> = places.iter().map(|place| (place.of.as_str(), place.depth)).collect();
        let expect: [(&str, usize); 8] =
            [("k1", 1), ("n10", 2), ("n9", 1), ("n5", 1), ("n7", 2), ("n6", 2), ("n8", 1), ("n11", 1)];
        assert_eq!(seen, expect);
    }
}
