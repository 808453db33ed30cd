//! What a module has beyond the program's own: constants of the heap, functions of the runtime, and functions that make
//! values and pass closures on.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use lmlang_ir::ops::Group;
use lmlang_ir::{Attr, Const, FuncRef, Name, Op, Opcode, Program, Ref, Shape, StorageKind, Type, VarRef};
use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, FunctionSection,
    GlobalType, Ieee32, Ieee64, ImportSection, Instruction, MemArg, MemArgTarget, MemoryType, RefType,
    TableType, ValType,
};

use super::constants::Constants;
use super::host::Asked;
use super::scope::Scope;
use super::{ExportError, Indices, StorageSections, Writing, body, guard, types};
use crate::heap::{HEADER, Measure, Part, WORD, places};
use crate::runtime::RUNTIME;

/// A function that a module brings along.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Brought {
    /// One of the runtime.
    Runtime(FuncRef),
    /// Makes a value of parts, and a word of its own; counts it, if that is counted.
    New(Vec<Part>, Option<Measure>),
    /// Makes what a variable of a type begins with.
    Zero(Type),
    /// Calls a function that captures nothing, as one that captures something is called.
    Closure(FuncRef),
    /// Copies bytes out of the program's memory.
    Load,
    /// Copies bytes into the program's memory.
    Store,
    /// Calls a function of the world outside, by its index, which looks into the program's memory.
    Lent(FuncRef, u32),
    /// Traps where a contract does not hold, as its name says.
    Broken(Name),
    /// Calls a function for those outside, who are within no contract.
    Enter(FuncRef),
    /// Calls a function of the host, after which the guard is what it was.
    Leave(guard::Asked),
}

/// What WASI calls the memory that it looks into.
const MEMORY: &str = "memory";

/// What we call the memory of the heap.
pub(super) const HEAP: &str = "lm_memory";

/// Bytes of a page of memory.
const PAGE: u32 = 1 << 16;

/// Functions and constants that are brought along, as they are asked for.
#[derive(Debug, Default)]
pub(super) struct Bringing {
    /// The index of the first function.
    first: u32,
    functions: Vec<Brought>,
    indices: HashMap<Brought, u32>,
    pub(super) constants: Constants,
    /// Functions of closures, by their place in the table; the first place is empty.
    closures: Vec<u32>,
    places: HashMap<FuncRef, u32>,
    /// The index of the heap's memory.
    memory: u32,
    /// The index of the global that says where the heap ends.
    top: u32,
    /// The index of the table of closures.
    table: u32,
    /// Whether closures are called.
    calls: bool,
    /// Functions of the world outside that the runtime calls.
    pub(super) world: BTreeMap<FuncRef, u32>,
    /// What the host does of it instead, in a module that counts.
    pub(super) asked: BTreeMap<Asked, u32>,
    /// Whether the world outside looks into the heap.
    shown: bool,
    /// Whether it looks into the program's memory instead.
    lends: bool,
    /// Whether those outside may make values.
    pub(super) offered: bool,
    /// Whether functions of the runtime are being written.
    pub(super) inside: bool,
}

impl Bringing {
    /// What comes after what a program has itself.
    pub(super) fn new(program: &Program, scope: &Scope, indices: &Indices, first: u32, top: u32) -> Bringing {
        Bringing {
            first,
            memory: scope
                .storage(program)
                .any(|(_, of)| matches!(of.kind, StorageKind::Memory { .. }))
                .into(),
            top,
            table: indices.tables.len() as u32,
            ..Bringing::default()
        }
    }

    /// Whether a function that is brought along takes fuel.
    pub(super) fn pays(&self, index: u32) -> bool {
        let of = index.checked_sub(self.first).and_then(|at| self.functions.get(at as usize));
        match of {
            Some(Brought::Runtime(of)) => RUNTIME.pays(*of),
            Some(of) => matches!(of, Brought::Load | Brought::Store),
            None => false,
        }
    }

    fn function(&mut self, of: Brought) -> u32 {
        let (functions, next) = (&mut self.functions, self.first + self.indices.len() as u32);
        *self.indices.entry(of).or_insert_with_key(|of| {
            functions.push(of.clone());
            next
        })
    }
}

/// Functions of the world outside that a program needs.
pub(super) fn world(program: &Program, scope: &Scope) -> Vec<FuncRef> {
    let nodes = scope.functions(program).flat_map(|(_, function)| function.body().nodes());
    let mut needed = [("fd_write", false), ("fd_read", false), ("path_open", false), ("fd_close", false)];
    for (_, node) in nodes {
        let used: &[usize] = match node.op().code() {
            Opcode::Print | Opcode::FileWrite => &[0],
            Opcode::ReadLine | Opcode::FileRead => &[1],
            // Whether it is a folder, reading shows.
            Opcode::FileOpen => &[1, 2, 3],
            Opcode::FileClose => &[3],
            _ => continue,
        };
        used.iter().for_each(|at| needed[*at].1 = true);
    }
    needed.into_iter().filter(|(_, needed)| *needed).map(|(name, _)| RUNTIME.function(name)).collect()
}

/// What a program exports by a name.
fn exported(program: &Program, name: &str) -> Option<Ref> {
    let named = |exports: &[Name]| exports.iter().any(|export| **export == *name);
    let function = program.functions().find(|(_, of)| named(&of.head().exports)).map(|(of, _)| of.into());
    function.or_else(|| program.all_storage().find(|(_, of)| named(&of.exports)).map(|(of, _)| of.into()))
}

/// Whether storage is a global that holds a value of the heap.
pub(super) fn holds_value(kind: &StorageKind) -> bool {
    matches!(kind, StorageKind::Global { ty, .. } if ty.on_heap())
}

/// Whether a value of the heap can come up: who has none needs not be asked node by node.
pub(super) fn has_heap(program: &Program, scope: &Scope) -> bool {
    let makes = |op: &Op| match op.spec().group {
        Group::Aggregate | Group::Text => true,
        Group::Value => matches!(op.attr(), Attr::Const(Const::String(_) | Const::Bytes(_))),
        Group::Call => matches!(op.code(), Opcode::ClosureNew | Opcode::ClosureCall | Opcode::CaptureGet),
        // What is carried takes and gives numbers.
        Group::Io => op.code() != Opcode::Raw,
        _ => false,
    };
    scope.storage(program).any(|(_, storage)| holds_value(&storage.kind))
        || scope.functions(program).any(|(_, function)| {
            let head = function.head();
            head.params.iter().any(|param| param.ty.on_heap())
                || head.results.iter().any(Type::on_heap)
                || function.body().variables().any(|(_, variable)| variable.ty.on_heap())
                || function.body().nodes().any(|(_, node)| makes(node.op()))
        })
}

impl<'p> Writing<'p> {
    /// The index of the memory that the functions being written work on.
    pub(super) fn memory(&self) -> u32 {
        if self.bringing.inside { self.bringing.memory } else { 0 }
    }

    /// The index of the memory of the heap.
    pub(super) fn heap_memory(&self) -> u32 {
        self.bringing.memory
    }

    /// The index by which the functions being written call one.
    pub(super) fn function_index(&mut self, of: FuncRef) -> u32 {
        let index = match self.bringing.inside {
            true => match self.bringing.world.get(&of) {
                Some(index) => *index,
                None => return self.bringing.function(Brought::Runtime(of)),
            },
            false => self.indices.functions[&of],
        };
        let called = self.called(of, index);
        // Whoever closes a file hands nothing over.
        match self.bringing.inside && self.bringing.lends && of != RUNTIME.function("fd_close") {
            true => self.brought(Brought::Lent(of, called)),
            false => called,
        }
    }

    pub(super) fn global_index(&self, of: VarRef) -> u32 {
        if !self.bringing.inside {
            return self.indices.globals[&of];
        }
        // The runtime has one, and those of the meter.
        let name = self.program.storage(of).map_or("", |storage| &storage.name);
        self.meter.and_then(|meter| meter.global(name)).unwrap_or(self.bringing.top)
    }

    /// Whether a function of the runtime is called only in modules that count, of which this is none.
    pub(super) fn leaves_out(&self, callee: FuncRef) -> bool {
        self.bringing.inside && self.meter.is_none() && RUNTIME.counts(callee)
    }

    /// The index of a function that is brought along.
    pub(super) fn brought(&mut self, of: Brought) -> u32 {
        self.bringing.function(of)
    }

    /// A call of a function of the runtime.
    pub(super) fn runtime(&mut self, name: &str) -> Instruction<'static> {
        Instruction::Call(self.brought(Brought::Runtime(RUNTIME.function(name))))
    }

    /// The table of closures, to call one.
    pub(super) fn closures(&mut self) -> u32 {
        self.bringing.calls = true;
        self.bringing.table
    }

    /// The place of a function in the table of closures.
    pub(super) fn closure(&mut self, of: FuncRef) -> u32 {
        if let Some(place) = self.bringing.places.get(&of) {
            return *place;
        }
        let captures = self.program.function(of).is_some_and(|of| !of.head().captures.is_empty());
        let index = match captures {
            true => self.indices.functions[&of],
            false => self.brought(Brought::Closure(of)),
        };
        self.bringing.closures.push(index);
        let place = self.bringing.closures.len() as u32;
        self.bringing.places.insert(of, place);
        place
    }

    /// Writes the functions that were asked for, and those that they ask for.
    pub(super) fn bring(
        &mut self,
        functions: &mut FunctionSection,
        code: &mut CodeSection,
        names: &mut super::Naming,
    ) -> Result<(), ExportError> {
        let mut next = 0;
        while let Some(of) = self.bringing.functions.get(next).cloned() {
            let index = self.bringing.first + next as u32;
            next += 1;
            let (ty, written) = match &of {
                Brought::Runtime(of) => {
                    let program: &'p Program = std::mem::replace(&mut self.program, &RUNTIME.program);
                    self.bringing.inside = true;
                    let function = RUNTIME.program.function(*of).expect("the runtime has it");
                    let written = body::write(self, *of, function);
                    let ty = self.signature(function);
                    self.program = program;
                    self.bringing.inside = false;
                    names.brought(index, &function.head().name);
                    (ty, written?.code)
                }
                Brought::New(parts, measure) => {
                    names.brought(index, "new");
                    self.new_value(parts, *measure)
                }
                Brought::Zero(ty) => self.zero(ty),
                Brought::Closure(of) => self.passing(*of),
                Brought::Load => {
                    names.brought(index, "load_bytes");
                    self.load_bytes()
                }
                Brought::Store => {
                    names.brought(index, "store_bytes");
                    self.store_bytes()
                }
                Brought::Lent(of, asked) => {
                    let function = RUNTIME.program.function(*of).expect("the runtime has it");
                    names.brought(index, &function.head().name);
                    self.lending(*of, *asked)
                }
                Brought::Broken(name) => self.broken(index, name, names),
                Brought::Enter(of) => {
                    names.brought(index, "enter");
                    self.entering(*of)
                }
                Brought::Leave(of) => {
                    names.brought(index, "leave");
                    self.leaving(*of)
                }
            };
            functions.function(ty);
            code.function(&written);
        }
        Ok(())
    }

    /// Asks for the world outside, which looks into the heap by the name that WASI gives it, or into the memory of the
    /// program's own that has this name.
    pub(super) fn meet_world(
        &mut self,
        imports: &mut ImportSection,
        exports: &mut ExportSection,
    ) -> Result<(), ExportError> {
        let mut world: Vec<(u32, FuncRef)> =
            self.bringing.world.iter().map(|(of, index)| (*index, *of)).collect();
        world.sort_unstable();
        for (_, of) in &world {
            let function = RUNTIME.program.function(*of).expect("the runtime has it");
            let ty = self.signature(function);
            if let Some(import) = &function.head().import {
                imports.import(&import.module, &import.name, EntityType::Function(ty));
            }
        }
        let runs = self.options.main.is_some();
        // A function alone is there to be read: it gives nothing out.
        match exported(self.program, MEMORY).filter(|_| self.scope.is_whole()) {
            Some(of) if !world.is_empty() => {
                let storage = VarRef::try_from(of).ok().and_then(|of| self.program.storage(of));
                let lacks = match storage.map(|storage| &storage.kind) {
                    Some(StorageKind::Memory { pages: 1.., .. }) => {
                        self.bringing.lends = true;
                        return Ok(());
                    }
                    Some(StorageKind::Memory { .. }) => "that may have no page to hand over",
                    Some(_) | None => "that is no memory",
                };
                Err(self.unsupported(of, format!("input and output beside an export `memory` {lacks}")))
            }
            // Hosts look for it, even where nothing is in it.
            None if runs || !world.is_empty() => {
                self.bringing.shown = true;
                exports.export(MEMORY, ExportKind::Memory, self.bringing.memory);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lets those outside make values, where they are asked for some or given some.
    pub(super) fn offer_values(&mut self, exports: &mut ExportSection) -> Result<(), ExportError> {
        let (program, scope) = (self.program, Rc::clone(&self.scope));
        let mut functions = scope.functions(program).map(|(_, of)| of.head());
        let asked = functions.any(|head| {
            let mut types = head.params.iter().map(|param| &param.ty).chain(&head.results);
            (!head.exports.is_empty() || head.import.is_some()) && types.any(Type::on_heap)
        });
        if asked {
            self.bringing.offered = true;
            self.free(HEAP)?;
            for (name, of) in [("lm_new", "alloc"), ("lm_share", "share"), ("lm_release", "release")] {
                self.free(name)?;
                let index = self.brought(Brought::Runtime(RUNTIME.function(of)));
                exports.export(name, ExportKind::Func, index);
            }
        }
        Ok(())
    }

    /// What the module exports beyond the program's own must have a name of its own.
    pub(super) fn free(&self, name: &str) -> Result<(), ExportError> {
        match exported(self.program, name) {
            Some(of) => Err(self.unsupported(of, format!("an export `{name}` beside the one of that name"))),
            None => Ok(()),
        }
    }

    /// The memory of the heap, what lies there at the start, and the functions of closures.
    pub(super) fn heap(
        &mut self,
        storage: &mut StorageSections,
        elements: &mut ElementSection,
        exports: &mut ExportSection,
    ) {
        let bringing = &self.bringing;
        let words = |of: &Brought| matches!(of, Brought::Broken(_) | Brought::Enter(_) | Brought::Leave(_));
        let works = !bringing.functions.iter().all(words);
        let nothing = !works && bringing.constants.is_empty();
        if nothing && !bringing.shown && !bringing.calls && !self.heap {
            return;
        }
        let pages = bringing.constants.end().div_ceil(PAGE);
        storage.memories.memory(MemoryType {
            minimum: pages.into(),
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        if bringing.offered {
            exports.export(HEAP, ExportKind::Memory, bringing.memory);
        }
        let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        storage.globals.global(ty, &ConstExpr::i32_const(bringing.constants.end().cast_signed()));
        if !bringing.constants.is_empty() {
            let (at, bytes) = bringing.constants.laid_out();
            let at = ConstExpr::i32_const(at.cast_signed());
            storage.data.active(bringing.memory, &at, bytes.iter().copied());
        }
        if bringing.calls {
            let length = bringing.closures.len() as u64 + 1;
            storage.tables.table(TableType {
                element_type: RefType::FUNCREF,
                minimum: length,
                maximum: Some(length),
                table64: false,
                shared: false,
            });
            if !bringing.closures.is_empty() {
                let functions = Elements::Functions(bringing.closures.as_slice().into());
                elements.active(Some(bringing.table), &ConstExpr::i32_const(1), functions);
            }
        }
    }

    fn arg(&self, offset: u32) -> MemArg {
        MemArg {
            offset: offset.into(),
            align: 0,
            target: MemArgTarget::Memory(self.bringing.memory),
            ordering: None,
        }
    }

    /// Reads a part that stands at an offset from the address on the stack.
    pub(super) fn load_part(&self, part: Part, offset: u32) -> Instruction<'static> {
        let at = self.arg(offset);
        match part {
            Part::Ref | Part::I32 => Instruction::I32Load(at),
            Part::I8 => Instruction::I32Load8S(at),
            Part::I16 => Instruction::I32Load16S(at),
            Part::I64 => Instruction::I64Load(at),
            Part::F32 => Instruction::F32Load(at),
            Part::F64 => Instruction::F64Load(at),
        }
    }

    /// Reads the byte of a text or of bytes at the place on the stack.
    pub(super) fn load_byte(&self) -> Instruction<'static> {
        Instruction::I32Load8U(self.arg(HEADER))
    }

    /// Reads a value's own word.
    pub(super) fn load_word(&self) -> Instruction<'static> {
        Instruction::I32Load(self.arg(WORD))
    }

    fn store_part(&self, part: Part, offset: u32) -> Instruction<'static> {
        let at = self.arg(offset);
        match part {
            Part::Ref | Part::I32 => Instruction::I32Store(at),
            Part::I8 => Instruction::I32Store8(at),
            Part::I16 => Instruction::I32Store16(at),
            Part::I64 => Instruction::I64Store(at),
            Part::F32 => Instruction::F32Store(at),
            Part::F64 => Instruction::F64Store(at),
        }
    }

    fn new_value(&mut self, parts: &[Part], measure: Option<Measure>) -> (u32, wasm_encoder::Function) {
        let mut params: Vec<ValType> = parts.iter().map(|part| part.val_type()).collect();
        params.push(ValType::I32);
        let (word, made) = (parts.len() as u32, params.len() as u32);
        let ty = self.types.index(params, vec![ValType::I32]);
        let placed = places(parts);
        let mut function = wasm_encoder::Function::new([(1, ValType::I32)]);
        let alloc = self.runtime("alloc");
        function.instruction(&Instruction::I32Const(placed.bytes.cast_signed()));
        function.instruction(&Instruction::I32Const(placed.refs.cast_signed()));
        function.instruction(&Instruction::LocalGet(word));
        function.instruction(&alloc);
        function.instruction(&Instruction::LocalSet(made));
        for ((index, part), offset) in (0u32..).zip(parts).zip(placed.offsets) {
            function.instruction(&Instruction::LocalGet(made));
            function.instruction(&Instruction::LocalGet(index));
            function.instruction(&self.store_part(*part, offset));
        }
        if let Some(measure) = measure {
            let count = self.runtime("made");
            function.instruction(&Instruction::LocalGet(made));
            function.instruction(&Instruction::I32Const(measure.bits().cast_signed()));
            function.instruction(&count);
        }
        function.instruction(&Instruction::LocalGet(made));
        function.instruction(&Instruction::End);
        (ty, function)
    }

    /// What a variable begins with where it is counted what values take. The type has such a value.
    fn zero(&mut self, ty: &Type) -> (u32, wasm_encoder::Function) {
        let signature = self.types.index(Vec::new(), vec![ValType::I32]);
        let mut function = wasm_encoder::Function::new([]);
        let (held, word, measure) = match ty {
            Type::FixedArray(of, length) => {
                let part = Part::of(of).unwrap_or(Part::Ref);
                let length = Instruction::I32Const(length.cast_signed());
                let instructions = match part {
                    Part::Ref => vec![self.zero_part(of), length, self.runtime("repeated")],
                    part => {
                        let shift = Instruction::I32Const(part.shift().cast_signed());
                        vec![length, shift, self.runtime("zeros")]
                    }
                };
                for instruction in instructions.iter().chain([&Instruction::End]) {
                    function.instruction(instruction);
                }
                return (signature, function);
            }
            Type::String | Type::Bytes => (Vec::new(), 0, Measure::Bytes),
            Type::Array(_) => (Vec::new(), 0, Measure::Elements),
            Type::Result(of) => (vec![of.0.clone()], 0, Measure::Parts(1)),
            Type::Box(of) => (vec![Type::clone(of)], 0, Measure::Parts(1)),
            Type::Named(of) => match self.program.type_def(*of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    let fields: Vec<Type> = fields.iter().map(|field| field.ty.clone()).collect();
                    let count = fields.len() as u32;
                    (fields, 0, Measure::Parts(count))
                }
                Some(Shape::Enum(variants)) => {
                    let payload = variants.first().and_then(|first| first.payload.clone());
                    (payload.into_iter().collect(), 0, Measure::Parts(1))
                }
                None => (Vec::new(), 0, Measure::Parts(0)),
            },
            // Of a closure it is known by its place, which is none.
            _ => (Vec::new(), 0, Measure::Parts(u32::from(matches!(ty, Type::Option(_))))),
        };
        for ty in &held {
            function.instruction(&self.zero_part(ty));
        }
        let parts = held.iter().filter_map(Part::of).collect();
        function.instruction(&Instruction::I32Const(word));
        function.instruction(&Instruction::Call(self.brought(Brought::New(parts, Some(measure)))));
        function.instruction(&Instruction::End);
        (signature, function)
    }

    fn zero_part(&mut self, ty: &Type) -> Instruction<'static> {
        match types::value(ty) {
            ValType::I64 => Instruction::I64Const(0),
            ValType::F32 => Instruction::F32Const(Ieee32::new(0)),
            ValType::F64 => Instruction::F64Const(Ieee64::new(0)),
            _ if ty.on_heap() => Instruction::Call(self.brought(Brought::Zero(ty.clone()))),
            _ => Instruction::I32Const(0),
        }
    }

    fn passing(&mut self, of: FuncRef) -> (u32, wasm_encoder::Function) {
        let program = self.program;
        let head = program.function(of).expect("a node names it").head();
        let mut params: Vec<ValType> = head.params.iter().map(|param| types::value(&param.ty)).collect();
        let count = params.len() as u32;
        params.push(ValType::I32);
        let ty = self.types.index(params, types::values(&head.results));
        let mut function = wasm_encoder::Function::new([]);
        for index in 0..count {
            function.instruction(&Instruction::LocalGet(index));
        }
        let index = self.function_index(of);
        function.instruction(&Instruction::Call(index));
        function.instruction(&Instruction::End);
        (ty, function)
    }
}

impl Part {
    pub(super) fn val_type(self) -> ValType {
        match self {
            Part::Ref | Part::I8 | Part::I16 | Part::I32 => ValType::I32,
            Part::I64 => ValType::I64,
            Part::F32 => ValType::F32,
            Part::F64 => ValType::F64,
        }
    }
}
