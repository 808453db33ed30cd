//! Names: labels, natural keys, types of relations. Cheap to clone.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::validation::{Problem, ValidationError, shown};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $legal:path, $problem:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Makes one of a text, if that is legal.
            pub fn new(text: &str) -> Result<Self, ValidationError> {
                match $legal(text) {
                    true => Ok(Self(text.into())),
                    false => Err(ValidationError::new(Problem::$problem { found: shown(text) })),
                }
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub(crate) fn text(&self) -> Arc<str> {
                self.0.clone()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = ValidationError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.to_string()
            }
        }
    };
}

name! {
    /// What kind of thing an entity is: 1 to 64 ASCII letters, digits and `_`, not beginning with a digit.
    Label, is_identifier, Label
}

name! {
    /// What a relation says of its ends; spelled as a label is.
    RelationType, is_identifier, RelationType
}

name! {
    /// The natural key of an entity, unique among those of its label: 1 to 256 bytes of text.
    ///
    /// It has no control characters and no spaces at its ends; letters are compared exactly.
    Key, is_key, Key
}

impl Key {
    /// Returns what is less than every key, and none itself: where a range begins.
    pub(crate) fn before_all() -> Self {
        Self("".into())
    }
}

fn is_identifier(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && text.trim() == text && !text.chars().any(char::is_control)
}
