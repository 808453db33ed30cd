//! What a function keeps of the one that its text replaced.

use std::collections::HashMap;
use std::sync::Arc;

use crate::function::Function;
use crate::matching::{Comments, carry_over, matching, says_comments_of};
use crate::refs::{FuncRef, RefAllocator};
use crate::text::error::{Mistake, code};
use crate::text::lower::Lowering;

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
        let found = matching(old, &new);
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

    /// Whose comments a function has that its text has just been lowered to.
    pub(super) fn comments(&self, of: FuncRef, old: &Function) -> Comments {
        match self.program.function(of) {
            Some(new) if says_comments_of(old, new) => Comments::Told,
            Some(_) | None => Comments::Kept,
        }
    }

    fn renumber_places(&mut self, numbers: &HashMap<u64, u64>) {
        let Some(places) = &mut self.places else { return };
        let moved: Vec<(u64, u32)> =
            numbers.iter().filter_map(|(from, to)| Some((*to, places.remove(from)?))).collect();
        places.extend(moved);
    }
}
