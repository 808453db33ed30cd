//! Finding any revision of a program by its name or number.

use std::sync::Arc;

use lmlang_history::Edit;
use lmlang_history::log::{Entry, Header};
use lmlang_history::revision::{Base, MAIN, RevisionName, hashes_from};
use lmlang_store::{Bound, EntryKind, FIRST_SEQ, ProgramKey, Tail};

use crate::ancestry::Headers;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::opening::changes_content;
use crate::records;
use crate::timeline::{Head, Revision};

/// How many of the newest entries of a log are looked through for the end of a branch.
const LOOKED_THROUGH: u64 = 100_000;

impl Engine {
    /// Entries of a program after a number, oldest first, as much as a bound allows.
    pub(crate) async fn entries_of(
        &self,
        program: ProgramKey,
        after: u64,
        bound: Bound,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let mut entries = Vec::new();
        for row in self.store().tail(Tail { program, after }, bound).await? {
            entries.push(Arc::new(records::from_row(self, row).await?));
        }
        Ok(entries)
    }

    /// The revision that a caller names, or the head. Not for whoever has the writer.
    pub async fn revision(&self, open: &OpenProgram, at: Option<&str>) -> Result<Arc<Revision>, Error> {
        let Some(at) = at else { return Ok(open.timeline.head().main.revision.clone()) };
        self.hear_of(open, at).await?;
        self.revision_heard_of(open, at).await
    }

    /// The revision that a caller names, if this process has heard of the name.
    pub(crate) async fn revision_heard_of(
        &self,
        open: &OpenProgram,
        at: &str,
    ) -> Result<Arc<Revision>, Error> {
        let number = self.number_of(open, at).await?;
        self.state(open, number).await?.ok_or_else(|| unknown(open, at))
    }

    /// The header of the revision that a caller names. Builds no state.
    pub(crate) async fn named(&self, open: &OpenProgram, at: &str) -> Result<Arc<Header>, Error> {
        let number = self.number_of(open, at).await?;
        self.content_header(open, number).await?.ok_or_else(|| unknown(open, at))
    }

    /// The header of the entry that a caller names, whether or not it changes the content. Builds no state. Not for whoever
    /// has the writer.
    pub async fn entry_named(&self, open: &OpenProgram, at: &str) -> Result<Arc<Header>, Error> {
        self.hear_of(open, at).await?;
        let number = self.number_of(open, at).await?;
        self.header(open, number).await?.ok_or_else(|| unknown(open, at))
    }

    /// Takes in what other processes did, where nothing here has the name that a caller gives: one of them may have given it a
    /// moment ago. Not for whoever has the writer.
    pub async fn hear_of(&self, open: &OpenProgram, at: &str) -> Result<(), Error> {
        if self.store().is_alone() {
            return Ok(());
        }
        let Ok(name) = at.parse::<RevisionName>() else { return Ok(()) };
        let heard = match &name.base {
            // Those are come to when they are looked for.
            Base::Number(_) => true,
            Base::Hash(digits) => {
                let (first, last) = hashes_from(digits);
                let found = self.store().newest_with_hash(open.timeline.key(), first.0, last.0).await?;
                found.is_none_or(|number| number <= open.timeline.head().last)
            }
            Base::Named(name) => {
                let head = open.timeline.head();
                name == MAIN || head.branches.get(name).is_some() || head.checkpoints.get(name).is_some()
            }
        };
        if heard { Ok(()) } else { self.catch_up(open).await }
    }

    async fn number_of(&self, open: &OpenProgram, at: &str) -> Result<u64, Error> {
        let unknown = || unknown(open, at);
        let name: RevisionName = at.parse().map_err(|_| unknown())?;
        if let Base::Number(number) = &name.base {
            self.come_to(open, *number).await?;
        }
        let head = open.timeline.head();
        let mut number = match &name.base {
            Base::Number(number) => *number,
            Base::Hash(digits) => {
                let (first, last) = hashes_from(digits);
                let found = self.store().newest_with_hash(open.timeline.key(), first.0, last.0).await?;
                found.ok_or_else(unknown)?
            }
            Base::Named(name) if name == MAIN => head.main.revision.entry.number,
            Base::Named(name) => match head.branches.get(name) {
                Some(branch) => match branch.tip() {
                    Some(tip) => tip.revision.entry.number,
                    None => self.newest_on(open, branch.number, head.last).await?.ok_or_else(unknown)?.number,
                },
                None => match head.checkpoints.get(name) {
                    Some(checkpoint) => checkpoint.revision,
                    None => return Err(Box::pin(self.nobodys(open, &head, at, name)).await),
                },
            },
        };
        // Many at a time: it may be far.
        let mut headers = Headers::new(self, open);
        for _ in 0..name.back {
            let header = match headers.get(number).await {
                Err(Error::NotFound { .. }) => return Err(unknown()),
                found => found?,
            };
            number = header.parents.first().copied().ok_or_else(unknown)?;
        }
        Ok(number)
    }

    /// The error of a name that no branch and no checkpoint has: with the newest revision of a branch that had it and is gone,
    /// or with near names, or else with the head.
    async fn nobodys(&self, open: &OpenProgram, head: &Head, at: &str, name: &str) -> Error {
        let gone = match self.end_of_deleted(open, head, name).await {
            Ok(gone) => gone,
            Err(error) => return error,
        };
        let retired = gone.is_some();
        let mut candidates: Vec<String> = gone.into_iter().map(|number| format!("r{number}")).collect();
        if candidates.is_empty() {
            let branches = head.branches.iter().map(|branch| branch.name.as_str()).chain([MAIN]);
            let names = branches.chain(head.checkpoints.iter().map(|checkpoint| checkpoint.name.as_str()));
            candidates = lmlang_ir::text::nearest(name, names);
        }
        if candidates.is_empty() {
            candidates.push(format!("r{}", head.main.revision.entry.number));
        }
        Error::NotFound { what: "revision", given: at.to_owned(), candidates, retired }
    }

    /// The newest revision of the branch of a name that was deleted last, if one of the newer entries of the log did that.
    async fn end_of_deleted(
        &self,
        open: &OpenProgram,
        head: &Head,
        name: &str,
    ) -> Result<Option<u64>, Error> {
        let marks = self.store().marks(open.timeline.key(), head.last.saturating_sub(LOOKED_THROUGH)).await?;
        let ends =
            marks.into_iter().rev().filter(|mark| mark.kind == EntryKind::Branch && mark.target.is_none());
        for end in ends {
            let end = records::header(self, end).await?;
            if end.name.as_deref() == Some(name) {
                return Ok(end.parents.first().copied());
            }
        }
        Ok(None)
    }

    /// The header of the entry with a number.
    pub async fn header(&self, open: &OpenProgram, number: u64) -> Result<Option<Arc<Header>>, Error> {
        if let Some(revision) = open.timeline.recent(number) {
            return Ok(Some(Arc::clone(&revision.entry)));
        }
        if number > open.timeline.head().last {
            return Ok(None);
        }
        match self.store().header(open.timeline.key(), number).await? {
            Some(row) => Ok(Some(Arc::new(records::header(self, row).await?))),
            None => Ok(None),
        }
    }

    /// The edits of the entry with a number; none if there is no such entry.
    pub async fn edits(&self, open: &OpenProgram, number: u64) -> Result<Vec<Edit>, Error> {
        match self.store().edits(open.timeline.key(), &[number], usize::MAX).await?.pop() {
            Some((number, edits)) => self.decoded(number, edits).await,
            None => Ok(Vec::new()),
        }
    }

    /// The header of the entry with a number; that of its parent for one that changes no content.
    pub(crate) async fn content_header(
        &self,
        open: &OpenProgram,
        number: u64,
    ) -> Result<Option<Arc<Header>>, Error> {
        let mut next = Some(number);
        while let Some(number) = next {
            let Some(header) = self.header(open, number).await? else { return Ok(None) };
            if changes_content(header.kind) {
                return Ok(Some(header));
            }
            next = header.parents.first().copied();
        }
        Ok(None)
    }

    /// The state that a program began with.
    pub async fn origin(&self, open: &OpenProgram) -> Result<Arc<Revision>, Error> {
        let first = self.state(open, FIRST_SEQ).await?;
        first.ok_or_else(|| Error::not_found("revision", format!("r{FIRST_SEQ}")))
    }

    /// The state after the entry with a number; that of its parent for an entry that changes no content.
    ///
    /// Recent ones are in memory, older ones are built again from the snapshot before them.
    pub async fn state(&self, open: &OpenProgram, number: u64) -> Result<Option<Arc<Revision>>, Error> {
        let Some(header) = self.content_header(open, number).await? else { return Ok(None) };
        let number = header.number;
        if let Some(revision) = open.timeline.recent(number) {
            return Ok(Some(revision));
        }
        if let Some(revision) = open.timeline.older(number) {
            return Ok(Some(revision));
        }
        let Some(revision) = Box::pin(self.rebuild(open, number)).await? else { return Ok(None) };
        open.timeline.keep(Arc::clone(&revision));
        Ok(Some(revision))
    }
}

/// The error of a revision that there is not, with the head.
fn unknown(open: &OpenProgram, at: &str) -> Error {
    let candidates = vec![format!("r{}", open.timeline.head().main.revision.entry.number)];
    Error::NotFound { what: "revision", given: at.to_owned(), candidates, retired: false }
}
