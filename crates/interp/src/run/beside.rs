//! A run beside another one that stands still: it is called again and again, on the globals and the memory of that one.

use std::collections::VecDeque;

use lmlang_ir::{FuncRef, Type};
use lmlang_verify::Checked;

use super::{Options, Run};
use crate::code::Lowering;
use crate::value::{Class, Word, class};

impl Run {
    /// A run of a function of a program with the same globals, memory and tables, which are lent to it before it is called.
    pub(crate) fn beside(
        &self,
        checked: &Checked,
        function: FuncRef,
        options: Options,
        lowering: Lowering,
    ) -> Run {
        let mut beside = Run::blank(checked, function, &options, &self.cache, lowering);
        beside.storage.clone_from(&self.storage);
        beside
    }

    /// Exchanges globals, memory and tables with another run. Functions in them mean something else here.
    pub(crate) fn lend(&mut self, other: &mut Run) {
        let (ours, theirs) = (&mut self.machine, &mut other.machine);
        std::mem::swap(&mut ours.memory, &mut theirs.memory);
        std::mem::swap(&mut ours.has_memory, &mut theirs.has_memory);
        std::mem::swap(&mut ours.max_pages, &mut theirs.max_pages);
        std::mem::swap(&mut ours.globals, &mut theirs.globals);
        std::mem::swap(&mut ours.global_refs, &mut theirs.global_refs);
        std::mem::swap(&mut ours.tables, &mut theirs.tables);
        std::mem::swap(&mut ours.table_bytes, &mut theirs.table_bytes);
        std::mem::swap(&mut ours.data, &mut theirs.data);
        std::mem::swap(&mut ours.elements, &mut theirs.elements);
    }

    /// Calls the function anew, whatever became of the last call.
    pub(crate) fn call(&mut self, args: Vec<Word>, fuel: u64) {
        self.outcome = None;
        self.left = fuel;
        self.options.limits.fuel = fuel;
        self.machine.frames.clear();
        self.machine.extra = 0;
        self.machine.contract_depth = 0;
        self.machine.stop = None;
        self.calls = VecDeque::from([(self.function, Vec::new())]);
        self.enter(self.function, args);
    }

    /// The first result of a call that has returned.
    pub(crate) fn first_result(&self, ty: &Type) -> Word {
        match class(ty) {
            Class::Num => Word::Num(self.stack.first().copied().unwrap_or(0)),
            Class::Ref => Word::Ref(self.machine.refs.first().cloned().unwrap_or_default()),
        }
    }
}
