//! Text to clauses, by recursive descent.
//!
//! What was looked for at a token and was not there is remembered, so that an error lists all that could have stood there.

mod clause;
mod expression;
mod pattern;

use super::Limits;
use super::ast::{Clause, Name};
use super::error::{Fault, Problem};
use super::span::Span;
use super::token::{Token, tokens};

/// Words that are names only between backticks.
const RESERVED: [&str; 38] = [
    "MATCH", "OPTIONAL", "WHERE", "RETURN", "WITH", "UNWIND", "ORDER", "SKIP", "LIMIT", "AS", "AND", "OR",
    "XOR", "NOT", "IN", "IS", "CASE", "WHEN", "THEN", "ELSE", "END", "DISTINCT", "CREATE", "MERGE", "SET",
    "DELETE", "DETACH", "REMOVE", "CALL", "LOAD", "FOREACH", "UNION", "STARTS", "ENDS", "CONTAINS", "NULL",
    "TRUE", "FALSE",
];

/// Words that errors sum up as operators.
const OPERATORS: [&str; 8] = ["IN", "IS", "STARTS", "ENDS", "CONTAINS", "AND", "XOR", "OR"];

/// Most clauses of a query.
const MAX_CLAUSES: usize = 32;
/// Most nodes and edges of all patterns of a query.
const MAX_ELEMENTS: usize = 64;

/// Reads a query.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Vec<Clause>, Fault> {
    if text.len() > limits.text_bytes {
        let problem = Problem::TooLong { limit: limits.text_bytes, unit: "bytes" };
        return Err(Fault::new(Span::default(), problem));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0, tried: Vec::new(), depth: 0, elements: 0, limits };
    parser.query()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// What was looked for at this token.
    tried: Vec<&'static str>,
    depth: usize,
    elements: usize,
    limits: &'a Limits,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Returns the place of the token before this one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        self.tried.clear();
    }

    fn is_word(&self, ahead: usize, keyword: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Sign(found) if *found == sign)
    }

    fn note(&mut self, expected: &'static str) {
        if !self.tried.contains(&expected) {
            self.tried.push(expected);
        }
    }

    fn eat_word(&mut self, keyword: &'static str) -> bool {
        let found = self.is_word(0, keyword);
        match found {
            true => self.advance(),
            false => self.note(keyword),
        }
        found
    }

    fn eat_sign(&mut self, sign: &'static str) -> bool {
        let found = self.is_sign(0, sign);
        match found {
            true => self.advance(),
            false => self.note(sign),
        }
        found
    }

    fn expect_word(&mut self, keyword: &'static str) -> Result<(), Fault> {
        match self.eat_word(keyword) {
            true => Ok(()),
            false => Err(self.wrong()),
        }
    }

    fn expect_sign(&mut self, sign: &'static str) -> Result<(), Fault> {
        match self.eat_sign(sign) {
            true => Ok(()),
            false => Err(self.wrong()),
        }
    }

    /// Returns that none of what was tried is here.
    fn wrong(&mut self) -> Fault {
        let mut expected = std::mem::take(&mut self.tried);
        let found = self.peek().describe();
        let is_keyword = |word: &&str| word.chars().all(|letter| letter.is_ascii_uppercase());
        let keywords: Vec<&str> = expected.iter().copied().filter(is_keyword).collect();
        if expected.contains(&"an operator") {
            expected.retain(|word| !OPERATORS.contains(word));
        }
        let fault = Fault::new(self.span(), Problem::Syntax { expected, found });
        match self.peek() {
            Token::Word(word) => fault.near(word, &keywords),
            _ => fault,
        }
    }

    fn wrong_for(&mut self, expected: &'static str) -> Fault {
        self.note(expected);
        self.wrong()
    }

    fn unsupported<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault::new(self.span(), Problem::Unsupported { what }))
    }

    /// Takes a name of a variable, if one is here.
    fn eat_variable(&mut self) -> Option<Name> {
        let text = match self.peek() {
            Token::Word(word) if !is_reserved(word) => word.clone(),
            Token::Quoted(name) => name.clone(),
            _ => {
                self.note("a variable");
                return None;
            }
        };
        let span = self.span();
        self.advance();
        Some(Name { text, span })
    }

    fn variable(&mut self) -> Result<Name, Fault> {
        match self.eat_variable() {
            Some(name) => Ok(name),
            None => Err(self.wrong()),
        }
    }

    /// Takes a name after a sign that only a name can follow: a keyword is one there.
    fn name(&mut self, expected: &'static str) -> Result<Name, Fault> {
        let (Token::Word(text) | Token::Quoted(text)) = self.peek() else {
            return Err(self.wrong_for(expected));
        };
        let name = Name { text: text.clone(), span: self.span() };
        self.advance();
        Ok(name)
    }

    /// Reads something that may lie in itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        self.check_depth(self.depth)?;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    fn check_depth(&self, depth: usize) -> Result<(), Fault> {
        let limit = self.limits.depth;
        match depth > limit {
            true => Err(Fault::new(self.span(), Problem::TooDeep { limit })),
            false => Ok(()),
        }
    }

    fn count_element(&mut self) -> Result<(), Fault> {
        self.elements += 1;
        match self.elements > MAX_ELEMENTS {
            true => {
                let problem = Problem::TooLong { limit: MAX_ELEMENTS, unit: "nodes and edges in patterns" };
                Err(Fault::new(self.span(), problem))
            }
            false => Ok(()),
        }
    }

    fn source(&self, span: Span) -> String {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
    }
}

fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(word))
}
