//! A query as it is written, before its names are known: what is left of SQL once the rest is refused.

use crate::error::Place;

/// A query over one stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) items: Vec<Item>,
    pub(crate) source: Option<Source>,
    pub(crate) filter: Option<Expr>,
    pub(crate) keys: Vec<Expr>,
    pub(crate) windows: Vec<WindowCall>,
    /// Whether there is a window that was refused.
    pub(crate) refused_window: bool,
    /// Where `GROUP BY` stands, if there is one.
    pub(crate) group_by: Option<Place>,
    pub(crate) having: Option<Expr>,
}

/// The stream that a query reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) stream: Name,
    pub(crate) alias: Option<String>,
}

/// A name where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// What stands between `SELECT` and `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// `*`, perhaps of a stream.
    All { of: Option<Name>, place: Place },
    /// An expression with the name of its column, and whether that is only what the expression is called after.
    Expr { expr: Expr, name: String, derived: bool },
}

/// A window in `GROUP BY`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowCall {
    pub(crate) name: Name,
    pub(crate) args: Vec<Expr>,
}

/// An expression where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Was refused already.
    Refused,
    /// `a`, `a.b.c`.
    Path(Vec<Name>),
    /// `a->b`, `(..).b`.
    Field(Box<Expr>, Name),
    /// `a[0]`.
    Index(Box<Expr>, Box<Expr>),
    Literal(Literal),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Concat(Box<Expr>, Box<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `IS NULL`, or `IS NOT NULL`.
    IsNull(Box<Expr>, bool),
    /// `IS [NOT] TRUE`, `IS [NOT] FALSE`: which truth value, and whether it is negated.
    IsTruth(Box<Expr>, bool, bool),
    /// The value, the lower and the upper bound, and whether it is negated.
    Between(Box<[Expr; 3]>, bool),
    In(Box<Expr>, Vec<Expr>, bool),
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast(Box<Expr>, CastTo),
    Call {
        name: Name,
        args: Vec<Expr>,
        /// `count(*)`.
        all: bool,
    },
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// `+ - * / %`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Arithmetic {
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
            Arithmetic::Rem => "%",
        }
    }
}

/// `= <> < <= > >=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Compare::Eq => "=",
            Compare::Ne => "<>",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }
}

/// What `CAST` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CastTo {
    Int,
    Float,
    Bool,
    Text,
    Time,
}
