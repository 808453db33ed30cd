//! The parts of a function in the order of its text, asked for as they are wanted: how long a function is makes no difference
//! to the ones that are shown.

use std::collections::HashMap;

use lmlang_graphql::schema::cursor::List;
use serde::Deserialize;
use serde_json::json;

use crate::client::{About, Page};
use crate::error::Error;
use crate::pinned::Pinned;

/// Nodes that are asked for at a time.
const NODES: usize = 500;

/// Inner regions whose first nodes are asked for along with others, before their turn: most regions are short.
const AHEAD: usize = 32;

/// How many nodes of each of these.
const FEW: usize = 16;

const REGION: &str = "query(
  $id: ID, $at: String, $region: String!, $first: Int!, $after: String, $ahead: [ID!]!, $few: Int!
) {
  program(id: $id, at: $at) {
    entity(of: $region) { ... on Region { nodes(first: $first, after: $after) { ...Stretch } } }
  }
  nodes(ids: $ahead) { ... on Region { ref nodes(first: $few) { ...Stretch } } }
}
fragment Stretch on ComputeNodeConnection {
  nodes { id ref regions(first: 20) { nodes { id ref } pageInfo { hasNextPage endCursor } } }
  pageInfo { hasNextPage endCursor }
}";

const REGIONS: &str = "query($id: ID, $at: String, $node: String!, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    entity(of: $node) {
      ... on ComputeNode {
        regions(first: $first, after: $after) { nodes { id ref } pageInfo { hasNextPage endCursor } }
      }
    }
  }
}";

const STANDING: &str = "query($id: ID, $at: String, $node: String!) {
  program(id: $id, at: $at) {
    entity(of: $node) {
      ... on ComputeNode {
        ref
        region { id ref ownerNode { ref } }
        regions(first: 20) { nodes { id ref } pageInfo { hasNextPage endCursor } }
      }
    }
  }
}";

/// A part, by its place in the text.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) of: String,
    pub(super) depth: usize,
}

/// A region.
#[derive(Debug, Deserialize)]
pub(super) struct Region {
    id: String,
    #[serde(rename = "ref")]
    of: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Contract {
    pub(super) id: String,
    #[serde(rename = "ref")]
    pub(super) of: String,
    region: Region,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    #[serde(rename = "ref")]
    of: String,
    regions: Page<Region>,
}

#[derive(Debug, Deserialize)]
struct Read {
    program: OfRegion,
    /// Regions ahead.
    nodes: Vec<Option<Stretch>>,
}

#[derive(Debug, Deserialize)]
struct OfRegion {
    entity: Nodes,
}

#[derive(Debug, Deserialize)]
struct Nodes {
    nodes: Page<Node>,
}

#[derive(Debug, Deserialize)]
struct Stretch {
    #[serde(rename = "ref")]
    of: String,
    nodes: Page<Node>,
}

#[derive(Debug, Deserialize)]
struct OfNode<T> {
    entity: T,
}

#[derive(Debug, Deserialize)]
struct Regions {
    regions: Page<Region>,
}

/// Where a node stands; nothing of what is none.
#[derive(Debug, Deserialize)]
struct Standing {
    #[serde(rename = "ref")]
    of: Option<String>,
    region: Option<Around>,
    regions: Option<Page<Region>>,
}

/// The region around a node.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Around {
    id: String,
    #[serde(rename = "ref")]
    of: String,
    owner_node: Option<Owner>,
}

#[derive(Debug, Deserialize)]
struct Owner {
    #[serde(rename = "ref")]
    of: String,
}

/// A node whose regions a place stands in, or the one that stands there, with the regions of it that follow.
struct Level {
    node: String,
    region: Region,
    regions: Vec<Region>,
}

/// What follows.
enum Ahead {
    Part(Place),
    Node {
        node: Node,
        depth: usize,
    },
    /// The nodes of a region, or those behind a cursor.
    Region {
        region: Region,
        depth: usize,
        after: Option<String>,
    },
    /// The regions of a node behind a cursor.
    Regions {
        node: String,
        depth: usize,
        after: String,
    },
}

/// A walk through the text of a function.
pub(super) struct Walk<'p> {
    pinned: &'p Pinned<'p>,
    /// What comes next is the last.
    ahead: Vec<Ahead>,
    /// The first nodes of regions that were asked for before their turn.
    known: HashMap<String, Page<Node>>,
}

impl<'p> Walk<'p> {
    /// Through a whole function.
    pub(super) fn whole(
        pinned: &'p Pinned<'p>,
        function: Place,
        contracts: Vec<Contract>,
        body: Option<Region>,
    ) -> Walk<'p> {
        let mut walk = Walk::inside(pinned, contracts, body);
        walk.ahead.push(Ahead::Part(function));
        walk
    }

    /// Through what follows a part of a function; none if it is no part of it.
    pub(super) async fn behind(
        pinned: &'p Pinned<'p>,
        part: &str,
        function: &str,
        mut contracts: Vec<Contract>,
        body: Option<Region>,
    ) -> Result<Option<Walk<'p>>, Error> {
        if part == function {
            return Ok(Some(Walk::inside(pinned, contracts, body)));
        }
        if let Some(at) = contracts.iter().position(|contract| contract.of == part) {
            let contract = contracts.remove(at);
            let mut walk = Walk::inside(pinned, contracts.split_off(at), body);
            walk.ahead.push(Ahead::Region { region: contract.region, depth: 2, after: None });
            return Ok(Some(walk));
        }
        let levels = levels(pinned, part).await?;
        let Some(outermost) = levels.last().map(|level| level.region.of.as_str()) else { return Ok(None) };
        let (mut walk, depth) = match contracts.iter().position(|contract| contract.region.of == outermost) {
            Some(at) => (Walk::inside(pinned, contracts.split_off(at + 1), body), 2),
            None if body.as_ref().is_some_and(|body| body.of == outermost) => {
                (Walk::inside(pinned, Vec::new(), None), 1)
            }
            None => return Ok(None),
        };
        for (inside, Level { node, region, regions }) in levels.into_iter().rev().enumerate() {
            let depth = depth + inside;
            let after = Some(List::RegionNodes.cursor(&node));
            walk.ahead.push(Ahead::Region { region, depth, after });
            walk.follow(regions, depth + 1);
        }
        Ok(Some(walk))
    }

    /// Through contracts, and a body.
    fn inside(pinned: &'p Pinned<'p>, contracts: Vec<Contract>, body: Option<Region>) -> Walk<'p> {
        let mut ahead = Vec::new();
        ahead.extend(body.map(|region| Ahead::Region { region, depth: 1, after: None }));
        for Contract { id, of, region } in contracts.into_iter().rev() {
            ahead.push(Ahead::Region { region, depth: 2, after: None });
            ahead.push(Ahead::Part(Place { id, of, depth: 1 }));
        }
        Walk { pinned, ahead, known: HashMap::new() }
    }

    /// The next parts, so many at most, and whether more follow.
    pub(super) async fn take(&mut self, most: usize) -> Result<(Vec<Place>, bool), Error> {
        let mut places = Vec::new();
        while let Some(next) = self.ahead.pop() {
            let place = match next {
                Ahead::Part(place) => place,
                Ahead::Node { node, depth } => self.enter(node, depth),
                Ahead::Region { region, depth, after } => {
                    self.read(region, depth, after, most + 1 - places.len()).await?;
                    continue;
                }
                Ahead::Regions { node, depth, after } => {
                    let regions = regions_behind(self.pinned, &node, after).await?;
                    self.follow(regions, depth);
                    continue;
                }
            };
            if places.len() == most {
                return Ok((places, true));
            }
            places.push(place);
        }
        Ok((places, false))
    }

    /// A node, whose regions come next.
    fn enter(&mut self, node: Node, depth: usize) -> Place {
        let Node { id, of, regions: Page { nodes, page_info, .. } } = node;
        if let Some(after) = page_info.next() {
            self.ahead.push(Ahead::Regions { node: of.clone(), depth: depth + 1, after });
        }
        self.follow(nodes, depth + 1);
        Place { id, of, depth }
    }

    /// Regions come next.
    fn follow(&mut self, regions: Vec<Region>, depth: usize) {
        let regions = regions.into_iter().rev();
        self.ahead.extend(regions.map(|region| Ahead::Region { region, depth, after: None }));
    }

    /// The nodes of a region come next, some of them for now.
    async fn read(
        &mut self,
        region: Region,
        depth: usize,
        after: Option<String>,
        wanted: usize,
    ) -> Result<(), Error> {
        let known = if after.is_none() { self.known.remove(&region.of) } else { None };
        let Page { nodes, page_info, .. } = match known {
            Some(page) => page,
            None => self.ask(&region, after, wanted).await?,
        };
        if let Some(after) = page_info.next() {
            self.ahead.push(Ahead::Region { region, depth, after: Some(after) });
        }
        self.ahead.extend(nodes.into_iter().rev().map(|node| Ahead::Node { node, depth }));
        Ok(())
    }

    /// Asks for nodes of a region, and for the first ones of regions that follow.
    async fn ask(
        &mut self,
        region: &Region,
        after: Option<String>,
        wanted: usize,
    ) -> Result<Page<Node>, Error> {
        let mut variables = self.pinned.variables();
        variables["region"] = region.of.as_str().into();
        variables["first"] = wanted.min(NODES).into();
        variables["after"] = after.into();
        variables["ahead"] = json!(self.unknown().take(AHEAD).map(|region| &region.id).collect::<Vec<_>>());
        variables["few"] = FEW.into();
        let Read { program, nodes: ahead } = self.pinned.client.ask(REGION, &variables).await?;
        self.known.extend(ahead.into_iter().flatten().map(|Stretch { of, nodes }| (of, nodes)));
        Ok(program.entity.nodes)
    }

    /// Regions that follow, of which nothing is known yet.
    fn unknown(&self) -> impl Iterator<Item = &Region> {
        let regions = self.ahead.iter().rev().flat_map(|ahead| match ahead {
            Ahead::Node { node, .. } => node.regions.nodes.as_slice(),
            Ahead::Region { region, after: None, .. } => std::slice::from_ref(region),
            Ahead::Part(_) | Ahead::Region { .. } | Ahead::Regions { .. } => &[],
        });
        regions.filter(|region| !self.known.contains_key(&region.of))
    }
}

/// The node with a ref and those around it, from the inside out; nothing if it is no node.
async fn levels(pinned: &Pinned<'_>, node: &str) -> Result<Vec<Level>, Error> {
    let (mut levels, mut next) = (Vec::<Level>::new(), Some(node.to_owned()));
    while let Some(node) = next {
        let mut variables = pinned.variables();
        variables["node"] = node.as_str().into();
        let standing = match pinned.client.ask::<About<OfNode<Standing>>>(STANDING, &variables).await {
            Ok(answer) => answer.program.entity,
            Err(Error::Refused { code, .. }) if code == "NOT_FOUND" => break,
            Err(error) => return Err(error),
        };
        // It goes by refs, not by names.
        let Standing { of: Some(of), region: Some(around), regions: Some(page) } = standing else { break };
        if of != node {
            break;
        }
        let Page { nodes: mut regions, page_info, .. } = page;
        if let Some(after) = page_info.next() {
            regions.extend(regions_behind(pinned, &of, after).await?);
        }
        if let Some(inner) = levels.last() {
            let at = regions.iter().position(|region| region.of == inner.region.of);
            regions.drain(..at.map_or(0, |at| at + 1));
        }
        let Around { id, of: region, owner_node } = around;
        levels.push(Level { node: of, region: Region { id, of: region }, regions });
        next = owner_node.map(|owner| owner.of);
    }
    Ok(levels)
}

/// The regions of a node behind a cursor.
async fn regions_behind(pinned: &Pinned<'_>, node: &str, after: String) -> Result<Vec<Region>, Error> {
    let mut variables = pinned.variables();
    variables["node"] = node.into();
    variables["after"] = after.into();
    let page = |answer: About<OfNode<Regions>>| answer.program.entity.regions;
    let (regions, _) = pinned.client.list(REGIONS, variables, usize::MAX, page).await?;
    Ok(regions)
}
