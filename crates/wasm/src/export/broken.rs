//! What a module says of contracts that do not hold: where one does not, a function is called that does nothing but trap, and
//! whose name says which one it is. Engines show the names of the functions that a trap comes out of.

use lmlang_ir::{Contract, ContractKind, FuncRef, Name};
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
}
