//! Entries of a program's log: the revisions.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use lmlang_ir::{Hash, Ref};

use crate::diff::ChangeCounts;
use crate::edit::Edit;
use crate::rest::Rest;

/// What an entry did to its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RevisionKind {
    /// Made the program.
    Create,
    /// Changed it by a change set.
    Edit,
    /// Went back along the line of its branch.
    Undo,
    /// Went forward again.
    Redo,
    /// Took chosen entries back and kept later work.
    Revert,
    /// Went back to a checkpoint.
    Restore,
    /// Brought another branch in.
    Merge,
    /// Brought content in from outside.
    Import,
    /// Made, moved or removed a checkpoint.
    Checkpoint,
    /// Made, moved or removed a branch.
    Branch,
}

impl RevisionKind {
    /// All kinds, in the order of the declaration.
    pub const ALL: [RevisionKind; 10] = [
        RevisionKind::Create,
        RevisionKind::Edit,
        RevisionKind::Undo,
        RevisionKind::Redo,
        RevisionKind::Revert,
        RevisionKind::Restore,
        RevisionKind::Merge,
        RevisionKind::Import,
        RevisionKind::Checkpoint,
        RevisionKind::Branch,
    ];

    /// Tells whether an entry of this kind makes a state that undo can go back to.
    pub fn makes_state(self) -> bool {
        match self {
            RevisionKind::Create
            | RevisionKind::Edit
            | RevisionKind::Revert
            | RevisionKind::Restore
            | RevisionKind::Merge
            | RevisionKind::Import => true,
            RevisionKind::Undo | RevisionKind::Redo | RevisionKind::Checkpoint | RevisionKind::Branch => {
                false
            }
        }
    }

    /// Tells whether an entry of this kind goes back or forward to what its branch was.
    pub fn goes_along_line(self) -> bool {
        match self {
            RevisionKind::Undo | RevisionKind::Redo => true,
            RevisionKind::Create
            | RevisionKind::Edit
            | RevisionKind::Revert
            | RevisionKind::Restore
            | RevisionKind::Merge
            | RevisionKind::Import
            | RevisionKind::Checkpoint
            | RevisionKind::Branch => false,
        }
    }

    /// Tells whether the state of an entry of this kind is that of its target.
    pub fn takes_target_state(self) -> bool {
        match self {
            RevisionKind::Undo | RevisionKind::Redo | RevisionKind::Restore => true,
            RevisionKind::Create
            | RevisionKind::Edit
            | RevisionKind::Revert
            | RevisionKind::Merge
            | RevisionKind::Import
            | RevisionKind::Checkpoint
            | RevisionKind::Branch => false,
        }
    }
}

/// What kind of caller an author is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActorKind {
    /// A person.
    Human,
    /// A model.
    Agent,
    /// A program of someone else's.
    Tool,
    /// A flow of ours.
    Flow,
    /// The server itself.
    System,
}

impl ActorKind {
    /// All kinds, in the order of the declaration.
    pub const ALL: [ActorKind; 5] =
        [ActorKind::Human, ActorKind::Agent, ActorKind::Tool, ActorKind::Flow, ActorKind::System];
}

/// Who made an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor {
    /// The name under which the caller is known.
    pub name: String,
    /// What kind of caller.
    pub kind: ActorKind,
    /// The program that the caller used, as it named itself.
    pub client: Option<String>,
}

impl Actor {
    /// Bytes of a name at most.
    pub const NAME_BYTES: usize = 200;

    /// Tells whether something may be recorded under a name: one line, with something on it, of
    /// [`NAME_BYTES`](Actor::NAME_BYTES) at most.
    pub fn is_name(name: &str) -> bool {
        !name.trim().is_empty() && name.len() <= Actor::NAME_BYTES && !name.chars().any(char::is_control)
    }
}

/// The key by which a caller names a request, and what the request said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The caller's key.
    pub key: Vec<u8>,
    /// A digest of the request, to tell a retry from another request under the same key.
    pub digest: [u8; 32],
}

/// The flow's run and step that made an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The run's uuid.
    pub run: [u8; 16],
    /// The step's number in the run.
    pub step: u64,
}

/// What an entry of a program's log says beside its edits: who did what to the program, and when.
///
/// It is short however much was edited, so that a log can be looked through without reading what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Its place in the log, from 1 on, without gaps.
    pub number: u64,
    /// Its own uuid: tells whether a write whose answer was lost has happened.
    pub id: [u8; 16],
    /// Numbers of the entries whose states this one builds on.
    pub parents: Vec<u64>,
    /// Number of the branch that it is on.
    pub branch: u32,
    /// The name of that branch; nothing for `main`.
    pub branch_name: Option<String>,
    /// What it did.
    pub kind: RevisionKind,
    /// Who did it.
    pub actor: Actor,
    /// For whom, if not for themselves.
    pub on_behalf_of: Option<String>,
    /// Why, in the author's words.
    pub message: Option<String>,
    /// Microseconds since the start of 1970, UTC.
    pub time: i64,
    /// How much the edits change.
    pub counts: ChangeCounts,
    /// The hash of the state after it.
    pub root_hash: Hash,
    /// The first ref number that was never handed out, on any branch.
    pub next_ref: u64,
    /// What an undo, redo, revert or restore went back to, by number; for an undo and a redo the entry that made the
    /// state. A checkpoint's or branch's entry: the revision that it names, `None` if it was removed.
    pub target: Option<u64>,
    /// The entries that a revert was asked to take back.
    pub reverts: Vec<u64>,
    /// The entries that had to go with them.
    pub also_reverts: Vec<u64>,
    /// Of a merge, what the edits of resolutions made or changed: neither side has it.
    pub resolved: Vec<Ref>,
    /// What the edits rest on beyond what they say.
    pub rests: Vec<Rest>,
    /// The name that a checkpoint's or branch's entry is about.
    pub name: Option<String>,
    /// What the request called the things that it made, so that its repetition is answered alike.
    pub names: Vec<(String, Ref)>,
    /// The request's idempotency key.
    pub idempotency: Option<Idempotency>,
    /// The flow that made it.
    pub origin: Option<Origin>,
}

impl Header {
    /// All entries that a revert takes back.
    pub fn taken_back(&self) -> impl Iterator<Item = u64> + '_ {
        self.reverts.iter().chain(&self.also_reverts).copied()
    }
}

/// One entry of a program's log: a revision. Reads like its header.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// All but the edits.
    pub header: Arc<Header>,
    /// What turns the state of the first parent into this one's.
    pub edits: Vec<Edit>,
}

impl Entry {
    /// An entry of its parts.
    pub fn new(header: Header, edits: Vec<Edit>) -> Entry {
        Entry { header: Arc::new(header), edits }
    }

    /// What was made, in order, with the names that the request gave: what the edits add, then what has a name inside of
    /// that.
    pub fn created(&self) -> Vec<(Option<String>, Ref)> {
        let mut names: BTreeMap<Ref, &String> = self.names.iter().map(|(name, of)| (*of, name)).collect();
        let added = self.edits.iter().filter(|edit| edit.adds()).map(Edit::subject);
        let mut created: Vec<_> = added.map(|of| (names.remove(&of).cloned(), of)).collect();
        created.extend(names.into_iter().map(|(of, name)| (Some(name.clone()), of)));
        created
    }
}

impl Deref for Entry {
    type Target = Header;

    fn deref(&self) -> &Header {
        &self.header
    }
}
