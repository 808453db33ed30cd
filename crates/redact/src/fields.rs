//! The fields whose values are secret, by their names.

use std::collections::BTreeSet;
use std::fmt;

use crate::config::PolicyError;
use crate::names::{self, Words};

/// The names that are configured; beside them there are those that say it themselves.
#[derive(Default)]
pub(crate) struct Fields(BTreeSet<String>);

impl Fields {
    pub(crate) fn new(configured: &[String]) -> Result<Fields, PolicyError> {
        let mut fields = BTreeSet::new();
        for name in configured {
            let words = Words::of(name.as_bytes());
            if words.compact().is_empty() {
                return Err(PolicyError::Field { name: name.clone() });
            }
            fields.insert(words.compact().to_owned());
        }
        Ok(Fields(fields))
    }

    /// Says whether what has a name of these words is secret.
    pub(crate) fn hides(&self, words: &Words) -> bool {
        names::say_secret(words) || self.0.contains(words.compact())
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}
