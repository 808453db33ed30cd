//! Making an input smaller that fails, as long as it fails in the same way.
//!
//! Part after part is replaced by something simpler, the outer ones first; then parts that are equal, or numbers that
//! only count by their difference, change together. What is taken is simpler by one order, so that it ends; the number of
//! runs is bounded besides.

use std::collections::HashSet;
use std::sync::Arc;

use lmlang_ir::{Const, Value};

use crate::parts::{self, Path, fingerprint};
use crate::shapes::{Shapes, int_like, int_of};
use crate::simpler::{Edit, Simplicity, ints, simpler, simplicity};

/// Runs that making one input smaller takes at most.
pub const MOST_SHRINK_RUNS: u64 = 20_000;

/// The state of making an input smaller.
#[derive(Debug)]
pub(crate) struct Shrink {
    best: Vec<Value>,
    rank: Simplicity,
    /// Inputs that were taken, one after the other.
    steps: u32,
    runs: u64,
    pass: Pass,
    /// What is tried before the next part, the last one first.
    queue: Vec<Candidate>,
    /// Whether what is being tried was repaired.
    repaired: bool,
    tried: HashSet<u64>,
    /// Whether something was taken in this round.
    moved: bool,
}

/// An input that may be simpler, and fail.
#[derive(Debug)]
enum Candidate {
    /// As it is.
    Args(Vec<Value>),
    /// One that the function did not take, with a number that was brought in line.
    Repaired(Vec<Value>),
    /// The smallest so far with a change of some parts.
    Edited(Arc<[Path]>, Edit),
}

/// Numbers that are brought in line, or of which each is tried with each; and lists likewise.
const MOST_PAIRED: usize = 12;

/// What is being replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// The part with a position among all parts.
    Part(usize),
    /// Equal constants, the group with a position.
    Equal(usize),
    /// All integers, by the same.
    Shift,
    /// Two numbers, by their positions among all.
    Pair(usize, usize),
    /// A list that loses an element while a number becomes less by one, by the position of the pair.
    Index(usize),
    /// Nothing is left.
    Over,
}

impl Shrink {
    pub(crate) fn new(shapes: &Shapes, args: Vec<Value>) -> Shrink {
        let rank = simplicity(shapes, &args);
        let tried = HashSet::from([fingerprint(&args)]);
        Shrink {
            best: args,
            rank,
            steps: 0,
            runs: 0,
            pass: Pass::Part(0),
            queue: Vec::new(),
            repaired: false,
            tried,
            moved: false,
        }
    }

    /// The smallest input so far.
    pub(crate) fn best(&self) -> &[Value] {
        &self.best
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// The next input to try; none when it is as small as it becomes.
    pub(crate) fn next(&mut self, shapes: &Shapes) -> Option<Vec<Value>> {
        while self.runs < MOST_SHRINK_RUNS {
            match self.queue.pop() {
                Some(candidate) => {
                    let (args, repaired) = match candidate {
                        Candidate::Args(args) => (args, false),
                        Candidate::Repaired(args) => (args, true),
                        Candidate::Edited(paths, edit) => (self.edited(&paths, &edit), false),
                    };
                    if simplicity(shapes, &args) < self.rank && self.tried.insert(fingerprint(&args)) {
                        self.runs += 1;
                        self.repaired = repaired;
                        return Some(args);
                    }
                }
                None if self.pass == Pass::Over => return None,
                None => self.fill(shapes),
            }
        }
        None
    }

    /// Takes the input that was tried last: it fails in the same way.
    pub(crate) fn take(&mut self, shapes: &Shapes, args: Vec<Value>) {
        self.rank = simplicity(shapes, &args);
        self.best = args;
        self.steps += 1;
        self.moved = true;
        self.queue.clear();
        // The same place again: what is there now may become simpler still.
        self.pass = match self.pass {
            Pass::Part(at) => Pass::Part(at.saturating_sub(1)),
            Pass::Equal(at) => Pass::Equal(at.saturating_sub(1)),
            Pass::Shift => Pass::Shift,
            Pass::Pair(first, second) => Pass::Pair(first, second.saturating_sub(1)),
            Pass::Index(at) => Pass::Index(at.saturating_sub(1)),
            Pass::Over => Pass::Over,
        };
    }

    /// Learns that the function does not take the input that was tried last, and by which numbers it misses what is
    /// demanded: where one number follows from another, both have to change.
    pub(crate) fn repair(&mut self, args: &[Value], steps: &[i64]) {
        /// More demands than that are hardly met by one number.
        const MOST_STEPS: usize = 3;
        if self.repaired {
            return;
        }
        for path in numbers(args, MOST_PAIRED).iter().rev() {
            let Some(Value::Const(value)) = parts::part(args, path) else { continue };
            let number = int_of(value).unwrap_or(0);
            for step in steps.iter().take(MOST_STEPS) {
                for number in [number.wrapping_sub(*step), number.wrapping_add(*step)] {
                    let args = parts::with(args, path, Value::Const(int_like(value, number)));
                    self.queue.push(Candidate::Repaired(args));
                }
            }
        }
    }

    /// Queues what is tried in the current place, and goes on to the next.
    fn fill(&mut self, shapes: &Shapes) {
        let mut found: Vec<Candidate> = Vec::new();
        let edits = |best: &[Value], paths: &[Path]| -> Vec<Candidate> {
            let part = paths.first().and_then(|path| parts::part(best, path));
            let edits = part.map(|part| simpler(shapes, part)).unwrap_or_default().into_iter();
            let paths: Arc<[Path]> = paths.into();
            edits.map(|edit| Candidate::Edited(Arc::clone(&paths), edit)).collect()
        };
        let whole = |all: Vec<Vec<Value>>| all.into_iter().map(Candidate::Args).collect();
        self.pass = match self.pass {
            Pass::Part(at) => match parts::paths(&self.best).get(at) {
                Some(path) => {
                    found = edits(&self.best, std::slice::from_ref(path));
                    Pass::Part(at + 1)
                }
                None => Pass::Equal(0),
            },
            Pass::Equal(at) => match equal(&self.best).get(at) {
                Some(group) => {
                    found = edits(&self.best, group);
                    Pass::Equal(at + 1)
                }
                None => Pass::Shift,
            },
            Pass::Shift => {
                found = whole(shifted(&self.best, MOST_PAIRED));
                Pass::Pair(0, 1)
            }
            Pass::Pair(first, second) => {
                let numbers = numbers(&self.best, MOST_PAIRED);
                match (numbers.get(first), numbers.get(second)) {
                    (Some(one), Some(other)) => {
                        found = whole(lowered(&self.best, one, other));
                        Pass::Pair(first, second + 1)
                    }
                    (Some(_), None) => Pass::Pair(first + 1, first + 2),
                    (None, _) => Pass::Index(0),
                }
            }
            Pass::Index(at) => {
                let (numbers, lists) = (numbers(&self.best, MOST_PAIRED), lists(&self.best, MOST_PAIRED));
                match (lists.get(at / numbers.len().max(1)), numbers.get(at % numbers.len().max(1))) {
                    (Some(list), Some(number)) => {
                        found = whole(cut(&self.best, list, number));
                        Pass::Index(at + 1)
                    }
                    (_, _) if self.moved => {
                        self.moved = false;
                        Pass::Part(0)
                    }
                    (_, _) => Pass::Over,
                }
            }
            Pass::Over => Pass::Over,
        };
        found.reverse();
        self.queue = found;
    }

    /// The smallest so far with the same change of some parts.
    fn edited(&self, paths: &[Path], edit: &Edit) -> Vec<Value> {
        let mut args = self.best.clone();
        for path in paths {
            if let Some(part) = parts::part_mut(&mut args, path) {
                *part = edit.apply(part);
            }
        }
        args
    }
}

/// Constants that occur more than once, by where they are; of a few, each two of them besides.
fn equal(args: &[Value]) -> Vec<Vec<Path>> {
    let mut groups: Vec<(&Const, Vec<Path>)> = Vec::new();
    for path in parts::paths(args).into_iter().take(256) {
        let Some(Value::Const(value)) = parts::part(args, &path) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, paths)) => paths.push(path),
            None => groups.push((value, vec![path])),
        }
    }
    let groups: Vec<Vec<Path>> = groups.into_iter().map(|(_, paths)| paths).collect();
    let pairs = |group: &Vec<Path>| -> Vec<Vec<Path>> {
        if !(3..=6).contains(&group.len()) {
            return Vec::new();
        }
        let others =
            |at: usize| group[at + 1..].iter().map(move |other| vec![group[at].clone(), other.clone()]);
        (0..group.len()).flat_map(others).collect()
    };
    let pairs: Vec<Vec<Path>> = groups.iter().flat_map(pairs).collect();
    groups.into_iter().filter(|paths| paths.len() > 1).chain(pairs).collect()
}

/// The arguments with all integers moved by the same, so that one of them becomes zero: some only count by how they
/// differ.
fn shifted(args: &[Value], most: usize) -> Vec<Vec<Value>> {
    let paths = parts::paths(args);
    let int = |args: &[Value], path: &Path| match parts::part(args, path) {
        Some(Value::Const(value)) => int_of(value),
        Some(_) | None => None,
    };
    let all: Vec<&Path> = paths.iter().filter(|path| int(args, path).is_some()).collect();
    let by = all.iter().filter_map(|path| int(args, path)).filter(|by| *by != 0).take(most);
    let moved = |by: i64| {
        let mut moved = args.to_vec();
        for path in &all {
            let Some(Value::Const(value)) = parts::part_mut(&mut moved, path) else { continue };
            let number = int_of(value)?.checked_sub(by)?;
            *value = int_like(value, number);
            (int_of(value) == Some(number)).then_some(())?;
        }
        Some(moved)
    };
    by.filter_map(moved).collect()
}

/// Where integers are that are not zero.
fn numbers(args: &[Value], most: usize) -> Vec<Path> {
    let number = |path: &Path| match parts::part(args, path) {
        Some(Value::Const(value)) => int_of(value).is_some_and(|value| value != 0),
        Some(_) | None => false,
    };
    parts::paths(args).into_iter().filter(number).take(most).collect()
}

/// Where texts, bytes and arrays are that are not empty.
fn lists(args: &[Value], most: usize) -> Vec<Path> {
    let list = |path: &Path| match parts::part(args, path) {
        Some(Value::Const(Const::String(text))) => !text.is_empty(),
        Some(Value::Const(Const::Bytes(bytes))) => !bytes.is_empty(),
        Some(Value::Array(_, elements)) => !elements.is_empty(),
        Some(_) | None => false,
    };
    parts::paths(args).into_iter().filter(list).take(most).collect()
}

/// The arguments with two numbers that became smaller by the same.
fn lowered(args: &[Value], one: &Path, other: &Path) -> Vec<Vec<Value>> {
    let at = |path: &Path| match parts::part(args, path) {
        Some(Value::Const(value)) => int_of(value).map(|number| (value.clone(), number)),
        Some(_) | None => None,
    };
    let (Some((first, a)), Some((second, b))) = (at(one), at(other)) else { return Vec::new() };
    let fits = |like: &Const, number: i64| {
        let made = int_like(like, number);
        (int_of(&made) == Some(number)).then_some(Value::Const(made))
    };
    let towards = |less: i64| {
        let by = less.checked_sub(a)?;
        let args = parts::with(args, one, fits(&first, less)?);
        Some(parts::with(&args, other, fits(&second, b.checked_add(by)?)?))
    };
    let mut all: Vec<Vec<Value>> = ints(a).into_iter().filter_map(towards).collect();
    // Their sum, or the difference to it, may be what counts.
    let against = |less: i64| {
        let by = less.checked_sub(a)?;
        let args = parts::with(args, one, fits(&first, less)?);
        Some(parts::with(&args, other, fits(&second, b.checked_sub(by)?)?))
    };
    all.extend(ints(a).into_iter().filter_map(against));
    all
}

/// The arguments with a list that lost one element, and a number that became less by one.
fn cut(args: &[Value], list: &Path, number: &Path) -> Vec<Vec<Value>> {
    let Some(Value::Const(value)) = parts::part(args, number) else { return Vec::new() };
    let less = int_of(value).and_then(|value| value.checked_sub(value.signum()));
    let Some(less) = less.map(|less| Value::Const(int_like(value, less))) else { return Vec::new() };
    // Where the number is in the list itself, it could be gone.
    if number.starts_with(list) {
        return Vec::new();
    }
    let shorter: Vec<Value> = match parts::part(args, list) {
        Some(Value::Const(Const::String(text))) => {
            let chars: Vec<char> = text.chars().collect();
            let text =
                |chars: Vec<char>| Value::Const(Const::String(chars.into_iter().collect::<String>().into()));
            without_one(&chars).into_iter().map(text).collect()
        }
        Some(Value::Const(Const::Bytes(bytes))) => {
            without_one(bytes).into_iter().map(|bytes| Value::Const(Const::Bytes(bytes.into()))).collect()
        }
        Some(Value::Array(of, elements)) => {
            without_one(elements).into_iter().map(|elements| Value::Array(of.clone(), elements)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    let changed = shorter.into_iter().map(|shorter| parts::with(args, list, shorter));
    changed.map(|args| parts::with(&args, number, less.clone())).collect()
}

fn without_one<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    const MOST: usize = 32;
    let one = |at: usize| [&items[..at], &items[at + 1..]].concat();
    (0..items.len().min(MOST)).map(one).collect()
}
