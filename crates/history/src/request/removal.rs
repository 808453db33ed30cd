//! Removing entities, with what hangs on them.
//!
//! Without `cascade` a use is a mistake that names the uses. With it, inputs that took a value become holes, and nodes that
//! cannot be without the entity (a call of a removed function, an access to a removed variable) go too.

use std::collections::{BTreeSet, HashSet};

use lmlang_ir::text::LiteralPlace;
use lmlang_ir::types::Type;
use lmlang_ir::{
    Body, ContractRef, FuncRef, ModuleRef, NodeRef, Place, Program, Ref, RefKind, RegionOwner, RegionRef,
    Source, TypeRef, Use, VarRef, counted,
};

use super::error::{Done, EditError, Fail, code};
use super::inputs::{Remove, RemoveNode};
use super::session::{Session, wrong_kind};
use super::sources::Scope;

/// How many uses a message names.
const NAMED_USES: usize = 20;

/// The nodes and regions inside a node, owners first, the node itself included.
pub(super) fn subtree(body: &Body, node: NodeRef) -> (Vec<NodeRef>, Vec<RegionRef>) {
    let (mut nodes, mut regions) = (vec![node], Vec::new());
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        at += 1;
        for region in body.node(*node).map_or(&[][..], |node| node.regions()).to_vec() {
            if body.region(region).is_some() {
                regions.push(region);
                nodes.extend(body.nodes_in(region));
            }
        }
    }
    (nodes, regions)
}

/// The uses of what a node and the regions in it give, from outside of it.
fn uses_from_outside(body: &Body, node: NodeRef) -> Vec<Use> {
    let (nodes, regions) = subtree(body, node);
    let inside: HashSet<NodeRef> = nodes.iter().copied().collect();
    let numbers = nodes.iter().map(|node| node.number()).chain(regions.iter().map(|region| region.number()));
    numbers.flat_map(|number| body.users_of(number)).filter(|one| !inside.contains(&one.node)).collect()
}

fn shown(one: Use) -> String {
    match one.input {
        Some(input) => format!("{}.in{input}", one.node),
        None => one.node.to_string(),
    }
}

fn has_uses(of: Ref, uses: Vec<String>) -> EditError {
    let (count, named) = (uses.len(), uses.into_iter().take(NAMED_USES).collect::<Vec<_>>());
    let more = if count > named.len() { format!(" and {} more", count - named.len()) } else { String::new() };
    let message = format!("`{of}` is used by {}{more}", named.join(", "));
    EditError::new(code::HAS_USES, &["ref"], message).found(of.to_string()).candidates(named)
}

/// The mistake of a text that has no longer what is used from elsewhere.
pub(super) fn removed_in_use(field: &[&str], (of, path): (Ref, &str), uses: Vec<String>) -> EditError {
    let error = has_uses(of, uses);
    let message = format!("the text does not have `{path}`: {}", error.message);
    EditError { path: field.iter().map(|part| (*part).to_owned()).collect(), message, ..error }
}

fn not_empty(of: Ref, (one, several): (&str, &str), count: usize, named: Vec<String>) -> EditError {
    let inside = counted(count as u64, one, several);
    let message = format!("`{of}` has {inside} in it: {}", named.join(", "));
    EditError::new(code::NOT_EMPTY, &["ref"], message).found(of.to_string()).candidates(named)
}

impl Session<'_> {
    /// Removes a node.
    pub(super) fn remove_node(&mut self, edit: &RemoveNode) -> Done<()> {
        let home = edit.replace_uses_with.as_ref().and_then(|with| self.home_of(with));
        let (function, node) = self.node(&["ref"], &edit.of, home)?;
        if let Some(text) = &edit.replace_uses_with {
            let body = self.body(function)?;
            let Some(region) = body.node(node).map(|node| node.region()) else { return Ok(()) };
            let scope = Scope { function, region, after: body.previous(node) };
            // A literal takes the place of the one value that there is.
            let several = body
                .users_of(node.number())
                .any(|one| body.source_of(one).is_some_and(|source| source.port() > 0));
            let expected = if several { None } else { self.taken(function, Source::Node(node, 0)) };
            let given = self.given(&["replaceUsesWith"], scope, text)?;
            let wanted = expected.as_ref().map_or(LiteralPlace::Unknown, LiteralPlace::Takes);
            let with = self.input(&["replaceUsesWith"], scope, given, wanted)?;
            self.replace_uses(function, node.number(), None, with)?;
        }
        let body = self.body(function)?;
        let mut in_the_way = Vec::new();
        if !edit.cascade {
            let (nodes, uses) = (subtree(body, node).0, uses_from_outside(body, node));
            if !uses.is_empty() {
                in_the_way.push(has_uses(node.into(), uses.into_iter().map(shown).collect()));
            }
            if let [_, inside @ ..] = nodes.as_slice()
                && !inside.is_empty()
            {
                let named: Vec<String> = inside.iter().take(NAMED_USES).map(NodeRef::to_string).collect();
                in_the_way.push(not_empty(node.into(), ("node", "nodes"), inside.len(), named));
            }
        }
        if !in_the_way.is_empty() {
            return Err(Fail::Errors(in_the_way));
        }
        self.cut(function, node)
    }

    /// Removes a node with all in it; leaves holes at its uses, and removes what names it.
    pub(super) fn cut(&mut self, function: FuncRef, node: NodeRef) -> Done<()> {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            let body = self.body(function)?;
            if body.node(node).is_none() {
                continue;
            }
            let (nodes, regions) = subtree(body, node);
            let uses = uses_from_outside(body, node);
            let mut open = self.open(function)?;
            for one in uses {
                match one.input {
                    Some(input) => drop(open.set_input(one.node, usize::from(input), None)?),
                    None => pending.push(one.node),
                }
            }
            // What is owned comes after its owner: from the back everything is empty when its turn comes.
            let mut regions = regions.into_iter().rev().peekable();
            for inner in nodes.into_iter().rev() {
                while let Some(region) = regions.next_if(|region| owner(open.body(), *region) == Some(inner))
                {
                    open.remove_region(region)?;
                }
                open.remove_node(inner)?;
            }
        }
        Ok(())
    }

    /// Removes a region with all in it.
    pub(super) fn cut_region(&mut self, function: FuncRef, region: RegionRef) -> Done<()> {
        while let Some(node) = self.body(function)?.last_in(region) {
            self.cut(function, node)?;
        }
        let users: Vec<Use> = self.body(function)?.uses_of(region.number()).collect();
        let mut open = self.open(function)?;
        for one in users {
            if let Some(input) = one.input {
                open.set_input(one.node, usize::from(input), None)?;
            }
        }
        open.remove_region(region)?;
        Ok(())
    }

    /// Removes a function.
    pub(super) fn remove_function(&mut self, edit: &Remove) -> Done<()> {
        let function: FuncRef = self.entity_of(&["ref"], &edit.of)?;
        self.check_uses(function.into(), edit.cascade)?;
        self.drop_function(function)
    }

    fn drop_function(&mut self, function: FuncRef) -> Done<()> {
        self.cut_users(function.into())?;
        self.program.remove_function(function)?;
        Ok(())
    }

    /// Removes a variable of a function, or storage of the program.
    pub(super) fn remove_variable(&mut self, edit: &Remove) -> Done<()> {
        let variable: VarRef = self.entity_of(&["ref"], &edit.of)?;
        self.check_uses(variable.into(), edit.cascade)?;
        self.drop_variable(variable)
    }

    fn drop_variable(&mut self, variable: VarRef) -> Done<()> {
        self.cut_users(variable.into())?;
        match self.program.place(variable.into()) {
            Some(Place::Variable(function, variable)) => {
                self.open(function)?.remove_variable(variable)?;
            }
            _ => drop(self.program.remove_storage(variable)?),
        }
        Ok(())
    }

    /// Removes a type.
    pub(super) fn remove_type(&mut self, edit: &Remove) -> Done<()> {
        let ty: TypeRef = self.entity_of(&["ref"], &edit.of)?;
        self.check_uses(ty.into(), edit.cascade)?;
        // What states its invariants goes along; there is nothing else that it takes.
        let stating: Vec<FuncRef> = self.program.stating(ty).filter(|_| edit.cascade).collect();
        stating.into_iter().try_for_each(|function| self.drop_function(function))?;
        self.drop_type(ty, &BTreeSet::new())
    }

    /// Removes a type whose users in signatures, other types and storage, if any, go as well.
    fn drop_type(&mut self, ty: TypeRef, leaving: &BTreeSet<Ref>) -> Done<()> {
        let users: Vec<Ref> = self.program.users_of(ty.into()).map(|(user, _)| user).collect();
        let users: Vec<Ref> =
            users.into_iter().filter(|user| *user != ty.into() && !leaving.contains(user)).collect();
        let in_the_way: Vec<String> = users
            .iter()
            .filter(|user| mentions_outside_of_body(&self.program, **user, ty))
            .map(Ref::to_string)
            .collect();
        if !in_the_way.is_empty() {
            let message = format!("`{ty}` stands in {}", in_the_way.join(", "));
            let error = EditError::new(code::IN_SIGNATURE, &["ref"], message).found(ty.to_string());
            return Err(error.candidates(in_the_way).into());
        }
        for function in users.into_iter().filter_map(|user| FuncRef::try_from(user).ok()) {
            let body = self.body(function)?;
            let of_type = |of: &Type| mentions(of, ty);
            let variables: Vec<VarRef> = body
                .variables()
                .filter(|(_, variable)| of_type(&variable.ty))
                .map(|(variable, _)| variable)
                .collect();
            let owners: Vec<NodeRef> = body
                .regions()
                .filter(|(_, region)| region.params.iter().any(|param| of_type(&param.ty)))
                .filter_map(|(region, _)| owner(body, region))
                .collect();
            for variable in variables {
                self.drop_variable(variable)?;
            }
            for node in owners {
                self.cut(function, node)?;
            }
        }
        self.cut_users(ty.into())?;
        self.program.remove_type(ty)?;
        Ok(())
    }

    /// Removes a module; with `cascade` with all in it.
    pub(super) fn remove_module(&mut self, edit: &Remove) -> Done<()> {
        let module: ModuleRef = self.entity_of(&["ref"], &edit.of)?;
        let mut modules = vec![module];
        let mut inside: Vec<Ref> = Vec::new();
        let mut at = 0;
        while let Some(module) = modules.get(at).copied() {
            at += 1;
            for (_, member) in self.program.members(Some(module)) {
                match ModuleRef::try_from(member) {
                    Ok(inner) => modules.push(inner),
                    Err(_) => inside.push(member),
                }
            }
        }
        let count = inside.len() + modules.len() - 1;
        if count > 0 && !edit.cascade {
            let names = inside.iter().copied().chain(modules[1..].iter().map(|module| Ref::from(*module)));
            let names: Vec<String> = names.take(NAMED_USES).map(|of| self.program.path(of)).collect();
            return Err(not_empty(module.into(), ("entity", "entities"), count, names).into());
        }
        let leaving: BTreeSet<Ref> = inside.iter().copied().collect();
        let functions: Vec<FuncRef> = inside.iter().filter_map(|of| FuncRef::try_from(*of).ok()).collect();
        for function in functions {
            self.drop_function(function)?;
        }
        let storage: Vec<VarRef> = inside.iter().filter_map(|of| VarRef::try_from(*of).ok()).collect();
        for variable in storage {
            self.drop_variable(variable)?;
        }
        let types: Vec<TypeRef> = inside.iter().filter_map(|of| TypeRef::try_from(*of).ok()).collect();
        for ty in types {
            self.drop_type(ty, &leaving)?;
        }
        for module in modules.into_iter().rev() {
            self.program.remove_module(module)?;
        }
        Ok(())
    }

    /// Removes a contract with its condition.
    pub(super) fn remove_contract(&mut self, edit: &Remove) -> Done<()> {
        let contract: ContractRef = self.entity_of(&["ref"], &edit.of)?;
        let function = self.within(&["ref"], contract.into())?;
        let region = self.body(function)?.contract(contract).map(|contract| contract.region);
        if let Some(region) = region.filter(|region| self.program.place((*region).into()).is_some()) {
            self.cut_region(function, region)?;
        }
        self.open(function)?.remove_contract(contract)?;
        Ok(())
    }

    /// Fails when something outside of an entity uses it and that is not to be mended.
    fn check_uses(&self, of: Ref, cascade: bool) -> Done<()> {
        if cascade {
            return Ok(());
        }
        let mut uses = Vec::new();
        match self.program.place(of) {
            Some(Place::Variable(function, _)) => {
                uses.extend(self.body(function)?.users_of(of.number).map(shown));
            }
            Some(Place::Function(_) | Place::Type(_) | Place::Storage(_)) => {
                uses = self.uses_in_program(of);
            }
            Some(
                Place::Module(_)
                | Place::Member(..)
                | Place::Region(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => return Err(wrong_kind(&["ref"], of, &[of.kind]).into()),
        }
        uses.sort();
        uses.dedup();
        if uses.is_empty() { Ok(()) } else { Err(has_uses(of, uses).into()) }
    }

    /// What uses an entity of the program: nodes, or what has it in its head.
    pub(super) fn uses_in_program(&self, of: Ref) -> Vec<String> {
        let mut uses = Vec::new();
        // A type mentions the functions that state its invariants; it goes on without them.
        let states = |user: &Ref| of.kind == RefKind::Function && user.kind == RefKind::Type;
        let users = self.program.users_of(of).map(|(user, _)| user);
        for user in users.filter(|user| *user != of && !states(user)) {
            let nodes = FuncRef::try_from(user).ok().and_then(|user| self.program.function(user));
            let before = uses.len();
            uses.extend(nodes.into_iter().flat_map(|f| f.body().users_of(of.number)).map(shown));
            if uses.len() == before {
                uses.push(user.to_string());
            }
        }
        uses
    }

    /// Removes the nodes whose operators name an entity, outside of the entity itself, and leaves it out of storage.
    fn cut_users(&mut self, of: Ref) -> Done<()> {
        let users = self.program.users_of(of).filter_map(|(user, _)| VarRef::try_from(user).ok());
        for user in users.filter(|user| Ref::from(*user) != of).collect::<Vec<_>>() {
            let Some(mut storage) = self.program.storage(user).cloned() else { continue };
            storage.kind.leave_out(of);
            self.program.set_storage(user, storage)?;
        }
        let functions: Vec<FuncRef> = match self.program.place(of) {
            Some(Place::Variable(function, _)) => vec![function],
            _ => {
                let users = self.program.users_of(of).filter(|(user, _)| *user != of);
                users.filter_map(|(user, _)| FuncRef::try_from(user).ok()).collect()
            }
        };
        for function in functions {
            let users = self.body(function)?.users_of(of.number);
            let nodes: Vec<NodeRef> = users.filter(|one| one.input.is_none()).map(|one| one.node).collect();
            for node in nodes {
                self.cut(function, node)?;
            }
        }
        Ok(())
    }
}

fn owner(body: &Body, region: RegionRef) -> Option<NodeRef> {
    match body.region(region)?.owner {
        RegionOwner::Node(node) => Some(node),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}

fn mentions(of: &Type, ty: TypeRef) -> bool {
    let mut found = false;
    of.each_named(&mut |named| found |= named == ty);
    found
}

/// Tells whether a user of a type mentions it where no node can be removed to mend that.
fn mentions_outside_of_body(program: &Program, user: Ref, ty: TypeRef) -> bool {
    match program.place(user) {
        Some(Place::Function(function)) => program.function(function).is_some_and(|function| {
            let head = function.head();
            let params = head.params.iter().chain(&head.captures).map(|param| &param.ty);
            params.chain(&head.results).any(|of| mentions(of, ty))
        }),
        Some(_) => true,
        None => false,
    }
}
