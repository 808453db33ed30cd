//! Which branches a function has, with what it calls, and which of them were reached.

use std::collections::{BTreeSet, VecDeque};

use lmlang_interp::{Reach, Reached};
use lmlang_ir::{Attr, FuncRef, Function, Opcode, Ref};
use lmlang_verify::Checked;

/// How many branches there are, and how many of them were reached.
///
/// A branch is a region (of a function, of a block, of a loop, of either case of an `if`, of each case of a `match`, of a
/// contract), each exit of a `break_if`, `continue_if` or `br_switch`, and that a conditional exit is not taken. All those
/// of the function count, and of the verified functions that it may call, directly or not, through tables and closures
/// too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Branches.
    pub branches: u64,
    /// Those that were reached.
    pub reached: u64,
}

impl Coverage {
    /// The share that was reached, from 0 to 1; 1 of no branches.
    pub fn ratio(self) -> f64 {
        if self.branches == 0 { 1.0 } else { self.reached as f64 / self.branches as f64 }
    }
}

/// The branches of a function and what it calls, each by what is reached when it is.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    all: BTreeSet<Reached>,
    reached: u64,
}

impl Branches {
    pub(crate) fn of(checked: &Checked, functions: &[FuncRef]) -> Branches {
        let mut all = BTreeSet::new();
        for of in functions {
            if let Some(verified) = checked.function(*of) {
                add(&mut all, *of, verified.function());
            }
        }
        Branches { all, reached: 0 }
    }

    /// Takes in what was reached for the first time; tells whether a branch is among it.
    pub(crate) fn note(&mut self, fresh: &[Reached]) -> bool {
        let branches = fresh.iter().filter(|one| self.all.contains(one)).count() as u64;
        self.reached += branches;
        branches > 0
    }

    pub(crate) fn coverage(&self) -> Coverage {
        Coverage { branches: self.all.len() as u64, reached: self.reached }
    }
}

fn add(all: &mut BTreeSet<Reached>, of: FuncRef, function: &Function) {
    let body = function.body();
    let mut note = |reach: Reach| {
        all.insert(Reached { function: of, reach });
    };
    for (region, _) in body.regions() {
        // An empty one has nothing that could be reached.
        if let Some(first) = body.nodes_in(region).next() {
            note(Reach::Node(first));
        }
    }
    for (node, found) in body.nodes() {
        match (found.op().code(), found.op().attr()) {
            (Opcode::BreakIf | Opcode::ContinueIf, _) => {
                note(Reach::Exit(node, 0));
                body.next(node).into_iter().for_each(|next| note(Reach::Node(next)));
            }
            (_, Attr::Switch(targets)) => {
                (0..targets.len() as u16).for_each(|exit| note(Reach::Exit(node, exit)));
            }
            (_, _) => {}
        }
    }
}

/// A function and those that it may call, directly or not, the nearest first; at most so many.
pub(crate) fn callees(checked: &Checked, function: FuncRef, most: usize) -> Vec<FuncRef> {
    let program = checked.program();
    let (mut seen, mut open) = (BTreeSet::from([Ref::from(function)]), VecDeque::from([Ref::from(function)]));
    let mut found = Vec::new();
    while let Some(of) = open.pop_front() {
        if let Ok(function) = FuncRef::try_from(of) {
            found.push(function);
            if found.len() >= most {
                break;
            }
        }
        // Storage is on the way: tables have functions as entries.
        open.extend(program.uses_of(of).filter(|used| seen.insert(*used)));
    }
    found
}
