//! Values that are simpler than a value, the simplest first; and which of two inputs is simpler.
//!
//! Numbers go towards zero in binary steps, and lists lose chunks and then elements, as in QuickCheck (Claessen, Hughes,
//! ICFP 2000) and in delta debugging (Zeller, Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, IEEE TSE
//! 2002).

use std::sync::Arc;

use lmlang_ir::{Const, Value};

use crate::parts::children;
use crate::shapes::{Shapes, int_like, int_of};

/// How simple an input is: fewer parts first, bytes and those of texts counted, then what they are, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Simplicity {
    parts: usize,
    ranks: Vec<u128>,
}

/// How simple some arguments are.
pub(crate) fn simplicity(shapes: &Shapes, args: &[Value]) -> Simplicity {
    let mut simplicity = Simplicity { parts: 0, ranks: Vec::new() };
    let mut open: Vec<&Value> = args.iter().rev().collect();
    while let Some(value) = open.pop() {
        simplicity.parts += 1;
        match value {
            Value::Const(Const::String(text)) => {
                simplicity.parts += text.len();
                simplicity.ranks.extend(text.chars().map(|of| u128::from(char_rank(of))));
            }
            Value::Const(Const::Bytes(bytes)) => {
                simplicity.parts += bytes.len();
                simplicity.ranks.extend(bytes.iter().map(|of| u128::from(*of)));
            }
            Value::Const(value) => simplicity.ranks.push(rank(value)),
            Value::Ptr(_, address) => simplicity.ranks.push(u128::from(*address)),
            Value::Enum(variant, _) => {
                let variants = shapes.variants(&variant.owner());
                let at = variants.iter().position(|(other, _)| other == variant);
                simplicity.ranks.push(at.unwrap_or(variants.len()) as u128);
            }
            Value::Struct(..)
            | Value::Array(..)
            | Value::FixedArray(..)
            | Value::Box(..)
            | Value::FuncRef(_)
            | Value::ExternRef
            | Value::Closure(..) => {}
        }
        open.extend(children(value).iter().rev());
    }
    simplicity
}

/// How simple a scalar is; texts and bytes are looked at by their elements.
fn rank(value: &Const) -> u128 {
    match value {
        Const::Bool(value) => u128::from(*value),
        Const::F32(bits) => float_rank(f64::from(f32::from_bits(*bits))),
        Const::F64(bits) => float_rank(f64::from_bits(*bits)),
        Const::Unit | Const::String(_) | Const::Bytes(_) => 0,
        Const::I8(_) | Const::I16(_) | Const::I32(_) | Const::I64(_) => {
            let value = int_of(value).unwrap_or(0);
            u128::from(value.unsigned_abs()) << 1 | u128::from(value < 0)
        }
    }
}

/// Whole numbers before fractions with few digits before those with many; infinities and what is no number behind.
fn float_rank(value: f64) -> u128 {
    let class: u128 = match digits_of(value) {
        _ if value.is_nan() => 80,
        _ if value.is_infinite() => 79,
        _ if value.abs() >= EXACT => 78,
        Some(digits) => digits as u128,
        None => 77,
    };
    let sign = u128::from(value.is_sign_negative());
    class << 100 | u128::from(value.abs().to_bits()) << 1 | sign
}

/// Below it, all whole numbers are floats: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How many binary digits there are behind the point; none where there are very many.
fn digits_of(value: f64) -> Option<i32> {
    (0..77).find(|digits| is_whole(value, *digits))
}

/// Whether a number has at most so many binary digits behind the point.
fn is_whole(value: f64, digits: i32) -> bool {
    let scaled = value * f64::powi(2.0, digits);
    scaled.is_finite() && scaled == scaled.trunc()
}

/// The characters of ASCII, the simplest first.
const PLAIN: &str =
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -_.,:;!?+*/=<>()[]{}@#$%&'\"`|~^\\\n\t\r";

fn char_rank(of: char) -> u32 {
    match PLAIN.find(of) {
        Some(at) => at as u32,
        // Controls, then what is beyond ASCII.
        None => PLAIN.len() as u32 + u32::from(of),
    }
}

fn char_of(rank: u32) -> Option<char> {
    match PLAIN.chars().nth(rank as usize) {
        Some(of) => Some(of),
        None => char::from_u32(rank - PLAIN.len() as u32).filter(|of| !PLAIN.contains(*of)),
    }
}

/// Numbers below a number: 0, then ever nearer.
fn below(number: u64) -> Vec<u64> {
    let mut all = Vec::new();
    let mut step = number;
    while step > 0 {
        all.push(number - step);
        step /= 2;
    }
    all
}

/// A change that makes a value simpler, mostly.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Another value.
    To(Value),
    /// The elements, characters or bytes from a position to before another one are gone.
    Without(usize, usize),
    /// Another character at a position.
    Char(usize, char),
    /// As many bytes of plain characters for the character at a position.
    Plain(usize),
    /// Another byte at a position.
    Byte(usize, u8),
    /// The part at a position and the one before have changed places.
    Swapped(usize),
}

impl Edit {
    /// The value with the change, which has to be one that was made for it, or for an equal one.
    pub(crate) fn apply(&self, value: &Value) -> Value {
        let mut value = value.clone();
        match (self, &mut value) {
            (Edit::To(to), _) => value = to.clone(),
            (Edit::Without(start, end), Value::Array(_, elements)) => drop(elements.drain(start..end)),
            (
                Edit::Swapped(at),
                Value::Array(_, parts) | Value::FixedArray(_, parts) | Value::Struct(_, parts),
            ) => {
                parts.swap(*at - 1, *at);
            }
            (edit, Value::Const(Const::String(text))) => {
                let mut chars: Vec<char> = text.chars().collect();
                match edit {
                    Edit::Without(start, end) => drop(chars.drain(start..end)),
                    Edit::Char(at, to) => chars[*at] = *to,
                    Edit::Plain(at) => {
                        let plain = vec!['a'; chars[*at].len_utf8()];
                        chars.splice(*at..=*at, plain);
                    }
                    Edit::To(_) | Edit::Byte(..) | Edit::Swapped(_) => {}
                }
                *text = chars.into_iter().collect::<String>().into();
            }
            (edit, Value::Const(Const::Bytes(bytes))) => {
                let mut all = bytes.to_vec();
                match edit {
                    Edit::Without(start, end) => drop(all.drain(start..end)),
                    Edit::Byte(at, to) => all[*at] = *to,
                    Edit::To(_) | Edit::Char(..) | Edit::Plain(_) | Edit::Swapped(_) => {}
                }
                *bytes = all.into();
            }
            (_, _) => {}
        }
        value
    }
}

/// What makes a value simpler, with all that it contains left as it is or taken away; the simplest first.
pub(crate) fn simpler(shapes: &Shapes, value: &Value) -> Vec<Edit> {
    let smallest = shapes.smallest(&value.ty());
    if *value == smallest {
        return Vec::new();
    }
    let mut all = vec![Edit::To(smallest)];
    match value {
        Value::Const(value) => all.extend(constants(value)),
        Value::Ptr(of, address) => {
            let addresses = below(u64::from(*address)).into_iter();
            all.extend(addresses.map(|address| Edit::To(Value::Ptr(Arc::clone(of), address as u32))));
        }
        Value::Array(_, elements) => {
            all.extend(inner_of_type(value));
            all.extend(shorter(elements.len()));
            all.extend(swapped(elements));
        }
        Value::Enum(variant, payload) => {
            all.extend(inner_of_type(value));
            let variants = shapes.variants(&value.ty());
            for (other, wanted) in variants.into_iter().take_while(|(other, _)| other != variant) {
                if let Some(payload) =
                    payload.as_ref().filter(|payload| wanted.as_ref() == Some(&payload.ty()))
                {
                    all.push(Edit::To(Value::Enum(other.clone(), Some(payload.clone()))));
                }
                all.push(Edit::To(shapes.smallest_of(other, wanted.as_ref())));
            }
        }
        Value::Struct(_, parts) => {
            all.extend(inner_of_type(value));
            all.extend(swapped(parts));
        }
        Value::FixedArray(_, elements) => all.extend(swapped(elements)),
        Value::Box(..) => all.extend(inner_of_type(value)),
        Value::FuncRef(_) | Value::ExternRef | Value::Closure(..) => {}
    }
    all
}

/// The values of the same type that a value contains, the innermost of long chains first.
fn inner_of_type(value: &Value) -> Vec<Edit> {
    /// More are found from the ones that are taken.
    const MOST: usize = 64;
    let ty = value.ty();
    let (mut found, mut open): (Vec<&Value>, Vec<&Value>) = (Vec::new(), children(value).iter().collect());
    let mut at = 0;
    while at < open.len() && at < 4_096 {
        let part = open[at];
        if part.ty() == ty {
            found.push(part);
        }
        open.extend(children(part));
        at += 1;
    }
    // Halves of a chain first, then each step.
    let count = found.len();
    let mut order: Vec<usize> = Vec::new();
    let mut step = count;
    while step > 0 {
        order.push(step - 1);
        step /= 2;
    }
    order.extend(0..count);
    order.truncate(MOST);
    order.into_iter().filter_map(|at| found.get(at).map(|part| Edit::To((*part).clone()))).collect()
}

/// Elements that are replaced one by one.
const MOST_ELEMENTS: usize = 1_024;

fn constants(value: &Const) -> Vec<Edit> {
    let to = |value: Const| Edit::To(Value::Const(value));
    match value {
        Const::Bool(_) | Const::Unit => Vec::new(),
        Const::I8(_) | Const::I16(_) | Const::I32(_) | Const::I64(_) => {
            let number = int_of(value).unwrap_or(0);
            ints(number).into_iter().map(|number| to(int_like(value, number))).collect()
        }
        Const::F32(bits) => {
            let floats = floats(f64::from(f32::from_bits(*bits))).into_iter();
            floats.map(|number| to(Const::F32((number as f32).to_bits()))).collect()
        }
        Const::F64(bits) => {
            floats(f64::from_bits(*bits)).into_iter().map(|number| to(Const::F64(number.to_bits()))).collect()
        }
        Const::String(text) => {
            let chars: Vec<char> = text.chars().collect();
            let mut all = shorter(chars.len());
            let first = || chars.iter().enumerate().take(MOST_ELEMENTS);
            all.extend(first().filter(|(_, of)| !of.is_ascii()).map(|(at, _)| Edit::Plain(at)));
            for (at, of) in first() {
                let simple = below(u64::from(char_rank(*of))).into_iter();
                let simple = simple.filter_map(|rank| char_of(rank as u32));
                all.extend(simple.map(|simple| Edit::Char(at, simple)));
            }
            all
        }
        Const::Bytes(bytes) => {
            let mut all = shorter(bytes.len());
            for (at, byte) in bytes.iter().enumerate().take(MOST_ELEMENTS) {
                let simple = below(u64::from(*byte)).into_iter();
                all.extend(simple.map(|simple| Edit::Byte(at, simple as u8)));
            }
            all
        }
    }
}

/// Numbers nearer to zero, on the same side of it after the same on the other.
pub(crate) fn ints(number: i64) -> Vec<i64> {
    let mut all = Vec::new();
    if number < 0 {
        all.extend(number.checked_neg());
    }
    for size in below(number.unsigned_abs()) {
        all.push(if number < 0 { (size as i64).wrapping_neg() } else { size as i64 });
    }
    all
}

fn floats(number: f64) -> Vec<f64> {
    let mut all = vec![0.0, 1.0];
    if number.is_nan() {
        all.extend([f64::INFINITY, f64::MAX, f64::NAN]);
        return all;
    }
    if number.is_sign_negative() {
        all.push(-number);
    }
    if number.is_infinite() {
        all.extend([1e15, EXACT, f64::MAX].map(|size| size.copysign(number)));
        return all;
    }
    let size = number.abs();
    let digits = digits_of(number).filter(|_| size < EXACT);
    if size < EXACT {
        // With fewer digits behind the point.
        for digits in 0..digits.unwrap_or(53).min(53) {
            let scale = f64::powi(2.0, digits);
            all.extend([(size * scale).trunc() / scale, (size * scale).ceil() / scale]);
        }
    } else {
        all.extend([1e3, 1e6, 1e9, 1e15, 1e30, 1e100]);
    }
    // Nearer to zero with as many.
    match digits.map(|digits| f64::powi(2.0, digits)) {
        Some(scale) => {
            all.extend(below((size * scale) as u64).into_iter().map(|number| number as f64 / scale))
        }
        None => all.extend(below(size.to_bits()).into_iter().map(f64::from_bits)),
    }
    let signed = |simple: f64| if simple == 0.0 { simple } else { simple.copysign(number) };
    all = all.into_iter().flat_map(|simple| [simple, signed(simple)]).collect();
    all.retain(|simple| float_rank(*simple) < float_rank(number));
    all.dedup();
    all
}

/// Parts of the same type that change places, each with its neighbour: those that are simpler come first then.
fn swapped(parts: &[Value]) -> impl Iterator<Item = Edit> {
    let pairs = 1..parts.len().min(MOST_ELEMENTS);
    pairs.filter(|at| parts[*at].ty() == parts[at - 1].ty()).map(Edit::Swapped)
}

/// A list of a length without chunks, half of it first, down to single elements.
fn shorter(length: usize) -> Vec<Edit> {
    let mut all = Vec::new();
    let mut chunk = length;
    while chunk > 0 {
        let starts = (0..length).step_by(chunk).take(4 * MOST_ELEMENTS);
        all.extend(starts.map(|start| Edit::Without(start, (start + chunk).min(length))));
        chunk /= 2;
    }
    all
}
