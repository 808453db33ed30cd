//! What a model reads of a program before it changes it: what it is made of, and the texts of what a wish is about.

use lmlang_context::search::{self, Kinds};
use lmlang_engine::{Engine, OpenProgram};
use lmlang_ir::{Ref, RefKind};

use super::View;
use super::reading::{overview, written};
use super::told::{self, MOST, Page};
use crate::graph_store::GraphError;

/// Texts at most.
const TEXTS: usize = 12;

/// A program as far as a wish is about it.
pub(crate) struct Ground {
    /// The number of the revision.
    pub(crate) revision: u64,
    /// What it is made of, and texts: each within a budget of tokens.
    pub(crate) text: String,
}

/// Reads a program at a branch for a wish.
pub(crate) async fn ground(
    engine: &Engine,
    open: &OpenProgram,
    branch: &str,
    wish: &str,
) -> Result<Ground, GraphError> {
    let view = View { open: open.clone(), revision: engine.revision(open, Some(branch)).await? };
    let wish = wish.to_owned();
    let work = move || {
        let page = Page { of: "program", from: 0, tokens: MOST };
        let outline = overview(&view, "", page);
        let kinds = Kinds::new([RefKind::Function, RefKind::Type]);
        let found = search::find(view.program(), &wish, &kinds);
        let found: Vec<Ref> = found.iter().take(TEXTS).map(|found| found.of).collect();
        let texts: Vec<String> =
            found.iter().map(|of| written(view.program(), *of, lmlang_ir::text::Detail::Summary)).collect();
        // No tool goes on with them.
        let page = Page { of: "", ..page };
        let texts =
            told::plain("; what the words of the wish are found in:", "found", &texts, page, "", None);
        let of = |answer: &crate::tools::ToolAnswer| {
            answer.value["text"].as_str().map(str::to_owned).unwrap_or_default()
        };
        let text = match found.is_empty() {
            true => of(&outline),
            false => format!("{}\n{}", of(&outline), of(&texts)),
        };
        Ground { revision: view.number(), text }
    };
    Ok(engine.compute(work).await?)
}
