//! Finding entities by words.

use async_graphql::SimpleObject;
use lmlang_context::analysis::one_line;
use lmlang_context::search::{self, Kinds};
use lmlang_engine::Engine;
use lmlang_ir::RefKind;

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::failure::fail;
use crate::schema::outcome::EntityKind;
use crate::schema::view::View;

/// Something that words were found in.
#[derive(Clone, Debug, SimpleObject)]
pub struct Found {
    /// Its ref; of a field or variant with the letter `d`.
    #[graphql(name = "ref")]
    reference: String,
    /// What it is.
    kind: EntityKind,
    /// Its path: `module::name`, `module::Type.field`, `module::function::name`.
    path: String,
    /// It in one line.
    text: String,
    /// How well it fits: greater is better, to be compared within one answer only. What was found only by words that are
    /// written nearly so has less.
    score: f64,
}

impl Direct for Found {}

impl Listed for Found {
    const CONNECTION: &'static str = "FindConnection";
    const EDGE: &'static str = "FindEdge";
}

/// The most bytes of a question.
pub(crate) const QUESTION_BYTES: usize = 1_000;

/// Finds entities of a program; places are positions.
pub(crate) async fn find(
    engine: &Engine,
    (program, at): (&str, Option<&str>),
    query: String,
    kinds: Option<Vec<EntityKind>>,
    page: PageRequest,
) -> Result<Connection<Found>, ApiError> {
    if query.len() > QUESTION_BYTES {
        return Err(ApiError::limit("findTextBytes", QUESTION_BYTES as u64, query.len() as u64));
    }
    if lmlang_context::words::words(&query).is_empty() {
        return Err(ApiError::new(Code::BadRequest, "`query` has no words").at("query"));
    }
    let view = View::find(engine, program, at).await?;
    let kinds = kinds.map_or_else(Kinds::default, |kinds| Kinds::new(kinds.into_iter().map(RefKind::from)));
    let start = usize::try_from(page.start()?).unwrap_or(usize::MAX);
    let work = move || {
        let program = view.program();
        let found = search::find(program, &query, &kinds);
        let shown = found.iter().enumerate().skip(start).take(page.first);
        let items = shown.map(|(at, found)| {
            let found = Found {
                reference: found.of.to_string(),
                kind: found.of.kind.into(),
                path: search::path(program, found.of),
                text: one_line(program, found.of),
                score: found.score,
            };
            (at, found)
        });
        let more = found.len() > start.saturating_add(page.first);
        Connection::known(&page, more, found.len(), items)
    };
    engine.compute(work).await.map_err(fail)
}
