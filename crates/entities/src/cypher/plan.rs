//! In which order a pattern is looked for: from what is known, or from the place where the fewest nodes can be.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Comparison, Expr, Kind};
use super::stage::{Access, LinkPattern, Pattern, Step, StepKind, Vertex, needs};
use crate::name::Label;
use crate::props::PropValue;

/// What plans know of a graph.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    pub(crate) all: u64,
    pub(crate) labels: BTreeMap<Label, u64>,
    pub(crate) indexed: BTreeSet<(Label, String)>,
    /// How many nodes of a label have a value of a property, if that is known, of the values that a query names.
    pub(crate) equal: Vec<((Label, String, PropValue), Option<u64>)>,
}

impl Statistics {
    /// Returns about how many nodes of a label equal something in a property, if that is known before the search.
    fn about(&self, label: &Label, prop: &str, value: &Expr) -> Option<u64> {
        let value = named(value)?;
        let is =
            |(of, named, known): &(Label, String, PropValue)| of == label && named == prop && *known == value;
        self.equal.iter().find(|(of, _)| is(of)).and_then(|(_, about)| *about)
    }
}

/// Returns the value of an expression that is nothing else.
fn named(expr: &Expr) -> Option<PropValue> {
    match &expr.kind {
        Kind::Literal(value) => value.to_prop(),
        _ => None,
    }
}

/// Makes the steps of a pattern.
pub(crate) fn plan(pattern: &mut Pattern, statistics: &Statistics) {
    let mut planner = Planner {
        visited: vec![false; pattern.vertices.len()],
        followed: vec![false; pattern.links.len()],
        judged: vec![false; pattern.predicates.len()],
        known: BTreeSet::new(),
        steps: Vec::new(),
        pattern,
        statistics,
    };
    let first = planner.judge();
    for vertex in 0..planner.visited.len() {
        if !planner.pattern.fresh.contains(&planner.pattern.vertices[vertex].slot) {
            planner.visit(vertex, Access::Bound);
        }
    }
    loop {
        if let Some((link, from, to)) = planner.next_link() {
            planner.follow(link, from, to);
        } else if let Some((vertex, access)) = planner.next_vertex() {
            planner.visit(vertex, access);
        } else {
            break;
        }
    }
    let last = (0..planner.judged.len()).filter(|index| !planner.judged[*index]).collect();
    let steps = planner.steps;
    pattern.first = first;
    pattern.steps = steps;
    pattern.last = last;
}

struct Planner<'a> {
    pattern: &'a Pattern,
    statistics: &'a Statistics,
    visited: Vec<bool>,
    followed: Vec<bool>,
    judged: Vec<bool>,
    /// Slots of the pattern that have their value.
    known: BTreeSet<usize>,
    steps: Vec<Step>,
}

impl Planner<'_> {
    fn visit(&mut self, vertex: usize, access: Access) {
        self.visited[vertex] = true;
        self.known.insert(self.pattern.vertices[vertex].slot);
        let filters = self.judge();
        self.steps.push(Step { kind: StepKind::Start { vertex, access }, filters });
    }

    fn follow(&mut self, link: usize, from: usize, to: usize) {
        let known = self.visited[to];
        self.followed[link] = true;
        self.visited[to] = true;
        self.known.insert(self.pattern.vertices[to].slot);
        self.known.extend(self.pattern.links[link].slot);
        let filters = self.judge();
        self.steps.push(Step { kind: StepKind::Expand { link, from, to, known }, filters });
    }

    /// Returns the predicates that can be judged now and could not before.
    fn judge(&mut self) -> Vec<usize> {
        let now: Vec<usize> = (0..self.judged.len())
            .filter(|index| !self.judged[*index] && self.has(&self.pattern.predicates[*index].needs))
            .collect();
        now.iter().for_each(|index| self.judged[*index] = true);
        now
    }

    fn has(&self, needs: &BTreeSet<usize>) -> bool {
        needs.iter().all(|slot| !self.pattern.fresh.contains(slot) || self.known.contains(slot))
    }

    /// Returns the link to follow next: one between known vertices, else a single edge, else a path.
    fn next_link(&self) -> Option<(usize, usize, usize)> {
        let open = |(index, link): (usize, &LinkPattern)| {
            if self.followed[index] {
                return None;
            }
            let (from, to) = match (self.visited[link.from], self.visited[link.to]) {
                (true, _) => (link.from, link.to),
                (false, true) => (link.to, link.from),
                (false, false) => return None,
            };
            let closing = self.visited[link.from] && self.visited[link.to];
            let rank = (link.length.is_some(), link.types.is_empty());
            Some(((!closing, rank, index), (index, from, to)))
        };
        self.pattern.links.iter().enumerate().filter_map(open).min().map(|(_, link)| link)
    }

    /// Returns the vertex of which there are fewest, and how it is found.
    fn next_vertex(&self) -> Option<(usize, Access)> {
        let open = (0..self.visited.len()).filter(|vertex| !self.visited[*vertex]);
        let (_, vertex) = open.map(|vertex| (self.access(vertex).0, vertex)).min()?;
        Some((vertex, self.access(vertex).1))
    }

    /// Returns how a vertex is found by itself, and about how many nodes that gives.
    fn access(&self, vertex: usize) -> (u64, Access) {
        let labels = &self.pattern.vertices[vertex].labels;
        let slot = self.pattern.vertices[vertex].slot;
        let bound = |link: &LinkPattern| {
            link.length.is_none() && link.slot.is_some_and(|slot| !self.pattern.fresh.contains(&slot))
        };
        let ends = |link: &LinkPattern| link.from == vertex || link.to == vertex;
        if let Some(link) = self.pattern.links.iter().position(|link| bound(link) && ends(link)) {
            return (0, Access::EndOf(link));
        }
        let size = |label: &Label| self.statistics.labels.get(label).copied().unwrap_or(0);
        let Some(label) = labels.iter().min_by_key(|label| size(label)) else {
            return (self.statistics.all.saturating_add(16), Access::All);
        };
        let mut best = (size(label).saturating_add(16), Access::Label(label.clone()));
        let mut take = |found: (u64, Access)| {
            if found.0 < best.0 {
                best = found;
            }
        };
        for predicate in &self.pattern.predicates {
            if let Kind::In(of, list) = &predicate.expr.kind
                && prop_of(of, slot) == Some("key")
                && self.is_known(list)
            {
                take((4, Access::Keys(label.clone(), list.as_ref().clone())));
            }
        }
        let values = self.values(slot);
        if let Some((_, key)) = values.iter().find(|(prop, _)| *prop == "key") {
            take((1, Access::Key(labels[0].clone(), (*key).clone())));
        }
        for label in labels {
            let indexed = |prop: &str| self.statistics.indexed.contains(&(label.clone(), prop.to_owned()));
            let props: Vec<(String, Expr)> = values
                .iter()
                .filter(|(prop, _)| indexed(prop))
                .map(|(prop, value)| ((*prop).to_owned(), (*value).clone()))
                .collect();
            if !props.is_empty() {
                // Of what is not known yet, each leaves fewer.
                let guess = 7_u64.saturating_sub(props.len() as u64).max(3);
                let about = |(prop, value): &(String, Expr)| self.statistics.about(label, prop, value);
                let about = props.iter().map(|by| about(by).unwrap_or(guess)).min().unwrap_or(guess);
                take((about.saturating_add(2), Access::Index(label.clone(), props)));
            }
        }
        best
    }

    /// Returns the properties of the node of a slot that must equal something that is known by now.
    fn values(&self, slot: usize) -> Vec<(&str, &Expr)> {
        let mut values = Vec::new();
        for predicate in &self.pattern.predicates {
            if let Kind::Compare(Comparison::Equal, a, b) = &predicate.expr.kind {
                let by =
                    |of, value| prop_of(of, slot).filter(|_| self.is_known(value)).map(|prop| (prop, value));
                values.extend(by(a, b).or_else(|| by(b, a)));
            }
        }
        values
    }

    fn is_known(&self, expr: &Expr) -> bool {
        let mut nested = false;
        expr.walk(&mut |expr| nested |= matches!(expr.kind, Kind::Found(_)));
        !nested && self.has(&needs(expr, &[]))
    }
}

/// Returns which property of the node of a slot an expression is.
fn prop_of(expr: &Expr, slot: usize) -> Option<&str> {
    match &expr.kind {
        Kind::Property(of, name) if matches!(of.kind, Kind::Variable(_, found) if found == slot) => {
            Some(name)
        }
        _ => None,
    }
}

/// Returns the vertices of a pattern that no variable has before.
pub(crate) fn to_find(pattern: &Pattern) -> impl Iterator<Item = &Vertex> {
    pattern.vertices.iter().filter(|vertex| pattern.fresh.contains(&vertex.slot))
}

/// Says whether a plan of a pattern can find one or another first, or one by this or that label.
pub(crate) fn is_choice(pattern: &Pattern) -> bool {
    to_find(pattern).count() > 1 || to_find(pattern).any(|vertex| vertex.labels.len() > 1)
}

/// The properties by whose value a label is asked for, each with the values that are known before the search.
pub(crate) type Asked = BTreeMap<String, Vec<PropValue>>;

/// Returns the labels of a pattern, each with the properties by whose value it is asked for.
pub(crate) fn asked(pattern: &Pattern) -> BTreeMap<Label, Asked> {
    let mut asked: BTreeMap<Label, Asked> = BTreeMap::new();
    for vertex in &pattern.vertices {
        for label in &vertex.labels {
            let props = asked.entry(label.clone()).or_default();
            for predicate in &pattern.predicates {
                let Kind::Compare(Comparison::Equal, a, b) = &predicate.expr.kind else { continue };
                for (of, value) in [(a, b), (b, a)] {
                    if let Some(prop) = prop_of(of, vertex.slot) {
                        props.entry(prop.to_owned()).or_default().extend(named(value));
                    }
                }
            }
        }
    }
    asked
}
