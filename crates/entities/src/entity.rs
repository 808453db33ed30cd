//! What there is: entities and relations as they are stored, and their specs as they come from outside.
//!
//! A spec has no id and no times. A caller, a model above all, names things by label and key.

use std::fmt;

use serde::Serialize;

use crate::name::{Key, Label, RelationType};
use crate::props::{Props, PropsChange};

/// A moment, in microseconds since the beginning of 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Stamp {
    /// The microseconds.
    pub time_micros: i64,
}

/// Prints a moment as RFC 3339 does, with six digits of a second, so that texts are in the order of moments.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 86_400_000_000;
        let (days, micros) = (self.time_micros.div_euclid(DAY), self.time_micros.rem_euclid(DAY));
        // Years begin in March here, so that the leap day is the last: 400 years have 146,097 days, and five months 153.
        let since = days + 719_468;
        let (era, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (year, day) = (year + era * 400 + month / 10, day - (153 * month + 2) / 5 + 1);
        let month = if month < 10 { month + 3 } else { month - 9 };
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for (index, byte) in self.0.iter().enumerate() {
                    if matches!(index, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    };
}

id! {
    /// What an entity is known by inside; made by the caller of [`apply`](crate::apply()), never given from outside.
    EntityId
}

id! {
    /// What a relation is known by inside; as [`EntityId`].
    RelationId
}

/// The name of an entity: its label and key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EntityRef {
    /// The label.
    pub label: Label,
    /// The key.
    pub key: Key,
}

impl fmt::Display for EntityRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.label, self.key)
    }
}

/// A stored entity; in one graph no other has its label and key.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Known inside only.
    pub id: EntityId,
    /// What kind of thing it is.
    pub label: Label,
    /// Which one of its label.
    pub key: Key,
    /// What is known of it.
    pub props: Props,
    /// When it was made; never changes.
    pub created_at: Stamp,
    /// When its properties changed last.
    pub updated_at: Stamp,
}

impl Entity {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> EntityRef {
        EntityRef { label: self.label.clone(), key: self.key.clone() }
    }
}

/// A stored relation; in one graph no other has its ends and type, and both ends exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Known inside only.
    pub id: RelationId,
    /// Where it begins.
    pub from: EntityId,
    /// What it says.
    pub relation_type: RelationType,
    /// Where it ends.
    pub to: EntityId,
    /// What is known of it.
    pub props: Props,
    /// When it was made; never changes.
    pub created_at: Stamp,
    /// When its properties changed last.
    pub updated_at: Stamp,
}

impl Relation {
    /// Returns what no other relation of the graph has.
    #[must_use]
    pub fn ends(&self) -> (EntityId, RelationType, EntityId) {
        (self.from, self.relation_type.clone(), self.to)
    }
}

/// An entity as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeSpec {
    /// The label.
    pub label: Label,
    /// The key.
    pub key: Key,
    /// What is to be said of its properties.
    pub props: PropsChange,
}

impl NodeSpec {
    /// Returns the name of what is asked for.
    #[must_use]
    pub fn name(&self) -> EntityRef {
        EntityRef { label: self.label.clone(), key: self.key.clone() }
    }
}

/// A relation as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EdgeSpec {
    /// Where it begins.
    pub from: EntityRef,
    /// What it says.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// Where it ends.
    pub to: EntityRef,
    /// What is to be said of its properties.
    pub props: PropsChange,
}
