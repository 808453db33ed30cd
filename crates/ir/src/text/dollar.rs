//! Words of a text that mean what is said outside of it: `$x` stands for the ref of what is called so, wherever a ref may
//! stand, and a ref of something that is not there for the one that it gets.

use std::collections::{BTreeMap, HashMap};

use imbl::OrdMap;

use crate::program::Program;
use crate::refs::{Ref, RefAllocator, RefKind};
use crate::text::api::parse_items;
use crate::text::error::{Mistake, code, in_scope};
use crate::text::given::given;
use crate::text::lower::Policy;

/// A text as it was written, with what its `$names` stand for. Places in it are those of the text as written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'t> {
    pub(super) text: &'t str,
    names: Option<&'t OrdMap<String, Ref>>,
    renewed: Option<&'t Renewed>,
}

/// New refs for what a text gives refs to that nothing has: it was printed of another state of the program, as the lines are
/// that a patch adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewed(BTreeMap<Ref, Ref>);

impl Renewed {
    /// Hands out refs for what else a text gives refs to that nothing in the program has.
    pub fn extend(&mut self, text: &str, program: &Program, refs: &mut RefAllocator) {
        let (tree, _) = parse_items(text);
        for given in given(&tree) {
            let of = given.tag.of;
            if of.kind != given.kind || program.ref_of(of.number) == Some(of) || self.0.contains_key(&of) {
                continue;
            }
            // When all are used up, the text is refused for naming what is not there.
            if let Some(number) = refs.allocate() {
                self.0.insert(of, Ref { number, ..of });
            }
        }
    }
}

impl<'t> Written<'t> {
    /// A text that may use names, which are given without their `$`.
    pub fn with_names(text: &'t str, names: &'t OrdMap<String, Ref>) -> Written<'t> {
        Written { text, names: Some(names), renewed: None }
    }

    /// The same, with other refs for what is not there.
    pub fn renewing(self, renewed: &'t Renewed) -> Written<'t> {
        Written { renewed: Some(renewed), ..self }
    }

    /// The ref that a word stands for, if it does not stand for itself.
    pub(super) fn meant(&self, word: &str) -> Option<Ref> {
        self.named(word).or_else(|| self.renewed?.0.get(&word.parse().ok()?).copied())
    }

    /// What the refs that the text gives mean, where these are those of what is there.
    pub(super) fn policy(&self, mut there: HashMap<u64, RefKind>) -> Policy {
        let renewed = self.renewed.into_iter().flat_map(|renewed| renewed.0.values());
        there.extend(renewed.map(|of| (of.number, of.kind)));
        if there.is_empty() { Policy::Refuse } else { Policy::Match(there) }
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
        Written { text, names: None, renewed: None }
    }
}

/// A text that uses no names.
impl<'t> From<&'t String> for Written<'t> {
    fn from(text: &'t String) -> Written<'t> {
        text.as_str().into()
    }
}
