//! Records: the scalars that the nodes of a run computed, noted by folded code while it is executed again.
//!
//! An instruction notes the value, and a segment where it starts; which node a value is of is looked up when somebody
//! reads it.

use std::cell::Cell;

use lmlang_ir::ops::signature;
use lmlang_ir::{FuncRef, NodeRef, Opcode as Op, Program, Source, Type, Value};

use crate::code::{Computed, Ins, Lowering, Opcode, WINDOW};
use crate::outcome::Outcome;
use crate::run::{Progress, Run};
use crate::value::{Budget, Class, Word, class, show};

/// Fuel for a piece: the values of as many nodes fit a cache.
const PIECE: u64 = 1 << 11;

/// What computes a value, in the order of the code: the position of a word, and which of two operators there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin(u32);

impl Origin {
    pub(crate) fn of(word: usize) -> Origin {
        Origin(2 * word as u32)
    }

    /// That of the second operator.
    pub(crate) fn second(self) -> Origin {
        Origin(self.0 | 1)
    }

    pub(crate) fn is_second(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn word(self) -> usize {
        self.0 as usize / 2
    }

    /// The same in code that is moved by so many words.
    pub(crate) fn moved(self, by: usize) -> Origin {
        Origin(self.0 + 2 * by as u32)
    }
}

/// The values of a piece, by how much fuel was left before their nodes: each has a place of its own, which handlers know
/// without a counter that would make each of them wait for the one before. Where segments start is noted in the same
/// way, and the code says the rest.
#[derive(Debug)]
pub(crate) struct Piece {
    values: Box<[u64]>,
    starts: Box<[u64]>,
    /// Tells the starts of this piece from those of others.
    number: u32,
    /// The fuel at the start.
    start: u64,
    /// The fuel where it ends.
    end: u64,
}

/// A piece as handlers see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log<'s> {
    values: &'s [Cell<u64>; WINDOW],
    starts: &'s [Cell<u64>; WINDOW],
    /// That of the piece, shifted by 32 bits; zero where nothing is to be noted.
    number: u64,
}

impl<'s> Log<'s> {
    /// What there is where nothing is noted: handlers that note do not ask whether there is a log. The cells are not
    /// written.
    pub(crate) fn off(cells: &'s [Cell<u64>]) -> Log<'s> {
        let cells = cells.last_chunk().expect("the stack ends with a window of padding");
        Log { values: cells, starts: cells, number: 0 }
    }

    pub(crate) fn is_on(self) -> bool {
        self.number != 0
    }

    /// Notes the value of a node before which so much fuel was left.
    #[inline(always)]
    pub(crate) fn note(self, fuel: i64, value: u64) {
        self.values[fuel as u16 as usize].set(value);
    }

    /// Notes that a segment starts at a word of the arena, before which so much fuel was left.
    #[inline(always)]
    pub(crate) fn start(self, fuel: i64, arena: &[Ins], word: &Ins) {
        let bytes = std::ptr::from_ref(word).addr().wrapping_sub(arena.as_ptr().addr());
        self.starts[fuel as u16 as usize].set(self.number | bytes as u64);
    }
}

impl Piece {
    fn new() -> Piece {
        Piece { values: vec![0; WINDOW].into(), starts: vec![0; WINDOW].into(), number: 0, start: 0, end: 0 }
    }

    /// Fuel is counted down from here.
    pub(crate) fn start(&mut self, fuel: u64) {
        self.start = fuel;
        self.end = fuel;
    }

    /// What has been executed is what was charged before so much fuel was left.
    pub(crate) fn end(&mut self, fuel: u64) {
        self.end = fuel;
    }

    pub(crate) fn log(&mut self) -> Log<'_> {
        let window = |cells| Cell::from_mut(cells).as_slice_of_cells().first_chunk();
        let [values, starts] = [&mut self.values[..], &mut self.starts[..]].map(window);
        let [values, starts] = [values, starts].map(|cells| cells.expect("a piece is a window"));
        Log { values, starts, number: u64::from(self.number) << 32 }
    }

    fn clear(&mut self) {
        self.number = self.number.wrapping_add(1);
        if self.number == 0 {
            self.starts.fill(0);
            self.number = 1;
        }
    }

    /// How many nodes before one that so much fuel was left before.
    fn offset(&self, fuel: u64) -> u16 {
        self.start.wrapping_sub(fuel) as u16
    }

    fn cell(&self, offset: u16) -> usize {
        self.start.wrapping_sub(u64::from(offset)) as u16 as usize
    }

    /// The segments of which something was executed, in order: where each starts in the arena, and at which node of
    /// the piece it starts and is left.
    fn segments(&self) -> impl Iterator<Item = (usize, u16, u16)> {
        let end = self.offset(self.end);
        let starts = move |from: u16| {
            (from..end).find_map(|offset| {
                let cell = self.starts[self.cell(offset)];
                let word = cell as u32 as usize / size_of::<Ins>();
                (cell >> 32 == u64::from(self.number)).then_some((word, offset))
            })
        };
        let mut next = starts(0);
        std::iter::from_fn(move || {
            let (word, from) = next.take()?;
            next = starts(from + 1);
            Some((word, from, next.map_or(end, |(_, to)| to)))
        })
    }
}

/// A value that a node computed.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeValue {
    /// The function.
    pub function: FuncRef,
    /// The node; the value is its only output.
    pub node: NodeRef,
    /// The value, a scalar or a reference to a function.
    pub value: Value,
}

/// A reader of the values that the nodes of a run computed, in the order in which they did.
///
/// It executes the run again, piece by piece. What is not computed is not in it: constants and what only passes a value
/// on ([`Recorder::notes`]), calls, whose results are those of nodes in the callee, and nodes that own regions. Neither
/// are values of the heap. Where fuel ends within a few nodes that one instruction does, theirs are missing.
#[derive(Debug)]
pub struct Recorder {
    run: Run,
}

impl Recorder {
    /// Reads the values of a run, which itself is left as it is; the record ends where the fuel limit of the run is.
    ///
    /// A run that was cancelled or timed out would go on in its record: `fuel` bounds it to what was executed.
    pub fn of(run: &Run, fuel: Option<u64>) -> Option<Recorder> {
        let mut limits = run.options().limits;
        if let Some(fuel) = fuel {
            limits.fuel = limits.fuel.min(fuel);
        }
        let mut run = run.again(Lowering::Recorded, limits)?;
        run.noted = Some(Piece::new());
        Some(Recorder { run })
    }

    /// Tells whether the values of nodes with an operator are noted, where they are scalars.
    pub fn notes(op: Op) -> bool {
        !matches!(
            op,
            Op::Const
                | Op::VarGet
                | Op::CaptureGet
                | Op::FuncRef
                | Op::RefNull
                | Op::RefNullExtern
                | Op::PtrFromI32
                | Op::PtrToI32
                | Op::Reinterpret
                | Op::Call
                | Op::CallIndirect
                | Op::ClosureCall
                | Op::Block
                | Op::Loop
                | Op::If
                | Op::Match
        )
    }

    /// Tells whether the values of a node are noted.
    pub fn has(program: &Program, function: FuncRef, node: NodeRef) -> bool {
        let Some(function) = program.function(function) else { return false };
        let ty = signature::source_type(program, function, Source::Node(node, 0));
        let op = function.body().node(node).map(|node| node.op().code());
        op.zip(ty).is_some_and(|(op, ty)| is_noted(op, &ty))
    }

    /// Executes the next piece, the values of which replace those of the one before.
    pub fn advance(&mut self) -> Progress {
        self.run.noted.iter_mut().for_each(Piece::clear);
        self.run.discharge();
        self.run.resume(PIECE)
    }

    /// How the run ended, once the record has come there.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.run.outcome()
    }

    /// The values of the piece that was executed last.
    pub fn values(&self) -> impl Iterator<Item = NodeValue> {
        self.chosen(|_, _| true)
    }

    /// Those among them that one node computed.
    pub fn values_of(&self, function: FuncRef, node: NodeRef) -> impl Iterator<Item = Value> {
        self.chosen(move |of, found| (of, found) == (function, node)).map(|found| found.value)
    }

    fn chosen(&self, choose: impl Fn(FuncRef, NodeRef) -> bool) -> impl Iterator<Item = NodeValue> {
        let segments = self.run.noted.iter().flat_map(|piece| piece.segments().map(move |at| (piece, at)));
        segments.flat_map(move |(piece, segment)| self.of_segment(piece, segment, &choose))
    }

    fn of_segment(
        &self,
        piece: &Piece,
        (start, from, to): (usize, u16, u16),
        choose: impl Fn(FuncRef, NodeRef) -> bool,
    ) -> Vec<NodeValue> {
        let Some((function, code, start)) = self.run.code_from(start) else { return Vec::new() };
        // What stands in front of a word in a segment is what its start counts and it does not.
        let count = |word: usize| code.words[word][0] >> 8;
        let computed = code.computed.partition_point(|(origin, _)| *origin < Origin::of(start));
        let (mut values, mut end) = (Vec::new(), start);
        for (origin, Computed { node, ty, inverted }) in &code.computed[computed..] {
            while end < origin.word() && !Opcode::of(code.words[end]).ends_record() {
                end += if Opcode::of(code.words[end]).is_long() { 2 } else { 1 };
            }
            let Some(before) = count(start).checked_sub(count(origin.word())) else { break };
            let at = from + before + u16::from(origin.is_second());
            if end < origin.word() || at >= to {
                break;
            }
            if !choose(function, *node) {
                continue;
            }
            let word = Word::Num(piece.values[piece.cell(at)] ^ u64::from(*inverted));
            let program = self.run.checked().program();
            let shown = show(program, ty, &word, &|index| self.run.name(index), Budget::STEP);
            values.extend(shown.map(|shown| NodeValue { function, node: *node, value: shown.value }));
        }
        values
    }
}

/// Whether a record has values of nodes with an operator and an output of a type.
pub(crate) fn is_noted(op: Op, ty: &Type) -> bool {
    Recorder::notes(op) && class(ty) == Class::Num
}
