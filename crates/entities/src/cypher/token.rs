//! A query as words, signs and literals, each with its place.

use super::error::{Fault, Problem};
use super::span::Span;
use crate::validation::shown;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A word as it is written.
    Word(String),
    /// A name between backticks, which is never a keyword.
    Quoted(String),
    Int(i64),
    Float(f64),
    Text(String),
    Parameter(String),
    Sign(&'static str),
    End,
}

impl Token {
    /// Says what it is, for errors.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Word(word) | Self::Quoted(word) => format!("`{}`", shown(word)),
            Self::Int(value) => format!("`{value}`"),
            Self::Float(value) => format!("`{value}`"),
            Self::Text(text) => format!("the text '{}'", shown(text)),
            Self::Parameter(name) => format!("`${}`", shown(name)),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the query".to_owned(),
        }
    }
}

/// Signs, longer ones before those that they begin with.
const SIGNS: [&str; 27] = [
    "<>", "<=", ">=", "!=", "=~", "..", "(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "|", "+", "-", "*",
    "/", "%", "^", "=", "<", ">", "!",
];

/// Returns the tokens of a query; the last one is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push((token, lexer.since(start)));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn since(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn wrong(&self, start: usize, expected: &'static str, found: &str) -> Fault {
        Fault::new(self.since(start), Problem::Syntax { expected: vec![expected], found: found.to_owned() })
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            self.take(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take(|letter| letter != '\n');
            } else if self.rest().starts_with("/*") {
                let start = self.at;
                match self.rest().find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        return Err(self.wrong(
                            start,
                            "`*/` at the end of the comment",
                            "the end of the query",
                        ));
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token, Fault> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        let start = self.at;
        match first {
            '0'..='9' => self.number(),
            '\'' | '"' => self.string(first),
            '`' => self.quoted().map(Token::Quoted),
            '$' => {
                self.at += 1;
                let name = match self.peek() {
                    Some('`') => self.quoted()?,
                    _ => self.take(is_letter).to_owned(),
                };
                match name.is_empty() {
                    true => Err(self.wrong(start, "the name of a parameter", "`$`")),
                    false => Ok(Token::Parameter(name)),
                }
            }
            first if is_letter(first) => Ok(Token::Word(self.take(is_letter).to_owned())),
            first => match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(Token::Sign(sign))
                }
                None => {
                    Err(self.wrong(start, "a word, a literal or a sign of Cypher", &format!("`{first}`")))
                }
            },
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        self.take(|letter| letter.is_ascii_digit());
        let mut float = false;
        let mut following = self.rest().chars();
        // `1..3` is a range.
        if following.next() == Some('.') && following.next().is_some_and(|digit| digit.is_ascii_digit()) {
            float = true;
            self.at += 1;
            self.take(|letter| letter.is_ascii_digit());
        }
        let exponent =
            self.rest().strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if let Some(digits) = exponent
            && digits.starts_with(|digit: char| digit.is_ascii_digit())
        {
            float = true;
            self.at = self.text.len() - digits.len();
            self.take(|letter| letter.is_ascii_digit());
        }
        if self.peek().is_some_and(is_letter) {
            self.take(is_letter);
            return Err(self.wrong(start, "a number", &format!("`{}`", shown(&self.text[start..self.at]))));
        }
        let text = &self.text[start..self.at];
        let token = match float {
            true => text.parse().ok().filter(|value: &f64| value.is_finite()).map(Token::Float),
            false => text.parse().ok().map(Token::Int),
        };
        token.ok_or_else(|| {
            self.wrong(start, "a number that fits 64 bits with a sign", &format!("`{}`", shown(text)))
        })
    }

    fn string(&mut self, quote: char) -> Result<Token, Fault> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            text.push_str(self.take(|letter| letter != quote && letter != '\\'));
            let Some(letter) = self.peek() else {
                return Err(self.wrong(start, "a quote at the end of the text", "the end of the query"));
            };
            let escape = self.at;
            self.at += 1;
            if letter == quote {
                return Ok(Token::Text(text));
            }
            let escaped = self.peek();
            self.at += escaped.map_or(0, char::len_utf8);
            match escaped {
                Some(letter @ ('\\' | '\'' | '"' | '`')) => text.push(letter),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('b') => text.push('\u{8}'),
                Some('f') => text.push('\u{c}'),
                Some('u') => {
                    let digits = self.rest().get(..4).unwrap_or_default();
                    let letter = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                    match letter.filter(|_| digits.chars().all(|digit| digit.is_ascii_hexdigit())) {
                        Some(letter) => text.push(letter),
                        None => {
                            return Err(self.wrong(
                                escape,
                                "four hexadecimal digits of a character",
                                "`\\u`",
                            ));
                        }
                    }
                    self.at += 4;
                }
                other => {
                    let found =
                        other.map_or("the end of the query".to_owned(), |letter| format!("`\\{letter}`"));
                    return Err(self.wrong(
                        escape,
                        "an escape: \\\\ \\' \\\" \\n \\t \\r \\b \\f \\uXXXX",
                        &found,
                    ));
                }
            }
        }
    }

    fn quoted(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut name = String::new();
        loop {
            self.at += 1;
            name.push_str(self.take(|letter| letter != '`'));
            if self.peek().is_none() {
                return Err(self.wrong(start, "a backtick at the end of the name", "the end of the query"));
            }
            self.at += 1;
            // Two of them are one within the name.
            if self.peek() != Some('`') {
                return Ok(name);
            }
            name.push('`');
        }
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
