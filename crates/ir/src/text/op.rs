//! Operators with refs: the canonical form, which is also the stored one and that of the wire.
//!
//! `add.i32`, `const.i64 5`, `call f7`, `struct.get t3.d7`, `loop L -> (i64)`, `break n12`,
//! `match L (0, 1, default) -> (string)`, `load.i32 offset=4`. No program is needed to read or write it.

use crate::ops::{Attr, Case, Exit, Op};
use crate::program::Program;
use crate::refs::{FuncRef, MemberRef, ModuleRef, NodeRef, TypeRef, VarRef};
use crate::text::cursor::{Parsed, Parser};
use crate::text::dollar::Written;
use crate::text::error::{Mistake, TextError, code, locate};
use crate::text::lexer::Kind;
use crate::text::literal::{FloatStyle, put, write_const};
use crate::text::names::ProgramNames;
use crate::text::resolve::{RefsOnly, Resolved, resolve_op, resolve_type};
use crate::text::words::write_name;
use crate::types::{Signature, Type, Variant, write_type};

/// Prints an operator in the canonical form. [`parse_op`] reads it back exactly.
pub fn print_op(op: &Op) -> String {
    let mut out = String::new();
    write_op(&mut out, op, "", &Refs);
    out
}

/// Reads an operator in the canonical form: entities by ref.
pub fn parse_op<'t>(text: impl Into<Written<'t>>) -> Result<Op, TextError> {
    parse_alone(
        text,
        |parser| {
            let mut head = parser.head()?;
            let params = parser.bare_control(&mut head)?;
            Ok((head, params))
        },
        |(head, params)| match params.first() {
            None => resolve_op(&head, None, &RefsOnly),
            Some(_) => Err(Mistake::new(code::SYNTAX, head.at, "parameters belong to the region of a loop")),
        },
    )
}

/// Reads a type with refs for the nominal ones, as `Display` prints it.
pub fn parse_type_refs(text: &str) -> Result<Type, TextError> {
    parse_alone(text, |parser| parser.type_syntax(), |syntax| resolve_type(&syntax, &RefsOnly))
}

/// Reads a type as someone writes it in a module: nominal types by name or ref.
pub fn parse_type<'t>(
    program: &Program,
    module: Option<ModuleRef>,
    text: impl Into<Written<'t>>,
) -> Result<Type, TextError> {
    let names = ProgramNames { program, module };
    parse_alone(text, |parser| parser.type_syntax(), |syntax| resolve_type(&syntax, &names))
}

/// Reads one thing that is the whole text; the first mistake is told.
pub(super) fn parse_alone<'t, S, T>(
    text: impl Into<Written<'t>>,
    parse: impl FnOnce(&mut Parser<'_>) -> Parsed<S>,
    resolve: impl FnOnce(S) -> Resolved<T>,
) -> Result<T, TextError> {
    let mut parser = Parser::new(text);
    let text = parser.text;
    // There is one thing to read: line ends mean nothing.
    parser.parens = 1;
    let syntax = parse(&mut parser);
    if syntax.is_ok() && parser.peek().kind != Kind::End {
        // Noted; the result is not looked at again.
        let _: crate::text::cursor::Skip = parser.unexpected("the end of the text");
    }
    match syntax {
        Ok(syntax) if parser.mistakes.is_empty() => {
            resolve(syntax).map_err(|mistake| first_of(text, vec![mistake]))
        }
        Ok(_) | Err(_) => Err(first_of(text, parser.mistakes)),
    }
}

/// The first mistake of a text.
pub(super) fn first_of(text: &str, mistakes: Vec<Mistake>) -> TextError {
    locate(text, mistakes).into_iter().next().unwrap_or_else(|| TextError {
        code: code::SYNTAX,
        message: "malformed text".to_owned(),
        line: 1,
        column: 1,
        expected: Vec::new(),
        found: None,
        candidates: Vec::new(),
    })
}

/// How entities are named when an operator is printed.
pub(super) trait Naming {
    fn named(&self, out: &mut String, of: TypeRef);
    fn function(&self, out: &mut String, of: FuncRef);
    fn variable(&self, out: &mut String, of: VarRef);
    fn storage(&self, out: &mut String, of: VarRef);
    fn member(&self, out: &mut String, owner: TypeRef, of: MemberRef);
    fn target(&self, out: &mut String, of: NodeRef);
    fn capture(&self, out: &mut String, index: u32);
}

/// Everything by ref.
pub(super) struct Refs;

impl Naming for Refs {
    fn named(&self, out: &mut String, of: TypeRef) {
        put(out, format_args!("{of}"));
    }

    fn function(&self, out: &mut String, of: FuncRef) {
        put(out, format_args!("{of}"));
    }

    fn variable(&self, out: &mut String, of: VarRef) {
        put(out, format_args!("{of}"));
    }

    fn storage(&self, out: &mut String, of: VarRef) {
        put(out, format_args!("{of}"));
    }

    fn member(&self, out: &mut String, _: TypeRef, of: MemberRef) {
        put(out, format_args!("{of}"));
    }

    fn target(&self, out: &mut String, of: NodeRef) {
        put(out, format_args!("{of}"));
    }

    fn capture(&self, out: &mut String, index: u32) {
        put(out, format_args!("{index}"));
    }
}

/// Writes a type with names.
pub(super) fn write_named_type(out: &mut String, of: &Type, names: &impl Naming) {
    write_type(out, of, &|out, named| {
        names.named(out, named);
        Ok(())
    })
    .expect("a string takes everything");
}

/// Writes `(i32, i64)`.
pub(super) fn write_type_list(out: &mut String, of: &[Type], names: &impl Naming) {
    out.push('(');
    for (index, part) in of.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write_named_type(out, part, names);
    }
    out.push(')');
}

fn write_signature(out: &mut String, of: &Signature, names: &impl Naming) {
    write_type_list(out, &of.params, names);
    out.push_str(" -> ");
    write_type_list(out, &of.results, names);
}

/// Writes `-> (i32)`, or nothing for no results.
pub(super) fn write_results(out: &mut String, of: &[Type], names: &impl Naming) {
    if !of.is_empty() {
        out.push_str(" -> ");
        write_type_list(out, of, names);
    }
}

pub(super) fn write_variant(out: &mut String, of: &Variant, names: &impl Naming) {
    write_named_type(out, &of.owner(), names);
    out.push('.');
    write_variant_name(out, of, names);
}

pub(super) fn write_variant_name(out: &mut String, of: &Variant, names: &impl Naming) {
    match (of, of.built_in_name()) {
        (Variant::Member(owner, member), _) => names.member(out, *owner, *member),
        (_, name) => out.push_str(name.unwrap_or_default()),
    }
}

/// Writes `(0, 1, default)`; variants with their enum unless it follows from the scrutinee.
pub(super) fn write_cases(
    out: &mut String,
    of: &crate::ops::Match,
    scrutinee: Option<&Type>,
    names: &impl Naming,
) {
    out.push('(');
    for (index, case) in of.cases.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write_case(out, case, scrutinee, names);
    }
    if of.default {
        out.push_str(if of.cases.is_empty() { "default" } else { ", default" });
    }
    out.push(')');
}

pub(super) fn write_case(out: &mut String, case: &Case, scrutinee: Option<&Type>, names: &impl Naming) {
    match case {
        Case::Int(value) => put(out, format_args!("{value}")),
        Case::Variant(variant) if scrutinee.is_some_and(|ty| *ty == variant.owner()) => {
            write_variant_name(out, variant, names);
        }
        Case::Variant(variant) => write_variant(out, variant, names),
    }
}

/// Writes an operator: the mnemonic, what belongs right to it, `tag`, and what stands after a blank.
pub(super) fn write_op(out: &mut String, op: &Op, tag: &str, names: &impl Naming) {
    write_mnemonic(out, op, tag, names);
    match op.attr() {
        Attr::Control(control) => {
            if let Some(label) = &control.label {
                out.push(' ');
                write_name(out, label);
            }
            write_results(out, &control.results, names);
        }
        Attr::Match(of) => {
            if let Some(label) = &of.label {
                out.push(' ');
                write_name(out, label);
            }
            out.push(' ');
            write_cases(out, of, None, names);
            write_results(out, &of.results, names);
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
        | Attr::Raw(_) => {}
    }
}

/// Writes what [`Parser::head`] reads: everything of an operator but label, cases and results of regions' owners.
pub(super) fn write_mnemonic(out: &mut String, op: &Op, tag: &str, names: &impl Naming) {
    out.push_str(op.code().mnemonic());
    match op.attr() {
        Attr::Scalar(scalar) => put(out, format_args!(".{scalar}")),
        Attr::Convert(from, to) => put(out, format_args!(".{from}.{to}")),
        Attr::Memory(arg) => put(out, format_args!(".{}", arg.ty)),
        Attr::Const(value) => put(out, format_args!(".{}", value.ty())),
        Attr::Type(ty) => {
            out.push('<');
            match (op.spec().attr, ty) {
                (crate::ops::AttrKind::Array, Type::Array(element)) => write_named_type(out, element, names),
                (crate::ops::AttrKind::Array, Type::FixedArray(element, length)) => {
                    write_named_type(out, element, names);
                    put(out, format_args!(", {length}"));
                }
                (_, ty) => write_named_type(out, ty, names),
            }
            out.push('>');
        }
        Attr::Signature(of) => {
            out.push('<');
            write_signature(out, of, names);
            out.push('>');
        }
        Attr::None
        | Attr::Named(_)
        | Attr::Field(..)
        | Attr::Variant(_)
        | Attr::Function(_)
        | Attr::Variable(_)
        | Attr::Index(_)
        | Attr::Indirect(..)
        | Attr::Entries(..)
        | Attr::Control(_)
        | Attr::Match(_)
        | Attr::Exit(_)
        | Attr::Switch(_)
        | Attr::Raw(_) => {}
    }
    out.push_str(tag);
    write_spaced(out, op, names);
}

fn write_spaced(out: &mut String, op: &Op, names: &impl Naming) {
    match op.attr() {
        Attr::Const(value) => {
            out.push(' ');
            write_const(out, value, FloatStyle::WithPoint);
        }
        Attr::Memory(arg) => {
            if arg.offset != 0 {
                put(out, format_args!(" offset={}", arg.offset));
            }
            let natural = op.code().access_bytes(arg.ty).trailing_zeros() as u8;
            match arg.align_log2 {
                given if given == natural => {}
                given @ 0..32 => put(out, format_args!(" align={}", 1u32 << given)),
                given => put(out, format_args!(" align=2^{given}")),
            }
        }
        Attr::Named(of) => {
            out.push(' ');
            names.named(out, *of);
        }
        Attr::Field(of, member) => {
            out.push(' ');
            names.named(out, *of);
            out.push('.');
            names.member(out, *of, *member);
        }
        Attr::Variant(of) => {
            out.push(' ');
            write_variant(out, of, names);
        }
        Attr::Function(of) => {
            out.push(' ');
            names.function(out, *of);
        }
        Attr::Variable(of) => {
            out.push(' ');
            if op.spec().attr == crate::ops::AttrKind::Variable {
                names.variable(out, *of);
            } else {
                names.storage(out, *of);
            }
        }
        Attr::Index(index) => {
            out.push(' ');
            names.capture(out, *index);
        }
        Attr::Indirect(table, of) => {
            out.push(' ');
            names.storage(out, *table);
            out.push('<');
            write_signature(out, of, names);
            out.push('>');
        }
        Attr::Entries(table, from) => {
            out.push(' ');
            names.storage(out, *table);
            out.push(' ');
            names.storage(out, *from);
        }
        Attr::Exit(target) => {
            out.push(' ');
            names.target(out, *target);
        }
        Attr::Switch(targets) => {
            out.push_str(" (");
            for (index, exit) in targets.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                match exit {
                    Exit::Break(target) => {
                        out.push_str("break ");
                        names.target(out, *target);
                    }
                    Exit::Continue(target) => {
                        out.push_str("continue ");
                        names.target(out, *target);
                    }
                    Exit::Return => out.push_str("return"),
                }
            }
            out.push(')');
        }
        Attr::Raw(raw) => {
            out.push_str(" \"");
            raw.bytes.iter().for_each(|byte| put(out, format_args!("{byte:02x}")));
            out.push_str("\" ");
            write_signature(out, &raw.signature, names);
        }
        Attr::None
        | Attr::Scalar(_)
        | Attr::Convert(..)
        | Attr::Type(_)
        | Attr::Signature(_)
        | Attr::Control(_)
        | Attr::Match(_) => {}
    }
}

#[cfg(test)]
#[path = "op_tests.rs"]
mod tests;
