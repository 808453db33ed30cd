//! Who calls for a change, and what is noted beside it.

use async_graphql::Context;
use lmlang_engine::Call;
use lmlang_history::log::{Actor, ActorKind};

use crate::error::{ApiError, Code};
use crate::schema::access::caller;
use crate::transport::{Caller, RequestId};

/// Who calls.
pub(crate) fn actor(context: &Context<'_>) -> Actor {
    let unknown = || Actor { name: "anonymous".to_owned(), kind: ActorKind::Tool, client: None };
    caller(context).map_or_else(unknown, |caller| caller.actor.clone())
}

/// Logs that nothing was changed because of what a change says or meets: an outcome, no error, which the transport logs.
pub(crate) fn refused(context: &Context<'_>, outcome: &'static str) {
    let caller = caller(context);
    tracing::info!(
        request_id = context.data_opt::<RequestId>().map(tracing::field::display),
        author = caller.map(|caller| caller.actor.name.as_str()),
        token = caller.and_then(|caller| caller.grant.token()).map(|token| token.id.as_str()),
        field = context.field().name(),
        outcome,
        "a change was refused"
    );
}

/// Bytes of what a caller notes beside a change: a message, a name, a key, the doc of a program.
pub(crate) const NOTE_BYTES: usize = 64 << 10;

/// Refuses a long note: it would be stored, and read again with every list that shows it. And one that not every database
/// can store.
pub(crate) fn note(field: &str, given: Option<&str>) -> Result<(), ApiError> {
    if given.is_some_and(|given| given.contains('\0')) {
        let message = format!("`{field}` must not contain the character U+0000");
        return Err(ApiError::new(Code::BadRequest, message).at(field));
    }
    match given.map_or(0, str::len) {
        actual if actual > NOTE_BYTES => {
            let error = ApiError::limit("noteBytes", NOTE_BYTES as u64, actual as u64);
            let message = format!("`{field}` is too long: {}", error.message);
            Err(ApiError { message, ..error }.at(field))
        }
        _ => Ok(()),
    }
}

/// The call of a mutation; its name and `input` in its canonical form tell a retry from another request under the same
/// key.
pub(crate) fn call(
    context: &Context<'_>,
    message: Option<String>,
    key: Option<&str>,
    input: &impl std::fmt::Debug,
) -> Result<Call, ApiError> {
    // An undo and a redo have the same input.
    let request = || format!("{} {input:?}", context.field().name()).into_bytes();
    call_by(caller(context), actor(context), message, key, request)
}

/// The call of somebody who changes something; `request` is its canonical form.
pub(crate) fn call_by(
    caller: Option<&Caller>,
    actor: Actor,
    message: Option<String>,
    key: Option<&str>,
    request: impl FnOnce() -> Vec<u8>,
) -> Result<Call, ApiError> {
    note("message", message.as_deref())?;
    note("idempotencyKey", key)?;
    if key.is_some_and(str::is_empty) {
        // One that every careless client has.
        return Err(ApiError::new(Code::BadRequest, "`idempotencyKey` must not be empty"));
    }
    let on_behalf_of = caller.and_then(|caller| caller.on_behalf_of.clone());
    let call = Call { message, on_behalf_of, ..Call::by(actor) };
    let key = key.map(|key| caller.map_or_else(|| key.to_owned(), |caller| caller.grant.key(key)));
    Ok(match key {
        Some(key) => call.keyed(Some(&key), &request()),
        None => call,
    })
}
