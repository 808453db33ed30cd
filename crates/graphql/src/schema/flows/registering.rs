//! Declaring flows, and taking them away.

use async_graphql::{Context, Enum, InputObject, Json, SimpleObject};
use lmlang_engine::{Engine, Registered};
use lmlang_flow::declared::{Mistake, MistakeCode};
use serde_json::Value;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::call::{call, note};
use crate::schema::defaults::{No, Or};
use crate::schema::failure::fail;
use crate::schema::flows::flow::Flow;
use crate::schema::mutation::DeletePayload;

/// Declares a flow, or declares it anew.
#[derive(Clone, Debug, InputObject)]
pub struct RegisterFlowInput {
    /// The flow, with what its nodes do: an object with `name`, `nodes`, `input`, `channels` and more, as `Flow.declaration` shows
    /// it. At most `flowBytes` of `serverInfo.limits`.
    definition: Json<Value>,
    /// Whether to tell what is wrong with it, and store nothing.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Has no effect: a declaration that is there already changes nothing.
    idempotency_key: Option<String>,
}

/// What came of declaring a flow.
#[derive(Clone, SimpleObject)]
pub struct RegisterFlowPayload {
    /// The flow as it is declared now, or would be; null when there are errors.
    flow: Option<Flow>,
    /// What was declared under its name until then; null: nothing. Runs of it go on as they began.
    replaced: Option<Flow>,
    /// Whether it is another one than before: the same one is not declared again.
    changed: bool,
    /// What is wrong with it: nothing is stored then.
    errors: Vec<FlowError>,
}

/// What is wrong with a declaration.
#[derive(Clone, Debug, SimpleObject)]
pub struct FlowError {
    /// What kind it is.
    code: FlowErrorCode,
    /// Where: `nodes[2].action.tool.name`; empty for the whole.
    path: String,
    /// What is wrong, in words.
    message: String,
}

impl Direct for FlowError {}

/// What can be wrong with a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum FlowErrorCode {
    /// Arguments do not fit their tool.
    BadArguments,
    /// A number is outside of its bounds.
    BadBound,
    /// A channel cannot take what goes into it.
    BadChannel,
    /// A field is missing, is not known, or has a value of another type.
    BadField,
    /// A name that could not be written where names are written.
    BadName,
    /// A schema is none, or not one of an object.
    BadSchema,
    /// A text is no template, or no path.
    BadTemplate,
    /// Something leads to what is not there.
    MissingTarget,
    /// Two things have one name, or the flow that of one of the server.
    NameTaken,
    /// A flow about a program names what is for flows about everything.
    OutOfReach,
    /// Runs would start runs of their own flow, by way of others or not.
    Recursion,
    /// A run could go round for ever.
    UnboundedCycle,
    /// There is no such channel.
    UnknownChannel,
    /// There is no such flow.
    UnknownFlow,
    /// There is no such tool.
    UnknownTool,
    /// No run comes to a node.
    Unreachable,
}

impl From<MistakeCode> for FlowErrorCode {
    fn from(code: MistakeCode) -> FlowErrorCode {
        match code {
            MistakeCode::BadArguments => FlowErrorCode::BadArguments,
            MistakeCode::BadBound => FlowErrorCode::BadBound,
            MistakeCode::BadChannel => FlowErrorCode::BadChannel,
            MistakeCode::BadField => FlowErrorCode::BadField,
            MistakeCode::BadName => FlowErrorCode::BadName,
            MistakeCode::BadSchema => FlowErrorCode::BadSchema,
            MistakeCode::BadTemplate => FlowErrorCode::BadTemplate,
            MistakeCode::MissingTarget => FlowErrorCode::MissingTarget,
            MistakeCode::NameTaken => FlowErrorCode::NameTaken,
            MistakeCode::OutOfReach => FlowErrorCode::OutOfReach,
            MistakeCode::Recursion => FlowErrorCode::Recursion,
            MistakeCode::UnboundedCycle => FlowErrorCode::UnboundedCycle,
            MistakeCode::UnknownChannel => FlowErrorCode::UnknownChannel,
            MistakeCode::UnknownFlow => FlowErrorCode::UnknownFlow,
            MistakeCode::UnknownTool => FlowErrorCode::UnknownTool,
            MistakeCode::Unreachable => FlowErrorCode::Unreachable,
        }
    }
}

impl From<Mistake> for FlowError {
    fn from(mistake: Mistake) -> FlowError {
        let Mistake { code, path, message } = mistake;
        FlowError { code: code.into(), path: shown(&path), message: shown(&message) }
    }
}

/// Characters of a path or a message that are shown: they may quote what was declared.
const SHOWN: usize = 400;

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Takes a declared flow away.
#[derive(Clone, Debug, InputObject)]
pub struct RemoveFlowInput {
    /// The flow, by name.
    name: String,
    /// Has no effect: one that was taken away stays so.
    idempotency_key: Option<String>,
}

/// Mistakes that one answer tells.
const MISTAKES: usize = 100;

pub(crate) async fn register(
    context: &Context<'_>,
    input: RegisterFlowInput,
) -> Result<RegisterFlowPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let registered = engine.register_flow(&input.definition.0, input.dry_run.0, &call).await.map_err(fail)?;
    let Registered { flow, before, changed, mistakes } = registered;
    Ok(RegisterFlowPayload {
        flow: flow.map(|flow| Flow::declared(&flow)),
        replaced: before.map(|flow| Flow::declared(&flow)),
        changed,
        errors: mistakes.into_iter().take(MISTAKES).map(FlowError::from).collect(),
    })
}

pub(crate) async fn remove(context: &Context<'_>, input: RemoveFlowInput) -> Result<DeletePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    note("name", Some(&input.name))?;
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let deleted = engine.remove_flow(&input.name, &call).await.map_err(fail)?;
    Ok(DeletePayload { deleted })
}

#[cfg(test)]
mod tests {
    use async_graphql::resolver_utils::EnumType as _;

    use super::*;

    #[test]
    fn every_mistake_has_its_code() {
        for code in MistakeCode::ALL {
            let shown = FlowErrorCode::from(code);
            let item = FlowErrorCode::items().iter().find(|item| item.value == shown).expect("it is one");
            assert_eq!(item.name, code.name());
        }
    }
}
