//! Hashes that caches are keyed by: of a function's interface, and of a function with all that it needs.

use std::collections::{BTreeSet, HashMap};

use petgraph::visit::IntoNeighbors;

use crate::entities::{EffectBound, RegionOwner, Shape};
use crate::function::{Body, Function};
use crate::graph::calls::{Mentions, components_from};
use crate::graph::invariants::checked_types;
use crate::hash::{Content, Hash, Hasher};
use crate::node::{Node, hash_code, hash_types};
use crate::ops::Op;
use crate::program::{Place, Program};
use crate::refs::{FuncRef, Ref, RegionRef};
use crate::storage::StorageKind;
use crate::types::Type;

/// The hash of a function with everything that it reaches: other functions, types, storage, tables with their entries.
/// Names and docs are left out. `None` for a function that does not exist.
///
/// Each strongly connected component has one hash, over its members and the hashes of what they need; a function's is
/// that of its component with its own ref. Costs the number of entities that it reaches, and the size of those that
/// changed since they were last asked.
pub fn closure_hash(program: &Program, function: FuncRef) -> Option<Hash> {
    program.function(function)?;
    known_from(program, [function]).remove(&function.into())
}

/// Computes the same of several functions and of every function that they reach, for the price of what they reach together.
pub fn closure_hashes(
    program: &Program,
    functions: impl IntoIterator<Item = FuncRef>,
) -> HashMap<FuncRef, Hash> {
    let functions = functions.into_iter().filter(|of| program.function(*of).is_some());
    let known = known_from(program, functions);
    known.into_iter().filter_map(|(of, hash)| Some((FuncRef::try_from(of).ok()?, hash))).collect()
}

/// The hash of what surrounds every run, whichever function it enters: the storage that is made, and the function that is
/// called at the start.
pub fn world_hash(program: &Program) -> Hash {
    let mut hasher = Hasher::new(b"world");
    for (of, storage) in program.all_storage() {
        hasher.number(of.number()).bytes(&storage_hash(&storage.kind).0);
    }
    let start = program.functions().find(|(_, function)| function.head().start);
    let start = start.and_then(|(of, _)| closure_hash(program, of));
    hasher.bytes(&start.unwrap_or(Hash::ZERO).0);
    hasher.finish()
}

fn known_from(program: &Program, functions: impl IntoIterator<Item = FuncRef>) -> HashMap<Ref, Hash> {
    let mut known: HashMap<Ref, Hash> = HashMap::new();
    let graph = Mentions::all(program);
    for component in components_from(graph, functions.into_iter().map(Ref::from)) {
        let members: BTreeSet<Ref> = component.iter().copied().collect();
        let mut hasher = Hasher::new(b"component");
        hasher.number(component.len() as u64);
        let mut needed: BTreeSet<Ref> = BTreeSet::new();
        for member in &component {
            hasher.number(member.number).bytes(&own_hash(program, *member).0);
            needed.extend(graph.neighbors(*member).filter(|other| !members.contains(other)));
        }
        hasher.number(needed.len() as u64);
        for other in needed {
            hasher.bytes(&known.get(&other).unwrap_or(&Hash::ZERO).0);
        }
        let whole = hasher.finish();
        for member in component {
            let mut hasher = Hasher::new(b"member");
            hasher.number(member.number).bytes(&whole.0);
            known.insert(member, hasher.finish());
        }
    }
    known
}

/// The hash of an entity itself, names and docs left out.
fn own_hash(program: &Program, of: Ref) -> Hash {
    match program.place(of) {
        Some(Place::Function(of)) => {
            program.function(of).map_or(Hash::ZERO, |function| {
                match checked_types(program, function).is_empty() {
                    true => function.code_hash(),
                    false => Hasher::new(b"border").bytes(&function.code_hash().0).finish(),
                }
            })
        }
        Some(Place::Type(of)) => program.type_def(of).map_or(Hash::ZERO, |def| shape_hash(&def.shape)),
        Some(Place::Storage(of)) => {
            program.storage(of).map_or(Hash::ZERO, |storage| storage_hash(&storage.kind))
        }
        Some(
            Place::Module(_)
            | Place::Member(..)
            | Place::Region(..)
            | Place::Variable(..)
            | Place::Contract(..)
            | Place::Node(..),
        )
        | None => Hash::ZERO,
    }
}

fn shape_hash(shape: &Shape) -> Hash {
    let mut hasher = Hasher::new(b"shape");
    match shape {
        Shape::Struct(fields) => {
            hasher.number(0).number(fields.len() as u64);
            for field in fields {
                hash_types(std::slice::from_ref(&field.ty), hasher.number(field.member.number()));
            }
        }
        Shape::Enum(variants) => {
            hasher.number(1).number(variants.len() as u64);
            for variant in variants {
                hash_types(variant.payload.as_slice(), hasher.number(variant.member.number()));
            }
        }
    }
    hasher.finish()
}

fn storage_hash(kind: &StorageKind) -> Hash {
    let mut hasher = Hasher::new(b"storage");
    kind.hash_into(&mut hasher);
    hasher.finish()
}

/// The hash of what callers of a function rely on: signature, effect bound, contracts. Names and docs are left out.
pub fn interface_hash(function: &Function) -> Hash {
    let (head, body) = (function.head(), function.body());
    let mut hasher = Hasher::new(b"interface");
    hash_signature(function, &mut hasher);
    hasher.number(u64::from(head.import.is_some())).number(body.contracts().count() as u64);
    for (of, contract) in body.contracts() {
        hasher.number(of.number()).number(contract.kind.number());
        hasher.text(&contract.message);
        // The condition: its region with all that is in it.
        let mut open = vec![contract.region];
        while let Some(region) = open.pop() {
            hash_region(body, region, &mut hasher);
            for node in body.nodes_in(region) {
                if let Some(content) = body.node(node) {
                    hash_node(node.number(), content, &mut hasher);
                    open.extend(content.regions());
                }
            }
        }
    }
    hasher.finish()
}

fn hash_signature(function: &Function, hasher: &mut Hasher) {
    let head = function.head();
    let types =
        |of: &[crate::entities::Param]| of.iter().map(|param| param.ty.clone()).collect::<Vec<Type>>();
    hash_types(&types(&head.params), hasher);
    hash_types(&head.results, hasher);
    hash_types(&types(&head.captures), hasher);
    hasher.number(match head.effect_bound {
        EffectBound::Pure => 0,
        EffectBound::Reads => 1,
        EffectBound::Any => 2,
    });
}

fn hash_region(body: &Body, of: RegionRef, hasher: &mut Hasher) {
    let Some(region) = body.region(of) else { return };
    hasher.number(of.number());
    match region.owner {
        RegionOwner::Function => hasher.number(0),
        RegionOwner::Node(node) => hasher.number(1).number(node.number()),
        RegionOwner::Contract(contract) => hasher.number(2).number(contract.number()),
    };
    hasher.text(&region.role.to_string());
    let params: Vec<Type> = region.params.iter().map(|param| param.ty.clone()).collect();
    hash_types(&params, hasher);
}

fn hash_node(number: u64, content: &Node, hasher: &mut Hasher) {
    let op: &Op = content.op();
    hash_code(op, hasher.number(number).number(content.region().number()));
    content.hash_edges(hasher);
}

impl Function {
    /// The hash of what the function does, apart from what it mentions: no names, no docs, nothing that only an export
    /// or another module sees. Costs the size of the function once after each write.
    pub fn code_hash(&self) -> Hash {
        *self.code.get_or_init(|| {
            let mut hasher = Hasher::new(b"code");
            hash_signature(self, &mut hasher);
            match &self.head().import {
                None => hasher.number(0),
                Some(import) => hasher.number(1).text(&import.module).text(&import.name),
            };
            let body = self.body();
            let counts = body.counts();
            hasher.number(body.root().map_or(0, RegionRef::number));
            hasher.number(counts.regions).number(counts.nodes);
            hasher.number(body.variables().count() as u64).number(body.contracts().count() as u64);
            for (of, variable) in body.variables() {
                hash_types(std::slice::from_ref(&variable.ty), hasher.number(of.number()));
            }
            for (of, contract) in body.contracts() {
                hasher.number(of.number()).number(contract.kind.number());
                hasher.text(&contract.message).number(contract.region.number());
            }
            body.regions().for_each(|(of, _)| hash_region(body, of, &mut hasher));
            body.nodes().for_each(|(of, content)| hash_node(of.number(), content, &mut hasher));
            hasher.bytes(&body.order.hash().0);
            hasher.finish()
        })
    }
}
