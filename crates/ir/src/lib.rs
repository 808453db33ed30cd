//! The program graph: what is stored, shown, verified, simulated, exported, diffed and merged.
//!
//! One representation: a tree of regions holding nodes in SSA form, with labelled exits and variable cells, over the
//! numeric and memory semantics of WebAssembly. This crate knows the data, its structure, hashes and text form; it does
//! not know whether a program is right (`verify`), what it does (`interp`) or where it came from (`history`).
//!
//! Read [`refs`], [`types`], [`ops`], [`node`], [`entities`], [`function`], [`program`] and [`change`] in this order;
//! [`draft`] makes a function in one go; [`trie`] and [`order`] are the persistent structures underneath, [`hash`] the canonical form.

pub mod builder;
pub mod change;
mod counted;
pub mod draft;
pub mod entities;
pub mod function;
pub mod graph;
pub mod hash;
pub mod layout;
mod matching;
pub mod node;
pub mod ops;
pub mod order;
mod page;
pub mod program;
pub mod refs;
mod section;
mod storage;
#[cfg(test)]
mod tests;
pub mod text;
pub mod told;
pub mod trie;
pub mod types;
mod users;
pub mod value;

pub use change::{FunctionMut, StructureError};
pub use counted::{counted, miscounted};
pub use entities::{
    Contract, ContractKind, EffectBound, Field, FunctionHead, Import, Module, Name, Param, Region,
    RegionOwner, RegionParam, RegionRole, Shape, TypeDef, Variable, VariantDef, Visibility,
};
pub use function::{Body, Counts, Function};
pub use hash::Hash;
pub use node::{Inputs, Node, NodeContent, Source, Use};
pub use ops::{Attr, Case, Control, Effect, Exit, Match, MemArg, Op, OpSpec, Opcode, Trap};
pub use page::CodePage;
pub use program::{Place, Program, Totals};
pub use refs::{
    ContractRef, FuncRef, MemberRef, ModuleRef, NodeRef, Ref, RefAllocator, RefKind, RegionRef, TypeRef,
    VarRef,
};
pub use section::{ParseSectionPlaceError, Section, SectionPlace};
pub use storage::{Initial, MOST_ENTRIES, Offset, Storage, StorageKind, TableEntry};
pub use types::{Const, Scalar, Signature, Type, Variant};
pub use value::Value;
