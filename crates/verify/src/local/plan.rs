//! What differs outside of bodies, and who depends on it.

use std::collections::BTreeSet;

use lmlang_ir::{
    FuncRef, Function, FunctionHead, ModuleRef, Name, NodeRef, Param, Place, Program, Ref, Storage,
    StorageKind, Type, TypeDef, TypeRef, VarRef,
};

use super::Dirty;
use super::body::Bodies;
use crate::findings::{Findings, Index};
use crate::rules::types::is_plain;

/// What has to be looked at again, and the index of the later revision. `None`: everything.
pub(super) fn plan(before: &Program, findings: &Findings, after: &Program) -> Option<(Dirty, Index)> {
    if findings.tally_outside().errors > 0 {
        return None;
    }
    let index = findings.index.clone();
    let (names, exports) = (BTreeSet::new(), BTreeSet::new());
    let mut plan =
        Plan { before, after, old: &findings.index, index, names, exports, dirty: Dirty::default() };
    plan.modules()?;
    plan.types();
    plan.storage()?;
    plan.functions();
    plan.names_and_exports();
    Some((plan.dirty, plan.index))
}

struct Plan<'a> {
    before: &'a Program,
    after: &'a Program,
    old: &'a Index,
    index: Index,
    /// Module and name of what was named, renamed, moved or removed.
    names: BTreeSet<(Option<ModuleRef>, Name)>,
    /// Names under which something else is exported than before.
    exports: BTreeSet<Name>,
    dirty: Dirty,
}

impl Plan<'_> {
    /// Who can be seen follows from the whole tree of modules, so that a change of it is a change of everything. A new
    /// module is none, unless somebody stands in it already.
    fn modules(&mut self) -> Option<()> {
        for (number, before, after) in self.before.changed_modules(self.after) {
            let of = ModuleRef::new(number)?;
            let inhabited = |program: &Program| program.members(Some(of)).next().is_some();
            match (before, after) {
                (Some(old), Some(new)) => {
                    if (old.parent, old.visibility) != (new.parent, new.visibility) {
                        return None;
                    }
                }
                (None, _) if inhabited(self.before) => return None,
                (Some(_), None) if inhabited(self.after) => return None,
                (None | Some(_), _) => {}
            }
            self.name(
                before.map(|module| (module.parent, &module.name)),
                after.map(|module| (module.parent, &module.name)),
            );
            self.dirty.modules.insert(of);
        }
        Some(())
    }

    fn name(
        &mut self,
        before: Option<(Option<ModuleRef>, &Name)>,
        after: Option<(Option<ModuleRef>, &Name)>,
    ) {
        if before != after {
            let both = before.into_iter().chain(after);
            self.names.extend(both.map(|(module, name)| (module, Name::clone(name))));
        }
    }

    fn export(&mut self, before: Vec<Name>, after: Vec<Name>) {
        if before != after {
            self.exports.extend(before.into_iter().chain(after));
        }
    }

    /// Who mentions an entity in either revision.
    fn users(&self, of: impl Into<Ref>) -> BTreeSet<Ref> {
        let of = of.into();
        let of_both = [self.before, self.after].into_iter().flat_map(|program| program.users_of(of));
        of_both.map(|(user, _)| user).collect()
    }

    fn user_functions(&self, of: impl Into<Ref>) -> Vec<FuncRef> {
        self.users(of).into_iter().filter_map(|user| FuncRef::try_from(user).ok()).collect()
    }

    fn types(&mut self) {
        let mut open = Vec::new();
        for (number, before, after) in self.before.changed_types(self.after) {
            let Some(of) = TypeRef::new(number) else { continue };
            let standing = |def: &TypeDef| (def.module, def.visibility);
            fn name(def: &TypeDef) -> (Option<ModuleRef>, &Name) {
                (Some(def.module), &def.name)
            }
            self.name(before.map(|def| name(def)), after.map(|def| name(def)));
            // A type that came, went or moved concerns whoever mentions it anywhere.
            if before.map(|def| standing(def)) != after.map(|def| standing(def)) {
                self.mark_users_whole(of);
                if before.is_some() {
                    self.mark_globals();
                }
            } else if before.map(|def| &def.shape) != after.map(|def| &def.shape) {
                self.user_functions(of).into_iter().for_each(|user| self.mark_mentions(user, of.number()));
            }
            open.push(of);
        }
        // Layout and containment go through the types that a type consists of.
        let mut reached: BTreeSet<TypeRef> = open.iter().copied().collect();
        while let Some(of) = open.pop() {
            let outer = self.users(of).into_iter().filter_map(|user| TypeRef::try_from(user).ok());
            open.extend(outer.filter(|user| reached.insert(*user)));
        }
        for of in reached {
            let named = Type::Named(of);
            if is_plain(self.before, &named) != is_plain(self.after, &named) {
                self.mark_users_whole(of);
                self.mark_globals();
            }
            self.dirty.types.insert(of);
        }
    }

    fn mark_users_whole(&mut self, of: TypeRef) {
        self.user_functions(of).into_iter().for_each(|user| self.dirty.part(user).whole = true);
    }

    /// Globals mention types, and are no part of the index of who mentions what.
    fn mark_globals(&mut self) {
        self.mark_storage(|kind| matches!(kind, StorageKind::Global { .. }));
    }

    fn mark_storage(&mut self, which: impl Fn(&StorageKind) -> bool) {
        let some = self.after.all_storage().filter(|(_, storage)| which(&storage.kind));
        self.dirty.storage.extend(some.map(|(of, _)| of));
    }

    /// Tables and first values that name an entity.
    fn mark_user_storage(&mut self, of: impl Into<Ref>) {
        let users = self.users(of).into_iter().filter_map(|user| VarRef::try_from(user).ok());
        self.dirty.storage.extend(users);
    }

    /// The nodes of a function that name an entity, with the users of their outputs and their regions.
    fn mark_mentions(&mut self, user: FuncRef, number: u64) {
        let Some(function) = self.after.function(user) else { return };
        let body = function.body();
        let part = self.dirty.part(user);
        let naming: Vec<NodeRef> = body.users_of(number).map(|one| one.node).collect();
        for node in naming {
            part.nodes.insert(node);
            part.nodes.extend(body.uses_of(node.number()).map(|one| one.node));
            part.regions.extend(body.node(node).into_iter().flat_map(|node| node.regions()));
        }
    }

    fn storage(&mut self) -> Option<()> {
        for (number, before, after) in self.before.changed_storage(self.after) {
            let of = VarRef::new(number)?;
            before.into_iter().for_each(|storage| self.index.forget_storage(of, storage));
            after.into_iter().for_each(|storage| self.index.note_storage(of, storage));
            fn name(storage: &Storage) -> (Option<ModuleRef>, &Name) {
                (Some(storage.module), &storage.name)
            }
            self.name(before.map(name), after.map(name));
            let exports = |storage: Option<&'_ Storage>| storage.map_or(Vec::new(), |of| of.exports.clone());
            self.export(exports(before), exports(after));
            self.dirty.storage.insert(of);
            self.mark_user_storage(of);
            self.user_functions(of).into_iter().for_each(|user| self.mark_mentions(user, number));
        }
        // Whatever uses memory depends on whether there is one.
        if self.old.memories.is_empty() != self.index.memories.is_empty() {
            return None;
        }
        if self.old.memories != self.index.memories {
            self.mark_storage(|kind| matches!(kind, StorageKind::Memory { .. }));
        }
        Some(())
    }

    fn functions(&mut self) {
        for (number, before, after) in self.before.changed_functions(self.after) {
            let Some(of) = FuncRef::new(number) else { continue };
            let (before, after) = (before.map(AsRef::as_ref), after.map(AsRef::as_ref));
            self.head(of, before.map(Function::head), after.map(Function::head));
            if let (Some(before), Some(after)) = (before, after)
                && !self.dirty.part(of).whole
            {
                let mut bodies =
                    Bodies { before: before.body(), after: after.body(), part: self.dirty.part(of) };
                bodies.mark();
            }
        }
    }

    fn head(&mut self, of: FuncRef, before: Option<&FunctionHead>, after: Option<&FunctionHead>) {
        before.into_iter().for_each(|head| self.index.forget_function(of, head));
        after.into_iter().for_each(|head| self.index.note_function(of, head));
        fn name(head: &FunctionHead) -> (Option<ModuleRef>, &Name) {
            (Some(head.module), &head.name)
        }
        self.name(before.map(name), after.map(name));
        let exports = |head: Option<&'_ FunctionHead>| head.map_or(Vec::new(), |of| of.exports.clone());
        self.export(exports(before), exports(after));
        let types = |params: &[Param]| params.iter().map(|param| param.ty.clone()).collect::<Vec<_>>();
        let captureless = |head: Option<&FunctionHead>| head.map(|head| head.captures.is_empty());
        if before.is_some() && captureless(before) != captureless(after) {
            self.mark_user_storage(of);
        }
        let (Some(old), Some(new)) = (before, after) else {
            self.dirty.part(of).whole = true;
            return self.mark_callers(of);
        };
        if old == new {
            return;
        }
        self.dirty.part(of).head = true;
        // Invariants stand in functions of one shape alone.
        let contracts = self.after.function(of).into_iter().flat_map(|function| function.body().contracts());
        self.dirty.part(of).contracts.extend(contracts.map(|(contract, _)| contract));
        let own = |head: &FunctionHead| {
            (head.results.clone(), types(&head.captures), head.effect_bound, head.module)
        };
        let params = types(&old.params) != types(&new.params);
        if own(old) != own(new) {
            self.dirty.part(of).whole = true;
        } else if params {
            self.mark_mentions(of, of.number());
        }
        if own(old) != own(new) || params || old.visibility != new.visibility {
            self.mark_callers(of);
        }
    }

    fn mark_callers(&mut self, of: FuncRef) {
        self.user_functions(of).into_iter().for_each(|user| self.mark_mentions(user, of.number()));
    }

    /// Everybody who has, or had, a name that came, went or changed hands; the same for exports and starts.
    fn names_and_exports(&mut self) {
        let mut touched: BTreeSet<Ref> = BTreeSet::new();
        for (module, name) in &self.names {
            touched.extend(self.before.lookup(*module, name));
            touched.extend(self.after.lookup(*module, name));
        }
        let mut numbers: BTreeSet<u64> = BTreeSet::new();
        for name in &self.exports {
            for index in [self.old, &self.index] {
                let range = (Name::clone(name), 0)..=(Name::clone(name), u64::MAX);
                numbers.extend(index.exports.range(range).map(|(_, number)| *number));
            }
        }
        if self.old.starts != self.index.starts {
            numbers.extend(self.old.starts.iter().chain(&self.index.starts));
        }
        touched.extend(numbers.into_iter().filter_map(|number| self.after.ref_of(number)));
        for of in touched {
            match self.after.place(of) {
                Some(Place::Module(of)) => drop(self.dirty.modules.insert(of)),
                Some(Place::Type(of)) => drop(self.dirty.types.insert(of)),
                Some(Place::Storage(of)) => drop(self.dirty.storage.insert(of)),
                Some(Place::Function(of)) => self.dirty.part(of).head = true,
                Some(
                    Place::Member(..)
                    | Place::Region(..)
                    | Place::Variable(..)
                    | Place::Contract(..)
                    | Place::Node(..),
                )
                | None => {}
            }
        }
    }
}
