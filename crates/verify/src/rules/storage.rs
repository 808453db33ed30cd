//! V9 and V11 for storage of the program: globals, the memory, tables, segments, custom sections.

use lmlang_ir::{
    Const, FuncRef, Initial, MOST_ENTRIES, Offset, Program, Ref, Storage, StorageKind, TableEntry, Type,
    VarRef,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact, outside};
use crate::findings::Index;
use crate::rules::mentions::storage_word;
use crate::rules::modules;
use crate::rules::types::{check_use, check_zero};

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
            check_zero(ty, &|code| outside(code, of, None), out);
            let unfit = || outside(Code::GlobalInitial, of, None);
            match initial {
                Initial::Const(value) => {
                    if storage.import.is_none() && !may_start_with(ty, value) {
                        out.push(unfit().expecting(ty.clone()).finding(value.ty()));
                    }
                }
                // What a run begins with for the host.
                Initial::Global(named) if storage.import.is_some() => {
                    out.push(unfit().expecting("constant").finding(Ref::from(*named)));
                }
                Initial::Function(named) if storage.import.is_some() => {
                    out.push(unfit().expecting("constant").finding(Ref::from(*named)));
                }
                Initial::Global(global) => {
                    check_start(program, (storage, &|code| outside(code, of, None)), *global, ty, out);
                }
                Initial::Function(function) => {
                    if *ty != Type::FuncRef {
                        out.push(unfit().expecting(ty.clone()).finding(Type::FuncRef));
                    }
                    check_function(program, *function, &|code| outside(code, of, None), out);
                }
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
            if let Some(Offset::Global(global)) = offset {
                check_start(program, (storage, &|code| outside(code, of, None)), *global, &Type::I32, out);
            }
        }
        StorageKind::Table { ty, entries, max } => {
            limit(entries.len() as u32, max.unwrap_or(u32::MAX).min(MOST_ENTRIES as u32), out);
            check_entries(program, (of, storage), ty, entries, out);
        }
        StorageKind::Elements { ty, target, entries } => {
            limit(entries.len() as u32, MOST_ENTRIES as u32, out);
            check_entries(program, (of, storage), ty, entries, out);
            if let Some((table, offset)) = target {
                check_target(program, (of, storage), *table, ty, out);
                if let Offset::Global(global) = offset {
                    check_start(
                        program,
                        (storage, &|code| outside(code, of, None)),
                        *global,
                        &Type::I32,
                        out,
                    );
                }
            }
        }
        StorageKind::Custom { section, place: _, bytes: _ } => {
            // The labels of the program are written there.
            if **section == *"name" {
                out.push(outside(Code::ReservedSection, of, None));
            }
        }
    }
}

/// References: functions are some only to `funcref`, globals to what they hold.
fn check_entries(
    program: &Program,
    (of, storage): (VarRef, &Storage),
    ty: &Type,
    entries: &[Option<TableEntry>],
    out: &mut Vec<Diagnostic>,
) {
    if !matches!(ty, Type::FuncRef | Type::ExternRef) {
        let finding = outside(Code::NoReference, of, None).expecting(Fact::Reference);
        return out.push(finding.finding(ty.clone()));
    }
    for (position, entry) in entries.iter().enumerate() {
        let finding = |code| outside(code, of, Some(position));
        match entry {
            None => {}
            Some(TableEntry::Function(function)) if *ty == Type::FuncRef => {
                check_function(program, *function, &finding, out);
            }
            Some(TableEntry::Function(_)) => {
                out.push(finding(Code::NoReference).expecting(ty.clone()).finding(Type::FuncRef));
            }
            Some(TableEntry::Global(global)) => {
                check_start(program, (storage, &finding), *global, ty, out);
            }
        }
    }
}

/// A table that elements are put into at the start: it holds what they are.
fn check_target(
    program: &Program,
    (of, storage): (VarRef, &Storage),
    table: VarRef,
    ty: &Type,
    out: &mut Vec<Diagnostic>,
) {
    let finding = |code| outside(code, of, None);
    let Some(other) = program.storage(table) else {
        return out.push(finding(Code::UnknownStorage).finding(Ref::from(table)));
    };
    if !modules::sees(program, storage.module, other.module, other.visibility) {
        out.push(finding(Code::NotVisible).finding(Ref::from(table)));
    }
    match &other.kind {
        StorageKind::Table { ty: held, .. } if held == ty => {}
        StorageKind::Table { ty: held, .. } => {
            out.push(finding(Code::NoReference).expecting(held.clone()).finding(ty.clone()));
        }
        other => {
            out.push(finding(Code::WrongStorage).expecting("table").finding(storage_word(other)));
        }
    }
}

/// A function that a reference is made of: it exists and captures nothing.
fn check_function(
    program: &Program,
    function: FuncRef,
    finding: &dyn Fn(Code) -> Diagnostic,
    out: &mut Vec<Diagnostic>,
) {
    let found = Ref::from(function);
    match program.function(function) {
        None => out.push(finding(Code::UnknownFunction).finding(found)),
        Some(function) if !function.head().captures.is_empty() => {
            out.push(finding(Code::CallNeedsClosure).finding(found));
        }
        Some(_) => {}
    }
}

/// A global whose value storage begins with: it is of that type, imported, and nothing is written to it. So its value is
/// known before all others, and there are no circles.
fn check_start(
    program: &Program,
    (storage, finding): (&Storage, &dyn Fn(Code) -> Diagnostic),
    global: VarRef,
    ty: &Type,
    out: &mut Vec<Diagnostic>,
) {
    let found = Ref::from(global);
    let Some(other) = program.storage(global) else {
        return out.push(finding(Code::UnknownStorage).finding(found));
    };
    if !modules::sees(program, storage.module, other.module, other.visibility) {
        out.push(finding(Code::NotVisible).finding(found));
    }
    let StorageKind::Global { ty: other_ty, mutable, .. } = &other.kind else {
        return out.push(finding(Code::WrongStorage).expecting("global").finding(storage_word(&other.kind)));
    };
    if *mutable || other.import.is_none() {
        out.push(finding(Code::GlobalInitial).expecting("imported, immutable global").finding(found));
    } else if other_ty != ty {
        out.push(finding(Code::GlobalInitial).expecting(ty.clone()).finding(other_ty.clone()));
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
