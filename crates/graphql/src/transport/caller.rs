//! Who calls, and what it may do.

use std::sync::Arc;

use lmlang_engine::Grant;
use lmlang_history::log::{Actor, ActorKind};

/// Who calls, and what it may do.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who is recorded with changes: of a caller with a token, what the token says.
    pub actor: Actor,
    /// For whom it says it acts; recorded beside the caller, never instead.
    pub on_behalf_of: Option<String>,
    /// What it may do.
    pub grant: Grant,
}

impl Caller {
    /// Whoever runs this process: may do everything.
    #[must_use]
    pub fn owner(actor: Actor) -> Arc<Caller> {
        Arc::new(Caller { actor, on_behalf_of: None, grant: Grant::owner() })
    }

    /// The same for nobody in particular.
    #[must_use]
    pub fn anonymous() -> Arc<Caller> {
        Caller::owner(Actor { name: "anonymous".to_owned(), kind: ActorKind::Tool, client: None })
    }
}
