//! Where in a module something is.

use std::fmt;

use wasmparser::{Parser, Payload};
use wast::Wat;
use wast::core::{FuncKind, ModuleField, ModuleKind};
use wast::parser::{self, ParseBuffer};
use wast::token::Span;

use super::ImportError;

/// A place in a module, in the form that it was given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A byte of the binary form, from 0.
    Byte(u64),
    /// A place in the text form.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::Text { line, column } => write!(f, "line {line}, column {column}"),
        }
    }
}

impl ImportError {
    /// The same, of a module that was given as this text: with line and column, where the byte belongs to an instruction.
    #[must_use]
    pub fn in_text(mut self, text: &str) -> ImportError {
        let place = match &mut self {
            ImportError::Invalid { at, .. }
            | ImportError::Unsupported { at, .. }
            | ImportError::TooManyNodes { at, .. } => at,
            ImportError::Text { .. } | ImportError::TooMany { .. } => return self,
        };
        if let Place::Byte(offset) = *place
            && let Some(found) = in_text(text, offset)
        {
            *place = found;
        }
        self
    }
}

/// The place of the instruction that is encoded at a byte, or of its function where that ends too early.
fn in_text(text: &str, offset: u64) -> Option<Place> {
    let mut buffer = ParseBuffer::new(text).ok()?;
    buffer.track_instr_spans(true);
    let mut wat = parser::parse::<Wat<'_>>(&buffer).ok()?;
    let module = wat.encode().ok()?;
    let (body, instruction) = instruction(&module, offset)?;
    let Wat::Module(module) = &wat else { return None };
    let ModuleKind::Text(fields) = &module.kind else { return None };
    let bodies = fields.iter().filter_map(|field| match field {
        ModuleField::Func(function) => match &function.kind {
            FuncKind::Inline { expression, .. } => Some((function.span, expression)),
            FuncKind::Import(..) => None,
        },
        _ => None,
    });
    let (function, expression) = bodies.into_iter().nth(body)?;
    let spans: &[Span] = expression.instr_spans.as_deref().unwrap_or_default();
    let (line, column) = spans.get(instruction).copied().unwrap_or(function).linecol_in(text);
    Some(Place::Text { line: line + 1, column: column + 1 })
}

/// The number of the body that a byte is part of, and how many instructions of it come before.
fn instruction(module: &[u8], offset: u64) -> Option<(usize, usize)> {
    let payloads = Parser::new(0).parse_all(module).map_while(Result::ok);
    let bodies = payloads.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    let (number, body) = bodies.enumerate().find(|(_, body)| {
        // What lacks something at its end is told of there.
        body.range().contains(&offset) || body.range().end == offset
    })?;
    let mut operators = body.get_operators_reader().ok()?;
    let mut before = 0;
    while !operators.eof() && operators.original_position() < offset {
        operators.read().ok()?;
        before += 1;
    }
    Some((number, before))
}
