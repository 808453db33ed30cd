//! From the text of a query to what it says, and what it speaks of.
//!
//! The parser of `sqlparser` reads far more than the planner has. What is not in [`syntax`] is refused with the id of its
//! construct, and reading goes on behind it, so that all of it is found at once.

mod expr;
mod query;
pub mod references;
pub(crate) mod syntax;

use sqlparser::ast::Statement;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use crate::error::{Code, Place, PlanError};
use references::{Reference, References};
use syntax::Query;

/// Bytes of a query at most.
pub const LONGEST_QUERY: usize = 32 << 10;

/// Tokens of a query at most: what bounds the depth of chains such as `a + b + c`.
pub const MOST_TOKENS: usize = 2_000;

/// How deep expressions nest at most.
pub const DEEPEST: usize = 100;

/// How deep the parser goes: what fits into the stack of any thread.
const PARSER_DEPTH: usize = 40;

/// What came of reading a query.
pub(crate) struct Read {
    /// What it says; refused parts are marked.
    pub(crate) query: Query,
    pub(crate) references: References,
    pub(crate) errors: Vec<PlanError>,
}

/// Reads one `SELECT`.
pub(crate) fn read(sql: &str) -> Result<Read, Vec<PlanError>> {
    let statement = parse(sql)?;
    let mut reader = Reader::default();
    let query = reader.statement(&statement);
    reader.references.sort();
    if let Some(query) = &query {
        reader.note_fields(query);
    }
    let (references, mut errors) = (reader.references, reader.errors);
    match query {
        Some(query) => Ok(Read { query, references, errors }),
        None => {
            errors.sort_by_key(|error| error.place);
            Err(errors)
        }
    }
}

/// Finds every stream, column, function and construct that a query uses, known or not.
///
/// Fails when the text is not SQL, too large, or no `SELECT` at all.
pub fn references(sql: &str) -> Result<References, Vec<PlanError>> {
    read(sql).map(|read| read.references)
}

/// What goes through a query, with what it finds.
#[derive(Default)]
struct Reader {
    references: References,
    errors: Vec<PlanError>,
    /// Where something without a place of its own stands.
    near: Place,
    depth: usize,
}

impl Reader {
    /// Refuses a construct.
    fn refuse(&mut self, construct: &'static str, place: Place, what: &str) {
        self.references.constructs.insert(construct);
        let error = PlanError::new(Code::UnsupportedConstruct, place, format!("{what} is not supported"));
        self.errors.push(PlanError { construct: Some(construct), ..error });
    }

    /// Notes that a construct is used.
    fn uses(&mut self, construct: &'static str) {
        self.references.constructs.insert(construct);
    }

    /// Notes that fields are asked of structs, once it is known what stands for the stream.
    fn note_fields(&mut self, query: &Query) {
        let stream = query.source.as_ref().map(|source| match &source.alias {
            Some(alias) => alias.as_str(),
            None => source.stream.text.as_str(),
        });
        let asks = |name: &str| match name.split_once('.') {
            Some((first, rest)) => Some(first) != stream || rest.contains('.'),
            None => false,
        };
        if self.references.columns.iter().any(|column| asks(&column.name)) {
            self.uses("expr.struct_field_access");
        }
    }

    /// The place of a span; spans of nothing are where the last one was.
    fn place(&mut self, span: Span) -> Place {
        if span.start.line > 0 {
            self.near = place(span.start);
        }
        self.near
    }
}

fn reference(name: impl Into<String>, place: Place) -> Reference {
    Reference { name: name.into(), place }
}

fn place(location: Location) -> Place {
    let number = |from: u64| u32::try_from(from).unwrap_or(u32::MAX);
    Place { line: number(location.line), column: number(location.column) }
}

fn parse(sql: &str) -> Result<Statement, Vec<PlanError>> {
    let start = Place { line: 1, column: 1 };
    if sql.len() > LONGEST_QUERY {
        let message = format!("the query has {} bytes, more than {LONGEST_QUERY}", sql.len());
        return Err(vec![PlanError::new(Code::TooLarge, start, message)]);
    }
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, sql).tokenize_with_location().map_err(|error| {
        vec![PlanError::new(Code::Parse, place(error.location), lower_first(&error.message))]
    })?;
    let said = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    if said.count() > MOST_TOKENS {
        let message = format!("the query has more than {MOST_TOKENS} words and signs");
        return Err(vec![PlanError::new(Code::TooLarge, start, message)]);
    }
    let end = tokens.last().map_or(start, |token: &TokenWithSpan| place(token.span.end));
    let mut parser =
        Parser::new(&dialect).with_recursion_limit(PARSER_DEPTH).with_tokens_with_locations(tokens);
    let mut statements = parser.parse_statements().map_err(|error| {
        let next = parser.peek_token().span.start;
        let next = if next.line > 0 { place(next) } else { end };
        vec![parse_error(error, next)]
    })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        (Some(_), false) => Err(vec![PlanError::new(Code::Parse, end, "there is more than one statement")]),
        (None, _) => Err(vec![PlanError::new(Code::Parse, start, "the text is empty").expecting(["SELECT"])]),
    }
}

/// What the parser says has its place and what it expected in words: `Expected: an expression, found: FROM at Line: 1,
/// Column: 8`.
fn parse_error(error: ParserError, next: Place) -> PlanError {
    let message = match error {
        ParserError::RecursionLimitExceeded => {
            return PlanError::new(Code::TooLarge, next, "the query nests deeper than the parser goes");
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
    };
    let (message, place) = match message.rsplit_once(" at Line: ") {
        Some((before, at)) => {
            let numbers = at.split_once(", Column: ");
            let read = numbers.and_then(|(line, column)| {
                Some(Place { line: line.parse().ok()?, column: column.trim().parse().ok()? })
            });
            (before.to_owned(), read.unwrap_or(next))
        }
        None => (message, next),
    };
    let said = message.strip_prefix("Expected: ").and_then(|said| said.rsplit_once(", found: "));
    match said {
        Some((expected, found)) => {
            let found = if found == "EOF" { "the end" } else { found };
            PlanError::new(Code::Parse, place, "something else stands here")
                .expecting([expected])
                .finding(found)
        }
        None => PlanError::new(Code::Parse, place, lower_first(&message)),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.trim_start_matches("sql parser error: ").chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
