//! A graph in maps: what tests run on, and what a small graph may be read from.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Bound;
use std::sync::Arc;

use crate::apply::{Changes, Counts, apply};
use crate::entity::{Entity, EntityId, EntityRef, Relation, Stamp};
use crate::error::PatchError;
use crate::graph::{Edge, Graph, Hop, Node, Page, Read, Way};
use crate::indexed::{self, Indexed};
use crate::name::{Key, Label, RelationType};
use crate::patch::Patch;
use crate::props::PropValue;

/// Most nodes or edges of one page.
const PAGE: usize = 256;

/// Edges of one node in one direction, in the order of [`Graph::hops`].
type Edges = BTreeMap<(RelationType, EntityRef), (EntityId, Arc<Edge>)>;

/// Found by id; nothing that is seen outside follows the order of these.
type ById<T> = HashMap<EntityId, T, BuildHasherDefault<DefaultHasher>>;

/// A label, and a property of the entities that have it.
type Property = (Label, Arc<str>);

/// A graph in maps.
///
/// Every entity is in `names` and `nodes`, every relation once in `out` and once in `incoming`, with ends that exist. It is
/// changed through `&mut`, so that one writer at a time is what the compiler checks; a copy is as large as the graph.
#[derive(Clone, Debug, Default)]
pub struct MemoryGraph {
    nodes: ById<Arc<Node>>,
    names: BTreeMap<EntityRef, EntityId>,
    out: ById<Edges>,
    incoming: ById<Edges>,
    labels: BTreeMap<Label, u64>,
    /// Which entities of a label have which value of a property, if that is kept.
    indexes: Option<BTreeMap<Property, BTreeMap<Indexed, BTreeSet<Key>>>>,
}

impl MemoryGraph {
    /// Makes an empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty graph that keeps an index of every property.
    #[must_use]
    pub fn indexing() -> Self {
        Self { indexes: Some(BTreeMap::new()), ..Self::default() }
    }

    /// Applies a patch, all of it or nothing.
    pub fn patch(
        &mut self,
        patch: &Patch,
        stamp: Stamp,
        ids: impl FnMut() -> [u8; 16],
    ) -> Result<Counts, PatchError<Infallible>> {
        let (changes, counts) = apply(self, patch, stamp, ids)?;
        self.apply(&changes);
        Ok(counts)
    }

    /// Takes over changes that [`apply`](crate::apply()) made of this graph as it is.
    pub fn apply(&mut self, changes: &Changes) {
        for relation in &changes.deleted_relations {
            self.remove_relation(relation);
        }
        for entity in &changes.deleted_entities {
            self.remove_entity(entity);
        }
        for entity in changes.inserted_entities.iter().chain(&changes.updated_entities) {
            self.put_entity(entity);
        }
        for relation in changes.inserted_relations.iter().chain(&changes.updated_relations) {
            self.put_relation(relation);
        }
    }

    /// Returns the entities in the order of their names.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        self.names.values().filter_map(|id| self.nodes.get(id)).filter_map(|node| entity_of(node))
    }

    /// Returns the relations in the order of where they begin, of their types, and of where they end.
    pub fn relations(&self) -> impl Iterator<Item = Relation> {
        let of = |id: &EntityId| self.out.get(id).map(|edges| (*id, edges));
        self.names.values().filter_map(of).flat_map(|(from, edges)| {
            edges.values().filter_map(move |(to, edge)| relation_of(edge, from, *to))
        })
    }

    fn put_entity(&mut self, entity: &Entity) {
        if let Some(old) = self.nodes.get(&entity.id).cloned() {
            self.unindex(&old);
        } else {
            *self.labels.entry(entity.label.clone()).or_default() += 1;
        }
        let node = Arc::new(Node::from(entity));
        if let Some(indexes) = &mut self.indexes {
            for (prop, value) in indexed::values(&node.props) {
                let index = indexes.entry((entity.label.clone(), prop.clone())).or_default();
                index.entry(value).or_default().insert(node.key.clone());
            }
        }
        self.names.insert(entity.name(), entity.id);
        self.nodes.insert(entity.id, node);
    }

    fn remove_entity(&mut self, entity: &Entity) {
        let Some(old) = self.nodes.remove(&entity.id) else { return };
        self.unindex(&old);
        self.names.remove(&entity.name());
        self.out.remove(&entity.id);
        self.incoming.remove(&entity.id);
        if let Some(count) = self.labels.get_mut(&entity.label) {
            *count -= 1;
        }
    }

    fn unindex(&mut self, node: &Node) {
        let (Some(indexes), Some(label)) = (&mut self.indexes, node.labels.first()) else { return };
        for (prop, value) in indexed::values(&node.props) {
            let Entry::Occupied(mut index) = indexes.entry((label.clone(), prop.clone())) else { continue };
            if let Entry::Occupied(mut keys) = index.get_mut().entry(value) {
                keys.get_mut().remove(&node.key);
                if keys.get().is_empty() {
                    keys.remove();
                }
            }
            if index.get().is_empty() {
                index.remove();
            }
        }
    }

    /// Returns the keys of the entities of a label that have a value; nothing if no index knows.
    fn having(&self, label: &Label, prop: &str, value: &PropValue) -> Option<Option<&BTreeSet<Key>>> {
        let (indexes, value) = (self.indexes.as_ref()?, Indexed::of(value)?);
        Some(indexes.get(&(label.clone(), prop.into())).and_then(|index| index.get(&value)))
    }

    fn put_relation(&mut self, relation: &Relation) {
        let Some((from, to)) = self.ends(relation) else { return };
        let edge = Arc::new(Edge::from(relation));
        let relation_type = &relation.relation_type;
        let out = self.out.entry(relation.from).or_default();
        out.insert((relation_type.clone(), to), (relation.to, edge.clone()));
        let incoming = self.incoming.entry(relation.to).or_default();
        incoming.insert((relation_type.clone(), from), (relation.from, edge));
    }

    fn remove_relation(&mut self, relation: &Relation) {
        let Some((from, to)) = self.ends(relation) else { return };
        if let Some(out) = self.out.get_mut(&relation.from) {
            out.remove(&(relation.relation_type.clone(), to));
        }
        if let Some(incoming) = self.incoming.get_mut(&relation.to) {
            incoming.remove(&(relation.relation_type.clone(), from));
        }
    }

    fn ends(&self, relation: &Relation) -> Option<(EntityRef, EntityRef)> {
        let name = |id| self.nodes.get(&id).and_then(|node| name_of(node));
        Some((name(relation.from)?, name(relation.to)?))
    }
}

impl Read for MemoryGraph {
    type Error = Infallible;

    fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Infallible> {
        Ok(self.names.get(name).and_then(|id| self.nodes.get(id)).and_then(|node| entity_of(node)))
    }

    fn relation(
        &self,
        from: EntityId,
        relation_type: &RelationType,
        to: EntityId,
    ) -> Result<Option<Relation>, Infallible> {
        let find = || {
            let name = name_of(self.nodes.get(&to)?)?;
            let (_, edge) = self.out.get(&from)?.get(&(relation_type.clone(), name))?;
            relation_of(edge, from, to)
        };
        Ok(find())
    }

    fn relations_of(&self, id: EntityId) -> Result<Vec<Relation>, Infallible> {
        let out = self.out.get(&id).into_iter().flat_map(BTreeMap::values);
        let out = out.filter_map(|(to, edge)| relation_of(edge, id, *to));
        let incoming = self.incoming.get(&id).into_iter().flat_map(BTreeMap::values);
        // A loop is among the first ones.
        let incoming = incoming.filter(|(from, _)| *from != id);
        Ok(out.chain(incoming.filter_map(|(from, edge)| relation_of(edge, *from, id))).collect())
    }
}

impl Graph for MemoryGraph {
    type Error = Infallible;

    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Infallible> {
        let name = EntityRef { label: label.clone(), key: key.clone() };
        Ok(self.names.get(&name).and_then(|id| self.nodes.get(id)).cloned())
    }

    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Infallible> {
        let from = match (after.and_then(name_of), label) {
            (Some(after), _) => Bound::Excluded(after),
            // No key is empty, so that this place is before all of the label.
            (None, Some(label)) => {
                Bound::Excluded(EntityRef { label: label.clone(), key: Key::before_all() })
            }
            (None, None) => Bound::Unbounded,
        };
        let names = self.names.range((from, Bound::Unbounded));
        let names = names.take_while(|(name, _)| label.is_none_or(|label| name.label == *label));
        Ok(page_of(names.filter_map(|(_, id)| self.nodes.get(id)).cloned()))
    }

    fn hops(
        &self,
        of: &Node,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Infallible> {
        let edges = match way {
            Way::Out => self.out.get(&of.id),
            Way::In => self.incoming.get(&of.id),
        };
        let Some(edges) = edges else { return Ok(Page { items: Vec::new(), more: false }) };
        let place = |hop: &Hop| Some((hop.edge.relation_type.clone(), name_of(&hop.other)?));
        let from = after.and_then(place).map_or(Bound::Unbounded, Bound::Excluded);
        let hop = |((relation_type, _), (other, edge)): (&(RelationType, _), &(EntityId, Arc<Edge>))| {
            let wanted = types.is_empty() || types.contains(relation_type);
            Some(Hop { edge: edge.clone(), other: self.nodes.get(other).filter(|_| wanted)?.clone() })
        };
        Ok(page_of(edges.range((from, Bound::Unbounded)).filter_map(hop)))
    }

    fn is_indexed(&self, _label: &Label, prop: &str) -> bool {
        self.indexes.is_some() && indexed::is_property(prop)
    }

    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        after: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Infallible> {
        let known = props.iter().filter_map(|(prop, value)| self.having(label, prop, value));
        let fewest = known.min_by_key(|keys| keys.map_or(0, BTreeSet::len));
        let Some(keys) = fewest else { return Ok(None) };
        let from = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.key.clone()));
        let keys = keys.into_iter().flat_map(|keys| keys.range((from.clone(), Bound::Unbounded)));
        let name = |key: &Key| EntityRef { label: label.clone(), key: key.clone() };
        let node = |key| self.names.get(&name(key)).and_then(|id| self.nodes.get(id)).cloned();
        Ok(Some(page_of(keys.filter_map(node))))
    }

    fn estimate_equal(
        &self,
        label: &Label,
        prop: &str,
        value: &PropValue,
    ) -> Result<Option<u64>, Infallible> {
        Ok(self.having(label, prop, value).map(|keys| keys.map_or(0, BTreeSet::len) as u64))
    }

    fn estimate(&self, label: Option<&Label>) -> Result<u64, Infallible> {
        Ok(match label {
            Some(label) => self.labels.get(label).copied().unwrap_or(0),
            None => self.nodes.len() as u64,
        })
    }
}

fn page_of<T>(mut items: impl Iterator<Item = T>) -> Page<T> {
    let page = items.by_ref().take(PAGE).collect();
    Page { items: page, more: items.next().is_some() }
}

fn name_of(node: &Node) -> Option<EntityRef> {
    Some(EntityRef { label: node.labels.first()?.clone(), key: node.key.clone() })
}

fn entity_of(node: &Node) -> Option<Entity> {
    Some(Entity {
        id: node.id,
        label: node.labels.first()?.clone(),
        key: node.key.clone(),
        props: node.props.clone(),
        created_at: node.created_at?,
        updated_at: node.updated_at?,
    })
}

fn relation_of(edge: &Edge, from: EntityId, to: EntityId) -> Option<Relation> {
    Some(Relation {
        id: edge.id,
        from,
        relation_type: edge.relation_type.clone(),
        to,
        props: edge.props.clone(),
        created_at: edge.created_at?,
        updated_at: edge.updated_at?,
    })
}
