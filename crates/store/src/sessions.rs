//! Sessions: what runs belong together.

use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::{runs, sessions};
use crate::entry::{Idempotency, Timestamp};
use crate::fault::Fault;
use crate::store::Store;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its place among all sessions, by age.
    pub key: u64,
    /// Its id.
    pub id: Uuid,
    /// The flow that its turns are given to.
    pub workflow: String,
    /// What it is about, in the words of whoever began it.
    pub title: Option<String>,
    /// Who began it.
    pub actor: ActorKey,
    /// When it began.
    pub made: Timestamp,
    /// The request that began it, if that had a key.
    pub making: Option<Idempotency>,
    /// How long a run of it may take of which nothing else is said, in microseconds; none: for ever.
    pub within: Option<i64>,
}

impl Store {
    /// The session with an id.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn session(&self, id: Uuid) -> Result<Option<Session>, Fault> {
        let row = sessions::Entity::find().filter(sessions::Column::Id.eq(id)).one(&self.reader).await?;
        Ok(row.map(Session::from))
    }

    /// The session that was begun under an idempotency key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn session_made_under(&self, key: &[u8]) -> Result<Option<Session>, Fault> {
        let found = sessions::Entity::find().filter(sessions::Column::MadeKey.eq(key));
        Ok(found.one(&self.reader).await?.map(Session::from))
    }

    /// Sessions, the newest first, at most so many before a key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn sessions(&self, before: Option<u64>, limit: u64) -> Result<Vec<Session>, Fault> {
        let mut found = sessions::Entity::find();
        if let Some(before) = before {
            found = found.filter(sessions::Column::Key.lt(before.cast_signed()));
        }
        let found = found.order_by_desc(sessions::Column::Key).limit(limit);
        Ok(found.all(&self.reader).await?.into_iter().map(Session::from).collect())
    }

    /// Those of some sessions that have a run about none of some programs.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn sessions_beyond(&self, sessions: &[Uuid], programs: &[Uuid]) -> Result<Vec<Uuid>, Fault> {
        let about_none = Condition::any()
            .add(runs::Column::Program.is_null())
            .add(runs::Column::Program.is_not_in(programs.iter().copied()));
        let found = runs::Entity::find()
            .filter(runs::Column::Session.is_in(sessions.iter().copied()))
            .filter(about_none)
            .select_only()
            .column(runs::Column::Session)
            .distinct();
        Ok(found.into_tuple().all(&self.reader).await?)
    }

    /// How many sessions there are.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_sessions(&self) -> Result<u64, Fault> {
        Ok(sessions::Entity::find().count(&self.reader).await?)
    }
}

pub(crate) fn to_row(session: Session) -> sessions::ActiveModel {
    let (made_key, made_digest) = session.making.map(|making| (making.key, making.digest)).unzip();
    sessions::ActiveModel {
        key: NotSet,
        id: Set(session.id),
        workflow: Set(session.workflow),
        title: Set(session.title),
        actor: Set(session.actor.0),
        made: Set(session.made.0),
        made_key: Set(made_key),
        made_digest: Set(made_digest),
        within: Set(session.within),
    }
}

impl From<sessions::Model> for Session {
    fn from(row: sessions::Model) -> Self {
        Self {
            key: row.key.cast_unsigned(),
            id: row.id,
            workflow: row.workflow,
            title: row.title,
            actor: ActorKey(row.actor),
            made: Timestamp(row.made),
            making: row.made_key.zip(row.made_digest).map(|(key, digest)| Idempotency { key, digest }),
            within: row.within,
        }
    }
}
