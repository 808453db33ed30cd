//! The operand stack, while instructions are written in the order of the nodes.
//!
//! A value that is used once, by a node of the same region, stays on the stack until then. Where others come in between,
//! what can be had anywhere (constants, parameters, locals) is put in before it afterwards; where nothing helps, the value
//! goes through a local.

use lmlang_ir::Source;
use wasm_encoder::{Instruction, ValType};

use super::meter::Counting;

/// Instructions, and what is put between them.
#[derive(Debug, Default)]
pub(super) struct Code {
    code: Vec<Instruction<'static>>,
    between: Vec<Between>,
    batches: u32,
    held: Vec<Held>,
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
    start: usize,
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

    pub(super) fn push(&mut self, instruction: Instruction<'static>) {
        self.code.push(instruction);
    }

    /// Leaves a value on the stack that the instructions since a position gave.
    pub(super) fn hold(&mut self, source: Source, ty: ValType, start: usize) {
        let end = self.code.len();
        self.held.push(Held { source, ty, start, end });
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
    ) -> usize {
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
            let stays = seen <= on_top && waiting.iter().all(|(_, since)| *since <= self.held[at].start);
            seen -= 1;
            if stays {
                let begin = self.held[at].start;
                for (order, (instruction, _)) in waiting.drain(..).enumerate() {
                    self.between.push(Between { at: begin, order: Order::Before(batch, order), instruction });
                }
                start.get_or_insert(begin);
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
        let start = start.unwrap_or(self.code.len());
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
    pub(super) fn finish(mut self, pays: impl Fn(u32) -> bool) -> Vec<Instruction<'static>> {
        self.between.sort_by_key(|between| (between.at, between.order));
        let mut finished: Vec<Instruction<'static>> =
            Vec::with_capacity(self.code.len() + self.between.len());
        let mut between = self.between.into_iter().peekable();
        let mut put = |instruction: Instruction<'static>| {
            if let (Instruction::LocalGet(got), Some(last @ Instruction::LocalSet(_))) =
                (&instruction, finished.last_mut())
                && matches!(last, Instruction::LocalSet(set) if set == got)
            {
                *last = Instruction::LocalTee(*got);
                return;
            }
            finished.push(instruction);
        };
        for (at, instruction) in self.code.into_iter().enumerate() {
            while let Some(found) = between.next_if(|between| between.at <= at) {
                put(found.instruction);
            }
            match &mut self.counting {
                Some(counting) => counting.write(at, instruction, &pays, &mut put),
                None => put(instruction),
            }
        }
        between.for_each(|found| put(found.instruction));
        finished
    }
}
