//! Values that are not legal, whatever the graph holds: one problem per kind of mistake, each with a stable code, and its place.

use std::fmt;

use thiserror::Error;

/// Where in a patch something is wrong.
///
/// `field` is a path of names with dots and of indices in brackets, as `upsert_node.props.tags[2]`; it is empty for the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The operation, counted from zero; none when a value was not part of a patch.
    pub op: Option<usize>,
    /// The field within it.
    pub field: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.op, self.field.as_str()) {
            (None, "") => write!(f, "the patch"),
            (None, field) => write!(f, "`{field}`"),
            (Some(op), "") => write!(f, "ops[{op}]"),
            (Some(op), field) => write!(f, "ops[{op}] `{field}`"),
        }
    }
}

/// A value that is not legal, whatever the graph holds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ValidationError {
    /// Where it is.
    pub place: Place,
    /// What is wrong with it.
    pub problem: Problem,
}

impl ValidationError {
    /// Makes an error about the value itself, which a caller that knows more puts [`within`](Self::within) a field.
    pub(crate) fn new(problem: Problem) -> Self {
        Self { place: Place::default(), problem }
    }

    /// Puts the place within a field that is further out.
    pub(crate) fn within(mut self, field: &str) -> Self {
        self.place.field = match self.place.field.as_str() {
            "" => field.to_owned(),
            inner if inner.starts_with('[') => format!("{field}{inner}"),
            inner => format!("{field}.{inner}"),
        };
        self
    }

    pub(crate) fn in_op(mut self, op: usize) -> Self {
        self.place.op = Some(op);
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A label that is not a name.
    #[error(
        "expected a label of 1 to 64 ASCII letters, digits and `_`, not beginning with a digit, found `{found}`"
    )]
    Label {
        /// What was given, cut when it is long.
        found: String,
    },
    /// A label of nodes that are no entities.
    #[error("`{found}` is the label of what is shown beside entities, and of no entity")]
    LabelReserved {
        /// The label.
        found: String,
    },
    /// A type of relation that is not a name.
    #[error(
        "expected a type of 1 to 64 ASCII letters, digits and `_`, not beginning with a digit, found `{found}`"
    )]
    RelationType {
        /// What was given, cut when it is long.
        found: String,
    },
    /// A natural key that cannot be one.
    #[error(
        "expected a key of 1 to 256 bytes without control characters and without spaces at its ends, found `{found}`"
    )]
    Key {
        /// What was given, cut when it is long.
        found: String,
    },
    /// A name of a property that cannot be one.
    #[error("expected a property name of 1 to 128 bytes without control characters, found `{found}`")]
    PropName {
        /// What was given, cut when it is long.
        found: String,
    },
    /// A number that does not fit.
    #[error("expected a number that fits 64 bits with a sign, found {found}")]
    Number {
        /// What was given.
        found: String,
    },
    /// Lists and objects in each other too deeply.
    #[error("lists and objects lie in each other more than {limit} deep")]
    TooDeep {
        /// What is allowed.
        limit: usize,
    },
    /// Properties of one entity that are too many or too long.
    #[error("properties take {found} {unit}, more than {limit}")]
    TooLarge {
        /// What they take.
        found: usize,
        /// What is allowed.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A field that only the server sets, or a key among the properties.
    #[error(
        "`{field}` cannot be given here: ids and times are the server's, and a key stands beside the properties"
    )]
    Reserved {
        /// The field.
        field: String,
    },
    /// A field that there is not.
    #[error("unknown field `{field}`, expected one of {expected}")]
    UnknownField {
        /// The field.
        field: String,
        /// The fields that there are.
        expected: &'static str,
    },
    /// A field that is missing.
    #[error("missing field `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A value of another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What was expected.
        expected: &'static str,
        /// What was given.
        found: &'static str,
    },
    /// An operation that is not an object with one known key.
    #[error(
        "expected one of `upsert_node`, `upsert_edge`, `update_props`, `delete_node`, `delete_edge`, found {found}"
    )]
    Op {
        /// What was given instead.
        found: String,
    },
    /// A patch with too many operations.
    #[error("a patch of {found} operations, more than {limit}")]
    TooManyOps {
        /// How many it has.
        found: usize,
        /// What is allowed.
        limit: usize,
    },
}

impl Problem {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Label { .. } => "ENTITY_LABEL",
            Self::LabelReserved { .. } => "ENTITY_LABEL_RESERVED",
            Self::RelationType { .. } => "ENTITY_RELATION_TYPE",
            Self::Key { .. } => "ENTITY_KEY",
            Self::PropName { .. } => "ENTITY_PROP_NAME",
            Self::Number { .. } => "ENTITY_NUMBER",
            Self::TooDeep { .. } => "ENTITY_PROPS_TOO_DEEP",
            Self::TooLarge { .. } => "ENTITY_PROPS_TOO_LARGE",
            Self::Reserved { .. } => "ENTITY_FIELD_RESERVED",
            Self::UnknownField { .. } => "ENTITY_FIELD_UNKNOWN",
            Self::Missing { .. } => "ENTITY_FIELD_MISSING",
            Self::Type { .. } => "ENTITY_FIELD_TYPE",
            Self::Op { .. } => "ENTITY_OP_UNKNOWN",
            Self::TooManyOps { .. } => "ENTITY_PATCH_TOO_LARGE",
        }
    }
}

/// Cuts a text from outside to what an error shows of it.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
