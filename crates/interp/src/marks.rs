//! Which nodes a run pauses before.

use std::collections::BTreeSet;

use lmlang_ir::ops::Effect;
use lmlang_ir::{FuncRef, NodeRef, RegionRef};

use crate::code::NodeSlots;
use crate::trace::TraceLevel;

/// Nodes that a run pauses before: those that any of these names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// What a level shows.
    pub(crate) level: TraceLevel,
    pub(crate) nodes: BTreeSet<NodeRef>,
    /// All that stands in them, not in regions inside.
    pub(crate) regions: BTreeSet<RegionRef>,
    /// All nodes of these.
    pub(crate) functions: BTreeSet<FuncRef>,
    /// The first node of these.
    pub(crate) entries: BTreeSet<FuncRef>,
    /// What can write to globals or linear memory.
    pub(crate) writes: bool,
}

impl Marks {
    /// What a level shows.
    pub(crate) fn of_level(level: TraceLevel) -> Marks {
        Marks { level, ..Marks::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Marks::default()
    }

    /// Whether all nodes of a function are marked.
    pub(crate) fn has_function(&self, of: FuncRef) -> bool {
        self.functions.contains(&of)
    }

    /// Whether the first node of a function is marked.
    pub(crate) fn has_entry(&self, of: FuncRef) -> bool {
        self.entries.contains(&of)
    }

    /// Whether a node is marked for itself.
    pub(crate) fn has(&self, of: &NodeSlots) -> bool {
        let writes = || match of.op.spec().effect {
            // A function of the host writes while it is called.
            Effect::Writes | Effect::Calls | Effect::Io => true,
            Effect::Pure | Effect::Traps | Effect::Reads | Effect::Control => false,
        };
        self.level.shows(of.op)
            || self.nodes.contains(&of.node)
            || self.regions.contains(&of.region)
            || (self.writes && writes())
    }
}
