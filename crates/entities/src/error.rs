//! Why a patch was not applied: one error per kind of mistake, each with a stable code and a place.

use thiserror::Error;

use crate::entity::EntityRef;
use crate::name::RelationType;
use crate::validation::{Place, ValidationError};

/// An operation that is legal by itself and that the graph does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {conflict}")]
pub struct ConstraintViolation {
    /// Where the operation is.
    pub place: Place,
    /// What it collides with.
    pub conflict: Conflict,
}

impl ConstraintViolation {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.conflict.code()
    }
}

/// What an operation collides with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Conflict {
    /// An edge would have an end that does not exist.
    #[error("`{end}` does not exist, so that no `{relation_type}` can join it")]
    EndMissing {
        /// The end.
        end: EntityRef,
        /// The edge's type.
        relation_type: RelationType,
    },
    /// A node has edges and was to be deleted without them.
    #[error("`{node}` has {edges} edges, and was to be deleted without `detach`")]
    HasEdges {
        /// The node.
        node: EntityRef,
        /// How many edges it has.
        edges: usize,
    },
    /// A node was to be updated that does not exist.
    #[error("`{node}` does not exist")]
    NotFound {
        /// The node.
        node: EntityRef,
    },
}

impl Conflict {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::EndMissing { .. } => "ENTITY_END_MISSING",
            Self::HasEdges { .. } => "ENTITY_HAS_EDGES",
            Self::NotFound { .. } => "ENTITY_NOT_FOUND",
        }
    }
}

/// Why a patch was not applied; nothing of it was.
///
/// `E` is what reading the graph can fail with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchError<E> {
    /// A value is not legal.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// The graph does not allow an operation.
    #[error(transparent)]
    Constraint(#[from] ConstraintViolation),
    /// The graph could not be read.
    #[error("the graph could not be read")]
    Graph(#[source] E),
}

impl<E> PatchError<E> {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Validation(error) => error.code(),
            Self::Constraint(error) => error.code(),
            Self::Graph(_) => "ENTITY_GRAPH_UNREADABLE",
        }
    }
}
