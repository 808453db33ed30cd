//! Instructions as they are read: each goes straight to what takes it in. As values that are handed on they would be copied
//! twice, right behind the writes of their parts, which is slower than reading them.

use wasmparser::{Operator, VisitOperator};

use super::super::ImportError;
use super::Body;
use crate::raw::of_such_a_proposal;

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Step {
    /// It has been taken in.
    Taken,
    /// It is carried as its bytes, which nobody knows before it has been read.
    Carried,
    /// It is not taken in; [`Body::refusal`] says why.
    Refused,
}

impl Body<'_, '_> {
    /// The next instruction begins at a byte.
    pub(in super::super) fn begins_at(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// Why the last instruction is not taken in.
    pub(in super::super) fn refusal(&mut self) -> Option<ImportError> {
        self.refused.take()
    }

    fn step(&mut self, operator: &Operator<'_>) -> Step {
        match self.take(operator, self.offset) {
            Ok(()) => Step::Taken,
            Err(error) => {
                self.refused = Some(error);
                Step::Refused
            }
        }
    }
}

macro_rules! steps {
    ($(@$proposal:ident $op:ident $({ $($argument:ident: $ty:ty),* })? => $visit:ident ($($annotation:tt)*))*) => {$(
        fn $visit(&mut self $($(, $argument: $ty)*)?) -> Step {
            if of_such_a_proposal!($proposal) {
                return Step::Carried;
            }
            self.step(&Operator::$op $({ $($argument),* })?)
        }
    )*};
}

/// Vectors have a visitor of their own; no module has any that is taken in.
impl<'a> VisitOperator<'a> for Body<'_, '_> {
    type Output = Step;

    wasmparser::for_each_visit_operator!(steps);
}
