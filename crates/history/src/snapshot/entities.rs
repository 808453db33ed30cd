//! Entities as bytes: numbers, positions in a table of texts, and refs as distances from the one before.

use std::sync::Arc;

use lmlang_ir::draft::Draft;
use lmlang_ir::types::{Const, Type};
use lmlang_ir::{
    Contract, ContractKind, ContractRef, EffectBound, Field, FuncRef, Function, FunctionHead, Import,
    Initial, MemberRef, Module, ModuleRef, NodeContent, NodeRef, Offset, Op, Param, Region, RegionOwner,
    RegionParam, RegionRef, RegionRole, SectionPlace, Shape, Source, Storage, StorageKind, TableEntry,
    TypeDef, VarRef, Variable, VariantDef, Visibility,
};

use super::SnapshotError;
use super::bytes::{Reader, Writer};
use crate::record::regions_outside_in;

fn write_visibility(w: &mut Writer, visibility: Visibility) {
    w.number(u64::from(visibility == Visibility::Public));
}

fn read_visibility(r: &mut Reader<'_>) -> Result<Visibility, SnapshotError> {
    Ok(if r.flag()? { Visibility::Public } else { Visibility::Private })
}

fn write_import(w: &mut Writer, import: Option<&Import>) {
    w.number(u64::from(import.is_some()));
    if let Some(import) = import {
        w.text(&import.module);
        w.text(&import.name);
    }
}

fn read_import(r: &mut Reader<'_>) -> Result<Option<Import>, SnapshotError> {
    Ok(if r.flag()? { Some(Import { module: r.text()?, name: r.text()? }) } else { None })
}

pub(super) fn write_module(w: &mut Writer, module: &Module) {
    w.text(&module.name);
    w.optional_number(module.parent.map(ModuleRef::number));
    write_visibility(w, module.visibility);
    w.optional(module.doc.as_ref());
    w.optional(module.trailer.as_ref());
}

pub(super) fn read_module(r: &mut Reader<'_>) -> Result<Module, SnapshotError> {
    let (name, parent) = (r.text()?, r.optional_number()?);
    let parent = parent.map(|number| ModuleRef::new(number).ok_or_else(|| r.damaged("a ref"))).transpose()?;
    Ok(Module { name, parent, visibility: read_visibility(r)?, doc: r.optional()?, trailer: r.optional()? })
}

pub(super) fn write_type(w: &mut Writer, def: &TypeDef) {
    w.text(&def.name);
    w.reference(def.module.number());
    write_visibility(w, def.visibility);
    w.optional(def.doc.as_ref());
    match &def.shape {
        Shape::Struct(fields) => {
            w.number(0);
            w.list(fields, |w, Field { member, name, ty, doc }| {
                w.reference(member.number());
                w.text(name);
                w.ty(ty);
                w.optional(doc.as_ref());
            });
        }
        Shape::Enum(variants) => {
            w.number(1);
            w.list(variants, |w, VariantDef { member, name, payload, doc }| {
                w.reference(member.number());
                w.text(name);
                w.number(u64::from(payload.is_some()));
                payload.iter().for_each(|payload| w.ty(payload));
                w.optional(doc.as_ref());
            });
        }
    }
}

pub(super) fn read_type(r: &mut Reader<'_>) -> Result<TypeDef, SnapshotError> {
    let (name, module) = (r.text()?, r.reference(ModuleRef::new)?);
    let (visibility, doc) = (read_visibility(r)?, r.optional()?);
    let shape = if r.flag()? {
        Shape::Enum(r.list(|r| {
            let (member, name) = (r.reference(MemberRef::new)?, r.text()?);
            let payload = if r.flag()? { Some(r.ty()?) } else { None };
            Ok(VariantDef { member, name, payload, doc: r.optional()? })
        })?)
    } else {
        Shape::Struct(r.list(|r| {
            let (member, name) = (r.reference(MemberRef::new)?, r.text()?);
            Ok(Field { member, name, ty: r.ty()?, doc: r.optional()? })
        })?)
    };
    Ok(TypeDef { name, module, visibility, shape, doc })
}

fn write_const(w: &mut Writer, value: &Const) {
    w.op(&Op::constant(value.clone()));
}

fn read_const(r: &mut Reader<'_>) -> Result<Const, SnapshotError> {
    match r.op()?.attr() {
        lmlang_ir::Attr::Const(value) => Ok(value.clone()),
        _ => Err(r.damaged("a constant")),
    }
}

fn read_bytes(r: &mut Reader<'_>) -> Result<Arc<[u8]>, SnapshotError> {
    match read_const(r)? {
        Const::Bytes(bytes) => Ok(bytes),
        _ => Err(r.damaged("bytes")),
    }
}

pub(super) fn write_storage(w: &mut Writer, storage: &Storage) {
    w.text(&storage.name);
    w.reference(storage.module.number());
    write_visibility(w, storage.visibility);
    w.list(&storage.exports, |w, export| w.text(export));
    write_import(w, storage.import.as_ref());
    w.optional(storage.doc.as_ref());
    match &storage.kind {
        StorageKind::Global { ty, mutable, initial } => {
            w.number(match initial {
                Initial::Const(_) => 0,
                Initial::Global(_) => 4,
                Initial::Function(_) => 5,
            });
            w.ty(ty);
            w.number(u64::from(*mutable));
            match initial {
                Initial::Const(value) => write_const(w, value),
                Initial::Global(global) => w.reference(global.number()),
                Initial::Function(function) => w.reference(function.number()),
            }
        }
        StorageKind::Memory { pages, max_pages } => {
            w.number(1);
            w.number(u64::from(*pages));
            w.optional_number(max_pages.map(u64::from));
        }
        StorageKind::Data { offset, bytes } => {
            match offset {
                None => {
                    w.number(2);
                    w.optional_number(None);
                }
                Some(Offset::At(address)) => {
                    w.number(2);
                    w.optional_number(Some((*address).into()));
                }
                Some(Offset::Global(global)) => {
                    w.number(6);
                    w.reference(global.number());
                }
            }
            write_const(w, &Const::Bytes(bytes.clone()));
        }
        StorageKind::Table { ty, entries, max } => {
            match (ty, names_globals(entries)) {
                (_, true) => {
                    w.number(12);
                    w.ty(ty);
                }
                (Type::FuncRef, false) => w.number(3),
                (_, false) => {
                    w.number(7);
                    w.ty(ty);
                }
            }
            write_entries(w, entries);
            w.optional_number(max.map(u64::from));
        }
        StorageKind::Elements { ty, target, entries } => {
            let globals = if names_globals(entries) { GLOBALS } else { 0 };
            w.number(
                globals
                    + match target {
                        None => 8,
                        Some((_, Offset::At(_))) => 9,
                        Some((_, Offset::Global(_))) => 10,
                    },
            );
            w.ty(ty);
            if let Some((table, offset)) = target {
                w.reference(table.number());
                match offset {
                    Offset::At(index) => w.number((*index).into()),
                    Offset::Global(global) => w.reference(global.number()),
                }
            }
            write_entries(w, entries);
        }
        StorageKind::Custom { section, place, bytes } => {
            w.number(11);
            w.text(section);
            w.number(place.number());
            write_const(w, &Const::Bytes(bytes.clone()));
        }
    }
}

/// How much larger the kind of elements is where some are globals.
const GLOBALS: u64 = 5;

fn names_globals(entries: &[Option<TableEntry>]) -> bool {
    entries.iter().any(|entry| matches!(entry, Some(TableEntry::Global(_))))
}

/// Functions by their refs; where some entries are globals, with the kind of each before it.
fn write_entries(w: &mut Writer, entries: &[Option<TableEntry>]) {
    if !names_globals(entries) {
        let function = |entry: &TableEntry| entry.named().number;
        return w.list(entries, |w, entry| w.optional_number(entry.as_ref().map(function)));
    }
    w.list(entries, |w, entry| match entry {
        None => w.number(0),
        Some(TableEntry::Function(function)) => {
            w.number(1);
            w.reference(function.number());
        }
        Some(TableEntry::Global(global)) => {
            w.number(2);
            w.reference(global.number());
        }
    });
}

fn read_entries(r: &mut Reader<'_>) -> Result<Vec<Option<TableEntry>>, SnapshotError> {
    r.list(|r| {
        let number = r.optional_number()?;
        let function = number.map(|number| FuncRef::new(number).ok_or_else(|| r.damaged("a ref")));
        Ok(function.transpose()?.map(TableEntry::Function))
    })
}

fn read_mixed_entries(r: &mut Reader<'_>) -> Result<Vec<Option<TableEntry>>, SnapshotError> {
    r.list(|r| match r.number()? {
        0 => Ok(None),
        1 => Ok(Some(TableEntry::Function(r.reference(FuncRef::new)?))),
        2 => Ok(Some(TableEntry::Global(r.reference(VarRef::new)?))),
        _ => Err(r.damaged("a kind of entry")),
    })
}

fn optional_small(r: &mut Reader<'_>) -> Result<Option<u32>, SnapshotError> {
    let number = r.optional_number()?;
    number.map(u32::try_from).transpose().map_err(|_| r.damaged("a smaller number"))
}

pub(super) fn read_storage(r: &mut Reader<'_>) -> Result<Storage, SnapshotError> {
    let (name, module) = (r.text()?, r.reference(ModuleRef::new)?);
    let (visibility, exports) = (read_visibility(r)?, r.list(Reader::text)?);
    let (import, doc) = (read_import(r)?, r.optional()?);
    let kind = match r.number()? {
        0 => StorageKind::Global { ty: r.ty()?, mutable: r.flag()?, initial: read_const(r)?.into() },
        1 => StorageKind::Memory { pages: r.small()?, max_pages: optional_small(r)? },
        2 => {
            let offset = optional_small(r)?.map(Offset::At);
            StorageKind::Data { offset, bytes: read_bytes(r)? }
        }
        3 => StorageKind::Table { ty: Type::FuncRef, entries: read_entries(r)?, max: optional_small(r)? },
        4 => {
            let (ty, mutable) = (r.ty()?, r.flag()?);
            StorageKind::Global { ty, mutable, initial: Initial::Global(r.reference(VarRef::new)?) }
        }
        5 => {
            let (ty, mutable) = (r.ty()?, r.flag()?);
            StorageKind::Global { ty, mutable, initial: Initial::Function(r.reference(FuncRef::new)?) }
        }
        6 => {
            let offset = Some(Offset::Global(r.reference(VarRef::new)?));
            StorageKind::Data { offset, bytes: read_bytes(r)? }
        }
        7 => StorageKind::Table { ty: r.ty()?, entries: read_entries(r)?, max: optional_small(r)? },
        kind @ (8..=10 | 13..=15) => {
            let ty = r.ty()?;
            let target = match kind {
                9 | 14 => Some((r.reference(VarRef::new)?, Offset::At(r.small()?))),
                10 | 15 => Some((r.reference(VarRef::new)?, Offset::Global(r.reference(VarRef::new)?))),
                _ => None,
            };
            let entries = if kind < 13 { read_entries(r)? } else { read_mixed_entries(r)? };
            StorageKind::Elements { ty, target, entries }
        }
        12 => StorageKind::Table { ty: r.ty()?, entries: read_mixed_entries(r)?, max: optional_small(r)? },
        11 => StorageKind::Custom {
            section: r.text()?,
            place: SectionPlace::of_number(r.number()?).ok_or_else(|| r.damaged("a place of a section"))?,
            bytes: read_bytes(r)?,
        },
        _ => return Err(r.damaged("a kind of storage")),
    };
    Ok(Storage { name, module, visibility, exports, import, kind, doc })
}

fn write_params(w: &mut Writer, params: &[Param]) {
    w.list(params, |w, param| {
        w.text(&param.name);
        w.ty(&param.ty);
    });
}

fn read_params(r: &mut Reader<'_>) -> Result<Vec<Param>, SnapshotError> {
    r.list(|r| Ok(Param { name: r.text()?, ty: r.ty()? }))
}

pub(super) fn write_head(w: &mut Writer, head: &FunctionHead) {
    w.text(&head.name);
    w.reference(head.module.number());
    write_visibility(w, head.visibility);
    write_params(w, &head.params);
    w.list(&head.results, |w, ty| w.ty(ty));
    write_params(w, &head.captures);
    w.number(match head.effect_bound {
        EffectBound::Pure => 0,
        EffectBound::Reads => 1,
        EffectBound::Any => 2,
    });
    write_import(w, head.import.as_ref());
    w.list(&head.exports, |w, export| w.text(export));
    w.number(u64::from(head.start));
    w.optional(head.doc.as_ref());
    w.list(&head.runs, |w, run| w.text(run));
}

pub(super) fn read_head(r: &mut Reader<'_>) -> Result<FunctionHead, SnapshotError> {
    Ok(FunctionHead {
        name: r.text()?,
        module: r.reference(ModuleRef::new)?,
        visibility: read_visibility(r)?,
        params: read_params(r)?,
        results: r.list(Reader::ty)?,
        captures: read_params(r)?,
        effect_bound: match r.number()? {
            0 => EffectBound::Pure,
            1 => EffectBound::Reads,
            2 => EffectBound::Any,
            _ => return Err(r.damaged("an effect bound")),
        },
        import: read_import(r)?,
        exports: r.list(Reader::text)?,
        start: r.flag()?,
        doc: r.optional()?,
        runs: r.list(Reader::text)?,
    })
}

pub(super) fn write_variable(w: &mut Writer, variable: &Variable) {
    w.optional(variable.name.as_ref());
    w.ty(&variable.ty);
    w.optional(variable.doc.as_ref());
}

pub(super) fn read_variable(r: &mut Reader<'_>) -> Result<Variable, SnapshotError> {
    Ok(Variable { name: r.optional()?, ty: r.ty()?, doc: r.optional()? })
}

pub(super) fn write_contract(w: &mut Writer, contract: &Contract) {
    w.number(contract.kind.number());
    w.text(&contract.message);
    w.reference(contract.region.number());
    w.optional(contract.doc.as_ref());
}

pub(super) fn read_contract(r: &mut Reader<'_>) -> Result<Contract, SnapshotError> {
    let kind = match r.number()? {
        0 => ContractKind::Require,
        1 => ContractKind::Ensure,
        2 => ContractKind::Invariant,
        _ => return Err(r.damaged("a kind of contract")),
    };
    let (message, region) = (r.text()?, r.reference(RegionRef::new)?);
    Ok(Contract { kind, message, region, doc: r.optional()? })
}

pub(super) fn write_function(w: &mut Writer, function: &Function) {
    let body = function.body();
    write_head(w, function.head());
    let variables: Vec<_> = body.variables().collect();
    w.list(&variables, |w, (of, variable)| {
        w.reference(of.number());
        write_variable(w, variable);
    });
    let contracts: Vec<_> = body.contracts().collect();
    w.list(&contracts, |w, (of, contract)| {
        w.reference(of.number());
        write_contract(w, contract);
    });
    w.list(&regions_outside_in(function), |w, region| {
        w.reference(region.number());
        let Some(record) = body.region(*region) else { return };
        write_region(w, record);
        w.number(record.len() as u64);
        for node in body.nodes_in(*region) {
            w.reference(node.number());
            if let Some(found) = body.node(node) {
                write_node(w, node, found);
            }
        }
    });
}

/// Reads a function by way of a draft that is empty.
pub(super) fn read_function(r: &mut Reader<'_>, draft: &mut Draft) -> Result<Function, SnapshotError> {
    let head = read_head(r)?;
    for _ in 0..r.length()? {
        draft.add_variable(r.reference(VarRef::new)?, read_variable(r)?);
    }
    for _ in 0..r.length()? {
        draft.add_contract(r.reference(ContractRef::new)?, read_contract(r)?);
    }
    for _ in 0..r.length()? {
        let region = r.reference(RegionRef::new)?;
        draft.add_region(region, read_region(r)?)?;
        for _ in 0..r.length()? {
            let node = r.reference(NodeRef::new)?;
            draft.append(node, region, read_node(r, node)?)?;
        }
    }
    Ok(draft.finish(head)?)
}

pub(super) fn write_region(w: &mut Writer, region: &Region) {
    match region.owner {
        RegionOwner::Function => w.number(0),
        RegionOwner::Node(node) => {
            w.number(1);
            w.reference(node.number());
        }
        RegionOwner::Contract(contract) => {
            w.number(2);
            w.reference(contract.number());
        }
    }
    w.number(match region.role {
        RegionRole::Body => 0,
        RegionRole::Then => 1,
        RegionRole::Else => 2,
        RegionRole::Default => 3,
        RegionRole::Contract => 4,
        RegionRole::Case(index) => 5 + u64::from(index),
    });
    w.list(&region.params, |w, param| {
        w.optional(param.name.as_ref());
        w.ty(&param.ty);
    });
    w.optional(region.trailer.as_ref());
}

pub(super) fn read_region(r: &mut Reader<'_>) -> Result<Region, SnapshotError> {
    let owner = match r.number()? {
        0 => RegionOwner::Function,
        1 => RegionOwner::Node(r.reference(NodeRef::new)?),
        2 => RegionOwner::Contract(r.reference(ContractRef::new)?),
        _ => return Err(r.damaged("an owner")),
    };
    let role = match r.number()? {
        0 => RegionRole::Body,
        1 => RegionRole::Then,
        2 => RegionRole::Else,
        3 => RegionRole::Default,
        4 => RegionRole::Contract,
        case => RegionRole::Case(u16::try_from(case - 5).map_err(|_| r.damaged("a case"))?),
    };
    let params = r.list(|r| Ok(RegionParam { name: r.optional()?, ty: r.ty()? }))?;
    let mut region = Region::new(owner, role, params);
    region.trailer = r.optional()?;
    Ok(region)
}

/// What of a node is not the operator and the inputs; written only if there is any.
const EXTRA: u64 = 1;

pub(super) fn write_node(w: &mut Writer, of: NodeRef, node: &lmlang_ir::Node) {
    let extra = !node.regions().is_empty() || node.name().is_some() || node.doc().is_some();
    w.op(node.op());
    w.number(((node.inputs().len() as u64) << 1) | (u64::from(extra) * EXTRA));
    for source in node.inputs().iter() {
        match source {
            None => w.number(0),
            // Most sources are first outputs of nodes shortly before.
            Some(Source::Node(from, 0)) if from < of => w.number((of.number() - from.number()) << 2 | 1),
            Some(source) => {
                let kind = match source {
                    Source::Node(..) => 0,
                    Source::RegionParam(..) => 1,
                    Source::Param(..) => 2,
                };
                w.number(u64::from(source.port()) << 4 | kind << 2 | 2);
                w.number(source.number());
            }
        }
    }
    if extra {
        w.list(node.regions(), |w, region| w.number(region.number()));
        w.optional(node.name());
        w.optional(node.doc());
    }
}

pub(super) fn read_node(r: &mut Reader<'_>, of: NodeRef) -> Result<NodeContent, SnapshotError> {
    let op = r.op()?;
    let head = r.number()?;
    let count = (head >> 1) as usize;
    if count > lmlang_ir::node::MAX_PORTS {
        return Err(r.damaged("fewer inputs"));
    }
    let inputs = (0..count).map(|_| read_source(r, of)).collect::<Result<_, _>>()?;
    let mut content = NodeContent { op, inputs, regions: Vec::new(), name: None, doc: None };
    if head & EXTRA != 0 {
        content.regions = r.list(|r| {
            let number = r.number()?;
            RegionRef::new(number).ok_or_else(|| r.damaged("a ref"))
        })?;
        content.name = r.optional()?;
        content.doc = r.optional()?;
    }
    Ok(content)
}

fn read_source(r: &mut Reader<'_>, of: NodeRef) -> Result<Option<Source>, SnapshotError> {
    let head = r.number()?;
    let source = match head & 3 {
        0 if head == 0 => return Ok(None),
        1 => of.number().checked_sub(head >> 2).and_then(NodeRef::new).map(|from| Source::Node(from, 0)),
        2 => {
            let number = r.number()?;
            let port =
                u16::try_from(head >> 4).ok().filter(|port| usize::from(*port) < lmlang_ir::node::MAX_PORTS);
            port.and_then(|port| match head >> 2 & 3 {
                0 => NodeRef::new(number).map(|node| Source::Node(node, port)),
                1 => RegionRef::new(number).map(|region| Source::RegionParam(region, port)),
                2 => FuncRef::new(number).map(|function| Source::Param(function, port)),
                _ => None,
            })
        }
        _ => None,
    };
    source.map(Some).ok_or_else(|| r.damaged("a source"))
}
