//! Reading a snapshot: which objects it wants, and what they come to.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lmlang_ir::draft::Draft;
use lmlang_ir::trie::Trie;
use lmlang_ir::{ContractRef, FuncRef, Hash, ModuleRef, NodeRef, Program, RegionRef, TypeRef, VarRef};

use super::bytes::Reader;
use super::entities::{
    read_contract, read_function, read_head, read_module, read_node, read_region, read_storage, read_type,
    read_variable,
};
use super::function::Partial;
use super::object::{Named, ObjectKey, Opened, Sink, open, read_keys};
use super::writing::MAGIC;
use super::{SnapshotError, State, VERSION};
use crate::line::Line;
use crate::provenance::{Provenance, Touched};

/// The header of a root: what it is, its version, and the hash of the content.
const HEADER: usize = MAGIC.len() + 1 + size_of::<Hash>();

/// The most levels that the order of a function can have.
const MAX_LEVELS: u64 = 16;

/// A snapshot whose objects are being fetched.
#[derive(Debug)]
pub struct Reading {
    wanted: HashMap<ObjectKey, Vec<Sink>>,
    hash: Hash,
    number: u64,
    next_ref: u64,
    line: Line,
    marks: Option<Vec<u64>>,
    program: Program,
    functions: BTreeMap<FuncRef, Partial>,
    draft: Draft,
    provenance: Trie<Touched>,
}

impl Reading {
    /// Starts from the root of a snapshot of the entry with a number.
    pub fn open(root: &[u8], number: u64) -> Result<Reading, SnapshotError> {
        let hash = check_header(root)?;
        let mut named = Named::open(root, HEADER)?;
        let mut wanted: HashMap<ObjectKey, Vec<Sink>> = HashMap::new();
        for sink in [Sink::Modules, Sink::Types, Sink::Storage, Sink::Functions, Sink::Provenance] {
            if let Some(key) = named.named()? {
                wanted.entry(key).or_default().push(sink);
            }
        }
        let content = &mut named.content;
        let next_ref = content.number()?;
        let states = content.ascending(number)?;
        let undone = content.ascending(number)?;
        // The first snapshots end here.
        let marks = match content.end() {
            Ok(()) => None,
            Err(_) => Some(content.ascending(number)?.into_iter().flatten().collect()),
        };
        content.end()?;
        Ok(Reading {
            wanted,
            hash,
            number,
            next_ref,
            line: Line::from_stacks(states, undone.into_iter().rev().flat_map(Iterator::rev)),
            marks,
            program: Program::new(),
            functions: BTreeMap::new(),
            draft: Draft::new(),
            provenance: Trie::new(),
        })
    }

    /// The objects that the root of a snapshot names.
    pub fn references(root: &[u8]) -> Result<Vec<ObjectKey>, SnapshotError> {
        check_header(root)?;
        Ok(read_keys(root, HEADER)?.0)
    }

    /// The objects that are to be fetched next; none when all are there.
    pub fn wanted(&self) -> Vec<ObjectKey> {
        self.wanted.keys().copied().collect()
    }

    /// Takes an object that is wanted; another one is left aside.
    pub fn take(&mut self, key: &ObjectKey, bytes: &[u8]) -> Result<(), SnapshotError> {
        for sink in self.wanted.remove(key).unwrap_or_default() {
            match open(sink.kind(), bytes)? {
                Opened::Inner(below) => below.into_iter().for_each(|key| self.want(key, sink)),
                Opened::Leaf(mut named) => {
                    for _ in 0..named.content.length()? {
                        self.take_entry(sink, &mut named)?;
                    }
                    named.content.end()?;
                }
            }
        }
        Ok(())
    }

    /// The state, when all objects are there.
    pub fn finish(mut self) -> Result<State, SnapshotError> {
        if !self.wanted.is_empty() {
            return Err(SnapshotError::Incomplete(self.wanted.len()));
        }
        for (of, function) in self.functions {
            self.program.add_whole_function(of, Arc::new(function.join(&mut self.draft)?))?;
        }
        if self.program.root_hash() != self.hash {
            return Err(SnapshotError::Hash);
        }
        Ok(State {
            number: self.number,
            program: self.program,
            next_ref: self.next_ref,
            line: self.line,
            provenance: Provenance::from_map(self.provenance),
            marks: self.marks,
        })
    }

    fn want(&mut self, key: ObjectKey, sink: Sink) {
        self.wanted.entry(key).or_default().push(sink);
    }

    fn take_entry(&mut self, sink: Sink, named: &mut Named<'_>) -> Result<(), SnapshotError> {
        let r = &mut named.content;
        match sink {
            Sink::Modules => {
                let of = r.reference(ModuleRef::new)?;
                self.program.add_module(of, read_module(r)?)?;
            }
            Sink::Types => {
                let of = r.reference(TypeRef::new)?;
                self.program.add_type(of, read_type(r)?)?;
            }
            Sink::Storage => {
                let of = r.reference(VarRef::new)?;
                self.program.add_storage(of, read_storage(r)?)?;
            }
            Sink::Functions => {
                let of = r.reference(FuncRef::new)?;
                if r.flag()? {
                    self.take_parts(of, named)?;
                } else {
                    self.program.add_whole_function(of, Arc::new(read_function(r, &mut self.draft)?))?;
                }
            }
            Sink::Nodes(function) => {
                let node = r.reference(NodeRef::new)?;
                let content = read_node(r, node)?;
                self.part_of(function, r)?.nodes.insert(node, content);
            }
            Sink::Regions(function) => {
                let region = (r.reference(RegionRef::new)?, read_region(r)?);
                self.part_of(function, r)?.regions.push(region);
            }
            Sink::Variables(function) => {
                let variable = (r.reference(VarRef::new)?, read_variable(r)?);
                self.part_of(function, r)?.variables.push(variable);
            }
            Sink::Contracts(function) => {
                let contract = (r.reference(ContractRef::new)?, read_contract(r)?);
                self.part_of(function, r)?.contracts.push(contract);
            }
            Sink::Order(function, level) => {
                let head = r.reference(Some)?;
                let following = r.list(|r| r.reference(Some))?;
                let chunk = std::iter::once(head).chain(following).collect();
                if let Some(chunks) = self.part_of(function, r)?.order.get_mut(level) {
                    chunks.insert(head, chunk);
                }
            }
            Sink::Provenance => {
                let of = r.reference(Some)?;
                let created = r.number()?;
                let modified = created.wrapping_add(r.number()?);
                self.provenance.insert(of, Touched { created, modified });
            }
        }
        Ok(())
    }

    /// Takes the head of a function that is kept in parts, and wants the parts.
    fn take_parts(&mut self, of: FuncRef, named: &mut Named<'_>) -> Result<(), SnapshotError> {
        let mut function = Partial::new(read_head(&mut named.content)?);
        for sink in [Sink::Nodes(of), Sink::Regions(of), Sink::Variables(of), Sink::Contracts(of)] {
            if let Some(key) = named.named()? {
                self.want(key, sink);
            }
        }
        let levels = named.content.number()?;
        if levels > MAX_LEVELS {
            return Err(named.content.damaged("fewer levels of an order"));
        }
        for level in 0..levels as usize {
            function.order.push(HashMap::new());
            if let Some(key) = named.named()? {
                self.want(key, Sink::Order(of, level));
            }
        }
        self.functions.insert(of, function);
        Ok(())
    }

    fn part_of(&mut self, function: FuncRef, r: &Reader<'_>) -> Result<&mut Partial, SnapshotError> {
        self.functions.get_mut(&function).ok_or_else(|| r.damaged("a part of a function"))
    }
}

/// Checks what a root begins with, and reads the hash of the content.
fn check_header(root: &[u8]) -> Result<Hash, SnapshotError> {
    let damaged = || SnapshotError::Damaged { at: 0, what: "the root of a snapshot" };
    match root.split_at_checked(MAGIC.len()) {
        Some((magic, [VERSION, hash @ ..])) if magic == MAGIC => {
            hash.first_chunk().map(|hash| Hash(*hash)).ok_or_else(damaged)
        }
        Some((magic, [version, ..])) if magic == MAGIC => Err(SnapshotError::Version(*version)),
        Some(_) | None => Err(damaged()),
    }
}
