//! What compiling code costs beyond its nodes.
//!
//! Some of it is a product: of values and of the branches beside which they are kept, of variables and of the regions inside of
//! each other that may change them. So a module of a few KB can take minutes and GB, which nothing ends on the way.

use std::collections::HashMap;

use lmlang_ir::{Attr, Body, Function, Node, NodeRef, Opcode, RegionOwner, RegionRef, Source, VarRef};

/// What makes compiling slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// For each value and variable, the places where control parts or joins while it is kept.
    pub(crate) kept: u64,
    /// For each region, what it may change or gives, as often as there are regions around it.
    pub(crate) nested: u64,
}

impl Cost {
    /// Of a function. Walks over it once.
    pub(crate) fn of(function: &Function) -> Cost {
        let body = function.body();
        let mut walk = Walk {
            body,
            variables: body.variables().count() as u64,
            clock: 0,
            made: HashMap::new(),
            kept: Vec::new(),
            of_values: HashMap::new(),
            of_variables: HashMap::new(),
            open: Vec::new(),
            loops: Vec::new(),
            nested: 0,
        };
        let contracts = body.contracts().map(|(_, contract)| contract.region);
        for root in body.root().into_iter().chain(contracts) {
            walk.region(root);
        }
        let kept = walk.kept.iter().map(|kept| kept.to - kept.from).sum();
        Cost { kept, nested: walk.nested }
    }

    /// Of both.
    pub(crate) fn and(self, other: Cost) -> Cost {
        Cost { kept: self.kept.saturating_add(other.kept), nested: self.nested.saturating_add(other.nested) }
    }
}

/// From where to where something is kept.
#[derive(Clone, Copy, Debug)]
struct LiveRange {
    from: u64,
    to: u64,
}

/// A loop that is being walked: where it began, and what is kept until it ends, as it may start over.
#[derive(Debug)]
struct Round {
    from: u64,
    until_end: Vec<usize>,
}

/// What comes next.
enum Task {
    Node(NodeRef),
    Enter(RegionRef),
    Leave(RegionRef),
}

struct Walk<'f> {
    body: &'f Body,
    variables: u64,
    /// Counts the places where control parts or joins.
    clock: u64,
    /// When the values of nodes and regions came to be.
    made: HashMap<u64, u64>,
    kept: Vec<LiveRange>,
    of_values: HashMap<Source, usize>,
    of_variables: HashMap<VarRef, usize>,
    /// How often each open region, with those inside, changes variables.
    open: Vec<u64>,
    loops: Vec<Round>,
    nested: u64,
}

impl Walk<'_> {
    fn region(&mut self, root: RegionRef) {
        let body = self.body;
        let mut tasks = vec![Task::Enter(root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Enter(region) => {
                    self.enter(region);
                    tasks.push(Task::Leave(region));
                    let inside = tasks.len();
                    tasks.extend(body.nodes_in(region).map(Task::Node));
                    tasks[inside..].reverse();
                }
                Task::Leave(region) => self.leave(region),
                Task::Node(of) => {
                    let Some(node) = body.node(of) else { continue };
                    self.node(of, node);
                    tasks.extend(node.regions().iter().rev().map(|region| Task::Enter(*region)));
                }
            }
        }
    }

    /// The node that owns a region.
    fn owner(&self, region: RegionRef) -> Option<(NodeRef, &Node)> {
        match self.body.region(region)?.owner {
            RegionOwner::Node(of) => Some((of, self.body.node(of)?)),
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        }
    }

    fn is_loop(&self, region: RegionRef) -> bool {
        self.owner(region).is_some_and(|(_, owner)| owner.op().code() == Opcode::Loop)
    }

    fn enter(&mut self, region: RegionRef) {
        self.clock += 1;
        self.made.insert(region.number(), self.clock);
        self.open.push(0);
        if self.is_loop(region) {
            self.loops.push(Round { from: self.clock, until_end: Vec::new() });
        }
    }

    fn leave(&mut self, region: RegionRef) {
        self.clock += 1;
        if self.is_loop(region)
            && let Some(round) = self.loops.pop()
        {
            round.until_end.into_iter().for_each(|at| self.kept[at].to = self.clock);
        }
        let changes = self.open.pop().unwrap_or(0);
        if let Some(around) = self.open.last_mut() {
            *around += changes;
        }
        let owner = self.owner(region).map(|(of, owner)| {
            let results = match owner.op().attr() {
                Attr::Control(control) => control.results.len(),
                Attr::Match(cases) => cases.results.len(),
                _ => 0,
            };
            (of, results)
        });
        let params = self.body.region(region).map_or(0, |region| region.params.len());
        let results = owner.map_or(0, |(_, results)| results);
        // One more is what is left of the fuel.
        let given = 1 + (params + results) as u64 + changes.min(self.variables);
        self.nested = self.nested.saturating_add(given.saturating_mul(self.open.len() as u64));
        if let Some((of, _)) = owner {
            self.made.insert(of.number(), self.clock);
        }
    }

    fn node(&mut self, of: NodeRef, node: &Node) {
        for source in node.inputs().iter().flatten() {
            self.uses(source);
        }
        match (node.op().code(), node.op().attr()) {
            (Opcode::VarGet, Attr::Variable(variable)) => self.mentions(*variable),
            (Opcode::VarSet, Attr::Variable(variable)) => {
                self.mentions(*variable);
                if let Some(changes) = self.open.last_mut() {
                    *changes += 1;
                }
            }
            (Opcode::BreakIf | Opcode::ContinueIf, _) => self.clock += 1,
            (_, _) => {}
        }
        self.made.insert(of.number(), self.clock);
    }

    /// A value is kept up to its last use, and where that is in a loop in which it was not made, to the end of the loop.
    fn uses(&mut self, source: Source) {
        let from = self.made.get(&source.number()).copied().unwrap_or(0);
        if from == self.clock {
            return;
        }
        let at = *self.of_values.entry(source).or_insert_with(|| {
            self.kept.push(LiveRange { from, to: from });
            self.kept.len() - 1
        });
        self.kept[at].to = self.clock;
        let around = self.loops.partition_point(|round| round.from <= from);
        if let Some(round) = self.loops.get_mut(around) {
            round.until_end.push(at);
        }
    }

    /// A variable is kept for as long as the outermost loop around: another round may find what this one left.
    fn mentions(&mut self, variable: VarRef) {
        let from = self.loops.first().map_or(self.clock, |round| round.from);
        let at = *self.of_variables.entry(variable).or_insert_with(|| {
            self.kept.push(LiveRange { from, to: from });
            self.kept.len() - 1
        });
        self.kept[at].to = self.clock;
        if let Some(round) = self.loops.first_mut() {
            round.until_end.push(at);
        }
    }
}
