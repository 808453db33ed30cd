//! Who writes, and who reads.

use std::collections::BTreeMap;

use lmlang_ir::{
    Attr, Body, Case, FuncRef, MemberRef, Node, NodeRef, Opcode, Place, Program, Ref, Storage, StorageKind,
    TableEntry, TypeRef, VarRef, Variant,
};
use lmlang_ir::{Initial, Offset};

use crate::analysis::{Access, Answer, Reason, Unanswerable, kind_of};

/// Which way is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Write,
    Read,
}

/// What is written or read.
#[derive(Clone, Copy)]
enum Target {
    Type(TypeRef),
    Member(TypeRef, MemberRef),
    Variable(FuncRef, VarRef),
    Storage(VarRef),
}

/// Answers, by function (storage first) and node, each once.
type Found = BTreeMap<(Option<FuncRef>, Ref), Reason>;

pub(super) fn find(program: &Program, of: &[Ref], way: Way) -> Result<Vec<Answer>, Unanswerable> {
    if of.is_empty() {
        return Err(Unanswerable::NothingNamed);
    }
    let mut found = Found::new();
    for of in of {
        let target = match program.place(*of) {
            Some(Place::Type(of)) => Target::Type(of),
            Some(Place::Member(owner, of)) => Target::Member(owner, of),
            Some(Place::Variable(function, of)) => Target::Variable(function, of),
            Some(Place::Storage(of)) => Target::Storage(of),
            Some(
                Place::Module(_)
                | Place::Function(_)
                | Place::Region(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => {
                let expected = "a field, a variant, a type, a variable or storage";
                return Err(Unanswerable::OtherKind { of: *of, found: kind_of(program, *of), expected });
            }
        };
        match target {
            Target::Type(of) => members(program, of, None, way, &mut found),
            Target::Member(owner, of) => members(program, owner, Some(of), way, &mut found),
            Target::Variable(function, of) => {
                let body = program.function(function).map(|function| function.body());
                for node in body.into_iter().flat_map(|body| naming(body, of.into())) {
                    let code = body.and_then(|body| body.node(node)).map(|node| node.op().code());
                    let how = match (way, code) {
                        (Way::Write, Some(Opcode::VarSet)) => Access::Writes,
                        (Way::Read, Some(Opcode::VarGet)) => Access::Reads,
                        (Way::Write | Way::Read, _) => continue,
                    };
                    found.entry((Some(function), node.into())).or_insert(Reason::Access(how, of.into()));
                }
            }
            Target::Storage(of) => storage(program, of, way, &mut found),
        }
    }
    Ok(found.into_iter().map(|((_, of), reason)| Answer { of, reason }).collect())
}

/// The nodes whose operators name something, by ref.
fn naming(body: &Body, of: Ref) -> impl Iterator<Item = NodeRef> + '_ {
    body.users_of(of.number).filter(|one| one.input.is_none()).map(|one| one.node)
}

/// The functions that mention something.
fn functions(program: &Program, of: Ref) -> impl Iterator<Item = FuncRef> + '_ {
    program.users_of(of).filter_map(|(user, _)| FuncRef::try_from(user).ok())
}

/// Nodes that have to do with a member of a type, or with any.
fn members(program: &Program, owner: TypeRef, only: Option<MemberRef>, way: Way, found: &mut Found) {
    let is_struct = program.type_def(owner).is_some_and(|def| !def.fields().is_empty());
    let wanted = |member: MemberRef| only.is_none_or(|only| only == member);
    let whole: Ref = only.map_or(owner.into(), Ref::from);
    for function in functions(program, owner.into()) {
        let Some(record) = program.function(function) else { continue };
        let body = record.body();
        let mut enter = |node: NodeRef, how: Access, of: Ref| {
            found.entry((Some(function), node.into())).or_insert(Reason::Access(how, of));
        };
        for of in naming(body, owner.into()) {
            let Some(node) = body.node(of) else { continue };
            match (node.op().code(), node.op().attr(), way) {
                (Opcode::StructNew, Attr::Named(named), Way::Write) if *named == owner && is_struct => {
                    enter(of, Access::MakesStruct, whole);
                }
                (Opcode::StructSet, Attr::Field(_, member), Way::Write) if wanted(*member) => {
                    enter(of, Access::SetsField, (*member).into());
                }
                (Opcode::StructGet, Attr::Field(_, member), Way::Read) if wanted(*member) => {
                    enter(of, Access::GetsField, (*member).into());
                }
                (Opcode::FieldAddr, Attr::Field(_, member), _) if wanted(*member) => {
                    for (node, how) in through_address(body, of, way) {
                        enter(node, how, (*member).into());
                    }
                }
                (Opcode::EnumTag, Attr::Named(named), Way::Read) if *named == owner && only.is_none() => {
                    enter(of, Access::ReadsTag, whole);
                }
                (Opcode::EnumTag, Attr::Type(lmlang_ir::Type::Named(named)), Way::Read)
                    if *named == owner && only.is_none() =>
                {
                    enter(of, Access::ReadsTag, whole);
                }
                (Opcode::EnumNew, Attr::Variant(variant), Way::Write) => {
                    if let Some(member) = member_of(variant, owner).filter(|of| wanted(*of)) {
                        enter(of, Access::MakesVariant, member.into());
                    }
                }
                (Opcode::EnumPayload, Attr::Variant(variant), Way::Read) => {
                    if let Some(member) = member_of(variant, owner).filter(|of| wanted(*of)) {
                        enter(of, Access::TakesPayload, member.into());
                    }
                }
                (Opcode::Match, Attr::Match(cases), Way::Read) => {
                    let members = cases.cases.iter().filter_map(|case| match case {
                        Case::Variant(variant) => member_of(variant, owner),
                        Case::Int(_) => None,
                    });
                    if let Some(member) = members.into_iter().find(|of| wanted(*of)) {
                        enter(of, Access::Matches, member.into());
                    }
                }
                (_, _, _) => {}
            }
        }
    }
}

fn member_of(variant: &Variant, owner: TypeRef) -> Option<MemberRef> {
    match variant {
        Variant::Member(of, member) if *of == owner => Some(*member),
        Variant::Member(..) | Variant::None(_) | Variant::Some(_) | Variant::Ok(_) | Variant::Err(_) => None,
    }
}

/// What is done with an address: loads and stores at it, and otherwise the node that makes it.
fn through_address(body: &Body, address: NodeRef, way: Way) -> Vec<(NodeRef, Access)> {
    let mut found = Vec::new();
    for one in body.uses_of(address.number()) {
        let Some(node) = body.node(one.node) else { continue };
        let how = match (memory_access(node), one.input, way) {
            // `memory.copy` reads at its second address.
            _ if matches!(node.op().code(), Opcode::MemoryCopy) => None,
            (Some((_, true)), Some(0), Way::Write) => Some((one.node, Access::StoresField)),
            (Some((true, _)), Some(0), Way::Read) => Some((one.node, Access::LoadsField)),
            (Some(_), Some(0), Way::Write | Way::Read) => continue,
            (Some(_) | None, _, _) => None,
        };
        found.push(how.unwrap_or((address, Access::PassesAddress)));
    }
    found.dedup();
    found
}

/// Whether a node reads, and whether it writes, linear memory.
fn memory_access(node: &Node) -> Option<(bool, bool)> {
    Some(match node.op().code() {
        Opcode::Load
        | Opcode::Load8S
        | Opcode::Load8U
        | Opcode::Load16S
        | Opcode::Load16U
        | Opcode::Load32S
        | Opcode::Load32U
        | Opcode::MemorySize
        | Opcode::BytesLoad => (true, false),
        Opcode::Store
        | Opcode::Store8
        | Opcode::Store16
        | Opcode::Store32
        | Opcode::MemoryFill
        | Opcode::MemoryInit
        | Opcode::BytesStore => (false, true),
        // The size before is what it gives.
        Opcode::MemoryGrow | Opcode::MemoryCopy => (true, true),
        _ => return None,
    })
}

/// Whether a node reads, and whether it writes, storage that its operator names.
fn storage_access(node: &Node, of: VarRef) -> (bool, bool) {
    match (node.op().code(), node.op().attr()) {
        (Opcode::GlobalGet | Opcode::TableGet | Opcode::TableSize | Opcode::CallIndirect, _) => (true, false),
        (Opcode::MemoryInit, _) => (true, false),
        (Opcode::TableGrow, _) => (true, true),
        (
            Opcode::GlobalSet | Opcode::TableSet | Opcode::TableFill | Opcode::DataDrop | Opcode::ElemDrop,
            _,
        ) => (false, true),
        (Opcode::TableInit | Opcode::TableCopy, Attr::Entries(to, from)) => (*from == of, *to == of),
        (_, _) => (false, false),
    }
}

fn storage(program: &Program, of: VarRef, way: Way, found: &mut Found) {
    let Some(record) = program.storage(of) else { return };
    let host = record.import.is_some() || !record.exports.is_empty();
    let shared = match &record.kind {
        StorageKind::Global { mutable, .. } => host && (*mutable || way == Way::Read),
        StorageKind::Memory { .. } | StorageKind::Table { .. } => host,
        StorageKind::Data { .. } | StorageKind::Elements { .. } | StorageKind::Custom { .. } => false,
    };
    if shared {
        found.insert((None, of.into()), Reason::Access(Access::Host, of.into()));
    }
    let others = program.all_storage().filter(|(other, _)| *other != of);
    for (other, _) in others.filter(|(_, other)| at_the_start(other, record, of, way)) {
        found.insert((None, other.into()), Reason::Access(Access::AtTheStart, of.into()));
    }
    let mut look = |function: FuncRef, node: NodeRef, (reads, writes): (bool, bool)| {
        let how = match way {
            Way::Read if reads => Access::Reads,
            Way::Write if writes => Access::Writes,
            Way::Read | Way::Write => return,
        };
        found.entry((Some(function), node.into())).or_insert(Reason::Access(how, of.into()));
    };
    if let StorageKind::Memory { .. } = record.kind {
        // No operator names the one memory that there is.
        for (function, record) in program.functions() {
            for (node, content) in record.body().nodes() {
                if let Some(access) = memory_access(content) {
                    look(function, node, access);
                }
            }
        }
        return;
    }
    for function in functions(program, of.into()) {
        let Some(record) = program.function(function) else { continue };
        for node in naming(record.body(), of.into()) {
            if let Some(content) = record.body().node(node) {
                look(function, node, storage_access(content, of));
            }
        }
    }
}

/// Whether other storage writes to, or takes its value from, a piece of storage at the start.
fn at_the_start(other: &Storage, record: &Storage, of: VarRef, way: Way) -> bool {
    let holds = |entries: &[Option<TableEntry>]| entries.contains(&Some(TableEntry::Global(of)));
    match (&other.kind, way) {
        (StorageKind::Data { offset: Some(offset), .. }, Way::Write | Way::Read) => match (offset, way) {
            (_, Way::Write) => matches!(record.kind, StorageKind::Memory { .. }),
            (Offset::Global(global), Way::Read) => *global == of,
            (Offset::At(_), Way::Read) => false,
        },
        (StorageKind::Elements { target: Some((table, _)), .. }, Way::Write) => *table == of,
        (StorageKind::Elements { target, entries, .. }, Way::Read) => {
            matches!(target, Some((_, Offset::Global(global))) if *global == of) || holds(entries)
        }
        (StorageKind::Table { entries, .. }, Way::Read) => holds(entries),
        (StorageKind::Global { initial: Initial::Global(global), .. }, Way::Read) => *global == of,
        (
            StorageKind::Global { .. }
            | StorageKind::Memory { .. }
            | StorageKind::Data { .. }
            | StorageKind::Table { .. }
            | StorageKind::Elements { .. }
            | StorageKind::Custom { .. },
            _,
        ) => false,
    }
}
