//! How a graph is read: rows for [`apply`](crate::apply()), values for queries.

use std::sync::Arc;

use crate::entity::{Entity, EntityId, EntityRef, Relation, RelationId, Stamp};
use crate::name::{Key, Label, RelationType};
use crate::props::{PropValue, Props};

/// What [`apply`](crate::apply()) reads of stored rows; each answer is of one and the same state.
pub trait Read {
    /// What reading can fail with.
    type Error;

    /// Returns the entity of a name.
    fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Self::Error>;

    /// Returns the relation with these ends and this type.
    fn relation(
        &self,
        from: EntityId,
        relation_type: &RelationType,
        to: EntityId,
    ) -> Result<Option<Relation>, Self::Error>;

    /// Returns the relations that begin or end at an entity.
    fn relations_of(&self, id: EntityId) -> Result<Vec<Relation>, Self::Error>;
}

/// A node as queries see it: a stored entity, or something else that is shown as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Equal for equal nodes of one graph, and never shown.
    pub id: EntityId,
    /// What it is, the most telling label first; at least one, none twice.
    pub labels: Arc<[Label]>,
    /// Which one of any of its labels.
    pub key: Key,
    /// What is known of it.
    pub props: Props,
    /// When it was made, if that is known.
    pub created_at: Option<Stamp>,
    /// When its properties changed last, if that is known.
    pub updated_at: Option<Stamp>,
}

impl Node {
    /// Says whether it has a label.
    #[must_use]
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|own| own.as_str() == label)
    }

    /// Returns what nodes are ordered by: the first label, then the key.
    #[must_use]
    pub fn order(&self) -> (Option<&Label>, &Key) {
        (self.labels.first(), &self.key)
    }
}

impl From<&Entity> for Node {
    fn from(entity: &Entity) -> Self {
        Self {
            id: entity.id,
            labels: [entity.label.clone()].into(),
            key: entity.key.clone(),
            props: entity.props.clone(),
            created_at: Some(entity.created_at),
            updated_at: Some(entity.updated_at),
        }
    }
}

/// An edge as queries see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Equal for equal edges of one graph, and never shown.
    pub id: RelationId,
    /// What it says.
    pub relation_type: RelationType,
    /// What is known of it.
    pub props: Props,
    /// When it was made, if that is known.
    pub created_at: Option<Stamp>,
    /// When its properties changed last, if that is known.
    pub updated_at: Option<Stamp>,
}

impl From<&Relation> for Edge {
    fn from(relation: &Relation) -> Self {
        Self {
            id: relation.id,
            relation_type: relation.relation_type.clone(),
            props: relation.props.clone(),
            created_at: Some(relation.created_at),
            updated_at: Some(relation.updated_at),
        }
    }
}

/// Which edges of a node are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Those that begin at it.
    Out,
    /// Those that end at it.
    In,
}

/// An edge of a node, with the node at its other end.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The edge.
    pub edge: Arc<Edge>,
    /// The node at the other end; for a loop the same node.
    pub other: Arc<Node>,
}

/// Some of what a read gives, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// As many as the graph likes, at least one if there is one.
    pub items: Vec<T>,
    /// Whether there may be more after the last one of them.
    pub more: bool,
}

/// What queries read; each answer is of one and the same state, and equal reads give equal answers in equal order.
pub trait Graph {
    /// What reading can fail with.
    type Error;

    /// Returns the node that has a label and a key.
    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Self::Error>;

    /// Returns the next nodes that have a label, or the next of all, in the order of [`Node::order`]: those after the node
    /// that is given, or the first ones.
    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Self::Error>;

    /// Returns the next edges of a node in one direction, of these types or, when there are none, of every type: those after
    /// the edge that is given, or the first ones.
    ///
    /// They are ordered by type, then by the node at the other end. A loop is among both directions.
    fn hops(
        &self,
        of: &Node,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Self::Error>;

    /// Says whether [`equal`](Self::equal) answers for a property of a label, so that not every node has to be read here.
    fn is_indexed(&self, label: &Label, prop: &str) -> bool;

    /// Returns the next nodes of a label whose properties may equal all of these values, ordered as a page: those after the node
    /// that is given, or the first ones. Nothing if no index knows, which is so from the first page on.
    ///
    /// Only properties that [are indexed](Self::is_indexed) are asked about, at least one. None that equals all of the values is
    /// missing; numbers are equal across kinds.
    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        after: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Self::Error>;

    /// Returns about how many nodes of a label have a value of a property that [is indexed](Self::is_indexed), if that is cheaper
    /// to say than to find them; no more than a guide for plans.
    fn estimate_equal(
        &self,
        label: &Label,
        prop: &str,
        value: &PropValue,
    ) -> Result<Option<u64>, Self::Error>;

    /// Returns about how many nodes have a label, or how many there are; no more than a guide for plans.
    fn estimate(&self, label: Option<&Label>) -> Result<u64, Self::Error>;
}
