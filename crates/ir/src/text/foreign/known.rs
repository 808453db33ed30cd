//! What a text says about its names so far: the types of values, and how expressions of other languages are written with them.

use std::collections::HashMap;

use crate::ops::{AttrKind, PortType};
use crate::text::cursor::Parser;
use crate::text::foreign::values::{Sign, Value};
use crate::text::lexer::Kind;
use crate::types::Scalar;

/// Tokens before a line, and behind the head of its function, among which a name is looked for.
const REACH: usize = 1_000;
/// Tokens that the head of a function is looked for in.
const HEAD: usize = 200;

/// What a name is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// Declared with a type, which begins at this token.
    Value { ty: usize, variable: bool },
    /// Made by the operator at this token.
    Made(usize),
}

impl Parser<'_> {
    /// Reads something without leaving anything behind.
    pub(super) fn trying<T>(&mut self, at: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let back = (self.at, self.parens);
        let (mistakes, exprs) = (self.mistakes.len(), self.tree.exprs.len());
        self.at = at;
        let value = read(self);
        (self.at, self.parens) = back;
        self.mistakes.truncate(mistakes);
        self.tree.exprs.truncate(exprs);
        value
    }

    /// What a name stands for where the line begins that is looked at.
    pub(super) fn known(&self, name: &str) -> Option<Known> {
        let line = self.begin.min(self.tokens.len() - 1);
        let near = line.saturating_sub(REACH).max(self.function)..line;
        let head = self.function..(self.function + HEAD).min(line);
        near.rev().chain(head.rev()).find_map(|at| self.known_at(at, name))
    }

    fn known_at(&self, at: usize, name: &str) -> Option<Known> {
        let token = self.tokens[at];
        if token.kind != Kind::Ident || self.source(token) != name {
            return None;
        }
        let what = at + 2;
        match self.tokens.get(at + 1)?.kind {
            Kind::Punct(b':') if self.tokens.get(what)?.kind == Kind::Ident => {
                let variable = at > 0 && self.source(self.tokens[at - 1]) == "var";
                Some(Known::Value { ty: what, variable })
            }
            Kind::Punct(b'=') if token.line_start => Some(Known::Made(what)),
            _ => None,
        }
    }

    /// Where a type or function of the text is declared: the token of its name.
    fn declaration(&mut self, name: &str) -> Option<usize> {
        if self.declared.is_none() {
            let mut declared = HashMap::new();
            for (at, pair) in self.tokens.windows(2).enumerate() {
                let word = self.source(pair[0]);
                if pair[0].kind == Kind::Ident
                    && pair[1].kind == Kind::Ident
                    && ["type", "func"].contains(&word)
                {
                    declared.entry(self.source(pair[1])).or_insert(at + 1);
                }
            }
            self.declared = Some(declared);
        }
        self.declared.as_ref()?.get(name).copied()
    }

    /// Whether a name is that of a type of the text.
    pub(super) fn is_declared(&mut self, name: &str) -> bool {
        self.declaration(name).is_some_and(|at| self.source(self.tokens[at - 1]) == "type")
    }

    /// The type that begins at a token, as it is written.
    fn type_at(&mut self, at: usize) -> Option<String> {
        let from = self.tokens.get(at)?.start as usize;
        let to =
            self.trying(at, |this| this.type_syntax().ok().map(|_| this.tokens[this.at - 1].end as usize))?;
        Some(self.text[from..to].to_owned())
    }

    /// The first result of the function whose name is at a token, or of the operator with regions there.
    fn result_at(&mut self, at: usize) -> Option<String> {
        let head = self.tokens.get(at..)?.iter().take(HEAD);
        let arrow = head
            .take_while(|token| token.kind != Kind::Punct(b'{'))
            .position(|token| token.kind == Kind::Arrow)?;
        let open = self.tokens.get(at + arrow + 1)?.kind == Kind::Punct(b'(');
        self.type_at(at + arrow + 1 + usize::from(open))
    }

    /// What the function around returns first.
    pub(super) fn returned(&mut self) -> Option<String> {
        self.result_at(self.function)
    }

    /// The fields of a struct of the text with their types, in order.
    fn fields_of(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let at = self.declaration(name)?;
        let brace = self.tokens[at..].iter().take(4).position(|token| token.kind == Kind::Punct(b'{'))? + at;
        let (mut next, close) = (brace + 1, self.tokens[brace].partner as usize);
        let mut fields = Vec::new();
        while next + 2 < close.min(self.tokens.len()) && fields.len() < HEAD {
            let name = self.source(self.tokens[next]).to_owned();
            let ty = self.type_at(next + 2)?;
            let end = self.tokens[next + 2].start as usize + ty.len();
            fields.push((name, ty));
            while next < close && (self.tokens[next].start as usize) < end {
                next += 1;
            }
            next += usize::from(self.tokens[next].kind == Kind::Punct(b','));
        }
        Some(fields)
    }

    fn field_type(&mut self, owner: &str, field: &str) -> Option<String> {
        self.fields_of(owner)?.into_iter().find(|(name, _)| name == field).map(|(_, ty)| ty)
    }

    /// The type of what the operator at a token computes.
    pub(super) fn made_type(&mut self, at: usize) -> Option<String> {
        let (code, tokens) = self.trying(at, |this| this.operator_ahead())?;
        let behind = at + tokens;
        let word = |this: &Self, at: usize| Some(this.source(*this.tokens.get(at)?).to_owned());
        let bracketed = |this: &mut Self| this.type_at(behind + 1);
        match code.spec().outputs.first()?.ty {
            PortType::T | PortType::Constant => word(self, behind + 1),
            PortType::U => word(self, behind + 3),
            PortType::Is(scalar) => Some(scalar.name().to_owned()),
            PortType::String => Some("string".to_owned()),
            PortType::Bytes => Some("bytes".to_owned()),
            PortType::Ints => Some("array<i32>".to_owned()),
            PortType::Elem => bracketed(self),
            PortType::Given if matches!(code.spec().attr, AttrKind::Array) => {
                bracketed(self).map(|element| format!("array<{element}>"))
            }
            PortType::Given => bracketed(self),
            PortType::Struct | PortType::Enum => self.type_at(behind),
            PortType::Field => {
                let (owner, field) = (word(self, behind)?, word(self, behind + 2)?);
                self.field_type(&owner, &field)
            }
            PortType::Returns => {
                let name = word(self, behind)?;
                let at = self.declaration(&name)?;
                self.result_at(at)
            }
            PortType::Results => self.result_at(at),
            _ => None,
        }
    }

    /// The type of what is called so.
    pub(in crate::text) fn name_type(&mut self, name: &str) -> Option<String> {
        match self.known(name)? {
            Known::Value { ty, .. } => self.type_at(ty),
            Known::Made(at) => self.made_type(at),
        }
    }

    /// The type of an expression, if the text tells it.
    pub(super) fn value_type(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::Name(name) => self.name_type(name),
            Value::Literal(Kind::Float, _) => Some("f64".to_owned()),
            Value::Literal(Kind::Str, _) => Some("string".to_owned()),
            Value::Literal(Kind::Bytes, _) => Some("bytes".to_owned()),
            Value::Literal(Kind::Ident, word) if matches!(word.as_str(), "true" | "false") => {
                Some("bool".to_owned())
            }
            Value::Literal(..) => None,
            Value::Between(sign, ..) if sign.compares => Some("bool".to_owned()),
            Value::Between(_, left, right) => self.value_type(left).or_else(|| self.value_type(right)),
            Value::Not(_) => Some("bool".to_owned()),
            Value::Negative(of) => self.value_type(of),
            Value::Field(of, field) => {
                let owner = self.value_type(of);
                match sized(owner.as_deref().unwrap_or_default(), field) {
                    Some(_) => Some("i32".to_owned()),
                    None => self.field_type(&owner?, field),
                }
            }
            Value::Index(of, _) => match self.value_type(of)?.as_str() {
                "string" | "bytes" => Some("i32".to_owned()),
                array => element(array).map(str::to_owned),
            },
            Value::Call(name, _) => {
                let at = self.declaration(name)?;
                self.result_at(at)
            }
            Value::Method(of, name, _) => {
                let owner = self.value_type(of);
                sized(owner.as_deref().unwrap_or_default(), name).map(|_| "i32".to_owned())
            }
            Value::Struct(name, _) | Value::Variant(name, ..) => Some(name.clone()),
            Value::List(of) => self.value_type(of.first()?).map(|element| format!("array<{element}>")),
            Value::Choice(of) => self.value_type(&of[1]).or_else(|| self.value_type(&of[2])),
            Value::Ours(_, at) => self.made_type(*at),
        }
    }

    /// An expression as it is written among operands.
    pub(super) fn as_operand(&mut self, value: &Value, wanted: Option<&str>) -> Option<String> {
        match value {
            Value::Name(text) | Value::Literal(_, text) => Some(text.clone()),
            _ => self.as_node(value, wanted).map(|node| format!("({node})")),
        }
    }

    fn as_operands(&mut self, values: &[Value], wanted: Option<&str>) -> Option<String> {
        let all: Option<Vec<String>> = values.iter().map(|value| self.as_operand(value, wanted)).collect();
        Some(all?.join(", "))
    }

    /// An expression as it is written behind `name =`; `None` for what has no form there.
    pub(super) fn as_node(&mut self, value: &Value, wanted: Option<&str>) -> Option<String> {
        match value {
            Value::Name(_) => None,
            Value::Literal(kind, text) => {
                let natural = self.value_type(value).unwrap_or_else(|| natural(*kind).to_owned());
                let scalar = wanted.filter(|ty| ty.parse::<Scalar>().is_ok());
                Some(format!("const.{} {text}", scalar.unwrap_or(&natural)))
            }
            Value::Between(sign, left, right) => self.between(sign, left, right, wanted),
            Value::Not(of) => Some(format!("not.bool {}", self.as_operand(of, Some("bool"))?)),
            Value::Negative(of) => {
                let ty = self.value_type(of).or_else(|| wanted.map(str::to_owned)).unwrap_or_else(unknown);
                let of = self.as_operand(of, Some(&ty))?;
                Some(if is_float(&ty) { format!("neg.{ty} {of}") } else { format!("sub.{ty} 0, {of}") })
            }
            Value::Field(of, field) => {
                let owner = self.value_type(of).unwrap_or_else(unknown);
                let value = self.as_operand(of, None)?;
                Some(match sized(&owner, field) {
                    Some(operator) => format!("{operator} {value}"),
                    None => format!("struct.get {owner}.{field} {value}"),
                })
            }
            Value::Index(of, index) => {
                let array = self.value_type(of).unwrap_or_else(unknown);
                let (of, index) = (self.as_operand(of, None)?, self.as_operand(index, Some("i32"))?);
                Some(match array.as_str() {
                    "string" => format!("string.byte {of}, {index}"),
                    "bytes" => format!("bytes.get {of}, {index}"),
                    _ => format!("array.get<{}> {of}, {index}", element(&array).unwrap_or("T")),
                })
            }
            Value::Call(name, operands) => {
                Some(format!("call {name}({})", self.as_operands(operands, None)?))
            }
            Value::Method(of, name, operands) => {
                let owner = self.value_type(of).unwrap_or_else(unknown);
                let value = self.as_operand(of, None)?;
                let operands = self.as_operands(operands, None)?;
                Some(match (sized(&owner, name), name.as_str(), element(&owner)) {
                    (Some(operator), ..) => format!("{operator} {value}"),
                    (None, "push" | "append", Some(element)) => {
                        format!("array.push<{element}> {value}, {operands}")
                    }
                    (None, ..) if operands.is_empty() => format!("call {name}({value})"),
                    (None, ..) => format!("call {name}({value}, {operands})"),
                })
            }
            Value::Struct(name, fields) => {
                let order = self.fields_of(name).unwrap_or_default();
                let given: Vec<Value> = match order.is_empty() {
                    true => fields.iter().map(|(_, value)| value.clone()).collect(),
                    false => order
                        .iter()
                        .map(|(name, _)| {
                            fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
                        })
                        .map(|value| value.unwrap_or_else(|| Value::Name("_".to_owned())))
                        .collect(),
                };
                Some(format!("struct.new {name} {}", self.as_operands(&given, None)?))
            }
            Value::List(elements) => {
                let of = self.value_type(value);
                let ty = wanted.and_then(element).or_else(|| element(of.as_deref()?));
                let ty = ty.unwrap_or(if elements.is_empty() { "T" } else { "i64" }).to_owned();
                let elements = self.as_operands(elements, Some(&ty))?;
                Some(format!("array.new<{ty}> {elements}").trim_end().to_owned())
            }
            Value::Variant(owner, member, payload) => {
                let of = owner.split_once('<').map(|(of, _)| format!("{of}<"));
                let fits = wanted.filter(|ty| of.as_ref().is_some_and(|of| ty.starts_with(of)));
                let inner = match (owner.as_str(), payload.as_slice()) {
                    ("option<T>", [value]) => self.value_type(value),
                    (_, _) => None,
                };
                let told = fits.map(str::to_owned).or_else(|| inner.map(|ty| format!("option<{ty}>")));
                let owner = told.unwrap_or_else(|| owner.clone());
                let payload = self.as_operands(payload, None)?;
                Some(format!("enum.new {owner}.{member} {payload}").trim_end().to_owned())
            }
            Value::Choice(of) => {
                let ty = self.value_type(value).or_else(|| wanted.map(str::to_owned)).unwrap_or_else(unknown);
                let condition = self.as_operand(&of[0], Some("bool"))?;
                let (then, other) =
                    (self.as_operand(&of[1], Some(&ty))?, self.as_operand(&of[2], Some(&ty))?);
                Some(format!("select<{ty}> {condition}, {then}, {other}"))
            }
            Value::Ours(text, _) => Some(text.clone()),
        }
    }

    fn between(&mut self, sign: &Sign, left: &Value, right: &Value, wanted: Option<&str>) -> Option<String> {
        let told = self.value_type(left).or_else(|| self.value_type(right));
        let wanted = wanted.filter(|_| !sign.compares).map(str::to_owned);
        let literals = matches!((left, right), (Value::Literal(..), Value::Literal(..)));
        let ty = match (sign.integer, told.or(wanted)) {
            ("", _) => "bool".to_owned(),
            (_, Some(ty)) => ty,
            (_, None) if literals => "i64".to_owned(),
            (_, None) => unknown(),
        };
        let (a, b) = (self.as_operand(left, Some(&ty))?, self.as_operand(right, Some(&ty))?);
        let operator = match ty.as_str() {
            "bool" => sign.boolean,
            "string" => sign.text,
            ty if is_float(ty) => sign.float,
            _ => sign.integer,
        };
        Some(match (operator, ty.as_str()) {
            ("", "string") if sign.sign.starts_with('!') => format!("not.bool (string.eq {a}, {b})"),
            ("", _) => return None,
            (operator, "string") => format!("{operator} {a}, {b}"),
            (operator, ty) => format!("{operator}.{ty} {a}, {b}"),
        })
    }
}

/// What stands for a type that the text does not tell.
fn unknown() -> String {
    "T".to_owned()
}

fn is_float(ty: &str) -> bool {
    matches!(ty, "f32" | "f64")
}

/// The type of a literal where nothing else is said.
fn natural(kind: Kind) -> &'static str {
    if kind == Kind::Float { "f64" } else { "i64" }
}

/// What stands in the brackets of an array's type.
pub(super) fn element(ty: &str) -> Option<&str> {
    ty.strip_prefix("array<")?.strip_suffix('>')
}

/// The operator that counts what is in a value.
fn sized(ty: &str, member: &str) -> Option<String> {
    if !["len", "length", "size", "count"].contains(&member) {
        return None;
    }
    match ty {
        "string" => Some("string.len".to_owned()),
        "bytes" => Some("bytes.len".to_owned()),
        _ => element(ty).map(|element| format!("array.len<{element}>")),
    }
}
