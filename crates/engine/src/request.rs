//! What every changing request carries besides its subject.

use lmlang_history::log::{Actor, Idempotency, Origin};

/// Who calls, why, and under which key.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who is recorded.
    pub actor: Actor,
    /// Recorded beside the caller, never instead of them.
    pub on_behalf_of: Option<String>,
    /// Why, in the caller's words.
    pub message: Option<String>,
    /// The key that makes a repetition harmless, with a digest of the request.
    pub idempotency: Option<Idempotency>,
    /// The flow's run and step that calls, if one does.
    pub origin: Option<Origin>,
}

impl Call {
    /// A call by an actor, without message or key.
    pub fn by(actor: Actor) -> Call {
        Call { actor, on_behalf_of: None, message: None, idempotency: None, origin: None }
    }

    /// Adds an idempotency key and digests the request that it stands for.
    ///
    /// `request` is any canonical form of the whole request.
    pub fn keyed(mut self, key: Option<&str>, request: &[u8]) -> Call {
        self.idempotency = key.map(|key| Idempotency {
            key: key.as_bytes().to_vec(),
            digest: *blake3::hash(request).as_bytes(),
        });
        self
    }
}
