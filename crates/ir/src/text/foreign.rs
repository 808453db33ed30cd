//! What lines of other languages are here. For what mistakes say only: nothing of it is ever accepted.
//!
//! A line that cannot be read is looked up among [`FORMS`], and else for expressions with signs between values
//! ([`values`]). If it is one of these, one mistake takes the place of those that were noted in it: the rule that it
//! breaks, with the line as it is written here. Types are those that the text tells ([`known`]); `T` stands for others.

mod blocks;
mod forms;
mod known;
mod values;

use crate::text::cursor::Parser;
use crate::text::error::{MAX_ERRORS, Mistake, code};
use crate::text::foreign::forms::{CASES, FORMS, Form};
use crate::text::foreign::known::{Known, element};
use crate::text::foreign::values::{Reading, SIGNS, Sign, Value};
use crate::text::lexer::{Kind, NO_PARTNER};

pub(super) use forms::{Item, is_item, item};
pub(super) use values::sign_length;

/// Tokens of a line that is looked at, at most.
const MOST_TOKENS: usize = 96;
/// Characters of a line that a mistake shows, at most.
const MOST_SHOWN: usize = 120;

/// A line that was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// The brace that it ends with.
    pub(super) brace: Option<usize>,
    /// Whether a loop begins with it.
    pub(super) loops: bool,
}

/// A line: its tokens without the brace that opens a block.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: usize,
    to: usize,
    brace: Option<usize>,
}

/// What a form binds its names to.
#[derive(Debug)]
enum Bound {
    /// A word.
    Word(String),
    /// What a type or a case is written like.
    Text(String),
    Sign(&'static Sign),
    Value(Value),
}

/// The expressions of a line that are written in another way.
#[derive(Debug, Default)]
struct Found {
    /// The first: what it is, as it is written there, and here.
    first: Option<(Value, String, String)>,
    /// Their places in bytes.
    spans: Vec<(u32, u32)>,
}

impl Parser<'_> {
    /// Tells what the line that begins at a token is here; `None` if it is no known form of another language.
    /// `label` is that of the loop around.
    pub(super) fn foreign_line(&mut self, from: usize, label: Option<&str>) -> Option<Told> {
        let line = self.line_of(from)?;
        if self.told >= MAX_ERRORS {
            return None;
        }
        for form in FORMS {
            if form.opens == line.brace.is_some()
                && let Some(ours) = self.form(form, line, label)
            {
                self.tell_form(form, line, &ours);
                return Some(Told { brace: line.brace, loops: form.loops });
            }
        }
        let mut found = Found::default();
        let mut of = Reading::new(line.from, line.to);
        let text = self.rewriting(line.from, line.to, None, &mut of, &mut found)?;
        let (value, theirs, ours) = found.first.take()?;
        let brace = if line.brace.is_some() { " {" } else { "" };
        let rule = format!("{}: `{theirs}` is `{ours}` here", rule(&value));
        let inside = |at: u32| found.spans.iter().any(|(from, to)| (*from..=*to).contains(&at));
        let (start, end) = self.range(line);
        self.mistakes.retain(|mistake| {
            let elsewhere = !(start..=end).contains(&mistake.at);
            elsewhere || mistake.code != code::SYNTAX && !inside(mistake.at)
        });
        let at = found.spans.first().map_or(start, |(from, _)| *from);
        self.tell(
            Mistake::new(code::SYNTAX, at, rule).expected(shown(&format!("{text}{brace}"))).found(theirs),
        );
        Some(Told { brace: line.brace, loops: false })
    }

    /// As [`Parser::foreign_line`], for a case of a `match`.
    pub(super) fn foreign_case(&mut self, from: usize) -> Option<()> {
        let mut line = self.line_of(from)?;
        if self.told >= MAX_ERRORS || line.brace.is_some() && !self.stands(line.to - 1, line.to, ">") {
            return None;
        }
        if line.to > line.from + 1 && self.stands(line.to - 1, line.to, ",") {
            line.to -= 1;
        }
        let (form, ours) = CASES.iter().find_map(|form| Some((form, self.form(form, line, None)?)))?;
        self.tell_form(form, line, &ours);
        Some(())
    }

    /// How an item of another language begins here, in words and as the line.
    pub(super) fn foreign_head(&self, of: Item) -> (&'static str, String) {
        let rest = &self.text[self.peek().end as usize..];
        let rest = rest[..rest.find('\n').unwrap_or(rest.len())].trim();
        let (name, behind) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        let name = name.trim_end();
        let (rule, form) = match of {
            Item::Function => ("a function begins with `func`", format!("func {rest}")),
            Item::Struct => ("a type begins with `type`", format!("type {name} = struct {behind}")),
            Item::Enum => ("a type begins with `type`", format!("type {name} = enum {behind}")),
            Item::Constant => {
                ("what all functions see is a `global`, with its type", format!("global {rest}"))
            }
            Item::Mutable => {
                ("what functions change is a `global mut`, with its type", format!("global mut {rest}"))
            }
        };
        (rule, shown(&form))
    }

    fn tell_form(&mut self, form: &Form, line: Line, ours: &[String]) {
        let (start, end) = self.range(line);
        self.mistakes.retain(|mistake| !(start..=end).contains(&mistake.at));
        let theirs = shown(&self.text[start as usize..end as usize]);
        let lines: Vec<String> = ours.iter().map(|line| format!("`{line}`")).collect();
        let message = match lines.as_slice() {
            [] | [_] => form.rule.to_owned(),
            [lines @ .., last] => format!("{}: {}, then {last}", form.rule, lines.join(", ")),
        };
        let mut mistake = Mistake::new(code::SYNTAX, start, message).found(theirs);
        if let Some(first) = ours.first() {
            mistake = mistake.expected(first.as_str());
        }
        self.tell(mistake);
    }

    /// Notes what takes the place of other mistakes, however many there are.
    fn tell(&mut self, mistake: Mistake) {
        self.told += 1;
        self.mistakes.push(mistake);
    }

    /// The place of a line in bytes.
    fn range(&self, line: Line) -> (u32, u32) {
        let last = line.brace.unwrap_or_else(|| line.to.saturating_sub(1).max(line.from));
        (self.tokens[line.from].start, self.tokens[last].end)
    }

    /// The line that begins at a token; after a `}`, what stands behind it.
    fn line_of(&self, from: usize) -> Option<Line> {
        let from = from + usize::from(self.tokens[from].kind == Kind::Punct(b'}'));
        let mut at = from;
        let found = |to: usize, brace: Option<usize>| {
            (to > from && to - from <= MOST_TOKENS).then_some(Line { from, to, brace })
        };
        loop {
            let token = *self.tokens.get(at)?;
            if token.kind == Kind::End || token.line_start && at > from {
                return found(at, None);
            }
            let fields = || {
                let named = at > from && self.tokens[at - 1].kind == Kind::Ident;
                named
                    && self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Ident)
                    && self.tokens.get(at + 2).is_some_and(|next| next.kind == Kind::Punct(b':'))
            };
            match token.kind {
                Kind::Punct(b'}') => return found(at, None),
                Kind::Punct(b'{') if !fields() => return found(at, Some(at)),
                Kind::Punct(b'(' | b'[' | b'{') if token.partner == NO_PARTNER => return None,
                Kind::Punct(b'(' | b'[' | b'{') => at = token.partner as usize + 1,
                _ => at += 1,
            }
        }
    }

    /// The lines that stand for one of another language, if it has this form.
    fn form(&mut self, form: &Form, line: Line, label: Option<&str>) -> Option<Vec<String>> {
        let bound = self.bind(form.theirs, line)?;
        form.ours.iter().map(|ours| self.fill(ours, &bound, label)).collect()
    }

    fn bind(&mut self, theirs: &'static str, line: Line) -> Option<Vec<(&'static str, Bound)>> {
        let mut bound = Vec::new();
        let mut at = line.from;
        let mut pieces = theirs.split(' ').peekable();
        while let Some(piece) = pieces.next() {
            let Some(name) = piece.strip_prefix('$') else {
                at += self.spelled(at, line.to, piece)?;
                continue;
            };
            let token = *self.tokens[..line.to].get(at)?;
            let word = || (token.kind == Kind::Ident).then(|| self.source(token).to_owned());
            let value = match name {
                "name" | "field" => Bound::Word(word()?),
                "known" => {
                    let word = word()?;
                    self.known(&word)?;
                    Bound::Word(word)
                }
                "literal" => match self.whole(at, at + 1)? {
                    literal @ Value::Literal(..) => Bound::Value(literal),
                    _ => return None,
                },
                "var" => {
                    let word = word()?;
                    match self.known(&word) {
                        Some(Known::Value { variable: true, .. }) => Bound::Word(word),
                        Some(Known::Value { .. } | Known::Made(_)) | None => return None,
                    }
                }
                "sign" => {
                    let sign = self.source(token).strip_suffix('=')?;
                    Bound::Sign(SIGNS.iter().find(|known| known.sign == sign)?)
                }
                "type" => {
                    let end = self.trying(at, |this| this.type_syntax().ok().map(|_| this.at))?;
                    Bound::Text(self.written(at, end)?)
                }
                _ => {
                    let end = match pieces.peek() {
                        Some(next) => self.before(at, line.to, next)?,
                        None => line.to,
                    };
                    let value = match name {
                        "case" | "rest" => Bound::Text(self.written(at, end)?),
                        _ => Bound::Value(self.whole(at, end)?),
                    };
                    bound.push((name, value));
                    at = end;
                    continue;
                }
            };
            at = match (&value, name) {
                (Bound::Text(_), _) => self.trying(at, |this| this.type_syntax().ok().map(|_| this.at))?,
                (Bound::Word(_) | Bound::Sign(_) | Bound::Value(_), _) => at + 1,
            };
            bound.push((name, value));
        }
        (at == line.to).then_some(bound)
    }

    /// How many tokens spell a word or sign that stands here.
    fn spelled(&self, at: usize, to: usize, piece: &str) -> Option<usize> {
        let first = *self.tokens[..to].get(at)?;
        let stop = first.start + piece.len() as u32;
        let fits = self.text[first.start as usize..].starts_with(piece);
        let count = self.tokens[at..to].iter().position(|token| token.end >= stop)? + 1;
        (fits && self.tokens[at + count - 1].end == stop).then_some(count)
    }

    /// Where a word or sign stands outside of brackets.
    fn before(&self, from: usize, to: usize, piece: &str) -> Option<usize> {
        let mut at = from;
        while at < to {
            if at > from && self.spelled(at, to, piece).is_some() {
                return Some(at);
            }
            let token = self.tokens[at];
            let opens = matches!(token.kind, Kind::Punct(b'(' | b'[' | b'{')) && token.partner != NO_PARTNER;
            at = if opens { token.partner as usize + 1 } else { at + 1 };
        }
        None
    }

    /// Tokens as they are written.
    fn written(&self, from: usize, to: usize) -> Option<String> {
        (from < to)
            .then(|| self.text[self.tokens[from].start as usize..self.tokens[to - 1].end as usize].to_owned())
    }

    /// The value that all of these tokens are: an expression, or an operator with its operands.
    fn whole(&mut self, from: usize, to: usize) -> Option<Value> {
        if from >= to {
            return None;
        }
        let mut of = Reading::new(from, to);
        if let Some(value) = self.foreign_value(&mut of)
            && of.at == to
        {
            return Some(value);
        }
        self.trying(from, |this| this.operator_ahead())?;
        let text = self.rewritten(from, to, None, &mut Reading::new(from, to))?;
        Some(Value::Ours(text, from))
    }

    /// A line of ours with what its names are bound to.
    fn fill(&mut self, ours: &str, bound: &[(&'static str, Bound)], label: Option<&str>) -> Option<String> {
        let mut parts = ours.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            text.push_str(&self.bound(name, bound, label)?);
            text.push_str(rest);
        }
        Some(text)
    }

    fn bound(&mut self, name: &str, bound: &[(&'static str, Bound)], label: Option<&str>) -> Option<String> {
        let of = |name: &str| bound.iter().find(|(known, _)| *known == name).map(|(_, bound)| bound);
        let set = match of("var").or_else(|| of("name")) {
            Some(Bound::Word(word)) => Some(word.clone()),
            _ => None,
        };
        let value = match of("value").or_else(|| of("literal")).or_else(|| of("from")) {
            Some(Bound::Value(value)) => Some(value),
            _ => None,
        };
        let ty = match of("type") {
            Some(Bound::Text(text)) => Some(text.clone()),
            _ if name == "type" => None,
            _ => set.as_deref().and_then(|name| self.name_type(name)),
        };
        match name {
            "label" => Some(label.unwrap_or("L").to_owned()),
            "T" => {
                let of = value.and_then(|value| self.value_type(value));
                Some(ty.or(of).unwrap_or_else(|| "i64".to_owned()))
            }
            "S" => Some(ty.unwrap_or_else(|| "T".to_owned())),
            "E" => Some(ty.as_deref().and_then(element).unwrap_or("T").to_owned()),
            "node" => self.as_node(value?, ty.as_deref()),
            "not" => self.as_operand(&Value::Not(value?.clone().into()), None),
            "sum" | "sumNode" => {
                let Some(Bound::Sign(sign)) = of("sign") else { return None };
                let sum = Value::Between(sign, Value::Name(set?).into(), value?.clone().into());
                match name {
                    "sum" => self.as_operand(&sum, ty.as_deref()),
                    _ => self.as_node(&sum, ty.as_deref()),
                }
            }
            _ => match of(name)? {
                Bound::Word(text) | Bound::Text(text) => Some(text.clone()),
                Bound::Sign(sign) => Some(sign.sign.to_owned()),
                Bound::Value(value) => self.as_operand(value, ty.as_deref()),
            },
        }
    }

    /// Tokens with their expressions as they are written here; those of the line that is told are not noted.
    fn rewritten(
        &mut self,
        from: usize,
        to: usize,
        wanted: Option<&str>,
        of: &mut Reading,
    ) -> Option<String> {
        let mut found = Found::default();
        let text = self.rewriting(from, to, wanted, of, &mut found)?;
        of.foreign |= found.first.is_some();
        Some(text)
    }

    fn rewriting(
        &mut self,
        from: usize,
        to: usize,
        wanted: Option<&str>,
        of: &mut Reading,
        found: &mut Found,
    ) -> Option<String> {
        let (mut text, mut copied) = (String::new(), self.tokens[from].start as usize);
        let mut wanted = wanted.map(str::to_owned);
        let mut at = from;
        while at < to {
            let token = self.tokens[at];
            if let Some(end) = self.type_end(at, to) {
                at = end;
                continue;
            }
            let inner = at + usize::from(token.kind == Kind::Punct(b'('));
            if let Some((code, _)) = self.trying(inner, |this| this.operator_ahead())
                && !self.goes_on(at, to)
            {
                if inner > at {
                    at = inner;
                    continue;
                }
                let (is_read, end) = self.trying(at, |this| (this.head().is_ok(), this.at));
                if !is_read || end > to {
                    return None;
                }
                wanted = self.wanted_by(code, at);
                // What stands in parentheses right behind an operator are its operands.
                let called = end < to
                    && self.stands(end, to, "(")
                    && self.tokens[end - 1].end == self.tokens[end].start;
                at = end + usize::from(called);
                continue;
            }
            let mut value = of.inner(at, to);
            let read = self.foreign_value(&mut value);
            of.spend(&value);
            match read {
                Some(read) if value.foreign => {
                    let label = &self.tokens[from..at];
                    let is_node = value.at == to
                        && label.iter().all(|token| token.kind != Kind::Punct(b'('))
                        && label.last().is_none_or(|last| last.kind == Kind::Punct(b'='));
                    let ours = match is_node {
                        true => {
                            self.as_node(&read, wanted.as_deref()).or_else(|| self.as_operand(&read, None))
                        }
                        false => self.as_operand(&read, wanted.as_deref()),
                    }?;
                    let end = self.tokens[value.at - 1].end;
                    text.push_str(&self.text[copied..token.start as usize]);
                    text.push_str(&ours);
                    found.spans.push((token.start, end));
                    let theirs = shown(&self.text[token.start as usize..end as usize]);
                    if found.first.is_none() {
                        found.first = Some((read, theirs, ours));
                    }
                    (copied, at) = (end as usize, value.at);
                }
                Some(_) | None if token.kind == Kind::Bad => return None,
                Some(_) | None => at += 1,
            }
        }
        text.push_str(&self.text[copied..self.tokens[to - 1].end as usize]);
        Some(text)
    }

    /// Where what is no value ends that begins here: a type with the colon or arrow before it.
    fn type_end(&mut self, at: usize, to: usize) -> Option<usize> {
        let next = *self.tokens[..to].get(at + 1)?;
        let end = match self.tokens[at].kind {
            Kind::Arrow if next.kind == Kind::Punct(b'(') => Some(next.partner as usize + 1),
            Kind::Arrow | Kind::Punct(b':') => {
                self.trying(at + 1, |this| this.type_syntax().ok().map(|_| this.at))
            }
            _ => None,
        };
        end.filter(|end| *end <= to)
    }

    /// Whether the operator in or right before parentheses is a part of a larger expression.
    fn goes_on(&mut self, at: usize, to: usize) -> bool {
        let open = match self.stands(at, to, "(") {
            true => at,
            false => self.trying(at, |this| {
                let read = this.head().is_ok();
                if read && this.adjacent(0) { this.at } else { usize::MAX }
            }),
        };
        if open >= to || !self.stands(open, to, "(") || self.tokens[open].partner == NO_PARTNER {
            return false;
        }
        let next = self.tokens[open].partner as usize + 1;
        let behind = next < to && self.tokens[next - 1].end == self.tokens[next].start;
        next < to
            && (self.sign_at(next, to).is_some()
                || self.stands(next, to, "?")
                || behind && (self.stands(next, to, ".") || self.stands(next, to, "[")))
    }

    /// The type that an operator takes, if it names it.
    fn wanted_by(&mut self, code: crate::ops::Opcode, at: usize) -> Option<String> {
        match code {
            crate::ops::Opcode::Return => self.returned(),
            crate::ops::Opcode::VarSet => {
                let name = self.source(*self.tokens.get(at + 3)?).to_owned();
                self.name_type(&name)
            }
            _ => None,
        }
    }
}

/// What another language does otherwise, by what is written.
fn rule(value: &Value) -> &'static str {
    match value {
        Value::Field(..) => "a field is read by an operator",
        Value::Index(..) => "an element is read by an operator",
        Value::Struct(..) => "a struct is made by an operator, of its fields in order",
        Value::List(..) => "an array is made by an operator",
        Value::Variant(..) => "a variant is made by an operator",
        Value::Method(..) | Value::Call(..) => "a function is called by an operator",
        Value::Literal(..) | Value::Name(..) => "a literal is written in another way",
        Value::Between(..) | Value::Not(..) | Value::Negative(..) | Value::Choice(..) | Value::Ours(..) => {
            "operators stand before their operands"
        }
    }
}

/// A line as a mistake shows it: on one line, and not too long.
fn shown(text: &str) -> String {
    let line = match text.contains('\n') {
        true => text.lines().map(str::trim).collect::<Vec<_>>().join(" "),
        false => text.trim().to_owned(),
    };
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}
