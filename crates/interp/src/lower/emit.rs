//! Emits words, resolves labels, and counts fuel.
//!
//! Every word has a cost: the nodes that it accounts for. A segment runs up to the next transfer of control; its first
//! word says what the segment costs, and so does every other word for the rest of it. A transfer charges the count of
//! its target, so joins need nothing, and what was executed up to any word is what was charged less that word's count.

use crate::code::{Computed, Ins, Lowering, Opcode};
use crate::record::Origin;

/// A place in the code that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

/// The most that a segment may cost: counts are bytes.
const MAX_SEGMENT: u32 = 240;

/// Words up to which relative branches reach everything.
const NEAR: usize = 30_000;

/// How far into a window straight code goes before it moves to the next.
const HALF_WINDOW: usize = 1 << 15;

#[derive(Debug, Default)]
pub(super) struct Emit {
    pub(super) words: Vec<Ins>,
    cost: Vec<u8>,
    owner: Vec<u32>,
    labels: Vec<Option<u32>>,
    fixups: Vec<(u32, Label)>,
    pending: u32,
    segment: u32,
    /// Where the last instruction starts, unless something may jump behind it.
    tail: Option<usize>,
    /// Whether an instruction may account for nodes behind it.
    folds: bool,
    /// What instructions compute, by position.
    computed: Vec<(Origin, Computed)>,
    /// The node that words are emitted for.
    pub(super) node: u32,
}

/// Finished code.
pub(super) struct Finished {
    pub(super) words: Vec<Ins>,
    pub(super) cost: Vec<u8>,
    pub(super) owner: Vec<u32>,
    /// New position of each word.
    pub(super) moved: Vec<u32>,
    pub(super) computed: Vec<(Origin, Computed)>,
}

impl Emit {
    pub(super) fn of(style: Lowering) -> Emit {
        Emit { folds: style.folds(), ..Emit::default() }
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Counts a node that the next instruction accounts for.
    pub(super) fn count(&mut self) {
        self.pending += 1;
        if self.pending >= MAX_SEGMENT / 2 {
            self.op(Opcode::Nop, 0, 0, 0);
        }
    }

    /// Counts nodes that another instruction accounts for too, on another path.
    pub(super) fn charge(&mut self, nodes: u32) {
        (0..nodes).for_each(|_| self.count());
    }

    /// Takes out what is counted and that no instruction accounts for yet, if others may.
    pub(super) fn set_aside(&mut self) -> u32 {
        if self.folds { std::mem::take(&mut self.pending) } else { 0 }
    }

    /// The instruction that comes right before the next one on every path, if it has one word: position, word, cost.
    pub(super) fn last(&self) -> Option<(usize, Ins, u32)> {
        let at = self.tail.filter(|tail| tail + 1 == self.words.len())?;
        Some((at, self.words[at], u32::from(self.cost[at])))
    }

    /// The node that the last instruction was emitted for.
    pub(super) fn last_owner(&self) -> Option<u32> {
        self.tail.map(|tail| self.owner[tail])
    }

    /// Takes the last instruction back, which must be there and have one word; the next one does its work too, and
    /// computes what is returned first.
    pub(super) fn take_back(&mut self) -> Option<Computed> {
        debug_assert!(self.last().is_some(), "the instruction may be jumped over");
        let origin = Origin::of(self.words.len() - 1);
        let computed = self.computed.pop_if(|(at, _)| *at == origin);
        self.tail = None;
        self.words.pop();
        self.owner.pop();
        let cost = self.cost.pop().map_or(0, u32::from);
        self.segment = self.segment.saturating_sub(cost);
        self.pending += cost;
        computed.map(|(_, computed)| computed)
    }

    /// Notes what the last instruction computes; if it does two operators, by the second.
    pub(super) fn computes(&mut self, what: Computed) {
        let Some(at) = self.tail else { return };
        let two = Opcode::of(self.words[at]).computes_two();
        self.computed.push((if two { Origin::of(at).second() } else { Origin::of(at) }, what));
    }

    /// Notes what the last instruction, which does two operators, computes by the first.
    pub(super) fn computes_first(&mut self, what: Option<Computed>) {
        if let (Some(at), Some(what)) = (self.tail, what) {
            self.computed.push((Origin::of(at), what));
        }
    }

    /// Notes that the last instruction computes what another one does, by its first operator and by its second.
    pub(super) fn computes_again(&mut self, what: [Option<Computed>; 2]) {
        let Some(at) = self.tail else { return };
        let origins = [Origin::of(at), Origin::of(at).second()];
        self.computed
            .extend(origins.into_iter().zip(what).filter_map(|(origin, what)| Some((origin, what?))));
    }

    /// What an instruction computes, by its first operator and by its second.
    pub(super) fn computed_at(&self, at: usize) -> [Option<Computed>; 2] {
        [Origin::of(at), Origin::of(at).second()].map(|origin| {
            let found = self.computed.iter().rev().find(|(found, _)| *found == origin);
            found.map(|(_, computed)| computed.clone())
        })
    }

    /// Makes sure that every counted node is accounted for by an instruction up to here.
    pub(super) fn flush(&mut self) {
        if self.pending == 0 {
            return;
        }
        let most = MAX_SEGMENT.saturating_sub(self.pending);
        match self.tail {
            Some(tail) if self.folds && self.segment <= most && Opcode::of(self.words[tail]).goes_on() => {
                let pending = std::mem::take(&mut self.pending);
                self.cost[tail] += pending as u8;
                self.segment += pending;
            }
            Some(_) | None => {
                self.op(Opcode::Nop, 0, 0, 0);
            }
        }
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.flush();
        self.tail = None;
        self.labels[label.0 as usize] = Some(self.words.len() as u32);
    }

    fn push(&mut self, word: Ins, cost: u32) -> usize {
        self.words.push(word);
        self.cost.push(cost as u8);
        self.owner.push(self.node);
        self.words.len() - 1
    }

    /// Starts a new segment if the one that is being emitted has no room for so many nodes.
    pub(super) fn make_room(&mut self, cost: u32) {
        if self.segment + cost > MAX_SEGMENT {
            self.push([Opcode::Charge as u16, 0, 0, 0], 0);
            self.segment = 0;
        }
    }

    /// Emits an instruction; returns its position.
    pub(super) fn op(&mut self, op: Opcode, a: u16, b: u16, c: u16) -> usize {
        let cost = std::mem::take(&mut self.pending);
        self.make_room(cost);
        self.segment = if op.transfers() { 0 } else { self.segment + cost };
        self.tail = Some(self.words.len());
        self.push([op as u16, a, b, c], cost)
    }

    /// Emits an instruction of two words; returns the position of the first.
    pub(super) fn op2(&mut self, op: Opcode, a: u16, b: u16, c: u16, second: Ins) -> usize {
        let at = self.op(op, a, b, c);
        self.push(second, 0);
        at
    }

    /// Emits a branch.
    pub(super) fn branch(&mut self, op: Opcode, a: u16, b: u16, to: Label) {
        let at = self.op(op, a, b, 0);
        self.fixups.push((at as u32, to));
    }

    /// Emits a branch of two words.
    pub(super) fn branch2(&mut self, op: Opcode, a: u16, b: u16, second: Ins, to: Label) {
        let at = self.op2(op, a, b, 0, second);
        self.fixups.push((at as u32, to));
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.branch(Opcode::Jmp, 0, 0, to);
    }

    /// Resolves labels and counts, with a prologue in front.
    pub(super) fn finish(mut self, prologue: &[Ins]) -> Finished {
        self.flush();
        let mut targets: Vec<Option<u32>> = vec![None; self.words.len()];
        for (at, label) in &self.fixups {
            targets[*at as usize] = self.labels[label.0 as usize];
        }
        let long = self.words.len() + prologue.len() > NEAR;
        let mut out = Finished {
            words: prologue.to_vec(),
            cost: vec![0; prologue.len()],
            owner: Vec::new(),
            moved: Vec::new(),
            computed: Vec::new(),
        };
        out.owner.resize(prologue.len(), 0);
        let mut long_targets: Vec<(usize, u32)> = Vec::new();
        let mut boundary = HALF_WINDOW;
        let mut index = 0;
        while index < self.words.len() {
            let word = self.words[index];
            let op = Opcode::of(word);
            // Jumps of a switch stand close together, and code moves on before them.
            let in_switch = op == Opcode::Jmp && index > 0 && {
                let before = Opcode::of(self.words[index - 1]);
                before == Opcode::Switch || before == Opcode::Jmp
            };
            if out.words.len() >= boundary && !in_switch {
                let to = out.words.len() as u32 + 1;
                out.word([Opcode::Far as u16, to as u16, (to >> 16) as u16, 0], 0, self.owner[index]);
                boundary += HALF_WINDOW;
            }
            out.moved.push(out.words.len() as u32);
            let (cost, owner) = (self.cost[index], self.owner[index]);
            match targets[index] {
                Some(target) if long && op == Opcode::Jmp => {
                    long_targets.push((out.words.len(), target));
                    out.word([Opcode::Far as u16, 0, 0, 0], cost, owner);
                }
                Some(target) if long => {
                    let length = if op.is_long() { 2 } else { 1 };
                    out.word([word[0], word[1], word[2], length + 1], cost, owner);
                    if op.is_long() {
                        index += 1;
                        out.moved.push(out.words.len() as u32);
                        out.word(self.words[index], 0, owner);
                    }
                    out.word([Opcode::Jmp as u16, 0, 0, 2], 0, owner);
                    long_targets.push((out.words.len(), target));
                    out.word([Opcode::Far as u16, 0, 0, 0], 0, owner);
                }
                Some(_) | None => {
                    out.word(word, cost, owner);
                    if op.is_long() {
                        index += 1;
                        out.moved.push(out.words.len() as u32);
                        out.word(self.words[index], 0, owner);
                    }
                }
            }
            index += 1;
        }
        out.moved.push(out.words.len() as u32);
        for (at, target) in long_targets {
            let to = out.moved[target as usize];
            out.words[at][1] = to as u16;
            out.words[at][2] = (to >> 16) as u16;
        }
        if !long {
            for (index, target) in targets.iter().enumerate() {
                if let Some(target) = target {
                    let at = out.moved[index];
                    out.words[at as usize][3] =
                        (i64::from(out.moved[*target as usize]) - i64::from(at)) as u16;
                }
            }
        }
        let moved = |(origin, what): (Origin, Computed)| {
            // Code moves to the back only, by what stands in front and in between.
            let by = out.moved[origin.word()] as usize - origin.word();
            (origin.moved(by), what)
        };
        out.computed = std::mem::take(&mut self.computed).into_iter().map(moved).collect();
        out.computed.sort_by_key(|(origin, _)| *origin);
        out.count_fuel();
        out
    }
}

impl Finished {
    fn word(&mut self, word: Ins, cost: u8, owner: u32) {
        self.words.push(word);
        self.cost.push(cost);
        self.owner.push(owner);
    }

    fn count_fuel(&mut self) {
        let mut starts = Vec::with_capacity(self.words.len());
        let mut index = 0;
        while index < self.words.len() {
            starts.push(index);
            index += if Opcode::of(self.words[index]).is_long() { 2 } else { 1 };
        }
        let mut rest = 0u32;
        for index in starts.into_iter().rev() {
            if Opcode::of(self.words[index]).transfers() {
                rest = 0;
            }
            rest += u32::from(self.cost[index]);
            debug_assert!(rest <= 255, "a segment costs {rest}");
            self.words[index][0] |= (rest as u16) << 8;
        }
    }
}
