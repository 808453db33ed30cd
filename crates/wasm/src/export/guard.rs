//! The guard: contracts are off while one is evaluated, which a global says, where some of them call functions.
//!
//! What traps within a contract leaves it set. So those outside come in by functions that begin anew, by what is exported as
//! well as by a reference to a function, and after a call of theirs it is what it was before, whatever they called and let
//! trap meanwhile. A contract calls nothing by a reference, as its effects are bounded: whoever does is in none.

use std::rc::Rc;

use lmlang_ir::{Effect, FuncRef, Function, FunctionHead, Initial, Program, StorageKind, TableEntry, Type};
use wasm_encoder::{Instruction, ValType};

use super::brought::Brought;
use super::scope::Scope;
use super::{ExportOptions, Writing};

/// The global that tells whether a contract is being evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    /// Its index.
    pub(super) global: u32,
    /// Whether those outside get references to functions, or give some.
    shared: bool,
}

/// A function of the host that is called for the program: its index, how much it takes, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    function: u32,
    takes: u32,
    ty: u32,
}

impl Guard {
    /// What a module needs, with the index that the global is to have.
    pub(super) fn of(program: &Program, scope: &Scope, options: ExportOptions, global: u32) -> Option<Guard> {
        let needed =
            options.contracts && scope.functions(program).any(|(_, function)| contract_calls(function));
        needed.then(|| Guard { global, shared: scope.is_whole() && shares_references(program) })
    }
}

/// Whether a contract of a function calls another one.
fn contract_calls(function: &Function) -> bool {
    let body = function.body();
    let inside = body.within(body.contracts().map(|(_, contract)| contract.region));
    let mut nodes = inside.into_iter().flat_map(|region| body.nodes_in(region));
    nodes.any(|of| body.node(of).is_some_and(|node| node.op().spec().effect == Effect::Calls))
}

/// Whether references to functions come in or go out: by a table or a global, or by what a function takes or gives.
fn shares_references(program: &Program) -> bool {
    let storage = program.all_storage().any(|(_, of)| {
        let holds = match &of.kind {
            StorageKind::Global { ty, .. } | StorageKind::Table { ty, .. } => *ty == Type::FuncRef,
            StorageKind::Memory { .. }
            | StorageKind::Data { .. }
            | StorageKind::Elements { .. }
            | StorageKind::Custom { .. } => false,
        };
        holds && (of.import.is_some() || !of.exports.is_empty())
    });
    let passes = |head: &FunctionHead| {
        let mut types = head.params.iter().map(|param| &param.ty).chain(&head.results);
        (head.import.is_some() || !head.exports.is_empty()) && types.any(|ty| *ty == Type::FuncRef)
    };
    storage || program.functions().any(|(_, function)| passes(function.head()))
}

impl Writing<'_> {
    /// The index that those outside call a function of the program by.
    pub(super) fn entry(&mut self, of: FuncRef, head: &FunctionHead) -> u32 {
        let called = !head.exports.is_empty() || self.options.main == Some(of);
        let own = head.import.is_none() && head.captures.is_empty();
        match self.guard {
            Some(_) if called && own && self.scope.is_whole() => self.brought(Brought::Enter(of)),
            Some(_) | None => self.indices.functions[&of],
        }
    }

    /// The index of what a reference to a function of the program is one to: it may come to those outside.
    pub(super) fn referred(&mut self, of: FuncRef) -> u32 {
        let own = self.program.function(of).is_some_and(|of| of.head().import.is_none());
        match self.guard {
            Some(Guard { shared: true, .. }) if own => self.brought(Brought::Enter(of)),
            Some(_) | None => self.function_index(of),
        }
    }

    /// The index by which a function is called that has one: of the host there is another one for it, after which the guard is
    /// what it was before.
    pub(super) fn called(&mut self, of: FuncRef, index: u32) -> u32 {
        let program = self.program;
        match program.function(of) {
            Some(asked) if self.guard.is_some() && self.scope.is_whole() && asked.head().import.is_some() => {
                let (takes, ty) = (asked.head().params.len() as u32, self.signature(asked));
                self.brought(Brought::Leave(Asked { function: index, takes, ty }))
            }
            Some(_) | None => index,
        }
    }

    /// Asks for what the references are that tables, segments and globals begin with, which stand behind the functions.
    pub(super) fn refer(&mut self) {
        let scope = Rc::clone(&self.scope);
        if self.guard.is_none() || !scope.is_whole() {
            return;
        }
        for (_, storage) in scope.storage(self.program) {
            match &storage.kind {
                StorageKind::Global { initial: Initial::Function(of), .. } => {
                    self.referred(*of);
                }
                StorageKind::Table { entries, .. } | StorageKind::Elements { entries, .. } => {
                    let functions = entries.iter().flatten().copied().filter_map(TableEntry::function);
                    functions.for_each(|of| {
                        self.referred(of);
                    });
                }
                StorageKind::Global { initial: Initial::Const(_) | Initial::Global(_), .. }
                | StorageKind::Memory { .. }
                | StorageKind::Data { .. }
                | StorageKind::Custom { .. } => {}
            }
        }
    }

    /// What comes after a call by a reference, which may be one to a function of the host. Nobody who makes such a call is in
    /// a contract.
    pub(super) fn after_reference(&self) -> Vec<Instruction<'static>> {
        match self.guard {
            Some(Guard { global, shared: true }) => {
                vec![Instruction::I32Const(0), Instruction::GlobalSet(global)]
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// The function that those outside call: whatever trapped before, they are within no contract.
    pub(super) fn entering(&mut self, of: FuncRef) -> (u32, wasm_encoder::Function) {
        let program = self.program;
        let called = program.function(of).expect("it is exported, or a reference is taken of it");
        let ty = self.signature(called);
        let mut function = wasm_encoder::Function::new([]);
        if let Some(guard) = self.guard {
            function.instruction(&Instruction::I32Const(0));
            function.instruction(&Instruction::GlobalSet(guard.global));
        }
        for param in 0..called.head().params.len() as u32 {
            function.instruction(&Instruction::LocalGet(param));
        }
        function.instruction(&Instruction::Call(self.indices.functions[&of]));
        function.instruction(&Instruction::End);
        (ty, function)
    }

    /// The function that calls one of the host, which may call us, and let trap what it called.
    pub(super) fn leaving(&self, of: Asked) -> (u32, wasm_encoder::Function) {
        let before = of.takes;
        let mut function = wasm_encoder::Function::new([(1, ValType::I32)]);
        if let Some(guard) = self.guard {
            function.instruction(&Instruction::GlobalGet(guard.global));
            function.instruction(&Instruction::LocalSet(before));
        }
        for param in 0..of.takes {
            function.instruction(&Instruction::LocalGet(param));
        }
        function.instruction(&Instruction::Call(of.function));
        if let Some(guard) = self.guard {
            function.instruction(&Instruction::LocalGet(before));
            function.instruction(&Instruction::GlobalSet(guard.global));
        }
        function.instruction(&Instruction::End);
        (of.ty, function)
    }
}
