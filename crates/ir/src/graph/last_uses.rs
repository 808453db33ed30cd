//! Which uses of a value of the heap are the last on their path: there it is moved, and can be changed in place.
//!
//! One backward walk over the region tree, with the set of values that are needed afterwards. A value from outside of a
//! loop that is used inside is needed throughout the loop. Variables are treated as values that a `var.set` makes.

use std::collections::{HashMap, HashSet};

use crate::entities::{ContractKind, RegionOwner};
use crate::function::{Body, Function};
use crate::node::Source;
use crate::ops::signature::source_type;
use crate::ops::{Attr, Exit, Opcode};
use crate::program::Program;
use crate::refs::{FuncRef, NodeRef, RegionRef};
use crate::trie::Trie;

/// A value or a variable: its port, and the number of its ref, which has 48 bits. Values that are made one after another are
/// near each other so.
type Key = u64;

const VARIABLE: u16 = u16::MAX;

fn key(source: Source) -> Key {
    key_of(source.number(), source.port())
}

fn key_of(number: u64, port: u16) -> Key {
    u64::from(port) << 48 | number
}

/// Values that are needed. The sets of two paths have most in common, which nobody visits where they are united: there may be
/// as many of them as branches.
#[derive(Clone, Default)]
struct Live(Trie<()>);

impl Live {
    /// Adds a value, and tells whether it was not there. What is there is not written to, and stays shared.
    fn insert(&mut self, key: Key) -> bool {
        let new = !self.0.contains(key);
        if new {
            self.0.insert(key, ());
        }
        new
    }

    fn remove(&mut self, key: Key) {
        self.0.remove(key);
    }

    fn extend(&mut self, keys: impl IntoIterator<Item = Key>) {
        for key in keys {
            self.insert(key);
        }
    }

    fn unite(&mut self, other: Live) {
        self.0.absorb(other.0);
    }
}

/// Where a function uses values of the heap for the last time.
#[derive(Clone, Debug, Default)]
pub struct LastUses {
    on_heap: HashSet<Key>,
    last: HashSet<(NodeRef, u16)>,
}

impl LastUses {
    /// Whether an input is the last use of a value of the heap; a `var.get` counts as its input 0.
    pub fn is_last(&self, node: NodeRef, input: u16) -> bool {
        self.last.contains(&(node, input))
    }

    /// Whether a source that something uses is a value of the heap.
    pub fn is_on_heap(&self, source: Source) -> bool {
        !self.on_heap.is_empty() && self.on_heap.contains(&key(source))
    }

    /// Whether nothing is used that is a value of the heap.
    pub fn is_empty(&self) -> bool {
        self.on_heap.is_empty()
    }
}

struct Walk<'a> {
    function: &'a Function,
    /// Needed after a node that owns regions.
    after: HashMap<NodeRef, Live>,
    /// Needed when a loop begins again.
    again: HashMap<NodeRef, Live>,
    /// For each loop body the values from outside that are used in it.
    kept: HashMap<RegionRef, Live>,
    /// Needed until the end of the function: parameters that an `ensure` may look at.
    always: Live,
    /// Where regions lie, once that was asked for.
    lies: HashMap<RegionRef, Lies>,
    found: LastUses,
}

/// How many regions are around a region, and the innermost body of a loop that it is or lies in.
#[derive(Clone, Copy)]
struct Lies {
    depth: u32,
    in_loop: Option<RegionRef>,
}

/// A region that is being walked, backwards.
struct Open {
    region: RegionRef,
    nodes: Vec<NodeRef>,
    live: Live,
    /// The owner of inner regions that are being walked: which of them come next, and what they needed so far.
    inner: Option<(NodeRef, usize, Live)>,
}

/// Finds the last uses in a function. Costs a walk over the function, which is short where nothing is on the heap.
pub fn last_uses(program: &Program, of: FuncRef, function: &Function) -> LastUses {
    let body = function.body();
    let mut walk = Walk {
        function,
        after: HashMap::new(),
        again: HashMap::new(),
        kept: HashMap::new(),
        always: Live::default(),
        lies: HashMap::new(),
        found: LastUses::default(),
    };
    let mut types: HashMap<Source, bool> = HashMap::new();
    let contracts = body.within(body.contracts().map(|(_, contract)| contract.region));
    let contracts: HashSet<RegionRef> = contracts.into_iter().collect();
    for (node, content) in body.nodes() {
        for source in content.inputs().iter().flatten() {
            let reference = *types
                .entry(source)
                .or_insert_with(|| source_type(program, function, source).is_some_and(|ty| ty.on_heap()));
            if reference {
                walk.found.on_heap.insert(key(source));
                walk.keep(node, source);
            }
        }
        if let (Opcode::VarGet, Attr::Variable(variable)) = (content.op().code(), content.op().attr())
            && body.variable(*variable).is_some_and(|v| v.ty.on_heap())
        {
            let key = key_of(variable.number(), VARIABLE);
            walk.found.on_heap.insert(key);
            walk.keep_to(node, key, None);
            // A contract looks at variables when the body is done with them.
            if contracts.contains(&content.region()) {
                walk.always.insert(key);
            }
        }
    }
    if walk.found.is_empty() {
        return walk.found;
    }
    let params = (0..function.head().params.len() as u16).map(|port| key_of(of.number(), port));
    if body.contracts().any(|(_, contract)| contract.kind == ContractKind::Ensure) {
        walk.always.extend(params.clone());
    }
    for (_, contract) in body.contracts() {
        let results = function.head().results.len() as u16;
        let inner = (0..results).map(|port| key_of(contract.region.number(), port));
        let mut live = walk.always.clone();
        live.extend(params.clone().chain(inner));
        walk.region(contract.region, live);
    }
    if let Some(root) = body.root() {
        let always = walk.always.clone();
        walk.region(root, always);
    }
    walk.found
}

/// Where each region lies.
fn lies(body: &Body) -> HashMap<RegionRef, Lies> {
    let contracts = body.contracts().map(|(_, contract)| contract.region);
    let mut found: HashMap<RegionRef, Lies> = HashMap::new();
    // What is around comes first.
    for region in body.within(body.root().into_iter().chain(contracts)) {
        let around = body.outer(region).and_then(|outer| found.get(&outer)).copied();
        let is_loop = matches!(
            body.region(region).map(|region| region.owner),
            Some(RegionOwner::Node(owner))
                if body.node(owner).is_some_and(|node| node.op().code() == Opcode::Loop)
        );
        let in_loop = if is_loop { Some(region) } else { around.and_then(|around| around.in_loop) };
        found.insert(region, Lies { depth: around.map_or(0, |around| around.depth + 1), in_loop });
    }
    found
}

impl Walk<'_> {
    /// Notes the loops between a use and what it uses.
    fn keep(&mut self, user: NodeRef, source: Source) {
        let body = self.function.body();
        let home = match source {
            Source::Node(node, _) => body.node(node).map(|node| node.region()),
            Source::RegionParam(region, _) => Some(region),
            Source::Param(..) => None,
        };
        self.keep_to(user, key(source), home);
    }

    fn keep_to(&mut self, user: NodeRef, key: Key, home: Option<RegionRef>) {
        let body = self.function.body();
        if self.lies.is_empty() {
            self.lies = lies(body);
        }
        let depth = |of: RegionRef| self.lies.get(&of).map(|lies| lies.depth);
        let home = home.and_then(depth);
        let mut region = body.node(user).map(|node| node.region());
        while let Some(round) = region.and_then(|region| self.lies.get(&region)?.in_loop) {
            if depth(round) <= home {
                return;
            }
            if !self.kept.entry(round).or_default().insert(key) {
                return;
            }
            region = body.outer(round);
        }
    }

    fn open(&self, region: RegionRef, live: Live) -> Open {
        Open { region, nodes: self.function.body().nodes_in(region).collect(), live, inner: None }
    }

    fn region(&mut self, root: RegionRef, live: Live) {
        let mut stack = vec![self.open(root, live)];
        while let Some(top) = stack.last_mut() {
            if let Some((owner, next, needed)) = &mut top.inner {
                let regions = self.function.body().node(*owner).map_or(&[][..], |node| node.regions());
                if let Some(region) = regions.get(*next) {
                    *next += 1;
                    // Whatever leaves the region says what it needs; an open end needs nothing.
                    let open = self.open(*region, self.always.clone());
                    stack.push(open);
                    continue;
                }
                let (owner, needed) = (*owner, std::mem::take(needed));
                top.inner = None;
                top.live = needed;
                let mut live = std::mem::take(&mut top.live);
                self.inputs(owner, &mut live);
                top.live = live;
                continue;
            }
            let Some(node) = top.nodes.pop() else {
                let live = std::mem::take(&mut top.live);
                let region = top.region;
                stack.pop();
                if let Some(outer) = stack.last_mut()
                    && let Some((_, _, needed)) = &mut outer.inner
                {
                    needed.unite(live);
                    if let Some(kept) = self.kept.get(&region) {
                        needed.unite(kept.clone());
                    }
                }
                continue;
            };
            let Some(content) = self.function.body().node(node) else { continue };
            if !content.regions().is_empty() {
                let live = std::mem::take(&mut top.live);
                if content.op().code() == Opcode::Loop {
                    let mut again = live.clone();
                    if let Some(kept) = content.regions().first().and_then(|region| self.kept.get(region)) {
                        again.unite(kept.clone());
                    }
                    self.again.insert(node, again);
                }
                // A region that is left says so by an exit to here.
                self.after.insert(node, live);
                top.inner = Some((node, 0, self.always.clone()));
                continue;
            }
            let mut live = std::mem::take(&mut top.live);
            self.node(node, &mut live);
            top.live = live;
        }
    }

    fn target(&self, exit: Exit) -> Live {
        match exit {
            Exit::Return => self.always.clone(),
            Exit::Break(node) => self.after.get(&node).cloned().unwrap_or_default(),
            Exit::Continue(node) => self.again.get(&node).cloned().unwrap_or_default(),
        }
    }

    fn node(&mut self, node: NodeRef, live: &mut Live) {
        let Some(content) = self.function.body().node(node) else { return };
        match (content.op().code(), content.op().attr()) {
            (Opcode::Yield, _) => {
                let owner = self.function.body().region(content.region()).map(|region| region.owner);
                if let Some(RegionOwner::Node(owner)) = owner {
                    *live = self.target(Exit::Break(owner));
                }
            }
            (Opcode::Break, Attr::Exit(target)) => *live = self.target(Exit::Break(*target)),
            (Opcode::Continue, Attr::Exit(target)) => *live = self.target(Exit::Continue(*target)),
            (Opcode::Return | Opcode::Unreachable, _) => *live = self.always.clone(),
            (Opcode::BreakIf | Opcode::ContinueIf, Attr::Exit(target)) => {
                let exit = match content.op().code() {
                    Opcode::BreakIf => Exit::Break(*target),
                    _ => Exit::Continue(*target),
                };
                // Values move only on the path that leaves.
                let mut leaving = self.target(exit);
                self.inputs(node, &mut leaving);
                live.unite(leaving);
                return;
            }
            (Opcode::BrSwitch, Attr::Switch(targets)) => {
                *live = Live::default();
                // A table of thousands aims at few targets.
                let targets: HashSet<Exit> = targets.iter().copied().collect();
                for exit in targets {
                    live.unite(self.target(exit));
                }
            }
            (Opcode::VarGet, Attr::Variable(variable)) => {
                let key = key_of(variable.number(), VARIABLE);
                if self.found.on_heap.contains(&key) && live.insert(key) {
                    self.found.last.insert((node, 0));
                }
                return;
            }
            (Opcode::VarSet, Attr::Variable(variable)) => {
                live.remove(key_of(variable.number(), VARIABLE));
            }
            _ => {}
        }
        self.inputs(node, live);
    }

    fn inputs(&mut self, node: NodeRef, live: &mut Live) {
        let Some(content) = self.function.body().node(node) else { return };
        for index in (0..content.inputs().len()).rev() {
            let Some(source) = content.inputs().get(index) else { continue };
            let key = key(source);
            if self.found.on_heap.contains(&key) && live.insert(key) {
                self.found.last.insert((node, index as u16));
            }
        }
    }
}
