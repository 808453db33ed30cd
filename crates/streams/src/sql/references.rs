//! What a query speaks of.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::Place;

/// A name with the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reference {
    /// As it is written; the parts of a path are joined by dots.
    pub name: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
}

/// Every stream, column, function and construct that a query uses, known or not, in the order of the text.
///
/// A path such as `a.b` is one column, whether `a` is the stream, its alias or a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct References {
    /// Streams.
    pub streams: Vec<Reference>,
    /// Columns, with the fields that are asked of them by a dot.
    pub columns: Vec<Reference>,
    /// Functions, without windows.
    pub functions: Vec<Reference>,
    /// The ids of constructs, in order: supported ones, and those that [`crate::check`] refuses.
    pub constructs: BTreeSet<&'static str>,
}

impl References {
    pub(crate) fn sort(&mut self) {
        for list in [&mut self.streams, &mut self.columns, &mut self.functions] {
            list.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.name.cmp(&b.name)));
        }
    }
}
