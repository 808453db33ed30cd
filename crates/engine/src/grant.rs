//! What a caller may do, and for how long.

use std::sync::Arc;
use std::time::Duration;

use lmlang_history::log::ActorKind;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::Engine;
use crate::places::Share;

/// Something that a token is good for.
///
/// The discriminants are stored, as bits: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scope {
    /// Looking at programs and their history, and hearing what happens to them.
    Read = 1,
    /// Changing programs, in ways that can be undone.
    Edit = 2,
    /// Running functions.
    Simulate = 4,
    /// Deleting programs, and tokens.
    Admin = 8,
}

impl Scope {
    /// All scopes, in the order of the declaration.
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Edit, Scope::Simulate, Scope::Admin];

    /// Returns the scope as the API writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Read => "READ",
            Scope::Edit => "EDIT",
            Scope::Simulate => "SIMULATE",
            Scope::Admin => "ADMIN",
        }
    }
}

/// The scopes of a token: at least one.
///
/// Each includes reading, for every answer shows something of a program; `Admin` includes all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// All of them.
    pub const ALL: Scopes = Scopes(Scope::Admin as u8);

    /// These scopes; none if there is none among them.
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Option<Scopes> {
        Scopes::from_bits(scopes.into_iter().fold(0, |bits, scope| bits | scope as u8))
    }

    /// Whether they include a scope.
    #[must_use]
    pub fn include(self, scope: Scope) -> bool {
        scope == Scope::Read || self.0 & (scope as u8 | Scope::Admin as u8) != 0
    }

    /// The scopes as they were given.
    pub fn given(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.0 & *scope as u8 != 0)
    }

    /// Reads what is stored; bits that nobody knows count for nothing.
    pub(crate) fn from_bits(bits: u8) -> Option<Scopes> {
        let known = Scope::ALL.into_iter().fold(0, |known, scope| known | scope as u8);
        Some(bits & known).filter(|bits| *bits != 0).map(Scopes)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is called in public, in logs for example.
    pub id: String,
    /// The author of what is done with it, unique among tokens that are not revoked.
    pub name: String,
    /// What that author is.
    pub kind: ActorKind,
    /// What it is good for.
    pub scopes: Scopes,
    /// The programs that it is good for, in ascending order; without, all.
    pub programs: Option<Arc<[Uuid]>>,
    /// When it was made, in microseconds of UTC, as all times here.
    pub created: i64,
    /// From when on it is good for nothing.
    pub expires: Option<i64>,
    /// About when it was used last.
    pub last_used: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// What a caller may do, and for how long. A clone is the same grant.
#[derive(Clone, Debug)]
pub struct Grant(Option<Lease>);

/// What may come to an end.
#[derive(Clone, Debug)]
struct Lease {
    /// None of a caller who needs none, for the time being.
    token: Option<Arc<Token>>,
    ended: CancellationToken,
    /// The engine as this caller sees it.
    engine: Engine,
}

impl Grant {
    /// May do everything, for ever: whoever runs this process.
    #[must_use]
    pub fn owner() -> Grant {
        Grant(None)
    }

    /// May do everything, until it is ended.
    pub(crate) fn open(ended: CancellationToken, engine: &Engine) -> Grant {
        Grant(Some(Lease { token: None, ended, engine: engine.clone() }))
    }

    /// May do what a token is good for, until it is ended.
    pub(crate) fn of(
        token: &Arc<Token>,
        ended: CancellationToken,
        engine: &Engine,
        share: &Arc<Share>,
    ) -> Grant {
        let engine = engine.of_caller(share, token.programs.clone());
        Grant(Some(Lease { token: Some(Arc::clone(token)), ended, engine }))
    }

    /// The token that was shown.
    #[must_use]
    pub fn token(&self) -> Option<&Token> {
        self.0.as_ref()?.token.as_deref()
    }

    /// Whether it includes a scope.
    #[must_use]
    pub fn includes(&self, scope: Scope) -> bool {
        self.token().is_none_or(|token| token.scopes.include(scope))
    }

    /// The programs that it is limited to, in ascending order.
    #[must_use]
    pub fn only(&self) -> Option<&[Uuid]> {
        self.token()?.programs.as_deref()
    }

    /// An idempotency key of this caller. Who is limited to programs shares keys with nobody who sees others: a key that
    /// was used would tell of what was done to them.
    #[must_use]
    pub fn key(&self, given: &str) -> String {
        match self.only() {
            None => given.to_owned(),
            Some(only) => {
                let mut seen = blake3::Hasher::new();
                only.iter().for_each(|program| {
                    seen.update(program.as_bytes());
                });
                format!("{}/{given}", seen.finalize().to_hex())
            }
        }
    }

    /// The engine as this caller has it: its runs are counted, and one that is limited knows no other programs. None: as it
    /// is.
    #[must_use]
    pub fn engine(&self) -> Option<&Engine> {
        let lease = self.0.as_ref()?;
        (lease.token.is_some() || lease.engine.share().is_some()).then_some(&lease.engine)
    }

    /// The same for one connection: its runs are counted for themselves where no token tells its caller from others.
    #[must_use]
    pub fn for_connection(mut self) -> Grant {
        if let Some(lease) = self.0.as_mut().filter(|lease| lease.token.is_none()) {
            let share = Arc::new(Share::new(lease.engine.limits()));
            lease.engine = lease.engine.of_caller(&share, None);
        }
        self
    }

    /// Waits until it is good for nothing any more: at once when it is revoked here, within `tokenRefreshMs` when that
    /// happens elsewhere.
    pub async fn ended(&self) {
        let Some(Lease { token, ended, engine }) = &self.0 else { return std::future::pending().await };
        loop {
            let left = match token.as_ref().and_then(|token| token.expires) {
                None => Duration::MAX,
                Some(expires) => match u64::try_from(expires.saturating_sub(engine.now())) {
                    Ok(0) | Err(_) => return,
                    Ok(micros) => Duration::from_micros(micros),
                },
            };
            tokio::select! {
                () = ended.cancelled() => return,
                () = tokio::time::sleep(left.min(engine.limits().token_refresh / 2)) => {}
            }
            // What cannot be read now is read later, or refused by whoever asks next.
            if let Err(error) = engine.know_tokens().await {
                tracing::warn!(%error, "tokens could not be read");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[Scope], included: &[Scope]) {
        let scopes = Scopes::new(given.iter().copied()).expect("there is one");
        let found: Vec<Scope> = Scope::ALL.into_iter().filter(|scope| scopes.include(*scope)).collect();
        assert_eq!(found, included, "{given:?}");
        assert_eq!(Scopes::from_bits(scopes.bits()), Some(scopes));
        assert!(scopes.given().eq(given.iter().copied()), "{given:?}");
    }

    #[test]
    fn every_scope_includes_reading_and_one_includes_all() {
        use Scope::{Admin, Edit, Read, Simulate};
        check(&[Read], &[Read]);
        check(&[Edit], &[Read, Edit]);
        check(&[Simulate], &[Read, Simulate]);
        check(&[Edit, Simulate], &[Read, Edit, Simulate]);
        check(&[Admin], &Scope::ALL);
        assert_eq!(Scopes::new([]), None);
        assert_eq!(Scopes::from_bits(16), None);
    }
}
