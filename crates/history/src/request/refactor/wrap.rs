//! Putting code into a node, and taking it out again.

use std::collections::HashSet;
use std::sync::Arc;

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::{
    Attr, Body, Const, Control, FuncRef, Match, NodeContent, NodeRef, Op, Opcode, RefKind, RegionOwner,
    RegionRef, RegionRole, Source,
};

use super::extract::names_of;
use super::inputs::{Target, Wrap};
use super::span::Span;
use crate::request::error::{Done, EditError, Fail, code};
use crate::request::nodes::Operator;
use crate::request::removal::subtree;
use crate::request::session::{Session, shortened, wrong_kind};

impl Session<'_> {
    /// Puts nodes into the first region of a new node, which gives on what is taken of them outside.
    pub(in crate::request) fn wrap_nodes(&mut self, edit: &Wrap) -> Done<()> {
        let span = self.span(&edit.refs)?;
        let place = self.front_of(&span)?;
        let Operator { op, params } = self.operator(&["op"], place, &edit.op)?;
        let around = self.function(&["refs"], span.function)?;
        let given = span.given(around.body());
        let types = given.iter().map(|of| source_type(&self.program, around, *of));
        let Some(types) = types.collect::<Option<Vec<_>>>() else {
            let message = "a value that is used does not exist any more";
            return Err(EditError::new(code::MISSING_VALUE, &["refs"], message).into());
        };
        let Some(op) = with_results(&op, types) else {
            let message = format!("`{}` has no region to put nodes into", op.code().mnemonic());
            let error = EditError::new(code::WRONG_KIND, &["op"], message).found(shortened(&edit.op));
            return Err(error
                .expected(["block", "loop L", "if", "match (0, default)"].map(str::to_owned))
                .into());
        };
        let name = names_of(around.body(), &given);
        let node: NodeRef = self.allocate_in(span.function, NodeRef::new)?;
        let content = NodeContent { name, ..NodeContent::new(op, []) };
        self.open(span.function)?.insert_node(node, place.region, place.after, content)?;
        self.set_operator(span.function, node, params)?;
        let regions =
            self.body(span.function)?.node(node).map_or_else(Vec::new, |found| found.regions().to_vec());
        let outer: Vec<(Source, Option<Source>)> =
            (0..).zip(&given).map(|(port, value)| (*value, Some(Source::Node(node, port)))).collect();
        self.redirect(&span, &outer)?;
        for (index, region) in regions.into_iter().enumerate() {
            if index == 0 {
                self.move_into(&span, region)?;
            }
            let values = given.iter().map(|value| (index == 0).then_some(*value)).collect::<Vec<_>>();
            self.end_with(span.function, region, Opcode::Yield, values)?;
        }
        self.bind(edit.name_as.as_ref(), node)
    }

    fn move_into(&mut self, span: &Span, region: RegionRef) -> Done<()> {
        let mut open = self.open(span.function)?;
        let mut after = None;
        for node in &span.nodes {
            open.move_node(*node, region, after)?;
            after = Some(*node);
        }
        Ok(())
    }

    /// Puts a terminator without an attribute at the end of a region.
    pub(super) fn end_with(
        &mut self,
        function: FuncRef,
        region: RegionRef,
        code: Opcode,
        values: Vec<Option<Source>>,
    ) -> Done<()> {
        let Some(op) = Op::new(code, Attr::None) else { return Ok(()) };
        let last = self.body(function)?.last_in(region);
        let node: NodeRef = self.allocate_in(function, NodeRef::new)?;
        self.open(function)?.insert_node(node, region, last, NodeContent::new(op, values))?;
        Ok(())
    }

    /// Puts what is in a node, or in one region of it, in the node's place.
    pub(in crate::request) fn unwrap_node(&mut self, edit: &Target) -> Done<()> {
        let (function, node, region) = self.unwrapped(&edit.of)?;
        let refused = |message: String, at: Vec<String>| -> Fail {
            let error = EditError::new(code::NOT_UNWRAPPABLE, &["ref"], message);
            error.found(node.to_string()).candidates(at).into()
        };
        let body = self.body(function)?;
        let Some(terminator) = body.terminator(region) else {
            return Err(refused(format!("`{region}` has no terminator yet"), vec![region.to_string()]));
        };
        let ends = body.node(terminator).is_some_and(|end| match (end.op().code(), end.op().attr()) {
            (Opcode::Yield, _) => true,
            (Opcode::Break, Attr::Exit(target)) => *target == node,
            _ => false,
        });
        if !ends {
            let message = format!("`{terminator}` goes elsewhere than behind `{node}`");
            return Err(refused(message, vec![terminator.to_string()]));
        }
        let kept: HashSet<NodeRef> = body.nodes_in(region).flat_map(|node| subtree(body, node).0).collect();
        let exits = body.users_of(node.number()).filter(|one| one.input.is_none());
        let other: Vec<String> = exits
            .map(|one| one.node)
            .filter(|one| kept.contains(one) && *one != terminator)
            .map(|one| one.to_string())
            .collect();
        if !other.is_empty() {
            let message = format!(
                "code in `{region}` leaves or continues `{node}` on other ways: {}",
                other.join(", ")
            );
            return Err(refused(message, other));
        }
        self.replace_params(function, node, region)?;
        let body = self.body(function)?;
        let values: Vec<Option<Source>> =
            body.node(terminator).map_or_else(Vec::new, |end| end.inputs().iter().collect());
        let Some(outer) = body.node(node).map(|found| found.region()) else { return Ok(()) };
        let nodes: Vec<NodeRef> = body.nodes_in(region).filter(|inner| *inner != terminator).collect();
        let mut after = body.previous(node);
        self.replace_outputs(function, node, &values)?;
        let mut open = self.open(function)?;
        for inner in nodes {
            open.move_node(inner, outer, after)?;
            after = Some(inner);
        }
        self.cut(function, node)
    }

    /// The node that goes, and the region whose code stays.
    fn unwrapped(&self, text: &str) -> Done<(FuncRef, NodeRef, RegionRef)> {
        if let Ok(region) = self.entity(&["ref"], text).and_then(|of| {
            RegionRef::try_from(of).map_err(|_| wrong_kind(&["ref"], of, &[RefKind::Region]).into())
        }) {
            let function = self.within(&["ref"], region.into())?;
            return match self.body(function)?.region(region).map(|region| region.owner) {
                Some(RegionOwner::Node(node)) => Ok((function, node, region)),
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => {
                    let message = format!("`{region}` is not the region of a node");
                    Err(EditError::new(code::WRONG_KIND, &["ref"], message).found(shortened(text)).into())
                }
            };
        }
        let (function, node) = self.node(&["ref"], text, None)?;
        let body = self.body(function)?;
        let regions = body.node(node).map_or(&[][..], |found| found.regions());
        match (regions, decided(body, node)) {
            ([only], _) => Ok((function, node, *only)),
            (_, Some(region)) => Ok((function, node, region)),
            ([], None) => {
                let message = format!("`{node}` has no regions");
                Err(EditError::new(code::NOT_UNWRAPPABLE, &["ref"], message).found(shortened(text)).into())
            }
            (several, None) => {
                let message = format!("`{node}` has several regions: say whose code stays");
                let error = EditError::new(code::NOT_UNWRAPPABLE, &["ref"], message).found(shortened(text));
                Err(error.candidates(several.iter().map(ToString::to_string)).into())
            }
        }
    }

    /// Lets what takes a parameter of a region take what the node was given for it.
    fn replace_params(&mut self, function: FuncRef, node: NodeRef, region: RegionRef) -> Done<()> {
        let body = self.body(function)?;
        let uses: Vec<_> = body
            .uses_of(region.number())
            .filter_map(|one| Some((one.node, one.input?, body.source_of(one)?.port())))
            .collect();
        let Some(found) = body.node(node) else { return Ok(()) };
        if !uses.is_empty() && found.op().code() != Opcode::Loop {
            let named: Vec<String> =
                uses.iter().map(|(user, input, _)| format!("{user}.in{input}")).collect();
            let message =
                format!("`{region}` is given a value that only `{node}` takes out: {}", named.join(", "));
            let error = EditError::new(code::NOT_UNWRAPPABLE, &["ref"], message);
            return Err(error.found(region.to_string()).candidates(named).into());
        }
        let given: Vec<Option<Source>> = found.inputs().iter().collect();
        let mut open = self.open(function)?;
        for (user, input, port) in uses {
            open.set_input(user, usize::from(input), given.get(usize::from(port)).copied().flatten())?;
        }
        Ok(())
    }
}

/// The region that an `if` over a constant enters.
fn decided(body: &Body, node: NodeRef) -> Option<RegionRef> {
    let found = body.node(node).filter(|found| found.op().code() == Opcode::If)?;
    let Some(Source::Node(condition, 0)) = found.inputs().get(0) else { return None };
    let role = match body.node(condition)?.op().attr() {
        Attr::Const(Const::Bool(true)) => RegionRole::Then,
        Attr::Const(Const::Bool(false)) => RegionRole::Else,
        _ => return None,
    };
    found.regions().iter().copied().find(|region| body.region(*region).is_some_and(|of| of.role == role))
}

/// An operator that owns regions and gives values of these types; one that says itself what it gives is taken as it is.
fn with_results(op: &Op, types: Vec<lmlang_ir::Type>) -> Option<Op> {
    let attr = match op.attr() {
        Attr::Control(control) if control.results.is_empty() => {
            Attr::Control(Arc::new(Control { results: types, ..Control::clone(control) }))
        }
        Attr::Match(of) if of.results.is_empty() => {
            Attr::Match(Arc::new(Match { results: types, ..Match::clone(of) }))
        }
        Attr::Control(_) | Attr::Match(_) => return Some(op.clone()),
        _ => return None,
    };
    Op::new(op.code(), attr)
}
