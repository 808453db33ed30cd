//! Finding a pattern, step by step, depth first: each row that has all of it is handed on at once.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::ast::Direction;
use super::evaluate::{Context, Outcome};
use super::stage::{Access, LinkPattern, Pattern, StepKind, Vertex};
use super::value::{Link, Path, Value, equal};
use crate::entity::RelationId;
use crate::graph::{Graph, Hop, Node, Way};
use crate::name::{Key, Label};
use crate::props::PropValue;

/// Takes a row in, and says whether more are wanted.
pub(crate) type Sink<'s, G> = &'s mut dyn FnMut(&mut Vec<Value>) -> Outcome<ControlFlow<()>, G>;

/// Takes an edge in, and says whether more are wanted.
type Take<'t, G> = &'t mut dyn FnMut(Way, &Hop) -> Outcome<ControlFlow<()>, G>;

/// A pattern on the way to being found: its row so far, and the edges in it, since no edge is in a match twice.
struct Search<'s, 'r, G: Graph> {
    pattern: &'s Pattern,
    row: &'r mut Vec<Value>,
    used: Vec<RelationId>,
    sink: Sink<'s, G>,
}

/// One link of a path that is being followed.
struct Walk<'s> {
    step: usize,
    link: &'s LinkPattern,
    /// Whether it is followed from its right vertex to its left one.
    reversed: bool,
    to: usize,
    known: bool,
    taken: Vec<Arc<Link>>,
}

impl<G: Graph> Context<'_, G> {
    /// Hands on every way in which a pattern is found from a row, until no more are wanted.
    pub(crate) fn matches(
        &self,
        pattern: &Pattern,
        row: &mut Vec<Value>,
        sink: Sink<'_, G>,
    ) -> Outcome<ControlFlow<()>, G> {
        if row.len() < pattern.width {
            row.resize(pattern.width, Value::Null);
        }
        let mut search = Search { pattern, row, used: Vec::new(), sink };
        match self.all_hold(&search, &pattern.first)? {
            true => self.step(&mut search, 0),
            false => Ok(ControlFlow::Continue(())),
        }
    }

    fn all_hold(&self, search: &Search<'_, '_, G>, predicates: &[usize]) -> Outcome<bool, G> {
        for index in predicates {
            if !self.holds(&search.pattern.predicates[*index].expr, search.row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn step(&self, search: &mut Search<'_, '_, G>, index: usize) -> Outcome<ControlFlow<()>, G> {
        let pattern = search.pattern;
        let Some(step) = pattern.steps.get(index) else { return self.found(search) };
        match &step.kind {
            StepKind::Start { vertex, access } => {
                self.start(search, index, &pattern.vertices[*vertex], access)
            }
            StepKind::Expand { link, from, to, known } => {
                let link = &pattern.links[*link];
                let reversed = *from != link.from;
                let Value::Node(node) = search.row[pattern.vertices[*from].slot].clone() else {
                    return Ok(ControlFlow::Continue(()));
                };
                let mut walk =
                    Walk { step: index, link, reversed, to: *to, known: *known, taken: Vec::new() };
                match link.length {
                    None => self.edge(search, &mut walk, &node),
                    Some(_) => self.path(search, &mut walk, &node),
                }
            }
        }
    }

    /// Judges what a step made known, and goes on with the next one.
    fn go_on(&self, search: &mut Search<'_, '_, G>, index: usize) -> Outcome<ControlFlow<()>, G> {
        match self.all_hold(search, &search.pattern.steps[index].filters)? {
            true => self.step(search, index + 1),
            false => Ok(ControlFlow::Continue(())),
        }
    }

    fn found(&self, search: &mut Search<'_, '_, G>) -> Outcome<ControlFlow<()>, G> {
        self.spend(1, search.pattern.span)?;
        for shape in &search.pattern.paths {
            search.row[shape.slot] = path_of(search.pattern, &shape.vertices, &shape.links, search.row);
        }
        match self.all_hold(search, &search.pattern.last)? {
            true => (search.sink)(search.row),
            false => Ok(ControlFlow::Continue(())),
        }
    }

    fn start(
        &self,
        search: &mut Search<'_, '_, G>,
        index: usize,
        vertex: &Vertex,
        access: &Access,
    ) -> Outcome<ControlFlow<()>, G> {
        match access {
            Access::Bound => match search.row[vertex.slot].clone() {
                Value::Node(node) if has_labels(&node, vertex) => self.go_on(search, index),
                _ => Ok(ControlFlow::Continue(())),
            },
            Access::EndOf(link) => {
                let slot = search.pattern.links[*link].slot;
                let value = slot.map_or(Value::Null, |slot| search.row[slot].clone());
                let Value::Edge(link) = value else { return Ok(ControlFlow::Continue(())) };
                let loops = link.from.id == link.to.id;
                let ends = [link.from.clone(), link.to.clone()];
                self.candidates(search, index, vertex, &ends[usize::from(loops)..])
            }
            Access::Key(label, key) => {
                let key = self.evaluate(key, search.row)?;
                let nodes = self.by_keys(label, std::slice::from_ref(&key))?;
                self.candidates(search, index, vertex, &nodes)
            }
            Access::Keys(label, keys) => match self.evaluate(keys, search.row)? {
                Value::List(keys) => {
                    self.spend(keys.len() as u64, search.pattern.span)?;
                    let nodes = self.by_keys(label, &keys)?;
                    self.candidates(search, index, vertex, &nodes)
                }
                // The predicate itself says what is wrong.
                _ => self.scan(search, index, vertex, Some(label)),
            },
            Access::Index(label, props) => {
                let mut values = Vec::with_capacity(props.len());
                for (prop, value) in props {
                    match self.evaluate(value, search.row)? {
                        // Nothing equals it.
                        Value::Null => return Ok(ControlFlow::Continue(())),
                        value => values.extend(value.to_prop().map(|value| (prop.as_str(), value))),
                    }
                }
                match values.is_empty() {
                    false => self.look_up(search, index, vertex, (label, &values)),
                    true => self.scan(search, index, vertex, Some(label)),
                }
            }
            Access::Label(label) => self.scan(search, index, vertex, Some(label)),
            Access::All => self.scan(search, index, vertex, None),
        }
    }

    /// Returns the nodes of these keys in the order of keys, each once.
    fn by_keys(&self, label: &Label, keys: &[Value]) -> Outcome<Vec<Arc<Node>>, G> {
        let mut texts: Vec<&str> = keys
            .iter()
            .filter_map(|key| if let Value::Text(key) = key { Some(key.as_ref()) } else { None })
            .collect();
        texts.sort_unstable();
        texts.dedup();
        let mut nodes = Vec::new();
        for key in texts.into_iter().filter_map(|text| Key::new(text).ok()) {
            nodes.extend(self.graph.node(label, &key).map_err(super::Failure::Graph)?);
        }
        Ok(nodes)
    }

    /// Goes through the nodes that an index knows to have some values, or through all of the label if it does not know.
    fn look_up(
        &self,
        search: &mut Search<'_, '_, G>,
        index: usize,
        vertex: &Vertex,
        (label, values): (&Label, &[(&str, PropValue)]),
    ) -> Outcome<ControlFlow<()>, G> {
        let mut after: Option<Arc<Node>> = None;
        loop {
            let page = self.graph.equal(label, values, after.as_deref()).map_err(super::Failure::Graph)?;
            let Some(page) = page else { return self.scan(search, index, vertex, Some(label)) };
            let flow = self.candidates(search, index, vertex, &page.items)?;
            if flow.is_break() || !page.more {
                return Ok(flow);
            }
            after = page.items.last().cloned();
        }
    }

    fn scan(
        &self,
        search: &mut Search<'_, '_, G>,
        index: usize,
        vertex: &Vertex,
        label: Option<&Label>,
    ) -> Outcome<ControlFlow<()>, G> {
        let mut after: Option<Arc<Node>> = None;
        loop {
            let page = self.graph.page(label, after.as_deref()).map_err(super::Failure::Graph)?;
            let flow = self.candidates(search, index, vertex, &page.items)?;
            if flow.is_break() || !page.more {
                return Ok(flow);
            }
            after = page.items.last().cloned();
        }
    }

    fn candidates(
        &self,
        search: &mut Search<'_, '_, G>,
        index: usize,
        vertex: &Vertex,
        nodes: &[Arc<Node>],
    ) -> Outcome<ControlFlow<()>, G> {
        for node in nodes {
            self.spend(1, search.pattern.span)?;
            if !has_labels(node, vertex) {
                continue;
            }
            search.row[vertex.slot] = Value::Node(node.clone());
            if self.go_on(search, index)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Follows a link that is one edge.
    fn edge(
        &self,
        search: &mut Search<'_, '_, G>,
        walk: &mut Walk<'_>,
        node: &Arc<Node>,
    ) -> Outcome<ControlFlow<()>, G> {
        let link = walk.link;
        let fixed = link.slot.filter(|slot| !search.pattern.fresh.contains(slot));
        self.each_hop(link, walk.reversed, node, &mut |way, hop| {
            if search.used.contains(&hop.edge.id) {
                return Ok(ControlFlow::Continue(()));
            }
            match fixed.map(|slot| &search.row[slot]) {
                Some(Value::Edge(edge)) if edge.edge.id == hop.edge.id => {}
                Some(_) => return Ok(ControlFlow::Continue(())),
                None => {
                    if let Some(slot) = link.slot {
                        search.row[slot] = Value::Edge(link_of(way, hop, node));
                    }
                }
            }
            search.used.push(hop.edge.id);
            let flow = self.arrive(search, walk, &hop.other)?;
            search.used.pop();
            Ok(flow)
        })
    }

    /// Follows a link that is a path of so many edges, from where `walk` has come to.
    fn path(
        &self,
        search: &mut Search<'_, '_, G>,
        walk: &mut Walk<'_>,
        node: &Arc<Node>,
    ) -> Outcome<ControlFlow<()>, G> {
        let (fewest, most) = walk.link.length.unwrap_or((1, 1));
        if walk.taken.len() >= fewest as usize {
            if let Some(slot) = walk.link.slot {
                let mut edges: Vec<Value> = walk.taken.iter().cloned().map(Value::Edge).collect();
                if walk.reversed {
                    edges.reverse();
                }
                search.row[slot] = Value::List(edges.into());
            }
            let flow = self.arrive(search, walk, node)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if walk.taken.len() >= most as usize {
            return Ok(ControlFlow::Continue(()));
        }
        let (link, reversed) = (walk.link, walk.reversed);
        self.each_hop(link, reversed, node, &mut |way, hop| {
            if search.used.contains(&hop.edge.id) || !self.has_props(link, hop, search.row)? {
                return Ok(ControlFlow::Continue(()));
            }
            search.used.push(hop.edge.id);
            walk.taken.push(link_of(way, hop, node));
            let flow = self.path(search, walk, &hop.other)?;
            walk.taken.pop();
            search.used.pop();
            Ok(flow)
        })
    }

    fn has_props(&self, link: &LinkPattern, hop: &Hop, row: &[Value]) -> Outcome<bool, G> {
        for (name, expr) in &link.props {
            if equal(&Value::of_edge(&hop.edge, name), &self.evaluate(expr, row)?) != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes on at the vertex that a link leads to, if it may be this node.
    fn arrive(
        &self,
        search: &mut Search<'_, '_, G>,
        walk: &Walk<'_>,
        node: &Arc<Node>,
    ) -> Outcome<ControlFlow<()>, G> {
        let vertex = &search.pattern.vertices[walk.to];
        let right = match (walk.known, &search.row[vertex.slot]) {
            (true, Value::Node(known)) => known.id == node.id,
            (true, _) => false,
            (false, _) => has_labels(node, vertex),
        };
        if !right {
            return Ok(ControlFlow::Continue(()));
        }
        if !walk.known {
            search.row[vertex.slot] = Value::Node(node.clone());
        }
        self.go_on(search, walk.step)
    }

    /// Goes through the edges by which a link can leave a node; a loop once.
    fn each_hop(
        &self,
        link: &LinkPattern,
        reversed: bool,
        node: &Node,
        take: Take<'_, G>,
    ) -> Outcome<ControlFlow<()>, G> {
        let ways: &[Way] = match (link.direction, reversed) {
            (Direction::Right, false) | (Direction::Left, true) => &[Way::Out],
            (Direction::Left, false) | (Direction::Right, true) => &[Way::In],
            (Direction::Either, _) => &[Way::Out, Way::In],
        };
        for way in ways {
            let mut after: Option<Hop> = None;
            loop {
                let page = self
                    .graph
                    .hops(node, *way, &link.types, after.as_ref())
                    .map_err(super::Failure::Graph)?;
                for hop in &page.items {
                    self.spend(1, link.span)?;
                    let seen = ways.len() == 2 && *way == Way::In && hop.other.id == node.id;
                    if !seen && take(*way, hop)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                if !page.more {
                    break;
                }
                after = page.items.last().cloned();
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn has_labels(node: &Node, vertex: &Vertex) -> bool {
    vertex.labels.iter().all(|label| node.labels.contains(label))
}

fn link_of(way: Way, hop: &Hop, node: &Arc<Node>) -> Arc<Link> {
    let (from, to) = match way {
        Way::Out => (node.clone(), hop.other.clone()),
        Way::In => (hop.other.clone(), node.clone()),
    };
    Arc::new(Link { edge: hop.edge.clone(), from, to })
}

/// Puts a named path together from the values of its parts.
fn path_of(pattern: &Pattern, vertices: &[usize], links: &[usize], row: &[Value]) -> Value {
    let mut path = Path { nodes: Vec::new(), edges: Vec::new() };
    let Some(Value::Node(first)) = vertices.first().map(|vertex| &row[pattern.vertices[*vertex].slot]) else {
        return Value::Null;
    };
    path.nodes.push(first.clone());
    let values = links.iter().filter_map(|link| pattern.links[*link].slot).map(|slot| &row[slot]);
    for value in values {
        let edges = match value {
            Value::List(edges) => edges.as_ref(),
            edge => std::slice::from_ref(edge),
        };
        for edge in edges {
            let (Value::Edge(link), Some(at)) = (edge, path.nodes.last()) else { return Value::Null };
            let next = if at.id == link.from.id { link.to.clone() } else { link.from.clone() };
            path.nodes.push(next);
            path.edges.push(link.clone());
        }
    }
    Value::Path(Arc::new(path))
}
