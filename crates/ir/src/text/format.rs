//! Laying texts out: indentation, blanks and blank lines.
//!
//! What is written stays as it is written, token by token: names and refs, the order of things, how literals are spelled,
//! where lines end. So the laid out text means the same program, down to the refs that are handed out for it.
//!
//! Two blanks for each open brace, at most 16 times, and for each line on which parentheses were left open; one blank
//! between tokens where one belongs; at most one blank line, none at the borders of a region. A text that
//! [`print_program`](crate::text::print_program) made is laid out already.

use crate::refs::RefAllocator;
use crate::text::api::parse_program;
use crate::text::error::TextError;
use crate::text::lexer::{Comment, Kind, Token, lex};
use crate::text::print_body::MAX_INDENT;

/// Lays a text out. One with mistakes is refused: without knowing what it means, nothing can be said of its layout.
pub fn format_text(text: &str) -> Result<String, Vec<TextError>> {
    parse_program(text, &mut RefAllocator::starting_at(1))?;
    let lexed = lex(text);
    let mut layout =
        Layout { text, tokens: &lexed.tokens, open: Vec::new(), line: 0, end: 0, out: String::new() };
    let mut comments = lexed.comments.into_iter().peekable();
    for at in 0..lexed.tokens.len() {
        while let Some(comment) = comments.next_if(|comment| comment.before as usize <= at) {
            layout.comment(comment, at);
        }
        layout.token(at);
    }
    Ok(layout.out)
}

/// A bracket that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `{` of a region.
    Region,
    /// `{` of a struct or an enum: lines in it end with commas.
    Members,
    /// `(` or `[`, with the line that it stands on.
    Group(usize),
}

struct Layout<'t> {
    text: &'t str,
    tokens: &'t [Token],
    open: Vec<Open>,
    /// How many lines are written.
    line: usize,
    /// The end in the source of what was written last.
    end: usize,
    out: String,
}

impl Layout<'_> {
    fn source(&self, at: usize) -> &str {
        let token = self.tokens[at];
        &self.text[token.start as usize..token.end as usize]
    }

    fn kind(&self, at: Option<usize>) -> Option<Kind> {
        self.tokens.get(at?).map(|token| token.kind)
    }

    fn is_word(&self, at: Option<usize>, words: &[&str]) -> bool {
        self.kind(at) == Some(Kind::Ident) && at.is_some_and(|at| words.contains(&self.source(at)))
    }

    /// A comment before a token.
    fn comment(&mut self, comment: Comment, before: usize) {
        if comment.trailing {
            self.out.push(' ');
        } else {
            self.begin_line(comment.start as usize, before, self.open.len());
        }
        let said = &self.text[comment.start as usize..comment.end as usize];
        let said = said.strip_prefix(' ').unwrap_or(said);
        self.out.push_str(if said.is_empty() { ";" } else { "; " });
        self.out.push_str(said);
        self.end = comment.end as usize;
    }

    fn token(&mut self, at: usize) {
        let token = self.tokens[at];
        if token.kind == Kind::End {
            self.out.push_str(if self.out.is_empty() { "" } else { "\n" });
            return;
        }
        if token.line_start {
            let rest = self.tokens[at..].iter().enumerate();
            let closers = rest
                .take_while(|(index, token)| (*index == 0 || !token.line_start) && is_closing(token.kind))
                .count();
            self.begin_line(token.start as usize, at, self.open.len().saturating_sub(closers));
        } else if self.is_spaced(at) {
            self.out.push(' ');
        }
        match token.kind {
            Kind::Punct(b'{') if self.is_word(at.checked_sub(1), &["struct", "enum"]) => {
                self.open.push(Open::Members);
            }
            Kind::Punct(b'{') => self.open.push(Open::Region),
            Kind::Punct(b'(' | b'[') => self.open.push(Open::Group(self.line)),
            Kind::Punct(b')' | b']' | b'}') => drop(self.open.pop()),
            Kind::Ident
            | Kind::Int
            | Kind::Float
            | Kind::Str
            | Kind::Bytes
            | Kind::Punct(_)
            | Kind::Arrow
            | Kind::PathSep
            | Kind::Bad
            | Kind::End => {}
        }
        self.out.push_str(&self.text[token.start as usize..token.end as usize]);
        self.end = token.end as usize;
    }

    /// Begins the line of what stands at `start`, before or as the token `at`, inside of that many brackets.
    fn begin_line(&mut self, start: usize, at: usize, inside: usize) {
        let before = at.checked_sub(1);
        let opened = matches!(self.kind(before), Some(Kind::Punct(b'{' | b'(' | b'[')))
            && before.is_some_and(|before| self.tokens[before].end as usize == self.end);
        let closes = inside < self.open.len();
        if !self.out.is_empty() {
            let lines = self.text[self.end..start].bytes().filter(|byte| *byte == b'\n').count();
            self.out.push_str(if lines > 1 && !opened && !closes { "\n\n" } else { "\n" });
        }
        self.line += 1;
        for _ in 0..self.indent(before, inside) {
            self.out.push_str("  ");
        }
    }

    /// The depth of a line that begins after a token.
    fn indent(&self, before: Option<usize>, inside: usize) -> usize {
        let open = &self.open[..inside];
        let regions = open.iter().filter(|open| !matches!(open, Open::Group(_))).count();
        let groups = open.iter().rev().take_while(|open| matches!(open, Open::Group(_)));
        let mut lines: Vec<Open> = groups.copied().collect();
        lines.dedup();
        let goes_on = match open.last() {
            Some(Open::Group(_) | Open::Members) => false,
            Some(Open::Region) | None => {
                inside == self.open.len()
                    && matches!(self.kind(before), Some(Kind::Punct(b',' | b'=' | b':')))
            }
        };
        regions.min(MAX_INDENT) + lines.len() + usize::from(goes_on)
    }

    /// Whether a blank stands between a token and the one before it on its line.
    fn is_spaced(&self, at: usize) -> bool {
        let before = at - 1;
        let adjacent = self.tokens[before].end == self.tokens[at].start;
        match (self.tokens[before].kind, self.tokens[at].kind) {
            (Kind::Punct(b'{'), Kind::Punct(b'}')) => false,
            (Kind::Punct(b'{'), _) | (_, Kind::Punct(b'{' | b'}')) => true,
            (Kind::Punct(b'(' | b'[' | b'<' | b'#'), _) => false,
            (_, Kind::Punct(b',' | b')' | b']' | b'>' | b':' | b'<')) => false,
            (Kind::PathSep, _) | (_, Kind::PathSep) => false,
            (_, Kind::Punct(b'=')) => !self.is_memory_argument(at),
            (Kind::Punct(b'='), _) => !self.is_memory_argument(before),
            // A ref, a member, a port, a power: near to what it belongs to, or it means something else.
            (_, Kind::Punct(b'#' | b'.' | b'^')) | (Kind::Punct(b'.' | b'^'), _) => !adjacent,
            // An operator takes the parentheses that stand right behind it.
            (Kind::Ident | Kind::Str | Kind::Punct(b'>' | b')'), Kind::Punct(b'(')) => {
                !adjacent || self.is_name_of_function(before) || self.owns_regions(before)
            }
            (_, _) => true,
        }
    }

    /// Whether this `=` is the one of `offset=8` or `align=4`.
    fn is_memory_argument(&self, equals: usize) -> bool {
        self.is_word(equals.checked_sub(1), &["offset", "align"])
            && self.kind(Some(equals + 1)) == Some(Kind::Int)
    }

    /// Whether a token ends the name in the head of a function.
    fn is_name_of_function(&self, last: usize) -> bool {
        let tagged = self.kind(last.checked_sub(1)) == Some(Kind::Punct(b'#'));
        let name = if tagged { last.checked_sub(2) } else { Some(last) };
        self.is_word(name.and_then(|name| name.checked_sub(1)), &["func"])
    }

    /// Whether a token is an operator that never stands among operands.
    fn owns_regions(&self, at: usize) -> bool {
        self.is_word(Some(at), &["block", "loop", "if", "match"])
            && self.kind(at.checked_sub(1)) != Some(Kind::Punct(b'.'))
    }
}

fn is_closing(kind: Kind) -> bool {
    matches!(kind, Kind::Punct(b')' | b']' | b'}'))
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
