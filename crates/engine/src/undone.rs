//! What an undo took away and cannot be redone, since something was changed after it: a merge brings it back.

use lmlang_history::log::RevisionKind;

use crate::ancestry::Headers;
use crate::branches::Tip;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;

/// How many of the newest revisions of a branch are looked at.
const LOOKED_AT: usize = 100;

impl Engine {
    /// How to come by what the newest undo of a branch took away that cannot be redone, if it is not there by now; with an
    /// author, if some of it is theirs. Empty if there is no such undo.
    pub(crate) async fn undone(
        &self,
        open: &OpenProgram,
        tip: &Tip,
        author: Option<&str>,
    ) -> Result<String, Error> {
        let mut headers = Headers::new(self, open);
        let newest = tip.revision.entry.number;
        let (mut number, mut change) = (newest, None);
        for _ in 0..LOOKED_AT {
            let header = headers.get(number).await?;
            let Some(parent) = header.parents.first().copied().filter(|_| header.branch == tip.branch) else {
                break;
            };
            if header.kind != RevisionKind::Undo {
                (number, change) = (parent, Some(number));
                continue;
            }
            // As long as nothing was changed, it can be redone.
            let Some(change) = change else { break };
            let mut before = headers.get(parent).await?;
            while before.kind == RevisionKind::Undo
                && let Some(parent) = before.parents.first().copied()
            {
                before = headers.get(parent).await?;
            }
            let before = headers.maker(before.number).await?.number;
            let target = header.target.unwrap_or_default();
            let (mut next, mut is_theirs) = (Some(before), author.is_none());
            while let Some(state) = next.filter(|state| *state > target && !is_theirs) {
                let state = headers.maker(state).await?;
                is_theirs = author == Some(state.actor.name.as_str());
                next = state.parents.first().copied();
            }
            if !is_theirs || self.common(open, newest, before).await? == [before] {
                break;
            }
            return Ok(format!(
                ": r{change} was made after the undo r{number}; merging r{before} brings back what that took away"
            ));
        }
        Ok(String::new())
    }
}
