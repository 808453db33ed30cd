//! What one side of a merge has changed of its own: what it builds on and the other side does not.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use lmlang_history::log::{Header, RevisionKind};
use lmlang_history::{Edit, touched};
use lmlang_ir::{FuncRef, NodeRef, Program, Ref};
use lmlang_store::Stretch;

use crate::authors::nodes_of;
use crate::branches::Way;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;

/// Entries that a state builds on, by number: merges, and what they brought in.
pub(crate) type Own = BTreeMap<u64, Arc<Header>>;

impl Engine {
    /// The ways to what both sides of a merge come from.
    pub(crate) async fn ways_before(&self, open: &OpenProgram, merge: &Header) -> Result<Vec<Way>, Error> {
        let [ours, theirs] = merge.parents[..] else { return Ok(Vec::new()) };
        let mut ways = Vec::new();
        for base in self.common(open, ours, theirs).await? {
            ways.push(self.way(open, base).await?);
        }
        Ok(ways)
    }

    /// Whether some entries have changed an entity; `owner` is what it is part of.
    ///
    /// A merge has what others of them did, but for what its resolutions say.
    pub(crate) async fn have_changed(
        &self,
        open: &OpenProgram,
        own: &Own,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<bool, Error> {
        for number in self.touching_in(open, of, owner, &stretches(own), usize::MAX).await? {
            let Some(header) = own.get(&number) else { continue };
            if header.kind != RevisionKind::Merge || self.has_settled(open, header, of).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The nodes that some entries have made or changed. Costs as much as was edited there.
    pub(crate) async fn nodes_changed(
        &self,
        open: &OpenProgram,
        own: &Own,
    ) -> Result<HashSet<NodeRef>, Error> {
        let mut found = HashSet::new();
        for (number, header) in own {
            let resolved = |node: &NodeRef| header.resolved.contains(&(*node).into());
            if header.kind == RevisionKind::Merge && header.resolved.is_empty() {
                continue;
            }
            let nodes = nodes_of(&self.edits(open, *number).await?).into_iter();
            found.extend(nodes.filter(|node| header.kind != RevisionKind::Merge || resolved(node)));
        }
        Ok(found)
    }

    /// Whether the edits of a merge's resolutions made or changed an entity, or something in that function.
    pub(crate) async fn has_settled(
        &self,
        open: &OpenProgram,
        merge: &Header,
        of: Ref,
    ) -> Result<bool, Error> {
        let resolved = |of: &Ref| merge.resolved.contains(of);
        if resolved(&of) {
            return Ok(true);
        }
        let Ok(function) = FuncRef::try_from(of) else { return Ok(false) };
        if merge.resolved.is_empty() {
            return Ok(false);
        }
        let edits = self.edits(open, merge.number).await?;
        let mut inside = edits.iter().filter(|edit| edit.function() == Some(function));
        Ok(inside.any(|edit| match edit {
            Edit::AddFunction { .. } => {
                touched(std::slice::from_ref(edit), &Program::new()).iter().any(|change| resolved(&change.of))
            }
            other => resolved(&other.subject()),
        }))
    }
}

/// The stretches that have some entries, with others between them.
fn stretches(own: &Own) -> Vec<Stretch> {
    let mut ends: HashMap<u32, (u64, u64)> = HashMap::new();
    for header in own.values() {
        let (first, last) = ends.entry(header.branch).or_insert((header.number, header.number));
        (*first, *last) = (header.number.min(*first), header.number.max(*last));
    }
    ends.into_iter().map(|(branch, (first, last))| Stretch { branch, entries: first..=last }).collect()
}
