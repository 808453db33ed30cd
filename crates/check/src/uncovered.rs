//! Which nodes no input of a list reaches.

use std::collections::{BTreeSet, VecDeque};

use lmlang_interp::{Cache, Environment, Limits, Reach, Reached};
use lmlang_ir::{FuncRef, NodeRef, Value};
use lmlang_verify::Checked;

use crate::probe::Probe;

/// What a function is run with.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The function.
    pub function: FuncRef,
    /// Its arguments.
    pub args: Vec<Value>,
    /// What the run is given besides; all input has to be there.
    pub environment: Environment,
}

/// Runs inputs of any functions of a program, and notes what they reach in all of them.
#[derive(Debug)]
pub struct Uncovered {
    checked: Checked,
    limits: Limits,
    cache: Cache,
    /// What has not been run, with its position.
    left: VecDeque<(usize, Given)>,
    running: Option<(Given, Probe)>,
    /// Whether the run of the current one goes on.
    open: bool,
    reached: BTreeSet<Reached>,
    unfit: Vec<usize>,
}

impl Uncovered {
    /// Prepares the runs, each of which ends at these limits.
    pub fn new(checked: &Checked, given: Vec<Given>, limits: Limits, cache: &Cache) -> Uncovered {
        let mut left: Vec<(usize, Given)> = given.into_iter().enumerate().collect();
        // One function after the other: what was decoded is kept.
        left.sort_by_key(|(_, given)| given.function);
        Uncovered {
            checked: checked.clone(),
            limits,
            cache: cache.clone(),
            left: left.into(),
            running: None,
            open: false,
            reached: BTreeSet::new(),
            unfit: Vec::new(),
        }
    }

    /// Goes on for about so much fuel; tells whether all inputs were run.
    pub fn advance(&mut self, fuel: u64) -> bool {
        let mut fuel = fuel.max(1);
        loop {
            if self.open {
                let Some((_, probe)) = &mut self.running else { return true };
                self.open = !probe.run_on(&mut fuel);
                self.reached.extend(probe.take_reached());
            }
            if !self.open && self.left.is_empty() {
                return true;
            }
            if fuel == 0 {
                return false;
            }
            if !self.open {
                self.begin(&mut fuel);
            }
        }
    }

    fn begin(&mut self, fuel: &mut u64) {
        let Some((position, given)) = self.left.pop_front() else { return };
        let same = self.running.take().filter(|(before, _)| {
            (before.function, &before.environment) == (given.function, &given.environment)
        });
        let mut probe = same.map_or_else(
            || Probe::new(&self.checked, given.function, self.limits, &given.environment, &self.cache),
            |(_, probe)| probe,
        );
        self.open = probe.begin(&given.args, fuel).is_ok();
        if !self.open {
            self.unfit.push(position);
        }
        self.running = Some((given, probe));
    }

    /// The positions of inputs that are none of their functions, in the order of these.
    pub fn unfit(&self) -> &[usize] {
        &self.unfit
    }

    /// The nodes of a function, those of its contracts among them, that no run reached so far, by ref.
    pub fn nodes(&self, function: FuncRef) -> Vec<NodeRef> {
        let Some(found) = self.checked.program().function(function) else { return Vec::new() };
        let reached =
            |node: &NodeRef| self.reached.contains(&Reached { function, reach: Reach::Node(*node) });
        found.body().nodes().map(|(node, _)| node).filter(|node| !reached(node)).collect()
    }
}
