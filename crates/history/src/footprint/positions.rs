//! Parameters and captures: what is told by its position in a list, so that it is another one when the list changes.

use lmlang_ir::{Attr, Body, Exit, FuncRef, Name, NodeRef, Op, Opcode, Ref, RegionRef, Type};

use super::{Footprint, Part, Touch};

impl Footprint {
    /// Parameters by name and type. One is another when its type is, or when names change places; in lists of different
    /// length all from the first difference on are.
    pub(super) fn params(&mut self, of: Ref, old: &[(Option<Name>, Type)], new: &[(Option<Name>, Type)]) {
        if old == new {
            return;
        }
        if old.len() != new.len() || permuted(old, new) {
            let same = old.iter().zip(new).take_while(|(x, y)| x == y).count();
            self.part(of, Part::Params);
            for index in same..old.len().max(new.len()) {
                self.part(of, Part::ParamName(index as u16));
                self.part(of, Part::ParamType(index as u16));
                self.writes(Touch::Param(of, index as u16));
            }
            return;
        }
        self.reads(Touch::Part(of, Part::Params));
        for (index, (old, new)) in (0u16..).zip(old.iter().zip(new)) {
            self.differ(of, Part::ParamName(index), &old.0, &new.0);
            if self.differ(of, Part::ParamType(index), &old.1, &new.1) {
                self.writes(Touch::Param(of, index));
            }
        }
    }

    /// Captures are told by their position: one is another as a parameter is.
    pub(super) fn captures(
        &mut self,
        function: FuncRef,
        old: &[(Option<Name>, Type)],
        new: &[(Option<Name>, Type)],
    ) {
        let moved = old.len() != new.len() || permuted(old, new);
        let same = old.iter().zip(new).take_while(|(x, y)| x == y).count();
        for index in same..old.len().max(new.len()) {
            let ty = |list: &[(Option<Name>, Type)]| list.get(index).map(|(_, ty)| ty.clone());
            if moved || ty(old) != ty(new) {
                self.writes(Touch::Capture(function, index as u32));
            }
        }
    }

    /// Relies on the capture that an operator reads.
    pub(super) fn captured(&mut self, function: FuncRef, op: &Op) {
        if let Attr::Index(index) = op.attr() {
            self.reads(Touch::Capture(function, *index));
        }
    }

    /// Relies on the parameters of the loops that an operator goes on with: it gives them by position.
    pub(super) fn rounds(&mut self, body: &Body, op: &Op) {
        for region in loops(op).iter().filter_map(|of| body.node(*of)).flat_map(|node| node.regions()) {
            let params = body.region(*region).map_or(0, |record| record.params.len());
            (0..params).for_each(|index| self.reads(Touch::Param((*region).into(), index as u16)));
        }
    }
}

/// What a node gives at an input by its position: the parameter, the capture or the fields that it is given to.
pub(super) fn by_position(body: &Body, op: &Op, regions: &[RegionRef], input: u16) -> Vec<Touch> {
    let param = |region: &RegionRef, at: u16| Touch::Param((*region).into(), at);
    match (op.code(), op.attr()) {
        (Opcode::ClosureNew, Attr::Function(of)) => vec![Touch::Capture(*of, input.into())],
        (_, Attr::Function(of)) => vec![Touch::Param((*of).into(), input)],
        (_, Attr::Named(of)) => vec![Touch::Part((*of).into(), Part::Shape)],
        (Opcode::Loop, _) => regions.iter().map(|region| param(region, input)).collect(),
        (code, Attr::Exit(_) | Attr::Switch(_)) => {
            // A condition or an index stands before the values.
            let at = input.checked_sub(u16::from(code != Opcode::Continue));
            let nodes = loops(op).into_iter().filter_map(|of| body.node(of));
            let bodies = nodes.flat_map(|node| node.regions());
            bodies.filter_map(|region| Some(param(region, at?))).collect()
        }
        (_, _) => Vec::new(),
    }
}

/// The loops that an operator goes on with.
fn loops(op: &Op) -> Vec<NodeRef> {
    match (op.attr(), op.code()) {
        (Attr::Exit(target), Opcode::Continue | Opcode::ContinueIf) => vec![*target],
        (Attr::Switch(exits), _) => {
            let goes_on = |exit: &Exit| match exit {
                Exit::Continue(target) => Some(*target),
                Exit::Break(_) | Exit::Return => None,
            };
            exits.iter().filter_map(goes_on).collect()
        }
        (_, _) => Vec::new(),
    }
}

/// Tells whether a name stands at another place of a list than before.
pub(crate) fn permuted(old: &[(Option<Name>, Type)], new: &[(Option<Name>, Type)]) -> bool {
    let mut pairs = old.iter().zip(new).filter(|(x, y)| x.0 != y.0);
    pairs.any(|(x, y)| {
        new.iter().any(|one| one.0.is_some() && one.0 == x.0)
            || old.iter().any(|one| one.0.is_some() && one.0 == y.0)
    })
}
