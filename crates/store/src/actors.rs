//! Who makes entries. Entries refer to an actor by a short key.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

use crate::entity::actors;
use crate::fault::Fault;
use crate::programs::sought;
use crate::store::Store;

/// The short key of an actor in this database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorKey(pub(crate) i64);

/// What an actor is.
///
/// The discriminants are stored: they never change, and new kinds are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ActorKind {
    /// A person.
    Human = 0,
    /// A model that acts on its own.
    Agent = 1,
    /// A program that somebody runs.
    Tool = 2,
    /// A flow.
    Flow = 3,
    /// The server itself.
    System = 4,
}

impl ActorKind {
    const ALL: [Self; 5] = [Self::Human, Self::Agent, Self::Tool, Self::Flow, Self::System];

    pub(crate) fn from_code(code: i16) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code).copied())
    }
}

/// Who is recorded with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Actor {
    /// The name.
    pub name: String,
    /// What the actor is.
    pub kind: ActorKind,
    /// The client software, if it said so. An empty name says nothing.
    pub client: Option<String>,
}

/// What is known of the table, to spare a statement per entry.
#[derive(Debug, Default)]
pub(crate) struct ActorCache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    keys: HashMap<Actor, ActorKey>,
    actors: HashMap<ActorKey, Actor>,
}

/// Above it the cache starts afresh: clients choose their names.
const MAX_KNOWN: usize = 10_000;

impl Store {
    /// The key of an actor, who is recorded now if this is the first time.
    ///
    /// Free for an actor that was asked for lately.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn actor_key(&self, actor: &Actor) -> Result<ActorKey, Fault> {
        if let Some(&key) = self.actors.lock().keys.get(actor) {
            return Ok(key);
        }
        let row = actors::ActiveModel {
            name: Set(actor.name.clone()),
            kind: Set(actor.kind as i16),
            client: Set(client_column(actor)),
            ..Default::default()
        };
        let mut insert = actors::Entity::insert(row).into_query();
        insert.on_conflict(
            OnConflict::columns([actors::Column::Name, actors::Column::Kind, actors::Column::Client])
                .do_nothing()
                .to_owned(),
        );
        self.committer().write(vec![insert.into()], None).await?;
        let row = actors::Entity::find()
            .filter(actors::Column::Name.eq(&actor.name))
            .filter(actors::Column::Kind.eq(actor.kind as i16))
            .filter(actors::Column::Client.eq(client_column(actor)))
            .one(&self.reader)
            .await?;
        let key = ActorKey(row.ok_or(Fault::Row { table: "actors", column: "key" })?.key);
        self.actors.learn(key, actor.clone());
        Ok(key)
    }

    /// The actor with a key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn actor(&self, key: ActorKey) -> Result<Option<Actor>, Fault> {
        if let Some(actor) = self.actors.lock().actors.get(&key) {
            return Ok(Some(actor.clone()));
        }
        let Some(row) = actors::Entity::find_by_id(key.0).one(&self.reader).await? else { return Ok(None) };
        let actor = Actor::try_from(row)?;
        self.actors.learn(key, actor.clone());
        Ok(Some(actor))
    }

    /// The keys of all actors with a name, whatever their kind and client.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn actors_named(&self, name: &str) -> Result<Vec<ActorKey>, Fault> {
        let rows = actors::Entity::find()
            .filter(actors::Column::Name.eq(sought(name)))
            .order_by_asc(actors::Column::Key)
            .all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(|row| ActorKey(row.key)).collect())
    }
}

impl ActorCache {
    fn learn(&self, key: ActorKey, actor: Actor) {
        let mut known = self.lock();
        if known.keys.len() >= MAX_KNOWN {
            *known = Known::default();
        }
        known.keys.insert(actor.clone(), key);
        known.actors.insert(key, actor);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never null: a unique index takes nulls for different.
fn client_column(actor: &Actor) -> String {
    actor.client.clone().unwrap_or_default()
}

impl TryFrom<actors::Model> for Actor {
    type Error = Fault;

    fn try_from(row: actors::Model) -> Result<Self, Fault> {
        Ok(Self {
            name: row.name,
            kind: ActorKind::from_code(row.kind).ok_or(Fault::Row { table: "actors", column: "kind" })?,
            client: Some(row.client).filter(|client| !client.is_empty()),
        })
    }
}
