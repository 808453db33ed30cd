//! Which nodes need a result, and which loops a parameter, for a variable to become values.
//!
//! Where control comes from more than one side, the value of the variable does, if it is written on the way and read
//! later. So two things are found out, each in one pass over the steps of a body: which exits bring a value that was
//! written inside of the node that they leave, and where the variable is read before it is written again. Programs have no
//! other jumps, so this is all of what algorithms for any flow of control compute with dominance frontiers.

use std::collections::{HashMap, HashSet};

use lmlang_ir::{Exit, NodeRef};

use super::steps::{Step, Steps};

/// What is to be added: to nodes that are left by an exit a result, to loops that are continued a parameter.
pub(super) struct Needs {
    /// `Break(n)`: the node needs a result; `Continue(n)`: the loop needs a parameter.
    pub(super) places: HashSet<Exit>,
    /// Switches that go to one of the places and to the end of the function, which takes no more values than it does.
    pub(super) returning: Vec<NodeRef>,
}

/// Finds what is needed. Linear in the number of steps, but for a look-up among the loops around each exit.
pub(super) fn needs(steps: &Steps) -> Needs {
    let (changed, live) = (changed(steps), live(steps));
    let needed = changed.into_iter().filter(|place| live.contains(place)).collect();
    with_switches(steps, needed)
}

/// A node that is open.
struct Frame {
    /// The last definition before it.
    entry: usize,
    /// Whether the variable is written inside.
    writes: bool,
}

/// The places that are come to with a value that was written, or made by another place, on the way through their node.
fn changed(steps: &Steps) -> HashSet<Exit> {
    let mut changed = HashSet::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut depths: HashMap<NodeRef, usize> = HashMap::new();
    // Depths of the open loops, outermost first.
    let mut loops: Vec<usize> = Vec::new();
    // Definitions are counted; `now` is the one whose value the variable has.
    let (mut clock, mut now) = (0, 0);
    for (at, step) in steps.list.iter().enumerate() {
        match step {
            Step::Get(_) => {}
            Step::Set(_) => {
                clock += 1;
                now = clock;
            }
            Step::Open { node, is_loop, close } => {
                depths.insert(*node, frames.len());
                loops.extend(is_loop.then_some(frames.len()));
                frames.push(Frame { entry: now, writes: steps.writes_between(at, *close) });
            }
            Step::Region(_) => now = frames.last().map_or(now, |frame| frame.entry),
            Step::Exit { targets, .. } => {
                for exit in targets {
                    let Some(depth) = exit.target().and_then(|node| depths.get(&node).copied()) else {
                        continue;
                    };
                    // A loop on the way may have made a parameter of it.
                    let inside = depth + usize::from(matches!(exit, Exit::Continue(_)));
                    let around = loops.partition_point(|of| *of < inside);
                    let remade = loops.get(around).is_some_and(|of| frames[*of].writes);
                    if now > frames[depth].entry || remade {
                        changed.insert(*exit);
                    }
                }
            }
            Step::Close(node) => {
                let Some(frame) = frames.pop() else { continue };
                depths.remove(node);
                loops.pop_if(|depth| *depth == frames.len());
                now = frame.entry;
                if changed.contains(&Exit::Break(*node)) {
                    clock += 1;
                    now = clock;
                }
            }
        }
    }
    changed
}

/// What happens first to the variable in a stretch of nodes without a way in or out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Nothing,
    Read,
    Write,
}

/// Stretches of a body, and which of them come before which.
#[derive(Default)]
struct Stretches {
    first: Vec<First>,
    ways: Vec<(usize, usize)>,
}

impl Stretches {
    fn add(&mut self) -> usize {
        self.first.push(First::Nothing);
        self.first.len() - 1
    }

    fn touch(&mut self, stretch: usize, how: First) {
        if self.first[stretch] == First::Nothing {
            self.first[stretch] = how;
        }
    }

    /// The stretches from whose begin the variable is read before it is written: from the reads backwards.
    fn live(&self) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.first.len()];
        for (from, to) in &self.ways {
            before[*to].push(*from);
        }
        let mut live: Vec<bool> = self.first.iter().map(|first| *first == First::Read).collect();
        let mut pending: Vec<usize> = (0..live.len()).filter(|stretch| live[*stretch]).collect();
        while let Some(stretch) = pending.pop() {
            for from in &before[stretch] {
                if !live[*from] && self.first[*from] == First::Nothing {
                    live[*from] = true;
                    pending.push(*from);
                }
            }
        }
        live
    }
}

/// The places from which the variable is read before it is written.
fn live(steps: &Steps) -> HashSet<Exit> {
    let mut all = Stretches::default();
    // Stretches before and after each open node.
    let mut frames: Vec<(NodeRef, usize, usize)> = Vec::new();
    let mut places: HashMap<Exit, usize> = HashMap::new();
    let mut now = all.add();
    for step in &steps.list {
        match step {
            Step::Get(_) => all.touch(now, First::Read),
            Step::Set(_) => all.touch(now, First::Write),
            Step::Open { node, .. } => {
                let after = all.add();
                places.insert(Exit::Break(*node), after);
                frames.push((*node, now, after));
            }
            Step::Region(_) => {
                let Some((node, before, _)) = frames.last().copied() else { continue };
                now = all.add();
                all.ways.push((before, now));
                places.insert(Exit::Continue(node), now);
            }
            Step::Exit { targets, conditional, .. } => {
                let targets = targets.iter().filter_map(|exit| places.get(exit));
                all.ways.extend(targets.map(|target| (now, *target)));
                let next = all.add();
                if *conditional {
                    all.ways.push((now, next));
                }
                now = next;
            }
            Step::Close(_) => {
                let Some((_, _, after)) = frames.pop() else { continue };
                now = after;
            }
        }
    }
    let live = all.live();
    places.into_iter().filter(|(_, stretch)| live[*stretch]).map(|(place, _)| place).collect()
}

/// The targets of a switch take the same values: where one needs a value more, all do.
fn with_switches(steps: &Steps, mut places: HashSet<Exit>) -> Needs {
    let mut switches: Vec<(NodeRef, &[Exit])> = Vec::new();
    let mut of_target: HashMap<Exit, Vec<usize>> = HashMap::new();
    for step in &steps.list {
        if let Step::Exit { node, targets, .. } = step
            && targets.len() > 1
        {
            let known: HashSet<Exit> = targets.iter().copied().collect();
            known.into_iter().for_each(|exit| of_target.entry(exit).or_default().push(switches.len()));
            switches.push((*node, targets));
        }
    }
    let mut taken = vec![false; switches.len()];
    let mut pending: Vec<Exit> = places.iter().copied().collect();
    while let Some(place) = pending.pop() {
        for index in of_target.get(&place).into_iter().flatten() {
            if std::mem::replace(&mut taken[*index], true) {
                continue;
            }
            let others = switches[*index].1.iter().filter(|exit| **exit != Exit::Return);
            pending.extend(others.copied().filter(|exit| places.insert(*exit)));
        }
    }
    let returns = |(switch, taken): &(&(NodeRef, &[Exit]), bool)| *taken && switch.1.contains(&Exit::Return);
    let returning = switches.iter().zip(taken).filter(returns).map(|(switch, _)| switch.0).collect();
    Needs { places, returning }
}
