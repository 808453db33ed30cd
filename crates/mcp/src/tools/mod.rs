//! The registry: one table of all tools, in the order in which they are listed. One file has a family of them.

mod about;
mod checkpoint;
mod context;
mod diff;
mod findings;
mod graphql;
mod history;
mod later;
mod outcomes;
mod program;
mod propose;
mod run;
mod search;
mod session;
mod simulate;
mod subgraph;
mod undo;
mod verify;

use crate::tool::Tool;

/// All tools, in the order in which they are listed.
pub static TOOLS: [&Tool; 15] = [
    &program::TOOL,
    &propose::TOOL,
    &subgraph::TOOL,
    &search::TOOL,
    &verify::TOOL,
    &simulate::TOOL,
    &history::TOOL,
    &undo::TOOL,
    &checkpoint::TOOL,
    &diff::TOOL,
    &context::TOOL,
    &later::READ_DOC,
    &session::TOOL,
    &run::TOOL,
    &graphql::TOOL,
];

pub(crate) use diff::page as diff_page;
pub(crate) use simulate::page as trace_page;

/// The tools that are offered, in the order in which they are listed.
pub(crate) fn offered() -> impl Iterator<Item = &'static Tool> {
    #[cfg(feature = "fixtures")]
    let more = crate::fixtures::tools();
    #[cfg(not(feature = "fixtures"))]
    let more: &[&'static Tool] = &[];
    TOOLS.into_iter().chain(more.iter().copied())
}

pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    offered().find(|tool| tool.name == name)
}

pub(crate) fn names() -> Vec<&'static str> {
    offered().map(|tool| tool.name).collect()
}
