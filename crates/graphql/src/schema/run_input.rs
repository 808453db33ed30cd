//! What a run is given, and the values that clients write.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Enum, InputObject};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_engine::{Bounds, RunRequest, Tier};
use lmlang_interp as interp;
use lmlang_ir::{FuncRef, Scalar, Type, Value, miscounted, text};

use crate::error::{ApiError, Code};
use crate::schema::defaults::{No, Or};
use crate::schema::natural::natural;
use crate::schema::scalars::{Count, ValueText};
use crate::schema::view::View;

/// What a run is given.
#[derive(Clone, Debug, InputObject)]
pub struct SimulateInput {
    /// The arguments, as values of the parameters' types.
    args: Vec<ValueText>,
    /// Bounds; what is missing is the server's default, each is capped by the server.
    limits: Option<LimitsInput>,
    /// How it is executed. `COMPILED` is refused where the function takes or gives references or closures.
    #[graphql(default_with = "Some(ExecutionTier::Auto)")]
    tier: Option<ExecutionTier>,
    /// Standard input, of text.
    stdin: Option<String>,
    /// Standard input, of anything, in base64; instead of `stdin`.
    stdin_base64: Option<String>,
    /// The files and folders that there are at the start.
    files: Option<Vec<FileInput>>,
    /// The command line that WASI gives the program, behind its name, which is `main`.
    command_line: Option<Vec<String>>,
    /// The environment variables that WASI gives the program.
    environment: Option<Vec<EnvironmentVariableInput>>,
    /// What the random bytes of WASI's `random_get` follow from [default: 0].
    seed: Option<Count>,
    /// How much of the run is shown.
    #[graphql(default_with = "Some(TraceLevel::Nodes)")]
    record_trace: Option<TraceLevel>,
}

/// A file or a folder that a run is given: `content`, `base64` or `folder`. It lies in memory, and no other run sees what is
/// written to it. The folders that something lies in need not be given.
#[derive(Clone, Debug, InputObject)]
pub struct FileInput {
    /// Its path, with `/` between folders.
    path: String,
    /// Its content, of text.
    content: Option<String>,
    /// Its content, of anything.
    base64: Option<String>,
    /// Whether it is a folder.
    #[graphql(default)]
    folder: Or<No>,
}

/// An environment variable.
#[derive(Clone, Debug, InputObject)]
pub struct EnvironmentVariableInput {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
}

impl FileInput {
    fn read(&self, index: usize) -> Result<(Arc<str>, interp::Entry), ApiError> {
        let refused = |field: &str, message: String| misplaced(message, format!("files[{index}].{field}"));
        let parts: Vec<&str> = self.path.split('/').collect();
        if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
            let message = format!("`{}` is no path: names with `/` between them", self.path);
            return Err(refused("path", message));
        }
        let entry = match (&self.content, &self.base64, self.folder.0) {
            (Some(text), None, false) => interp::Entry::File(text.as_bytes().into()),
            (None, Some(text), false) => {
                interp::Entry::File(decoded(text, "base64", || format!("files[{index}].base64"))?.into())
            }
            (None, None, true) => interp::Entry::Folder,
            (..) => {
                return Err(refused("content", "give one of `content`, `base64` and `folder`".to_owned()));
            }
        };
        Ok((self.path.as_str().into(), entry))
    }
}

/// An argument that cannot be right, with its place.
fn misplaced(message: String, place: String) -> ApiError {
    ApiError::new(Code::BadRequest, message).at(&place)
}

/// The bytes that a field has in base64.
fn decoded(text: &str, field: &str, place: impl FnOnce() -> String) -> Result<Vec<u8>, ApiError> {
    let decoded = BASE64_STANDARD.decode(text);
    decoded.map_err(|error| misplaced(format!("`{field}` is not base64: {error}"), place()))
}

/// A text of a list that ends each with a zero.
fn without_zero(text: &str, place: String) -> Result<Arc<str>, ApiError> {
    match text.contains('\0') {
        true => Err(misplaced("the text has a zero byte, which ends it for WASI".to_owned(), place)),
        false => Ok(text.into()),
    }
}

impl EnvironmentVariableInput {
    fn read(&self, index: usize) -> Result<(Arc<str>, Arc<str>), ApiError> {
        let place = |field: &str| format!("environment[{index}].{field}");
        if self.name.is_empty() || self.name.contains('=') {
            let message = format!("`{}` is no name of a variable: some letters without `=`", self.name);
            return Err(misplaced(message, place("name")));
        }
        Ok((without_zero(&self.name, place("name"))?, without_zero(&self.value, place("value"))?))
    }
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
    /// Bytes of linear memory and of the value heap. Compiled code holds no more either, but for 1 MiB that values have in any
    /// case; meanwhile the run in the interpreter that it takes over from is kept, so that it can go on.
    memory_bytes: Option<Count>,
    /// Calls inside calls.
    call_depth: Option<i32>,
    /// Time that it executes, in all tiers together; compiling, and waiting for others and for readers, does not count.
    timeout_ms: Option<i32>,
    /// Bytes of steps, as the server holds them, that one stream of the trace shows, or one page of it. A stream goes on
    /// without steps then; a page ends, and what is left counts as `dropped`.
    trace_bytes: Option<Count>,
    /// Bytes of standard output and standard error.
    output_bytes: Option<Count>,
}

/// How a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ExecutionTier {
    /// As the server sees fit: by the interpreter first, as compiled code when it takes long.
    Auto,
    /// By the interpreter, which can show every step.
    Interpreter,
    /// As compiled code: much faster for long runs. What it stops at is looked at by the interpreter, and what may come near
    /// its bound of memory with values of the heap is run there.
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

/// The value that a client wrote, with its type.
pub(crate) fn literal(view: &View, given: &str, place: &str) -> Result<Value, ApiError> {
    let wrong = |message: String| {
        let message =
            format!("`{place}` is no literal with its type, such as `i64:7` or `\"text\"`{message}");
        ApiError::new(Code::BadRequest, message).at(place)
    };
    // Those of two types say themselves of which they are.
    let own = match given {
        _ if given.starts_with('"') => Some(Type::String),
        _ if given.starts_with("b\"") || given.starts_with("hex\"") => Some(Type::Bytes),
        _ => None,
    };
    if let Some(ty) = own {
        let found = text::parse_value(view.program(), &ty, given);
        return found.map_err(|error| wrong(format!(": {}", error.message)));
    }
    match text::parse_literal(view.program(), given, text::LiteralPlace::Unknown) {
        Some(Ok(found)) => Ok(Value::Const(found)),
        Some(Err(error)) => Err(wrong(format!(": {}", error.message))),
        None => Err(wrong(String::new())),
    }
}

/// The value that a client wrote, of a type.
pub(crate) fn value(view: &View, ty: &Type, given: &ValueText, place: &str) -> Result<Value, ApiError> {
    let program = view.program();
    let bad = |error: text::TextError| {
        let expected = text::print_type_name(program, None, ty);
        let data = serde_json::json!({
            "path": place, "expected": expected, "candidates": error.candidates, "column": error.column,
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
        (async_graphql::Value::List(items), Type::FixedArray(_, length))
            if items.len() != *length as usize =>
        {
            let message = format!("`{place}` must have {length} elements, found {}", items.len());
            Err(misplaced(message, place.to_owned()))
        }
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
            let example = Value::example(program, ty).map(|value| text::print_value(program, &value));
            let such = example.map(|example| format!(", such as `{example}`")).unwrap_or_default();
            let message = format!("`{place}` must be a `{expected}` in the text form{such}{}", or_json(ty));
            Err(ApiError::new(Code::BadRequest, message).at(place))
        }
    }
}

/// What a value of a type may be in JSON, other than the text form.
fn or_json(ty: &Type) -> &'static str {
    match ty {
        Type::Scalar(Scalar::Bool) => ", or a boolean",
        Type::Scalar(_) => ", or a number",
        Type::Array(_) | Type::FixedArray(..) => ", or a list",
        _ => "",
    }
}

impl SimulateInput {
    /// What a run is given besides arguments, to be read.
    pub(crate) fn given(
        (limits, seed): (Option<LimitsInput>, Option<Count>),
        (stdin, stdin_base64): (Option<String>, Option<String>),
        files: Option<Vec<FileInput>>,
        (command_line, environment): (Option<Vec<String>>, Option<Vec<EnvironmentVariableInput>>),
    ) -> SimulateInput {
        SimulateInput {
            args: Vec::new(),
            limits,
            tier: None,
            stdin,
            stdin_base64,
            files,
            command_line,
            environment,
            seed,
            record_trace: None,
        }
    }

    /// The bounds that are asked for.
    pub(crate) fn bounds(&self) -> Result<Bounds, ApiError> {
        let limits = self.limits.clone().unwrap_or_default();
        let depth = limits.call_depth.map(|given| natural("limits.callDepth", given)).transpose()?;
        let millis = limits.timeout_ms.map(|given| natural("limits.timeoutMs", given)).transpose()?;
        Ok(Bounds {
            fuel: limits.fuel.map(|count| count.0),
            memory_bytes: limits.memory_bytes.map(|count| count.0),
            call_depth: depth,
            timeout: millis.map(Duration::from_millis),
            output_bytes: limits.output_bytes.map(|count| count.0),
            trace_bytes: limits.trace_bytes.map(|count| count.0),
        })
    }

    /// What it is given besides arguments.
    pub(crate) fn environment(&self) -> Result<interp::Environment, ApiError> {
        let mut files = interp::Files::new();
        for (index, file) in self.files.iter().flatten().enumerate() {
            let (path, content) = file.read(index)?;
            if files.insert(path, content).is_some() {
                let message = format!("the path `{}` is given twice", file.path);
                return Err(misplaced(message, format!("files[{index}].path")));
            }
        }
        for (index, file) in self.files.iter().flatten().enumerate() {
            let mut above = file.path.match_indices('/').map(|(at, _)| &file.path[..at]);
            if let Some(above) = above.find(|above| matches!(files.get(*above), Some(interp::Entry::File(_))))
            {
                let message = format!("`{above}` is a file, which has nothing in it");
                return Err(misplaced(message, format!("files[{index}].path")));
            }
        }
        let stdin = match (&self.stdin, &self.stdin_base64) {
            (Some(_), Some(_)) => {
                let message = "give one of `stdin` and `stdinBase64`".to_owned();
                return Err(misplaced(message, "stdin".to_owned()));
            }
            (None, Some(text)) => decoded(text, "stdinBase64", || "stdinBase64".to_owned())?.into(),
            (text, None) => text.as_deref().unwrap_or_default().into(),
        };
        let line = self.command_line.iter().flatten().enumerate();
        let line = line.map(|(index, text)| without_zero(text, format!("commandLine[{index}]")));
        let variables = self.environment.iter().flatten().enumerate().map(|(index, of)| of.read(index));
        Ok(interp::Environment {
            stdin,
            files: Arc::new(files),
            command_line: line.collect::<Result<_, _>>()?,
            variables: variables.collect::<Result<_, _>>()?,
            seed: self.seed.map_or(0, |seed| seed.0),
        })
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
        if let Some(message) = miscounted("args", params.len(), self.args.len()) {
            return Err(ApiError::new(Code::BadRequest, message).at("args"));
        }
        let arg = |(index, (param, given)): (usize, (&lmlang_ir::Param, &ValueText))| {
            value(view, &param.ty, given, &format!("args[{index}]"))
        };
        let args = params.iter().zip(&self.args).enumerate().map(arg).collect::<Result<_, _>>()?;
        let (tier, environment) = (self.tier.and_then(ExecutionTier::wanted), self.environment()?);
        Ok(RunRequest { function: of, args, bounds, environment, trace: self.trace(), tier })
    }
}
