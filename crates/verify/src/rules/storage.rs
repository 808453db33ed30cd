//! V9 and V11 for storage of the program: globals, the memory, data segments, tables.

use lmlang_ir::{Const, Program, Ref, Storage, StorageKind, Type, VarRef};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::findings::Index;
use crate::rules::modules;
use crate::rules::types::{check_use, outside};

/// Pages that 32 bits of address reach.
const MAX_PAGES: u32 = 65_536;

/// One piece of storage.
pub(crate) fn check(
    program: &Program,
    index: &Index,
    of: VarRef,
    storage: &Storage,
    out: &mut Vec<Diagnostic>,
) {
    modules::check_standing(program, of, Some(storage.module), &storage.name, out);
    let taken = outside(Code::DuplicateExport, of, None);
    modules::check_exports(program, index, of.into(), &storage.exports, taken, out);
    let limit = |size: u32, max: u32, out: &mut Vec<Diagnostic>| {
        if size > max {
            let finding = outside(Code::LimitsExceeded, of, None);
            out.push(finding.expecting(Fact::AtMost(max.into())).finding(size as usize));
        }
    };
    match &storage.kind {
        StorageKind::Global { ty, mutable: _, initial } => {
            check_use(program, storage.module, ty, &|code| outside(code, of, None), out);
            if storage.import.is_none() && !may_start_with(ty, initial) {
                let finding = outside(Code::GlobalInitial, of, None);
                out.push(finding.expecting(ty.clone()).finding(initial.ty()));
            }
        }
        StorageKind::Memory { pages, max_pages } => {
            limit(*pages, max_pages.unwrap_or(MAX_PAGES).min(MAX_PAGES), out);
            if index.memories.get_min().is_some_and(|first| *first < of.number()) {
                out.push(outside(Code::DuplicateMemory, of, None));
            }
        }
        StorageKind::Data { offset, bytes: _ } => {
            if offset.is_some() && index.memories.is_empty() {
                out.push(outside(Code::MemoryMissing, of, None));
            }
        }
        StorageKind::Table { entries, max } => {
            limit(entries.len() as u32, max.unwrap_or(u32::MAX), out);
            for (position, entry) in entries.iter().enumerate() {
                let Some(function) = entry else { continue };
                let found = Ref::from(*function);
                let finding = |code| outside(code, of, Some(position)).finding(found);
                match program.function(*function) {
                    None => out.push(finding(Code::UnknownFunction)),
                    Some(function) if !function.head().captures.is_empty() => {
                        out.push(finding(Code::CallNeedsClosure));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// Tells whether a constant is a first value for a type. An address is a number; a type without constants starts with
/// its zero, written as `unit`.
fn may_start_with(ty: &Type, initial: &Const) -> bool {
    match ty {
        Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes => initial.ty() == *ty,
        Type::Ptr(_) => matches!(initial, Const::I32(_)),
        Type::Never
        | Type::Named(_)
        | Type::Option(_)
        | Type::Result(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => *initial == Const::Unit,
    }
}
