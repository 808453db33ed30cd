//! What a node does besides computing, as the bound that a function declares.

use crate::entities::EffectBound;
use crate::ops::op::{Attr, Op};
use crate::ops::spec::Effect;
use crate::ops::table::Opcode;
use crate::program::Program;

/// The least bound that allows an operator. Variables of the function are its own business.
pub fn bound_needed(program: &Program, op: &Op) -> EffectBound {
    match (op.spec().effect, op.code()) {
        (Effect::Pure | Effect::Traps | Effect::Control, _)
        | (Effect::Reads, Opcode::VarGet)
        | (Effect::Writes, Opcode::VarSet) => EffectBound::Pure,
        (Effect::Reads, _) => EffectBound::Reads,
        (Effect::Writes | Effect::Io, _) => EffectBound::Any,
        (Effect::Calls, _) => {
            let Attr::Function(callee) = op.attr() else { return EffectBound::Any };
            // A function that does not exist is reported as that.
            program.function(*callee).map_or(EffectBound::Pure, |callee| callee.head().effect_bound)
        }
    }
}
