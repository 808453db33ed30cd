//! Making, listing and revoking tokens.

use std::sync::Arc;

use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{CreateTokenError, Timestamp};

use crate::catalog::Selector;
use crate::engine::Engine;
use crate::error::Error;
use crate::grant::{Scope, Scopes, Token};
use crate::records;
use crate::secret::{self, Secret};

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The author of what is done with it.
    pub name: String,
    /// What that author is.
    pub kind: ActorKind,
    /// What it is good for.
    pub scopes: Vec<Scope>,
    /// The programs that it is good for; without, all.
    pub programs: Option<Vec<Selector>>,
    /// From when on it is good for nothing, in microseconds of UTC.
    pub expires: Option<i64>,
}

/// Programs of a token.
pub const MOST_PROGRAMS: usize = 100;

impl Engine {
    /// Makes a token. Nobody can learn its secret later.
    ///
    /// A request whose answer was lost is not to be repeated: the name is taken then, and the token is to be revoked.
    pub async fn create_token(&self, new: NewToken, by: &Actor) -> Result<(Token, Secret), Error> {
        let NewToken { name, kind, scopes, programs, expires } = new;
        if !Actor::is_name(&name) {
            let most = Actor::NAME_BYTES;
            return Err(Error::bad_request(format!("`name` must be one line of 1 to {most} bytes")));
        }
        let scopes = Scopes::new(scopes).ok_or_else(|| Error::bad_request("`scopes` must not be empty"))?;
        let now = self.now();
        if expires.is_some_and(|expires| expires <= now) {
            return Err(Error::bad_request("`expiresAt` must not be over already"));
        }
        let programs = match programs {
            None => None,
            Some(programs) => Some(self.ids(&programs).await?),
        };
        let secret = Secret::new(&self.0.clock);
        let token = Token {
            id: secret.id().to_owned(),
            name,
            kind,
            scopes,
            programs,
            created: now,
            expires,
            last_used: None,
            revoked: None,
        };
        let (engine, row) = (self.clone(), to_row(&token, &secret));
        let stored = self.to_end(async move {
            engine.store().create_token(row).await.map_err(|error| match error {
                CreateTokenError::NameTaken { name } => Error::NameTaken { what: "token", name },
                CreateTokenError::Storage(fault) => fault.into(),
            })?;
            if let Err(error) = engine.tokens_changed().await {
                // It is made, and read by whoever asks next.
                tracing::warn!(%error, "tokens could not be read");
            }
            Ok(())
        });
        stored.await?;
        tracing::info!(token = token.id, name = token.name, by = by.name, "made a token");
        Ok((token, secret))
    }

    async fn ids(&self, programs: &[Selector]) -> Result<Arc<[uuid::Uuid]>, Error> {
        if programs.is_empty() {
            return Err(Error::bad_request("`programs` must not be empty: without it, all are meant"));
        }
        if programs.len() > MOST_PROGRAMS {
            let (limit, actual) = (MOST_PROGRAMS as u64, programs.len() as u64);
            return Err(Error::Limit { which: "tokenPrograms", limit, actual });
        }
        let mut ids = Vec::with_capacity(programs.len());
        for program in programs {
            ids.push(self.find(program).await?.timeline.id());
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids.into())
    }

    /// All tokens, the oldest first, those that were revoked too.
    pub async fn tokens(&self) -> Result<Vec<Token>, Error> {
        self.store().tokens().await?.into_iter().map(of_row).collect()
    }

    /// The first of some authors who lacks a scope, by what the newest token of that name is good for, revoked or not. Who
    /// never had a token needs none.
    pub async fn lacking(&self, authors: &[String], scope: Scope) -> Result<Option<String>, Error> {
        let tokens = self.tokens().await?;
        let lacks = |author: &&String| {
            let newest = tokens.iter().rev().find(|token| token.name == **author);
            newest.is_some_and(|token| !token.scopes.include(scope))
        };
        Ok(authors.iter().find(lacks).cloned())
    }

    /// Revokes the token with an id, or the one with a name that is not revoked. One that is revoked already stays so.
    ///
    /// When this returns, it is good for nothing here.
    pub async fn revoke_token(&self, given: &str, by: &Actor) -> Result<Token, Error> {
        let tokens = self.tokens().await?;
        let of_id = tokens.iter().find(|token| token.id == given);
        let named = || tokens.iter().find(|token| token.name == given && token.revoked.is_none());
        let Some(token) = of_id.or_else(named) else {
            let live = tokens.iter().filter(|token| token.revoked.is_none());
            let names = lmlang_ir::text::nearest(given, live.map(|token| token.name.as_str()));
            let given = given.to_owned();
            return Err(Error::NotFound { what: "token", given, candidates: names, retired: false });
        };
        if token.revoked.is_some() {
            // Whoever asks again may have been told that it failed, after it was stored.
            self.tokens_changed().await?;
            return Ok(token.clone());
        }
        let (engine, id, now) = (self.clone(), token.id.clone(), self.now());
        let revoked = self.to_end(async move {
            engine.store().revoke_token(&id, Timestamp(now)).await?;
            engine.tokens_changed().await
        });
        revoked.await?;
        tracing::info!(token = token.id, name = token.name, by = by.name, "revoked a token");
        Ok(Token { revoked: Some(now), ..token.clone() })
    }
}

fn to_row(token: &Token, shown: &Secret) -> lmlang_store::Token {
    lmlang_store::Token {
        id: token.id.clone(),
        hash: secret::hash(shown.reveal()),
        name: token.name.clone(),
        kind: records::to_actor_kind(token.kind),
        scopes: token.scopes.bits(),
        programs: token.programs.as_ref().map(|programs| programs.to_vec()),
        created: Timestamp(token.created),
        expires: token.expires.map(Timestamp),
        last_used: token.last_used.map(Timestamp),
        revoked: token.revoked.map(Timestamp),
    }
}

/// The token of a row.
pub(crate) fn of_row(row: lmlang_store::Token) -> Result<Token, Error> {
    let unreadable = lmlang_store::Fault::Row { table: "api_tokens", column: "scopes" };
    Ok(Token {
        id: row.id,
        name: row.name,
        kind: records::from_actor_kind(row.kind),
        scopes: Scopes::from_bits(row.scopes).ok_or(unreadable)?,
        programs: row.programs.map(Into::into),
        created: row.created.0,
        expires: row.expires.map(|time| time.0),
        last_used: row.last_used.map(|time| time.0),
        revoked: row.revoked.map(|time| time.0),
    })
}
