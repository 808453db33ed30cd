//! Keeps the logs, objects and snapshots of programs in a database.
//!
//! Everything that happens to a program is one row of one table, the log; an acknowledged row is on the disk. All
//! writing goes through one connection that the [`Committer`] owns, or through another one while that has nothing to do; reading goes
//! through a small pool. The store speaks
//! in rows: edits, counts and trie chunks are opaque bytes to it. It must not know what a program means, nor what time
//! it is.
//!
//! Read in this order: [`Store`] (opening, closing, the lock, whether a file is where it was), [`Entry`] and [`Committer`]
//! (the write path), then one file per subject: programs, log, packs, feed, objects, snapshots, simulations, cases,
//! tokens, secrets, runs, beginning, claims, journal, run_snapshots, interrupts, sessions, removals, entities, entity_values, moment,
//! manager, flow_changes, doctor, backup.

mod actors;
mod appending;
mod aside;
pub mod backup;
mod beginning;
mod case_results;
mod cases;
mod claims;
mod committer;
mod doctor;
mod entities;
mod entity;
mod entity_values;
mod entry;
mod fault;
mod faults;
mod feed;
mod flow_changes;
mod folder;
mod hold;
mod interrupts;
mod jobs;
mod journal;
mod location;
mod lock;
mod log;
mod look_requests;
mod lookup;
mod manager;
mod moment;
mod objects;
mod open;
mod packing;
mod packs;
mod place;
mod postgres;
mod pragmas;
mod program_changes;
mod program_requests;
mod programs;
mod queue;
mod reader;
mod removals;
mod run_snapshots;
mod runs;
mod secrets;
mod sessions;
mod simulations;
mod snapshots;
mod sql;
mod sqlite;
mod store;
mod tls;
mod tokens;
mod writer;

pub use actors::{Actor, ActorKey, ActorKind};
pub use beginning::{BeginError, NewRun};
pub use case_results::{CaseResult, Sighting};
pub use cases::{Case, CasePlace, CreateCaseError};
pub use committer::{Append, CommitError, Committed, Committer, Ticket};
pub use doctor::{Finding, References, Report};
pub use entities::{
    ChangeEntitiesError, EntitiesThen, EntityChange, EntityCounts, EntityRow, NewEntityChange, RelationEnd,
    RelationRow,
};
pub use entity_values::ValueDigest;
pub use entry::{Entry, EntryKind, FIRST_SEQ, Header, Idempotency, Origin, ProgramKey, Timestamp};
pub use fault::Fault;
pub use faults::{Action, Faults, Step};
pub use feed::{Bound, Happened, Position, What};
pub use flow_changes::{ChangeFlowsError, FlowChange};
pub use folder::{folder_of, sync_folder};
pub use hold::Hold;
pub use interrupts::{Interrupt, InterruptChange, InterruptFilter, InterruptStanding};
pub use journal::{JournalAppend, JournalEntry, JournalError, JournalsOf};
pub use location::{Location, PostgresUrl, UnknownLocation};
pub use lock::Holder;
pub use log::{HistoryFilter, Stretch, Tail};
pub use look_requests::Answered;
pub use manager::{ChangeManagerError, ManagerChange, ManagerRecord};
pub use objects::{Object, ObjectHash};
pub use open::OpenError;
pub use program_changes::{ProgramChange, ProgramChangeKind};
pub use program_requests::{CarriedOut, ProgramRequest};
pub use programs::{CreateProgramError, NewProgram, Program, ProgramPage, UpdateProgramError};
pub use removals::Removed;
pub use run_snapshots::RunSnapshot;
pub use runs::{FlowDefinition, Run, RunFilter, RunStanding, RunStatus};
pub use sessions::Session;
pub use simulations::{Most, Simulation};
pub use snapshots::Snapshot;
pub use store::{Options, Store};
pub use tls::TlsRequestError;
pub use tokens::{CreateTokenError, Token};
