//! LOCAL: what changed between two revisions is checked, and what depends on it.
//!
//! [`plan`] names the entities to look at again: from what differs outside of functions, and for each function that
//! differs from its body ([`body`], with [`moves`] for the order of nodes). Then each is checked by the very rules that
//! FULL uses, and its findings replace those from before.
//!
//! The plan for a body counts on a sound structure before the change. A function in which the earlier revision has an
//! error is therefore checked as a whole, and a program with an error outside of functions too: no stored state has
//! one, so that only the way out of a broken state is slow.

mod body;
mod moves;
mod plan;

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{
    ContractRef, EffectBound, FuncRef, Function, ModuleRef, NodeRef, Program, Ref, RegionRef, TypeRef, VarRef,
};

use crate::diagnostic::Diagnostic;
use crate::findings::{Findings, Group, Index, in_order};
use crate::full::{full, function_group};
use crate::rules::{
    self, contracts, effects, functions, modules, regions, storage, types, unused, variables,
};
use crate::view::View;

/// The findings about a program, given those about an earlier revision: the same as FULL finds.
///
/// Costs what differs and what depends on it, not what there is.
pub fn local(before: &Program, findings: &Findings, after: &Program) -> Findings {
    match plan::plan(before, findings, after) {
        Some((dirty, index)) => patch(findings, after, dirty, index),
        None => full(after),
    }
}

/// What a change makes [`local`] look at again, what is gone included: nothing is newly found anywhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affected {
    /// The functions in which something is looked at.
    pub functions: BTreeSet<FuncRef>,
    /// The modules, types and storage.
    pub outside: BTreeSet<Ref>,
}

/// What [`local`] looks at again after a change; `None`: everything.
///
/// Costs what differs and what depends on it.
pub fn affected(before: &Program, findings: &Findings, after: &Program) -> Option<Affected> {
    let (dirty, _) = plan::plan(before, findings, after)?;
    let (modules, types) = (dirty.modules.into_iter().map(Ref::from), dirty.types.into_iter().map(Ref::from));
    let outside = modules.chain(types).chain(dirty.storage.into_iter().map(Ref::from)).collect();
    Some(Affected { functions: dirty.functions.into_keys().collect(), outside })
}

/// What has to be looked at again. Entities that are gone are named too: they lose their findings.
#[derive(Default)]
struct Dirty {
    modules: BTreeSet<ModuleRef>,
    types: BTreeSet<TypeRef>,
    storage: BTreeSet<VarRef>,
    functions: BTreeMap<FuncRef, Part>,
}

/// What has to be looked at again inside of a function.
#[derive(Default)]
struct Part {
    /// Everything in it.
    whole: bool,
    head: bool,
    nodes: BTreeSet<NodeRef>,
    regions: BTreeSet<RegionRef>,
    variables: BTreeSet<VarRef>,
    contracts: BTreeSet<ContractRef>,
}

impl Dirty {
    fn part(&mut self, of: FuncRef) -> &mut Part {
        self.functions.entry(of).or_default()
    }
}

/// Checks what is dirty and replaces its findings.
fn patch(before: &Findings, program: &Program, dirty: Dirty, index: Index) -> Findings {
    let mut findings = before.clone();
    findings.index = index;
    if !(dirty.modules.is_empty() && dirty.types.is_empty() && dirty.storage.is_empty()) {
        let mut outside = findings.group(0).cloned().unwrap_or_default();
        check_outside(program, &findings.index, &dirty, &mut outside);
        findings.set_group(0, outside);
    }
    for (of, part) in dirty.functions {
        let number = of.number();
        let Some(function) = program.function(of) else {
            findings.set_group(number, Group::default());
            continue;
        };
        // One look at everything is cheaper than many looks at one thing.
        let most = part.nodes.len() as u64 * 4 > function.body().counts().nodes + 64;
        let group = match findings.group(number) {
            _ if part.whole || most => function_group(program, &findings.index, of, function),
            Some(group) if group.tally().errors > 0 => function_group(program, &findings.index, of, function),
            group => {
                let mut group = group.cloned().unwrap_or_default();
                check_part(program, &findings.index, of, function, part, &mut group);
                group
            }
        };
        findings.set_group(number, group);
    }
    findings
}

fn check_outside(program: &Program, index: &Index, dirty: &Dirty, group: &mut Group) {
    let mut found = Vec::new();
    for of in &dirty.modules {
        if let Some(module) = program.module(*of) {
            modules::check(program, *of, module, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, None, of.number());
        }
    }
    let circular = types::circular(program, dirty.types.iter().copied());
    for of in &dirty.types {
        if let Some(def) = program.type_def(*of) {
            types::check(program, *of, def, circular.contains(of), &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, None, of.number());
        }
    }
    for of in &dirty.storage {
        if let Some(one) = program.storage(*of) {
            storage::check(program, index, *of, one, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, None, of.number());
        }
    }
}

fn check_part(
    program: &Program,
    index: &Index,
    of: FuncRef,
    function: &Function,
    part: Part,
    group: &mut Group,
) {
    let view = View::new(program, of, function, !index.memories.is_empty());
    let (body, mut found) = (function.body(), Vec::new());
    for of in &part.nodes {
        if let Some(node) = body.node(*of) {
            let site = view.site(*of, node);
            rules::check_node(&view, site, &mut found);
            unused::check(&view, site, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, Some(view.of), of.number());
        }
    }
    for of in &part.regions {
        if let Some(region) = body.region(*of) {
            regions::check(&view, *of, region, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, Some(view.of), of.number());
        }
    }
    for of in &part.variables {
        if let Some(variable) = body.variable(*of) {
            variables::check(&view, *of, variable, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, Some(view.of), of.number());
        }
    }
    for of in &part.contracts {
        if let Some(contract) = body.contract(*of) {
            contracts::check(&view, *of, contract, &mut found);
            replace(group, of.number(), &mut found);
        } else {
            clear(group, program, Some(view.of), of.number());
        }
    }
    let reader = find_reader(&view, group.reader, &part.nodes);
    if part.head || reader.is_some() != group.reader.is_some() {
        functions::check(&view, index, reader, &mut found);
        replace(group, of.number(), &mut found);
    }
    group.reader = reader;
}

/// Replaces what a group has about an entity by what was found, which is taken.
fn replace(group: &mut Group, entity: u64, found: &mut Vec<Diagnostic>) {
    group.set(entity, &in_order(std::mem::take(found)));
}

/// Forgets what a group has about an entity that is gone, unless another one of the group has its number: a dangling ref
/// may name any.
fn clear(group: &mut Group, program: &Program, owner: Option<FuncRef>, entity: u64) {
    let here = program.ref_of(entity).is_some_and(|of| program.function_of(of) == owner);
    if !here {
        group.set(entity, &[]);
    }
}

/// Some node because of which a function that is declared `reads` is not `pure`, given one from before: only nodes that
/// were looked at can have become or ceased to be one.
fn find_reader(view: &View<'_>, known: Option<NodeRef>, checked: &BTreeSet<NodeRef>) -> Option<NodeRef> {
    if view.function.head().effect_bound != EffectBound::Reads {
        return None;
    }
    let reads =
        |of: &NodeRef| view.body.node(*of).is_some_and(|node| effects::is_reader(view, view.site(*of, node)));
    match known {
        Some(known) if reads(&known) => Some(known),
        Some(_) => functions::find_reader(view),
        None => checked.iter().copied().find(reads),
    }
}
