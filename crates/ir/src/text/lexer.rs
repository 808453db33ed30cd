//! Tokens with their places. Total: every text has tokens, malformed parts become [`Kind::Bad`].

use crate::text::error::{Mistake, code};
use crate::text::foreign::sign_length;
use crate::text::likely;

/// What a token is; its text is looked up in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `[A-Za-z_][A-Za-z0-9_]*`, or a name with a `$` before it.
    Ident,
    /// Decimal or hexadecimal, with a sign if there is one.
    Int,
    /// With a fraction or an exponent; `-inf`, `-nan`, `nan:0x1`, `-nan:0x1`.
    Float,
    /// `"..."`.
    Str,
    /// `b"..."` or `hex"..."`.
    Bytes,
    /// A single character.
    Punct(u8),
    /// `->`.
    Arrow,
    /// `::`.
    PathSep,
    /// Something that cannot be read.
    Bad,
    /// The end of the text; the last token.
    End,
}

/// A token: half-open range of bytes in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether it is the first of its line.
    pub(super) line_start: bool,
    /// For brackets: the index of the other one; [`NO_PARTNER`] without.
    pub(super) partner: u32,
}

pub(super) const NO_PARTNER: u32 = u32::MAX;

/// A comment: from after the `;` to the end of its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the token that follows.
    pub(super) before: u32,
    /// Whether a token stands before it on its line.
    pub(super) trailing: bool,
}

#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    pub(super) mistakes: Vec<Mistake>,
}

/// What a `;` behind something on its line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Semicolons {
    /// The beginning of a comment, whatever stands in it.
    Comments,
    /// A mistake, if brackets are closed behind it that are open before it: `{ return a; }`, as other languages write.
    Ends,
}

/// Cuts a text into tokens. Where brackets stay open because a `;` hides what closes them, that is told, and what stands
/// behind it is read.
pub(super) fn lex(text: &str) -> Lexed {
    let lexed = cut(text, Semicolons::Comments);
    let open = lexed.unpaired();
    if open == 0 {
        return lexed;
    }
    let other = cut(text, Semicolons::Ends);
    if other.unpaired() < open { other } else { lexed }
}

fn cut(text: &str, semicolons: Semicolons) -> Lexed {
    let mut lexed = Lexed::default();
    if text.len() >= u32::MAX as usize {
        lexed.mistakes.push(Mistake::new(code::TOO_LARGE, 0, "the text is larger than 4 GiB"));
        lexed.tokens.push(Token { kind: Kind::End, start: 0, end: 0, line_start: true, partner: NO_PARTNER });
        return lexed;
    }
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: mark(text),
        line_start: true,
        lexed,
        semicolons,
        hidden_to: 0,
        open: Vec::new(),
    };
    while lexer.step() {}
    lexer.lexed.pair_brackets();
    lexer.lexed
}

/// The length of the mark of UTF-8 that a text may begin with, which is no part of it.
pub(super) fn mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line_start: bool,
    lexed: Lexed,
    semicolons: Semicolons,
    /// Where the bracket stands that is closed behind a `;` and was opened before it.
    hidden_to: usize,
    /// The brackets that are open, as they come.
    open: Vec<u8>,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let (start, end) = (self.at, self.at + length);
        if let Kind::Punct(byte) = kind {
            match byte {
                b'(' | b'[' | b'{' => self.open.push(byte),
                b')' | b']' | b'}' => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        self.lexed.tokens.push(Token {
            kind,
            start: start as u32,
            end: end as u32,
            line_start: self.line_start,
            partner: NO_PARTNER,
        });
        self.line_start = false;
        self.at = end;
    }

    fn bad(&mut self, length: usize, code: &'static str, message: &str) {
        let found: String = self.text[self.at..self.at + length].chars().take(40).collect();
        self.lexed.mistakes.push(Mistake::new(code, self.at as u32, message).found(found));
        self.push(Kind::Bad, length);
    }

    /// Reads one token or blank; false at the end.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else {
            self.push(Kind::End, 0);
            return false;
        };
        match byte {
            b'\n' => {
                self.line_start = true;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b';' if self.hides() => self.foreign_end(),
            b';' => self.comment(),
            b'/' if self.byte(1) == b'/' => self.foreign_comment("//"),
            b'/' if self.byte(1) == b'*' => self.foreign_comment("/*"),
            // A ref would stand right behind it.
            b'#' if matches!(self.byte(1), b' ' | b'\t' | b'\r' | b'\n' | 0) => self.foreign_comment("#"),
            b'"' => self.quoted(Kind::Str, 0),
            b'0'..=b'9' => self.number(0),
            b'-' if self.byte(1) == b'>' => self.push(Kind::Arrow, 2),
            b'-' if self.byte(1).is_ascii_digit() => self.number(1),
            b'-' if self.byte(1).is_ascii_alphabetic() => {
                let word = self.word_length(1);
                match &self.bytes[self.at + 1..self.at + 1 + word] {
                    b"inf" => self.push(Kind::Float, 4),
                    b"nan" => {
                        let payload = self.payload_length(4);
                        self.push(Kind::Float, 4 + payload);
                    }
                    _ => self.bad(1 + word, code::BAD_LITERAL, "malformed number"),
                }
            }
            b':' if self.byte(1) == b':' => self.push(Kind::PathSep, 2),
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'.' | b'#'
            | b'^' => self.push(Kind::Punct(byte), 1),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'$' => self.dollar(),
            _ => {
                let rest = &self.text[self.at..];
                let length =
                    sign_length(rest).or_else(|| rest.chars().next().map(char::len_utf8)).unwrap_or(1);
                let message = format!("unexpected `{}`", rest[..length].escape_debug());
                self.bad(length, code::SYNTAX, &message);
                let likely = rest.chars().next().map_or_else(Vec::new, likely::infix);
                if byte == b'\''
                    && let Some(mistake) = self.lexed.mistakes.last_mut()
                {
                    mistake.expected.push("a text in double quotes: `\"a\"`".to_owned());
                }
                if let (Some(mistake), false) = (self.lexed.mistakes.last_mut(), likely.is_empty()) {
                    // Whoever writes one has another language in mind.
                    mistake
                        .expected
                        .push("an operator in front of its operands: `(add.i64 a, b)`".to_owned());
                    mistake.candidates = likely;
                }
            }
        }
        true
    }

    fn comment(&mut self) {
        let start = self.at + 1;
        let length = self.bytes[start..].iter().position(|b| *b == b'\n');
        let mut end = length.map_or(self.bytes.len(), |length| start + length);
        self.at = end;
        if self.bytes[start..end].ends_with(b"\r") {
            end -= 1;
        }
        self.lexed.comments.push(Comment {
            start: start as u32,
            end: end as u32,
            before: self.lexed.tokens.len() as u32,
            trailing: !self.line_start,
        });
    }

    /// Whether the `;` that comes next hides something that closes what is open.
    fn hides(&mut self) -> bool {
        if self.semicolons == Semicolons::Comments {
            return false;
        }
        if self.at >= self.hidden_to && !self.line_start {
            let rest = &self.bytes[self.at..];
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or(rest);
            self.hidden_to = closing(line).map_or(0, |at| self.at + at);
        }
        self.at < self.hidden_to
    }

    /// `;` between two statements or two parameters.
    fn foreign_end(&mut self) {
        if matches!(self.open.last(), Some(b'(' | b'[')) {
            self.told_once("`;` begins a comment: parts of a list are separated by `,`", "`,`", ";");
            self.push(Kind::Punct(b','), 1);
        } else {
            let message = "`;` begins a comment: what stands behind it belongs on a line of its own";
            self.told_once(message, "the end of the line", ";");
            self.at += 1;
            self.line_start = true;
        }
    }

    /// Tells a mistake at its first place only, for the others are the same.
    fn told_once(&mut self, message: &'static str, expected: &str, found: &str) {
        if !self.lexed.mistakes.iter().any(|mistake| mistake.message == message) {
            let mistake = Mistake::new(code::SYNTAX, self.at as u32, message);
            self.lexed.mistakes.push(mistake.expected(expected).found(found));
        }
    }

    /// `// ..`, `# ..` or `/* .. */`.
    fn foreign_comment(&mut self, sign: &str) {
        self.told_once("a comment begins with `;`", "`;`", sign);
        let rest = &self.text[self.at..];
        let end = match sign {
            "/*" => rest.find("*/").map(|at| at + "*/".len()),
            _ => rest.find('\n'),
        };
        let skipped = &rest[..end.unwrap_or(rest.len())];
        self.line_start |= skipped.contains('\n');
        self.at += skipped.len();
    }

    fn word_length(&self, from: usize) -> usize {
        let rest = &self.bytes[self.at + from..];
        rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(rest.len())
    }

    /// The length of `:0x` and digits, if they follow.
    fn payload_length(&self, from: usize) -> usize {
        let rest = &self.bytes[(self.at + from).min(self.bytes.len())..];
        if rest.starts_with(b":0x") && rest.get(3).is_some_and(u8::is_ascii_hexdigit) {
            3 + rest[3..].iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(rest.len() - 3)
        } else {
            0
        }
    }

    fn word(&mut self) {
        let length = self.word_length(0);
        match (&self.bytes[self.at..self.at + length], self.byte(length)) {
            (b"b", b'"') | (b"hex", b'"') => self.quoted(Kind::Bytes, length),
            (b"nan", b':') if self.payload_length(3) > 0 => {
                let payload = self.payload_length(3);
                self.push(Kind::Float, 3 + payload);
            }
            _ => self.push(Kind::Ident, length),
        }
    }

    fn dollar(&mut self) {
        let name = &self.text[self.at + 1..];
        match name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len()) {
            0 => self.bad(1, code::SYNTAX, "expected a name right after `$`"),
            length => self.push(Kind::Ident, 1 + length),
        }
    }

    fn quoted(&mut self, kind: Kind, prefix: usize) {
        let mut length = prefix + 1;
        loop {
            match self.bytes.get(self.at + length) {
                None | Some(b'\n') => return self.bad(length, code::BAD_LITERAL, "the text does not end"),
                Some(b'"') => return self.push(kind, length + 1),
                Some(b'\\') if !matches!(self.byte(length + 1), 0 | b'\n') => {
                    // Whole characters, so that slices stay on their borders.
                    let rest = &self.text[self.at + length + 1..];
                    length += 1 + rest.chars().next().map_or(0, char::len_utf8);
                }
                Some(_) => length += 1,
            }
        }
    }

    fn number(&mut self, sign: usize) {
        let digits = |from: usize, of: fn(&u8) -> bool| {
            let rest = &self.bytes[(self.at + from).min(self.bytes.len())..];
            rest.iter().position(|b| !of(b) && *b != b'_').unwrap_or(rest.len())
        };
        let after_dot = self.lexed.tokens.last().is_some_and(|token| {
            token.kind == Kind::Punct(b'.') && token.end as usize == self.at && sign == 0
        });
        let (mut length, mut kind) = (sign, Kind::Int);
        if self.byte(sign) == b'0' && matches!(self.byte(sign + 1), b'x' | b'X') && !after_dot {
            length += 2;
            length += digits(length, u8::is_ascii_hexdigit);
        } else {
            length += digits(length, u8::is_ascii_digit);
            if !after_dot && self.byte(length) == b'.' && self.byte(length + 1).is_ascii_digit() {
                kind = Kind::Float;
                length += 1 + digits(length + 1, u8::is_ascii_digit);
            }
            let exponent = match (self.byte(length), self.byte(length + 1), self.byte(length + 2)) {
                (b'e' | b'E', b'0'..=b'9', _) => 1,
                (b'e' | b'E', b'+' | b'-', b'0'..=b'9') => 2,
                _ => 0,
            };
            if exponent > 0 && !after_dot {
                kind = Kind::Float;
                length += exponent + digits(length + exponent, u8::is_ascii_digit);
            }
        }
        if self.byte(length).is_ascii_alphabetic() {
            length += self.word_length(length);
            return self.bad(length, code::BAD_LITERAL, "malformed number");
        }
        self.push(kind, length);
    }
}

/// Where a bracket is closed that is not opened before.
fn closing(line: &[u8]) -> Option<usize> {
    let mut open = 0_usize;
    line.iter().position(|byte| match byte {
        b'(' | b'[' | b'{' => {
            open += 1;
            false
        }
        b')' | b']' | b'}' if open == 0 => true,
        b')' | b']' | b'}' => {
            open -= 1;
            false
        }
        _ => false,
    })
}

impl Lexed {
    /// How many brackets have no other one.
    fn unpaired(&self) -> usize {
        let bracket = |kind: Kind| matches!(kind, Kind::Punct(b'(' | b')' | b'[' | b']' | b'{' | b'}'));
        self.tokens.iter().filter(|token| bracket(token.kind) && token.partner == NO_PARTNER).count()
    }

    /// Finds the other bracket for each one that has it.
    fn pair_brackets(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.tokens.len() {
            let Kind::Punct(byte) = self.tokens[index].kind else { continue };
            let opening = match byte {
                b'(' | b'{' | b'[' => {
                    open.push(index);
                    continue;
                }
                b')' => b'(',
                b'}' => b'{',
                b']' => b'[',
                _ => continue,
            };
            // Braces bound the damage of a parenthesis that was never closed.
            if byte == b'}' {
                while open.last().is_some_and(|at| self.tokens[*at].kind != Kind::Punct(b'{')) {
                    open.pop();
                }
            }
            if let Some(at) = open.pop_if(|at| self.tokens[*at].kind == Kind::Punct(opening)) {
                self.tokens[at].partner = index as u32;
                self.tokens[index].partner = at as u32;
            }
        }
    }
}
