//! A body as one list, in the order in which it stands there: what reads and writes a variable, and where control goes.

use std::collections::{HashMap, HashSet};

use lmlang_ir::{Attr, Body, Exit, NodeRef, Opcode, RegionOwner, RegionRef, VarRef};

/// What matters to a variable.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A `var.get` of it.
    Get(NodeRef),
    /// A `var.set` of it.
    Set(NodeRef),
    /// A node that owns regions begins.
    Open {
        /// The node.
        node: NodeRef,
        /// Whether it is a loop.
        is_loop: bool,
        /// The position of its end in the list.
        close: usize,
    },
    /// One of the regions of the innermost open node begins.
    Region(RegionRef),
    /// A node that leaves its region.
    Exit {
        /// The node.
        node: NodeRef,
        /// Where it can go.
        targets: Vec<Exit>,
        /// Whether it may stay.
        conditional: bool,
    },
    /// The innermost open node ends.
    Close(NodeRef),
}

/// The steps of a body.
pub(super) struct Steps {
    pub(super) list: Vec<Step>,
    /// For each position how many times the variable was written before it.
    writes: Vec<usize>,
}

impl Steps {
    /// Whether the variable is written inside of a node, given its begin and its end.
    pub(super) fn writes_between(&self, open: usize, close: usize) -> bool {
        let before = |at: usize| self.writes.get(at).copied().unwrap_or_default();
        before(open) < before(close)
    }
}

/// What is being walked.
enum Walk {
    Node(NodeRef, RegionRef),
    Region(RegionRef),
    Close(NodeRef, usize),
}

/// The steps of a body, from the region of the function. Each region is walked once, whatever lists it; exits that aim at
/// nothing around them go nowhere.
pub(super) fn steps(body: &Body, variable: VarRef) -> Steps {
    let mut list = Vec::new();
    let mut open: HashMap<NodeRef, bool> = HashMap::new();
    let mut seen: HashSet<RegionRef> = HashSet::new();
    let mut pending: Vec<Walk> = Vec::new();
    let enter = |pending: &mut Vec<Walk>, region: RegionRef| {
        let first = pending.len();
        pending.extend(body.nodes_in(region).map(|node| Walk::Node(node, region)));
        pending[first..].reverse();
    };
    if let Some(root) = body.root() {
        seen.insert(root);
        enter(&mut pending, root);
    }
    while let Some(walk) = pending.pop() {
        match walk {
            Walk::Region(region) => {
                list.push(Step::Region(region));
                enter(&mut pending, region);
            }
            Walk::Close(node, at) => {
                open.remove(&node);
                let end = list.len();
                if let Some(Step::Open { close, .. }) = list.get_mut(at) {
                    *close = end;
                }
                list.push(Step::Close(node));
            }
            Walk::Node(of, region) => {
                let Some(node) = body.node(of) else { continue };
                if node.op().owns_regions() {
                    let is_loop = node.op().code() == Opcode::Loop;
                    open.insert(of, is_loop);
                    pending.push(Walk::Close(of, list.len()));
                    list.push(Step::Open { node: of, is_loop, close: 0 });
                    let owned = |region: &&RegionRef| {
                        body.region(**region).is_some_and(|found| found.owner == RegionOwner::Node(of))
                    };
                    let inner: Vec<RegionRef> = node
                        .regions()
                        .iter()
                        .filter(owned)
                        .copied()
                        .filter(|one| seen.insert(*one))
                        .collect();
                    pending.extend(inner.into_iter().rev().map(Walk::Region));
                    continue;
                }
                if let Some((mut targets, conditional)) = exits(body, of, region) {
                    let around = |exit: &Exit| match exit {
                        Exit::Break(target) => open.contains_key(target),
                        Exit::Continue(target) => open.get(target) == Some(&true),
                        Exit::Return => true,
                    };
                    targets.retain(around);
                    list.push(Step::Exit { node: of, targets, conditional });
                } else if *node.op().attr() == Attr::Variable(variable) {
                    match node.op().code() {
                        Opcode::VarGet => list.push(Step::Get(of)),
                        Opcode::VarSet => list.push(Step::Set(of)),
                        _ => {}
                    }
                }
            }
        }
    }
    let mut count = 0;
    let count_up = |step: &Step| {
        let before = count;
        count += usize::from(matches!(step, Step::Set(_)));
        before
    };
    let writes = list.iter().map(count_up).collect();
    Steps { list, writes }
}

/// Where a node that leaves its region can go, and whether it may stay; `None` for all others.
fn exits(body: &Body, of: NodeRef, region: RegionRef) -> Option<(Vec<Exit>, bool)> {
    let op = body.node(of)?.op();
    Some(match (op.code(), op.attr()) {
        (Opcode::Yield, _) => match body.region(region).map(|region| region.owner) {
            Some(RegionOwner::Node(owner)) => (vec![Exit::Break(owner)], false),
            Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => (Vec::new(), false),
        },
        (Opcode::Break, Attr::Exit(target)) => (vec![Exit::Break(*target)], false),
        (Opcode::BreakIf, Attr::Exit(target)) => (vec![Exit::Break(*target)], true),
        (Opcode::Continue, Attr::Exit(target)) => (vec![Exit::Continue(*target)], false),
        (Opcode::ContinueIf, Attr::Exit(target)) => (vec![Exit::Continue(*target)], true),
        (Opcode::BrSwitch, Attr::Switch(targets)) => (targets.to_vec(), false),
        (Opcode::Return, _) => (vec![Exit::Return], false),
        (Opcode::Unreachable, _) => (Vec::new(), false),
        _ => return None,
    })
}
