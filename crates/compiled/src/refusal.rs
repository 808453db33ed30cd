//! Why a function is not compiled.

use lmlang_ir::{FuncRef, Type};
use lmlang_wasm::ExportError;
use thiserror::Error;

/// Nodes that are compiled at once. Nothing can end it on the way.
pub(crate) const MOST_NODES: u64 = 1 << 19;

/// Places where control parts or joins, for each value that is kept past them: each takes some hundred bytes meanwhile.
pub(crate) const MOST_KEPT: u64 = 1 << 23;

/// Values that regions change or give, for each region around them. Real modules have a third of that; so much takes seconds.
pub(crate) const MOST_NESTED: u64 = 1 << 24;

/// Why a function is not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It, or what it reaches, is not complete, or has what compiled code cannot have.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// There is no such function, or it is called with something that only closures have.
    #[error("`{0}` cannot be called from outside")]
    NotCallable(FuncRef),
    /// A parameter or result is a reference or a closure, which has no meaning outside.
    #[error("`{path}` takes or returns a `{ty}`")]
    Reference {
        /// The function's path.
        path: String,
        /// The type.
        ty: Type,
    },
    /// What it reaches has a reference that a host makes, and the compiler none of these.
    #[error("`{path}` has an `externref`")]
    OfHost {
        /// The path of what has it.
        path: String,
    },
    /// It is larger, with all that it reaches, than what is compiled while somebody waits.
    #[error("`{path}` reaches {nodes} nodes, and no more than {MOST_NODES} are compiled")]
    TooLarge {
        /// The function's path.
        path: String,
        /// Nodes of what it reaches.
        nodes: u64,
    },
    /// It, or what it reaches, keeps more values beside more branches than what is compiled while somebody waits.
    #[error(
        "`{path}` reaches code that keeps values past {kept} places where control parts or joins, and no more than {MOST_KEPT} \
         are compiled"
    )]
    Keeps {
        /// The function's path.
        path: String,
        /// Those places, for each value.
        kept: u64,
    },
    /// It, or what it reaches, changes more values deeper inside of blocks than what is compiled while somebody waits.
    #[error(
        "`{path}` reaches code that changes {nested} values in blocks, each counted once for every block around, and no more \
         than {MOST_NESTED} are compiled"
    )]
    Nests {
        /// The function's path.
        path: String,
        /// Those values.
        nested: u64,
    },
    /// The compiler does not take it, or there is none for this machine.
    #[error("the compiler refuses: {0}")]
    Compiler(String),
}
