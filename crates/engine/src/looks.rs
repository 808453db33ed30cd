//! Requests that change nothing and take long, under idempotency keys: a repetition is answered as the first one for as long
//! as simulations are kept.

use lmlang_store::Answered;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cases::keyed;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;

impl Engine {
    /// What was answered to the request with the key of a call.
    pub(crate) async fn answered<T: DeserializeOwned>(&self, call: &Call) -> Result<Option<T>, Error> {
        let Some(idempotency) = &call.idempotency else { return Ok(None) };
        let first = self.store().answered(&idempotency.key).await?;
        let Some(first) = first.filter(|first| first.made >= self.oldest_kept()) else { return Ok(None) };
        if first.request.digest != idempotency.digest {
            return Err(Error::IdempotencyMismatch);
        }
        // What another version wrote is found out again.
        Ok(serde_json::from_slice(&first.payload).ok())
    }

    /// Keeps the answer to a request with a key.
    pub(crate) async fn answer<T: Serialize>(
        &self,
        open: &OpenProgram,
        call: &Call,
        answer: &T,
    ) -> Result<(), Error> {
        let Some(request) = keyed(call) else { return Ok(()) };
        let payload = serde_json::to_vec(answer).expect("an answer has a JSON form");
        let answered = Answered { request, program: open.timeline.key(), made: self.0.clock.now(), payload };
        Ok(self.store().keep_answer(answered, self.oldest_kept()).await?)
    }
}
