//! Where a run stands: its calls, the values that are alive in them, globals, linear memory and files.

use std::fmt;
use std::ops::Range;

use lmlang_ir::text::InsertPlace;
use lmlang_ir::{FuncRef, NodeRef, RegionOwner, RegionRef, Source, StorageKind, Type, Value, VarRef};

use super::Run;
use crate::code::{Code, Loc};
use crate::outcome::{Location, SourceValue, VariableValue};
use crate::value::{Budget, Class, Shown, Word, class, show};
use crate::world::Written;

/// Values of a call, and globals, that are shown at most: more would not be read by anyone.
const MOST: usize = 500;

/// What a call holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Value(Source),
    Variable(VarRef),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Held::Value(source) => write!(f, "{source}"),
            Held::Variable(variable) => write!(f, "{variable}"),
        }
    }
}

/// A call that has not returned: where it goes on, and where its values are.
#[derive(Clone, Copy)]
struct Call {
    func: u32,
    window: u32,
    pc: usize,
    base: usize,
    rbase: usize,
}

impl Run {
    /// The functions that it calls by itself: the start function, and the one that was asked for. `None` where its arguments
    /// name others, which may be called too.
    pub(crate) fn roots(&self) -> Option<Vec<FuncRef>> {
        if self.args.iter().any(names_functions) {
            return None;
        }
        let start = self.checked.program().functions().find(|(_, function)| function.head().start);
        Some(start.map(|(of, _)| of).into_iter().chain([self.function]).collect())
    }

    /// The calls, the outermost first.
    pub(crate) fn calls_now(&self) -> Vec<Location> {
        let depth = self.machine.frames.len() as u32;
        (0..depth).filter_map(|frame| self.location(frame, self.frame(frame)?)).collect()
    }

    /// A call by its position, the outermost first.
    fn frame(&self, at: u32) -> Option<Call> {
        let (machine, at) = (&self.machine, at as usize);
        if at + 1 == machine.frames.len() {
            return Some(self.innermost());
        }
        // What a call returns to is with the call that it made.
        let frame = machine.frames.get(at + 1)?;
        // The word before the one that a call returns to belongs to the call.
        let pc = (frame.pc as usize).saturating_sub(1);
        let (base, rbase) = (frame.base as usize, frame.rbase as usize);
        Some(Call { func: frame.func, window: frame.window, pc, base, rbase })
    }

    fn innermost(&self) -> Call {
        let machine = &self.machine;
        let (func, window, pc) = (machine.func, machine.window, machine.pc);
        Call { func, window, pc, base: machine.base, rbase: machine.rbase }
    }

    fn code_in(&self, call: Call) -> Option<(&Code, usize)> {
        self.code_of(call.func, call.window, call.pc).map(|(code, at)| (&**code, at))
    }

    fn location(&self, frame: u32, call: Call) -> Option<Location> {
        let function = self.name(call.func)?;
        let body = self.checked.program().function(function)?.body();
        let root = body.root();
        let Some((code, at)) = self.code_in(call) else {
            return root.map(|region| Location { frame, function, region, node: None, step: 0 });
        };
        if let Some(region) = code.open_region(at) {
            return Some(Location { frame, function, region, node: None, step: 0 });
        }
        let node = code.node_at(at);
        let region = node.and_then(|node| body.node(node)).map(|node| node.region()).or(root)?;
        Some(Location { frame, function, region, node, step: 0 })
    }

    /// Where a call stands, by its position, as what an expression sees.
    pub(crate) fn place_at(&self, frame: u32) -> Option<InsertPlace> {
        let Location { function, region, node, .. } = self.location(frame, self.frame(frame)?)?;
        let body = self.checked.program().function(function)?.body();
        let before = |node| body.nodes_in(region).take_while(|other| *other != node).last();
        Some(InsertPlace { function, region, after: node.and_then(before) })
    }

    /// The value at a place of the innermost call.
    pub(crate) fn read(&self, loc: Loc) -> Word {
        self.read_in(self.innermost(), loc)
    }

    fn read_in(&self, call: Call, loc: Loc) -> Word {
        match loc {
            Loc::Num(slot) => Word::Num(self.stack.get(call.base + usize::from(slot)).copied().unwrap_or(0)),
            Loc::Ref(slot) => {
                Word::Ref(self.machine.refs.get(call.rbase + usize::from(slot)).cloned().unwrap_or_default())
            }
            Loc::Known(bits) => Word::Num(bits),
        }
    }

    /// The word of a value or variable in a call, by its position.
    pub(crate) fn word_at(&self, frame: u32, held: Held) -> Option<Word> {
        let call = self.frame(frame)?;
        let (code, _) = self.code_in(call)?;
        let loc = match held {
            Held::Value(source) => code.locs.get(&source).map(|(loc, _)| *loc),
            Held::Variable(variable) => {
                code.vars.iter().find(|(of, ..)| *of == variable).map(|(_, loc, _)| *loc)
            }
        };
        loc.map(|loc| self.read_in(call, loc))
    }

    /// A word as a value of the program.
    pub(crate) fn shown(&self, ty: &Type, word: &Word, budget: Budget) -> Option<Shown> {
        show(self.checked.program(), ty, word, &|index| self.name(index), budget)
    }

    /// The values that are alive in the innermost call: of nodes before the current one, and of parameters.
    pub(crate) fn values_now(&self) -> Vec<SourceValue> {
        self.values_in(self.innermost())
    }

    /// The same of any call, by its position, as far as it has not handed them on; `None` where there is no such call.
    pub(crate) fn values_at(&self, frame: u32) -> Option<Vec<SourceValue>> {
        self.frame(frame).map(|call| self.values_in(call))
    }

    fn values_in(&self, call: Call) -> Vec<SourceValue> {
        let mut out = Vec::new();
        if self.lowering.folds() {
            return out;
        }
        let Some((code, at)) = self.code_in(call) else { return out };
        let Some(function) = self.name(call.func) else { return out };
        for source in self.sources(function, code, at) {
            let Some((loc, ty)) = code.locs.get(&source) else { continue };
            if let Some(shown) = self.shown(ty, &self.read_in(call, *loc), Budget::STEP) {
                out.push(SourceValue { source, shown });
            }
            if out.len() >= MOST {
                break;
            }
        }
        out
    }

    /// What may have a value at a place of a function, the nearest first, parameters last.
    fn sources(&self, function: FuncRef, code: &Code, at: usize) -> Vec<Source> {
        let Some(found) = self.checked.program().function(function) else { return Vec::new() };
        let body = found.body();
        let mut sources: Vec<Source> = Vec::new();
        let current: Option<NodeRef> = code.node_at(at);
        let (mut region, mut before): (Option<RegionRef>, Option<NodeRef>) = match code.open_region(at) {
            Some(region) => (Some(region), None),
            None => (current.and_then(|node| body.node(node)).map(|node| node.region()), current),
        };
        while let Some(inside) = region {
            let nodes: Vec<NodeRef> = match before {
                Some(before) => body.nodes_in(inside).take_while(|node| *node != before).collect(),
                None => body.nodes_in(inside).collect(),
            };
            for node in nodes.into_iter().rev().take(MOST) {
                sources.extend((0..4).map(|port| Source::Node(node, port)));
            }
            let params = body.region(inside).map_or(0, |region| region.params.len() as u16);
            sources.extend((0..params).map(|port| Source::RegionParam(inside, port)));
            before = match body.region(inside).map(|region| region.owner) {
                Some(RegionOwner::Node(owner)) => Some(owner),
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
            };
            region = body.outer(inside);
        }
        let head = found.head();
        let params = (head.params.len() + head.captures.len()) as u16;
        sources.extend((0..params).map(|port| Source::Param(function, port)));
        sources.truncate(4 * MOST);
        sources
    }

    /// The variables of a call, by its position; `None` where there is none.
    pub(crate) fn variables_at(&self, frame: u32) -> Option<Vec<VariableValue>> {
        let call = self.frame(frame)?;
        let (code, _) = self.code_in(call)?;
        let value = |(variable, loc, ty): &(VarRef, Loc, Type)| {
            let shown = self.shown(ty, &self.read_in(call, *loc), Budget::STEP)?;
            Some(VariableValue { variable: *variable, shown })
        };
        Some(code.vars.iter().filter_map(value).collect())
    }

    /// The value of a global of a type.
    pub(crate) fn global(&self, of: VarRef, ty: Option<&Type>) -> Option<Word> {
        let index = self.storage.iter().position(|storage| *storage == of)?;
        self.global_at(index, ty?)
    }

    fn global_at(&self, index: usize, ty: &Type) -> Option<Word> {
        match class(ty) {
            Class::Num => self.machine.globals.get(index).copied().map(Word::Num),
            Class::Ref => self.machine.global_refs.get(index).cloned().map(Word::Ref),
        }
    }

    /// The globals of the program that have a value, by ref, as far as they are shown.
    pub(crate) fn globals_now(&self) -> Vec<VariableValue> {
        let value = |(index, of): (usize, &VarRef)| {
            let StorageKind::Global { ty, .. } = &self.checked.program().storage(*of)?.kind else {
                return None;
            };
            let shown = self.shown(ty, &self.global_at(index, ty)?, Budget::STEP)?;
            Some(VariableValue { variable: *of, shown })
        };
        self.storage.iter().enumerate().filter_map(value).take(MOST).collect()
    }

    /// The whole value of a global; `None` where it has none, or one that is too large to be told.
    pub fn global_value(&self, of: VarRef) -> Option<Value> {
        let StorageKind::Global { ty, .. } = &self.checked.program().storage(of)?.kind else { return None };
        let shown = self.shown(ty, &self.global(of, Some(ty))?, Budget::WHOLE)?;
        (!shown.cut).then_some(shown.value)
    }

    /// What became of files and folders so far.
    pub fn written(&self) -> Written {
        self.machine.world.written()
    }

    /// All bytes of linear memory; `None` without one.
    pub fn memory(&self) -> Option<&[u8]> {
        self.machine.has_memory.then_some(&self.machine.memory[..])
    }

    /// The bytes of linear memory that there are at some addresses.
    pub(crate) fn bytes_at(&self, addresses: &Range<u64>) -> &[u8] {
        let memory = &self.machine.memory[..];
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(memory.len());
        let start = place(addresses.start);
        &memory[start..place(addresses.end).max(start)]
    }
}

/// Whether a value holds a reference to a function.
fn names_functions(value: &Value) -> bool {
    match value {
        Value::Const(_) | Value::Ptr(..) | Value::ExternRef | Value::FuncRef(None) => false,
        Value::FuncRef(Some(_)) | Value::Closure(..) => true,
        Value::Struct(_, values) | Value::Array(_, values) | Value::FixedArray(_, values) => {
            values.iter().any(names_functions)
        }
        Value::Enum(_, payload) => payload.as_deref().is_some_and(names_functions),
        Value::Box(_, value) => names_functions(value),
    }
}
