//! Writes: the structural changes of a program, each keeping the derived indexes in step.
//!
//! These are the steps that recorded edits are made of. They hold the structure together (refs are fresh, regions form
//! a tree) and nothing else: whether types, scopes and names are right is the verifier's question, asked once after the
//! last step.

mod function;
mod together;

pub(crate) use function::control_edges;
pub use together::PreparedFunctions;

use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::entities::{FunctionHead, Module, Name, Region, TypeDef, Variable};
use crate::function::{Body, Function};
use crate::node::Node;
use crate::ops::{AttrKind, Op};
use crate::program::{Home, Index, Program};
use crate::refs::{FuncRef, ModuleRef, NodeRef, Ref, RefKind, TypeRef, VarRef};
use crate::storage::Storage;
use crate::trie::{Entries, Trie};
use crate::types::Type;

/// A change that would break the structure.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StructureError {
    /// The ref, or another kind with its number, exists.
    #[error("`{0}` exists")]
    Exists(Ref),
    /// Nothing has this ref.
    #[error("there is no `{0}`")]
    Missing(Ref),
    /// The anchor stands in another region.
    #[error("the anchor `{0}` stands in another region")]
    ForeignAnchor(NodeRef),
    /// A region or node that still has something in it.
    #[error("`{0}` is not empty")]
    NotEmpty(Ref),
    /// A node would come to stand inside itself.
    #[error("`{0}` would stand inside itself")]
    Cycle(NodeRef),
    /// An input that the node does not have.
    #[error("`{0}` has no input {1}")]
    NoInput(NodeRef, usize),
}

/// A function that is being written to.
#[derive(Debug)]
pub struct FunctionMut<'a> {
    of: FuncRef,
    head: &'a mut Arc<FunctionHead>,
    body: &'a mut Body,
    index: &'a mut Index,
}

/// A function with what a program notes of it when it is added, which needs no program to be found out.
#[derive(Debug)]
pub struct PreparedFunction {
    of: FuncRef,
    function: Arc<Function>,
    homes: Trie<Home>,
    /// What its operators and types name outside of it, as often as they do.
    mentioned: Vec<u64>,
}

impl PreparedFunction {
    /// Looks a function through. Costs its size.
    ///
    /// # Errors
    ///
    /// A ref that two of its parts have.
    pub fn new(of: FuncRef, function: Arc<Function>) -> Result<PreparedFunction, StructureError> {
        let (body, head) = (&function.body, &function.head);
        let homes = body.homes(of)?;
        let mut named = Vec::new();
        mentioned(
            &mut named,
            head,
            body.nodes.iter().map(|(_, node)| node),
            body.regions.iter().map(|(_, region)| region),
            body.variables.iter().map(|(_, variable)| variable),
        );
        Ok(PreparedFunction { of, function, homes, mentioned: named })
    }
}

/// Lists what a function names outside of it, as often as it does.
fn mentioned<'a>(
    into: &mut Vec<u64>,
    head: &FunctionHead,
    nodes: impl Iterator<Item = &'a Node>,
    regions: impl Iterator<Item = &'a Region>,
    variables: impl Iterator<Item = &'a Variable>,
) {
    nodes.for_each(|node| each_outer_mention(node.op(), |outer| into.push(outer.number)));
    let mut in_type = |ty: &Type| ty.each_named(&mut |named| into.push(named.number()));
    head_types(head).for_each(&mut in_type);
    regions.for_each(|region| region.params.iter().for_each(|param| in_type(&param.ty)));
    variables.for_each(|variable| in_type(&variable.ty));
}

/// Where the parts of functions are found.
#[derive(Debug, Default)]
struct Found {
    homes: Entries<Home>,
    /// Parts of one function that are no nodes.
    others: Vec<(u64, Home)>,
}

impl Found {
    /// Adds the parts of a function, given by their numbers, most of which ascend.
    fn add(
        &mut self,
        of: FuncRef,
        nodes: impl Iterator<Item = u64>,
        others: impl Iterator<Item = (RefKind, u64)>,
    ) {
        let home = |kind| Home::new(kind, of.number());
        self.others.clear();
        self.others.extend(others.map(|(kind, number)| (number, home(kind))));
        self.others.sort_by_key(|(number, _)| *number);
        // Most parts are nodes, which ascend: the others find their places among them.
        let homes = &mut self.homes;
        let mut others = self.others.iter().copied().peekable();
        nodes.for_each(|number| {
            while let Some((before, its)) = others.next_if(|(other, _)| *other < number) {
                homes.push(before, its);
            }
            homes.push(number, home(RefKind::Node));
        });
        others.for_each(|(number, its)| homes.push(number, its));
    }

    /// Where they all are found; none is left. Fails on a number that two of them have.
    fn take(&mut self) -> Result<Trie<Home>, StructureError> {
        match self.homes.sort() {
            Ok(()) => Ok(self.homes.take()),
            Err(twice) => {
                let (number, kind) = (self.homes.keys()[twice], self.homes.items()[twice].kind());
                self.homes.clear();
                Err(StructureError::Exists(Ref { kind, number }))
            }
        }
    }
}

impl Program {
    fn claim(&mut self, of: Ref) -> Result<(), StructureError> {
        self.index.claim(of, 0)
    }

    /// Adds a module.
    pub fn add_module(&mut self, of: ModuleRef, module: Module) -> Result<(), StructureError> {
        self.claim(of.into())?;
        self.index.modules += 1;
        self.index.name(module.parent, &module.name, of.number());
        self.modules.insert(of.number(), module);
        Ok(())
    }

    /// Replaces the record of a module and returns the one before.
    pub fn set_module(&mut self, of: ModuleRef, module: Module) -> Result<Module, StructureError> {
        let missing = StructureError::Missing(of.into());
        let before = std::mem::replace(self.modules.get_mut(of.number()).ok_or(missing)?, module.clone());
        self.index.unname(before.parent, &before.name, of.number());
        self.index.name(module.parent, &module.name, of.number());
        Ok(before)
    }

    /// Removes a module that has nothing in it.
    pub fn remove_module(&mut self, of: ModuleRef) -> Result<Module, StructureError> {
        if self.members(Some(of)).next().is_some() {
            return Err(StructureError::NotEmpty(of.into()));
        }
        let module = self.modules.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        self.index.modules -= 1;
        self.index.unname(module.parent, &module.name, of.number());
        self.index.homes.remove(of.number());
        Ok(module)
    }

    /// Adds a nominal type with its members.
    pub fn add_type(&mut self, of: TypeRef, def: TypeDef) -> Result<(), StructureError> {
        self.claim(of.into())?;
        if let Err(error) = self.index.claim_members(of, &def) {
            self.index.homes.remove(of.number());
            return Err(error);
        }
        self.index.types += 1;
        self.index.name(Some(def.module), &def.name, of.number());
        self.index.mention_types(of.number(), def.part_types());
        self.types.insert(of.number(), Arc::new(def));
        Ok(())
    }

    /// Replaces the record of a type and returns the one before.
    pub fn set_type(&mut self, of: TypeRef, def: TypeDef) -> Result<Arc<TypeDef>, StructureError> {
        let before = Arc::clone(self.types.get(of.number()).ok_or(StructureError::Missing(of.into()))?);
        self.index.release_members(of, &before);
        if let Err(error) = self.index.claim_members(of, &def) {
            // Cannot fail: these were there a moment ago.
            self.index.claim_members(of, &before)?;
            return Err(error);
        }
        self.index.forget_types(of.number(), before.part_types());
        self.index.mention_types(of.number(), def.part_types());
        self.index.unname(Some(before.module), &before.name, of.number());
        self.index.name(Some(def.module), &def.name, of.number());
        self.types.insert(of.number(), Arc::new(def));
        Ok(before)
    }

    /// Removes a nominal type. Uses of it are left as they are.
    pub fn remove_type(&mut self, of: TypeRef) -> Result<Arc<TypeDef>, StructureError> {
        let def = self.types.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        self.index.types -= 1;
        self.index.release_members(of, &def);
        self.index.forget_types(of.number(), def.part_types());
        self.index.unname(Some(def.module), &def.name, of.number());
        self.index.homes.remove(of.number());
        Ok(def)
    }

    /// Adds storage of the program.
    pub fn add_storage(&mut self, of: VarRef, storage: Storage) -> Result<(), StructureError> {
        self.claim(of.into())?;
        self.index.name(Some(storage.module), &storage.name, of.number());
        storage.kind.each_mention(&mut |mentioned| self.index.mention(mentioned, of.number()));
        self.storage.insert(of.number(), storage);
        Ok(())
    }

    /// Replaces the record of storage and returns the one before.
    pub fn set_storage(&mut self, of: VarRef, storage: Storage) -> Result<Storage, StructureError> {
        let missing = StructureError::Missing(of.into());
        let before = std::mem::replace(self.storage.get_mut(of.number()).ok_or(missing)?, storage.clone());
        before.kind.each_mention(&mut |mentioned| self.index.forget(mentioned, of.number()));
        storage.kind.each_mention(&mut |mentioned| self.index.mention(mentioned, of.number()));
        self.index.unname(Some(before.module), &before.name, of.number());
        self.index.name(Some(storage.module), &storage.name, of.number());
        Ok(before)
    }

    /// Removes storage of the program. Uses of it are left as they are.
    pub fn remove_storage(&mut self, of: VarRef) -> Result<Storage, StructureError> {
        let storage = self.storage.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        storage.kind.each_mention(&mut |mentioned| self.index.forget(mentioned, of.number()));
        self.index.unname(Some(storage.module), &storage.name, of.number());
        self.index.homes.remove(of.number());
        Ok(storage)
    }

    /// Adds a function without a body; fill it through [`Program::function_mut`].
    pub fn add_function(&mut self, of: FuncRef, head: FunctionHead) -> Result<(), StructureError> {
        self.add_whole_function(of, Arc::new(Function::new(head)))
    }

    /// Adds a function with its body, as [`Program::remove_function`] returned it or a [`crate::draft::Draft`] made it.
    /// Costs its size.
    pub fn add_whole_function(&mut self, of: FuncRef, function: Arc<Function>) -> Result<(), StructureError> {
        self.add_prepared_function(PreparedFunction::new(of, function)?)
    }

    /// The same with a function that somebody has looked through already.
    pub fn add_prepared_function(&mut self, prepared: PreparedFunction) -> Result<(), StructureError> {
        let PreparedFunction { of, function, homes, mut mentioned } = prepared;
        // Apart from its parts, whose numbers are elsewhere: these change hands as whole subtries then.
        self.claim(of.into())?;
        if let Err(error) = self.index.claim_all(homes) {
            self.index.homes.remove(of.number());
            return Err(error);
        }
        self.index.functions += 1;
        self.index.counts.add(function.body.counts);
        self.index.name(Some(function.head.module), &function.head.name, of.number());
        self.index.mention_all(&mut mentioned, of.number());
        self.index.state(of, function.states_invariants_of());
        self.functions.insert(of.number(), function);
        Ok(())
    }

    /// Removes a function with all in it. Uses of it are left as they are. Costs its size.
    pub fn remove_function(&mut self, of: FuncRef) -> Result<Arc<Function>, StructureError> {
        let function = self.functions.remove(of.number()).ok_or(StructureError::Missing(of.into()))?;
        let (body, head) = (&function.body, &function.head);
        self.index.functions -= 1;
        self.index.counts.subtract(body.counts);
        self.index.unname(Some(head.module), &head.name, of.number());
        self.index.unstate(of, function.states_invariants_of());
        self.index.forget_types(of.number(), head_types(head));
        for (_, region) in body.regions() {
            self.index.forget_types(of.number(), region.params.iter().map(|param| &param.ty));
        }
        for (_, variable) in body.variables() {
            self.index.forget_types(of.number(), [&variable.ty]);
        }
        for (_, node) in body.nodes() {
            each_outer_mention(node.op(), |mentioned| self.index.forget(mentioned, of.number()));
        }
        body.parts().for_each(|part| self.index.release(part, of.number()));
        self.index.homes.remove(of.number());
        Ok(function)
    }

    /// Opens a function for writing. Open it once for a list of changes: opening copies its path. The first time costs the
    /// size of a function that other states have: who refers to what in it is noted.
    pub fn function_mut(&mut self, of: FuncRef) -> Result<FunctionMut<'_>, StructureError> {
        let function = self.functions.get_mut(of.number()).ok_or(StructureError::Missing(of.into()))?;
        if Arc::get_mut(function).is_none() {
            // All states that have the function find it then. Else each change of it might have to note it anew.
            function.body.note_users();
        }
        let function = Arc::make_mut(function);
        (function.hash, function.code) = (OnceLock::new(), OnceLock::new());
        Ok(FunctionMut { of, head: &mut function.head, body: &mut function.body, index: &mut self.index })
    }
}

impl Body {
    /// Where the parts of the function are found. Fails on a number that two of them have.
    fn homes(&self, of: FuncRef) -> Result<Trie<Home>, StructureError> {
        let regions = self.regions.iter().map(|(number, _)| (RefKind::Region, number));
        let variables = self.variables.iter().map(|(number, _)| (RefKind::Variable, number));
        let contracts = self.contracts.iter().map(|(number, _)| (RefKind::Contract, number));
        let nodes = self.nodes.iter().map(|(number, _)| number);
        let expected = self.counts.nodes + self.counts.regions;
        let mut found = Found { homes: Entries::with_capacity(expected as usize), others: Vec::new() };
        found.add(of, nodes, regions.chain(variables).chain(contracts));
        found.take()
    }

    /// The refs of everything in the body.
    fn parts(&self) -> impl Iterator<Item = Ref> + '_ {
        let regions = self.regions().map(|(region, _)| region.into());
        let variables = self.variables().map(|(variable, _)| variable.into());
        let contracts = self.contracts().map(|(contract, _)| contract.into());
        regions.chain(variables).chain(contracts).chain(self.nodes().map(|(node, _)| node.into()))
    }
}

/// The types that a function's head mentions.
fn head_types(head: &FunctionHead) -> impl Iterator<Item = &Type> {
    head.params.iter().chain(&head.captures).map(|param| &param.ty).chain(&head.results)
}

/// Calls `visit` with each entity outside of the function that an operator names.
fn each_outer_mention(op: &Op, mut visit: impl FnMut(Ref)) {
    op.each_mention(&mut |mentioned| {
        // The op table is asked about variables alone: most operators name nothing, or a node.
        let inside = match mentioned.kind {
            RefKind::Node => true,
            RefKind::Variable => matches!(op.spec().attr, AttrKind::Variable),
            RefKind::Module
            | RefKind::Type
            | RefKind::Member
            | RefKind::Function
            | RefKind::Region
            | RefKind::Contract => false,
        };
        if !inside {
            visit(mentioned);
        }
    });
}

impl Index {
    fn claim(&mut self, of: Ref, owner: u64) -> Result<(), StructureError> {
        if self.homes.contains(of.number) {
            return Err(StructureError::Exists(of));
        }
        self.homes.insert(of.number, Home::new(of.kind, owner));
        Ok(())
    }

    /// Claims the numbers of all parts of a function, or none of them.
    fn claim_all(&mut self, homes: Trie<Home>) -> Result<(), StructureError> {
        let taken = self.homes.shared_key(&homes);
        if let Some((number, home)) = taken.and_then(|number| Some((number, homes.get(number)?))) {
            return Err(StructureError::Exists(Ref { kind: home.kind(), number }));
        }
        self.homes.absorb(homes);
        Ok(())
    }

    /// Gives a number up, if this owner has it.
    fn release(&mut self, of: Ref, owner: u64) {
        if self.homes.get(of.number) == Some(&Home::new(of.kind, owner)) {
            self.homes.remove(of.number);
        }
    }

    fn claim_members(&mut self, of: TypeRef, def: &TypeDef) -> Result<(), StructureError> {
        for (at, (member, _)) in members(def).enumerate() {
            if let Err(error) = self.claim(member, of.number()) {
                members(def).take(at).for_each(|(claimed, _)| self.release(claimed, of.number()));
                return Err(error);
            }
        }
        for (member, name) in members(def) {
            self.names.insert((of.number(), Arc::clone(name), member.number));
        }
        Ok(())
    }

    fn release_members(&mut self, of: TypeRef, def: &TypeDef) {
        for (member, name) in members(def) {
            self.homes.remove(member.number);
            self.names.remove(&(of.number(), Arc::clone(name), member.number));
        }
    }

    fn name(&mut self, module: Option<ModuleRef>, name: &Name, number: u64) {
        self.names.insert((module.map_or(0, ModuleRef::number), Arc::clone(name), number));
    }

    fn unname(&mut self, module: Option<ModuleRef>, name: &Name, number: u64) {
        self.names.remove(&(module.map_or(0, ModuleRef::number), Arc::clone(name), number));
    }

    fn mention(&mut self, of: Ref, user: u64) {
        self.mention_times(of.number, user, 1);
    }

    fn mention_times(&mut self, of: u64, user: u64, more: u32) {
        // An entry would look its key up three times before it is there.
        match self.users.insert((of, user), more) {
            None => {
                self.uses.insert((user, of));
            }
            Some(times) => {
                self.users.insert((of, user), times + more);
            }
        }
    }

    /// Enters all that a user mentions, in any order.
    fn mention_all(&mut self, mentioned: &mut [u64], user: u64) {
        mentioned.sort_unstable();
        for one in mentioned.chunk_by(|one, next| one == next) {
            self.mention_times(one[0], user, one.len() as u32);
        }
    }

    fn forget(&mut self, of: Ref, user: u64) {
        let key = (of.number, user);
        match self.users.get_mut(&key) {
            Some(times) if *times > 1 => *times -= 1,
            Some(_) => {
                self.users.remove(&key);
                self.uses.remove(&(user, of.number));
            }
            None => {}
        }
    }

    /// A function states the invariants of a type: the type mentions it.
    fn state(&mut self, function: FuncRef, of: Option<TypeRef>) {
        if let Some(of) = of {
            self.stating += 1;
            self.mention(function.into(), of.number());
        }
    }

    fn unstate(&mut self, function: FuncRef, of: Option<TypeRef>) {
        if let Some(of) = of {
            self.stating -= 1;
            self.forget(function.into(), of.number());
        }
    }

    fn mention_types<'t>(&mut self, user: u64, types: impl IntoIterator<Item = &'t Type>) {
        types.into_iter().for_each(|of| of.each_named(&mut |named| self.mention(named.into(), user)));
    }

    fn forget_types<'t>(&mut self, user: u64, types: impl IntoIterator<Item = &'t Type>) {
        types.into_iter().for_each(|of| of.each_named(&mut |named| self.forget(named.into(), user)));
    }
}

fn members(def: &TypeDef) -> impl Iterator<Item = (Ref, &Name)> {
    let fields = def.fields().iter().map(|field| (field.member.into(), &field.name));
    fields.chain(def.variants().iter().map(|variant| (variant.member.into(), &variant.name)))
}
