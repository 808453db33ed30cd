//! What a module says of contracts that do not hold: where one does not, a function is called that does nothing but trap, and
//! whose name says which one it is. Engines show the names of the functions that a trap comes out of.
//!
//! Whether a contract is being evaluated stays what it was when something traps. So those outside enter by functions that
//! begin anew.

use lmlang_ir::{Contract, ContractKind, FuncRef, FunctionHead, Name};
use wasm_encoder::Instruction;

use super::brought::Brought;
use super::{Naming, Writing};

/// Characters of a contract's message that are told.
const MOST: usize = 200;

impl Writing<'_> {
    /// What stands where a contract of a function does not hold. Of what nobody else runs, the interpreter says more; of a
    /// function alone, the text is read.
    pub(super) fn breaks(&mut self, of: FuncRef, contract: &Contract) -> Instruction<'static> {
        if self.meter.is_some() || self.bringing.inside || !self.scope.is_whole() {
            return Instruction::Unreachable;
        }
        let kind = match contract.kind {
            ContractKind::Require => "require",
            ContractKind::Ensure => "ensure",
            ContractKind::Invariant => "invariant",
        };
        let plain = |char: char| if char.is_control() { ' ' } else { char };
        let message: String = contract.message.chars().take(MOST).map(plain).collect();
        let path = self.program.path(of.into());
        let name = format!("{kind} `{message}` of {path} does not hold");
        Instruction::Call(self.brought(Brought::Broken(name.into())))
    }

    /// The function that traps.
    pub(super) fn broken(
        &mut self,
        index: u32,
        name: &Name,
        names: &mut Naming,
    ) -> (u32, wasm_encoder::Function) {
        names.functions.push((index, Name::clone(name)));
        let ty = self.types.index(Vec::new(), Vec::new());
        let mut function = wasm_encoder::Function::new([]);
        function.instruction(&Instruction::Unreachable);
        function.instruction(&Instruction::End);
        (ty, function)
    }

    /// The index that those outside call a function of the program by.
    pub(super) fn entry(&mut self, of: FuncRef, head: &FunctionHead) -> u32 {
        let called = !head.exports.is_empty() || self.options.main == Some(of);
        let own = head.import.is_none() && head.captures.is_empty();
        match self.guard {
            Some(_) if called && own && self.scope.is_whole() => self.brought(Brought::Enter(of)),
            Some(_) | None => self.indices.functions[&of],
        }
    }

    /// The function that those outside call: whatever trapped before, they are within no contract.
    pub(super) fn entering(&mut self, of: FuncRef) -> (u32, wasm_encoder::Function) {
        let program = self.program;
        let called = program.function(of).expect("it is exported");
        let ty = self.signature(called);
        let mut function = wasm_encoder::Function::new([]);
        if let Some(guard) = self.guard {
            function.instruction(&Instruction::I32Const(0));
            function.instruction(&Instruction::GlobalSet(guard));
        }
        for param in 0..called.head().params.len() as u32 {
            function.instruction(&Instruction::LocalGet(param));
        }
        function.instruction(&Instruction::Call(self.indices.functions[&of]));
        function.instruction(&Instruction::End);
        (ty, function)
    }
}
