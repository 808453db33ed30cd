//! The use cases: where the domain meets time, disk and tasks.
//!
//! One writer per program over a group-committing store, snapshots for readers, the log as the source of events,
//! simulations on bounded threads. It does not know how requests arrive or what answers look like.
//!
//! Read [`timeline`] for the states of one program and how they move, `writing` for what every change has in common,
//! [`edits`], [`undo`], `undone`, [`branches`], [`merging`], [`reverting`], `choosing`, `stale` and [`checkpoints`] for the changes, `opening` and `states` for finding any revision again, [`events`],
//! `feed`, `again` and `sealed`, [`simulate`], [`stream`] and `recall` for what subscribers get, [`ended`] for that in words, `places` for how runs share the processor, `import_room` for how modules that come in share the memory, [`cases`], [`standing`] and `case_runner` for test cases,
//! [`bisect`] and [`comparing`] for answers across revisions, [`flows`] for durable runs, [`entities`] and [`manager`] for what is kept beside programs, [`catalog`] for
//! the programs themselves, `eviction` for which of them are let go, [`backup`] for taking them elsewhere, [`grant`], [`tokens`] and [`keyring`] for what a caller
//! may do.

mod again;
mod ancestry;
mod authors;
pub mod backup;
pub mod bisect;
mod blame;
pub mod branches;
mod case_record;
mod case_runner;
pub mod cases;
pub mod catalog;
pub mod checking;
pub mod checkpoints;
mod choosing;
mod clock;
pub mod comparing;
pub mod config;
pub mod conflict;
pub mod cursor;
pub mod doctor;
pub mod edits;
pub mod ended;
mod engine;
pub mod entities;
mod error;
pub mod events;
mod eviction;
pub mod explaining;
mod feed;
pub mod flows;
mod following;
pub mod grant;
mod import_room;
pub mod importing;
pub mod interactive;
mod kept;
pub mod keyring;
mod live;
mod looks;
pub mod manager;
pub mod merging;
pub mod modules;
mod opening;
pub mod past;
mod places;
mod provenance;
mod recall;
mod records;
pub mod request;
pub mod resolving;
pub mod reverting;
mod sealed;
mod secret;
pub mod simulate;
mod since;
mod snapshots;
mod stale;
pub mod standing;
mod states;
pub mod steps;
pub mod stream;
pub mod tiers;
pub mod timeline;
pub mod tokens;
pub mod tournament;
pub mod undo;
mod undone;
mod values;
mod window;
mod writing;

pub use authors::ChangedNodes;
pub use bisect::{BisectError, Bisected};
pub use branches::{Branch, Branches, MAIN_BRANCH, Made, Tip, no_branch};
pub use cases::{Case, CasePage, NewCase};
pub use catalog::{
    Content, Creation, NewProgramRequest, ProgramInfo, ProgramPage, Selector, Updated, is_of_text, refuses,
};
pub use checkpoints::{Checkpoint, Checkpoints};
pub use choosing::Which;
pub use clock::Clock;
pub use comparing::Comparison;
pub use config::{Limits, SnapshotPolicy};
pub use conflict::{Collision, Conflict};
pub use cursor::{Cursor, UnknownCursor};
pub use doctor::{Ailment, Checkup, Symptom};
pub use edits::{Applied, Finding, Outcome, Proposal, Rebased, Rejected};
pub use ended::{Ended, Spot};
pub use engine::{Engine, OpenProgram};
pub use entities::{EntityFilter, EntityPage, Patched};
pub use error::Error;
pub use events::{Change, Event, Events, Told};
pub use flows::answering::{Answer, AnswerOutcome};
pub use flows::checkup::{RunAilment, RunSymptom};
pub use flows::code::{Accepted, FlowCode, Halt, LetGo};
pub use flows::cursor::{RunCursor, RunPlace, UnknownRunCursor};
pub use flows::listing::{InterruptInfo, Page, RunInfo, RunsWanted, SessionInfo, StepInfo};
pub use flows::metrics::{CallMetrics, ClassMetrics, Metrics, MetricsWanted, ModelMetrics, ToolMetrics};
pub use flows::moving::Moved;
pub use flows::registry::{FLOW_BYTES, Interpreter, Registered};
pub use flows::rewinding::Rewound;
pub use flows::spans::{Finished, Span, Tracer};
pub use flows::starting::{StartRun, StartSession};
pub use flows::told::{RunEventKind, RunEvents, RunTold, RunsOf};
pub use flows::turning::{Turn, Turned};
pub use flows::work::{Effect, Repeat, Teller, Work};
pub use futures_util::future::BoxFuture;
pub use grant::{Grant, Scope, Scopes, Token};
pub use importing::{Given, GivenModule, Watch};
pub use interactive::{
    Action, BreakpointState, BreakpointText, HaltReason, HeldRuns, InteractiveRequest, InteractiveState,
};
pub use keyring::{Denied, Unnamed};
pub use merging::{MergeRequest, Preview};
pub use modules::ModuleOptions;
pub use past::{HistoryPage, HistoryQuery, Place};
pub use request::Call;
pub use resolving::Resolution;
pub use reverting::{RevertRequest, Reverted};
pub use sealed::{Numbering, Sealed, UnknownSealed};
pub use secret::Secret;
pub use simulate::{Bounds, NodesRequest, NodesRun, Report, RunRequest, Simulation, Status};
pub use standing::{CaseRun, CaseStatus, Effort, End, MOST_RUNS, Standing, Stored};
pub use steps::{Steps, WantedSteps};
pub use stream::{Batch, Batching};
pub use tiers::Tier;
pub use timeline::{Head, Revision, Timeline};
pub use tokens::NewToken;
pub use undo::{Arrival, Distance, Travel, Way};
pub use values::Values;

pub use lmlang_store::{CasePlace, Fault, InterruptFilter, InterruptStanding, RunFilter, RunStatus};
pub use lmlang_wasm::Progress;
