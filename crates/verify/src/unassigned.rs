//! V6, where it is asked for: reads of variables that may not have been assigned yet.
//!
//! A variable starts as zero, so that such a read is legal, and FULL and LOCAL say nothing of it.

use std::collections::{HashMap, HashSet};

use imbl::OrdSet;
use lmlang_ir::{Attr, Body, Exit, FuncRef, Node, NodeRef, Opcode, Program, RegionRef, VarRef};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Location};

/// What has been assigned on every way to a place.
type Assigned = OrdSet<VarRef>;

/// The reads of variables in a function that come before any assignment on some way through it, in the order of its text.
///
/// One walk over the tree of regions. Where ways meet, what is assigned on all of them remains; a loop begins each round with
/// at least what it was entered with, so that no round needs a second look. Costs the nodes, and for each exit the
/// variables.
pub fn unassigned(program: &Program, of: FuncRef) -> Vec<Diagnostic> {
    let Some(function) = program.function(of) else { return Vec::new() };
    let body = function.body();
    let Some(root) = body.root().filter(|_| body.variables().next().is_some()) else { return Vec::new() };
    let mut walk = Walk {
        of,
        body,
        way: Some(Assigned::new()),
        left: HashMap::new(),
        seen: HashSet::new(),
        found: Vec::new(),
    };
    walk.through(root);
    walk.found
}

struct Walk<'a> {
    of: FuncRef,
    body: &'a Body,
    /// What is assigned where the walk is; none where nothing comes to.
    way: Option<Assigned>,
    /// What is assigned on all ways out of a node, so far.
    left: HashMap<NodeRef, Assigned>,
    /// The regions that were entered: where they are no tree, each is entered once all the same.
    seen: HashSet<RegionRef>,
    found: Vec<Diagnostic>,
}

/// A node whose regions are walked through.
struct Frame<'a> {
    /// None for the function.
    owner: Option<NodeRef>,
    /// The regions that come after the present one.
    regions: std::slice::Iter<'a, RegionRef>,
    /// What is left of the present one.
    nodes: std::vec::IntoIter<NodeRef>,
    /// What is assigned where the node is entered.
    entry: Option<Assigned>,
}

impl<'a> Walk<'a> {
    fn through(&mut self, root: RegionRef) {
        let nodes = self.nodes(root);
        let mut frames =
            vec![Frame { owner: None, regions: std::slice::Iter::default(), nodes, entry: self.way.clone() }];
        while let Some(frame) = frames.last_mut() {
            if let Some(node) = frame.nodes.next() {
                let owner = frame.owner;
                frames.extend(self.pass(node, owner));
            } else if let Some(region) = frame.regions.next() {
                self.way.clone_from(&frame.entry);
                frame.nodes = self.nodes(*region);
            } else {
                let owner = frame.owner;
                frames.pop();
                self.way = owner.and_then(|owner| self.left.remove(&owner));
            }
        }
    }

    fn nodes(&mut self, region: RegionRef) -> std::vec::IntoIter<NodeRef> {
        let is_new = self.seen.insert(region);
        let nodes: Vec<NodeRef> = self.body.nodes_in(region).filter(|_| is_new).collect();
        nodes.into_iter()
    }

    /// Passes a node in a region of `owner`; the regions that it owns itself come next.
    fn pass(&mut self, of: NodeRef, owner: Option<NodeRef>) -> Option<Frame<'a>> {
        let node = self.body.node(of)?;
        let code = node.op().code();
        if let Attr::Variable(variable) = node.op().attr() {
            if code == Opcode::VarGet {
                self.read(of, node, *variable);
            } else if let (Opcode::VarSet, Some(way)) = (code, &mut self.way) {
                way.insert(*variable);
            }
        }
        if let Attr::Exit(target) = node.op().attr()
            && matches!(code, Opcode::Break | Opcode::BreakIf)
        {
            self.leave(*target);
        }
        if let Attr::Switch(targets) = node.op().attr() {
            for exit in targets.iter() {
                match exit {
                    Exit::Break(target) => self.leave(*target),
                    Exit::Continue(_) | Exit::Return => {}
                }
            }
        }
        if code == Opcode::Yield {
            owner.into_iter().for_each(|owner| self.leave(owner));
        }
        if node.op().is_terminator() {
            self.way = None;
        }
        let mut regions = node.regions().iter();
        let first = *regions.next()?;
        if code == Opcode::If && node.regions().len() == 1 {
            self.leave(of);
        }
        Some(Frame { owner: Some(of), nodes: self.nodes(first), regions, entry: self.way.clone() })
    }

    fn read(&mut self, of: NodeRef, node: &Node, variable: VarRef) {
        if self.way.as_ref().is_some_and(|way| !way.contains(&variable)) {
            let region = Some(node.region());
            let at = Location { function: Some(self.of), entity: of.into(), region, port: None };
            self.found.push(Diagnostic::new(Code::VariableUnassigned, at).beside(variable.into()));
        }
    }

    /// A way out of a node.
    fn leave(&mut self, target: NodeRef) {
        let Some(way) = self.way.clone() else { return };
        let all = match self.left.remove(&target) {
            Some(others) => others.intersection(way),
            None => way,
        };
        self.left.insert(target, all);
    }
}
