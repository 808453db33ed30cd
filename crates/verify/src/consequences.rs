//! Values for a node that has no results: one mistake, which several findings show.

use std::collections::HashSet;

use lmlang_ir::ops::signature::exit_types;
use lmlang_ir::{Attr, Exit, FuncRef, NodeRef, Opcode, Program, RegionOwner, Source};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};

/// The node without results that is given values where a finding is.
pub(crate) fn without_results(program: &Program, found: &Diagnostic) -> Option<NodeRef> {
    if found.code != Code::ArityMismatch {
        return None;
    }
    let function = program.function(found.at.function?)?;
    let node = function.body().node(found.at.node()?)?;
    let owner = match (node.op().code(), node.op().attr()) {
        (Opcode::Yield, _) => match function.body().region(node.region())?.owner {
            RegionOwner::Node(owner) => owner,
            RegionOwner::Function | RegionOwner::Contract(_) => return None,
        },
        (Opcode::Break, Attr::Exit(target)) => *target,
        (_, _) => return None,
    };
    exit_types(function, Exit::Break(owner))?.is_empty().then_some(owner)
}

/// Tells which findings, one after the other, show only what one before them has shown: that a node which gives values
/// has no results. Each of its regions gives too many then, and each of its users asks for what is not there.
#[derive(Debug)]
pub struct Consequences<'p> {
    program: &'p Program,
    told: HashSet<(FuncRef, NodeRef)>,
}

impl<'p> Consequences<'p> {
    /// For findings about a program.
    pub fn new(program: &'p Program) -> Consequences<'p> {
        Consequences { program, told: HashSet::new() }
    }

    /// Tells whether a finding follows from one that was asked about before.
    pub fn follows(&mut self, found: &Diagnostic) -> bool {
        let Some(function) = found.at.function else { return false };
        if let Some(owner) = without_results(self.program, found) {
            return !self.told.insert((function, owner));
        }
        match (found.code, &found.found) {
            (Code::PortGone, Some(Fact::Source(Source::Node(of, _)))) => self.told.contains(&(function, *of)),
            (_, _) => false,
        }
    }
}
