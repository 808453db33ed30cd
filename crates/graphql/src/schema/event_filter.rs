//! Which events a subscription is told.

use async_graphql::InputObject;
use lmlang_engine::Event;

use crate::schema::revision::RevisionKind;

/// Which events are wanted: those that pass all the parts that are given.
#[derive(Clone, Debug, Default, InputObject)]
pub struct EventFilter {
    /// Revisions that change one of these functions, by ref or path; needs `programId`.
    pub(crate) functions: Option<Vec<String>>,
    /// By one of these authors.
    authors: Option<Vec<String>>,
    /// Revisions of one of these kinds.
    kinds: Option<Vec<RevisionKind>>,
    /// Entries of the log on this branch, by number.
    #[graphql(skip)]
    pub(crate) branch: Option<u32>,
}

impl EventFilter {
    /// Whether it lets an event through; a gap always.
    pub(crate) fn passes(&self, event: &Event) -> bool {
        let (actor, entry) = match event {
            Event::Entry(entry) => (Some(&entry.actor), Some(entry)),
            Event::Refused { actor, .. } => (Some(actor), None),
            Event::Program { .. } => (None, None),
            Event::Gap { .. } => return true,
        };
        let by_author = |authors: &Vec<String>| actor.is_some_and(|actor| authors.contains(&actor.name));
        let of_kind = |kinds: &Vec<RevisionKind>| {
            entry.is_some_and(|entry| kinds.contains(&RevisionKind::from(entry.kind)))
        };
        let in_function = |functions: &Vec<String>| {
            entry.is_some_and(|entry| {
                let touched = entry.edits.iter().filter_map(lmlang_history::Edit::function);
                touched.into_iter().any(|function| functions.contains(&function.to_string()))
            })
        };
        let on_branch = |branch: u32| match event {
            Event::Entry(entry) => entry.branch == branch,
            Event::Refused { branch: of, .. } => *of == branch,
            Event::Program { .. } | Event::Gap { .. } => true,
        };
        self.branch.is_none_or(on_branch)
            && self.authors.as_ref().is_none_or(by_author)
            && self.kinds.as_ref().is_none_or(of_kind)
            && self.functions.as_ref().is_none_or(in_function)
    }
}
