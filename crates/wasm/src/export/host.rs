//! What modules that count ask of the world outside: one function of the host for each operator.

use lmlang_ir::Opcode;
use wasm_encoder::{EntityType, ImportSection, Instruction, ValType};

use super::Writing;
use super::scope::Scope;

/// An operator on the world outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    Print,
    ReadLine,
    FileOpen,
    FileRead,
    FileWrite,
    FileClose,
}

impl Asked {
    const ALL: [Asked; 6] =
        [Asked::Print, Asked::ReadLine, Asked::FileOpen, Asked::FileRead, Asked::FileWrite, Asked::FileClose];

    pub(super) fn of(code: Opcode) -> Option<Asked> {
        Some(match code {
            Opcode::Print => Asked::Print,
            Opcode::ReadLine => Asked::ReadLine,
            Opcode::FileOpen => Asked::FileOpen,
            Opcode::FileRead => Asked::FileRead,
            Opcode::FileWrite => Asked::FileWrite,
            Opcode::FileClose => Asked::FileClose,
            _ => return None,
        })
    }

    /// What functions need, in order.
    pub(super) fn by(program: &lmlang_ir::Program, scope: &Scope) -> Vec<Asked> {
        let nodes = scope.functions(program).flat_map(|(_, function)| function.body().nodes());
        let found: Vec<Asked> = nodes.filter_map(|(_, node)| Asked::of(node.op().code())).collect();
        Asked::ALL.into_iter().filter(|asked| found.contains(asked)).collect()
    }

    /// The function of the runtime, and of the host where the module counts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Asked::Print => "print",
            Asked::ReadLine => "read_line",
            Asked::FileOpen => "open_file",
            Asked::FileRead => "read_file",
            Asked::FileWrite => "write_file",
            Asked::FileClose => "close_file",
        }
    }

    /// How many words it takes, and whether it gives one.
    fn shape(self) -> (usize, bool) {
        match self {
            Asked::Print | Asked::FileClose => (1, false),
            Asked::ReadLine => (0, true),
            Asked::FileOpen | Asked::FileRead | Asked::FileWrite => (2, true),
        }
    }
}

impl Writing<'_> {
    /// Calls what does an operator on the world outside.
    pub(super) fn ask(&mut self, asked: Asked) -> Instruction<'static> {
        match self.bringing.asked.get(&asked) {
            Some(index) => Instruction::Call(*index),
            None => self.runtime(asked.name()),
        }
    }

    /// Imports what the host does in a module that counts.
    pub(super) fn meet_outside(&mut self, module: &str, imports: &mut ImportSection) {
        // In the order of their indices.
        let asked: Vec<Asked> = self.bringing.asked.keys().copied().collect();
        for asked in asked {
            let (takes, gives) = asked.shape();
            let results = if gives { vec![ValType::I32] } else { Vec::new() };
            let ty = self.types.index(vec![ValType::I32; takes], results);
            imports.import(module, asked.name(), EntityType::Function(ty));
        }
    }
}
