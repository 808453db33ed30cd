//! A query with its names resolved: stages through which rows pass, with a slot of a row for each variable.

use std::collections::BTreeSet;

use super::ast::{Direction, Expr, Kind, Sorting};
use super::functions::{Aggregate, Distinct};
use super::span::Span;
use crate::name::{Label, RelationType};

#[derive(Debug)]
pub(crate) enum Stage {
    Match(Pattern),
    Unwind(Expr, usize),
    Project(Project),
}

/// The patterns of one `MATCH`, as a graph of vertices and links; and the steps that find it, once it is planned.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) optional: bool,
    /// How long a row is that has all of its slots.
    pub(crate) width: usize,
    /// Slots that it binds.
    pub(crate) fresh: BTreeSet<usize>,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) links: Vec<LinkPattern>,
    pub(crate) paths: Vec<PathShape>,
    pub(crate) predicates: Vec<Predicate>,
    /// Predicates that need nothing of it, and those that need a whole path.
    pub(crate) first: Vec<usize>,
    pub(crate) last: Vec<usize>,
    pub(crate) steps: Vec<Step>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Vertex {
    pub(crate) slot: usize,
    pub(crate) labels: Vec<Label>,
}

#[derive(Debug)]
pub(crate) struct LinkPattern {
    /// Where its value goes, if somebody asks for it.
    pub(crate) slot: Option<usize>,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) direction: Direction,
    pub(crate) types: Vec<RelationType>,
    pub(crate) length: Option<(u32, u32)>,
    /// Of each edge of a path.
    pub(crate) props: Vec<(String, Expr)>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct PathShape {
    pub(crate) slot: usize,
    pub(crate) vertices: Vec<usize>,
    pub(crate) links: Vec<usize>,
}

/// What must be true, with the slots that it reads.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) expr: Expr,
    pub(crate) needs: BTreeSet<usize>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    /// Predicates that can be judged after it.
    pub(crate) filters: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum StepKind {
    /// Finds a vertex by itself.
    Start { vertex: usize, access: Access },
    /// Follows a link from one of its vertices to the other, which may be known.
    Expand { link: usize, from: usize, to: usize, known: bool },
}

/// How a vertex is found, the cheapest first.
#[derive(Debug)]
pub(crate) enum Access {
    /// A variable has it.
    Bound,
    /// It is an end of an edge that a variable has.
    EndOf(usize),
    Key(Label, Expr),
    /// A list of keys.
    Keys(Label, Expr),
    /// Properties that an index knows, with their values.
    Index(Label, Vec<(String, Expr)>),
    Label(Label),
    All,
}

/// `WITH` or `RETURN`: rows to columns.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) last: bool,
    pub(crate) distinct: bool,
    /// What the columns are, of a row, or of a group's keys and aggregates.
    pub(crate) items: Vec<Expr>,
    pub(crate) grouping: Option<Grouping>,
    /// Of the columns followed by what they are made of.
    pub(crate) order: Vec<(Expr, Sorting)>,
    pub(crate) skip: Option<Expr>,
    pub(crate) limit: Option<Expr>,
    pub(crate) filter: Option<Expr>,
    pub(crate) span: Span,
}

#[derive(Debug, Default)]
pub(crate) struct Grouping {
    pub(crate) keys: Vec<Expr>,
    pub(crate) aggregates: Vec<(Aggregate, Distinct, Option<Expr>)>,
}

/// A query that can be run.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) stages: Vec<Stage>,
    /// Patterns that expressions ask for by number.
    pub(crate) nested: Vec<Pattern>,
    pub(crate) columns: Vec<String>,
}

impl Resolved {
    /// Returns every pattern.
    pub(crate) fn patterns(&mut self) -> impl Iterator<Item = &mut Pattern> {
        let of_stages = self.stages.iter_mut().filter_map(|stage| match stage {
            Stage::Match(pattern) => Some(pattern),
            Stage::Unwind(..) | Stage::Project(_) => None,
        });
        of_stages.chain(&mut self.nested)
    }
}

/// Returns the slots that an expression reads.
pub(crate) fn needs(expr: &Expr, nested: &[Pattern]) -> BTreeSet<usize> {
    let mut needs = BTreeSet::new();
    expr.walk(&mut |expr| match &expr.kind {
        Kind::Variable(_, slot) => {
            needs.insert(*slot);
        }
        Kind::Found(number) => {
            if let Some(pattern) = nested.get(*number) {
                needs.extend(outer(pattern, nested));
            }
        }
        _ => {}
    });
    needs
}

/// Returns the slots of a nested pattern that it does not bind itself.
fn outer(pattern: &Pattern, nested: &[Pattern]) -> BTreeSet<usize> {
    let vertices = pattern.vertices.iter().map(|vertex| vertex.slot);
    let links = pattern.links.iter().filter_map(|link| link.slot);
    let props = pattern.links.iter().flat_map(|link| &link.props).flat_map(|(_, expr)| needs(expr, nested));
    let predicates = pattern.predicates.iter().flat_map(|predicate| predicate.needs.iter().copied());
    let all = vertices.chain(links).chain(props).chain(predicates);
    all.filter(|slot| !pattern.fresh.contains(slot)).collect()
}
