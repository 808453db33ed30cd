//! Who asks, and what they may do.

use async_graphql::{Context, SimpleObject};
use lmlang_engine::Scope;

use crate::direct::Direct;
use crate::schema::provenance::Actor;
use crate::schema::token::{ApiToken, TokenScope};
use crate::schema::{access, call};

/// Who asks, as changes record it, and what this caller may do.
#[derive(Clone, Debug, SimpleObject)]
pub struct Caller {
    /// The author of what the caller does.
    actor: Actor,
    /// What the caller may do: all that a token includes, everything where none is needed.
    scopes: Vec<TokenScope>,
    /// The token that the caller shows; null where none is needed.
    token: Option<ApiToken>,
}

impl Direct for Caller {}

/// Whoever asks for this.
pub(crate) fn asks(context: &Context<'_>) -> Caller {
    let token = access::caller(context).and_then(|caller| caller.grant.token());
    Caller {
        actor: Actor::from(&call::actor(context)),
        scopes: Scope::ALL
            .into_iter()
            .filter(|scope| access::may(context, *scope))
            .map(TokenScope::from)
            .collect(),
        token: token.cloned().map(ApiToken::from),
    }
}
