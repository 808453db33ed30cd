//! Names that are given outside of a text: `$x` stands for the ref of what is called so, wherever a ref may stand.

use imbl::OrdMap;

use crate::refs::Ref;
use crate::text::error::{Mistake, code, in_scope};

/// A text as it was written, with what its `$names` stand for. Places in it are those of the text as written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'t> {
    pub(super) text: &'t str,
    names: Option<&'t OrdMap<String, Ref>>,
}

impl<'t> Written<'t> {
    /// A text that may use names, which are given without their `$`.
    pub fn with_names(text: &'t str, names: &'t OrdMap<String, Ref>) -> Written<'t> {
        Written { text, names: Some(names) }
    }

    /// What a word like `$x` stands for; `None` for a word that is no `$name`.
    pub(super) fn named(&self, word: &str) -> Option<Ref> {
        self.names?.get(word.strip_prefix('$')?).copied()
    }

    /// The mistake of a word like `$x` that stands for nothing.
    pub(super) fn unknown(&self, word: &str, at: u32) -> Mistake {
        let known = self.names.into_iter().flatten().map(|(name, _)| name.as_str());
        let near = in_scope(word.strip_prefix('$').unwrap_or(word), known);
        let message = match self.names {
            Some(_) => format!("no edit before made `{word}`"),
            None => format!("there is no list of edits that made `{word}`"),
        };
        Mistake::new(code::UNKNOWN_NAME, at, message)
            .found(word)
            .candidates(near.into_iter().map(|name| format!("${name}")).collect())
    }
}

/// A text that uses no names.
impl<'t> From<&'t str> for Written<'t> {
    fn from(text: &'t str) -> Written<'t> {
        Written { text, names: None }
    }
}

/// A text that uses no names.
impl<'t> From<&'t String> for Written<'t> {
    fn from(text: &'t String) -> Written<'t> {
        text.as_str().into()
    }
}
