//! The tokens that are good at the moment, in memory: a request is let in without a look into the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lmlang_store::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::config::Limits;
use crate::engine::Engine;
use crate::error::Error;
use crate::grant::{Grant, Token};
use crate::places::Share;
use crate::secret;
use crate::tokens;

/// Who needs no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// Everybody.
    Everybody,
    /// Everybody, until there is a token. When it has expired or was revoked, that opens nothing: who revokes the only one
    /// does so because somebody has it who should not.
    WithoutTokens,
    /// Nobody.
    Nobody,
}

/// Why a caller does not come in.
#[derive(Clone, Debug)]
pub enum Denied {
    /// It shows no token, and needs one.
    Missing,
    /// Its token is unknown, has expired or was revoked.
    Invalid {
        /// What the token is called in public, as far as it is written like one.
        id: Option<String>,
    },
    /// The tokens cannot be read.
    Unavailable(Error),
}

/// The tokens that are not revoked.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    known: RwLock<Option<Known>>,
    /// Held while they are read.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
struct Known {
    /// When they were read; none when they are known to be others by now.
    read: Option<Instant>,
    /// By the hashes of their secrets: how long a search takes tells of a hash, which nobody can aim at.
    tokens: HashMap<[u8; 32], Arc<Key>>,
    /// Cancelled with the first token, for ever.
    open: CancellationToken,
}

/// A token that is not revoked.
#[derive(Debug)]
struct Key {
    token: Arc<Token>,
    ended: CancellationToken,
    /// When it was noted last that it is used.
    used: AtomicI64,
    /// What may be run with it at the same time.
    share: Arc<Share>,
}

impl Key {
    fn new(token: Token, limits: &Limits) -> Key {
        let used = AtomicI64::new(token.last_used.unwrap_or(i64::MIN));
        let share = Arc::new(Share::new(limits));
        Key { token: Arc::new(token), ended: CancellationToken::new(), used, share }
    }
}

/// Between two readings of the tokens for secrets that nobody knows.
const AGAIN: Duration = Duration::from_millis(25);

/// Microseconds between two notes that a token is used.
const USED: i64 = 600 * 1_000_000;

impl Engine {
    /// Lets a caller in who shows this secret, or none.
    pub async fn admit(&self, secret: Option<&str>, unnamed: Unnamed) -> Result<Grant, Denied> {
        if secret.is_none() && unnamed == Unnamed::Everybody {
            return Ok(Grant::owner());
        }
        self.know_tokens().await.map_err(Denied::Unavailable)?;
        if secret.is_some_and(|secret| self.may_be_new(secret)) {
            self.look_for_new_tokens().await.map_err(Denied::Unavailable)?;
        }
        let known = self.0.keyring.known.read().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = known.as_ref() else { return Err(Denied::Unavailable(Error::Closed)) };
        let Some(secret) = secret else {
            return match unnamed {
                Unnamed::WithoutTokens if !known.open.is_cancelled() => {
                    Ok(Grant::open(known.open.clone(), self))
                }
                Unnamed::Everybody | Unnamed::WithoutTokens | Unnamed::Nobody => Err(Denied::Missing),
            };
        };
        let now = self.now();
        let key = known.tokens.get(&secret::hash(secret));
        let key = key.filter(|key| key.token.expires.is_none_or(|expires| now < expires));
        let key = key.ok_or_else(|| Denied::Invalid { id: secret::id(secret).map(str::to_owned) })?;
        self.note_use(key, now);
        Ok(Grant::of(&key.token, key.ended.clone(), self, &key.share))
    }

    /// Whether a secret may be that of a token which another process has just made.
    fn may_be_new(&self, secret: &str) -> bool {
        let known = self.0.keyring.known.read().unwrap_or_else(PoisonError::into_inner);
        let is_known = known.as_ref().is_some_and(|known| known.tokens.contains_key(&secret::hash(secret)));
        !is_known && !self.store().is_alone() && secret::id(secret).is_some()
    }

    /// Reads the tokens once more. As anybody can have that done, those who come at the same time wait for one reading.
    async fn look_for_new_tokens(&self) -> Result<(), Error> {
        let begun = Instant::now();
        let _reading = self.0.keyring.reading.lock().await;
        match self.age_of_tokens() {
            Some(age) if age <= begun.elapsed() => return Ok(()),
            Some(age) if age < AGAIN => tokio::time::sleep(AGAIN - age).await,
            Some(_) | None => {}
        }
        self.read_tokens().await
    }

    /// Whether there are tokens that are not revoked, those that have expired included.
    pub async fn has_tokens(&self) -> Result<bool, Error> {
        self.know_tokens().await?;
        let known = self.0.keyring.known.read().unwrap_or_else(PoisonError::into_inner);
        Ok(known.as_ref().is_some_and(|known| !known.tokens.is_empty()))
    }

    /// Reads the tokens, unless they were read lately. Nobody waits for that but the first one after a pause: they are read
    /// again behind the back of whoever asks when they become old.
    pub(crate) async fn know_tokens(&self) -> Result<(), Error> {
        let refresh = self.limits().token_refresh;
        match self.age_of_tokens() {
            Some(age) if age < refresh / 2 => return Ok(()),
            Some(age) if age < refresh => {
                if let Ok(reading) = Arc::clone(&self.0.keyring.reading).try_lock_owned() {
                    let engine = self.clone();
                    self.spawn(async move {
                        let _reading = reading;
                        if let Err(error) = engine.read_tokens().await {
                            tracing::warn!(%error, "tokens could not be read");
                        }
                    });
                }
                return Ok(());
            }
            Some(_) | None => {}
        }
        let _reading = self.0.keyring.reading.lock().await;
        match self.age_of_tokens() {
            Some(age) if age < refresh => Ok(()),
            Some(_) | None => self.read_tokens().await,
        }
    }

    /// Reads the tokens anew, after a change of them. Nobody comes in before that has succeeded.
    pub(crate) async fn tokens_changed(&self) -> Result<(), Error> {
        let _reading = self.0.keyring.reading.lock().await;
        if let Some(known) = self.0.keyring.known.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
            known.read = None;
        }
        self.read_tokens().await
    }

    /// How old what is known of tokens is.
    fn age_of_tokens(&self) -> Option<Duration> {
        let known = self.0.keyring.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.read.map(|read| read.elapsed())
    }

    async fn read_tokens(&self) -> Result<(), Error> {
        // From before the question: what is answered may be older than the answer.
        let read = Some(Instant::now());
        let rows = self.store().unrevoked_tokens().await?;
        let ever = !rows.is_empty() || self.store().had_tokens().await?;
        let rows: Vec<([u8; 32], Token)> =
            rows.into_iter().map(|row| Ok((row.hash, tokens::of_row(row)?))).collect::<Result<_, Error>>()?;
        let mut known = self.0.keyring.known.write().unwrap_or_else(PoisonError::into_inner);
        let (mut before, open) =
            known.take().map_or_else(Default::default, |known| (known.tokens, known.open));
        let mut tokens = HashMap::with_capacity(rows.len());
        for (hash, token) in rows {
            let key = before.remove(&hash).unwrap_or_else(|| Arc::new(Key::new(token, self.limits())));
            tokens.insert(hash, key);
        }
        for revoked in before.into_values() {
            revoked.ended.cancel();
        }
        if ever {
            open.cancel();
        }
        *known = Some(Known { read, tokens, open });
        Ok(())
    }

    /// Notes now and then that a token is used: not a write for each request.
    fn note_use(&self, key: &Key, now: i64) {
        let noted = key.used.load(Ordering::Relaxed);
        let due = now.saturating_sub(noted) >= USED;
        if !due || key.used.compare_exchange(noted, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let (engine, id) = (self.clone(), key.token.id.clone());
        self.spawn(async move {
            if let Err(error) = engine.store().use_token(&id, Timestamp(now)).await {
                tracing::warn!(%error, token = id, "that a token is used could not be noted");
            }
        });
    }
}
