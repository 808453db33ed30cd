//! Contexts: what a model is told of a part of a program.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object, SimpleObject};
use lmlang_context::{self as context, Compressor, Omission, Role, Token, Tokenizer, token};
use lmlang_ir::Ref;

use crate::direct::{Direct, Rows};
use crate::error::{ApiError, Code, cut};
use crate::schema::defaults::{O200k, Or, Standard};
use crate::schema::failure::fail;
use crate::schema::ids::{GlobalId, View as Which, ViewId};
use crate::schema::outcome::EntityKind;
use crate::schema::packs::Packs;
use crate::schema::view::View;
use crate::transport::budget;

/// What a model is to be told.
#[derive(Clone, Debug, InputObject)]
pub struct ContextInput {
    /// What it is about, by refs or paths: nodes (those with holes tell what fits), functions, types, fields, storage, whole
    /// modules. At most 50.
    focus: Vec<String>,
    /// The tokens that the text may take, at most 200,000. It never takes more.
    budget_tokens: i32,
    /// The `token` of an earlier context: only what has changed in the working set since then is told.
    since: Option<String>,
    /// How tokens are counted: `o200k_base` or `cl100k_base`.
    #[graphql(default)]
    tokenizer: Or<O200k>,
    /// How much the texts of functions say: `SUMMARY` without comments, and refs only where needed; `FULL` with runs.
    #[graphql(default)]
    detail: Or<Standard>,
}

/// A context: text for a model, the most useful first.
#[derive(Clone)]
pub struct ContextPack {
    pack: Arc<context::Pack>,
    cached: bool,
    token: String,
    /// The view as one that can be asked for later.
    pinned: ViewId,
}

/// Something that a context tells.
#[derive(Clone, Debug, SimpleObject)]
pub struct ContextItem {
    /// Its ref.
    #[graphql(name = "ref")]
    reference: String,
    /// What it is.
    kind: EntityKind,
    /// Why it is told: `hole`, `focus`, `type`, `storage`, `callee`, `caller`, or `distant`: called from callees.
    role: &'static str,
    /// The tokens that it takes.
    tokens: i32,
    /// The last stage of compression that changed it: `comments`, `abbreviations`, `whitespace`, `summaries` (its middle is
    /// left out) or `references` (all but docs, signature and contracts is left out, and named by its hash); null: none did.
    stage: Option<&'static str>,
}

/// Something that a context does not tell.
#[derive(Clone, Debug, SimpleObject)]
pub struct OmittedItem {
    /// What, in words.
    what: String,
    /// How many: comments and lines, or entities.
    count: i32,
    /// The refs of what they belong to, the first 20.
    refs: Vec<String>,
    /// A document that asks for it; of more than 20 entities, for the first 20.
    how_to_ask: String,
}

impl Direct for ContextItem {}
impl Direct for OmittedItem {}

/// Text for a model, the most useful first: holes with what fits, the focus, types that it uses, storage, callees with docs
/// and contracts, callers, and what callees call.
#[Object]
impl ContextPack {
    /// The text. It begins with `; program NAME @ rNUMBER`, and a line that begins with `;` above each part says why it is
    /// told. Abbreviations stand in a line of their own above.
    async fn text(&self) -> &str {
        &self.pack.text
    }

    /// The tokens of `text`, exactly.
    async fn tokens_used(&self) -> i32 {
        count(self.pack.tokens_used)
    }

    /// The tokens that it would take without compression.
    async fn tokens_whole(&self) -> i32 {
        count(self.pack.tokens_whole)
    }

    /// The part of these that is left: 1 when nothing was compressed.
    async fn compression_ratio(&self) -> f64 {
        self.pack.compression_ratio
    }

    /// The stages of compression that were needed, in their order: `comments`, `abbreviations`, `whitespace`, `summaries`,
    /// `references`.
    async fn stages(&self) -> Vec<&'static str> {
        self.pack.stages.iter().map(|stage| stage.name()).collect()
    }

    /// Whether all that belongs to the focus is told as a whole, here or, with `since`, before: `omitted` is empty.
    async fn complete(&self) -> bool {
        self.pack.omitted.is_empty()
    }

    /// Whether it was made before, for the same input on the same revision, and is told again.
    async fn cached(&self) -> bool {
        self.cached
    }

    /// What was told as a whole, for the next call's `since`. It says so itself and is good after a restart, too.
    async fn token(&self) -> &str {
        &self.token
    }

    /// What the text tells, in its order.
    async fn included(&self) -> Rows<ContextItem> {
        let item = |item: &context::Item| ContextItem {
            reference: item.of.to_string(),
            kind: item.of.kind.into(),
            role: role(item.role),
            tokens: count(item.tokens),
            stage: item.stage.map(context::Stage::name),
        };
        Rows(self.pack.included.iter().map(item).collect())
    }

    /// What belongs to the focus and is told neither here nor, with `since`, before, or not as a whole, and how to ask for it.
    async fn omitted(&self) -> Rows<OmittedItem> {
        let item = |omitted: &context::Omitted| OmittedItem {
            what: what(omitted),
            count: count(omitted.count),
            refs: omitted.of.iter().map(ToString::to_string).collect(),
            how_to_ask: how_to_ask(&self.pinned, omitted),
        };
        Rows(self.pack.omitted.iter().map(item).collect())
    }

    /// With `since`: the refs of what has changed in the working set, of what is new in it, and of what is gone from it.
    async fn changed_since(&self) -> Vec<String> {
        self.pack.changed.iter().map(ToString::to_string).collect()
    }
}

fn count(of: usize) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

fn role(of: Role) -> &'static str {
    match of {
        Role::Hole => "hole",
        Role::Focus => "focus",
        Role::Type => "type",
        Role::Storage => "storage",
        Role::Callee => "callee",
        Role::Caller => "caller",
        Role::Distant => "distant",
    }
}

fn what(omitted: &context::Omitted) -> String {
    let first = omitted.of.first().map(ToString::to_string).unwrap_or_default();
    match (omitted.why, omitted.of.len()) {
        (Omission::Comments, _) => "comments inside of functions, and runs".to_owned(),
        (Omission::Lines, 1) => format!("lines in the middle of {first}"),
        (Omission::Lines, _) => "lines in the middle of others".to_owned(),
        (Omission::Rest, 1) => format!("the body of {first}, behind its head"),
        (Omission::Rest, _) => "bodies of others, behind their heads".to_owned(),
        (Omission::Sections(role), _) => match role {
            Role::Hole => "holes".to_owned(),
            Role::Focus => "parts of the focus".to_owned(),
            Role::Type => "types that the focus uses".to_owned(),
            Role::Storage => "storage that the focus uses".to_owned(),
            Role::Callee => "functions that the focus calls".to_owned(),
            Role::Caller => "functions that use the focus".to_owned(),
            Role::Distant => "functions that are called from further away".to_owned(),
        },
    }
}

/// A document that shows what was left out.
fn how_to_ask(pinned: &ViewId, omitted: &context::Omitted) -> String {
    let id = |of: &Ref| format!("\"{}\"", GlobalId::Entity(pinned.clone(), *of));
    let ids: Vec<String> = omitted.of.iter().map(id).collect();
    format!(
        "{{ nodes(ids: [{}]) {{ id ... on Function {{ path contentHash text }} ... on TypeDef {{ path text }} \
         ... on Storage {{ path text }} ... on ComputeNode {{ text }} }} }}",
        ids.join(", ")
    )
}

/// Makes a context.
pub(crate) async fn pack(
    asked: &Context<'_>,
    view: &View,
    input: ContextInput,
) -> Result<ContextPack, ApiError> {
    budget::open(asked)?;
    let most = context::pack::MOST_FOCUS;
    if input.focus.len() > most {
        return Err(ApiError::limit("contextFocus", most as u64, input.focus.len() as u64));
    }
    if input.focus.is_empty() {
        return Err(ApiError::new(Code::BadRequest, "`focus` names nothing").at("input.focus"));
    }
    let named = |given: &String| view.entity_named(given);
    let focus: Vec<Ref> = input.focus.iter().map(named).collect::<Result<_, _>>()?;
    let tokens = usize::try_from(input.budget_tokens).ok().filter(|tokens| *tokens > 0).ok_or_else(|| {
        let message = format!("`budgetTokens` must be positive, found {}", input.budget_tokens);
        ApiError::new(Code::BadRequest, message).at("input.budgetTokens")
    })?;
    if tokens > context::pack::MOST_TOKENS {
        return Err(ApiError::limit("budgetTokens", context::pack::MOST_TOKENS as u64, tokens as u64));
    }
    let tokenizer: Tokenizer =
        input.tokenizer.0.parse().map_err(|error: context::tokenizer::UnknownTokenizer| {
            let known: Vec<&str> = Tokenizer::ALL.into_iter().map(Tokenizer::name).collect();
            let data = serde_json::json!({ "known": known });
            ApiError::new(Code::BadRequest, error.to_string()).data(data).at("input.tokenizer")
        })?;
    let entry = &view.revision().entry;
    let (number, name) = (entry.number, view.open().info().name.clone());
    let root = token::root(entry.root_hash);
    let packs = asked.data_unchecked::<Arc<Packs>>();
    let made_of = format!("{} {name} {number} {root:?} {input:?}", view.id().program);
    let kept = packs.get(&made_of).filter(|_| view.is_stored());
    let cached = kept.is_some();
    let made = match kept {
        Some(kept) => kept,
        None => {
            let made = Arc::new(made(view, &input, (focus.as_slice(), tokens, tokenizer)).await?);
            if view.is_stored() {
                packs.keep(made_of, Arc::clone(&made));
            }
            made
        }
    };
    budget::count(asked, made.text.len() as u64)?;
    let token = Token {
        program: *view.id().program.as_bytes(),
        revision: number,
        root,
        focus,
        told: made.told.clone(),
    };
    let pinned = match view.is_stored() {
        true => ViewId { program: view.id().program, view: Which::Pinned(number) },
        false => view.id().clone(),
    };
    Ok(ContextPack { token: token.to_string(), pack: made, cached, pinned })
}

/// Makes a context of what was asked, which has been read.
async fn made(
    view: &View,
    input: &ContextInput,
    (focus, tokens, tokenizer): (&[Ref], usize, Tokenizer),
) -> Result<context::Pack, ApiError> {
    let since = match &input.since {
        Some(given) => Some(then(view, given).await?),
        None => None,
    };
    let (number, name) = (view.revision().entry.number, view.open().info().name.clone());
    let (here, detail, focus) = (view.clone(), input.detail.0.into(), focus.to_vec());
    let work = move || {
        let compressor = Compressor { tokenizer, ..Compressor::default() };
        let since = since.as_ref().map(|(token, then)| context::Since { token, program: then.program() });
        let request = context::Request {
            name: &name,
            revision: number,
            focus: &focus,
            detail,
            budget: tokens,
            compressor: &compressor,
            since,
        };
        context::pack(here.program(), &request)
    };
    view.engine().compute(work).await.map_err(fail)?.map_err(over_budget)
}

/// The error for a context that does not fit. Requirement CUE-13: the size, the limit, and what to do.
fn over_budget(error: context::OverBudget) -> ApiError {
    let action = "raise `budgetTokens` to `actual` at least, or name less in `focus`";
    let data = serde_json::json!({
        "which": "budgetTokens", "limit": error.limit, "actual": error.current, "action": action,
    });
    ApiError::new(Code::LimitExceeded, error.to_string()).data(data)
}

/// What a token says, and the revision that it is about.
async fn then(view: &View, given: &str) -> Result<(Token, View), ApiError> {
    let invalid = |why: &str| {
        let message = format!("`{}` is not a token of a context of this program: {why}", cut(given));
        let data = serde_json::json!({ "given": cut(given) });
        ApiError::new(Code::CursorInvalid, message).data(data).at("input.since")
    };
    let token: Token = given.parse().map_err(|_| invalid("it was not made by `context`"))?;
    if token.program != *view.id().program.as_bytes() {
        return Err(invalid("it is of another program"));
    }
    let found = view.engine().state(view.open(), token.revision).await.map_err(fail)?;
    let found = found.filter(|found| token::root(found.entry.root_hash) == token.root);
    let found = found.ok_or_else(|| invalid("its revision is not stored"))?;
    Ok((token, view.other(found)))
}
