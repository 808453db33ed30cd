//! A query as it is written, and with slots of rows in the place of names once it is resolved.

use super::error::Problem;
use super::functions::{Aggregate, Distinct, Function};
use super::span::Span;
use super::value::Value;
use crate::name::{Label, RelationType};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// An expression; equal ones say the same, wherever they stand.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// How deeply expressions lie in it.
    pub(crate) depth: usize,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Literal(Value),
    Parameter(String),
    /// The slot is set when names are resolved.
    Variable(String, usize),
    Property(Box<Expr>, String),
    HasLabels(Box<Expr>, Vec<String>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    List(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    TextTest(TextTest, Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    Call(Function, Vec<Expr>),
    /// Without an expression it counts rows.
    Aggregate(Aggregate, Distinct, Option<Box<Expr>>),
    Case(Option<Box<Expr>>, Vec<(Expr, Expr)>, Option<Box<Expr>>),
    Exists(Box<Match>),
    /// What `Exists` becomes: the number of a compiled pattern.
    Found(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

impl Expr {
    pub(crate) fn new(kind: Kind, span: Span) -> Self {
        let depth = 1 + kind.children().iter().map(|child| child.depth).max().unwrap_or(0);
        Self { kind, span, depth }
    }

    /// Calls a function with every expression in this one, itself first, those of nested patterns left out.
    pub(crate) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.kind.children() {
            child.walk(visit);
        }
    }

    pub(crate) fn has_aggregate(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr.kind, Kind::Aggregate(..)));
        found
    }
}

impl Kind {
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Literal(_) | Self::Parameter(_) | Self::Variable(..) | Self::Exists(_) | Self::Found(_) => {
                Vec::new()
            }
            Self::Property(of, _)
            | Self::HasLabels(of, _)
            | Self::Not(of)
            | Self::Minus(of)
            | Self::IsNull(of) => {
                vec![of]
            }
            Self::Index(a, b)
            | Self::Xor(a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::In(a, b)
            | Self::TextTest(_, a, b) => vec![a, b],
            Self::Slice(of, from, to) => {
                [Some(of), from.as_ref(), to.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect()
            }
            Self::List(items) | Self::And(items) | Self::Or(items) | Self::Call(_, items) => {
                items.iter().collect()
            }
            Self::Map(fields) => fields.iter().map(|(_, value)| value).collect(),
            Self::Aggregate(_, _, of) => of.iter().map(AsRef::as_ref).collect(),
            Self::Case(subject, whens, otherwise) => subject
                .iter()
                .chain(otherwise)
                .map(AsRef::as_ref)
                .chain(whens.iter().flat_map(|(when, then)| [when, then]))
                .collect(),
        }
    }

    pub(crate) fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Literal(_) | Self::Parameter(_) | Self::Variable(..) | Self::Exists(_) | Self::Found(_) => {
                Vec::new()
            }
            Self::Property(of, _)
            | Self::HasLabels(of, _)
            | Self::Not(of)
            | Self::Minus(of)
            | Self::IsNull(of) => {
                vec![of]
            }
            Self::Index(a, b)
            | Self::Xor(a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::In(a, b)
            | Self::TextTest(_, a, b) => vec![a, b],
            Self::Slice(of, from, to) => {
                [Some(of), from.as_mut(), to.as_mut()].into_iter().flatten().map(AsMut::as_mut).collect()
            }
            Self::List(items) | Self::And(items) | Self::Or(items) | Self::Call(_, items) => {
                items.iter_mut().collect()
            }
            Self::Map(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
            Self::Aggregate(_, _, of) => of.iter_mut().map(AsMut::as_mut).collect(),
            Self::Case(subject, whens, otherwise) => subject
                .iter_mut()
                .chain(otherwise)
                .map(AsMut::as_mut)
                .chain(whens.iter_mut().flat_map(|(when, then)| [when, then]))
                .collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Clause {
    Match(Match),
    Unwind(Expr, Name),
    Project(Projection),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    pub(crate) optional: bool,
    pub(crate) paths: Vec<PathPattern>,
    pub(crate) filter: Option<Expr>,
    pub(crate) span: Span,
}

/// Nodes with an edge between each and the next one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathPattern {
    pub(crate) name: Option<Name>,
    pub(crate) nodes: Vec<NodePattern>,
    pub(crate) edges: Vec<EdgePattern>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodePattern {
    pub(crate) name: Option<Name>,
    pub(crate) labels: Vec<Label>,
    pub(crate) props: Vec<(Name, Expr)>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EdgePattern {
    pub(crate) name: Option<Name>,
    pub(crate) types: Vec<RelationType>,
    pub(crate) direction: Direction,
    /// Fewest and most edges, of a path of more than one.
    pub(crate) length: Option<(u32, u32)>,
    pub(crate) props: Vec<(Name, Expr)>,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Right,
    Left,
    Either,
}

/// `WITH` or `RETURN`.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    pub(crate) last: bool,
    pub(crate) distinct: bool,
    /// Whether every variable is passed on.
    pub(crate) star: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) order: Vec<(Expr, Sorting)>,
    pub(crate) skip: Option<Expr>,
    pub(crate) limit: Option<Expr>,
    pub(crate) filter: Option<Expr>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) expr: Expr,
    pub(crate) name: String,
    /// Whether the name was given with `AS`.
    pub(crate) named: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sorting {
    Ascending,
    Descending,
}

impl Aggregate {
    /// Returns what is aggregated; nothing for `count(*)`.
    pub(crate) fn check_arguments(
        self,
        star: bool,
        mut arguments: Vec<Expr>,
    ) -> Result<Option<Expr>, Problem> {
        match (arguments.pop(), arguments.len(), star, self) {
            (None, _, true, Self::Count) => Ok(None),
            (Some(of), 0, _, _) => match of.has_aggregate() {
                true => Err(Problem::Aggregate { problem: "an aggregate within an aggregate" }),
                false => Ok(Some(of)),
            },
            (last, others, _, _) => {
                let found = others + usize::from(last.is_some());
                Err(Problem::Arguments { function: self.name(), expected: "one argument", found })
            }
        }
    }
}
