//! What others can observe of what is put into a region, beside the values that it gives.

use std::collections::{BTreeMap, HashSet};

use lmlang_ir::ops::AttrKind;
use lmlang_ir::{Attr, Body, Effect, NodeRef, Opcode, VarRef};

use crate::footprint::Conduct;

/// What a node does, with all that is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    /// To all that is around.
    outward: Conduct,
    /// To variables of its function.
    cells: BTreeMap<VarRef, Conduct>,
    /// Whether what comes after it may not come at all.
    leaves: bool,
}

impl Deeds {
    /// Costs what is in the node.
    pub(super) fn of(body: &Body, node: NodeRef) -> Deeds {
        let mut deeds = Deeds::default();
        let (mut open, mut around) = (vec![node], HashSet::from([node]));
        while let Some(at) = open.pop() {
            let Some(record) = body.node(at) else { continue };
            let op = record.op();
            // Leaving a part of what is put there is nobody else's matter.
            let exits = matches!(op.attr(), Attr::Exit(target) if around.contains(target));
            let yields = op.code() == Opcode::Yield && at != node;
            if let (Attr::Variable(cell), AttrKind::Variable) = (op.attr(), op.spec().attr) {
                let known = deeds.cells.entry(*cell).or_default();
                *known = Conduct::of(op).max(*known);
            } else if !exits && !yields && !op.owns_regions() {
                deeds.outward = Conduct::of(op).max(deeds.outward);
                deeds.leaves |= op.spec().effect == Effect::Control;
            }
            for inside in record.regions().iter().flat_map(|region| body.nodes_in(*region)) {
                around.insert(inside);
                open.push(inside);
            }
        }
        deeds
    }

    /// Tells whether nobody is told anything but by its values.
    pub(super) fn is_silent(&self) -> bool {
        let acts = |conduct: &Conduct| *conduct == Conduct::Acts;
        !acts(&self.outward) && !self.cells.values().any(acts) && !self.leaves
    }

    /// Tells whether it makes a difference which of two comes first.
    pub(super) fn disturb(&self, other: &Deeds) -> bool {
        let cell = |(of, conduct): (&VarRef, &Conduct)| {
            other.cells.get(of).is_some_and(|there| there.disturbs(*conduct))
        };
        let writes = |deeds: &Deeds| deeds.cells.values().any(|conduct| *conduct == Conduct::Acts);
        self.outward.disturbs(other.outward)
            || self.cells.iter().any(cell)
            || self.leaves && writes(other)
            || other.leaves && writes(self)
    }
}
