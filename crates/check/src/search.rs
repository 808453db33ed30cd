//! Which input to try next.
//!
//! First the plain ones and those at boundaries; then, in turns, new ones of growing size, small changes of those that
//! reached something new (Zalewski, *Technical "whitepaper" for afl-fuzz*, 2014; libFuzzer), and small changes of those
//! that came nearest to what the function demands, as a hill climber makes them (Korel, 1990).

use std::collections::HashSet;

use lmlang_ir::{Type, Value};

use crate::generate::{Maker, Source, firsts};
use crate::mutate::mutate;
use crate::parts::fingerprint;
use crate::random::Random;
use crate::verdict::Unmet;

/// What an input was good for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lesson {
    /// Whether it reached something for the first time.
    pub(crate) fresh: bool,
    /// What it does not meet, if the function does not take it.
    pub(crate) unmet: Option<Unmet>,
}

/// An input that the function does not take.
#[derive(Clone, Debug)]
struct Near {
    args: Vec<Value>,
    unmet: Unmet,
}

/// Inputs that came nearest; more would be no nearer.
const MOST_NEAR: usize = 8;
/// Inputs that reached something new; of more, old ones make way.
const MOST_KEPT: usize = 1_024;
/// Fingerprints of inputs that were tried.
const MOST_TRIED: usize = 1 << 20;
/// How often an input that was tried already is made before it is believed that there is no other.
const MOST_REPEATS: usize = 1_000;
/// How often before inputs are made from nothing but chance.
const PATIENCE: usize = 50;

/// The state of a search.
#[derive(Debug)]
pub(crate) struct Search {
    source: Source,
    types: Vec<Type>,
    random: Random,
    opening: Opening,
    kept: Vec<Vec<Value>>,
    near: Vec<Near>,
    made: usize,
    /// Inputs that the function took.
    taken: usize,
    tried: HashSet<u64>,
}

impl Search {
    pub(crate) fn new(source: Source, types: Vec<Type>, seed: u64) -> Search {
        let candidates = types.iter().map(|ty| firsts(&source, ty)).collect();
        Search {
            source,
            types,
            random: Random::new(seed),
            opening: Opening::of(candidates),
            kept: Vec::new(),
            near: Vec::new(),
            made: 0,
            taken: 0,
            tried: HashSet::new(),
        }
    }

    /// The values that everything is made from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The next input that was not tried; none when there seems to be no other.
    pub(crate) fn next(&mut self) -> Option<Vec<Value>> {
        for repeats in 0..MOST_REPEATS {
            let args = match self.opening.next() {
                Some(args) => args,
                None if repeats < PATIENCE => self.make(),
                None => self.anything(64),
            };
            self.made += 1;
            if self.tried.len() >= MOST_TRIED {
                self.tried.clear();
            }
            if self.tried.insert(fingerprint(&args)) {
                return Some(args);
            }
        }
        None
    }

    /// Learns what became of an input.
    pub(crate) fn learn(&mut self, args: &[Value], lesson: Lesson) {
        match lesson.unmet {
            Some(unmet) => self.keep_near(args, unmet),
            None => self.taken += 1,
        }
        if lesson.fresh {
            if self.kept.len() >= MOST_KEPT {
                self.kept.remove(0);
            }
            self.kept.push(args.to_vec());
        }
    }

    fn keep_near(&mut self, args: &[Value], unmet: Unmet) {
        let nearer =
            |a: &Unmet, b: &Unmet| b.met.cmp(&a.met).then(a.distance.far.total_cmp(&b.distance.far)).is_lt();
        // It comes before those that are as near: from where one is already, nothing nearer was found yet.
        let at = self.near.partition_point(|near| nearer(&near.unmet, &unmet));
        if at < MOST_NEAR {
            self.near.insert(at, Near { args: args.to_vec(), unmet });
            self.near.truncate(MOST_NEAR);
        }
    }

    /// An input made by chance.
    fn make(&mut self) -> Vec<Value> {
        let size = 1 + self.random.below((3 + self.made / 40).min(64));
        let climb = if self.taken * 10 < self.made { 60 } else { 5 };
        if self.random.chance(climb)
            && let Some(near) = self.near.get(self.random.low(self.near.len())).cloned()
        {
            let steps = near.unmet.distance.steps;
            return mutate(&self.source, &mut self.random, &near.args, &steps, &near.args, size);
        }
        match self.random.below(100) {
            // The newest reached what is hardest to reach.
            0..55 if !self.kept.is_empty() => {
                let newest = self.kept.len() - 1 - self.random.low(self.kept.len());
                let donor = self.random.below(self.kept.len());
                let (args, donor) = (self.kept[newest].clone(), self.kept[donor].clone());
                mutate(&self.source, &mut self.random, &args, &[], &donor, size)
            }
            55..70 => self.opening.any(&mut self.random),
            _ => self.anything(size),
        }
    }

    /// An input that has nothing to do with others.
    fn anything(&mut self, size: usize) -> Vec<Value> {
        let mut maker = Maker::new(&self.source, &mut self.random, size);
        self.types.iter().map(|ty| maker.value(ty)).collect()
    }
}

/// The inputs that are tried first: plain values and boundaries of each parameter.
#[derive(Debug)]
struct Opening {
    candidates: Vec<Vec<Value>>,
    /// How many were given.
    at: usize,
}

impl Opening {
    /// Where there are no more than so many, all are tried together with all.
    const MOST_TOGETHER: usize = 256;

    fn of(candidates: Vec<Vec<Value>>) -> Opening {
        Opening { candidates, at: 0 }
    }

    /// The next one; none at the end.
    fn next(&mut self) -> Option<Vec<Value>> {
        let at = self.at;
        self.at += 1;
        let together = self.candidates.iter().try_fold(1usize, |all, one| {
            all.checked_mul(one.len()).filter(|all| *all <= Opening::MOST_TOGETHER)
        });
        match together {
            Some(count) => (at < count).then(|| self.combined(at)),
            None => self.alone(at),
        }
    }

    /// All together: the positions of the candidates are the digits of a number, the first one the lowest.
    fn combined(&self, mut number: usize) -> Vec<Value> {
        let pick = |of: &Vec<Value>| {
            let at = number % of.len();
            number /= of.len();
            of[at].clone()
        };
        self.candidates.iter().map(pick).collect()
    }

    /// All parameters by their candidates of the same position, then one after the other while the rest is plain.
    fn alone(&self, mut at: usize) -> Option<Vec<Value>> {
        let most = self.candidates.iter().map(Vec::len).max().unwrap_or(0);
        let cycled = |of: &Vec<Value>, at: usize| of[at % of.len()].clone();
        if at < most {
            return Some(self.candidates.iter().map(|of| cycled(of, at)).collect());
        }
        at -= most;
        for plain in [0, 1] {
            for (position, of) in self.candidates.iter().enumerate() {
                if at < of.len() {
                    let mut args: Vec<Value> = self.candidates.iter().map(|of| cycled(of, plain)).collect();
                    args[position] = of[at].clone();
                    return Some(args);
                }
                at -= of.len();
            }
        }
        None
    }

    /// Candidates taken by chance.
    fn any(&self, random: &mut Random) -> Vec<Value> {
        self.candidates.iter().filter_map(|of| random.pick(of).cloned()).collect()
    }
}
