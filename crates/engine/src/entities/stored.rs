//! The rows of one moment, as what patches are planned on and what questions are asked about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lmlang_entities::{
    Edge, Entity, EntityId, EntityRef, Graph, Hop, Indexed, Key, Label, Node, Page, Read, Relation,
    RelationType, Way, indexed, props::PropValue,
};
use lmlang_store::{EntitiesThen, EntityRow, RelationEnd, RelationRow, ValueDigest};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::entities::{MOST_DETACHED, MOST_TIME, record};
use crate::error::Error;

/// Most nodes or edges of one page.
pub(crate) const PAGE: usize = 256;

/// Most edges at a node whose order is kept from the second page on; beyond, each page puts all of them in order.
const MOST_KEPT: usize = 1_000_000;

/// Up to how many entities are counted for a plan, which may begin at one label or another: of more, none can be read in time.
const MOST_COUNTED: u64 = 100_000;

/// Up to how many entities are counted to choose by which of several values they are looked up.
const MOST_WEIGHED: u64 = 10_000;

/// What of the edges at a node is asked for: the node, which way, and the types.
type Asked = (EntityId, bool, Vec<RelationType>);

/// The rows of one moment. What reads them waits for the database: not for threads of the runtime.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) view: EntitiesThen,
    runtime: Handle,
    begun: Instant,
    closing: CancellationToken,
    /// The edges at nodes that have more than a page of them, in order: they are read page by page, between others.
    orders: Mutex<HashMap<Asked, Arc<EdgeOrder>>>,
}

/// The edges at a node in order, and where each of them stands; none, where there are too many.
#[derive(Debug, Default)]
struct EdgeOrder {
    ids: Vec<Uuid>,
    /// The places of ids, in the order of ids.
    places: Vec<u32>,
}

impl EdgeOrder {
    fn new(ids: Vec<Uuid>) -> EdgeOrder {
        let mut places: Vec<u32> = (0..).take(ids.len()).collect();
        places.sort_unstable_by_key(|place| ids[*place as usize]);
        EdgeOrder { ids, places }
    }

    /// Those behind one, if that is among them.
    fn behind(&self, id: Uuid) -> Option<&[Uuid]> {
        let found = self.places.binary_search_by_key(&id, |place| self.ids[*place as usize]).ok()?;
        Some(&self.ids[self.places[found] as usize + 1..])
    }
}

impl Stored {
    /// Must be called within a runtime, which does the reading from then on.
    pub(crate) fn new(view: EntitiesThen, closing: &CancellationToken) -> Self {
        let orders = Mutex::default();
        Self { view, runtime: Handle::current(), begun: Instant::now(), closing: closing.clone(), orders }
    }

    /// Waits for an answer, if there is time left.
    pub(crate) fn ask<T, E>(&self, question: impl Future<Output = Result<T, E>>) -> Result<T, Error>
    where
        Error: From<E>,
    {
        self.check()?;
        let left = MOST_TIME.saturating_sub(self.begun.elapsed());
        let answered = self.runtime.block_on(async {
            tokio::select! {
                answered = tokio::time::timeout(left, question) => answered.ok(),
                () = self.closing.cancelled() => None,
            }
        });
        match answered {
            Some(answer) => Ok(answer?),
            None => Err(self.check().err().unwrap_or_else(|| out_of_time(MOST_TIME))),
        }
    }

    /// Refuses to go on when there is no time left.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.closing.is_cancelled() {
            return Err(Error::Closed);
        }
        let taken = self.begun.elapsed();
        if taken > MOST_TIME { Err(out_of_time(taken)) } else { Ok(()) }
    }
}

impl Stored {
    /// A page of the edges at a node behind one, found by their order; none where there are too many to keep it.
    fn kept_page(
        &self,
        of: &Node,
        end: RelationEnd,
        types: &[RelationType],
        kinds: &[&str],
        after: &Hop,
    ) -> Result<Option<Page<Hop>>, Error> {
        let asked = (of.id, end == RelationEnd::Source, types.to_vec());
        let known = self.orders.lock().unwrap_or_else(PoisonError::into_inner).get(&asked).cloned();
        let order = match known {
            Some(order) => order,
            None => {
                let of = Uuid::from_bytes(of.id.0);
                let ids = self.ask(self.view.neighbour_ids(of, end, kinds, MOST_KEPT as u64 + 1))?;
                let order =
                    Arc::new(if ids.len() > MOST_KEPT { EdgeOrder::default() } else { EdgeOrder::new(ids) });
                let mut all = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(asked, Arc::clone(&order));
                order
            }
        };
        let Some(behind) = order.behind(Uuid::from_bytes(after.edge.id.0)) else { return Ok(None) };
        let some = &behind[..behind.len().min(PAGE)];
        let rows = self.ask(self.view.neighbours_by(end, some))?;
        let mut rows: HashMap<Uuid, _> = rows.into_iter().map(|row| (row.0.id, row)).collect();
        let items: Vec<Hop> =
            some.iter().filter_map(|id| rows.remove(id)).map(hop).collect::<Result<_, _>>()?;
        Ok(Some(Page { items, more: behind.len() > PAGE }))
    }

    /// Of values the one that the fewest entities have.
    fn rarest(&self, values: Vec<ValueDigest>) -> Result<Option<ValueDigest>, Error> {
        if values.len() < 2 {
            return Ok(values.into_iter().next());
        }
        let mut counted = Vec::with_capacity(values.len());
        for value in values {
            counted.push((self.ask(self.view.count_having(&value, MOST_WEIGHED))?, value));
        }
        Ok(counted.into_iter().min_by_key(|(count, _)| *count).map(|(_, value)| value))
    }
}

fn out_of_time(taken: Duration) -> Error {
    let (limit, actual) = (MOST_TIME.as_millis() as u64, taken.as_millis() as u64);
    Error::Limit { which: "entityQueryMs", limit, actual }
}

impl Read for Stored {
    type Error = Error;

    fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Error> {
        let row = self.ask(self.view.entity(name.label.as_str(), name.key.as_str()))?;
        Ok(row.map(record::entity).transpose()?)
    }

    fn relation(
        &self,
        from: EntityId,
        relation_type: &RelationType,
        to: EntityId,
    ) -> Result<Option<Relation>, Error> {
        let (from, to) = (Uuid::from_bytes(from.0), Uuid::from_bytes(to.0));
        let row = self.ask(self.view.relation(from, relation_type.as_str(), to))?;
        Ok(row.map(record::relation).transpose()?)
    }

    fn relations_of(&self, id: EntityId) -> Result<Vec<Relation>, Error> {
        let rows = self.ask(self.view.relations_of(Uuid::from_bytes(id.0), MOST_DETACHED as u64 + 1))?;
        if rows.len() > MOST_DETACHED {
            let (limit, actual) = (MOST_DETACHED as u64, rows.len() as u64);
            return Err(Error::Limit { which: "entityRelationsDeleted", limit, actual });
        }
        Ok(rows.into_iter().map(record::relation).collect::<Result<_, _>>()?)
    }
}

impl Graph for Stored {
    type Error = Error;

    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Error> {
        let row = self.ask(self.view.entity(label.as_str(), key.as_str()))?;
        row.map(node).transpose()
    }

    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Error> {
        let after = after.and_then(|node| Some((node.labels.first()?.as_str(), node.key.as_str())));
        let rows = self.view.entities(label.map(Label::as_str), None, after, PAGE as u64 + 1);
        page(self.ask(rows)?, node)
    }

    fn hops(
        &self,
        of: &Node,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Error> {
        let end = match way {
            Way::Out => RelationEnd::Source,
            Way::In => RelationEnd::Target,
        };
        let kinds: Vec<&str> = types.iter().map(RelationType::as_str).collect();
        if let Some(after) = after
            && let Some(page) = self.kept_page(of, end, types, &kinds, after)?
        {
            return Ok(page);
        }
        let after = after.and_then(|hop| {
            let label = hop.other.labels.first()?;
            Some((hop.edge.relation_type.as_str(), label.as_str(), hop.other.key.as_str()))
        });
        let rows = self.view.neighbours(Uuid::from_bytes(of.id.0), end, &kinds, after, PAGE as u64 + 1);
        page(self.ask(rows)?, hop)
    }

    /// Every property is: a value that is none of those that an index knows is looked for in all of the label.
    fn is_indexed(&self, _label: &Label, prop: &str) -> bool {
        indexed::is_property(prop)
    }

    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        after: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Error> {
        let values = props.iter().filter_map(|(prop, value)| digest(label, prop, value)).collect();
        let Some(value) = self.rarest(values)? else { return Ok(None) };
        let after = after.map(|after| after.key.as_str());
        let rows = self.view.entities_having(&value, after, PAGE as u64 + 1);
        page(self.ask(rows)?, node).map(Some)
    }

    fn estimate_equal(&self, label: &Label, prop: &str, value: &PropValue) -> Result<Option<u64>, Error> {
        let Some(value) = digest(label, prop, value) else { return Ok(None) };
        self.ask(self.view.count_having(&value, MOST_COUNTED)).map(Some)
    }

    fn estimate(&self, label: Option<&Label>) -> Result<u64, Error> {
        // All are more than those of a label, also where there are many of it.
        let most = if label.is_some() { MOST_COUNTED } else { 2 * MOST_COUNTED };
        self.ask(self.view.count_some(label.map(Label::as_str), most))
    }
}

fn digest(label: &Label, prop: &str, value: &PropValue) -> Option<ValueDigest> {
    Some(ValueDigest::of(label.as_str(), prop, &Indexed::of(value)?))
}

fn node(row: EntityRow) -> Result<Arc<Node>, Error> {
    Ok(Arc::new(Node::from(&record::entity(row)?)))
}

fn hop((relation, other): (RelationRow, EntityRow)) -> Result<Hop, Error> {
    Ok(Hop { edge: Arc::new(Edge::from(&record::relation(relation)?)), other: node(other)? })
}

fn page<R, T>(mut rows: Vec<R>, item: impl Fn(R) -> Result<T, Error>) -> Result<Page<T>, Error> {
    let more = rows.len() > PAGE;
    rows.truncate(PAGE);
    Ok(Page { items: rows.into_iter().map(item).collect::<Result<_, _>>()?, more })
}

#[cfg(test)]
mod tests {
    use lmlang_entities::Patch;
    use lmlang_history::log::{Actor, ActorKind};
    use lmlang_store::{Options, Store};
    use serde_json::{Value, json};

    use super::*;
    use crate::{Call, Engine, Limits, SnapshotPolicy};

    #[test]
    fn a_place_is_found_as_by_looking_through() {
        let scattered = |number: u128| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let ids: Vec<Uuid> = (0..1_000).map(scattered).map(Uuid::from_u128).collect();
        let order = EdgeOrder::new(ids.clone());
        for id in &ids {
            let looked = ids.iter().position(|known| known == id).map(|at| &ids[at + 1..]);
            assert_eq!(order.behind(*id), looked);
        }
        assert_eq!(order.behind(Uuid::max()), None);
        assert_eq!(EdgeOrder::default().behind(ids[0]), None);
    }

    /// A page of a hub is the one that the database finds when it puts all relations in order for it.
    #[tokio::test]
    async fn pages_of_kept_relations_are_those_of_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
        let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
        let hub = json!({ "label": "Hub", "key": "h" });
        let spoke = |number: usize| {
            let label = ["Rim", "Tyre"][number % 2];
            let rim = json!({ "label": label, "key": format!("{:03}", number * 7 % 400) });
            let kind = ["A", "B", "C"][number % 3];
            let edge = json!({ "upsert_edge": { "from": hub, "type": kind, "to": rim } });
            [json!({ "upsert_node": rim }), edge]
        };
        let ops: Vec<Value> =
            [json!({ "upsert_node": hub })].into_iter().chain((0..400).flat_map(spoke)).collect();
        let patch = Patch::from_json(&json!(ops)).unwrap();
        let call = Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None });
        engine.patch_entities(patch, false, &call).await.unwrap();
        let stored = Stored::new(engine.store().entities_now().await.unwrap(), engine.closing());
        let looked = tokio::task::spawn_blocking(move || {
            let (label, key) = (Label::new("Hub").unwrap(), Key::new("h").unwrap());
            let hub = stored.node(&label, &key).unwrap().unwrap();
            let (mut after, mut count): (Option<Hop>, usize) = (None, 0);
            loop {
                let place = after.as_ref().map(|hop| {
                    let label = hop.other.labels[0].as_str();
                    (hop.edge.relation_type.as_str(), label, hop.other.key.as_str())
                });
                let id = Uuid::from_bytes(hub.id.0);
                let rows = stored.view.neighbours(id, RelationEnd::Source, &[], place, PAGE as u64 + 1);
                let ordered = page(stored.ask(rows).unwrap(), hop).unwrap();
                let kept = stored.hops(&hub, Way::Out, &[], after.as_ref()).unwrap();
                assert_eq!(kept, ordered);
                count += kept.items.len();
                after = kept.items.last().cloned();
                if !kept.more {
                    return count;
                }
            }
        });
        assert_eq!(looked.await.unwrap(), 400);
        engine.close().await;
    }
}
