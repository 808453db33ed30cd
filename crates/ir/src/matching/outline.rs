//! What a node is known by, without refs of its function.

use std::collections::HashMap;

use crate::entities::{Region, RegionRole, hash_import};
use crate::function::Function;
use crate::hash::Hasher;
use crate::node::{Node, Source, hash_op, hash_type, hash_types};
use crate::ops::{Attr, Exit};
use crate::refs::{FuncRef, NodeRef, RegionRef};

/// What two nodes are compared by, the strongest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keys {
    /// All that it depends on, and who uses it.
    used: u64,
    /// All that it depends on, and its name.
    same: u64,
    /// All that it depends on.
    value: u64,
    /// Its operator and name, and the operators around it.
    near: u64,
    /// Its operator.
    operator: u64,
    /// The mnemonic of its operator.
    mnemonic: u64,
    /// Whether it is but an operand of one other node of its region, as a constant in a line is.
    is_operand: bool,
    is_named: bool,
}

/// By what nodes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Used,
    Same,
    Value,
    Near,
    Operator,
    /// By operator again, operands among them: those before leave them to the lines that they belong to.
    Operand,
    Mnemonic,
}

impl Pass {
    /// All, in their order.
    pub(super) const ALL: [Pass; 7] =
        [Pass::Used, Pass::Same, Pass::Value, Pass::Near, Pass::Operator, Pass::Operand, Pass::Mnemonic];
}

impl Keys {
    /// The key in a pass; `None` where it is not the node's turn.
    pub(super) fn of_pass(&self, pass: Pass) -> Option<u64> {
        let line = |key: u64| (!self.is_operand).then_some(key);
        match pass {
            Pass::Used => Some(self.used),
            Pass::Same => line(self.same),
            Pass::Value => line(self.value),
            Pass::Near => line(self.near),
            Pass::Operator => line(self.operator),
            // A name is not lost to an operand of another line.
            Pass::Operand => Some(self.operator ^ u64::from(self.is_named)),
            Pass::Mnemonic => Some(self.mnemonic ^ u64::from(self.is_named)),
        }
    }

    /// What the node depends on, and who uses it.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// What the node depends on.
    pub(super) fn value(&self) -> u64 {
        self.value
    }

    /// Its operator.
    pub(super) fn operator(&self) -> u64 {
        self.operator
    }
}

/// The keys of all nodes of a function.
pub(super) struct Outline {
    of: FuncRef,
    keys: HashMap<NodeRef, Keys>,
}

/// A region whose nodes are being looked at.
struct Frame {
    region: RegionRef,
    /// The node that owns it, if one does.
    owner: Option<NodeRef>,
    nodes: std::vec::IntoIter<NodeRef>,
    hasher: Hasher,
}

/// A node whose regions are being looked at.
struct Open {
    node: NodeRef,
    hasher: Hasher,
    /// Those that are left, the last one first.
    regions: Vec<RegionRef>,
}

fn short(hasher: &Hasher) -> u64 {
    let hash = hasher.finish();
    let [a, b, c, d, e, f, g, h, ..] = hash.0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

impl Outline {
    /// Looks at every node of a function, in the order of its text.
    pub(super) fn of(of: FuncRef, function: &Function) -> Outline {
        let body = function.body();
        let size = body.counts().nodes as usize;
        let mut outline = Outline { of, keys: HashMap::with_capacity(size) };
        let contracts = body.contracts().map(|(_, contract)| contract.region);
        let mut order = Vec::with_capacity(size);
        for region in body.root().into_iter().chain(contracts) {
            outline.walk(function, region, &mut order);
        }
        for (of, node) in order.iter().filter_map(|of| Some((*of, body.node(*of)?))) {
            let near = outline.near(function, of, node);
            if let Some(keys) = outline.keys.get_mut(&of) {
                keys.near = near;
                keys.is_operand = is_operand(function, of, node);
                keys.is_named = node.name().is_some();
            }
        }
        // Users stand behind what they use.
        for of in order.into_iter().rev() {
            let used = outline.used(function, of);
            if let Some(keys) = outline.keys.get_mut(&of) {
                keys.used = used;
            }
        }
        outline
    }

    /// What a node is known by.
    pub(super) fn keys(&self, of: NodeRef) -> Option<&Keys> {
        self.keys.get(&of)
    }

    /// Follows a region and all in it, and tells what it is known by. Nesting costs no stack.
    fn walk(&mut self, function: &Function, region: RegionRef, order: &mut Vec<NodeRef>) -> u64 {
        let body = function.body();
        let enter = |region: RegionRef, owner: Option<NodeRef>| {
            let nodes: Vec<NodeRef> = body.nodes_in(region).collect();
            let mut hasher = Hasher::new(b"region");
            if let Some(record) = body.region(region) {
                hash_region(record, &mut hasher);
            }
            Frame { region, owner, nodes: nodes.into_iter(), hasher }
        };
        let (mut frames, mut open): (Vec<Frame>, Vec<Open>) = (vec![enter(region, None)], Vec::new());
        let mut depths: HashMap<RegionRef, usize> = HashMap::from([(region, 0)]);
        let mut targets: HashMap<NodeRef, usize> = HashMap::new();
        let mut whole = 0;
        while let Some(frame) = frames.last_mut() {
            if let Some(of) = frame.nodes.next() {
                let Some(node) = body.node(of) else { continue };
                let mut hasher = Hasher::new(b"node");
                self.hash_operator(function, node, &targets, &mut hasher);
                let keys = self.keys.entry(of).or_default();
                keys.operator = short(&hasher);
                keys.mnemonic = short(Hasher::new(b"mnemonic").text(node.op().code().mnemonic()));
                self.hash_inputs(node, &depths, &mut hasher);
                let mut regions = node.regions().to_vec();
                regions.reverse();
                if !regions.is_empty() {
                    targets.insert(of, open.len());
                }
                open.push(Open { node: of, hasher, regions });
            } else if let Some(done) = frames.pop() {
                depths.remove(&done.region);
                let inner = short(&done.hasher);
                match open.last_mut() {
                    Some(open) if Some(open.node) == done.owner => {
                        open.hasher.number(inner);
                    }
                    Some(_) | None => whole = inner,
                }
            }
            // The next region of the innermost node, or that node itself when there is none left.
            while let Some(top) = open.last_mut() {
                if frames.last().is_some_and(|frame| frame.owner == Some(top.node)) {
                    break;
                }
                if let Some(next) = top.regions.pop() {
                    depths.insert(next, frames.len());
                    frames.push(enter(next, Some(top.node)));
                    break;
                }
                let Some(Open { node: of, hasher, .. }) = open.pop() else { break };
                targets.remove(&of);
                let value = short(&hasher);
                let name = body.node(of).and_then(|node| node.name()).map(|name| &**name);
                if let Some(keys) = self.keys.get_mut(&of) {
                    keys.value = value;
                    keys.same = short(Hasher::new(b"same").number(value).optional(name));
                    if let Some(frame) = frames.last_mut() {
                        frame.hasher.number(value);
                    }
                }
                order.push(of);
            }
        }
        whole
    }

    /// An operator, without refs of the function, which mean nothing in another: exits aim at the depth of their target,
    /// variables are known by what they are called.
    fn hash_operator(
        &self,
        function: &Function,
        node: &Node,
        targets: &HashMap<NodeRef, usize>,
        hasher: &mut Hasher,
    ) {
        let depth = |of: NodeRef| targets.get(&of).map_or(u64::MAX, |depth| *depth as u64);
        match node.op().attr() {
            Attr::Exit(target) => {
                hasher.text(node.op().code().mnemonic()).number(depth(*target));
            }
            Attr::Switch(exits) => {
                hasher.text(node.op().code().mnemonic());
                for exit in exits.iter() {
                    match exit {
                        Exit::Break(target) => hasher.number(0).number(depth(*target)),
                        Exit::Continue(target) => hasher.number(1).number(depth(*target)),
                        Exit::Return => hasher.number(2),
                    };
                }
            }
            Attr::Function(of) if *of == self.of => {
                hasher.text(node.op().code().mnemonic()).text("self");
            }
            Attr::Variable(of) if let Some(variable) = function.body().variable(*of) => {
                hasher.text(node.op().code().mnemonic()).optional(variable.name.as_deref());
                hash_type(&variable.ty, hasher);
            }
            _ => hash_op(node.op(), hasher),
        }
    }

    fn hash_inputs(&self, node: &Node, depths: &HashMap<RegionRef, usize>, hasher: &mut Hasher) {
        hasher.number(node.inputs().len() as u64);
        for source in node.inputs().iter() {
            match source {
                None => hasher.number(0),
                Some(Source::Param(_, port)) => hasher.number(1).number(u64::from(port)),
                Some(Source::RegionParam(region, port)) => {
                    let depth = depths.get(&region).map_or(u64::MAX, |depth| *depth as u64);
                    hasher.number(2).number(depth).number(u64::from(port))
                }
                Some(Source::Node(of, port)) => {
                    let value = self.keys.get(&of).map_or(0, |keys| keys.value);
                    hasher.number(3).number(value).number(u64::from(port))
                }
            };
        }
    }

    /// The operator and name of a node with the mnemonics of what it takes values from and of what takes its own.
    fn near(&self, function: &Function, of: NodeRef, node: &Node) -> u64 {
        let body = function.body();
        let mnemonic = |of: NodeRef| self.keys.get(&of).map_or(0, |keys| keys.mnemonic);
        let mut hasher = Hasher::new(b"near");
        hasher.number(self.keys.get(&of).map_or(0, |keys| keys.operator));
        hasher.optional(node.name().map(|name| &**name));
        for source in node.inputs().iter() {
            match source {
                None => hasher.number(0),
                Some(Source::Param(_, port)) => hasher.number(1).number(u64::from(port)),
                Some(Source::RegionParam(_, port)) => hasher.number(2).number(u64::from(port)),
                Some(Source::Node(of, port)) => hasher.number(3).number(mnemonic(of)).number(u64::from(port)),
            };
        }
        let mut uses: Vec<(u64, u16)> =
            body.uses_of(of.number()).map(|one| (mnemonic(one.node), one.input.unwrap_or(0))).collect();
        uses.sort_unstable();
        for (mnemonic, input) in uses {
            hasher.number(mnemonic).number(u64::from(input));
        }
        short(&hasher)
    }

    /// All that a node depends on with who uses it, and who uses that as long as there is one: so equal operands of
    /// different lines are told apart.
    fn used(&self, function: &Function, of: NodeRef) -> u64 {
        let body = function.body();
        let mut hasher = Hasher::new(b"used");
        hasher.number(self.keys.get(&of).map_or(0, |keys| keys.value));
        let mut uses: Vec<(u16, &Keys)> = body
            .uses_of(of.number())
            .filter_map(|one| Some((one.input.unwrap_or(0), self.keys.get(&one.node)?)))
            .collect();
        match uses.as_slice() {
            [(input, user)] => {
                hasher.number(u64::from(*input)).number(user.used);
            }
            _ => {
                uses.sort_unstable_by_key(|(input, user)| (*input, user.value));
                for (input, user) in uses {
                    hasher.number(u64::from(input)).number(user.value);
                }
            }
        }
        short(&hasher)
    }
}

fn is_operand(function: &Function, of: NodeRef, node: &Node) -> bool {
    let body = function.body();
    let mut users = body.users_of(of.number());
    node.name().is_none()
        && node.regions().is_empty()
        && match (users.next(), users.next()) {
            (Some(only), None) => body.node(only.node).is_some_and(|user| user.region() == node.region()),
            (_, _) => false,
        }
}

fn hash_region(region: &Region, hasher: &mut Hasher) {
    let role = match region.role {
        RegionRole::Body => 0,
        RegionRole::Then => 1,
        RegionRole::Else => 2,
        RegionRole::Default => 3,
        RegionRole::Contract => 4,
        RegionRole::Case(index) => 5 + u64::from(index),
    };
    hasher.number(role).number(region.params.len() as u64);
    for param in &region.params {
        hasher.optional(param.name.as_deref());
        hash_type(&param.ty, hasher);
    }
}

/// What a function is known by, its name, its comments and the refs in it apart.
pub(crate) fn fingerprint(of: FuncRef, function: &Function) -> u64 {
    let (head, body) = (function.head(), function.body());
    let mut outline = Outline { of, keys: HashMap::new() };
    let mut hasher = Hasher::new(b"function");
    for param in head.params.iter().chain(&head.captures) {
        hasher.text(&param.name);
        hash_type(&param.ty, &mut hasher);
    }
    hasher.number(head.params.len() as u64).number(head.captures.len() as u64);
    hash_types(&head.results, &mut hasher);
    hasher.number(head.effect_bound as u64).number(u64::from(head.start));
    hash_import(head.import.as_ref(), &mut hasher);
    if let Some(region) = body.root() {
        hasher.number(outline.walk(function, region, &mut Vec::new()));
    }
    for (_, contract) in body.contracts() {
        hasher.number(contract.kind.number()).text(&contract.message);
        hasher.number(outline.walk(function, contract.region, &mut Vec::new()));
    }
    short(&hasher)
}
