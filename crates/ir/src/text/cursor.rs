//! Walking over tokens: what every part of the parser uses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::refs::{MODULE_NAME_RULE, NAME_RULE, Ref, looks_like_ref};
use crate::text::dollar::Written;
use crate::text::error::{MAX_ERRORS, Mistake, code};
use crate::text::lexer::{Comment, Kind, Token, lex};
use crate::text::literal::{Literal, unescape_text};
use crate::text::syntax::{Segment, Tag, Tree};
use crate::text::unknown::Unknown;

/// A mistake was noted; the caller skips to where it can go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip;

pub(super) type Parsed<T> = Result<T, Skip>;

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    written: Written<'t>,
    pub(super) tokens: Vec<Token>,
    comments: Vec<Comment>,
    comment_at: usize,
    pub(super) at: usize,
    /// Where the statement or item that is read begins.
    pub(super) begin: usize,
    /// How many parentheses are open: inside them a line's end means nothing.
    pub(super) parens: usize,
    pub(super) tree: Tree,
    pub(super) mistakes: Vec<Mistake>,
    /// The token that the function begins with that is read.
    pub(super) function: usize,
    /// How many lines of other languages were told.
    pub(super) told: usize,
    /// The statement that was given up last, if that may have been for an operator that there is not.
    pub(super) unknown: Option<Unknown>,
    /// Whether operators that there are not are read over among operands, so that what they are given is looked up.
    pub(super) reads_over: bool,
    /// Types and functions of the text by name, with the tokens of these; once somebody asks.
    pub(super) declared: Option<HashMap<&'t str, usize>>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(written: impl Into<Written<'t>>) -> Parser<'t> {
        let written = written.into();
        let text = written.text;
        let mut lexed = lex(text);
        for token in lexed.tokens.iter_mut().filter(|token| token.kind == Kind::Ident) {
            let word = &text[token.start as usize..token.end as usize];
            if word.starts_with('$') && written.named(word).is_none() {
                if lexed.mistakes.len() < 2 * MAX_ERRORS {
                    lexed.mistakes.push(written.unknown(word, token.start));
                }
                token.kind = Kind::Bad;
            }
        }
        Parser {
            text,
            written,
            tokens: lexed.tokens,
            comments: lexed.comments,
            comment_at: 0,
            at: 0,
            begin: 0,
            parens: 0,
            tree: Tree::default(),
            mistakes: lexed.mistakes,
            function: 0,
            told: 0,
            unknown: None,
            reads_over: false,
            declared: None,
        }
    }

    /// The token that comes next; at the end, again and again the end.
    pub(super) fn peek(&self) -> Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + count).min(last)]
    }

    pub(super) fn source(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// A word as it is meant: with the ref that a `$name` stands for.
    pub(super) fn word(&self, token: Token) -> Cow<'t, str> {
        let source = self.source(token);
        self.written.meant(source).map_or(Cow::Borrowed(source), |of| Cow::Owned(of.to_string()))
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Whether the next token follows the last one without a blank.
    pub(super) fn adjacent(&self, count: usize) -> bool {
        let index = self.at + count;
        index > 0 && index < self.tokens.len() && self.tokens[index - 1].end == self.tokens[index].start
    }

    pub(super) fn is_punct(&self, count: usize, byte: u8) -> bool {
        self.ahead(count).kind == Kind::Punct(byte)
    }

    pub(super) fn is_word(&self, count: usize, word: &str) -> bool {
        let token = self.ahead(count);
        token.kind == Kind::Ident && self.source(token) == word
    }

    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.is_punct(0, byte);
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Whether the line ends here, or the text does.
    pub(super) fn line_ends(&self) -> bool {
        let token = self.peek();
        token.kind == Kind::End || (self.parens == 0 && token.line_start)
    }

    pub(super) fn expect(&mut self, byte: u8) -> Parsed<Token> {
        if self.is_punct(0, byte) {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{}`", byte as char)))
        }
    }

    pub(super) fn note(&mut self, mistake: Mistake) {
        // What is broken here often breaks the same place again.
        let again =
            self.mistakes.last().is_some_and(|last| last.at == mistake.at && last.code == mistake.code);
        if !again && self.has_room() {
            self.mistakes.push(mistake);
        }
    }

    /// Whether another mistake would be noted: finding out what is near costs more than noting it.
    pub(super) fn has_room(&self) -> bool {
        self.mistakes.len() < 2 * MAX_ERRORS
    }

    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Ident
            | Kind::Int
            | Kind::Float
            | Kind::Str
            | Kind::Bytes
            | Kind::Punct(_)
            | Kind::Arrow
            | Kind::PathSep
            | Kind::Bad => {
                let shown: String = self.source(token).chars().take(40).collect();
                format!("`{shown}`")
            }
        }
    }

    /// Notes that something else was expected here.
    pub(super) fn unexpected(&mut self, expected: &str) -> Skip {
        let token = self.peek();
        if token.kind == Kind::Bad {
            // Told by the lexer.
            return Skip;
        }
        let line_end =
            token.line_start && token.kind != Kind::End && self.parens == 0 && self.at > self.begin;
        let found = if line_end { "the end of the line".to_owned() } else { self.describe(token) };
        let at = if line_end { self.tokens[self.at - 1].end } else { token.start };
        let message = format!("expected {expected}, found {found}");
        self.note(Mistake::new(code::SYNTAX, at, message).expected(expected).found(found));
        Skip
    }

    /// Goes to the first token of a line after that of token `from` that stands at this level of braces, or to the
    /// brace that closes it.
    pub(super) fn skip_line(&mut self, from: usize) {
        self.parens = 0;
        let mut told = from;
        loop {
            let token = self.peek();
            while told < self.at {
                if self.tokens[told].kind == Kind::Ident {
                    let word = self.source(self.tokens[told]);
                    self.tree.broken.insert(word.into());
                }
                told += 1;
            }
            if token.kind == Kind::End || (token.line_start && self.at > from) {
                return;
            }
            if token.kind == Kind::Punct(b'}') && self.at > from {
                return;
            }
            let closed = token.kind == Kind::Punct(b'{') && (token.partner as usize) < self.tokens.len();
            self.at = if closed { token.partner as usize + 1 } else { self.at + 1 };
        }
    }

    /// The comments up to the next token, those that end the line before it included.
    pub(super) fn take_comments(&mut self) -> Option<Arc<str>> {
        self.take_while(|_| true)
    }

    /// The comment at the end of the line that was just read, and those inside of it.
    pub(super) fn take_line_comment(&mut self) -> Option<Arc<str>> {
        let at = self.at;
        self.take_while(|comment| comment.trailing || (comment.before as usize) < at)
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(&Comment) -> bool) -> Option<Arc<str>> {
        let mut lines: Option<String> = None;
        while let Some(comment) = self.comments.get(self.comment_at)
            && comment.before as usize <= self.at
            && wanted(comment)
        {
            let line = self.comment_text(*comment);
            match &mut lines {
                None => lines = Some(line.to_owned()),
                Some(lines) => {
                    lines.push('\n');
                    lines.push_str(line);
                }
            }
            self.comment_at += 1;
        }
        lines.map(Into::into)
    }

    /// The next comment before the current token, if there is one.
    pub(super) fn next_comment(&mut self) -> Option<Comment> {
        let comment = *self.comments.get(self.comment_at)?;
        if comment.before as usize > self.at {
            return None;
        }
        self.comment_at += 1;
        Some(comment)
    }

    /// What a comment says: without the one blank after the `;`, nor the `\` that keeps `run:` from being a run.
    pub(super) fn comment_text(&self, comment: Comment) -> &'t str {
        let line = &self.text[comment.start as usize..comment.end as usize];
        let line = line.strip_prefix(' ').unwrap_or(line);
        line.strip_prefix('\\').unwrap_or(line)
    }

    /// What a `; run:` comment says.
    pub(super) fn run_text(&self, comment: Comment) -> Option<&'t str> {
        let line = &self.text[comment.start as usize..comment.end as usize];
        let rest = line.strip_prefix(' ').unwrap_or(line).strip_prefix("run:")?;
        Some(rest.strip_prefix(' ').unwrap_or(rest))
    }

    /// `#n12` right after what was read, without a blank: after one it belongs to what follows, as in `block #g5 {`.
    pub(super) fn adjacent_tag(&mut self) -> Parsed<Option<Tag>> {
        if self.adjacent(0) { self.tag() } else { Ok(None) }
    }

    /// `#n12`.
    pub(super) fn tag(&mut self) -> Parsed<Option<Tag>> {
        if !self.is_punct(0, b'#') {
            return Ok(None);
        }
        let at = self.advance().start;
        let token = self.peek();
        if token.kind == Kind::Ident && self.adjacent(0) {
            match self.word(token).parse::<Ref>() {
                Ok(of) => {
                    self.advance();
                    return Ok(Some(Tag { of, at }));
                }
                Err(error) => {
                    let message = error.to_string();
                    self.note(Mistake::new(code::SYNTAX, token.start, message).expected("a ref"));
                    self.advance();
                    return Err(Skip);
                }
            }
        }
        Err(self.unexpected("a ref"))
    }

    /// A name, bare or in quotes, with the ref that may follow. Names like refs are told only where they are given.
    pub(super) fn segment(&mut self, expected: &str) -> Parsed<Segment> {
        let token = self.peek();
        let (name, quoted): (Arc<str>, bool) = match token.kind {
            Kind::Ident => (self.word(token).into(), false),
            Kind::Str => (self.text_literal(token)?, true),
            Kind::Int
            | Kind::Float
            | Kind::Bytes
            | Kind::Punct(_)
            | Kind::Arrow
            | Kind::PathSep
            | Kind::Bad
            | Kind::End => return Err(self.unexpected(expected)),
        };
        self.advance();
        let tag = self.adjacent_tag()?;
        Ok(Segment { name, quoted, tag, at: token.start })
    }

    /// A name that is given to an entity; one that looks like a ref is refused.
    pub(super) fn given_name(&mut self, expected: &str) -> Parsed<Segment> {
        let segment = self.segment(expected)?;
        self.refuse_ref_name(&segment.name, segment.at);
        Ok(segment)
    }

    pub(super) fn refuse_ref_name(&mut self, name: &str, at: u32) {
        if looks_like_ref(name) {
            let message = format!("`{name}` looks like a ref and cannot be a name");
            let mistake = Mistake::new(code::NAME_LIKE_REF, at, message).found(name).expected(NAME_RULE);
            self.note(mistake.candidates(vec![format!("{name}_")]));
            self.tree.like_refs.insert(name.into());
        }
    }

    /// Refuses the name of a module that its path would not tell from modules in each other.
    pub(super) fn refuse_path_name(&mut self, name: &str, at: u32) {
        if name.contains("::") {
            let message = format!("`{name}` is a path and cannot be the name of a module");
            self.note(Mistake::new(code::BAD_NAME, at, message).found(name).expected(MODULE_NAME_RULE));
        }
    }

    /// The text of a `"..."` token.
    pub(super) fn text_literal(&mut self, token: Token) -> Parsed<Arc<str>> {
        let source = self.source(token);
        match unescape_text(&source[1..source.len() - 1]) {
            Ok(text) => Ok(text.into()),
            Err(reason) => {
                self.note(Mistake::new(code::BAD_LITERAL, token.start, reason));
                self.advance();
                Err(Skip)
            }
        }
    }

    /// `"..."`.
    pub(super) fn quoted(&mut self, expected: &str) -> Parsed<Arc<str>> {
        let token = self.peek();
        if token.kind != Kind::Str {
            return Err(self.unexpected(expected));
        }
        let text = self.text_literal(token)?;
        self.advance();
        Ok(text)
    }

    /// A literal of any kind.
    pub(super) fn literal(&mut self) -> Parsed<Literal> {
        let token = self.peek();
        match token.kind {
            Kind::Ident | Kind::Int | Kind::Float | Kind::Str | Kind::Bytes => {}
            Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::Bad | Kind::End => {
                return Err(self.unexpected("a literal"));
            }
        }
        self.advance();
        match Literal::read(token.kind, self.source(token)) {
            Ok(literal) => Ok(literal),
            Err(reason) => {
                let found = self.describe(token);
                self.note(Mistake::new(code::BAD_LITERAL, token.start, reason).found(found));
                Err(Skip)
            }
        }
    }

    /// A number that fits 32 bits.
    pub(super) fn small_number(&mut self, expected: &str) -> Parsed<u32> {
        let token = self.peek();
        if token.kind != Kind::Int {
            return Err(self.unexpected(expected));
        }
        let value = self.literal()?.unsigned().and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| {
            let message = format!("{} is out of range for {expected}", self.describe(token));
            self.note(Mistake::new(code::BAD_LITERAL, token.start, message));
            Skip
        })
    }
}
