//! Looking at entities, and answering questions about them.

use std::sync::Arc;

use lmlang_entities::cypher::{self, Failure, Table};
use lmlang_entities::{Entity, EntityRef, Key, Label, Subgraph, subgraph};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::engine::Engine;
use crate::entities::everything::Everything;
use crate::entities::stored::Stored;
use crate::entities::{MOST_HOPS, SUBGRAPH_ENTITIES, record};
use crate::error::{Error, joined};

/// Which entities are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityFilter {
    /// Those of a label.
    pub label: Option<Label>,
    /// Those with a natural key.
    pub key: Option<Key>,
}

impl EntityFilter {
    fn texts(&self) -> (Option<&str>, Option<&str>) {
        (self.label.as_ref().map(Label::as_str), self.key.as_ref().map(Key::as_str))
    }
}

/// Some entities, in the order of labels and natural keys.
#[derive(Clone, Debug)]
pub struct EntityPage {
    /// What is in it.
    pub items: Vec<Entity>,
    /// Whether more follow.
    pub more: bool,
}

impl Engine {
    /// The entity with a label and a natural key.
    pub async fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Error> {
        let row = self.store().entities_now().await?.entity(name.label.as_str(), name.key.as_str()).await?;
        Ok(row.map(record::entity).transpose()?)
    }

    /// The entity with an id. To whoever is limited to some programs there is none.
    pub async fn entity_with(&self, id: Uuid) -> Result<Entity, Error> {
        let missing = || Error::not_found("entity", id);
        if self.only().is_some() {
            return Err(missing());
        }
        let row = self.store().entities_now().await?.entity_with(id).await?;
        Ok(record::entity(row.ok_or_else(missing)?)?)
    }

    /// The first entities after one.
    pub async fn entity_page(
        &self,
        filter: &EntityFilter,
        after: Option<&EntityRef>,
        first: usize,
    ) -> Result<EntityPage, Error> {
        let (label, key) = filter.texts();
        let after = after.map(|after| (after.label.as_str(), after.key.as_str()));
        let view = self.store().entities_now().await?;
        let mut rows = view.entities(label, key, after, first as u64 + 1).await?;
        let more = rows.len() > first;
        rows.truncate(first);
        Ok(EntityPage { items: rows.into_iter().map(record::entity).collect::<Result<_, _>>()?, more })
    }

    /// How many entities there are.
    pub async fn count_entities(&self, filter: &EntityFilter) -> Result<u64, Error> {
        let (label, key) = filter.texts();
        Ok(self.store().entities_now().await?.count_entities(label, key).await?)
    }

    /// What lies within some hops of an entity, all of one moment; nothing if there is no such entity.
    pub async fn entity_subgraph(&self, name: EntityRef, hops: u32) -> Result<Option<Subgraph>, Error> {
        if hops > MOST_HOPS {
            return Err(Error::Limit { which: "entityHops", limit: MOST_HOPS.into(), actual: hops.into() });
        }
        self.about_entities(move |stored| subgraph(stored, &name.label, &name.key, hops, SUBGRAPH_ENTITIES))
            .await
    }

    /// Answers a question in Cypher about entities and what programs are made of, at one moment. It changes nothing.
    ///
    /// To whoever is limited to some programs there are these, and no entities.
    pub async fn cypher(&self, query: String, params: Map<String, Value>) -> Result<Table, Error> {
        let engine = self.clone();
        let answer = move |stored: &Stored| {
            let everything = Everything::new(&engine, stored);
            match cypher::run(&query, &params, &everything, &cypher::Limits::default()) {
                Ok(table) => Ok(table),
                Err(Failure::Query(error)) => Err(Error::Cypher(error)),
                Err(Failure::Graph(error)) => Err(error),
            }
        };
        self.about_entities(answer).await
    }

    /// Answers what takes many reads. A few at a time, since each keeps a connection.
    async fn about_entities<T: Send + 'static>(
        &self,
        answer: impl FnOnce(&Stored) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let questions = Arc::clone(&self.0.entity_questions);
        let turn = questions.acquire_owned().await.map_err(|_| Error::Closed)?;
        // Who asks may go away; who answers keeps the turn and the connection until they have noticed.
        let wanted = self.closing().child_token();
        let _asked = wanted.clone().drop_guard();
        let stored = Stored::new(self.store().entities_now().await?, &wanted);
        // Not as what computes: it mostly waits for the database, and for programs to be opened, which takes a processor.
        let answer = move || {
            let answered = answer(&stored);
            drop((stored, turn));
            answered
        };
        joined(tokio::task::spawn_blocking(answer).await)?
    }
}
