//! Lines in place of nodes.

use std::sync::Arc;

use lmlang_ir::text::{is_bare, output_names};
use lmlang_ir::{
    Attr, Control, Function, NodeContent, NodeRef, Op, Opcode, Region, RegionOwner, RegionRef, RegionRole,
    Source, Type, counted,
};

use super::inputs::{ReplaceSubgraph, Target};
use super::span::Span;
use crate::request::error::{Done, EditError, code};
use crate::request::removal::subtree;
use crate::request::session::Session;

impl Session<'_> {
    /// Puts lines in place of nodes. They say what takes the place of values that are used elsewhere: by a `yield` at their
    /// end, or by labels that are called as the old values were.
    pub(in crate::request) fn replace_subgraph(&mut self, edit: &ReplaceSubgraph) -> Done<()> {
        let span = self.span(&edit.refs)?;
        let from = self.function(&["refs"], span.function)?.clone();
        let given = span.given(from.body());
        let types = self.types_of(&from, &given)?;
        let text = ended(&edit.text, &from, &given, &types)?;
        // The lines stand in a block behind the nodes at first: a region of their own, which a `yield` ends.
        let block: NodeRef = self.allocate_in(span.function, NodeRef::new)?;
        let inner: RegionRef = self.allocate_in(span.function, RegionRef::new)?;
        let control = Attr::Control(Arc::new(Control { label: None, results: types.clone() }));
        let Some(op) = Op::new(Opcode::Block, control) else { return Ok(()) };
        let content = NodeContent { regions: vec![inner], ..NodeContent::new(op, []) };
        let last = span.nodes.last().copied();
        let mut open = self.open(span.function)?;
        open.insert_node(block, span.region, last, content)?;
        open.add_region(inner, Region::new(RegionOwner::Node(block), RegionRole::Body, Vec::new()))?;
        self.insert_lines(&["text"], span.function, inner, None, &text)?;
        self.check_lines(&span, block, inner, &given, &types)?;
        let outer: Vec<(Source, Option<Source>)> =
            (0..).zip(&given).map(|(port, value)| (*value, Some(Source::Node(block, port)))).collect();
        self.redirect(&span, &outer)?;
        self.cut_span(&span)?;
        self.unwrap_node(&Target { name_as: None, of: block.to_string() })
    }

    /// Fails when lines take a value of the nodes that go, or give another number of values than is used.
    fn check_lines(
        &self,
        span: &Span,
        block: NodeRef,
        inner: RegionRef,
        given: &[Source],
        types: &[Type],
    ) -> Done<()> {
        let body = self.body(span.function)?;
        let end = body.terminator(inner);
        for node in subtree(body, block).0 {
            let sources = body.node(node).into_iter().flat_map(|found| found.inputs().iter().flatten());
            for source in sources {
                if matches!(source, Source::Node(of, _) if span.inside.contains(&of)) {
                    let message = match Some(node) == end {
                        true => format!("nothing in the lines takes the place of `{source}`"),
                        false => format!("the lines take `{source}`, which they replace"),
                    };
                    let error = EditError::new(code::MISSING_VALUE, &["text"], message);
                    return Err(error.found(source.to_string()).expected(wanted(given, types)).into());
                }
            }
        }
        match end.and_then(|end| body.node(end)) {
            Some(end) if end.op().code() == Opcode::Yield && end.inputs().len() == given.len() => Ok(()),
            Some(end) if end.op().code() == Opcode::Yield => {
                let gives = counted(end.inputs().len() as u64, "value", "values");
                let message = format!("the lines give {gives}, not {}", given.len());
                let error = EditError::new(code::MISSING_VALUE, &["text"], message);
                Err(error.expected(wanted(given, types)).into())
            }
            Some(_) | None => {
                let error =
                    EditError::new(code::MISSING_VALUE, &["text"], "the lines do not end in a `yield`");
                Err(error.expected(wanted(given, types)).into())
            }
        }
    }
}

fn wanted(given: &[Source], types: &[Type]) -> Vec<String> {
    given.iter().zip(types).map(|(value, ty)| format!("a value for `{value}`: {ty}")).collect()
}

/// The lines with a `yield` at their end, which names what the old values were called when they have none.
fn ended(text: &str, from: &Function, given: &[Source], types: &[Type]) -> Done<String> {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if last.split_whitespace().next() == Some("yield") {
        return Ok(text.to_owned());
    }
    let name = |value: &Source| match value {
        Source::Node(node, port) => {
            let label = from.body().node(*node)?.name()?;
            output_names(label).nth(usize::from(*port)).filter(|name| is_bare(name))
        }
        Source::RegionParam(..) | Source::Param(..) => None,
    };
    let names: Option<Vec<&str>> = given.iter().map(name).collect();
    match names {
        Some(names) => Ok(format!("{text}\nyield {}", names.join(", "))),
        None => {
            let message = "values of the nodes have no names, and the lines do not end in a `yield`";
            Err(EditError::new(code::MISSING_VALUE, &["text"], message).expected(wanted(given, types)).into())
        }
    }
}
