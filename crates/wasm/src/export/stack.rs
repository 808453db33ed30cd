//! The operand stack, while instructions are written in the order of the nodes.
//!
//! A value that is used once, by a node of the same region, stays on the stack until then. Where others come in between,
//! what can be had anywhere (constants, parameters, locals) is put in before it afterwards; where nothing helps, the value
//! goes through a local.

use std::collections::VecDeque;

use lmlang_ir::Source;
use wasm_encoder::{Instruction, ValType};

use super::locals::Item;
use super::meter::Counting;

/// Instructions, and what is put between them.
#[derive(Debug, Default)]
pub(super) struct Code {
    code: Vec<Instruction<'static>>,
    between: Vec<Between>,
    batches: u32,
    /// Blocks, loops and choices that began.
    blocks: u32,
    held: Vec<Held>,
    /// What was put into a local last.
    set: Option<Set>,
    /// Operators that are carried as their bytes, by where they stand for an instruction that does nothing.
    carried: VecDeque<(usize, Vec<u8>)>,
    /// What counts the nodes that are executed, if something does.
    counting: Option<Counting>,
}

/// An instruction to be put before the one at a position.
#[derive(Debug)]
struct Between {
    at: usize,
    /// What ends the value before comes first. Of what begins the next value, that of the operator that takes more comes
    /// first, which is asked for later.
    order: Order,
    instruction: Instruction<'static>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    After,
    Before(std::cmp::Reverse<u32>, usize),
}

/// A value on the stack: the instructions that give it, and nothing else, stand between its start and its end.
#[derive(Debug)]
struct Held {
    source: Source,
    ty: ValType,
    start: Start,
    end: usize,
}

/// Where a value begins. Where it is got out of a local right after it was put there, it may begin behind that, or before
/// all that gives it, which is shorter: then what is put before it does not come in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    outer: usize,
    inner: usize,
}

impl From<usize> for Start {
    fn from(at: usize) -> Start {
        Start { outer: at, inner: at }
    }
}

/// A value that was put into a local: where it begins, and from where on it is there.
#[derive(Debug)]
struct Set {
    local: u32,
    start: Start,
    end: usize,
}

/// What an operator takes.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A value on the stack.
    Held(Source),
    /// Something that one instruction gives, from a position on.
    Ready(Instruction<'static>, usize),
    /// Something that several instructions give, from a position on.
    Several(Vec<Instruction<'static>>, usize),
}

impl Code {
    /// Code that counts.
    pub(super) fn counting(counting: Option<Counting>) -> Code {
        Code { counting, ..Code::default() }
    }

    /// A node is executed where the next instruction stands.
    pub(super) fn count(&mut self) {
        let at = self.code.len();
        if let Some(counting) = &mut self.counting {
            counting.count(at);
        }
    }

    /// The position of the next instruction.
    pub(super) fn position(&self) -> usize {
        self.code.len()
    }

    /// How many blocks, loops and choices began.
    pub(super) fn blocks(&self) -> u32 {
        self.blocks
    }

    pub(super) fn push(&mut self, instruction: Instruction<'static>) {
        if let Instruction::Block(_) | Instruction::Loop(_) | Instruction::If(_) = instruction {
            self.blocks += 1;
        }
        self.code.push(instruction);
    }

    /// Puts an operator that is carried.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.carried.push_back((self.code.len(), bytes.to_vec()));
        self.code.push(Instruction::Nop);
    }

    /// Puts the value on the stack, which began at a position, into a local.
    pub(super) fn set(&mut self, local: u32, start: Start) {
        self.push(Instruction::LocalSet(local));
        self.set = Some(Set { local, start, end: self.code.len() });
    }

    /// Leaves a value on the stack that the instructions since a position gave.
    pub(super) fn hold(&mut self, source: Source, ty: ValType, start: Start) {
        let end = self.code.len();
        let outer = match (&self.set, self.code.last()) {
            (Some(set), Some(Instruction::LocalGet(local)))
                if set.local == *local && set.end == start.inner && start.inner + 1 == end =>
            {
                set.start.outer
            }
            (_, _) => start.outer,
        };
        self.held.push(Held { source, ty, start: Start { outer, ..start }, end });
    }

    /// Calls a value on the stack, wherever it lies there, by what is the same word; says whether it was there.
    pub(super) fn rename(&mut self, from: Source, to: Source) -> bool {
        let found = self.held.iter_mut().find(|held| held.source == from);
        found.map(|held| held.source = to).is_some()
    }

    /// Whether a value waits on the stack.
    pub(super) fn holds(&self, source: Source) -> bool {
        self.held.iter().any(|held| held.source == source)
    }

    /// Puts operands on the stack, in order, and says where the first begins. `local` gives a local to what cannot stay on
    /// the stack, and is told from where on it has the value.
    pub(super) fn take(
        &mut self,
        operands: &[Operand],
        mut local: impl FnMut(Source, ValType, usize) -> u32,
    ) -> Start {
        let on_top = self.on_top(operands);
        let mut seen = operands.iter().filter(|operand| matches!(operand, Operand::Held(_))).count();
        // What has to come before the next value that stays.
        let mut waiting: Vec<(Instruction<'static>, usize)> = Vec::new();
        let mut start = None;
        let mut kept = Vec::new();
        self.batches += 1;
        let batch = std::cmp::Reverse(self.batches);
        for operand in operands {
            let source = match operand {
                Operand::Ready(instruction, since) => {
                    waiting.push((instruction.clone(), *since));
                    continue;
                }
                Operand::Several(instructions, since) => {
                    waiting.extend(instructions.iter().map(|instruction| (instruction.clone(), *since)));
                    continue;
                }
                Operand::Held(source) => *source,
            };
            let Some(at) = self.held.iter().rposition(|held| held.source == source) else { continue };
            let begins = self.held[at].start;
            let fits = |at: usize| waiting.iter().all(|(_, since)| *since <= at);
            let stays = seen <= on_top && fits(begins.inner);
            seen -= 1;
            if stays {
                let begins = match (waiting.is_empty(), fits(begins.outer)) {
                    (true, _) => begins,
                    (false, true) => begins.outer.into(),
                    (false, false) => begins.inner.into(),
                };
                for (order, (instruction, _)) in waiting.drain(..).enumerate() {
                    let order = Order::Before(batch, order);
                    self.between.push(Between { at: begins.inner, order, instruction });
                }
                start.get_or_insert(begins);
                kept.push(at);
            } else {
                let held = self.held.remove(at);
                let index = local(held.source, held.ty, held.end);
                let instruction = Instruction::LocalSet(index);
                self.between.push(Between { at: held.end, order: Order::After, instruction });
                waiting.push((Instruction::LocalGet(index), held.end));
            }
        }
        self.held.truncate(self.held.len() - kept.len());
        let start = start.unwrap_or_else(|| self.code.len().into());
        self.code.extend(waiting.into_iter().map(|(instruction, _)| instruction));
        start
    }

    /// How many of the values among operands, from the last one on, lie on top of the stack in their order.
    fn on_top(&self, operands: &[Operand]) -> usize {
        let wanted = operands.iter().rev().filter_map(|operand| match operand {
            Operand::Held(source) => Some(source),
            Operand::Ready(..) | Operand::Several(..) => None,
        });
        wanted.zip(self.held.iter().rev()).take_while(|(source, held)| **source == held.source).count()
    }

    /// All instructions in their order. `pays` tells whether a function that is brought along takes fuel.
    pub(super) fn finish(mut self, pays: impl Fn(u32) -> bool) -> Vec<Item> {
        self.between.sort_by_key(|between| (between.at, between.order));
        let mut items = Vec::with_capacity(self.code.len() + self.between.len());
        let mut between = self.between.into_iter().peekable();
        for (at, instruction) in self.code.into_iter().enumerate() {
            while let Some(found) = between.next_if(|between| between.at <= at) {
                items.push(Item::Instruction(found.instruction));
            }
            if let Some((_, bytes)) = self.carried.pop_front_if(|(carried, _)| *carried == at) {
                items.push(Item::Carried(bytes));
                continue;
            }
            match &mut self.counting {
                Some(counting) => {
                    let mut put = |instruction| items.push(Item::Instruction(instruction));
                    counting.write(at, instruction, &pays, &mut put);
                }
                None => items.push(Item::Instruction(instruction)),
            }
        }
        items.extend(between.map(|found| Item::Instruction(found.instruction)));
        items
    }
}
