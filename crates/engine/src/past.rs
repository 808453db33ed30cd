//! Looking back: the entries of a log, and what became of single entities.

use std::collections::BTreeMap;
use std::sync::Arc;

use lmlang_history::log::{Header, RevisionKind};
use lmlang_history::record::{Glance, RecordError, function_of, glance, mention, mention_whole};
use lmlang_history::{Edit, EntityChange, touched};
use lmlang_ir::{FuncRef, Program, Ref, RefKind};
use lmlang_store::{HistoryFilter, Stretch};

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::records;

/// Which entries of a log to list, newest first.
#[derive(Clone, Debug)]
pub struct HistoryQuery {
    /// The newest entry that there is for the reader.
    pub newest: u64,
    /// Only entries on the way to a revision, and what follows them on a branch up to the newest: checkpoints.
    pub on_way_to: Option<Place>,
    /// With `on_way_to`, also what merges on the way have brought in, the newest first, of 200 branches at most.
    pub merged: bool,
    /// Only entries with smaller numbers.
    pub before: u64,
    /// Only entries by authors of this name.
    pub author: Option<String>,
    /// Only entries that change this entity, or something in this function.
    pub touching: Option<Ref>,
    /// The function that it is or was in: it comes and goes with that.
    pub within: Option<FuncRef>,
    /// Only entries of this kind.
    pub kind: Option<RevisionKind>,
    /// How many at most.
    pub limit: usize,
}

impl HistoryQuery {
    /// So many entries at most, of all up to one.
    pub fn up_to(newest: u64, limit: usize) -> HistoryQuery {
        HistoryQuery {
            newest,
            on_way_to: None,
            merged: false,
            before: u64::MAX,
            author: None,
            touching: None,
            within: None,
            kind: None,
            limit,
        }
    }
}

/// A revision, and the branch on which somebody looks at it: its own, or one that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The revision's number.
    pub revision: u64,
    /// The branch's number.
    pub branch: u32,
}

/// Some entries of a log, without their edits.
#[derive(Clone, Debug)]
pub struct HistoryPage {
    /// The headers of the entries, newest first.
    pub entries: Vec<Arc<Header>>,
    /// Whether older ones follow.
    pub more: bool,
}

/// Entries looked through at a time for those that touch something.
const CHUNK: u64 = 256;

/// Branches that merges have brought in and that are told of at most: each is looked for, and is a term of a query.
const MOST_MERGED: usize = 200;

impl Engine {
    /// Entries of a log, newest first.
    pub async fn history(&self, open: &OpenProgram, query: &HistoryQuery) -> Result<HistoryPage, Error> {
        let key = open.timeline.key();
        let mut filter = self.filter(open, query).await?;
        filter.before = Some(query.before.min(query.newest.saturating_add(1)));
        let mut numbers = Vec::new();
        match query.touching {
            None => {
                numbers = self.store().history(key, &filter, (query.limit as u64).saturating_add(1)).await?
            }
            Some(of) => {
                while numbers.len() <= query.limit
                    && let Some(chunk) = self.next_touching(open, &mut filter, (of, query.within)).await?
                {
                    numbers.extend(chunk);
                }
            }
        }
        let more = numbers.len() > query.limit;
        numbers.truncate(query.limit);
        Ok(HistoryPage { entries: self.headers(open, &numbers).await?, more })
    }

    /// How many entries of a log a query matches, whatever its page. With `touching`, the whole log is looked through.
    pub async fn history_len(&self, open: &OpenProgram, query: &HistoryQuery) -> Result<u64, Error> {
        let key = open.timeline.key();
        let mut filter = self.filter(open, query).await?;
        if filter == (HistoryFilter { stretches: filter.stretches.clone(), ..HistoryFilter::default() }) {
            // Numbers have no gaps.
            let mut total = if filter.stretches.is_empty() { query.newest } else { 0 };
            for stretch in &filter.stretches {
                total += self.store().stretch_len(key, stretch).await?;
            }
            return Ok(total);
        }
        filter.before = Some(query.newest.saturating_add(1));
        let Some(of) = query.touching else { return Ok(self.store().history_len(key, &filter).await?) };
        let mut total = 0;
        while let Some(chunk) = self.next_touching(open, &mut filter, (of, query.within)).await? {
            total += chunk.len() as u64;
        }
        Ok(total)
    }

    /// Stretches of a line, with those that the newest merges in them have brought in.
    async fn with_merged(&self, open: &OpenProgram, line: Vec<Stretch>) -> Result<Vec<Stretch>, Error> {
        let most = line.len() + MOST_MERGED;
        let mut unseen = line.clone();
        let mut known: BTreeMap<u32, Stretch> =
            line.into_iter().map(|stretch| (stretch.branch, stretch)).collect();
        while let Some(stretch) = unseen.pop() {
            let mut filter = HistoryFilter {
                stretches: vec![stretch],
                kinds: vec![records::to_kind(RevisionKind::Merge)],
                ..HistoryFilter::default()
            };
            loop {
                let merges = self.store().history(open.timeline.key(), &filter, CHUNK).await?;
                for merge in self.headers(open, &merges).await? {
                    for parent in merge.parents.iter().skip(1) {
                        if known.len() >= most {
                            return Ok(known.into_values().collect());
                        }
                        let way = self.way(open, *parent).await?;
                        unseen.extend(way.stretches().iter().filter_map(|new| extended(&mut known, new)));
                    }
                }
                match merges.last() {
                    Some(last) if merges.len() as u64 == CHUNK => filter.before = Some(*last),
                    _ => break,
                }
            }
        }
        Ok(known.into_values().collect())
    }

    /// What the store knows of a query: of `touching` only that its entries mention the entity.
    async fn filter(&self, open: &OpenProgram, query: &HistoryQuery) -> Result<HistoryFilter, Error> {
        let stretches = match query.on_way_to {
            Some(Place { revision, branch }) => {
                let line = self.way(open, revision).await?.until(branch, query.newest).stretches().to_vec();
                if query.merged { self.with_merged(open, line).await? } else { line }
            }
            None => Vec::new(),
        };
        let actors = match &query.author {
            Some(author) => Some(self.store().actors_named(author).await?),
            None => None,
        };
        Ok(HistoryFilter {
            stretches,
            kinds: query.kind.map(records::to_kind).into_iter().collect(),
            actors,
            mentioning: match query.touching {
                Some(of) => mentioning(of, query.within),
                None => Vec::new(),
            },
            ..HistoryFilter::default()
        })
    }

    /// Of the next entries that pass a filter, those that touch an entity, which is in a function, and moves the filter on;
    /// `None` at the end.
    async fn next_touching(
        &self,
        open: &OpenProgram,
        filter: &mut HistoryFilter,
        (of, within): (Ref, Option<FuncRef>),
    ) -> Result<Option<Vec<u64>>, Error> {
        let candidates = self.store().history(open.timeline.key(), filter, CHUNK).await?;
        let Some(last) = candidates.last() else { return Ok(None) };
        filter.before = Some(*last);
        let mut found = Vec::new();
        for (number, glance) in self
            .look_into(open, &candidates, &filter.mentioning, move |edits| glance(edits, of, within))
            .await?
        {
            let touched = match glance {
                Glance::Nothing => false,
                Glance::Touched => true,
                Glance::OwnerRemoved => self.went_with(open, number, of, within).await?,
            };
            found.extend(touched.then_some(number));
        }
        Ok(Some(found))
    }

    /// What is seen in the recorded edits of those entries in which one of some words stands, in their order. The database
    /// has looked for the words in what is not packed.
    async fn look_into<T: Send + 'static>(
        &self,
        open: &OpenProgram,
        entries: &[u64],
        words: &[Vec<u8>],
        look: impl Fn(&[u8]) -> Result<T, RecordError> + Copy + Send + 'static,
    ) -> Result<Vec<(u64, T)>, Error> {
        let (mut seen, mut rest) = (Vec::with_capacity(entries.len()), entries);
        while !rest.is_empty() {
            let edits = self.store().edits(open.timeline.key(), rest, records::LARGE).await?;
            rest = rest.get(edits.len().max(1)..).unwrap_or_default();
            let large = edits.iter().map(|(_, edits)| edits.len()).sum::<usize>() > 2 * records::LARGE;
            let words = words.to_vec();
            let work = move || {
                let see = |(number, edits): (u64, Vec<u8>)| match look(&edits) {
                    Ok(sight) => Ok((number, sight)),
                    Err(error) => Err(records::unreadable(number, error)),
                };
                let mentioning = edits.into_iter().filter(|(_, edits)| mentions(edits, &words));
                mentioning.map(see).collect::<Result<Vec<_>, Error>>()
            };
            seen.extend(if large { self.compute(work).await?? } else { work()? });
        }
        Ok(seen)
    }

    /// Whether an entity was in a function when the entry with a number removed that.
    async fn went_with(
        &self,
        open: &OpenProgram,
        number: u64,
        of: Ref,
        within: Option<FuncRef>,
    ) -> Result<bool, Error> {
        let parent = self.header(open, number).await?.and_then(|entry| entry.parents.first().copied());
        let Some(parent) = parent else { return Ok(false) };
        let Some(before) = self.state(open, parent).await? else { return Ok(false) };
        Ok(before.checked.program().function_of(of) == within)
    }

    /// Whether an entity can have been there, on whatever branch. Some that never were cannot be told from those that are
    /// only in packed entries, which are not looked into.
    pub async fn may_have_been_there(&self, open: &OpenProgram, of: Ref) -> Result<bool, Error> {
        let filter = HistoryFilter { mentioning: vec![mention(of).into_bytes()], ..HistoryFilter::default() };
        Ok(!self.store().history(open.timeline.key(), &filter, 1).await?.is_empty())
    }

    /// The function that an entity is in, or was in when it was last there on the way to a place.
    pub async fn function_of(
        &self,
        open: &OpenProgram,
        program: &Program,
        place: Place,
        of: Ref,
    ) -> Result<Option<FuncRef>, Error> {
        if program.place(of).is_some() {
            return Ok(program.function_of(of));
        }
        match of.kind {
            RefKind::Node | RefKind::Region | RefKind::Variable | RefKind::Contract => {}
            RefKind::Module | RefKind::Type | RefKind::Member | RefKind::Function => return Ok(None),
        }
        let stretches = self.way(open, place.revision).await?.stretches().to_vec();
        let words = vec![mention(of).into_bytes()];
        let mut filter = HistoryFilter { stretches, mentioning: words.clone(), ..HistoryFilter::default() };
        loop {
            let candidates = self.store().history(open.timeline.key(), &filter, CHUNK).await?;
            let Some(last) = candidates.last() else { return Ok(None) };
            filter.before = Some(*last);
            let seen = self.look_into(open, &candidates, &words, move |edits| function_of(edits, of)).await?;
            if let Some(function) = seen.into_iter().find_map(|(_, function)| function) {
                return Ok(Some(function));
            }
        }
    }

    /// The headers of the entries with some numbers, newest first.
    pub(crate) async fn headers(
        &self,
        open: &OpenProgram,
        numbers: &[u64],
    ) -> Result<Vec<Arc<Header>>, Error> {
        let (mut headers, mut others) = (Vec::with_capacity(numbers.len()), Vec::new());
        for number in numbers {
            match open.timeline.recent(*number) {
                Some(revision) => headers.push(Arc::clone(&revision.entry)),
                None => others.push(*number),
            }
        }
        for some in others.chunks(CHUNK as usize) {
            for row in self.store().headers(open.timeline.key(), some).await? {
                headers.push(Arc::new(records::header(self, row).await?));
            }
        }
        headers.sort_unstable_by_key(|header| std::cmp::Reverse(header.number));
        Ok(headers)
    }

    /// What an entry made of the entities that its edits touch, each once, by number.
    ///
    /// Costs as much as was edited; the state before the entry is looked for only if functions were removed, for what was
    /// in them.
    pub async fn touched_by(&self, open: &OpenProgram, entry: &Header) -> Result<Vec<EntityChange>, Error> {
        let edits = self.edits(open, entry.number).await?;
        let removed = edits.iter().any(|edit| matches!(edit, Edit::RemoveFunction { .. }));
        let before = match entry.parents.first().filter(|_| removed) {
            Some(parent) => self.state(open, *parent).await?,
            None => None,
        };
        let before = before.map_or_else(Program::new, |before| before.checked.program().clone());
        self.compute(move || touched(&edits, &before)).await
    }

    /// The numbers of the entries in stretches that touch an entity, newest first; `owner` is what it is part of.
    pub(crate) async fn touching_in(
        &self,
        open: &OpenProgram,
        of: Ref,
        owner: Option<Ref>,
        stretches: &[Stretch],
        limit: usize,
    ) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        // A filter without any takes all.
        if stretches.is_empty() {
            return Ok(numbers);
        }
        let within = owner.and_then(|owner| owner.try_into().ok());
        let (stretches, mentioning) = (stretches.to_vec(), mentioning(of, within));
        let mut filter = HistoryFilter { stretches, mentioning, ..HistoryFilter::default() };
        while numbers.len() < limit
            && let Some(chunk) = self.next_touching(open, &mut filter, (of, within)).await?
        {
            numbers.extend(chunk);
        }
        numbers.truncate(limit);
        Ok(numbers)
    }

    /// The entries on the way to a revision that touch an entity, newest first; `owner` is what it is part of.
    pub(crate) async fn touching(
        &self,
        open: &OpenProgram,
        of: Ref,
        owner: Option<Ref>,
        revision: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Header>>, Error> {
        let missing = || Error::not_found("revision", format!("r{revision}"));
        let branch = self.header(open, revision).await?.ok_or_else(missing)?.branch;
        let query = HistoryQuery {
            on_way_to: Some(Place { revision, branch }),
            touching: Some(of),
            within: owner.and_then(|owner| owner.try_into().ok()),
            ..HistoryQuery::up_to(revision, limit)
        };
        Ok(self.history(open, &query).await?.entries)
    }
}

/// What the edits that touch an entity, which is in a function, have one of.
fn mentioning(of: Ref, within: Option<FuncRef>) -> Vec<Vec<u8>> {
    [mention(of)].into_iter().chain(within.map(mention_whole)).map(String::into_bytes).collect()
}

/// Whether one of some words stands in recorded edits: to read them takes many times as long. Those that are no text are
/// read, which tells what is wrong with them.
fn mentions(edits: &[u8], words: &[Vec<u8>]) -> bool {
    let Ok(edits) = str::from_utf8(edits) else { return true };
    words.iter().any(|word| str::from_utf8(word).is_ok_and(|word| edits.contains(word)))
}

/// Takes a stretch in among others, of which each branch has one that begins where the branch does; answers what is new of it.
fn extended(known: &mut BTreeMap<u32, Stretch>, new: &Stretch) -> Option<Stretch> {
    let Some(old) = known.get_mut(&new.branch) else {
        known.insert(new.branch, new.clone());
        return Some(new.clone());
    };
    let (start, before, end) = (*old.entries.start(), *old.entries.end(), *new.entries.end());
    (end > before).then(|| {
        old.entries = start..=end;
        Stretch { branch: new.branch, entries: before + 1..=end }
    })
}
