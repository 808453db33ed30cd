//! A program at one revision: an immutable value with structural sharing.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::entities::{Contract, ContractKind, Module, Name, TypeDef};
use crate::function::{Counts, Function};
use crate::hash::{Hash, Hasher};
use crate::refs::{
    ContractRef, FuncRef, MAX_NUMBER, MemberRef, ModuleRef, NodeRef, Ref, RefKind, RegionRef, TypeRef, VarRef,
};
use crate::storage::Storage;
use crate::trie::{Change, Trie};

/// A program at one revision. A clone copies a few pointers, so holding an old revision is cheap and readers never
/// wait for a writer.
///
/// Reads are here; writes, which keep the derived indexes in step, are in [`crate::change`].
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) modules: Trie<Module>,
    pub(crate) types: Trie<Arc<TypeDef>>,
    pub(crate) functions: Trie<Arc<Function>>,
    pub(crate) storage: Trie<Storage>,
    pub(crate) index: Index,
}

/// The maps that a program consists of, by ref number.
#[derive(Clone, Copy, Debug)]
pub struct ProgramMaps<'a> {
    /// Modules.
    pub modules: &'a Trie<Module>,
    /// Nominal types.
    pub types: &'a Trie<Arc<TypeDef>>,
    /// Functions.
    pub functions: &'a Trie<Arc<Function>>,
    /// Storage.
    pub storage: &'a Trie<Storage>,
}

/// What is derived from the entities and kept in step with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// For each ref number the kind and what it is part of.
    pub(crate) homes: Trie<Home>,
    /// (module or 0, name, number) of modules, types, functions and storage; (type, name, number) of members.
    pub(crate) names: OrdSet<(u64, Name, u64)>,
    /// (entity, function, type or storage that mentions it) → how often.
    pub(crate) users: OrdMap<(u64, u64), u32>,
    /// The keys of `users` the other way round.
    pub(crate) uses: OrdSet<(u64, u64)>,
    pub(crate) counts: Counts,
    pub(crate) modules: u64,
    pub(crate) types: u64,
    pub(crate) functions: u64,
    /// Functions that state invariants of types.
    pub(crate) stating: u64,
}

/// Where an entity is found, packed into one word since every ref has one: its kind, and the number of the function or
/// type that it is part of; zero for entities of the program itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home(u64);

impl Home {
    pub(crate) fn new(kind: RefKind, owner: u64) -> Home {
        Home((kind as u64) << 48 | owner)
    }

    pub(crate) fn kind(self) -> RefKind {
        RefKind::ALL[(self.0 >> 48) as usize % RefKind::ALL.len()]
    }

    pub(crate) fn owner(self) -> u64 {
        self.0 & MAX_NUMBER
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.kind(), self.owner())
    }
}

/// Equal when what was authored is equal.
impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.modules == other.modules
            && self.types == other.types
            && self.functions == other.functions
            && self.storage == other.storage
    }
}

/// Where an entity stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A module.
    Module(ModuleRef),
    /// A nominal type.
    Type(TypeRef),
    /// A field or variant of a type.
    Member(TypeRef, MemberRef),
    /// A function.
    Function(FuncRef),
    /// A region of a function.
    Region(FuncRef, RegionRef),
    /// A variable of a function.
    Variable(FuncRef, VarRef),
    /// Storage of the program.
    Storage(VarRef),
    /// A contract of a function.
    Contract(FuncRef, ContractRef),
    /// A node of a function.
    Node(FuncRef, NodeRef),
}

/// Totals over a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Modules.
    pub modules: u64,
    /// Nominal types.
    pub types: u64,
    /// Functions.
    pub functions: u64,
    /// Regions, nodes, data edges and holes.
    pub counts: Counts,
}

impl Program {
    /// An empty program.
    pub fn new() -> Program {
        Program::default()
    }

    /// All that was authored, as it is kept.
    pub fn maps(&self) -> ProgramMaps<'_> {
        let Program { modules, types, functions, storage, index: _ } = self;
        ProgramMaps { modules, types, functions, storage }
    }

    /// A module.
    pub fn module(&self, module: ModuleRef) -> Option<&Module> {
        self.modules.get(module.number())
    }

    /// A nominal type.
    pub fn type_def(&self, of: TypeRef) -> Option<&Arc<TypeDef>> {
        self.types.get(of.number())
    }

    /// A function.
    pub fn function(&self, function: FuncRef) -> Option<&Arc<Function>> {
        self.functions.get(function.number())
    }

    /// Storage of the program: a global, the memory, a data segment, a table.
    pub fn storage(&self, variable: VarRef) -> Option<&Storage> {
        self.storage.get(variable.number())
    }

    /// All modules, by ref.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleRef, &Module)> {
        self.modules.iter().map(|(number, module)| (ModuleRef::of_key(number), module))
    }

    /// All nominal types, by ref.
    pub fn types(&self) -> impl Iterator<Item = (TypeRef, &Arc<TypeDef>)> {
        self.types_from(0)
    }

    /// The types with a number at or above the given one, by ref: how listings page.
    pub fn types_from(&self, number: u64) -> impl Iterator<Item = (TypeRef, &Arc<TypeDef>)> {
        self.types.iter_from(number).map(|(number, def)| (TypeRef::of_key(number), def))
    }

    /// All functions, by ref.
    pub fn functions(&self) -> impl Iterator<Item = (FuncRef, &Arc<Function>)> {
        self.functions_from(0)
    }

    /// The functions with a number at or above the given one, by ref: how listings page.
    pub fn functions_from(&self, number: u64) -> impl Iterator<Item = (FuncRef, &Arc<Function>)> {
        self.functions.iter_from(number).map(|(number, function)| (FuncRef::of_key(number), function))
    }

    /// All storage, by ref.
    pub fn all_storage(&self) -> impl Iterator<Item = (VarRef, &Storage)> {
        self.storage.iter().map(|(number, storage)| (VarRef::of_key(number), storage))
    }

    /// The storage with a number at or above the given one, by ref: how listings page.
    pub fn storage_from(&self, number: u64) -> impl Iterator<Item = (VarRef, &Storage)> {
        self.storage.iter_from(number).map(|(number, storage)| (VarRef::of_key(number), storage))
    }

    /// Where the entity with a ref stands; `None` when there is none of that kind and number.
    pub fn place(&self, of: Ref) -> Option<Place> {
        let home = self.index.homes.get(of.number).filter(|home| home.kind() == of.kind)?;
        let (number, function) = (of.number, FuncRef::of_key(home.owner()));
        Some(match (of.kind, home.owner()) {
            (RefKind::Module, _) => Place::Module(ModuleRef::of_key(number)),
            (RefKind::Type, _) => Place::Type(TypeRef::of_key(number)),
            (RefKind::Member, owner) => Place::Member(TypeRef::of_key(owner), MemberRef::of_key(number)),
            (RefKind::Function, _) => Place::Function(FuncRef::of_key(number)),
            (RefKind::Region, _) => Place::Region(function, RegionRef::of_key(number)),
            (RefKind::Variable, 0) => Place::Storage(VarRef::of_key(number)),
            (RefKind::Variable, _) => Place::Variable(function, VarRef::of_key(number)),
            (RefKind::Contract, _) => Place::Contract(function, ContractRef::of_key(number)),
            (RefKind::Node, _) => Place::Node(function, NodeRef::of_key(number)),
        })
    }

    /// The function that an entity is part of: itself for a function.
    pub fn function_of(&self, of: Ref) -> Option<FuncRef> {
        match self.place(of)? {
            Place::Module(_) | Place::Type(_) | Place::Member(..) | Place::Storage(_) => None,
            Place::Function(function)
            | Place::Region(function, _)
            | Place::Variable(function, _)
            | Place::Contract(function, _)
            | Place::Node(function, _) => Some(function),
        }
    }

    /// The entity of any kind that has a number.
    pub fn ref_of(&self, number: u64) -> Option<Ref> {
        self.index.homes.get(number).map(|home| Ref { kind: home.kind(), number })
    }

    /// What a module (or the top, without one) calls by a name; more than one where names clash.
    pub fn lookup<'a>(&'a self, module: Option<ModuleRef>, name: &str) -> impl Iterator<Item = Ref> + 'a {
        let (scope, name): (u64, Name) = (module.map_or(0, ModuleRef::number), name.into());
        self.index
            .names
            .range((scope, Arc::clone(&name), 0)..=(scope, name, u64::MAX))
            .filter_map(|(_, _, number)| self.ref_of(*number))
    }

    /// The fields or variants of a type that have a name; more than one where names clash.
    pub fn members_named<'a>(&'a self, ty: TypeRef, name: &str) -> impl Iterator<Item = MemberRef> + use<'a> {
        let (scope, name): (u64, Name) = (ty.number(), name.into());
        let named = self.index.names.range((scope, Arc::clone(&name), 0)..=(scope, name, u64::MAX));
        named.map(|(_, _, number)| MemberRef::of_key(*number))
    }

    /// What stands in a module (or at the top), by name: modules, types, functions and storage.
    pub fn members(&self, module: Option<ModuleRef>) -> impl Iterator<Item = (&Name, Ref)> {
        let scope = module.map_or(0, ModuleRef::number);
        let start: (u64, Name, u64) = (scope, "".into(), 0);
        self.index
            .names
            .range(start..)
            .take_while(move |(of, _, _)| *of == scope)
            .filter_map(|(_, name, number)| Some((name, self.ref_of(*number)?)))
    }

    /// The name of an entity that has one: without what stands around it.
    pub fn name(&self, of: Ref) -> Option<&Name> {
        match self.place(of)? {
            Place::Module(module) => self.module(module).map(|found| &found.name),
            Place::Type(def) => self.type_def(def).map(|found| &found.name),
            Place::Member(owner, member) => self.type_def(owner)?.member_name(member),
            Place::Function(function) => self.function(function).map(|found| &found.head().name),
            Place::Storage(storage) => self.storage(storage).map(|found| &found.name),
            Place::Variable(function, variable) => {
                self.function(function)?.body().variable(variable)?.name.as_ref()
            }
            Place::Node(function, node) => self.function(function)?.body().node(node)?.name(),
            Place::Region(..) | Place::Contract(..) => None,
        }
    }

    /// The path of an entity that has one, `module::name`; the ref for one that has not.
    pub fn path(&self, of: Ref) -> String {
        let (name, mut scope) = match self.place(of) {
            Some(Place::Module(module)) => match self.module(module) {
                Some(found) => (found.name.to_string(), found.parent),
                None => return of.to_string(),
            },
            Some(Place::Type(def)) => match self.type_def(def) {
                Some(found) => (found.name.to_string(), Some(found.module)),
                None => return of.to_string(),
            },
            Some(Place::Function(function)) => match self.function(function) {
                Some(found) => (found.head().name.to_string(), Some(found.head().module)),
                None => return of.to_string(),
            },
            Some(Place::Storage(storage)) => match self.storage(storage) {
                Some(found) => (found.name.to_string(), Some(found.module)),
                None => return of.to_string(),
            },
            Some(
                Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => return of.to_string(),
        };
        let mut parts = vec![name];
        // Modules may stand inside of themselves until the verifier has said so.
        while let Some(module) = scope.and_then(|module| self.module(module))
            && parts.len() as u64 <= self.index.modules
        {
            parts.push(module.name.to_string());
            scope = module.parent;
        }
        parts.reverse();
        parts.join("::")
    }

    /// The paths of several entities, with the refs where one path is that of more than one of them.
    pub fn paths_apart(&self, of: &[Ref]) -> Vec<String> {
        let mut paths: Vec<String> = of.iter().map(|of| self.path(*of)).collect();
        if paths.iter().collect::<HashSet<_>>().len() < paths.len() {
            paths.iter_mut().zip(of).for_each(|(path, of)| *path = format!("{path} ({of})"));
        }
        paths
    }

    /// The entities with a path, `module::name`; the last part is looked up among all kinds. It may have `::` in it itself, as
    /// names have that come from compilers: then something in a module may have the same path.
    pub fn resolve_path(&self, path: &str) -> Vec<Ref> {
        let (mut scopes, mut rest, mut found) = (vec![None], path, Vec::new());
        loop {
            found.extend(scopes.iter().flat_map(|scope| self.lookup(*scope, rest)));
            let Some((part, inner)) = rest.split_once("::").filter(|_| !scopes.is_empty()) else {
                return found;
            };
            let outer = scopes.iter().flat_map(|scope| self.lookup(*scope, part));
            scopes = outer.filter_map(|of| ModuleRef::try_from(of).ok()).map(Some).collect();
            rest = inner;
        }
    }

    /// What a caller can mean by a path or by a name alone, which counts in every module unless the top has it. Behind the
    /// path of a type stands a field or variant: `module::Type.name`; behind that of a function what is named in it, a node
    /// or a variable: `module::function::name`. That costs a look at the nodes of the function.
    pub fn resolve(&self, path: &str) -> Vec<Ref> {
        let anywhere = |path: &str| {
            let found = self.resolve_path(path);
            if !found.is_empty() {
                return found;
            }
            self.modules().flat_map(|(module, _)| self.lookup(Some(module), path)).collect()
        };
        let found = anywhere(path);
        if !found.is_empty() {
            return found;
        }
        let members: Vec<Ref> = match path.rsplit_once('.') {
            Some((ty, name)) => {
                let types = anywhere(ty).into_iter().filter_map(|of| TypeRef::try_from(of).ok());
                types.flat_map(|ty| self.members_named(ty, name)).map(Ref::from).collect()
            }
            None => Vec::new(),
        };
        if !members.is_empty() {
            return members;
        }
        let Some((function, name)) = path.rsplit_once("::") else { return found };
        let functions = anywhere(function).into_iter().filter_map(|of| self.function(of.try_into().ok()?));
        functions.flat_map(|function| function.body().named(name)).collect()
    }

    /// The functions, types and storage that mention an entity (a function, a type, storage), with how often, by ref.
    pub fn users_of(&self, of: Ref) -> impl Iterator<Item = (Ref, u32)> + '_ {
        self.users_from(of, 0)
    }

    /// The users with a number at or above the given one: how listings page.
    pub fn users_from(&self, of: Ref, number: u64) -> impl Iterator<Item = (Ref, u32)> + '_ {
        self.index
            .users
            .range((of.number, number)..=(of.number, u64::MAX))
            .filter_map(|((_, user), times)| Some((self.ref_of(*user)?, *times)))
    }

    /// The functions, types and storage that a function, a type or storage mentions, by ref. Costs what it yields.
    pub fn uses_of(&self, user: Ref) -> impl Iterator<Item = Ref> + '_ {
        self.index
            .uses
            .range((user.number, 0)..=(user.number, u64::MAX))
            .filter_map(|(_, of)| self.ref_of(*of))
    }

    /// The functions that state invariants of a type, by ref: the type mentions them.
    pub fn stating(&self, of: TypeRef) -> impl Iterator<Item = FuncRef> + '_ {
        self.uses_of(of.into()).filter_map(|used| FuncRef::try_from(used).ok())
    }

    /// The invariants of a type, by ref, each with the function that states it.
    pub fn invariants(&self, of: TypeRef) -> impl Iterator<Item = (FuncRef, ContractRef, &Contract)> + '_ {
        let stating = self.stating(of).filter_map(|of| Some((of, self.function(of)?)));
        stating.flat_map(|(of, function)| {
            let contracts = function.body().contracts();
            let invariants = contracts.filter(|(_, contract)| contract.kind == ContractKind::Invariant);
            invariants.map(move |(contract, content)| (of, contract, content))
        })
    }

    /// Whether any type has invariants.
    pub fn has_invariants(&self) -> bool {
        self.index.stating > 0
    }

    /// All pairs of an entity and a user of it, with how often; a call graph when restricted to functions.
    pub fn all_users(&self) -> impl Iterator<Item = (Ref, Ref, u32)> + '_ {
        self.index
            .users
            .iter()
            .filter_map(|((of, user), times)| Some((self.ref_of(*of)?, self.ref_of(*user)?, *times)))
    }

    /// Totals, kept in step with every change.
    pub fn totals(&self) -> Totals {
        Totals {
            modules: self.index.modules,
            types: self.index.types,
            functions: self.index.functions,
            counts: self.index.counts,
        }
    }

    /// The hash of all that was authored. Costs what changed since the last call.
    pub fn root_hash(&self) -> Hash {
        let mut hasher = Hasher::new(b"program");
        for part in [self.modules.hash(), self.types.hash(), self.functions.hash(), self.storage.hash()] {
            hasher.bytes(&part.0);
        }
        hasher.finish()
    }

    /// The largest number of any entity; zero for an empty program.
    pub fn largest_number(&self) -> u64 {
        self.index.homes.last_key().unwrap_or_default()
    }

    /// The modules in which two revisions differ.
    pub fn changed_modules<'a>(&'a self, other: &'a Program) -> Vec<Change<'a, Module>> {
        self.modules.changes(&other.modules)
    }

    /// The types in which two revisions differ.
    pub fn changed_types<'a>(&'a self, other: &'a Program) -> Vec<Change<'a, Arc<TypeDef>>> {
        self.types.changes(&other.types)
    }

    /// The functions in which two revisions differ. Pointers are compared first, so that it costs what differs.
    pub fn changed_functions<'a>(&'a self, other: &'a Program) -> Vec<Change<'a, Arc<Function>>> {
        self.functions.changes(&other.functions)
    }

    /// The storage in which two revisions differ.
    pub fn changed_storage<'a>(&'a self, other: &'a Program) -> Vec<Change<'a, Storage>> {
        self.storage.changes(&other.storage)
    }
}
