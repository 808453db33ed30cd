//! Verification: what is wrong with a program, and the proofs that something is right.
//!
//! [`full`] looks at everything, [`local`] at what changed between two revisions and what depends on it; both find the
//! same. Verification is total: it takes any program that `ir::change` can make, finds everything at once, and neither
//! fails nor panics. It knows nothing of edits, revisions or runs.
//!
//! The rules, each a file under `rules/`; every [`Code`] has a page with meaning, example and repair:
//!
//! * V1 sources exist and types match exactly; V2 they are in scope (`sources`)
//! * V3 each region ends in exactly one terminator (`regions`, `flow`, `exits`)
//! * V4 exits name an enclosing node, `continue` a loop, values match (`exits`, `sources`)
//! * V5 arity, regions and attributes match the op table (`sources`, `regions`, `mentions`)
//! * V6 variables belong to the function, storage is of the right kind (`mentions`, `variables`); where it is asked for,
//!   variables are assigned before they are read (`unassigned`)
//! * V7 calls match the callee, visibility is enforced (`mentions`, `modules`)
//! * V8 `match` is exhaustive and disjoint (`matches`)
//! * V9 memory exists, widths, alignment and layouts fit (`memory`, `storage`, `types`)
//! * V10 regions and modules are trees (`regions`, `contracts`, `modules`)
//! * V11 names and exports are unique, the start function is `() -> ()` (`modules`, `functions`, `storage`)
//! * V12 contracts are boolean, effects stay within bounds (`sources`, `effects`)
//! * V13 types are well-founded, and what begins with the zero of a type has one (`types`)
//! * warnings: unused values, unreachable code, unread variables, wide bounds (`unused`, `flow`, `variables`, `functions`)
//!
//! A finding hangs on one entity, and its rule reads that entity and a bounded neighbourhood, so that [`local`] can tell
//! from a change which entities to look at again. Read [`code`] and [`diagnostic`], then `rules`, `view` (what rules ask
//! about a function, with `layout` as the fast way), `full` and `local`, [`Checked`] for the proofs, and
//! [`disagreements`] for what a merge brought about.

mod checked;
pub mod code;
mod consequences;
pub mod diagnostic;
mod findings;
mod fixes;
mod full;
mod layout;
mod local;
mod merged;
mod message;
mod ports;
mod rules;
mod unassigned;
mod view;

pub use checked::{Checked, Complete, Verified};
pub use code::{Class, Code, Severity, UnknownCode};
pub use consequences::Consequences;
pub use diagnostic::{Diagnostic, Fact, Identity, Location};
pub use findings::{Delta, Findings, Key, Tally};
pub use fixes::{Fix, Step, fixes};
pub use full::{full, full_on};
pub use local::{Affected, affected, local};
pub use merged::disagreements;
pub use unassigned::unassigned;
