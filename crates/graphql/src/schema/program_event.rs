//! Events as clients see them.

use std::sync::Arc;

use async_graphql::{Context, ID, Interface, Object};
use chrono::{DateTime, Utc};
use lmlang_engine::{self as engine, Cursor, Engine, Event, OpenProgram};
use lmlang_history::log::{Entry, RevisionKind as Kind};
use lmlang_ir::Ref;

use crate::direct::{Direct, Rows, Selected, Writer, leaf, maybe, object};
use crate::error::ApiError;
use crate::schema::diff::{ChangeKind, ProgramDiff};
use crate::schema::failure::fail;
use crate::schema::outcome::ProposeEditOutcome;
use crate::schema::provenance::Actor;
use crate::schema::revision::{Revision, moment};
use crate::schema::scalars::Text;
use crate::schema::view::{View, not_found};

/// What happened to a program.
#[derive(Clone, Interface)]
#[graphql(
    field(name = "cursor", ty = "String", desc = "Where to resume after this event."),
    field(name = "at", ty = "DateTime<Utc>", desc = "When."),
    field(name = "program_id", ty = "ID", desc = "The program."),
    field(name = "actor", ty = "Option<Actor>", desc = "Who did it.")
)]
pub enum ProgramEvent {
    /// The content changed.
    Committed(RevisionCommitted),
    /// A change set was refused.
    Refused(EditRefused),
    /// The program was renamed or deleted.
    Changed(ProgramChanged),
    /// A checkpoint was made or removed.
    Checkpoint(CheckpointChanged),
    /// A branch was made or removed.
    Branch(BranchChanged),
    /// Something was left out.
    Gap(EventGap),
}

/// The most refs in one event.
const TOUCHED: usize = 500;

/// The content changed.
#[derive(Clone)]
pub struct RevisionCommitted {
    told: Told,
    /// Before and after it.
    states: Option<(View, View)>,
    entry: Arc<Entry>,
}

/// The content changed: a revision was appended.
#[Object]
impl RevisionCommitted {
    /// Where to resume after this event.
    pub async fn cursor(&self) -> String {
        self.told.cursor.clone()
    }

    /// When.
    pub async fn at(&self) -> DateTime<Utc> {
        self.told.at
    }

    /// The program.
    pub async fn program_id(&self) -> ID {
        self.told.program_id.clone()
    }

    /// Who did it.
    pub async fn actor(&self) -> Option<Actor> {
        self.told.actor.clone()
    }

    /// The revision.
    async fn revision(&self) -> Revision {
        let (_, after) = asked_for(self.states.as_ref());
        Revision::new(after, self.entry.header.clone())
    }

    /// What differs from the revision before.
    async fn diff(&self) -> ProgramDiff {
        let (before, after) = asked_for(self.states.as_ref());
        ProgramDiff::new(before.clone(), after.clone()).await
    }

    /// Refs of the entities that its edits made, changed or removed, by number. A function that comes or goes stands there
    /// alone: what is in it, `revision { touched }` lists too.
    async fn touched(&self) -> Rows<Text> {
        touched(&self.entry).into_iter().take(TOUCHED).map(|of| of.to_string()).collect()
    }

    /// Whether refs were left out.
    async fn touched_truncated(&self) -> bool {
        touched(&self.entry).len() > TOUCHED
    }
}

/// Without what is looked up.
impl Direct for RevisionCommitted {
    fn writer(selected: Selected<'_>) -> Option<Writer<RevisionCommitted>> {
        object(selected, &["RevisionCommitted", "ProgramEvent"], |name, inner| match name {
            "cursor" => leaf(|event: &RevisionCommitted, out| out.text(&event.told.cursor)),
            "at" => leaf(|event: &RevisionCommitted, out| out.text(&event.told.at.to_rfc3339())),
            "programId" => leaf(|event: &RevisionCommitted, out| out.text(&event.told.program_id)),
            "actor" => maybe(inner, |event: &RevisionCommitted| event.told.actor.clone()),
            "touched" => leaf(|event: &RevisionCommitted, out| {
                let touched = touched(&event.entry).into_iter().take(TOUCHED);
                out.texts(&touched.map(|of| of.to_string()).collect::<Vec<_>>());
            }),
            "touchedTruncated" => leaf(|event: &RevisionCommitted, out| {
                out.number(touched(&event.entry).len() > TOUCHED);
            }),
            _ => None,
        })
    }
}

/// Edits are what many are told of; the others are rare.
impl Direct for ProgramEvent {
    fn writer(selected: Selected<'_>) -> Option<Writer<ProgramEvent>> {
        let committed = RevisionCommitted::writer(selected)?;
        Some(Box::new(move |event, out| match event {
            ProgramEvent::Committed(event) => committed(event, out),
            ProgramEvent::Refused(_)
            | ProgramEvent::Changed(_)
            | ProgramEvent::Checkpoint(_)
            | ProgramEvent::Branch(_)
            | ProgramEvent::Gap(_) => out.give_up(),
        }))
    }
}

fn touched(entry: &Entry) -> Vec<Ref> {
    let mut refs: Vec<Ref> = entry.edits.iter().map(lmlang_history::Edit::subject).collect();
    refs.sort_unstable();
    refs.dedup();
    refs
}

/// What every event says.
#[derive(Clone)]
struct Told {
    cursor: String,
    at: DateTime<Utc>,
    program_id: ID,
    actor: Option<Actor>,
}

/// Defines an event that consists of what every event says and of some fields.
macro_rules! event {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $ty:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone)]
        pub struct $name {
            told: Told,
            $($field: $ty,)*
        }

        $(#[doc = $doc])*
        #[Object]
        impl $name {
            /// Where to resume after this event.
            pub async fn cursor(&self) -> String {
                self.told.cursor.clone()
            }

            /// When.
            pub async fn at(&self) -> DateTime<Utc> {
                self.told.at
            }

            /// The program.
            pub async fn program_id(&self) -> ID {
                self.told.program_id.clone()
            }

            /// Who did it; null where it is not recorded.
            pub async fn actor(&self) -> Option<Actor> {
                self.told.actor.clone()
            }

            $($(#[doc = $field_doc])*
            async fn $field(&self) -> $ty {
                self.$field.clone()
            })*
        }
    };
}

/// A change set was refused.
#[derive(Clone)]
pub struct EditRefused {
    told: Told,
    outcome: Option<ProposeEditOutcome>,
    edits: usize,
}

/// A change set was refused; told to those who listen at that moment.
#[Object]
impl EditRefused {
    /// Where to resume after this event.
    pub async fn cursor(&self) -> String {
        self.told.cursor.clone()
    }

    /// When.
    pub async fn at(&self) -> DateTime<Utc> {
        self.told.at
    }

    /// The program.
    pub async fn program_id(&self) -> ID {
        self.told.program_id.clone()
    }

    /// Who asked for it.
    pub async fn actor(&self) -> Option<Actor> {
        self.told.actor.clone()
    }

    /// Why it was refused.
    async fn outcome(&self) -> ProposeEditOutcome {
        asked_for(self.outcome.as_ref()).clone()
    }

    /// How many edits it had.
    async fn edit_count(&self) -> i32 {
        i32::try_from(self.edits).unwrap_or(i32::MAX)
    }
}

event! {
    /// A program was made, renamed or deleted.
    ProgramChanged {
        /// Its name after that.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// A checkpoint was made or removed.
    CheckpointChanged {
        /// Its name.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// A branch was made or removed.
    BranchChanged {
        /// Its name.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// The reader fell behind: re-read, then go on from `cursor`.
    EventGap {
        /// The first event that is left out.
        from: String,
        /// The last event that is left out.
        to: String,
    }
}

/// What a subscription asks of its events beyond what they hold. The rest is not looked up: an event of a program that
/// nobody has open costs little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    states: bool,
    outcome: bool,
}

impl Asked {
    /// What is selected below the field that is resolved.
    pub(crate) fn in_selection(context: &Context<'_>) -> Asked {
        let below = context.look_ahead();
        let asked = |name| below.field(name).exists();
        Asked { states: asked("revision") || asked("diff"), outcome: asked("outcome") }
    }
}

/// What a resolver needs and the event was made with.
fn asked_for<T>(found: Option<&T>) -> &T {
    found.expect("what is selected was looked up when the event was made")
}

/// The states before and after an entry.
pub(crate) async fn states(
    engine: &Engine,
    open: &engine::OpenProgram,
    entry: &Arc<Entry>,
) -> std::result::Result<(View, View), ApiError> {
    // The log is read as it is stored, before whoever has the program open hears of it.
    engine.come_to(open, entry.number).await.map_err(fail)?;
    let state = async |number: u64| {
        let revision = engine.state(open, number).await.map_err(fail)?;
        let revision = revision.ok_or_else(|| not_found("revision", &format!("r{number}")))?;
        Ok::<_, ApiError>(View::pinned(engine, open.clone(), revision))
    };
    let after = state(entry.number).await?;
    let before = match entry.parents.first() {
        Some(parent) => state(*parent).await?,
        None => after.clone(),
    };
    Ok((before, after))
}

/// An event as clients see it; `open` is its program where somebody holds it open.
pub(crate) async fn shown(
    engine: &Engine,
    open: Option<&OpenProgram>,
    asked: Asked,
    told: engine::Told,
) -> std::result::Result<ProgramEvent, ApiError> {
    let engine::Told { cursor, program, event } = told;
    let told = |at, actor: Option<&lmlang_history::log::Actor>| Told {
        cursor: cursor.to_string(),
        at,
        program_id: program.into(),
        actor: actor.map(Actor::from),
    };
    let open = async || match open {
        Some(open) => Ok(open.clone()),
        None => Box::pin(engine.find_recorded(program)).await.map_err(fail),
    };
    Ok(match event {
        Event::Entry(entry) => {
            let told = told(moment(entry.time), Some(&entry.actor));
            let change = if entry.target.is_some() { ChangeKind::Added } else { ChangeKind::Removed };
            let name = entry.name.clone().unwrap_or_default();
            match entry.kind {
                Kind::Checkpoint => ProgramEvent::Checkpoint(CheckpointChanged { told, name, change }),
                Kind::Branch => ProgramEvent::Branch(BranchChanged { told, name, change }),
                Kind::Create
                | Kind::Edit
                | Kind::Undo
                | Kind::Redo
                | Kind::Revert
                | Kind::Restore
                | Kind::Merge
                | Kind::Import => {
                    let states = match asked.states {
                        // Apart: a subscription has room for what each of its events waits for, and most wait for nothing.
                        true => Some(Box::pin(states(engine, &open().await?, &entry)).await?),
                        false => None,
                    };
                    ProgramEvent::Committed(RevisionCommitted { told, states, entry })
                }
            }
        }
        Event::Refused { actor, outcome, edits, branch: _ } => {
            let outcome = match asked.outcome {
                true => Some(ProposeEditOutcome::new(engine, &open().await?, (*outcome).clone())),
                false => None,
            };
            ProgramEvent::Refused(EditRefused { told: told(Utc::now(), Some(&actor)), outcome, edits })
        }
        Event::Program { name, change, time } => ProgramEvent::Changed(ProgramChanged {
            told: told(moment(time), None),
            name,
            change: match change {
                engine::Change::Added => ChangeKind::Added,
                engine::Change::Removed => ChangeKind::Removed,
                engine::Change::Modified => ChangeKind::Modified,
                engine::Change::Renamed => ChangeKind::Renamed,
            },
        }),
        Event::Gap { from, to } => ProgramEvent::Gap(EventGap {
            told: told(Utc::now(), None),
            from: Cursor::Program(from).to_string(),
            to: Cursor::Program(to).to_string(),
        }),
    })
}
