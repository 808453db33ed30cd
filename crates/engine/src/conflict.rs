//! Conflicts: what two changes of one program cannot both be, as callers are told.

use std::sync::Arc;

use lmlang_history::log::Header;
use lmlang_history::merge;
use lmlang_history::request::StaleRead;
use lmlang_history::revision::MAIN;
use lmlang_ir::Program;
use lmlang_verify::Diagnostic;

/// A change on a base that is not the head any more, or that read something which has changed since.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What the caller saw; of a merge, what both sides come from.
    pub base: Option<Arc<Header>>,
    /// What is there.
    pub head: Arc<Header>,
    /// What collides.
    pub conflicts: Vec<Collision>,
}

/// One thing that collides.
#[derive(Clone, Debug, PartialEq)]
pub struct Collision {
    /// The entity, or the branch.
    pub of: String,
    /// The kind of collision.
    pub kind: &'static str,
    /// What is the matter, in words.
    pub message: String,
    /// What stands there in the base.
    pub base: Option<String>,
    /// What is there now.
    pub ours: Option<String>,
    /// What the request, or the branch that is merged, made of it.
    pub theirs: Option<String>,
    /// The hash that the caller gave of it, where it has another one.
    pub given: Option<String>,
}

/// The kinds of collisions that are not [`merge::ConflictKind`]s.
pub mod kind {
    /// The head has moved from what the caller saw.
    pub const STALE_BASE: &str = "STALE_BASE";
    /// Something that was read has another hash now.
    pub const HASH_MISMATCH: &str = "HASH_MISMATCH";
    /// Both changes are right alone, and together they are not.
    pub const ILL_TYPED: &str = "ILL_TYPED";
    /// Later work by others rests on what an author would take back.
    pub const RESTED_ON: &str = "RESTED_ON";
    /// The edits of a resolution cannot be carried out.
    pub const RESOLUTION: &str = "RESOLUTION";
}

impl Collision {
    /// A collision about something of which no versions are shown.
    pub(crate) fn plain(of: String, kind: &'static str, message: String) -> Collision {
        Collision { of, kind, message, base: None, ours: None, theirs: None, given: None }
    }

    /// A collision about something that is not as the caller read it, of which no versions are shown yet.
    pub(crate) fn stale(read: StaleRead) -> Collision {
        let message = read.to_string();
        let plain = Collision::plain(read.of.to_string(), kind::HASH_MISMATCH, message);
        Collision { given: Some(read.given), ..plain }
    }

    /// A finding about what two changes that are right alone came to, with what stands there in the base, in ours and in
    /// theirs.
    pub(crate) fn disagreement(
        merged: &Program,
        sides: [Option<&Program>; 3],
        found: &Diagnostic,
    ) -> Collision {
        let of = found.at.entity;
        let [base, ours, theirs] = sides.map(|side| merge::text(side?, of));
        let message = format!("together: {}", found.message(merged));
        Collision { of: of.to_string(), kind: kind::ILL_TYPED, message, base, ours, theirs, given: None }
    }
}

impl From<merge::Conflict> for Collision {
    fn from(conflict: merge::Conflict) -> Collision {
        let merge::Conflict { of, kind, message, base, ours, theirs, .. } = conflict;
        Collision { of: of.to_string(), kind: kind.name(), message, base, ours, theirs, given: None }
    }
}

/// The conflict of a request that was made for a head which has moved.
pub(crate) fn moved(branch: &str, seen: &Arc<Header>, head: &Arc<Header>) -> Conflict {
    let message = format!("the head is at r{}, not at r{}", head.number, seen.number);
    stale(branch, seen, head, message)
}

/// The conflict of a request that is based on what a branch is not made of.
pub(crate) fn elsewhere(branch: &str, base: &Arc<Header>, head: &Arc<Header>) -> Conflict {
    let of = base.branch_name.as_deref().unwrap_or(MAIN);
    let message = match base.branch == head.branch {
        true => format!("`{branch}` is not made of r{} any more", base.number),
        false => format!("r{} is on the branch `{of}`, and `{branch}` is not made of it", base.number),
    };
    stale(branch, base, head, message)
}

fn stale(branch: &str, base: &Arc<Header>, head: &Arc<Header>, message: String) -> Conflict {
    let conflicts = vec![Collision::plain(branch.to_owned(), kind::STALE_BASE, message)];
    Conflict { base: Some(Arc::clone(base)), head: Arc::clone(head), conflicts }
}
