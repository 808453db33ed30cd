//! How far an input is from what a precondition demands.
//!
//! The branch distance of search-based testing (Korel, *Automated Software Test Data Generation*, IEEE TSE 1990; Tracey et
//! al., ASE 1998): a comparison that does not hold is as far from it as its operands are apart. They are those that were
//! alive where the contract was found to be violated.

use std::collections::HashMap;

use lmlang_interp::Place;
use lmlang_ir::{Attr, Body, Const, ContractRef, NodeRef, Opcode, Program, Source, Value};

use crate::shapes::int_of;

/// How far a condition is from holding, and by how much the integers that it compares differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Distance {
    /// Zero where it holds.
    pub(crate) far: f64,
    /// Differences that would make a part of it hold.
    pub(crate) steps: Vec<i64>,
}

/// How far the condition of a contract was from holding where it was violated.
pub(crate) fn distance(program: &Program, contract: ContractRef, place: &Place) -> Distance {
    let mut distance = Distance { far: 1.0, steps: Vec::new() };
    let Some(at) = place.at() else { return distance };
    let Some(function) = program.function(at.function) else { return distance };
    let body = function.body();
    let region = body.contract(contract).map(|contract| contract.region);
    let Some(answer) = region.and_then(|region| body.terminator(region)) else { return distance };
    let Some(condition) = body.node(answer).and_then(|node| node.inputs().get(0)) else { return distance };
    let values = place.values.iter().map(|value| (value.source, &value.shown.value)).collect();
    let mut measure = Measure { body, values, steps: &mut distance.steps };
    distance.far = measure.of(condition, true, 0);
    distance
}

struct Measure<'a> {
    body: &'a Body,
    values: HashMap<Source, &'a Value>,
    steps: &'a mut Vec<i64>,
}

/// What one more or less counts for where a comparison fails by nothing.
const LEAST: f64 = 1.0;

impl Measure<'_> {
    fn of(&mut self, source: Source, wanted: bool, depth: usize) -> f64 {
        /// Conditions that nest deeper are taken as they are.
        const DEEP: usize = 64;
        let plain = |measure: &Self| match measure.value(source) {
            Some(Value::Const(Const::Bool(value))) if *value == wanted => 0.0,
            _ => LEAST,
        };
        let Source::Node(of, 0) = source else { return plain(self) };
        let Some(node) = self.body.node(of).filter(|_| depth < DEEP) else { return plain(self) };
        let input = |index: usize| node.inputs().get(index);
        let two = [input(0), input(1)];
        let logical = matches!(node.op().attr(), Attr::Scalar(lmlang_ir::Scalar::Bool));
        match (node.op().code(), two) {
            (Opcode::Not, [Some(a), _]) if logical => self.of(a, !wanted, depth + 1),
            (Opcode::And, [Some(a), Some(b)]) if logical => self.join(a, b, wanted, wanted, depth),
            (Opcode::Or, [Some(a), Some(b)]) if logical => self.join(a, b, wanted, !wanted, depth),
            (
                code @ (Opcode::Eq
                | Opcode::Ne
                | Opcode::LtS
                | Opcode::LtU
                | Opcode::Lt
                | Opcode::LeS
                | Opcode::LeU
                | Opcode::Le
                | Opcode::GtS
                | Opcode::GtU
                | Opcode::Gt
                | Opcode::GeS
                | Opcode::GeU
                | Opcode::Ge),
                [Some(a), Some(b)],
            ) => match (self.number(a), self.number(b)) {
                (Some(a), Some(b)) => self.compared(code, a, b, wanted),
                (_, _) => plain(self),
            },
            (Opcode::Eqz, [Some(a), _]) => match self.number(a) {
                Some(a) => self.compared(Opcode::Eq, a, 0, wanted),
                None => plain(self),
            },
            (Opcode::StringEq, [Some(a), Some(b)]) if wanted => match (self.text(a), self.text(b)) {
                (Some(a), Some(b)) => text_distance(&a, &b),
                (_, _) => plain(self),
            },
            (_, _) => plain(self),
        }
    }

    /// Two conditions of which both are wanted, or one.
    fn join(&mut self, a: Source, b: Source, wanted: bool, both: bool, depth: usize) -> f64 {
        let (a, b) = (self.of(a, wanted, depth + 1), self.of(b, wanted, depth + 1));
        if both { a + b } else { a.min(b) }
    }

    fn compared(&mut self, code: Opcode, a: i128, b: i128, wanted: bool) -> f64 {
        let (less, equal) = (b - a, a == b);
        // What `a` has to grow by at least, or to shrink.
        let (holds, step) = match code {
            Opcode::Eq => (equal, less),
            Opcode::Ne => (!equal, 1),
            Opcode::LtS | Opcode::LtU | Opcode::Lt => (a < b, less - 1),
            Opcode::LeS | Opcode::LeU | Opcode::Le => (a <= b, less),
            Opcode::GtS | Opcode::GtU | Opcode::Gt => (a > b, less + 1),
            _ => (a >= b, less),
        };
        if holds == wanted {
            return 0.0;
        }
        let step = if wanted { step } else { less.max(-less).max(1) };
        if let Ok(step) = i64::try_from(step)
            && step != 0
        {
            self.steps.push(step);
        }
        (step.unsigned_abs() as f64).max(LEAST)
    }

    fn value(&self, source: Source) -> Option<&Value> {
        self.values.get(&source).copied()
    }

    fn constant(&self, source: Source) -> Option<&Const> {
        if let Source::Node(node, 0) = source
            && let Some(value) = constant_of(self.body, node)
        {
            return Some(value);
        }
        match self.value(source) {
            Some(Value::Const(value)) => Some(value),
            Some(_) | None => None,
        }
    }

    /// A number; of a float its whole part.
    fn number(&self, source: Source) -> Option<i128> {
        let value = self.constant(source)?;
        let float = |value: f64| (!value.is_nan()).then_some(value.clamp(-1e30, 1e30) as i128);
        match value {
            Const::F32(bits) => float(f64::from(f32::from_bits(*bits))),
            Const::F64(bits) => float(f64::from_bits(*bits)),
            other => int_of(other).map(i128::from),
        }
    }

    fn text(&self, source: Source) -> Option<Vec<char>> {
        let Const::String(text) = self.constant(source)? else { return None };
        Some(text.chars().collect())
    }
}

fn constant_of(body: &Body, node: NodeRef) -> Option<&Const> {
    let Attr::Const(value) = body.node(node)?.op().attr() else { return None };
    Some(value)
}

/// How far two texts are apart: by their lengths, then by their characters.
fn text_distance(a: &[char], b: &[char]) -> f64 {
    let lengths = a.len().abs_diff(b.len()) as f64 * 1000.0;
    let apart = |(a, b): (&char, &char)| {
        let by = u32::from(*a).abs_diff(u32::from(*b));
        f64::from(by.min(998)) + f64::from(u32::from(by > 0))
    };
    lengths + a.iter().zip(b).map(apart).sum::<f64>()
}
