//! What the code of a flow is: its definition and what its nodes do.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use lmlang_flow::{Failure, Flow, State, Status, Step, Update};
use lmlang_store::Fault;
use serde_json::Value;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::work::Work;
use crate::request::Call;

/// The code of a flow. Nodes are called by name; what is to be remembered of them is in their answers.
///
/// Concurrency: nodes of many runs, and of parallel branches of one, are executed at the same time. Idempotency: a node may
/// be executed again from its beginning after a crash; effects that went through [`Work::effect`] are answered from the
/// journal then, everything else happens again. Side effects: those of its effects alone.
///
/// Warning: an effect that was announced and has no receipt may have happened. It is performed again under the same key.
pub trait FlowCode: Send + Sync + 'static {
    /// Its definition.
    fn flow(&self) -> &Arc<Flow>;

    /// A JSON schema of what a run is started with: an object.
    fn input_schema(&self) -> Value;

    /// Reads what a run is to be started with. May look things up and changes nothing. `before` is what the session's run
    /// before it came to, if one has ended, however it did: what a conversation goes on from.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] with the place, for input that makes no sense; a fault of what is looked up.
    fn accept<'a>(
        &'a self,
        engine: &'a Engine,
        input: &'a Value,
        before: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>>;

    /// What a run is to be started with for something that was said in a session; none if the flow holds no conversations.
    fn turn_input(&self, _text: &str) -> Option<Value> {
        None
    }

    /// Whether each of its runs is about a program, and reaches nothing beside it: who is limited to programs may begin them.
    fn is_about_a_program(&self) -> bool {
        self.flow().is_about_a_program()
    }

    /// What whoever takes part in a conversation is shown of a state: all that is not private, unless the flow says otherwise.
    fn view(&self, state: &State) -> Value {
        state.public(self.flow())
    }

    /// Takes away what a run that was cancelled, or has failed, has made for itself alone, as far as that goes, when nothing of it
    /// is at work any more in this process. It comes after the end is stored: not at all if the process is killed just then, and
    /// again whenever somebody looks at the run, here or in another process that had executed it.
    fn let_go<'a>(&'a self, _run: LetGo<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {})
    }

    /// Executes a node.
    ///
    /// # Errors
    ///
    /// [`Halt::Failed`] for what the ladder is to judge; [`Halt::Lost`] only as the work itself has answered it.
    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>>;
}

/// A run that was cancelled, or has failed.
pub struct LetGo<'a> {
    /// The engine that had executed it.
    pub engine: &'a Engine,
    /// Its id: what it made in programs has it as its origin.
    pub run: Uuid,
    /// How it has ended.
    pub ended: Status,
    /// Its state as it was.
    pub state: &'a State,
    /// The program that it was about.
    pub program: Option<Uuid>,
    /// A call of the flow, recorded with the run.
    pub call: Call,
}

/// What a flow makes of its input.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// What its run begins with.
    pub update: Update,
    /// The program that it is about.
    pub program: Option<Uuid>,
    /// The branch of it that it works on, if there is one already.
    pub branch: Option<String>,
}

/// Why a node has not come to its end.
#[derive(Debug)]
pub enum Halt {
    /// It has failed, and the ladder says what becomes of it.
    Failed(Failure),
    /// The run cannot be gone on with here: its journal cannot be written, or somebody else has gone on with it.
    Lost(Error),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Halt {
        Halt::Failed(failure)
    }
}

/// A failure with a code and words, for which trying again may help.
#[must_use]
pub fn failure(code: &str, message: impl Into<String>) -> Failure {
    Failure {
        code: code.to_owned(),
        message: message.into(),
        tool: None,
        arguments: None,
        transient: false,
        retry_after: None,
    }
}

/// What a node makes of an error of the engine: the database comes back, what is not there does not.
#[must_use]
pub fn failed(tool: &str, error: &Error) -> Failure {
    let (code, transient) = match error {
        Error::NotFound { .. } => ("NOT_FOUND", false),
        Error::BadRequest { .. }
        | Error::Argument { .. }
        | Error::Bisect(_)
        | Error::Breakpoint { .. }
        | Error::EntityValue(_)
        | Error::EntityConstraint(_)
        | Error::Cypher(_) => ("BAD_REQUEST", false),
        Error::NameTaken { .. } => ("NAME_TAKEN", false),
        Error::Limit { .. } | Error::ModuleEntries { .. } | Error::ModuleNodes { .. } => {
            ("LIMIT_EXCEEDED", false)
        }
        Error::IdempotencyMismatch => ("IDEMPOTENCY_MISMATCH", false),
        Error::CursorInvalid { .. } => ("CURSOR_INVALID", false),
        Error::Unsupported { .. } => ("UNSUPPORTED", false),
        Error::Unmergeable { .. } => ("INTERNAL", false),
        Error::Late => ("TIMEOUT", true),
        Error::Overloaded { .. } => ("OVERLOADED", true),
        Error::TooMany { .. } => ("RATE_LIMITED", true),
        Error::Storage(Fault::Held) => ("OVERLOADED", true),
        Error::Storage(fault) => ("STORAGE_UNAVAILABLE", fault.may_pass()),
        Error::Closed => ("STORAGE_UNAVAILABLE", true),
        Error::Damaged { .. } => ("STORAGE_UNAVAILABLE", false),
    };
    // What the database says of itself stays in the log of the server.
    let message = match error {
        Error::Storage(Fault::Held) => error.to_string(),
        Error::Storage(_) | Error::Damaged { .. } | Error::Closed => "the database did not answer".to_owned(),
        error => error.to_string(),
    };
    Failure { tool: Some(tool.to_owned()), transient, ..failure(code, message) }
}
