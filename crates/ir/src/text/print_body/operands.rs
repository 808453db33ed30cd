//! Operators with their operands: names, literals, and what is folded into parentheses.

use std::sync::Arc;

use smallvec::SmallVec;

use super::BodyPrinter;
use crate::node::{Node, Source};
use crate::ops::signature::ports;
use crate::ops::{Attr, Expected, Opcode};
use crate::text::literal::{FloatStyle, put, write_const};
use crate::text::op::{write_cases, write_mnemonic, write_results};
use crate::text::print::Detail;
use crate::text::scope::{Binding, output_names};
use crate::text::words::{is_bare, write_name};
use crate::types::Type;

/// A step of an expression.
enum Part {
    Source(Option<Source>, Option<Expected>),
    Text(&'static str),
}

impl BodyPrinter<'_, '_> {
    /// An operator with its operands.
    pub(super) fn operator(&mut self, node: &Node, tag: &str) {
        let op = node.op();
        let mut out = std::mem::take(self.out);
        write_mnemonic(&mut out, op, tag, &self.naming());
        *self.out = out;
        let inputs: Vec<Option<Source>> = node.inputs().iter().collect();
        let expected = self.expected(node);
        let sources: Vec<Part> = inputs
            .into_iter()
            .enumerate()
            .map(|(index, source)| {
                Part::Source(source, expected.as_ref().and_then(|ports| ports.get(index)).cloned())
            })
            .collect();
        match op.attr() {
            Attr::Control(control) => {
                self.label(control.label.as_ref());
                if op.code() == Opcode::Loop {
                    self.loop_params(node, sources);
                } else if op.code() == Opcode::If {
                    self.out.push(' ');
                    self.parts(sources.into_iter().take(1).collect());
                }
                let mut out = std::mem::take(self.out);
                write_results(&mut out, &control.results, &self.naming());
                *self.out = out;
            }
            Attr::Match(of) => {
                self.label(of.label.as_ref());
                self.out.push(' ');
                self.parts(sources.into_iter().take(1).collect());
                let scrutinee = self.scrutinee(node);
                let mut out = std::mem::take(self.out);
                out.push(' ');
                write_cases(&mut out, of, scrutinee.as_ref(), &self.naming());
                write_results(&mut out, &of.results, &self.naming());
                *self.out = out;
            }
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Type(_)
            | Attr::Named(_)
            | Attr::Field(..)
            | Attr::Variant(_)
            | Attr::Function(_)
            | Attr::Variable(_)
            | Attr::Index(_)
            | Attr::Signature(_)
            | Attr::Indirect(..)
            | Attr::Entries(..)
            | Attr::Memory(_)
            | Attr::Exit(_)
            | Attr::Switch(_)
            | Attr::Raw(_) => self.operands(op.code(), sources),
        }
    }

    fn label(&mut self, label: Option<&Arc<str>>) {
        if let Some(label) = label {
            self.out.push(' ');
            write_name(self.out, label);
        }
    }

    /// What the inputs take, where a literal needs to know.
    fn expected(&self, node: &Node) -> Option<SmallVec<[Expected; 3]>> {
        let folds = node.inputs().iter().any(|source| match source {
            Some(Source::Node(of, 0)) => self.folded.contains(&of),
            Some(_) | None => false,
        });
        if folds { ports(self.program, self.function, node).map(|ports| ports.inputs) } else { None }
    }

    fn loop_params(&mut self, node: &Node, sources: Vec<Part>) {
        let region = node.regions().first().and_then(|region| self.function.body().region(*region));
        let Some(region) = region.filter(|region| !region.params.is_empty()) else { return };
        self.out.push_str(" (");
        let mut sources = sources.into_iter();
        for (index, param) in region.params.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { ", " });
            self.param(param);
            if let Some(source) = sources.next() {
                self.out.push_str(" = ");
                self.parts(vec![source]);
            }
        }
        self.out.push(')');
    }

    /// The operands behind an operator, each in the way of its kind.
    fn operands(&mut self, code: Opcode, sources: Vec<Part>) {
        let mut parts = Vec::with_capacity(sources.len() * 2 + 2);
        match code {
            Opcode::Call => {
                parts.push(Part::Text("("));
                let alone = sources.len() == 1;
                for (index, source) in sources.into_iter().enumerate() {
                    parts.push(Part::Text(if index == 0 { "" } else { ", " }));
                    parts.push(source);
                }
                if alone && self.opens_group(&parts) {
                    // The parentheses of the call are those of the operator in it.
                    let source = parts.pop();
                    parts.clear();
                    parts.push(Part::Text(""));
                    parts.extend(source);
                } else {
                    parts.push(Part::Text(")"));
                }
            }
            Opcode::Break | Opcode::Continue | Opcode::BreakIf | Opcode::ContinueIf | Opcode::BrSwitch => {
                let plain = usize::from(!matches!(code, Opcode::Break | Opcode::Continue));
                for (index, source) in sources.into_iter().enumerate() {
                    if index < plain || self.opens_group(std::slice::from_ref(&source)) {
                        parts.push(Part::Text(" "));
                        parts.push(source);
                    } else {
                        parts.push(Part::Text(" ("));
                        parts.push(source);
                        parts.push(Part::Text(")"));
                    }
                }
            }
            _ => {
                for (index, source) in sources.into_iter().enumerate() {
                    parts.push(Part::Text(separator(code, index)));
                    parts.push(source);
                }
            }
        }
        self.parts(parts);
    }

    /// Whether the last part is written in parentheses of its own.
    fn opens_group(&self, parts: &[Part]) -> bool {
        match parts.last() {
            Some(Part::Source(Some(Source::Node(of, 0)), expected)) if self.folded.contains(of) => {
                !self.function.body().node(*of).is_some_and(|node| is_literal(node, expected.as_ref()))
            }
            Some(Part::Source(..) | Part::Text(_)) | None => false,
        }
    }

    /// Writes parts in order, opening what is folded.
    fn parts(&mut self, mut parts: Vec<Part>) {
        parts.reverse();
        while let Some(part) = parts.pop() {
            let (source, expected) = match part {
                Part::Text(text) => {
                    self.out.push_str(text);
                    continue;
                }
                Part::Source(None, _) => {
                    self.out.push('_');
                    continue;
                }
                Part::Source(Some(source), expected) => (source, expected),
            };
            let folded = match source {
                Source::Node(of, 0) if self.folded.contains(&of) => {
                    self.function.body().node(of).map(|node| (of, node))
                }
                Source::Node(..) | Source::RegionParam(..) | Source::Param(..) => None,
            };
            let Some((of, node)) = folded else {
                self.source(source);
                continue;
            };
            let tag = if self.detail > Detail::Summary { format!("#{of}") } else { String::new() };
            if let (Attr::Const(value), true) = (node.op().attr(), is_literal(node, expected.as_ref())) {
                write_const(self.out, value, FloatStyle::WithPoint);
                self.out.push_str(&tag);
                continue;
            }
            self.out.push('(');
            let mut out = std::mem::take(self.out);
            write_mnemonic(&mut out, node.op(), &tag, &self.naming());
            *self.out = out;
            parts.push(Part::Text(")"));
            let expected = self.expected(node);
            for index in (0..node.inputs().len()).rev() {
                let source = node.inputs().get(index);
                parts.push(Part::Source(
                    source,
                    expected.as_ref().and_then(|ports| ports.get(index)).cloned(),
                ));
                parts.push(Part::Text(separator(node.op().code(), index)));
            }
        }
    }

    /// A value by its name, if that means it here.
    fn source(&mut self, source: Source) {
        let means = |name: &str, source| self.scope.lookup(name) == Some(Binding::Value(source));
        let body = self.function.body();
        match source {
            Source::Node(of, port) => {
                let name = body.node(of).and_then(|node| node.name());
                let mut names = name.into_iter().flat_map(|name| output_names(name));
                let own = names.nth(usize::from(port)).filter(|name| is_bare(name));
                if let Some(name) = own {
                    self.out.push_str(name);
                    if !means(name, source) {
                        put(self.out, format_args!("#{source}"));
                    }
                    return;
                }
                let first = name.map(|name| &**name).filter(|name| is_bare(name));
                match first.filter(|name| means(name, Source::Node(of, 0))) {
                    Some(name) if port > 0 => put(self.out, format_args!("{name}.{port}")),
                    Some(_) | None => put(self.out, format_args!("{source}")),
                }
            }
            Source::RegionParam(region, index) => {
                let params = body.region(region).map_or(&[][..], |region| &region.params);
                let name = params.get(usize::from(index)).and_then(|param| param.name.as_deref());
                match name.filter(|name| is_bare(name) && means(name, source)) {
                    Some(name) => self.out.push_str(name),
                    None => put(self.out, format_args!("{source}")),
                }
            }
            Source::Param(function, index) => {
                let param = self.function.head().params.get(usize::from(index));
                let name = param.filter(|_| function == self.of).map(|param| &*param.name);
                match name.filter(|name| is_bare(name) && means(name, source)) {
                    Some(name) => self.out.push_str(name),
                    None => put(self.out, format_args!("{source}")),
                }
            }
        }
    }
}

/// What stands before an operand.
fn separator(code: Opcode, index: usize) -> &'static str {
    match code {
        // What is set comes first, like an operand.
        Opcode::VarSet | Opcode::GlobalSet => ", ",
        _ if index == 0 => " ",
        _ => ", ",
    }
}

/// Whether a folded node is written as a literal: a constant of the type that its place takes.
fn is_literal(node: &Node, expected: Option<&Expected>) -> bool {
    match (node.op().attr(), expected) {
        (Attr::Const(value), Some(Expected::Is(ty))) => value.ty() == *ty,
        (Attr::Const(value), Some(Expected::Address | Expected::Integer | Expected::Reference)) => {
            value.ty() == Type::I32
        }
        (_, _) => false,
    }
}
