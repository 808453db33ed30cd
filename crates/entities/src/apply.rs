//! What a patch changes: the rows that differ afterwards.
//!
//! Operations are applied in order to what the patch touches, which is then compared with what was there. So an operation
//! that another takes back leaves no trace, and a patch that has been applied changes nothing when it comes again: it is
//! refused or counts as unchanged. Cost: a read per name or edge that is mentioned, and those of a deleted node's edges.

use std::collections::{BTreeMap, BTreeSet};

use crate::entity::{EdgeSpec, Entity, EntityId, EntityRef, NodeSpec, Relation, RelationId, Stamp};
use crate::error::{Conflict, ConstraintViolation, PatchError};
use crate::graph::Read;
use crate::name::RelationType;
use crate::patch::{Op, Patch};
use crate::props::{Props, PropsChange};
use crate::validation::{Place, ValidationError};

/// The rows that a patch changes, each kind in the order of names; what is updated is the row as it is afterwards.
///
/// A store deletes relations before entities, and puts entities before relations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Entities that are new.
    pub inserted_entities: Vec<Entity>,
    /// Entities whose properties differ.
    pub updated_entities: Vec<Entity>,
    /// Entities that are gone, as they were.
    pub deleted_entities: Vec<Entity>,
    /// Relations that are new.
    pub inserted_relations: Vec<Relation>,
    /// Relations whose properties differ.
    pub updated_relations: Vec<Relation>,
    /// Relations that are gone, as they were.
    pub deleted_relations: Vec<Relation>,
}

impl Changes {
    /// Says whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How much a patch changes; the first three are the lengths of the lists of [`Changes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes and edges that are new.
    pub created: usize,
    /// Nodes and edges whose properties differ.
    pub updated: usize,
    /// Nodes and edges that are gone, edges of a detached node included.
    pub deleted: usize,
    /// Operations whose own node or edge is as it was before the patch.
    pub unchanged: usize,
}

/// Says what a patch changes in a graph: all of it, or an error and nothing.
///
/// What is new gets an id and `stamp` for both of its times; what differs gets `stamp` for its second. A node or edge that
/// is deleted and made again by one patch stays what it was, with other properties.
pub fn apply<R: Read>(
    read: &R,
    patch: &Patch,
    stamp: Stamp,
    ids: impl FnMut() -> [u8; 16],
) -> Result<(Changes, Counts), PatchError<R::Error>> {
    let mut touched = Touched {
        read,
        stamp,
        ids,
        entities: BTreeMap::new(),
        relations: BTreeMap::new(),
        incident: BTreeMap::new(),
        complete: BTreeSet::new(),
    };
    let mut targets = Vec::with_capacity(patch.ops().len());
    for (index, op) in patch.ops().iter().enumerate() {
        let place = |field: &str| Place { op: Some(index), field: field.to_owned() };
        let invalid = |error: ValidationError, field: &str| {
            PatchError::from(error.within("props").within(field).in_op(index))
        };
        let target = match op {
            Op::UpsertNode(spec) => {
                touched.upsert_node(spec)?.map_err(|error| invalid(error, "upsert_node"))?;
                Target::Entity(spec.name())
            }
            Op::UpdateProps(spec) => {
                if touched.entity(&spec.name())?.now.is_none() {
                    let conflict = Conflict::NotFound { node: spec.name() };
                    return Err(ConstraintViolation { place: place("update_props.key"), conflict }.into());
                }
                touched.upsert_node(spec)?.map_err(|error| invalid(error, "update_props"))?;
                Target::Entity(spec.name())
            }
            Op::UpsertEdge(spec) => {
                let missing = |field: &str, end: &EntityRef| ConstraintViolation {
                    place: place(field),
                    conflict: Conflict::EndMissing {
                        end: end.clone(),
                        relation_type: spec.relation_type.clone(),
                    },
                };
                let from = touched.id(&spec.from)?.ok_or_else(|| missing("upsert_edge.from", &spec.from))?;
                let to = touched.id(&spec.to)?.ok_or_else(|| missing("upsert_edge.to", &spec.to))?;
                let ends = (from, spec.relation_type.clone(), to);
                touched.upsert_edge(&ends, spec)?.map_err(|error| invalid(error, "upsert_edge"))?;
                Target::Relation(ends)
            }
            Op::DeleteNode { label, key, detach } => {
                let node = EntityRef { label: label.clone(), key: key.clone() };
                let edges = touched.edges_of(&node)?;
                if !detach && !edges.is_empty() {
                    let conflict = Conflict::HasEdges { node, edges: edges.len() };
                    return Err(ConstraintViolation { place: place("delete_node"), conflict }.into());
                }
                for ends in &edges {
                    touched.relation(ends)?.now = None;
                }
                touched.entity(&node)?.now = None;
                Target::Entity(node)
            }
            Op::DeleteEdge { from, relation_type, to } => match (touched.id(from)?, touched.id(to)?) {
                (Some(from), Some(to)) => {
                    let ends = (from, relation_type.clone(), to);
                    touched.relation(&ends)?.now = None;
                    Target::Relation(ends)
                }
                (None, _) | (_, None) => Target::Nothing,
            },
        };
        targets.push(target);
    }
    Ok(touched.finish(&targets))
}

type Ends = (EntityId, RelationType, EntityId);

/// What an operation is about.
enum Target {
    Entity(EntityRef),
    Relation(Ends),
    Nothing,
}

/// A row before the patch and after the operations so far.
struct Row<T> {
    base: Option<T>,
    now: Option<T>,
}

impl<T: Clone> Row<T> {
    fn of(base: Option<T>) -> Self {
        Self { now: base.clone(), base }
    }

    fn changed(&self, same: impl Fn(&T, &T) -> bool) -> bool {
        match (&self.base, &self.now) {
            (None, None) => false,
            (Some(base), Some(now)) => !same(base, now),
            (Some(_), None) | (None, Some(_)) => true,
        }
    }
}

/// The rows that the operations so far are about.
///
/// `incident` has every row of `relations` at both of its ends; `complete` are the entities whose relations are all there.
struct Touched<'a, R, I> {
    read: &'a R,
    stamp: Stamp,
    ids: I,
    entities: BTreeMap<EntityRef, Row<Entity>>,
    relations: BTreeMap<Ends, Row<Relation>>,
    incident: BTreeMap<EntityId, BTreeSet<Ends>>,
    complete: BTreeSet<EntityId>,
}

impl<R: Read, I: FnMut() -> [u8; 16]> Touched<'_, R, I> {
    fn entity(&mut self, name: &EntityRef) -> Result<&mut Row<Entity>, PatchError<R::Error>> {
        if !self.entities.contains_key(name) {
            let base = self.read.entity(name).map_err(PatchError::Graph)?;
            self.entities.insert(name.clone(), Row::of(base));
        }
        Ok(self.entities.get_mut(name).expect("it was put there"))
    }

    fn id(&mut self, name: &EntityRef) -> Result<Option<EntityId>, PatchError<R::Error>> {
        Ok(self.entity(name)?.now.as_ref().map(|entity| entity.id))
    }

    fn relation(&mut self, ends: &Ends) -> Result<&mut Row<Relation>, PatchError<R::Error>> {
        if !self.relations.contains_key(ends) {
            let base = self.read.relation(ends.0, &ends.1, ends.2).map_err(PatchError::Graph)?;
            self.put_relation(ends, Row::of(base));
        }
        Ok(self.relations.get_mut(ends).expect("it was put there"))
    }

    fn put_relation(&mut self, ends: &Ends, row: Row<Relation>) {
        for end in [ends.0, ends.2] {
            self.incident.entry(end).or_default().insert(ends.clone());
        }
        self.relations.insert(ends.clone(), row);
    }

    fn upsert_node(&mut self, spec: &NodeSpec) -> Result<Result<(), ValidationError>, PatchError<R::Error>> {
        let stamp = self.stamp;
        let row = self.entity(&spec.name())?;
        let (known, old) = (row.now.as_ref().or(row.base.as_ref()).cloned(), row.now.as_ref());
        let props = match merged(old.map(|entity| &entity.props), &spec.props) {
            Ok(props) => props,
            Err(error) => return Ok(Err(error)),
        };
        let now = match known {
            Some(known) => Entity { props, ..known },
            None => Entity {
                id: EntityId((self.ids)()),
                label: spec.label.clone(),
                key: spec.key.clone(),
                props,
                created_at: stamp,
                updated_at: stamp,
            },
        };
        self.entity(&spec.name())?.now = Some(now);
        Ok(Ok(()))
    }

    fn upsert_edge(
        &mut self,
        ends: &Ends,
        spec: &EdgeSpec,
    ) -> Result<Result<(), ValidationError>, PatchError<R::Error>> {
        let stamp = self.stamp;
        let row = self.relation(ends)?;
        let (known, old) = (row.now.as_ref().or(row.base.as_ref()).cloned(), row.now.as_ref());
        let props = match merged(old.map(|relation| &relation.props), &spec.props) {
            Ok(props) => props,
            Err(error) => return Ok(Err(error)),
        };
        let now = match known {
            Some(known) => Relation { props, ..known },
            None => Relation {
                id: RelationId((self.ids)()),
                from: ends.0,
                relation_type: ends.1.clone(),
                to: ends.2,
                props,
                created_at: stamp,
                updated_at: stamp,
            },
        };
        self.relation(ends)?.now = Some(now);
        Ok(Ok(()))
    }

    /// Returns the edges that a node has now.
    fn edges_of(&mut self, name: &EntityRef) -> Result<Vec<Ends>, PatchError<R::Error>> {
        let row = self.entity(name)?;
        let stored = row.base.is_some();
        let Some(id) = row.now.as_ref().map(|entity| entity.id) else { return Ok(Vec::new()) };
        if stored && self.complete.insert(id) {
            for relation in self.read.relations_of(id).map_err(PatchError::Graph)? {
                let ends = relation.ends();
                if !self.relations.contains_key(&ends) {
                    self.put_relation(&ends, Row::of(Some(relation)));
                }
            }
        }
        let there = |ends: &&Ends| self.relations.get(ends).is_some_and(|row| row.now.is_some());
        Ok(self.incident.get(&id).into_iter().flatten().filter(there).cloned().collect())
    }

    fn finish(self, targets: &[Target]) -> (Changes, Counts) {
        let changed = |target: &&Target| match target {
            Target::Entity(name) => {
                self.entities.get(name).is_some_and(|row| row.changed(|a, b| a.props == b.props))
            }
            Target::Relation(ends) => {
                self.relations.get(ends).is_some_and(|row| row.changed(|a, b| a.props == b.props))
            }
            Target::Nothing => false,
        };
        let unchanged = targets.iter().filter(|target| !changed(target)).count();
        let mut changes = Changes::default();
        for row in self.entities.into_values() {
            match (row.base, row.now) {
                (None, Some(now)) => changes.inserted_entities.push(now),
                (Some(base), None) => changes.deleted_entities.push(base),
                (Some(base), Some(now)) if base.props != now.props => {
                    changes.updated_entities.push(Entity { updated_at: self.stamp, ..now });
                }
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        for row in self.relations.into_values() {
            match (row.base, row.now) {
                (None, Some(now)) => changes.inserted_relations.push(now),
                (Some(base), None) => changes.deleted_relations.push(base),
                (Some(base), Some(now)) if base.props != now.props => {
                    changes.updated_relations.push(Relation { updated_at: self.stamp, ..now });
                }
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        let counts = Counts {
            created: changes.inserted_entities.len() + changes.inserted_relations.len(),
            updated: changes.updated_entities.len() + changes.updated_relations.len(),
            deleted: changes.deleted_entities.len() + changes.deleted_relations.len(),
            unchanged,
        };
        (changes, counts)
    }
}

fn merged(old: Option<&Props>, change: &PropsChange) -> Result<Props, ValidationError> {
    old.unwrap_or(&Props::default()).merged(change)
}
