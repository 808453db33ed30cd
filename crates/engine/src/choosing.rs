//! Which of the revisions that a content is made of are to be taken back.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_history::log::{Header, RevisionKind};
use uuid::Uuid;

use crate::ancestry::Headers;
use crate::authors::Maker;
use crate::branches::{Tip, Way};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::reverting::MOST;

/// Which revisions to take back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that the caller names.
    Revisions(Vec<String>),
    /// All that an author has made.
    Author(String),
    /// All that a flow's run has made.
    Run(Uuid),
    /// So many of an author's newest ones.
    Newest(String, usize),
    /// An author's newest ones that were taken back, if the author has made none since; so many times.
    TakenBack(String, usize),
}

impl Which {
    /// How many at most.
    pub(crate) fn count(&self) -> usize {
        match self {
            Which::Newest(_, count) | Which::TakenBack(_, count) => *count,
            Which::Revisions(_) | Which::Author(_) | Which::Run(_) => usize::MAX,
        }
    }

    /// Who has made what is asked for, if it is asked for by that.
    pub(crate) fn maker(&self) -> Option<Maker<'_>> {
        match self {
            Which::Author(author) | Which::Newest(author, _) => Some(Maker::Author(author)),
            Which::Run(run) => Some(Maker::Run(*run)),
            Which::Revisions(_) | Which::TakenBack(..) => None,
        }
    }

    /// Whether older entries than those of a line make no difference to what is chosen.
    pub(crate) fn has_chosen(&self, line: &[Arc<Header>]) -> bool {
        let oldest = line.last().map_or(0, |header| header.number);
        let looks_at = |header: &Arc<Header>| header.taken_back().all(|number| number >= oldest);
        self.choice(line).1 && line.iter().all(looks_at)
    }

    /// Whether an entry is asked for by who made it.
    fn holds(&self, header: &Header) -> bool {
        match self {
            Which::Revisions(_) => false,
            Which::Author(author) | Which::Newest(author, _) => header.actor.name == *author,
            Which::Run(run) => header.origin.is_some_and(|origin| origin.run == run.into_bytes()),
            Which::TakenBack(..) => header.kind == RevisionKind::Revert,
        }
    }

    /// Chooses among the entries that a content is made of, newest first.
    pub(crate) fn choose(&self, line: &[Arc<Header>]) -> BTreeSet<u64> {
        self.choice(line).0
    }

    /// What is chosen, and whether that is all, whatever is older.
    fn choice(&self, line: &[Arc<Header>]) -> (BTreeSet<u64>, bool) {
        let taken_back = taken_back(line);
        let mut chosen = BTreeSet::new();
        for header in line {
            if taken_back.contains(&header.number) || header.parents.is_empty() {
                continue;
            }
            let reverts = header.kind == RevisionKind::Revert;
            match self {
                // A change by the author ends what could be brought back.
                Which::TakenBack(author, _) if header.actor.name == *author && !reverts => {
                    return (chosen, true);
                }
                Which::TakenBack(..) if reverts && self.brings_back(header, line) => {
                    chosen.insert(header.number);
                }
                Which::TakenBack(..) | Which::Revisions(_) => {}
                Which::Author(_) | Which::Run(_) | Which::Newest(..) => {
                    if !reverts && self.holds(header) {
                        chosen.insert(header.number);
                    }
                }
            }
            if chosen.len() >= self.count() {
                return (chosen, true);
            }
        }
        (chosen, false)
    }

    /// Whether an entry took back what is to be brought back: something that the author made.
    fn brings_back(&self, revert: &Header, line: &[Arc<Header>]) -> bool {
        let Which::TakenBack(author, _) = self else { return false };
        revert
            .taken_back()
            .filter_map(|number| in_line(line, number))
            .any(|header| header.actor.name == *author && header.kind != RevisionKind::Revert)
    }
}

impl Engine {
    /// Makes sure that an entry which a branch's content is not made of was taken back, by an undo or a restore.
    pub(crate) async fn was_left(
        &self,
        open: &OpenProgram,
        (tip, branch): (&Tip, &str),
        line: &[Arc<Header>],
        number: u64,
    ) -> Result<(), Error> {
        let missing = || Error::not_found("revision", format!("r{number}"));
        let header = self.header(open, number).await?.ok_or_else(missing)?;
        if let (true, Some(target)) = (header.kind.takes_target_state(), header.target) {
            let message =
                format!("r{number} went to r{target} and did nothing else: `undo` and `redo` go from there");
            return Err(Error::bad_request(message));
        }
        let way = self.way(open, tip.revision.entry.number).await?;
        if way.holds(&header) {
            return Ok(());
        }
        let known = [way];
        for merge in line.iter().filter(|header| header.kind == RevisionKind::Merge) {
            if Way::holds_any(&self.brought_in(open, merge, &known).await?.0, &header) {
                let merge = merge.number;
                let message =
                    format!("r{number} came to `{branch}` with the merge r{merge}, which can be taken back");
                return Err(Error::bad_request(message));
            }
        }
        Err(Error::bad_request(format!("r{number} is no revision that the content of `{branch}` is made of")))
    }

    /// The newest merge of a line, newest first, that brought something by somebody in and was not taken back.
    pub(crate) async fn merged_of(
        &self,
        open: &OpenProgram,
        tip: &Tip,
        line: &[Arc<Header>],
        maker: Maker<'_>,
    ) -> Result<Option<u64>, Error> {
        let (known, gone) = ([self.way(open, tip.revision.entry.number).await?], taken_back(line));
        let is_merge =
            |header: &&Arc<Header>| header.kind == RevisionKind::Merge && !gone.contains(&header.number);
        for merge in line.iter().filter(is_merge) {
            let (stretches, _) = self.brought_in(open, merge, &known).await?;
            if self.has_entries_by(open, maker, &stretches).await? {
                return Ok(Some(merge.number));
            }
        }
        Ok(None)
    }

    /// A merge that brought what a state is made of into another one, and the revert that took it back there, if that stands.
    pub(crate) async fn merge_taken_back(
        &self,
        open: &OpenProgram,
        into: u64,
        from: &Header,
    ) -> Result<Option<(u64, u64)>, Error> {
        let way = self.way(open, from.number).await?;
        let (mut headers, mut line, mut next) = (Headers::new(self, open), Vec::new(), Some(into));
        while let Some(number) = next.filter(|number| *number > from.number && line.len() < MOST) {
            let header = headers.maker(number).await?;
            next = header.parents.first().copied();
            line.push(header);
        }
        let gone = taken_back(&line);
        let stands =
            |header: &&Arc<Header>| header.kind == RevisionKind::Revert && !gone.contains(&header.number);
        for revert in line.iter().filter(stands) {
            for merge in revert.taken_back().filter_map(|number| in_line(&line, number)) {
                let Some(brought) = merge.parents.get(1).copied() else { continue };
                let brought = headers.get(brought).await?;
                if way.holds(&brought) {
                    return Ok(Some((merge.number, revert.number)));
                }
            }
        }
        Ok(None)
    }
}

/// The entry with a number of a line, which is newest first.
pub(crate) fn in_line(line: &[Arc<Header>], number: u64) -> Option<&Arc<Header>> {
    let at = line.binary_search_by(|header| number.cmp(&header.number)).ok()?;
    line.get(at)
}

/// What entries of a line, newest first, have taken back, unless they were taken back themselves.
pub(crate) fn taken_back(line: &[Arc<Header>]) -> BTreeSet<u64> {
    taken_back_without(line, &BTreeSet::new())
}

/// The same as if some of them were not there.
pub(crate) fn taken_back_without(line: &[Arc<Header>], without: &BTreeSet<u64>) -> BTreeSet<u64> {
    let mut taken = BTreeSet::new();
    for header in line.iter().filter(|header| header.kind == RevisionKind::Revert) {
        if !taken.contains(&header.number) && !without.contains(&header.number) {
            taken.extend(header.taken_back());
        }
    }
    taken
}
