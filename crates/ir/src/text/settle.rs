//! What a function keeps of the one that its text replaced.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::function::Function;
use crate::matching::{Comments, carry_over, comments, matching};
use crate::refs::{FuncRef, RefAllocator};
use crate::text::error::{Mistake, code};
use crate::text::lower::Lowering;
use crate::text::print::Detail;
use crate::text::syntax::{Item, Tree};

impl Lowering<'_> {
    /// Gives what stayed of a function its old refs, now that its new text has been lowered in full, and the comments
    /// that the text was printed without. `before` are the refs as they were before the body.
    pub(super) fn settle(&mut self, of: FuncRef, old: &Function, before: RefAllocator, comments: Comments) {
        // Of a text with mistakes nothing is kept.
        if !self.mistakes.is_empty() {
            return;
        }
        let Some(new) = self.program.function(of).map(Arc::clone) else { return };
        self.refs = before;
        let found = matching(of, old, &new);
        let settled =
            carry_over((of, old, &new), found, comments, &mut self.refs).and_then(|(function, numbers)| {
                self.program.remove_function(of)?;
                self.program.add_whole_function(of, Arc::new(function))?;
                Ok(numbers)
            });
        match settled {
            Ok(numbers) => self.renumber_places(&numbers),
            Err(error) => self.note(Mistake::new(code::DUPLICATE_REF, 0, error.to_string())),
        }
    }

    fn renumber_places(&mut self, numbers: &HashMap<u64, u64>) {
        let Some(places) = &mut self.places else { return };
        let moved: Vec<(u64, u32)> =
            numbers.iter().filter_map(|(from, to)| Some((*to, places.remove(from)?))).collect();
        places.extend(moved);
    }
}

/// Whose comments a function has whose text the tree is.
pub(super) fn comments_of(tree: &Tree, old: &Function, printed: Option<Detail>) -> Comments {
    told(tree, &comments(old).collect(), printed)
}

/// Whether a text was printed with comments. If nobody knows: then one of those that were there stands in it.
pub(super) fn told(tree: &Tree, old: &HashSet<&str>, printed: Option<Detail>) -> Comments {
    match printed {
        Some(Detail::Full) => return Comments::Told,
        Some(Detail::Standard | Detail::Summary) => return Comments::Kept,
        None => {}
    }
    let mut told = tree.stmts.iter().filter_map(|stmt| stmt.doc.as_ref());
    let mut trailers = tree.regions.iter().filter_map(|region| region.trailer.as_ref());
    let mut says = |comment: &Arc<str>| old.contains(&**comment);
    if old.is_empty() || told.any(&mut says) || trailers.any(&mut says) {
        return Comments::Told;
    }
    let headers = tree.modules.iter().filter_map(|(header, _)| header.as_ref());
    let mut headers = headers.flat_map(|header| header.modifiers.doc.iter().chain(&header.trailer));
    let mut items = tree.modules.iter().flat_map(|(_, items)| items);
    if headers.any(&mut says) || items.any(|item| item_says(item, &mut says)) {
        return Comments::Told;
    }
    Comments::Kept
}

fn item_says(item: &Item, mut says: impl FnMut(&Arc<str>) -> bool) -> bool {
    match item {
        Item::Type(item) => {
            let members = item.members.iter().filter_map(|member| member.doc.as_ref());
            item.modifiers.doc.iter().chain(members).any(says)
        }
        Item::Storage(item) => item.modifiers.doc.iter().any(says),
        Item::Function(item) => {
            let body = item.body.iter();
            let parts = body.flat_map(|body| {
                let variables = body.vars.iter().filter_map(|var| var.doc.as_ref());
                variables.chain(body.contracts.iter().filter_map(|contract| contract.doc.as_ref()))
            });
            item.modifiers.doc.iter().chain(&item.runs).any(&mut says) || parts.into_iter().any(says)
        }
    }
}
