//! What is not as a caller read it, by the hash that an edit gives: what that was, where it is still known, and what is there.

use std::sync::Arc;

use lmlang_history::log::Header;
use lmlang_history::merge::versions;
use lmlang_history::request::has_text_hash;
use lmlang_ir::{Ref, RefKind};

use crate::conflict::Collision;
use crate::edits::Outcome;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::past::{HistoryQuery, Place};
use crate::timeline::Revision;

/// Of how many entities of one request it is looked for.
const ENTITIES: usize = 8;

/// How many of the changes of one are looked behind, the newest first: each may take building an older state again.
const CHANGES: usize = 8;

/// Where an entity has the hash that a caller gave.
enum Seen {
    /// In what the edits were made on: one before it in the list changes it.
    Before,
    /// In the newest revision, and not in the older one that the edits were made on.
    Newest,
    /// In a revision before the newest, up to a change.
    Until(Arc<Revision>, Arc<Header>),
    /// Nowhere that was looked.
    Nowhere,
}

impl Engine {
    /// The same outcome, with both sides of what is not as the caller read it.
    pub(crate) async fn with_both_sides(
        &self,
        open: &OpenProgram,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        let mut conflict = match outcome {
            Outcome::Conflict(conflict) => conflict,
            other => return Ok(other),
        };
        if conflict.conflicts.iter().all(|one| one.given.is_none()) {
            return Ok(Outcome::Conflict(conflict));
        }
        let Some(head) = self.state(open, conflict.head.number).await? else {
            return Ok(Outcome::Conflict(conflict));
        };
        let base = match &conflict.base {
            Some(base) => self.state(open, base.number).await?,
            None => None,
        };
        for one in conflict.conflicts.iter_mut().filter(|one| one.given.is_some()).take(ENTITIES) {
            self.show_sides(open, one, base.as_ref(), &head).await?;
        }
        Ok(Outcome::Conflict(conflict))
    }

    async fn show_sides(
        &self,
        open: &OpenProgram,
        one: &mut Collision,
        base: Option<&Arc<Revision>>,
        head: &Arc<Revision>,
    ) -> Result<(), Error> {
        let (Some(given), Ok(of)) = (&one.given, one.of.parse::<Ref>()) else { return Ok(()) };
        let read = match self.seen(open, (of, given), base, head).await? {
            Seen::Before => {
                one.message.push_str(": an edit before it in the list changes it");
                Some(base.unwrap_or(head).checked.clone())
            }
            Seen::Newest => {
                one.message.push_str(&format!(", which it has in r{}", head.entry.number));
                base.map(|base| base.checked.clone())
            }
            Seen::Until(revision, change) => {
                let (number, author) = (change.number, &change.actor.name);
                one.message.push_str(&format!(", which it had until r{number} by `{author}`"));
                Some(revision.checked.clone())
            }
            Seen::Nowhere => base.map(|base| base.checked.clone()),
        };
        let now = head.checked.clone();
        let show = move || versions([read.as_ref().map(|read| read.program()), Some(now.program())], of);
        [one.base, one.ours] = self.compute(show).await?;
        Ok(())
    }

    /// Where an entity has the hash that a caller gave.
    async fn seen(
        &self,
        open: &OpenProgram,
        (of, given): (Ref, &str),
        base: Option<&Arc<Revision>>,
        head: &Arc<Revision>,
    ) -> Result<Seen, Error> {
        let has_it = |revision: &Revision| has_text_hash(revision.checked.program(), of, given);
        if has_it(base.unwrap_or(head)) {
            return Ok(Seen::Before);
        }
        if has_it(head) {
            return Ok(Seen::Newest);
        }
        let number = head.entry.number;
        let query = HistoryQuery {
            on_way_to: Some(Place { revision: number, branch: head.entry.branch }),
            // What is in a module changes without it.
            touching: (of.kind != RefKind::Module).then_some(of),
            ..HistoryQuery::up_to(number, CHANGES)
        };
        for change in self.history(open, &query).await?.entries {
            let Some(before) = change.parents.first().copied() else { continue };
            if let Some(revision) = self.state(open, before).await?
                && has_it(&revision)
            {
                return Ok(Seen::Until(revision, change));
            }
        }
        Ok(Seen::Nowhere)
    }
}
