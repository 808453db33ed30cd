//! Why a function cannot be checked at all.

use lmlang_interp::{Fault, StartError};
use lmlang_ir::{FuncRef, Program, Type};
use lmlang_verify::Checked;
use thiserror::Error;

use crate::branches::callees;
use crate::generate::Source;
use crate::pool::Pool;
use crate::shapes::{NoValue, Shapes};

/// Why a function is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// There is no such function.
    #[error("there is no function `{0}`")]
    NoFunction(FuncRef),
    /// Only the host has it.
    #[error("`{0}` is a function that only the host has")]
    Imported(FuncRef),
    /// Only closures that are made from it can be called.
    #[error("`{0}` captures values: only closures made from it can be called")]
    Captures(FuncRef),
    /// It has errors.
    #[error("`{0}` has errors")]
    NotVerified(FuncRef),
    /// There are no values for a parameter.
    #[error("parameter {index}: {why}")]
    Parameter {
        /// Its position.
        index: usize,
        /// Why not.
        why: NoValue,
    },
    /// The function takes other parameters in the other program, or types of theirs are others there.
    #[error("`{0}` does not take the same arguments in both programs")]
    OtherParameters(FuncRef),
    /// A run does not begin.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl Refusal {
    /// Why, in words, in the program of the function: of one that only the host has, what is asked of the host.
    pub fn message(&self, program: &Program) -> String {
        match self {
            Refusal::Imported(function) => Fault::Imported(*function).message(program),
            Refusal::NoFunction(_)
            | Refusal::Captures(_)
            | Refusal::NotVerified(_)
            | Refusal::Parameter { .. }
            | Refusal::OtherParameters(_)
            | Refusal::Start(_) => self.to_string(),
        }
    }
}

/// Functions whose constants are collected.
const MOST_FUNCTIONS: usize = 200;

/// What inputs of a function are made from, and its parameters.
pub(crate) fn source(checked: &Checked, function: FuncRef) -> Result<(Source, Vec<Type>), Refusal> {
    let program = checked.program();
    let found = program.function(function).ok_or(Refusal::NoFunction(function))?;
    let head = found.head();
    if head.import.is_some() {
        return Err(Refusal::Imported(function));
    }
    if !head.captures.is_empty() {
        return Err(Refusal::Captures(function));
    }
    if checked.function(function).is_none() {
        return Err(Refusal::NotVerified(function));
    }
    let types: Vec<Type> = head.params.iter().map(|param| param.ty.clone()).collect();
    for (index, ty) in types.iter().enumerate() {
        Shapes::of(program, [ty]).map_err(|why| Refusal::Parameter { index, why })?;
    }
    let shapes = Shapes::of(program, &types).map_err(|why| Refusal::Parameter { index: 0, why })?;
    let pool = Pool::of(program, &callees(checked, function, MOST_FUNCTIONS));
    Ok((Source { shapes, pool }, types))
}
