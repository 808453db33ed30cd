//! Standard input as one more argument of functions that read it.

use std::sync::Arc;

use lmlang_interp::HostFunction;
use lmlang_ir::{Const, FuncRef, Function, Opcode, Type, Value};
use lmlang_verify::Checked;

/// What a function reads of standard input, with what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reading {
    /// Nothing.
    Nothing,
    /// Lines of text, by `read_line`.
    Lines,
    /// Any bytes, by a function of WASI.
    Bytes,
}

impl Reading {
    /// What some functions read.
    pub(crate) fn of(checked: &Checked, functions: &[FuncRef]) -> Reading {
        let program = checked.program();
        let found = functions.iter().filter_map(|of| program.function(*of)).map(|of| reading(of));
        found.max().unwrap_or(Reading::Nothing)
    }

    /// The type of the argument that stands for it, if anything is read.
    pub(crate) fn ty(self) -> Option<Type> {
        match self {
            Reading::Nothing => None,
            Reading::Lines => Some(Type::Array(Arc::new(Type::String))),
            Reading::Bytes => Some(Type::Bytes),
        }
    }

    /// The arguments that a function takes, and what it may read: the last of what was made for it.
    pub(crate) fn split(self, made: &[Value]) -> (&[Value], Option<Vec<u8>>) {
        match (self, made.split_last()) {
            (Reading::Nothing, _) | (_, None) => (made, None),
            (Reading::Lines | Reading::Bytes, Some((last, args))) => (args, Some(content(last))),
        }
    }
}

fn reading(function: &Function) -> Reading {
    let head = function.head();
    if let Some(import) = &head.import {
        let params = head.params.iter().map(|param| &param.ty);
        let host = HostFunction::find(&import.module, &import.name, params, &head.results);
        return if host.is_some_and(HostFunction::reads) { Reading::Bytes } else { Reading::Nothing };
    }
    let by_lines = function.body().nodes().any(|(_, node)| node.op().code() == Opcode::ReadLine);
    if by_lines { Reading::Lines } else { Reading::Nothing }
}

/// The bytes that an argument stands for; a line has its end.
fn content(value: &Value) -> Vec<u8> {
    match value {
        Value::Const(Const::Bytes(bytes)) => bytes.to_vec(),
        Value::Const(Const::String(text)) => [text.as_bytes(), b"\n"].concat(),
        Value::Array(_, lines) => lines.iter().flat_map(content).collect(),
        _ => Vec::new(),
    }
}
