//! What state costs: bytes a node, bytes of each revision that is kept, and time an edit with snapshot and hash, by size and shape;
//! and whether that is little enough.
//!
//! Without arguments it runs itself once per shape and size, so that each figure is of a fresh process. With
//! `SHAPE NODES` it measures one; with `SHAPE NODES EDITS` it only makes the edits, for an instruction counter.

use std::collections::VecDeque;
use std::process::Command;
use std::time::Instant;

use lmlang_ir::{FuncRef, Program};
use lmlang_testkit::{Choices, Generated, shapes};

/// Bytes a node at most, after edits of two nodes in five.
const A_NODE: f64 = 256.0;
/// Bytes of a revision that is kept, at most, and revisions that are kept to measure it.
const A_REVISION: f64 = 12e3;
const REVISIONS: usize = 1_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => {
            for shape in ["small", "large"] {
                for nodes in ["1000", "10000", "100000", "1000000"] {
                    let own = std::env::current_exe().expect("a running program has a path");
                    Command::new(own).args([shape, nodes]).status().expect("it started once already");
                }
            }
        }
        [shape, nodes, rest @ ..] => {
            let shape = match shape.as_str() {
                "small" => shapes::Shape::ManySmall,
                "large" => shapes::Shape::FewLarge,
                other => panic!("a shape is `small` or `large`, not `{other}`"),
            };
            let nodes = nodes.parse().expect("a number of nodes");
            match rest.first() {
                None => measure(shape, nodes),
                Some(edits) => count(shape, nodes, edits.parse().expect("a number of edits")),
            }
        }
        [_] => panic!("usage: state [SHAPE NODES [EDITS]]"),
    }
}

fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}

/// A program with its newest revisions, eight of them as a server keeps them.
struct State {
    generated: Generated,
    functions: Vec<FuncRef>,
    kept: VecDeque<Program>,
    most: usize,
    choices: Choices,
}

impl State {
    fn made(shape: shapes::Shape, nodes: usize) -> State {
        let generated = shapes::program(shape, nodes, 1);
        let functions: Vec<FuncRef> = generated.program.functions().map(|(of, _)| of).collect();
        State { generated, functions, kept: VecDeque::new(), most: 8, choices: Choices::seeded(2) }
    }

    fn edit(&mut self) {
        self.kept.push_back(self.generated.program.clone());
        shapes::edit(&mut self.generated, &self.functions, &mut self.choices);
        std::hint::black_box(self.generated.program.root_hash());
        if self.kept.len() > self.most {
            self.kept.pop_front();
        }
    }
}

fn measure(shape: shapes::Shape, nodes: usize) {
    let start = resident();
    let clock = Instant::now();
    let mut state = State::made(shape, nodes);
    let built = clock.elapsed();
    let clock = Instant::now();
    state.generated.program.root_hash();
    let hashed = clock.elapsed();
    let size = |state: &State| (resident() - start) / state.generated.program.totals().counts.nodes as f64;
    let fresh = size(&state);
    // A small program is edited a few times and then made anew, so that it stays small.
    let edits = nodes * 2 / 5;
    let mut times = Vec::new();
    while times.len() < 20_000 {
        for _ in 0..edits {
            let clock = Instant::now();
            state.edit();
            times.push(clock.elapsed().as_nanos() as f64 / 1000.0);
        }
        if edits < 20_000 {
            state = State::made(shape, nodes);
            state.generated.program.root_hash();
        }
    }
    let edited = size(&state);
    state.most = REVISIONS + state.kept.len();
    let before = resident();
    (0..REVISIONS).for_each(|_| state.edit());
    let revision = (resident() - before) / REVISIONS as f64;
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    println!(
        "{shape:?} {nodes}: build {:.0} ms, hash {:.0} ms, {fresh:.0} B a node ({:.0} after edits), \
         {revision:.0} B a revision kept, edit+snapshot+hash mean {mean:.1} us p50 {:.1} p99 {:.1}",
        built.as_secs_f64() * 1e3,
        hashed.as_secs_f64() * 1e3,
        edited,
        times[times.len() / 2],
        times[times.len() * 99 / 100],
    );
    let verdict = |met: bool| if met { "met" } else { "missed" };
    // Of a small program little more is its own than what the process has in any case.
    if nodes >= 100_000 {
        println!("  at most {A_NODE} B a node: {}", verdict(edited <= A_NODE));
    }
    println!("  at most {A_REVISION} B a revision kept: {}", verdict(revision <= A_REVISION));
}

fn count(shape: shapes::Shape, nodes: usize, edits: usize) {
    let mut state = State::made(shape, nodes);
    state.generated.program.root_hash();
    (0..edits).for_each(|_| state.edit());
}
