//! Where in a run something is: the branch, by the arms that lead to it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A branch of a run. The main line is the empty text; `2.0` is the first arm that the third arm of the main line opened.
///
/// Arms are counted through a whole run, so that a place never means two branches.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Vec<u32>);

/// A text that is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a branch of a run is written as numbers with dots between them")]
pub struct ParsePlaceError;

impl Place {
    /// The main line of a run.
    #[must_use]
    pub fn main() -> Place {
        Place::default()
    }

    /// An arm that this branch opened.
    #[must_use]
    pub fn arm(&self, number: u32) -> Place {
        let mut arms = self.0.clone();
        arms.push(number);
        Place(arms)
    }

    /// The branch that opened this one.
    #[must_use]
    pub fn parent(&self) -> Option<Place> {
        let (_, parent) = self.0.split_last()?;
        Some(Place(parent.to_vec()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, arm) in self.0.iter().enumerate() {
            let dot = if depth == 0 { "" } else { "." };
            write!(f, "{dot}{arm}")?;
        }
        Ok(())
    }
}

impl FromStr for Place {
    type Err = ParsePlaceError;

    fn from_str(text: &str) -> Result<Place, ParsePlaceError> {
        if text.is_empty() {
            return Ok(Place::main());
        }
        let arms: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        arms.map(Place).map_err(|_| ParsePlaceError)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
