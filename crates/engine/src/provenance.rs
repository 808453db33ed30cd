//! Who made an entity, and who changed it last: also through merges, which bring in what others did on another branch.

use std::sync::Arc;

use lmlang_history::Touched;
use lmlang_history::log::{Header, RevisionKind};
use lmlang_history::provenance::CAME_BACK;
use lmlang_ir::Ref;
use lmlang_store::{FIRST_SEQ, HistoryFilter, Stretch};

use crate::branches::MAIN_BRANCH;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::records;
use crate::timeline::Revision;

impl Engine {
    /// The revisions that made and last changed an entity, as of a revision; `owner` is what it is part of.
    ///
    /// What a merge brought in was made and changed on the branch that it merged; what both sides had changed, or a resolution
    /// has, was changed by the merge. An undo and a redo leave what they go back to to those who made that. What a restore
    /// brought in was made there.
    pub async fn provenance(
        &self,
        open: &OpenProgram,
        revision: &Revision,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<Touched, Error> {
        let mut touched = self.touched(open, revision, of, owner).await?;
        while let Some(entry) = self.header(open, touched.modified).await?
            && let Some(number) = self.changed_before(open, &entry, of, owner).await?
        {
            touched.modified = number;
        }
        while let Some((source, resolved)) = self.came_from(open, touched.created, of).await? {
            let oldest = match self.touching(open, of, owner, source, usize::MAX).await?.pop() {
                Some(oldest) => Some(oldest.number),
                // The resolution made it.
                None if resolved => None,
                None => self.made_with(open, owner, source).await?,
            };
            let Some(oldest) = oldest else { break };
            touched.created = oldest;
        }
        Ok(touched)
    }

    /// The entry behind one that touches an entity: for a merge the last one to change that on the branch that was merged, for
    /// an undo and a redo the last one in the state that they went to; none if the entry has changed it itself.
    async fn changed_before(
        &self,
        open: &OpenProgram,
        entry: &Header,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<Option<u64>, Error> {
        if let (true, Some(target)) = (entry.kind.goes_along_line(), entry.target) {
            return match self.last_touching(open, of, owner, target).await? {
                Some(newest) => Ok(Some(newest.number)),
                None => self.made_with(open, owner, target).await,
            };
        }
        let (RevisionKind::Merge, [ours, theirs]) = (entry.kind, &entry.parents[..]) else { return Ok(None) };
        if self.has_settled(open, entry, of).await? {
            return Ok(None);
        }
        let Some(newest) = self.last_touching(open, of, owner, *theirs).await? else {
            return self.made_with(open, owner, *theirs).await;
        };
        // Mostly there is nothing to be looked for among what both come from.
        let their_way = self.way(open, *theirs).await?;
        let ours_newest = self.last_touching(open, of, owner, *ours).await?;
        let is_theirs = match ours_newest {
            Some(newest) if !their_way.holds(&newest) => {
                let own = self.kinship(open, *ours, *theirs).await?.first;
                !self.have_changed(open, &own, of, owner).await?
            }
            Some(_) | None => true,
        };
        Ok(is_theirs.then_some(newest.number))
    }

    /// The entry on the way to a revision that made what an entity is part of: the entity came with it, if no entry is about
    /// the entity itself.
    async fn made_with(
        &self,
        open: &OpenProgram,
        owner: Option<Ref>,
        revision: u64,
    ) -> Result<Option<u64>, Error> {
        let Some(owner) = owner else { return Ok(None) };
        let made = self.touching(open, owner, None, revision, usize::MAX).await?.pop();
        Ok(made.map(|made| made.number))
    }

    /// The revision that was merged by the entry with a number, or whose state it has gone to: a restore may bring in what was
    /// made on another branch. And whether the edits of a resolution made or changed an entity.
    async fn came_from(
        &self,
        open: &OpenProgram,
        number: u64,
        of: Ref,
    ) -> Result<Option<(u64, bool)>, Error> {
        let Some(entry) = self.header(open, number).await? else { return Ok(None) };
        Ok(match entry.kind {
            RevisionKind::Merge => entry.parents.get(1).map(|merged| (*merged, entry.resolved.contains(&of))),
            kind if kind.takes_target_state() => entry.target.map(|target| (target, false)),
            _ => None,
        })
    }

    async fn touched(
        &self,
        open: &OpenProgram,
        revision: &Revision,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<Touched, Error> {
        let (head, newest) = (open.timeline.head(), revision.entry.number);
        let tip = match head.branches.numbered(revision.entry.branch) {
            Some(branch) => self.tip(open, &head, &branch.name).await?,
            None if revision.entry.branch == MAIN_BRANCH => head.main.clone(),
            // Of a branch that is gone only the log knows.
            None => return self.touched_in_log(open, newest, of, owner).await,
        };
        let touched = tip.provenance.of(of, owner, FIRST_SEQ);
        if touched.created == CAME_BACK {
            return self.touched_in_log(open, newest, of, owner).await;
        }
        if touched.modified <= newest {
            let is_held = tip.revision.entry.number == newest && tip.line.holds(touched.modified);
            if is_held || self.went_after(open, touched.modified, newest).await?.is_none() {
                return Ok(touched);
            }
        }
        // Seen from the past, or behind an undo: the newest change that had happened by then.
        let last = self.last_touching(open, of, owner, newest).await?;
        let modified = last.map_or(touched.created.min(newest), |entry| entry.number);
        Ok(Touched { created: touched.created.min(modified), modified })
    }

    /// The newest entry on the way to a revision that touches an entity and that the content there is made of: an undo and a
    /// redo may pass over changes that came to nothing together, and then touch nothing of what these touched.
    async fn last_touching(
        &self,
        open: &OpenProgram,
        of: Ref,
        owner: Option<Ref>,
        revision: u64,
    ) -> Result<Option<Arc<Header>>, Error> {
        let mut place = revision;
        while let Some(newest) = self.touching(open, of, owner, place, 1).await?.pop() {
            match self.went_after(open, newest.number, place).await? {
                Some(target) => place = target,
                None => return Ok(Some(newest)),
            }
        }
        Ok(None)
    }

    /// The revision whose state the newest undo or redo has gone to that follows an entry on the way to a revision.
    async fn went_after(&self, open: &OpenProgram, entry: u64, revision: u64) -> Result<Option<u64>, Error> {
        let later = |stretch: &Stretch| {
            let (first, last) = (*stretch.entries.start(), *stretch.entries.end());
            (last > entry).then(|| Stretch { branch: stretch.branch, entries: first.max(entry + 1)..=last })
        };
        let way = self.way(open, revision).await?;
        let stretches: Vec<Stretch> = way.stretches().iter().filter_map(later).collect();
        // A filter without any takes all.
        if stretches.is_empty() {
            return Ok(None);
        }
        let kinds = [RevisionKind::Undo, RevisionKind::Redo].map(records::to_kind).to_vec();
        let filter = HistoryFilter { stretches, kinds, ..HistoryFilter::default() };
        let Some(newest) = self.store().history(open.timeline.key(), &filter, 1).await?.pop() else {
            return Ok(None);
        };
        Ok(self.header(open, newest).await?.and_then(|entry| entry.target))
    }

    /// The revisions on the way to one that made and last changed an entity, or what it is part of.
    async fn touched_in_log(
        &self,
        open: &OpenProgram,
        newest: u64,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<Touched, Error> {
        for (of, owner) in [(Some(of), owner), (owner, None)] {
            let Some(of) = of else { continue };
            let Some(first) = self.touching(open, of, owner, newest, usize::MAX).await?.pop() else {
                continue;
            };
            let last = self.last_touching(open, of, owner, newest).await?;
            let modified = last.map_or(first.number, |last| last.number);
            return Ok(Touched { created: first.number, modified });
        }
        Ok(Touched { created: FIRST_SEQ, modified: FIRST_SEQ })
    }
}
