//! Names to slots: what is bound where, and whether each thing stands where it may.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::ast::{Clause, Comparison, EdgePattern, Expr, Kind, Match, Name, NodePattern};
use super::error::{Fault, Problem};
use super::span::Span;
use super::stage::{LinkPattern, PathShape, Pattern, Predicate, Resolved, Stage, Vertex, needs};
use super::value::Value;
use crate::validation::shown;

/// Most lists and objects in each other in a parameter.
const PARAMETER_DEPTH: usize = 32;

/// Resolves the names of a query.
pub(crate) fn resolve(clauses: Vec<Clause>, params: &Map<String, Json>) -> Result<Resolved, Fault> {
    let mut resolver = Resolver { params, nested: Vec::new() };
    let mut scope = Scope::default();
    let mut resolved = Resolved { stages: Vec::new(), nested: Vec::new(), columns: Vec::new() };
    for clause in clauses {
        let stage = match clause {
            Clause::Match(clause) => Stage::Match(resolver.pattern(clause, &mut scope)?),
            Clause::Unwind(mut list, name) => {
                resolver.plain(&mut list, &scope)?;
                if scope.find(&name.text).is_some() {
                    return Err(Fault::new(name.span, Problem::Bound { name: name.text }));
                }
                Stage::Unwind(list, scope.add(name.text, Holds::Anything))
            }
            Clause::Project(clause) => {
                let (project, next) = resolver.project(clause, &scope)?;
                scope = next;
                Stage::Project(project)
            }
        };
        resolved.stages.push(stage);
    }
    resolved.columns = scope.names.into_iter().map(|(name, ..)| name).collect();
    resolved.nested = resolver.nested;
    Ok(resolved)
}

/// What a variable is known to hold, null aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Node,
    Edge,
    /// Several edges, or a path.
    Other,
    Anything,
}

/// The variables of a place, in the order in which they were bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) names: Vec<(String, usize, Holds)>,
    pub(super) width: usize,
}

impl Scope {
    pub(super) fn find(&self, name: &str) -> Option<(usize, Holds)> {
        self.names.iter().find(|(known, ..)| known == name).map(|(_, slot, holds)| (*slot, *holds))
    }

    pub(super) fn add(&mut self, name: String, holds: Holds) -> usize {
        let slot = self.hidden();
        self.names.push((name, slot, holds));
        slot
    }

    fn hidden(&mut self) -> usize {
        self.width += 1;
        self.width - 1
    }
}

pub(super) struct Resolver<'a> {
    params: &'a Map<String, Json>,
    pub(super) nested: Vec<Pattern>,
}

impl Resolver<'_> {
    /// Resolves an expression in which no aggregate may stand.
    pub(super) fn plain(&mut self, expr: &mut Expr, scope: &Scope) -> Result<(), Fault> {
        match expr.has_aggregate() {
            true => {
                let problem =
                    "an aggregate stands outside of what `WITH` and `RETURN` list and of their `ORDER BY`";
                Err(Fault::new(expr.span, Problem::Aggregate { problem }))
            }
            false => self.expression(expr, scope),
        }
    }

    pub(super) fn expression(&mut self, expr: &mut Expr, scope: &Scope) -> Result<(), Fault> {
        match &mut expr.kind {
            Kind::Variable(name, slot) => match scope.find(name) {
                Some((found, _)) => *slot = found,
                None => return Err(unknown(name, expr.span, scope)),
            },
            Kind::Parameter(name) => expr.kind = Kind::Literal(self.parameter(name, expr.span)?),
            Kind::Exists(pattern) => {
                let mut inner = scope.clone();
                let pattern = self.pattern(pattern.as_ref().clone(), &mut inner)?;
                self.nested.push(pattern);
                expr.kind = Kind::Found(self.nested.len() - 1);
            }
            kind => {
                for child in kind.children_mut() {
                    self.expression(child, scope)?;
                }
            }
        }
        Ok(())
    }

    fn parameter(&self, name: &str, span: Span) -> Result<Value, Fault> {
        let names: Vec<&str> = self.params.keys().map(String::as_str).collect();
        let Some(value) = self.params.get(name) else {
            return Err(Fault::new(span, Problem::MissingParameter { name: shown(name) }).near(name, &names));
        };
        Value::of_json(value, PARAMETER_DEPTH)
            .ok_or_else(|| Fault::new(span, Problem::Parameter { name: shown(name) }))
    }

    fn pattern(&mut self, clause: Match, scope: &mut Scope) -> Result<Pattern, Fault> {
        let before = scope.width;
        let mut pattern = Pattern {
            optional: clause.optional,
            width: 0,
            fresh: BTreeSet::new(),
            vertices: Vec::new(),
            links: Vec::new(),
            paths: Vec::new(),
            predicates: Vec::new(),
            first: Vec::new(),
            last: Vec::new(),
            steps: Vec::new(),
            span: clause.span,
        };
        let mut equalities = Vec::new();
        let mut edge_props = Vec::new();
        for path in clause.paths {
            let named = path.name.is_some();
            let mut vertices = Vec::new();
            for node in path.nodes {
                vertices.push(vertex(&mut pattern, scope, node, &mut equalities)?);
            }
            let mut links = Vec::new();
            for (index, edge) in path.edges.into_iter().enumerate() {
                let asked = named || (edge.length.is_none() && !edge.props.is_empty());
                let slot = edge_slot(&edge, scope, before, asked)?;
                match (slot, edge.length) {
                    (Some(slot), None) => {
                        equalities.extend(edge.props.into_iter().map(|(name, expr)| (slot, name, expr)));
                    }
                    _ => edge_props.push((pattern.links.len(), edge.props)),
                }
                links.push(pattern.links.len());
                pattern.links.push(LinkPattern {
                    slot,
                    from: vertices[index],
                    to: vertices[index + 1],
                    direction: edge.direction,
                    types: edge.types,
                    length: edge.length,
                    props: Vec::new(),
                    span: edge.span,
                });
            }
            if let Some(name) = path.name {
                if scope.find(&name.text).is_some() {
                    return Err(Fault::new(name.span, Problem::Bound { name: name.text }));
                }
                let slot = scope.add(name.text, Holds::Other);
                pattern.paths.push(PathShape { slot, vertices, links });
            }
        }
        pattern.width = scope.width;
        pattern.fresh = (before..scope.width).collect();
        for (slot, name, mut expr) in equalities {
            self.plain(&mut expr, scope)?;
            let span = name.span.to(expr.span);
            let of = Expr::new(Kind::Variable(String::new(), slot), name.span);
            let prop = Expr::new(Kind::Property(of.into(), name.text), name.span);
            let equal = Kind::Compare(Comparison::Equal, prop.into(), expr.into());
            self.predicate(&mut pattern, Expr::new(equal, span));
        }
        for (link, props) in edge_props {
            for (name, mut expr) in props {
                self.plain(&mut expr, scope)?;
                if !needs(&expr, &self.nested).is_disjoint(&pattern.fresh) {
                    let what = "a property of a path's edges that hangs on the same `MATCH`";
                    return Err(Fault::new(expr.span, Problem::Unsupported { what }));
                }
                pattern.links[link].props.push((name.text, expr));
            }
        }
        if let Some(mut filter) = clause.filter {
            self.plain(&mut filter, scope)?;
            let mut conjuncts = Vec::new();
            split(filter, &mut conjuncts);
            for conjunct in conjuncts {
                self.predicate(&mut pattern, conjunct);
            }
        }
        Ok(pattern)
    }

    fn predicate(&mut self, pattern: &mut Pattern, expr: Expr) {
        let needs = needs(&expr, &self.nested);
        pattern.predicates.push(Predicate { expr, needs });
    }
}

fn vertex(
    pattern: &mut Pattern,
    scope: &mut Scope,
    node: NodePattern,
    equalities: &mut Vec<(usize, Name, Expr)>,
) -> Result<usize, Fault> {
    let slot = match node.name {
        None => scope.hidden(),
        Some(name) => match scope.find(&name.text) {
            None => scope.add(name.text, Holds::Node),
            Some((slot, Holds::Node | Holds::Anything)) => slot,
            Some((_, Holds::Edge | Holds::Other)) => {
                return Err(Fault::new(name.span, Problem::Bound { name: name.text }));
            }
        },
    };
    equalities.extend(node.props.into_iter().map(|(name, expr)| (slot, name, expr)));
    let index = pattern.vertices.iter().position(|vertex| vertex.slot == slot);
    let index = index.unwrap_or_else(|| {
        pattern.vertices.push(Vertex { slot, labels: Vec::new() });
        pattern.vertices.len() - 1
    });
    for label in node.labels {
        if !pattern.vertices[index].labels.contains(&label) {
            pattern.vertices[index].labels.push(label);
        }
    }
    Ok(index)
}

/// Returns where an edge's value goes, if it goes anywhere; a name may be that of an edge of an earlier clause.
fn edge_slot(
    edge: &EdgePattern,
    scope: &mut Scope,
    before: usize,
    asked: bool,
) -> Result<Option<usize>, Fault> {
    let Some(name) = &edge.name else { return Ok(asked.then(|| scope.hidden())) };
    match scope.find(&name.text) {
        None => {
            let holds = if edge.length.is_some() { Holds::Other } else { Holds::Edge };
            Ok(Some(scope.add(name.text.clone(), holds)))
        }
        Some((slot, Holds::Edge | Holds::Anything)) if slot < before && edge.length.is_none() => {
            Ok(Some(slot))
        }
        Some(_) => Err(Fault::new(name.span, Problem::Bound { name: name.text.clone() })),
    }
}

/// Takes a conjunction apart.
fn split(expr: Expr, into: &mut Vec<Expr>) {
    match expr.kind {
        Kind::And(operands) => operands.into_iter().for_each(|operand| split(operand, into)),
        kind => into.push(Expr { kind, ..expr }),
    }
}

pub(super) fn unknown(name: &str, span: Span, scope: &Scope) -> Fault {
    let names: Vec<&str> = scope.names.iter().map(|(name, ..)| name.as_str()).collect();
    Fault::new(span, Problem::UnknownVariable { name: shown(name) }).near(name, &names)
}
