//! Entries of the log as rows of the store, and back.

use lmlang_history::log::{Actor, ActorKind, Entry, Header, Idempotency, Origin, RevisionKind};
use lmlang_history::record::{decode_edits, encode_edits};
use lmlang_history::{ChangeCounts, Edit, Rest};
use lmlang_ir::{Hash, Ref};
use lmlang_store as store;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;

/// The row of an entry. Asks the store for the actor's key, which it remembers.
pub(crate) async fn to_row(engine: &Engine, entry: &Entry) -> Result<store::Entry, Error> {
    let actor = engine.store().actor_key(&to_actor(&entry.actor)).await?;
    Ok(store::Entry {
        seq: entry.number,
        id: Uuid::from_bytes(entry.id),
        parents: entry.parents.iter().copied().collect(),
        branch: entry.branch,
        kind: to_kind(entry.kind),
        actor,
        on_behalf_of: entry.on_behalf_of.clone(),
        message: entry.message.clone(),
        time: store::Timestamp(entry.time),
        edits: encode_edits(&entry.edits),
        counts: encode_notes(entry),
        root_hash: entry.root_hash.0,
        next_ref: entry.next_ref,
        target: entry.target,
        idempotency: entry.idempotency.as_ref().map(|idempotency| store::Idempotency {
            key: idempotency.key.clone(),
            digest: idempotency.digest.to_vec(),
        }),
        origin: entry
            .origin
            .map(|origin| store::Origin { run: Uuid::from_bytes(origin.run), step: origin.step }),
    })
}

/// The entry of a row. Building many edits takes long: not on the runtime's threads.
pub(crate) async fn from_row(engine: &Engine, row: store::Entry) -> Result<Entry, Error> {
    let (row, edits) = row.split();
    let seq = row.seq;
    let header = header(engine, row).await?;
    let edits = engine.decoded(seq, edits).await?;
    Ok(Entry::new(header, edits))
}

/// The header of a row.
pub(crate) async fn header(engine: &Engine, row: store::Header) -> Result<Header, Error> {
    let actor = engine.store().actor(row.actor).await?;
    let actor = actor.ok_or_else(|| unreadable(row.seq, "its actor is unknown"))?;
    header_by(actor, row)
}

/// The header of a row by an actor.
pub(crate) fn header_by(actor: store::Actor, row: store::Header) -> Result<Header, Error> {
    let seq = row.seq;
    let damaged = |reason: String| unreadable(seq, reason);
    let notes: Notes = serde_json::from_slice(&row.counts).map_err(|error| damaged(error.to_string()))?;
    let idempotency = match row.idempotency {
        None => None,
        Some(store::Idempotency { key, digest }) => {
            let digest = digest.try_into().map_err(|_| damaged("its digest is no hash".to_owned()))?;
            Some(Idempotency { key, digest })
        }
    };
    Ok(Header {
        number: row.seq,
        id: row.id.into_bytes(),
        parents: row.parents.to_vec(),
        branch: row.branch,
        branch_name: notes.branch.clone(),
        kind: from_kind(row.kind),
        actor: from_actor(actor),
        on_behalf_of: row.on_behalf_of,
        message: row.message,
        time: row.time.0,
        counts: notes.counts(),
        root_hash: Hash(row.root_hash),
        next_ref: row.next_ref,
        target: row.target,
        reverts: notes.reverts.clone(),
        also_reverts: notes.also_reverts.clone(),
        resolved: refs(&notes.resolved)
            .ok_or_else(|| damaged("it names something that is no ref".to_owned()))?,
        rests: notes.rests().ok_or_else(|| damaged("it names something that is no ref".to_owned()))?,
        name: notes.name.clone(),
        names: notes.names().ok_or_else(|| damaged("it names something that is no ref".to_owned()))?,
        idempotency,
        origin: row.origin.map(|origin| Origin { run: origin.run.into_bytes(), step: origin.step }),
    })
}

/// The error of an entry that does not say what it should; the caller knows of which program.
pub(crate) fn unreadable(entry: u64, reason: impl ToString) -> Error {
    Error::Damaged { program: String::new(), entry, reason: reason.to_string() }
}

/// Edits of more bytes than these are decoded off the runtime's threads.
pub(crate) const LARGE: usize = 64 << 10;

impl Engine {
    /// The edits of an entry.
    pub(crate) async fn decoded(&self, entry: u64, edits: Vec<u8>) -> Result<Vec<Edit>, Error> {
        let large = edits.len() > LARGE;
        let decode = move || decode_edits(&edits).map_err(|error| unreadable(entry, error));
        if large { self.compute(decode).await? } else { decode() }
    }
}

pub(crate) fn to_actor(actor: &Actor) -> store::Actor {
    store::Actor { name: actor.name.clone(), kind: to_actor_kind(actor.kind), client: actor.client.clone() }
}

pub(crate) fn from_actor(actor: store::Actor) -> Actor {
    Actor { name: actor.name, kind: from_actor_kind(actor.kind), client: actor.client }
}

pub(crate) fn to_actor_kind(kind: ActorKind) -> store::ActorKind {
    match kind {
        ActorKind::Human => store::ActorKind::Human,
        ActorKind::Agent => store::ActorKind::Agent,
        ActorKind::Tool => store::ActorKind::Tool,
        ActorKind::Flow => store::ActorKind::Flow,
        ActorKind::System => store::ActorKind::System,
    }
}

pub(crate) fn from_actor_kind(kind: store::ActorKind) -> ActorKind {
    match kind {
        store::ActorKind::Human => ActorKind::Human,
        store::ActorKind::Agent => ActorKind::Agent,
        store::ActorKind::Tool => ActorKind::Tool,
        store::ActorKind::Flow => ActorKind::Flow,
        store::ActorKind::System => ActorKind::System,
    }
}

pub(crate) fn to_kind(kind: RevisionKind) -> store::EntryKind {
    match kind {
        RevisionKind::Create => store::EntryKind::Create,
        RevisionKind::Edit => store::EntryKind::Edit,
        RevisionKind::Undo => store::EntryKind::Undo,
        RevisionKind::Redo => store::EntryKind::Redo,
        RevisionKind::Revert => store::EntryKind::Revert,
        RevisionKind::Restore => store::EntryKind::Restore,
        RevisionKind::Merge => store::EntryKind::Merge,
        RevisionKind::Import => store::EntryKind::Import,
        RevisionKind::Checkpoint => store::EntryKind::Checkpoint,
        RevisionKind::Branch => store::EntryKind::Branch,
    }
}

fn from_kind(kind: store::EntryKind) -> RevisionKind {
    match kind {
        store::EntryKind::Create => RevisionKind::Create,
        store::EntryKind::Edit => RevisionKind::Edit,
        store::EntryKind::Undo => RevisionKind::Undo,
        store::EntryKind::Redo => RevisionKind::Redo,
        store::EntryKind::Revert => RevisionKind::Revert,
        store::EntryKind::Restore => RevisionKind::Restore,
        store::EntryKind::Merge => RevisionKind::Merge,
        store::EntryKind::Import => RevisionKind::Import,
        store::EntryKind::Checkpoint => RevisionKind::Checkpoint,
        store::EntryKind::Branch => RevisionKind::Branch,
    }
}

/// What the column `counts` holds: how much changed, and the names that go with the entry.
#[derive(Serialize, Deserialize)]
struct Notes {
    /// Added, removed, modified, functions.
    n: [u64; 4],
    /// The name of the branch that it is on; nothing for `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The entries that it takes back, as it was asked to, and with those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reverts: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also_reverts: Vec<u64>,
    /// What the edits of resolutions made or changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resolved: Vec<String>,
    /// What its edits rest on, each with what was made of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rests: Vec<(String, Vec<String>)>,
    /// The checkpoint or branch that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What the request called the things that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<(String, String)>,
}

impl Notes {
    fn counts(&self) -> ChangeCounts {
        let [added, removed, modified, functions] = self.n;
        ChangeCounts { added, removed, modified, functions }
    }

    fn names(&self) -> Option<Vec<(String, Ref)>> {
        self.names.iter().map(|(name, of)| Some((name.clone(), of.parse().ok()?))).collect()
    }

    fn rests(&self) -> Option<Vec<Rest>> {
        self.rests.iter().map(|(on, by)| Some(Rest { on: on.parse().ok()?, by: refs(by)? })).collect()
    }
}

fn refs(texts: &[String]) -> Option<Vec<Ref>> {
    texts.iter().map(|of| of.parse().ok()).collect()
}

fn encode_notes(entry: &Header) -> Vec<u8> {
    let counts = entry.counts;
    let notes = Notes {
        n: [counts.added, counts.removed, counts.modified, counts.functions],
        branch: entry.branch_name.clone(),
        reverts: entry.reverts.clone(),
        also_reverts: entry.also_reverts.clone(),
        resolved: entry.resolved.iter().map(Ref::to_string).collect(),
        rests: entry
            .rests
            .iter()
            .map(|rest| (rest.on.to_string(), rest.by.iter().map(Ref::to_string).collect()))
            .collect(),
        name: entry.name.clone(),
        names: entry.names.iter().map(|(name, of)| (name.clone(), of.to_string())).collect(),
    };
    // Writing to memory does not fail, and every key is a text.
    serde_json::to_vec(&notes).expect("notes have a JSON form")
}
