//! Literals: from the source to constants and back.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::text::error::{Mistake, code};
use crate::text::lexer::Kind;
use crate::types::{Const, Scalar, Type};

/// A literal before its type is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// `true`, `false`.
    Bool(bool),
    /// `unit`.
    Unit,
    /// Decimal, with its sign.
    Int(String),
    /// The bits, without a sign.
    Hex(bool, u64),
    /// Decimal with a fraction or exponent, or `inf`, `nan`, `nan:0x1`, each with a sign.
    Float(String),
    /// A text.
    Text(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

/// Words that stand for a literal wherever a value is expected.
pub(super) const WORDS: [&str; 5] = ["true", "false", "unit", "inf", "nan"];

/// Why a literal is none.
pub(super) type Reason = String;

/// Why a literal has no value in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It is of another kind.
    Kind,
    /// It is a number out of range.
    Range,
}

impl Unfit {
    /// The mistake of a literal that does not fit a type, which is called `ty`.
    pub(super) fn mistake(self, literal: &Literal, ty: &str, at: u32) -> Mistake {
        let found = literal.describe();
        let message = match self {
            Unfit::Kind => format!("{found} is no `{ty}`"),
            Unfit::Range => format!("{found} has no value in `{ty}`"),
        };
        Mistake::new(code::BAD_LITERAL, at, message).expected(format!("a value of `{ty}`")).found(found)
    }
}

impl Literal {
    /// Reads a literal from a token's source.
    pub(super) fn read(kind: Kind, source: &str) -> Result<Literal, Reason> {
        Ok(match kind {
            Kind::Ident => match source {
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                "unit" => Literal::Unit,
                "inf" | "nan" => Literal::Float(source.to_owned()),
                _ => return Err(format!("`{source}` is no literal")),
            },
            Kind::Int => {
                let (negative, rest) = match source.strip_prefix('-') {
                    Some(rest) => (true, rest),
                    None => (false, source),
                };
                match rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
                    Some(digits) => {
                        let digits = digits.replace('_', "");
                        let bits = u64::from_str_radix(&digits, 16)
                            .map_err(|_| format!("`{source}` has no value of 64 bits"))?;
                        Literal::Hex(negative, bits)
                    }
                    None => Literal::Int(source.replace('_', "")),
                }
            }
            Kind::Float => Literal::Float(source.replace('_', "")),
            Kind::Str => Literal::Text(unescape_text(&source[1..source.len() - 1])?.into()),
            Kind::Bytes => Literal::Bytes(read_bytes(source)?.into()),
            Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::Bad | Kind::End => {
                return Err("expected a literal".to_owned());
            }
        })
    }

    /// The constant of a type that the literal stands for.
    pub(super) fn typed(&self, ty: &Type) -> Result<Const, Unfit> {
        Ok(match (self, ty) {
            (Literal::Bool(value), Type::Scalar(Scalar::Bool)) => Const::Bool(*value),
            (Literal::Unit, Type::Unit) => Const::Unit,
            (Literal::Text(text), Type::String) => Const::String(Arc::clone(text)),
            (Literal::Bytes(bytes), Type::Bytes) => Const::Bytes(Arc::clone(bytes)),
            (Literal::Int(_) | Literal::Hex(..), Type::Scalar(scalar)) => match scalar {
                Scalar::Bool => return Err(Unfit::Kind),
                Scalar::I8 => Const::I8(self.integer(8).ok_or(Unfit::Range)? as i8),
                Scalar::I16 => Const::I16(self.integer(16).ok_or(Unfit::Range)? as i16),
                Scalar::I32 => Const::I32(self.integer(32).ok_or(Unfit::Range)? as i32),
                Scalar::I64 => Const::I64(self.integer(64).ok_or(Unfit::Range)?),
                Scalar::F32 => Const::F32(self.single().ok_or(Unfit::Range)?),
                Scalar::F64 => Const::F64(self.double().ok_or(Unfit::Range)?),
            },
            (Literal::Float(_), Type::Scalar(Scalar::F32)) => Const::F32(self.single().ok_or(Unfit::Range)?),
            (Literal::Float(_), Type::Scalar(Scalar::F64)) => Const::F64(self.double().ok_or(Unfit::Range)?),
            (
                Literal::Bool(_)
                | Literal::Unit
                | Literal::Text(_)
                | Literal::Bytes(_)
                | Literal::Int(_)
                | Literal::Hex(..)
                | Literal::Float(_),
                _,
            ) => return Err(Unfit::Kind),
        })
    }

    /// The type that the literal has where no other is wanted.
    pub(super) fn natural_type(&self) -> Type {
        match self {
            Literal::Bool(_) => Type::BOOL,
            Literal::Unit => Type::Unit,
            Literal::Int(_) | Literal::Hex(..) if self.integer(32).is_some() => Type::I32,
            Literal::Int(_) | Literal::Hex(..) => Type::I64,
            Literal::Float(_) => Type::F64,
            Literal::Text(_) => Type::String,
            Literal::Bytes(_) => Type::Bytes,
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Literal::Bool(value) => format!("`{value}`"),
            Literal::Unit => "`unit`".to_owned(),
            Literal::Int(text) | Literal::Float(text) => {
                format!("`{}`", text.chars().take(40).collect::<String>())
            }
            Literal::Hex(negative, bits) => format!("`{}{bits:#x}`", if *negative { "-" } else { "" }),
            Literal::Text(_) => "a text".to_owned(),
            Literal::Bytes(_) => "a bytes literal".to_owned(),
        }
    }

    /// The integer, if it fits: decimals as signed numbers, hexadecimal ones as bits too.
    pub(super) fn integer(&self, bits: u32) -> Option<i64> {
        match self {
            Literal::Int(text) => {
                let value: i64 = text.parse().ok()?;
                (value >= i64::MIN >> (64 - bits) && value <= i64::MAX >> (64 - bits)).then_some(value)
            }
            Literal::Hex(false, value) => {
                let shift = 64 - bits;
                (*value <= u64::MAX >> shift).then(|| ((*value << shift) as i64) >> shift)
            }
            Literal::Hex(true, value) => {
                let value = -i128::from(*value);
                (value >= i128::from(i64::MIN >> (64 - bits))).then_some(value as i64)
            }
            Literal::Bool(_) | Literal::Unit | Literal::Float(_) | Literal::Text(_) | Literal::Bytes(_) => {
                None
            }
        }
    }

    /// The number as unsigned, for sizes and positions.
    pub(super) fn unsigned(&self) -> Option<u64> {
        match self {
            Literal::Int(text) => text.parse().ok(),
            Literal::Hex(false, value) => Some(*value),
            Literal::Hex(true, _)
            | Literal::Bool(_)
            | Literal::Unit
            | Literal::Float(_)
            | Literal::Text(_)
            | Literal::Bytes(_) => None,
        }
    }

    fn decimal(&self) -> Option<String> {
        match self {
            Literal::Int(text) | Literal::Float(text) => Some(text.clone()),
            Literal::Hex(negative, bits) => Some(format!("{}{bits}", if *negative { "-" } else { "" })),
            Literal::Bool(_) | Literal::Unit | Literal::Text(_) | Literal::Bytes(_) => None,
        }
    }

    fn double(&self) -> Option<u64> {
        let text = self.decimal()?;
        match special(&text) {
            Some((negative, special)) => {
                let bits = match special {
                    Special::Infinity => f64::INFINITY.to_bits(),
                    Special::Nan(payload) => {
                        let payload = payload.unwrap_or(1 << 51);
                        (payload != 0 && payload < 1 << 52).then_some(0x7ff << 52 | payload)?
                    }
                };
                Some(u64::from(negative) << 63 | bits)
            }
            // What is out of range would become an infinity that nobody wrote.
            None => text.parse::<f64>().ok().filter(|value| value.is_finite()).map(f64::to_bits),
        }
    }

    fn single(&self) -> Option<u32> {
        let text = self.decimal()?;
        match special(&text) {
            Some((negative, special)) => {
                let bits = match special {
                    Special::Infinity => f32::INFINITY.to_bits(),
                    Special::Nan(payload) => {
                        let payload = payload.unwrap_or(1 << 22);
                        (payload != 0 && payload < 1 << 23).then_some(0xff << 23 | payload as u32)?
                    }
                };
                Some(u32::from(negative) << 31 | bits)
            }
            None => text.parse::<f32>().ok().filter(|value| value.is_finite()).map(f32::to_bits),
        }
    }
}

enum Special {
    Infinity,
    Nan(Option<u64>),
}

fn special(text: &str) -> Option<(bool, Special)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let special = match rest {
        "inf" => Special::Infinity,
        "nan" => Special::Nan(None),
        _ => {
            let digits = rest.strip_prefix("nan:0x")?;
            Special::Nan(Some(u64::from_str_radix(digits, 16).unwrap_or(0)))
        }
    };
    Some((negative, special))
}

/// The text between quotes, escapes resolved.
pub(super) fn unescape_text(source: &str) -> Result<String, Reason> {
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('0') => text.push('\0'),
            Some('\\') => text.push('\\'),
            Some('"') => text.push('"'),
            Some('u') => {
                let rest = chars.as_str();
                let body = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(body, _)| body);
                let digits = body.filter(|body| {
                    (1..=6).contains(&body.len()) && body.bytes().all(|byte| byte.is_ascii_hexdigit())
                });
                let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                match (digits, value.and_then(char::from_u32)) {
                    (Some(digits), Some(char)) => {
                        text.push(char);
                        chars = rest[digits.len() + 2..].chars();
                    }
                    (_, _) => return Err("`\\u{..}` names no character".to_owned()),
                }
            }
            Some(other) => return Err(format!("unknown escape `\\{other}`")),
            None => return Err("the text ends in an escape".to_owned()),
        }
    }
    Ok(text)
}

fn read_bytes(source: &str) -> Result<Vec<u8>, Reason> {
    if let Some(digits) = source.strip_prefix("hex\"") {
        return from_hex(&digits[..digits.len() - 1]);
    }
    unescape_bytes(&source[2..source.len() - 1])
}

/// Bytes from pairs of hexadecimal digits; blanks are skipped.
pub(super) fn from_hex(digits: &str) -> Result<Vec<u8>, Reason> {
    let reason = || "expected pairs of hexadecimal digits".to_owned();
    let digits: Vec<u8> = digits.bytes().filter(|b| !matches!(b, b' ' | b'\t')).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(reason());
    }
    digits.chunks(2).map(|pair| hex_pair(pair[0], pair[1]).ok_or_else(reason)).collect()
}

fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The bytes between quotes: UTF-8, with `\n \t \r \\ \"` and `\` and two hexadecimal digits for any byte.
pub(super) fn unescape_bytes(source: &str) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::with_capacity(source.len());
    let mut rest = source.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (byte, used) = match rest {
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [b'r', ..] => (b'\r', 1),
            [b'\\', ..] => (b'\\', 1),
            [b'"', ..] => (b'"', 1),
            [high, low, ..] => match hex_pair(*high, *low) {
                Some(byte) => (byte, 2),
                None => {
                    return Err(
                        "an escape in bytes is `\\n \\t \\r \\\\ \\\"` or two hexadecimal digits".to_owned()
                    );
                }
            },
            [..] => return Err("the bytes end in an escape".to_owned()),
        };
        bytes.push(byte);
        rest = &rest[used..];
    }
    Ok(bytes)
}

/// Whether nobody sees that a character is there: a control, a separator of lines, or what reorders or hides others.
pub fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Writes a text in quotes.
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if is_unseen(char) => {
                put(out, format_args!("\\u{{{:x}}}", u32::from(char)));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

/// Writes bytes as `b"..."`.
pub(super) fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push_str("b\"");
    for byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => put(out, format_args!("\\{byte:02x}")),
        }
    }
    out.push('"');
}

/// Writes formatted text; a `String` takes everything.
pub(super) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

/// How floats with an integral value look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatStyle {
    /// `1.0`: in programs.
    WithPoint,
    /// `1`: in values, whose type is written beside.
    Short,
}

/// Writes the literal of a constant, without its type.
pub(super) fn write_const(out: &mut String, value: &Const, style: FloatStyle) {
    match value {
        Const::Bool(value) => put(out, format_args!("{value}")),
        Const::I8(value) => put(out, format_args!("{value}")),
        Const::I16(value) => put(out, format_args!("{value}")),
        Const::I32(value) => put(out, format_args!("{value}")),
        Const::I64(value) => put(out, format_args!("{value}")),
        Const::F32(bits) => {
            let value = f32::from_bits(*bits);
            let payload = (value.is_nan() && bits << 9 != 1 << 31).then_some(u64::from(bits & 0x7f_ffff));
            write_float(out, f64::from(value), &format!("{value:?}"), bits >> 31 == 1, payload, style);
        }
        Const::F64(bits) => {
            let value = f64::from_bits(*bits);
            let payload = (value.is_nan() && bits << 12 != 1 << 63).then_some(bits & ((1 << 52) - 1));
            write_float(out, value, &format!("{value:?}"), bits >> 63 == 1, payload, style);
        }
        Const::Unit => out.push_str("unit"),
        Const::String(text) => write_text(out, text),
        Const::Bytes(bytes) => write_bytes(out, bytes),
    }
}

fn write_float(
    out: &mut String,
    value: f64,
    shortest: &str,
    negative: bool,
    payload: Option<u64>,
    style: FloatStyle,
) {
    if value.is_nan() {
        out.push_str(if negative { "-nan" } else { "nan" });
        if let Some(payload) = payload {
            put(out, format_args!(":{payload:#x}"));
        }
    } else if value.is_infinite() {
        out.push_str(if negative { "-inf" } else { "inf" });
    } else {
        match (style, shortest.strip_suffix(".0")) {
            (FloatStyle::Short, Some(short)) => out.push_str(short),
            (FloatStyle::Short, None) | (FloatStyle::WithPoint, _) => out.push_str(shortest),
        }
    }
}
