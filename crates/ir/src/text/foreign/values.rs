//! Expressions of other languages: what is written with signs between values.

use crate::text::cursor::Parser;
use crate::text::foreign::known::Known;
use crate::text::lexer::{Kind, NO_PARTNER};
use crate::text::likely;
use crate::text::literal::WORDS;
use crate::types::Scalar;

/// A sign that stands between two values, and the operators that it is by the type of these; empty where it is none.
#[derive(Debug)]
pub(super) struct Sign {
    /// How others write it.
    pub(super) sign: &'static str,
    /// How strongly it binds.
    power: u8,
    pub(super) integer: &'static str,
    pub(super) float: &'static str,
    pub(super) boolean: &'static str,
    pub(super) text: &'static str,
    /// Whether its value is a `bool`, whatever it looks at.
    pub(super) compares: bool,
}

const fn sign(
    sign: &'static str,
    power: u8,
    [integer, float, boolean, text]: [&'static str; 4],
    compares: bool,
) -> Sign {
    Sign { sign, power, integer, float, boolean, text, compares }
}

/// Those that begin with others come before these.
pub(super) const SIGNS: &[Sign] = &[
    sign("||", 1, ["", "", "or", ""], true),
    sign("or", 1, ["", "", "or", ""], true),
    sign("&&", 2, ["", "", "and", ""], true),
    sign("and", 2, ["", "", "and", ""], true),
    sign("===", 3, ["eq", "eq", "eq", "string.eq"], true),
    sign("!==", 3, ["ne", "ne", "ne", ""], true),
    sign("==", 3, ["eq", "eq", "eq", "string.eq"], true),
    sign("!=", 3, ["ne", "ne", "ne", ""], true),
    sign("<=", 4, ["le_s", "le", "", ""], true),
    sign(">=", 4, ["ge_s", "ge", "", ""], true),
    sign("<<", 8, ["shl", "", "", ""], false),
    sign(">>", 8, ["shr_s", "", "", ""], false),
    sign("<", 4, ["lt_s", "lt", "", ""], true),
    sign(">", 4, ["gt_s", "gt", "", ""], true),
    sign("|", 5, ["or", "", "or", ""], false),
    sign("^", 6, ["xor", "", "xor", ""], false),
    sign("&", 7, ["and", "", "and", ""], false),
    sign("+", 9, ["add", "add", "", "string.concat"], false),
    sign("-", 9, ["sub", "sub", "", ""], false),
    sign("*", 10, ["mul", "mul", "", ""], false),
    sign("/", 10, ["div_s", "div", "", ""], false),
    sign("%", 10, ["rem_s", "", "", ""], false),
];

/// Signs that set what stands before them.
const SETTING: [&str; 9] = ["++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|="];

/// Binds more strongly than any sign between two values.
const TIGHT: u8 = 11;
/// How deep an expression may nest.
const DEPTH: usize = 24;
/// How many expressions are tried for one line: what is in parentheses is tried as a whole, and then part by part.
const TRIES: usize = 1_000;

/// The sign of other languages that a text begins with: its length; none, if it begins with none.
pub(in crate::text) fn sign_length(text: &str) -> Option<usize> {
    let signs = SIGNS.iter().map(|sign| sign.sign).chain(SETTING);
    signs.filter(|sign| text.starts_with(sign)).map(str::len).max()
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// What is called so.
    Name(String),
    /// A literal as it is written here.
    Literal(Kind, String),
    /// A sign between two.
    Between(&'static Sign, Box<Value>, Box<Value>),
    /// `!c`.
    Not(Box<Value>),
    /// `-x`.
    Negative(Box<Value>),
    /// `p.x`.
    Field(Box<Value>, String),
    /// `a[i]`.
    Index(Box<Value>, Box<Value>),
    /// `f(x)`.
    Call(String, Vec<Value>),
    /// `x.f(y)`.
    Method(Box<Value>, String, Vec<Value>),
    /// `P { x: 1 }`.
    Struct(String, Vec<(String, Value)>),
    /// `[1, 2]`.
    List(Vec<Value>),
    /// `Shape.square`, `Shape::square(2)`.
    Variant(String, String, Vec<Value>),
    /// `c ? a : b`.
    Choice(Box<[Value; 3]>),
    /// An operator as it is written here, and the token that it begins at.
    Ours(String, usize),
}

/// Reading of an expression.
#[derive(Debug)]
pub(super) struct Reading {
    /// The token that comes next.
    pub(super) at: usize,
    /// The token that it ends before at the latest.
    pub(super) end: usize,
    /// Whether something in it is not written so here.
    pub(super) foreign: bool,
    depth: usize,
    /// How many expressions may still be tried.
    left: usize,
}

impl Reading {
    pub(super) fn new(at: usize, end: usize) -> Reading {
        Reading { at, end, foreign: false, depth: 0, left: TRIES }
    }

    /// A reading of a part.
    pub(super) fn inner(&self, at: usize, end: usize) -> Reading {
        Reading { at, end, foreign: false, depth: self.depth + 1, left: self.left }
    }

    /// Counts what the reading of a part has tried.
    pub(super) fn spend(&mut self, inner: &Reading) {
        self.left = inner.left;
    }
}

impl Parser<'_> {
    /// The expression that begins here; `None` for what is none.
    pub(super) fn foreign_value(&mut self, of: &mut Reading) -> Option<Value> {
        self.bound_value(of, 0)
    }

    fn bound_value(&mut self, of: &mut Reading, power: u8) -> Option<Value> {
        if of.depth >= DEPTH || of.left == 0 {
            return None;
        }
        (of.depth, of.left) = (of.depth + 1, of.left - 1);
        let mut left = self.prefixed(of)?;
        loop {
            if let Some(right) = self.glued(of).filter(|_| power < 9) {
                // `n-1` and `n -m` are cut before their sign.
                of.at += 1;
                of.foreign = true;
                let minus = SIGNS.iter().find(|sign| sign.sign == "-")?;
                left = Value::Between(minus, left.into(), right.into());
            } else if let Some((sign, count)) =
                self.sign_at(of.at, of.end).filter(|(sign, _)| sign.power > power)
            {
                of.at += count;
                of.foreign = true;
                let right = self.bound_value(of, sign.power)?;
                left = Value::Between(sign, left.into(), right.into());
            } else if power == 0 && self.stands(of.at, of.end, "?") {
                of.at += 1;
                of.foreign = true;
                let then = self.bound_value(of, 0)?;
                if !self.stands(of.at, of.end, ":") {
                    return None;
                }
                of.at += 1;
                let other = self.bound_value(of, 0)?;
                left = Value::Choice(Box::new([left, then, other]));
            } else {
                of.depth -= 1;
                return Some(left);
            }
        }
    }

    /// Whether the next token is this one.
    pub(super) fn stands(&self, at: usize, end: usize, source: &str) -> bool {
        at < end && self.source(self.tokens[at]) == source
    }

    /// The sign between two values that stands here, and its tokens.
    pub(super) fn sign_at(&self, at: usize, end: usize) -> Option<(&'static Sign, usize)> {
        let first = self.tokens[at.min(self.tokens.len() - 1)];
        let rest = &self.text[first.start as usize..];
        SIGNS.iter().filter(|sign| rest.starts_with(sign.sign)).find_map(|sign| {
            let stop = first.start + sign.sign.len() as u32;
            let count = self.tokens[at..end.max(at)].iter().position(|token| token.end >= stop)? + 1;
            let is_word = first.kind == Kind::Ident;
            let typed = self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Punct(b'.'));
            let fits = self.tokens[at + count - 1].end == stop && !(is_word && typed);
            let signs = self.tokens[at..at + count]
                .iter()
                .all(|token| is_word || matches!(token.kind, Kind::Punct(_) | Kind::Bad));
            (fits && signs).then_some((sign, count))
        })
    }

    /// A value with its minus before it, without a blank between: the value without the minus.
    fn glued(&self, of: &Reading) -> Option<Value> {
        let token = *self.tokens[..of.end].get(of.at)?;
        let rest = self.source(token).strip_prefix('-').filter(|rest| !rest.is_empty())?;
        match token.kind {
            Kind::Int | Kind::Float => Some(Value::Literal(token.kind, rest.to_owned())),
            Kind::Bad if rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                Some(Value::Name(rest.to_owned()))
            }
            _ => None,
        }
    }

    fn prefixed(&mut self, of: &mut Reading) -> Option<Value> {
        let token = *self.tokens[..of.end].get(of.at)?;
        let typed = self.stands(of.at + 1, of.end, ".");
        match (token.kind, self.source(token)) {
            (Kind::Bad, "!") | (Kind::Ident, "not") if !typed => {
                (of.at, of.foreign) = (of.at + 1, true);
                Some(Value::Not(self.bound_value(of, TIGHT)?.into()))
            }
            (Kind::Bad, "-") => {
                (of.at, of.foreign) = (of.at + 1, true);
                Some(Value::Negative(self.bound_value(of, TIGHT)?.into()))
            }
            (Kind::Bad, _) => {
                let value = self.glued(of)?;
                (of.at, of.foreign) = (of.at + 1, true);
                Some(Value::Negative(value.into()))
            }
            (Kind::Punct(b'('), _) => self.grouped(of),
            (Kind::Punct(b'['), _) => {
                of.foreign = true;
                let elements = self.listed(of)?;
                Some(Value::List(elements))
            }
            (Kind::Int | Kind::Float | Kind::Str | Kind::Bytes, source) => {
                of.at += 1;
                Some(Value::Literal(token.kind, source.to_owned()))
            }
            (Kind::Ident, _) => {
                let first = self.named(of)?;
                self.followed(of, first)
            }
            (Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::End, _) => None,
        }
    }

    /// `( .. )`: an operator of ours, or what stands in parentheses.
    fn grouped(&mut self, of: &mut Reading) -> Option<Value> {
        let close = self.tokens[of.at].partner;
        let close = (close != NO_PARTNER && (close as usize) < of.end).then_some(close as usize)?;
        let inner = of.at + 1;
        if self.trying(inner, |this| this.operator_ahead().is_some()) {
            let text = self.rewritten(inner, close, None, of)?;
            of.at = close + 1;
            return self.followed(of, Value::Ours(text, inner));
        }
        let end = std::mem::replace(&mut of.end, close);
        of.at = inner;
        let value = self.bound_value(of, 0);
        of.end = end;
        if of.at != close {
            return None;
        }
        of.at = close + 1;
        let value = value?;
        self.followed(of, value)
    }

    /// The values between a bracket and its other one.
    fn listed(&mut self, of: &mut Reading) -> Option<Vec<Value>> {
        let close = self.tokens[of.at].partner;
        let close = (close != NO_PARTNER && (close as usize) < of.end).then_some(close as usize)?;
        let end = std::mem::replace(&mut of.end, close);
        of.at += 1;
        let mut values = Vec::new();
        while of.at < close {
            let Some(value) = self.bound_value(of, 0) else { break };
            values.push(value);
            if self.stands(of.at, close, ",") {
                of.at += 1;
            } else {
                break;
            }
        }
        of.end = end;
        let whole = of.at == close;
        of.at = close + 1;
        whole.then_some(values)
    }

    /// What begins with a word.
    fn named(&mut self, of: &mut Reading) -> Option<Value> {
        let start = of.at;
        let operator = self.trying(start, |this| {
            this.operator_ahead().map(|_| (this.head().is_ok(), this.at, this.adjacent(0)))
        });
        if let Some((read, at, adjacent)) = operator {
            if !(read && adjacent && self.stands(at, of.end, "(")) {
                return None;
            }
            let close = self.tokens[at].partner;
            let close = (close != NO_PARTNER && (close as usize) < of.end).then_some(close as usize)?;
            let text = self.rewritten(start, close + 1, None, of)?;
            of.at = close + 1;
            return Some(Value::Ours(text, start));
        }
        let word = self.source(self.tokens[start]).to_owned();
        of.at += 1;
        let literal = match word.as_str() {
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            _ => None,
        };
        if let Some(literal) = literal {
            of.foreign = true;
            return Some(Value::Literal(Kind::Ident, literal.to_owned()));
        }
        if WORDS.contains(&word.as_str()) {
            return Some(Value::Literal(Kind::Ident, word));
        }
        if let Some((owner, member)) = likely::constructor(&word).and_then(|operator| {
            operator.strip_prefix("enum.new ")?.rsplit_once('.').filter(|_| self.known(&word).is_none())
        }) {
            let payload = if self.called(of) { self.listed(of)? } else { Vec::new() };
            of.foreign = true;
            return (payload.is_empty() == (member == "none"))
                .then(|| Value::Variant(owner.to_owned(), member.to_owned(), payload));
        }
        let of_fields = self.stands(of.at, of.end, "{")
            && self.tokens.get(of.at + 1).is_some_and(|token| token.kind == Kind::Ident)
            && self.stands(of.at + 2, of.end, ":");
        if of_fields {
            of.foreign = true;
            return self.fields(of, word);
        }
        if self.stands(of.at, of.end, "::")
            && self.tokens.get(of.at + 1).is_some_and(|token| token.kind == Kind::Ident)
        {
            return self.variant(of, word);
        }
        if self.called(of) {
            if !likely::operators_called(&word).is_empty() {
                return None;
            }
            return Some(Value::Call(word, self.listed(of)?));
        }
        Some(Value::Name(word))
    }

    /// Whether operands in parentheses stand right behind a name.
    fn called(&self, of: &Reading) -> bool {
        self.stands(of.at, of.end, "(") && self.tokens[of.at - 1].end == self.tokens[of.at].start
    }

    /// `.member` or `::member` of an enum, with what it carries.
    fn variant(&mut self, of: &mut Reading, owner: String) -> Option<Value> {
        of.foreign = true;
        let member = self.source(*self.tokens[..of.end].get(of.at + 1)?).to_owned();
        of.at += 2;
        let payload = if self.called(of) { self.listed(of)? } else { Vec::new() };
        Some(Value::Variant(owner, member, payload))
    }

    /// `{ x: 1, y: 2 }`, from its brace.
    fn fields(&mut self, of: &mut Reading, name: String) -> Option<Value> {
        let close = self.tokens[of.at].partner;
        let close = (close != NO_PARTNER && (close as usize) < of.end).then_some(close as usize)?;
        let end = std::mem::replace(&mut of.end, close);
        of.at += 1;
        let mut fields = Vec::new();
        while of.at < close && self.stands(of.at + 1, close, ":") {
            let field = self.source(self.tokens[of.at]).to_owned();
            of.at += 2;
            let Some(value) = self.bound_value(of, 0) else { break };
            fields.push((field, value));
            of.at += usize::from(self.stands(of.at, close, ","));
        }
        of.end = end;
        let whole = of.at == close;
        of.at = close + 1;
        whole.then_some(Value::Struct(name, fields))
    }

    /// `.x`, `[i]` and `.f(x)` behind a value.
    fn followed(&mut self, of: &mut Reading, mut value: Value) -> Option<Value> {
        loop {
            let behind = of.at < of.end && self.tokens[of.at - 1].end == self.tokens[of.at].start;
            if behind && self.stands(of.at, of.end, ".") {
                let member = *self.tokens[..of.end].get(of.at + 1)?;
                if let (Kind::Int, Value::Name(name)) = (member.kind, &value) {
                    // An output by its number.
                    value = Value::Name(format!("{name}.{}", self.source(member)));
                    of.at += 2;
                    continue;
                }
                if member.kind != Kind::Ident
                    || self.source(member).to_ascii_lowercase().parse::<Scalar>().is_ok()
                {
                    return None;
                }
                if let Value::Name(name) = &value {
                    match self.known(name) {
                        None if name.starts_with(char::is_uppercase) || self.is_declared(name) => {
                            let owner = name.clone();
                            return self.variant(of, owner);
                        }
                        None if likely::is_namespace(name) => return None,
                        None | Some(Known::Value { .. } | Known::Made(_)) => {}
                    }
                }
                of.foreign = true;
                of.at += 2;
                let member = self.source(member).to_owned();
                value = match self.called(of) {
                    true => Value::Method(value.into(), member, self.listed(of)?),
                    false => Value::Field(value.into(), member),
                };
            } else if behind && self.stands(of.at, of.end, "[") {
                of.foreign = true;
                let mut index = self.listed(of)?;
                let only = index.pop().filter(|_| index.is_empty())?;
                value = Value::Index(value.into(), only.into());
            } else {
                return Some(value);
            }
        }
    }
}
