//! Code in place of a call.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use lmlang_ir::graph::checked_types;
use lmlang_ir::text::output_names;
use lmlang_ir::{
    Attr, Body, Control, FuncRef, Function, Name, NodeContent, NodeRef, Op, Opcode, Region, RegionOwner,
    RegionRef, RegionRole, Source, VarRef, counted,
};

use super::extract::repeats;
use super::graft::{Grafted, Seams};
use super::inputs::Target;
use super::span::exits_of;
use crate::request::error::{Done, EditError, Fail, code};
use crate::request::promote::zero;
use crate::request::session::{Session, shortened};
use crate::request::sources::Scope;

fn refused(call: NodeRef, why: impl std::fmt::Display) -> Fail {
    let message = format!("`{call}` cannot be replaced by code: {why}");
    EditError::new(code::NOT_INLINABLE, &["ref"], message).found(call.to_string()).into()
}

impl Session<'_> {
    /// Puts a copy of a function's code in the place of a call: straight there when it returns once, at its end, and else
    /// in a block, which each `return` leaves.
    pub(in crate::request) fn inline_call(&mut self, edit: &Target) -> Done<()> {
        let (function, call) = self.node(&["ref"], &edit.of, None)?;
        let body = self.body(function)?;
        let Some(found) = body.node(call) else { return Ok(()) };
        let (Opcode::Call, Attr::Function(of)) = (found.op().code(), found.op().attr()) else {
            let message = format!("expected a `call`, found `{}`", found.op().code().mnemonic());
            let error = EditError::new(code::WRONG_KIND, &["ref"], message).found(shortened(&edit.of));
            return Err(error.expected(["call".to_owned()]).into());
        };
        if body.chain(found.region()).last() != body.root() {
            return Err(refused(call, "it stands in a contract, where there are no variables and exits"));
        }
        let callee = self.function(&["ref"], *of)?.clone();
        let end = check_callee(&callee, call)?;
        if let Some(of) = checked_types(&self.program, &callee).first() {
            let name =
                self.program.type_def(*of).map_or_else(|| of.to_string(), |found| found.name.to_string());
            let message =
                format!("the invariants of `{name}` are checked by calls of `{}`", callee.head().name);
            return Err(refused(call, message));
        }
        let inputs: Vec<Option<Source>> = found.inputs().iter().collect();
        if inputs.len() != callee.head().params.len() {
            let values = counted(inputs.len() as u64, "value", "values");
            let params = counted(callee.head().params.len() as u64, "parameter", "parameters");
            let message = format!("it passes {values} to {params}");
            return Err(refused(call, message));
        }
        let params = (0..).zip(inputs).map(|(index, source)| (Source::Param(*of, index), source));
        let mut seams = Seams { sources: params.collect(), ..Seams::default() };
        let place = Scope { function, region: found.region(), after: body.previous(call) };
        let Some(root) = callee.body().root() else { return Ok(()) };
        let nodes: Vec<NodeRef> = callee.body().nodes_in(root).filter(|node| *node != end).collect();
        let returned: Vec<Option<Source>> =
            callee.body().node(end).map_or_else(Vec::new, |end| end.inputs().iter().collect());
        let last = callee.body().node(end).is_some_and(|end| end.op().code() == Opcode::Return);
        let once = last && !leaves_early(callee.body(), root, end);
        let place = self.copy_variables(&callee, place, call, &mut seams)?;
        if once {
            let grafted = self.graft(&callee, &nodes, place, &seams)?;
            let values = values(&grafted, &seams, &returned);
            self.name_values(function, call, &grafted, &values)?;
            self.finish(function, call, &values)?;
            return match values.iter().flatten().find_map(|value| match value {
                Source::Node(node, _) => Some(*node),
                Source::RegionParam(..) | Source::Param(..) => None,
            }) {
                Some(first) => self.bind(edit.name_as.as_ref(), first),
                None => Ok(()),
            };
        }
        let block = self.block_for(&callee, call, place)?;
        seams.leaves = Some(block.0);
        let inner = Scope { function, region: block.1, after: None };
        let all: Vec<NodeRef> = callee.body().nodes_in(root).collect();
        self.graft(&callee, &all, inner, &seams)?;
        let count = callee.head().results.len();
        let values: Vec<Option<Source>> =
            (0..count).map(|port| Some(Source::Node(block.0, port as u16))).collect();
        self.finish(function, call, &values)?;
        self.bind(edit.name_as.as_ref(), block.0)
    }

    /// A block that gives what a function returns, called as the call.
    fn block_for(&mut self, callee: &Function, call: NodeRef, place: Scope) -> Done<(NodeRef, RegionRef)> {
        let block: NodeRef = self.allocate_in(place.function, NodeRef::new)?;
        let inner: RegionRef = self.allocate_in(place.function, RegionRef::new)?;
        let control = Control { label: None, results: callee.head().results.clone() };
        let Some(op) = Op::new(Opcode::Block, Attr::Control(Arc::new(control))) else {
            return Err(refused(call, "there is no block"));
        };
        let name = self.body(place.function)?.node(call).and_then(|found| found.name().cloned());
        let content = NodeContent { regions: vec![inner], name, ..NodeContent::new(op, []) };
        let mut open = self.open(place.function)?;
        open.insert_node(block, place.region, place.after, content)?;
        open.add_region(inner, Region::new(RegionOwner::Node(block), RegionRole::Body, Vec::new()))?;
        Ok((block, inner))
    }

    /// Copies the variables of a function. Where the code may run more than once in one call, it begins by clearing them,
    /// as a call does.
    fn copy_variables(
        &mut self,
        callee: &Function,
        mut place: Scope,
        call: NodeRef,
        seams: &mut Seams,
    ) -> Done<Scope> {
        let repeats = repeats(self.body(place.function)?, place.region);
        for (of, record) in callee.body().variables() {
            let copy: VarRef = self.allocate_in(place.function, VarRef::new)?;
            self.open(place.function)?.add_variable(copy, record.clone())?;
            seams.variables.insert(of, copy);
            if !repeats {
                continue;
            }
            let (Some(ops), Some(set)) = (zero(&record.ty), Op::new(Opcode::VarSet, Attr::Variable(copy)))
            else {
                return Err(refused(call, format!("nothing clears `{of}` of `{}` in each round", record.ty)));
            };
            let mut value = None;
            for op in ops.into_iter().chain([set]) {
                let node: NodeRef = self.allocate_in(place.function, NodeRef::new)?;
                let content = NodeContent::new(op, value.map(Some));
                self.open(place.function)?.insert_node(node, place.region, place.after, content)?;
                place.after = Some(node);
                value = Some(Source::Node(node, 0));
            }
        }
        Ok(place)
    }

    /// Lets values of code that stands for a call be called as those of the call are.
    fn name_values(
        &mut self,
        function: FuncRef,
        call: NodeRef,
        grafted: &Grafted,
        values: &[Option<Source>],
    ) -> Done<()> {
        let body = self.body(function)?;
        let Some(given) = body.node(call).and_then(|found| found.name()) else { return Ok(()) };
        let names: Vec<Name> = match values {
            [_] => vec![given.clone()],
            _ => output_names(given).map(Name::from).collect(),
        };
        let mut named: BTreeMap<NodeRef, Name> = BTreeMap::new();
        for (value, name) in values.iter().zip(names) {
            let Some(Source::Node(node, 0)) = *value else { continue };
            if name.as_ref() != "_" && grafted.made(node) {
                named.entry(node).or_insert(name);
            }
        }
        for (node, name) in named {
            let Some(found) = self.body(function)?.node(node) else { continue };
            // A list of names stays: it says more.
            if found.name().is_some_and(|own| output_names(own).count() > 1) {
                continue;
            }
            let content = NodeContent { name: Some(name), ..found.content() };
            self.open(function)?.set_node(node, content)?;
        }
        Ok(())
    }

    /// Lets what took the values of a call take others, and removes it.
    fn finish(&mut self, function: FuncRef, call: NodeRef, values: &[Option<Source>]) -> Done<()> {
        self.replace_outputs(function, call, values)?;
        self.cut(function, call)
    }
}

fn values(grafted: &Grafted, seams: &Seams, returned: &[Option<Source>]) -> Vec<Option<Source>> {
    returned.iter().map(|source| grafted.source((*source)?, seams)).collect()
}

/// The end of the callee's code, if it can stand anywhere else.
fn check_callee(callee: &Function, call: NodeRef) -> Done<NodeRef> {
    let head = callee.head();
    let Some(root) = callee.body().root() else {
        return Err(refused(call, format!("`{}` is imported and has no code", head.name)));
    };
    if !head.captures.is_empty() {
        return Err(refused(call, format!("`{}` takes what a closure captures", head.name)));
    }
    if let Some((contract, _)) = callee.body().contracts().next() {
        let error = refused(call, format!("`{contract}` of `{}` is checked by calls", head.name));
        return Err(error);
    }
    callee.body().terminator(root).ok_or_else(|| refused(call, format!("`{}` has no end yet", head.name)))
}

/// Tells whether something in a function returns before its end.
fn leaves_early(body: &Body, root: RegionRef, end: NodeRef) -> bool {
    let mut regions = vec![root];
    let mut known: HashSet<RegionRef> = HashSet::new();
    while let Some(region) = regions.pop() {
        for node in body.nodes_in(region) {
            let returns = exits_of(body, node)
                .is_some_and(|(targets, _)| targets.iter().any(|target| target.target().is_none()));
            if returns && node != end {
                return true;
            }
            let inner = body.node(node).map_or(&[][..], |found| found.regions());
            regions.extend(inner.iter().copied().filter(|region| known.insert(*region)));
        }
    }
    false
}
