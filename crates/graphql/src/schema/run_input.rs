//! What a run is given, and the values that clients write.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Enum, InputObject};
use lmlang_engine::{Bounds, RunRequest, Tier};
use lmlang_interp as interp;
use lmlang_ir::{FuncRef, Type, Value, text};

use crate::error::{ApiError, Code};
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::View;

/// What a run is given.
#[derive(Clone, Debug, InputObject)]
pub struct SimulateInput {
    /// The arguments, as values of the parameters' types.
    args: Vec<ValueText>,
    /// Bounds; what is missing is the server's default, each is capped by the server.
    limits: Option<LimitsInput>,
    /// How it is executed: `COMPILED` is not supported yet.
    #[graphql(default_with = "Some(ExecutionTier::Auto)")]
    tier: Option<ExecutionTier>,
    /// Standard input.
    stdin: Option<String>,
    /// Files: not supported yet.
    files: Option<Vec<FileInput>>,
    /// What random choices start from; no operator makes any yet.
    seed: Option<Count>,
    /// How much of the run is shown.
    #[graphql(default_with = "Some(TraceLevel::Nodes)")]
    record_trace: Option<TraceLevel>,
}

/// A file of the virtual file system.
#[derive(Clone, Debug, InputObject)]
pub struct FileInput {
    /// Its path.
    path: String,
    /// Its content.
    content: String,
}

/// A value for an open port.
#[derive(Clone, Debug, InputObject)]
pub struct PortValue {
    /// The source that is open: `n12`, `n12.1`, `g5.0`, `f7.0`; or a hole: `n12.in0`.
    pub(crate) port: String,
    /// Its value.
    pub(crate) value: ValueText,
}

/// Bounds of a run, each capped by the server.
#[derive(Clone, Debug, Default, InputObject)]
pub struct LimitsInput {
    /// Executed nodes, and what bulk operators cost beyond.
    fuel: Option<Count>,
    /// Bytes of linear memory and of the value heap.
    memory_bytes: Option<Count>,
    /// Calls inside calls.
    call_depth: Option<i32>,
    /// Time that it executes; waiting for others and for readers does not count.
    timeout_ms: Option<i32>,
    /// Bytes of steps, as the server holds them, that one stream of the trace shows; it goes on without steps then.
    trace_bytes: Option<Count>,
    /// Bytes of standard output.
    output_bytes: Option<Count>,
}

/// How a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ExecutionTier {
    /// As the server sees fit: by the interpreter first, as compiled code when it takes long.
    Auto,
    /// By the interpreter, which can show every step.
    Interpreter,
    /// As compiled code: much faster for long runs, without values of the heap and input or output. What it stops at is
    /// looked at by the interpreter.
    Compiled,
}

impl ExecutionTier {
    /// The tier that was asked for, if it matters.
    fn wanted(self) -> Option<Tier> {
        match self {
            ExecutionTier::Auto => None,
            ExecutionTier::Interpreter => Some(Tier::Interpreter),
            ExecutionTier::Compiled => Some(Tier::Compiled),
        }
    }
}

impl From<Tier> for ExecutionTier {
    fn from(tier: Tier) -> ExecutionTier {
        match tier {
            Tier::Interpreter => ExecutionTier::Interpreter,
            Tier::Compiled => ExecutionTier::Compiled,
        }
    }
}

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "interp::TraceLevel")]
pub enum TraceLevel {
    /// Nothing.
    None,
    /// Calls and returns.
    Calls,
    /// Also what opens and leaves regions.
    Regions,
    /// Every node.
    Nodes,
}

/// The value that a client wrote, of a type.
pub(crate) fn value(view: &View, ty: &Type, given: &ValueText, place: &str) -> Result<Value, ApiError> {
    let program = view.program();
    let bad = |error: text::TextError| {
        let expected = text::print_type_name(program, None, ty);
        let data = serde_json::json!({
            "path": [place], "expected": expected, "candidates": error.candidates, "column": error.column,
        });
        ApiError::new(Code::BadRequest, format!("`{place}` is no `{expected}`: {}", error.message)).data(data)
    };
    let literal = |text: &str| text::parse_value(program, ty, text).map_err(bad);
    match (&given.0, ty) {
        // For a text a JSON string is the text itself.
        (async_graphql::Value::String(text), Type::String) => {
            Ok(Value::Const(lmlang_ir::Const::String(text.as_str().into())))
        }
        (async_graphql::Value::String(text), _) => literal(text),
        (async_graphql::Value::Number(number), _) => literal(&number.to_string()),
        (async_graphql::Value::Boolean(value), _) => literal(&value.to_string()),
        (async_graphql::Value::List(items), Type::Array(of) | Type::FixedArray(of, _)) => {
            let items = items
                .iter()
                .enumerate()
                .map(|(index, item)| value(view, of, &ValueText(item.clone()), &format!("{place}[{index}]")));
            let items = items.collect::<Result<Vec<Value>, ApiError>>()?;
            Ok(match ty {
                Type::FixedArray(..) => Value::FixedArray(of.clone(), items),
                _ => Value::Array(of.clone(), items),
            })
        }
        (_, _) => {
            let expected = text::print_type_name(program, None, ty);
            let message =
                format!("`{place}` must be a `{expected}` in the text form, a number, a boolean or a list");
            Err(ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "path": [place] })))
        }
    }
}

impl SimulateInput {
    /// The bounds that are asked for; refuses what runs do not have yet.
    pub(crate) fn bounds(&self) -> Result<Bounds, ApiError> {
        let unsupported = |what: &str| ApiError::new(Code::Unsupported, format!("{what} is not supported"));
        if self.files.as_ref().is_some_and(|files| !files.is_empty()) {
            return Err(unsupported("a virtual file system"));
        }
        let limits = self.limits.clone().unwrap_or_default();
        let positive = |name: &str, given: Option<i32>| {
            given
                .map(|given| {
                    u32::try_from(given).map_err(|_| {
                        ApiError::new(
                            Code::BadRequest,
                            format!("`{name}` must not be negative, found {given}"),
                        )
                    })
                })
                .transpose()
        };
        Ok(Bounds {
            fuel: limits.fuel.map(|count| count.0),
            memory_bytes: limits.memory_bytes.map(|count| count.0),
            call_depth: positive("callDepth", limits.call_depth)?,
            timeout: positive("timeoutMs", limits.timeout_ms)?.map(|ms| Duration::from_millis(ms.into())),
            output_bytes: limits.output_bytes.map(|count| count.0),
            trace_bytes: limits.trace_bytes.map(|count| count.0),
        })
    }

    /// Standard input.
    pub(crate) fn stdin(&self) -> Arc<str> {
        self.stdin.as_deref().unwrap_or_default().into()
    }

    /// The arguments, as they were written.
    pub(crate) fn args(&self) -> &[ValueText] {
        &self.args
    }

    /// How much of the run is shown.
    pub(crate) fn trace(&self) -> interp::TraceLevel {
        self.record_trace.map_or(interp::TraceLevel::Nodes, Into::into)
    }

    /// The run that is asked for.
    pub(crate) fn request(self, view: &View, of: FuncRef) -> Result<RunRequest, ApiError> {
        let bounds = self.bounds()?;
        let function = view.function(of)?;
        let params = &function.head().params;
        if params.len() != self.args.len() {
            let message = format!("`args` must have {} values, found {}", params.len(), self.args.len());
            return Err(
                ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "path": ["args"] }))
            );
        }
        let arg = |(index, (param, given)): (usize, (&lmlang_ir::Param, &ValueText))| {
            value(view, &param.ty, given, &format!("args[{index}]"))
        };
        let args = params.iter().zip(&self.args).enumerate().map(arg).collect::<Result<_, _>>()?;
        let tier = self.tier.and_then(ExecutionTier::wanted);
        Ok(RunRequest { function: of, args, bounds, stdin: self.stdin(), trace: self.trace(), tier })
    }
}
