//! Whose work is in a content: also what came with a merge, which is theirs who did it on the branch that was merged.

use std::collections::HashSet;
use std::sync::Arc;

use lmlang_history::Edit;
use lmlang_history::log::{Header, RevisionKind};
use lmlang_ir::NodeRef;
use lmlang_store::{HistoryFilter, Stretch};
use uuid::Uuid;

use crate::branches::Way;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::past::Place;
use crate::records;

/// Which nodes to look for.
#[derive(Clone, Debug)]
pub struct ChangedNodes {
    /// Where somebody looks.
    pub place: Place,
    /// The newest entry that there is for the reader.
    pub newest: u64,
    /// Only what was made or changed after this entry.
    pub since: u64,
    /// Only what was made or changed by authors of this name.
    pub author: Option<String>,
}

/// By whom entries are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Maker<'a> {
    /// Authors of a name.
    Author(&'a str),
    /// Steps of a run.
    Run(Uuid),
}

/// Entries read at a time.
const CHUNK: u64 = 256;

/// Stretches of a log, and which of the nodes that were changed in them count.
struct Part {
    stretches: Vec<Stretch>,
    /// The way that they are on, and those of the merges that led here.
    ways: Vec<Way>,
    /// What the merge brought in that led here; nothing if all counts.
    within: Option<HashSet<NodeRef>>,
}

impl Part {
    fn counted(&self, edits: &[Edit]) -> HashSet<NodeRef> {
        let mut nodes = nodes_of(edits);
        if let Some(within) = &self.within {
            nodes.retain(|node| within.contains(node));
        }
        nodes
    }
}

impl Engine {
    /// The nodes that revisions have made or changed, as `provenance` tells whose they are: a merge is passed over to the
    /// revisions that it brought in, and so are, for the work of one author, undo and redo. Some of them may be gone.
    ///
    /// Costs as much as these revisions have edited, and the merges that brought some in.
    pub async fn changed_nodes(
        &self,
        open: &OpenProgram,
        what: &ChangedNodes,
    ) -> Result<HashSet<NodeRef>, Error> {
        let way = self.way(open, what.place.revision).await?.until(what.place.branch, what.newest);
        let stretches = way.after(what.since).collect();
        let mut parts = vec![Part { stretches, ways: vec![way], within: None }];
        let mut found = HashSet::new();
        while let Some(part) = parts.pop() {
            let author = what.author.as_deref().map(Maker::Author);
            for number in self.entries_by(open, author, &part.stretches).await? {
                found.extend(part.counted(&self.edits(open, number).await?));
            }
            let Some(author) = &what.author else { continue };
            for merge in self.merges(open, &part.stretches).await? {
                let here = merge.actor.name == *author;
                let (stretches, way) = self.brought_in(open, &merge, &part.ways).await?;
                let theirs = self.has_entries_by(open, Maker::Author(author), &stretches).await?
                    || !self.merges(open, &stretches).await?.is_empty();
                if !here && !theirs {
                    continue;
                }
                let edits = self.edits(open, merge.number).await?;
                let resolved = |node: &NodeRef| merge.resolved.contains(&(*node).into());
                let (own, theirs): (HashSet<_>, HashSet<_>) =
                    part.counted(&edits).into_iter().partition(resolved);
                if here {
                    found.extend(own);
                    found.extend(self.changed_by_both(open, &merge, &theirs).await?);
                }
                let ways = part.ways.iter().cloned().chain([way]).collect();
                parts.push(Part { stretches, ways, within: Some(theirs) });
            }
        }
        Ok(found)
    }

    /// Of the nodes that a merge touches, those that its own side had changed as well.
    async fn changed_by_both(
        &self,
        open: &OpenProgram,
        merge: &Header,
        touched: &HashSet<NodeRef>,
    ) -> Result<HashSet<NodeRef>, Error> {
        let [ours, theirs] = merge.parents[..] else { return Ok(HashSet::new()) };
        let own = self.kinship(open, ours, theirs).await?.first;
        let ours = self.nodes_changed(open, &own).await?;
        Ok(touched.intersection(&ours).copied().collect())
    }

    /// The stretches that a merge brought in, without what is on some ways anyway; and the way to what was merged.
    pub(crate) async fn brought_in(
        &self,
        open: &OpenProgram,
        merge: &Header,
        known: &[Way],
    ) -> Result<(Vec<Stretch>, Way), Error> {
        let [_, theirs] = merge.parents[..] else { return Ok((Vec::new(), Way::default())) };
        let mut known = known.to_vec();
        known.extend(self.ways_before(open, merge).await?);
        let way = self.way(open, theirs).await?;
        Ok((way.beyond(&known), way))
    }

    /// Whether somebody has made entries in stretches, other than merges, undo and redo.
    pub(crate) async fn has_entries_by(
        &self,
        open: &OpenProgram,
        maker: Maker<'_>,
        stretches: &[Stretch],
    ) -> Result<bool, Error> {
        Ok(!self.entries_by(open, Some(maker), stretches).await?.is_empty())
    }

    /// The entries of stretches by somebody, but for those that have the work of others: merges, undo and redo; of
    /// everybody with all of them.
    async fn entries_by(
        &self,
        open: &OpenProgram,
        maker: Option<Maker<'_>>,
        stretches: &[Stretch],
    ) -> Result<Vec<u64>, Error> {
        let (actors, run) = match maker {
            Some(Maker::Author(author)) => (Some(self.store().actors_named(author).await?), None),
            Some(Maker::Run(run)) => (None, Some(run)),
            None => (None, None),
        };
        let is_own = |kind: &RevisionKind| *kind != RevisionKind::Merge && !kind.goes_along_line();
        let of_kind = |kind: &RevisionKind| maker.is_none() || is_own(kind);
        let kinds = RevisionKind::ALL.into_iter().filter(of_kind).map(records::to_kind).collect();
        let filter = HistoryFilter { kinds, actors, run, ..HistoryFilter::default() };
        self.numbers(open, filter, stretches).await
    }

    async fn merges(&self, open: &OpenProgram, stretches: &[Stretch]) -> Result<Vec<Arc<Header>>, Error> {
        let kinds = vec![records::to_kind(RevisionKind::Merge)];
        let numbers =
            self.numbers(open, HistoryFilter { kinds, ..HistoryFilter::default() }, stretches).await?;
        self.headers(open, &numbers).await
    }

    async fn numbers(
        &self,
        open: &OpenProgram,
        mut filter: HistoryFilter,
        stretches: &[Stretch],
    ) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        // A filter without any takes all.
        if stretches.is_empty() {
            return Ok(numbers);
        }
        filter.stretches = stretches.to_vec();
        loop {
            let page = self.store().history(open.timeline.key(), &filter, CHUNK).await?;
            filter.before = page.last().copied();
            numbers.extend(&page);
            if (page.len() as u64) < CHUNK {
                return Ok(numbers);
            }
        }
    }
}

/// The nodes that edits make or change.
pub(crate) fn nodes_of(edits: &[Edit]) -> HashSet<NodeRef> {
    let mut nodes = HashSet::new();
    for edit in edits {
        match edit {
            Edit::AddFunction { content, .. } => nodes.extend(content.body().nodes().map(|(node, _)| node)),
            other => nodes.extend(NodeRef::try_from(other.subject()).ok()),
        }
    }
    nodes
}
