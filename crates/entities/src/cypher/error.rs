//! Why a query was not answered: a code, a place, what was expected and found.

use std::fmt;

use thiserror::Error;

use super::span::Span;

/// A place in a query, counted from one; a column is a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    pub(crate) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

/// Why a query was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{position}: {problem}")]
pub struct CypherError {
    /// Where it is.
    pub position: Position,
    /// What is wrong.
    pub problem: Problem,
    /// The known word that is nearest to what was found, where one is near.
    pub nearest: Option<String>,
}

impl CypherError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

/// A problem with the part of the text where it lies, before lines are counted.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) problem: Problem,
    pub(crate) nearest: Option<String>,
}

impl Fault {
    pub(crate) fn new(span: Span, problem: Problem) -> Self {
        Self { span, problem, nearest: None }
    }

    pub(crate) fn near(mut self, word: &str, known: &[&str]) -> Self {
        self.nearest = nearest(word, known);
        self
    }

    pub(crate) fn placed(self, text: &str) -> CypherError {
        let position = Position::of(text, self.span.start as usize);
        CypherError { position, problem: self.problem, nearest: self.nearest }
    }
}

/// What is wrong with a query.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Something else should stand here.
    #[error("expected {}, found {found}", listed(expected))]
    Syntax {
        /// What may stand here.
        expected: Vec<&'static str>,
        /// What stands here.
        found: String,
    },
    /// A clause that would write, or that reaches outside of the graph.
    #[error("queries only read, and `{clause}` does more")]
    ReadOnly {
        /// The clause.
        clause: &'static str,
    },
    /// Cypher that is not part of what is understood here.
    #[error("{what} is not supported")]
    Unsupported {
        /// What it is.
        what: &'static str,
    },
    /// A variable that nothing binds.
    #[error("variable `{name}` is not bound here")]
    UnknownVariable {
        /// Its name.
        name: String,
    },
    /// A variable that is bound to something else already.
    #[error("variable `{name}` is bound already")]
    Bound {
        /// Its name.
        name: String,
    },
    /// A function that there is not.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// A function with another number of arguments.
    #[error("`{function}` takes {expected}, found {found}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// What it takes.
        expected: &'static str,
        /// How many were given.
        found: usize,
    },
    /// A parameter that was not given.
    #[error("parameter `${name}` was not given")]
    MissingParameter {
        /// Its name.
        name: String,
    },
    /// A parameter whose value cannot be one.
    #[error("parameter `${name}` has a number that does not fit, or is nested too deeply")]
    Parameter {
        /// Its name.
        name: String,
    },
    /// An aggregate where there can be none, or a value beside one that no group has.
    #[error("{problem}")]
    Aggregate {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two columns of one name, or one without.
    #[error("{problem} `{name}`")]
    Column {
        /// What is wrong with it.
        problem: &'static str,
        /// The column.
        name: String,
    },
    /// A value of another type.
    #[error("{} takes {expected}, found {found}", quoted(operation))]
    Type {
        /// What was to be done with it.
        operation: &'static str,
        /// What that takes.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A number that does not exist or does not fit.
    #[error("{} has no result that is a number of 64 bits", quoted(operation))]
    Arithmetic {
        /// The operation.
        operation: &'static str,
    },
    /// A path without an upper bound, or with one that is too large.
    #[error("expected a length with an upper bound of at most {limit}, as `*1..{limit}`, found {found}")]
    PathLength {
        /// What is allowed.
        limit: u32,
        /// What was found.
        found: String,
    },
    /// A query that is longer than allowed.
    #[error("the query has more than {limit} {unit}")]
    TooLong {
        /// What is allowed.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// Expressions, or lists and maps of an answer, in each other too deeply.
    #[error("expressions or values lie in each other more than {limit} deep")]
    TooDeep {
        /// What is allowed.
        limit: usize,
    },
    /// A query that takes more steps than allowed.
    #[error("the query takes more than {limit} steps")]
    Steps {
        /// What is allowed.
        limit: u64,
    },
}

impl Problem {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "CYPHER_SYNTAX",
            Self::ReadOnly { .. } => "CYPHER_READ_ONLY",
            Self::Unsupported { .. } => "CYPHER_UNSUPPORTED",
            Self::UnknownVariable { .. } => "CYPHER_UNKNOWN_VARIABLE",
            Self::Bound { .. } => "CYPHER_VARIABLE_BOUND",
            Self::UnknownFunction { .. } => "CYPHER_UNKNOWN_FUNCTION",
            Self::Arguments { .. } => "CYPHER_ARGUMENTS",
            Self::MissingParameter { .. } => "CYPHER_PARAMETER_MISSING",
            Self::Parameter { .. } => "CYPHER_PARAMETER",
            Self::Aggregate { .. } => "CYPHER_AGGREGATE",
            Self::Column { .. } => "CYPHER_COLUMN",
            Self::Type { .. } => "CYPHER_TYPE",
            Self::Arithmetic { .. } => "CYPHER_ARITHMETIC",
            Self::PathLength { .. } => "CYPHER_PATH_LENGTH",
            Self::TooLong { .. } => "CYPHER_TOO_LONG",
            Self::TooDeep { .. } => "CYPHER_TOO_DEEP",
            Self::Steps { .. } => "CYPHER_STEPS",
        }
    }
}

/// Why a query was not answered, with what reading the graph can fail with.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum Failure<E> {
    /// The query is at fault, or asks for too much.
    #[error(transparent)]
    Query(#[from] CypherError),
    /// The graph could not be read.
    #[error("the graph could not be read")]
    Graph(#[source] E),
}

impl<E> Failure<E> {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Query(error) => error.code(),
            Self::Graph(_) => "CYPHER_GRAPH_UNREADABLE",
        }
    }
}

fn listed(expected: &[&str]) -> String {
    match expected {
        [one] => quoted(one),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|word| quoted(word)).collect();
            format!("{} or {}", most.join(", "), quoted(last))
        }
        [] => "nothing more".to_owned(),
    }
}

/// Puts a word or sign between backticks, and leaves a description as it is.
fn quoted(word: &str) -> String {
    match word.contains(' ') || word.starts_with('`') {
        true => word.to_owned(),
        false => format!("`{word}`"),
    }
}

/// Returns the known word that can be made of a word by the fewest changes of a letter, at most two and not half of it.
fn nearest(word: &str, known: &[&str]) -> Option<String> {
    let word: Vec<char> = word.chars().take(64).map(|letter| letter.to_ascii_uppercase()).collect();
    let distance = |known: &str| {
        let known: Vec<char> = known.chars().map(|letter| letter.to_ascii_uppercase()).collect();
        let mut row: Vec<usize> = (0..=known.len()).collect();
        for (i, letter) in word.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, other) in known.iter().enumerate() {
                let changed = diagonal + usize::from(letter != other);
                diagonal = row[j + 1];
                row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
            }
        }
        row[known.len()]
    };
    let near = known.iter().map(|known| (distance(known), *known)).min()?;
    (near.0 <= 2 && near.0 * 2 < word.len().max(2)).then(|| near.1.to_owned())
}
