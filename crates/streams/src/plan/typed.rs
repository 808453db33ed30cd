//! A query of which every name is known and every type fits.

use std::sync::Arc;

use crate::error::Place;
use crate::functions::{Aggregate, Scalar, Stateful};
use crate::sql::syntax::{Arithmetic, Compare, Literal};
use crate::types::{Field, Ty};

/// A query over one stream.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) stream: String,
    /// The columns of the stream.
    pub(crate) columns: Arc<[Field]>,
    pub(crate) filter: Option<Expr>,
    pub(crate) shape: Shape,
    /// The columns of the result.
    pub(crate) items: Vec<Item>,
}

/// What becomes of the rows that are kept.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Each of them is one row of the result.
    Rows {
        /// What is remembered of the row before.
        stateful: Vec<Expr>,
    },
    /// Each group of a window is one row of the result.
    Groups { window: Window, keys: Vec<Expr>, aggregates: Vec<AggregateCall>, having: Option<Expr> },
}

/// How rows are divided up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Spans of one length, one after the other, counted from 1970.
    Tumbling {
        /// The length in milliseconds.
        length_ms: i64,
    },
    /// For each row, the span of a length that ends with it.
    Sliding {
        /// The length in milliseconds.
        length_ms: i64,
    },
    /// So many rows each.
    Count {
        /// The number.
        rows: u32,
    },
}

impl Window {
    /// Whether it goes by time.
    pub fn is_timed(self) -> bool {
        match self {
            Window::Tumbling { .. } | Window::Sliding { .. } => true,
            Window::Count { .. } => false,
        }
    }
}

/// A column of the result.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) expr: Expr,
}

/// An aggregate of an expression over the row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AggregateCall {
    pub(crate) function: Aggregate,
    /// `None` for `count(*)`.
    pub(crate) arg: Option<Expr>,
    pub(crate) ty: Ty,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) ty: Ty,
    pub(crate) place: Place,
}

/// Where it stands makes no difference.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind && self.ty == other.ty
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A column of the row.
    Column(usize),
    /// A key of the group.
    Key(usize),
    /// An aggregate of the group.
    Aggregate(usize),
    /// What is remembered of the row before, and what is made of it.
    Previous(Stateful, usize),
    Literal(Literal),
    /// An integer as a float.
    ToFloat(Box<Expr>),
    Field(Box<Expr>, usize),
    Index(Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Concat(Box<Expr>, Box<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    IsTruth(Box<Expr>, bool),
    /// The value, the lower and the upper bound.
    Between(Box<[Expr; 3]>),
    In(Box<Expr>, Vec<Expr>),
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// As `Case`, with a value that each branch is compared with.
    Match {
        operand: Box<Expr>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// To the type of the expression.
    Cast(Box<Expr>),
    Call(Scalar, Vec<Expr>),
}

impl Expr {
    /// Its parts, one level down.
    pub(crate) fn parts(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            Kind::Column(_) | Kind::Key(_) | Kind::Aggregate(_) | Kind::Previous(..) | Kind::Literal(_) => {
                Vec::new()
            }
            Kind::ToFloat(a)
            | Kind::Field(a, _)
            | Kind::Negate(a)
            | Kind::Not(a)
            | Kind::IsNull(a)
            | Kind::IsTruth(a, _)
            | Kind::Cast(a) => vec![a],
            Kind::Index(a, b)
            | Kind::Arithmetic(_, a, b)
            | Kind::Concat(a, b)
            | Kind::Compare(_, a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b) => vec![a, b],
            Kind::Between(parts) => parts.iter_mut().collect(),
            Kind::In(value, list) => std::iter::once(&mut **value).chain(list).collect(),
            Kind::Case { branches, otherwise } => branch_parts(None, branches, otherwise),
            Kind::Match { operand, branches, otherwise } => branch_parts(Some(operand), branches, otherwise),
            Kind::Call(_, args) => args.iter_mut().collect(),
        }
    }
}

fn branch_parts<'e>(
    operand: Option<&'e mut Box<Expr>>,
    branches: &'e mut [(Expr, Expr)],
    otherwise: &'e mut Option<Box<Expr>>,
) -> Vec<&'e mut Expr> {
    let mut parts: Vec<&mut Expr> = operand.into_iter().map(|one| &mut **one).collect();
    parts.extend(branches.iter_mut().flat_map(|(a, b)| [a, b]));
    parts.extend(otherwise.iter_mut().map(|one| &mut **one));
    parts
}
