//! One value more at the exits of a loop, a node or a function.

use lmlang_ir::ops::Expected;
use lmlang_ir::ops::signature::exit_types;
use lmlang_ir::text::LiteralPlace;
use lmlang_ir::{
    Exit, FuncRef, NodeRef, Opcode, Ref, RefKind, RegionParam, Source, Type, counted, node::MAX_PORTS,
};

use super::inputs::{AddLoopParam, AddResult};
use super::span::exits_of;
use crate::request::error::{Done, EditError, code};
use crate::request::promote::with_result;
use crate::request::session::{Session, check_name, wrong_kind};
use crate::request::sources::Scope;

/// A value more, as a caller asks for it.
struct More<'e> {
    field: &'static str,
    text: &'e str,
    ty: &'e Type,
}

impl Session<'_> {
    /// Gives a loop one parameter more, with what it starts from and what each `continue` passes on.
    pub(in crate::request) fn add_loop_param(&mut self, edit: &AddLoopParam) -> Done<()> {
        let (function, node) = self.node(&["ref"], &edit.of, None)?;
        let around = self.function(&["ref"], function)?;
        let Some(found) = around.body().node(node) else { return Ok(()) };
        let (Opcode::Loop, Some(region)) = (found.op().code(), found.regions().first().copied()) else {
            let message = format!("expected a loop, found `{}`", found.op().code().mnemonic());
            let error = EditError::new(code::WRONG_KIND, &["ref"], message).found(node.to_string());
            return Err(error.expected(["loop".to_owned()]).into());
        };
        check_name(&["name"], &edit.name)?;
        let place = Scope { function, region: found.region(), after: around.body().previous(node) };
        let ty = self.ty(&["type"], around.head().module, &edit.ty)?;
        self.check_room(function, Exit::Continue(node), node, 0)?;
        let rounds = self.checked_exits("next", function, Exit::Continue(node))?;
        let initial = self.value_more(More { field: "initial", text: &edit.initial, ty: &ty }, place)?;
        self.append(function, node, initial)?;
        let mut open = self.open(function)?;
        if let Some(mut record) = open.body().region(region).cloned() {
            record.params.push(RegionParam { name: Some(edit.name.as_str().into()), ty: ty.clone() });
            open.set_region(region, record)?;
        }
        self.pass(function, rounds, More { field: "next", text: &edit.next, ty: &ty })
    }

    /// Lets a function or a node give one value more.
    pub(in crate::request) fn add_result(&mut self, edit: &AddResult) -> Done<()> {
        let of: Ref = match self.is_name(&edit.of) {
            true => self.node(&["ref"], &edit.of, None)?.1.into(),
            false => self.entity(&["ref"], &edit.of)?,
        };
        if let Ok(function) = FuncRef::try_from(of) {
            return self.add_function_result(function, edit);
        }
        let node = NodeRef::try_from(of)
            .map_err(|_| wrong_kind(&["ref"], of, &[RefKind::Function, RefKind::Node]))?;
        let function = self.within(&["ref"], of)?;
        let around = self.function(&["ref"], function)?;
        let ty = self.ty(&["type"], around.head().module, &edit.ty)?;
        let Some(found) = around.body().node(node) else { return Ok(()) };
        if !found.op().owns_regions() {
            let message = format!("`{}` gives what it gives", found.op().code().mnemonic());
            let error = EditError::new(code::WRONG_KIND, &["ref"], message).found(node.to_string());
            return Err(error.expected(["a function", "a node that owns regions"].map(str::to_owned)).into());
        }
        let mut content = found.content();
        with_result(&mut content, None, &ty);
        let exits = self.checked_exits("default", function, Exit::Break(node))?;
        self.open(function)?.set_node(node, content)?;
        self.pass(function, exits, More { field: "default", text: &edit.default, ty: &ty })?;
        Ok(())
    }

    fn add_function_result(&mut self, function: FuncRef, edit: &AddResult) -> Done<()> {
        let mut head = self.function(&["ref"], function)?.head().clone();
        let ty = self.ty(&["type"], head.module, &edit.ty)?;
        let exits = self.checked_exits("default", function, Exit::Return)?;
        self.pass(function, exits, More { field: "default", text: &edit.default, ty: &ty })?;
        head.results.push(ty);
        let results = head.results.clone();
        self.open(function)?.set_head(head);
        self.set_ensure_params(function, &results)
    }

    /// The nodes that leave for a target, if each of them can pass on a value more.
    fn checked_exits(&self, field: &str, function: FuncRef, exit: Exit) -> Done<Vec<NodeRef>> {
        let found = self.leaving_for(function, exit)?;
        for node in &found {
            let (targets, first) = exits_of(self.body(function)?, *node).unwrap_or_default();
            if let Some(other) = targets.iter().find(|target| **target != exit) {
                return Err(shared(field, *node, *other).into());
            }
            self.check_room(function, exit, *node, first)?;
        }
        Ok(found)
    }

    /// Lets nodes pass on a value more, as each of them sees it.
    fn pass(&mut self, function: FuncRef, nodes: Vec<NodeRef>, more: More<'_>) -> Done<()> {
        for node in nodes {
            let body = self.body(function)?;
            let Some(found) = body.node(node) else { continue };
            let place = Scope { function, region: found.region(), after: body.previous(node) };
            let value = self.value_more(More { ..more }, place)?;
            self.append(function, node, value)?;
        }
        Ok(())
    }

    /// The nodes that leave for a target, in the order of their refs.
    fn leaving_for(&self, function: FuncRef, exit: Exit) -> Done<Vec<NodeRef>> {
        let body = self.body(function)?;
        let aims = |node: &NodeRef| exits_of(body, *node).is_some_and(|(targets, _)| targets.contains(&exit));
        let mut found: Vec<NodeRef> = match exit.target() {
            Some(target) => {
                let users = body.users_of(target.number()).filter(|one| one.input.is_none());
                users.map(|one| one.node).filter(aims).collect()
            }
            None => body.nodes().map(|(node, _)| node).filter(aims).collect(),
        };
        if let Exit::Break(target) = exit {
            let regions = body.node(target).map_or(&[][..], |node| node.regions());
            let ends = regions.iter().filter_map(|region| body.terminator(*region));
            found.extend(
                ends.filter(|end| body.node(*end).is_some_and(|end| end.op().code() == Opcode::Yield)),
            );
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// A value more goes behind those that are there, so as many have to be there as the target takes.
    fn check_room(&self, function: FuncRef, exit: Exit, node: NodeRef, first: usize) -> Done<()> {
        let around = self.function(&["ref"], function)?;
        let taken = exit_types(around, exit).map(|types| types.len() + first);
        let given = around.body().node(node).map_or(0, |found| found.inputs().len());
        if taken == Some(given) && given + 1 < MAX_PORTS {
            return Ok(());
        }
        let message = match taken {
            Some(taken) if taken != given => {
                let gives = counted(given as u64, "value", "values");
                format!("`{node}` gives {gives}, not {taken}")
            }
            Some(_) | None => format!("`{node}` has too many ports"),
        };
        let error = EditError::new(code::NO_SUCH_PORT, &["ref"], message).found(node.to_string());
        Err(error.candidates([node.to_string()]).into())
    }

    fn value_more(&mut self, more: More<'_>, place: Scope) -> Done<Source> {
        let given = self.given(&[more.field], place, more.text)?;
        self.input(&[more.field], place, given, LiteralPlace::Takes(&Expected::Is(more.ty.clone())))
    }

    fn append(&mut self, function: FuncRef, node: NodeRef, value: Source) -> Done<()> {
        let Some(mut content) = self.body(function)?.node(node).map(|found| found.content()) else {
            return Ok(());
        };
        content.inputs = content.inputs.iter().chain([Some(value)]).collect();
        self.open(function)?.set_node(node, content)?;
        Ok(())
    }
}

fn shared(field: &str, node: NodeRef, other: Exit) -> EditError {
    let to = match other {
        Exit::Break(target) => format!("behind `{target}`"),
        Exit::Continue(target) => format!("to the next round of `{target}`"),
        Exit::Return => "out of the function".to_owned(),
    };
    let message = format!("`{node}` goes {to}, too, with the same values");
    let error = EditError::new(code::SHARED_EXIT, &[field], message).found(node.to_string());
    error.candidates([node.to_string()])
}
