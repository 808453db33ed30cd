//! Questions about the graph that have exact answers.

use async_graphql::{Enum, SimpleObject};
use lmlang_context::analysis::{self, Unanswerable};
use lmlang_engine::CasePlace;
use lmlang_ir::{FuncRef, Ref};

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::failure::fail;
use crate::schema::outcome::EntityKind;
use crate::schema::view::View;

/// A question about the graph. Each is answered exactly: all answers are there, and what cannot be known of a run (which
/// closure is called, what the host does) counts as what may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "analysis::Question")]
pub enum Question {
    /// The nodes that write fields, variants, types, variables or storage; `of` names these. `struct.new` writes all fields
    /// of its type, a segment its memory or table at the start, and the host what it imports or is exported to it.
    Writers,
    /// The nodes that read them. What goes through an address is followed to loads and stores right there.
    Readers,
    /// Functions that nothing reaches that is public, exported, started, in a table, or has test cases or runs; and, in all
    /// others, pure nodes whose values are not used. `of` limits it to some functions or modules.
    DeadCode,
    /// Types that no function and no storage mentions, directly or in other types. `of` limits it to some types or modules.
    UnusedTypes,
    /// Functions in which something may trap by the table of operators, or in what they call; contracts can be violated
    /// apart from that. `of` limits it to some functions or modules.
    MayTrap,
    /// Functions that do more than compute: that read or write what is outside of them, talk to the world, or call what
    /// does. Variables of a function are its own. `of` limits it to some functions or modules.
    HasEffect,
}

/// One answer to a question.
#[derive(Clone, Debug, SimpleObject)]
pub struct Answer {
    /// The entity that it is about: of a node, a function, a type, storage.
    #[graphql(name = "ref")]
    reference: String,
    /// What it is.
    kind: EntityKind,
    /// It in one line: a node with its function, a function with its signature.
    text: String,
    /// Why, in words: through which node, and through which call.
    reason: String,
}

impl Direct for Answer {}

impl Listed for Answer {
    const CONNECTION: &'static str = "AnswerConnection";
    const EDGE: &'static str = "AnswerEdge";
}

/// What may be asked about at once.
pub(crate) const MOST_OF: usize = 1_000;

/// Answers a question; places are refs.
pub(crate) async fn answers(
    view: &View,
    question: Question,
    of: Option<Vec<String>>,
    page: PageRequest,
) -> Result<Connection<Answer>, ApiError> {
    let of = of.unwrap_or_default();
    if of.len() > MOST_OF {
        return Err(ApiError::limit("analysisOf", MOST_OF as u64, of.len() as u64));
    }
    let named = |given: &String| view.entity_named(given);
    let of: Vec<Ref> = of.iter().map(named).collect::<Result<_, _>>()?;
    let cases = match question {
        Question::DeadCode => tested(view).await?,
        Question::Writers
        | Question::Readers
        | Question::UnusedTypes
        | Question::MayTrap
        | Question::HasEffect => Vec::new(),
    };
    let here = view.clone();
    let work = move || {
        let program = here.program();
        let found = analysis::answers(program, question.into(), &of, &cases).map_err(unanswerable)?;
        let shown = |answer: analysis::Answer| {
            Ok(Answer {
                text: answer.text(program),
                reason: answer.reason.words(program),
                reference: answer.of.to_string(),
                kind: answer.of.kind.into(),
            })
        };
        Connection::by_name(&page, found, |answer| answer.of.to_string())?.shown(shown)
    };
    view.engine().compute(work).await.map_err(fail)?
}

fn unanswerable(error: Unanswerable) -> ApiError {
    ApiError::new(Code::BadRequest, error.to_string()).at("of")
}

/// The functions that have test cases.
async fn tested(view: &View) -> Result<Vec<FuncRef>, ApiError> {
    /// Cases read at a time.
    const STRETCH: usize = 500;
    let mut found: Vec<FuncRef> = Vec::new();
    let mut after: Option<CasePlace> = None;
    loop {
        let page = view.engine().cases(view.open(), None, after.as_ref(), STRETCH).await.map_err(fail)?;
        after = page
            .cases
            .last()
            .map(|last| CasePlace { function: last.function.number(), name: last.name.clone() });
        found.extend(page.cases.iter().map(|case| case.function));
        if !page.more {
            found.dedup();
            return Ok(found);
        }
    }
}
