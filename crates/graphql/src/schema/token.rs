//! Tokens with which callers show who they are: making, listing and revoking them.

use async_graphql::{Context, Enum, ID, InputObject, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_engine::{self as engine, Engine, NewToken, Scope};
use lmlang_history::log;

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::call::actor;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::defaults::{Agent, Or};
use crate::schema::failure::fail;
use crate::schema::mutation::selector;
use crate::schema::provenance::ActorKind;
use crate::schema::revision::moment;

/// What a token is good for. Each includes `READ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum TokenScope {
    /// Looking at programs and their history, and hearing what happens to them.
    Read,
    /// Changing programs, in ways that can be undone.
    Edit,
    /// Running functions.
    Simulate,
    /// Everything: deleting programs, declaring flows and managing tokens too.
    Admin,
}

impl From<Scope> for TokenScope {
    fn from(scope: Scope) -> TokenScope {
        match scope {
            Scope::Read => TokenScope::Read,
            Scope::Edit => TokenScope::Edit,
            Scope::Simulate => TokenScope::Simulate,
            Scope::Admin => TokenScope::Admin,
        }
    }
}

impl From<TokenScope> for Scope {
    fn from(scope: TokenScope) -> Scope {
        match scope {
            TokenScope::Read => Scope::Read,
            TokenScope::Edit => Scope::Edit,
            TokenScope::Simulate => Scope::Simulate,
            TokenScope::Admin => Scope::Admin,
        }
    }
}

/// A token with which a caller shows who it is. Its secret is not kept.
#[derive(Clone, Debug, SimpleObject)]
pub struct ApiToken {
    /// What it is called in public, in logs for example: the characters between the first two underscores of its secret.
    id: ID,
    /// The author of what is done with it, unique among tokens that are not revoked.
    name: String,
    /// What that author is.
    kind: ActorKind,
    /// What it is good for.
    scopes: Vec<TokenScope>,
    /// The programs that it is good for, by id; null: all.
    programs: Option<Vec<ID>>,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// From when on it is good for nothing; null: until it is revoked.
    expires_at: Option<DateTime<Utc>>,
    /// About when it was used last, to ten minutes; null: never.
    last_used_at: Option<DateTime<Utc>>,
    /// When it was revoked; null: it is not.
    revoked_at: Option<DateTime<Utc>>,
}

impl From<engine::Token> for ApiToken {
    fn from(token: engine::Token) -> ApiToken {
        let ids = |programs: &[uuid::Uuid]| programs.iter().map(|id| ID::from(*id)).collect();
        ApiToken {
            id: token.id.into(),
            name: token.name,
            kind: token.kind.into(),
            scopes: token.scopes.given().map(TokenScope::from).collect(),
            programs: token.programs.as_deref().map(ids),
            created_at: moment(token.created),
            expires_at: token.expires.map(moment),
            last_used_at: token.last_used.map(moment),
            revoked_at: token.revoked.map(moment),
        }
    }
}

impl Direct for ApiToken {}

impl Listed for ApiToken {
    const CONNECTION: &'static str = "ApiTokenConnection";
    const EDGE: &'static str = "ApiTokenEdge";
}

/// Makes a token. It takes no idempotency key, for its secret is shown once: when the answer is lost, revoke it by its name.
#[derive(Clone, Debug, InputObject)]
pub struct CreateTokenInput {
    /// The author of what is done with it, unique among tokens that are not revoked.
    name: String,
    /// What that author is: `HUMAN`, `AGENT` or `TOOL`.
    #[graphql(default)]
    kind: Or<Agent>,
    /// What it is good for.
    scopes: Vec<TokenScope>,
    /// The programs that it is good for, by id or name; without, all.
    programs: Option<Vec<ID>>,
    /// From when on it is good for nothing; without, it is good until it is revoked.
    expires_at: Option<DateTime<Utc>>,
}

/// Revokes a token.
#[derive(Clone, Debug, InputObject)]
pub struct RevokeTokenInput {
    /// Its id, or its name.
    token: String,
}

/// A token that was made.
#[derive(Clone, Debug, SimpleObject)]
pub struct CreateTokenPayload {
    /// The token.
    token: ApiToken,
    /// Its secret, for `Authorization: Bearer` and nobody else's eyes. It is shown here and never again.
    secret: String,
}

/// A token that was revoked.
#[derive(Clone, Debug, SimpleObject)]
pub struct RevokeTokenPayload {
    /// The token.
    token: ApiToken,
}

/// A page of the tokens, the oldest first.
pub(crate) async fn tokens(
    context: &Context<'_>,
    page: PageRequest,
    revoked: bool,
) -> Result<Connection<ApiToken>, ApiError> {
    let tokens = context.data_unchecked::<Engine>().tokens().await.map_err(fail)?;
    let shown = tokens.into_iter().filter(|token| revoked || token.revoked.is_none());
    Connection::by_name(&page, shown.map(ApiToken::from).collect(), |token| token.id.to_string())
}

pub(crate) async fn create(
    context: &Context<'_>,
    input: CreateTokenInput,
) -> Result<CreateTokenPayload, ApiError> {
    let kind = match input.kind.0 {
        ActorKind::Human => log::ActorKind::Human,
        ActorKind::Agent => log::ActorKind::Agent,
        ActorKind::Tool => log::ActorKind::Tool,
        ActorKind::Flow | ActorKind::System => {
            let message = "`kind` must be `HUMAN`, `AGENT` or `TOOL`: the others are the server's own";
            return Err(ApiError::new(Code::BadRequest, message).at("kind"));
        }
    };
    let programs = input.programs.map(|programs| programs.iter().map(|of| selector(of)).collect());
    let new = NewToken {
        name: input.name,
        kind,
        scopes: input.scopes.into_iter().map(Scope::from).collect(),
        programs,
        expires: input.expires_at.map(|at| at.timestamp_micros()),
    };
    let engine = context.data_unchecked::<Engine>();
    let (token, secret) = engine.create_token(new, &actor(context)).await.map_err(fail)?;
    Ok(CreateTokenPayload { token: token.into(), secret: secret.reveal().to_owned() })
}

pub(crate) async fn revoke(
    context: &Context<'_>,
    input: RevokeTokenInput,
) -> Result<RevokeTokenPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let token = engine.revoke_token(&input.token, &actor(context)).await.map_err(fail)?;
    Ok(RevokeTokenPayload { token: token.into() })
}
