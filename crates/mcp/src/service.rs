//! The tools as an MCP server: what the SDK asks, answered from the registry.

use std::sync::Arc;

use lmlang_graphql::transport::{Caller, Executor};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::ask::InProcess;
use crate::desk::{self, Desk, Progress};
use crate::failure::{Failure, RpcCode, RpcError};
use crate::rates::Rates;
use crate::reply::hidden;
use crate::resources::{self, EDITS, TEMPLATES};
use crate::result::result;
use crate::tool::{Effect, Tool};
use crate::tools;

/// Methods that are handed on to the SDK.
pub(crate) const METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "subscriptions/listen",
];

/// What a client is told of the server as a whole.
const INSTRUCTIONS: &str = "lmlang keeps programs as typed graphs: you read, edit, verify, run and undo them here. Begin with \
program (list, overview), read bodies with retrieve_subgraph, change with propose_structured_edit on the revision that you \
read, run with simulate, take back with undo. Every answer begins with `; program NAME @ rNUMBER`: that number is your next \
base_revision. Answers stay within max_tokens; one that is truncated says how to go on.

The text form: a line is one node, `name = operator operands`, without `;`, which begins a comment; operators name their \
type, there are no infix operators and no implicit conversions; operands are names, literals, or operators in parentheses; \
`_` is a hole.
pub func fact (n: i64) -> (i64) pure {
  require \"n is not negative\" = ge_s.i64 n, 0
  result = loop L (i: i64 = 1, acc: i64 = 1) -> (i64) {
    break_if L (gt_s.i64 i, n), acc
    continue L (add.i64 i, 1), (mul.i64 acc, i)
  }
  return result
}
pub func sign (n: i64) -> (i32) pure {
  s = if (lt_s.i64 n, 0) -> (i32) { yield -1 } else { yield 1 }
  return s
}
type Item = struct { name: string, price: i64 }
type Kind = enum { plain, sized(i64) }
func price (item: Item, kind: Kind) -> (option<i64>) {
  size = match kind -> (i64) {
    case plain { yield 1 }
    case sized (n: i64) { yield n }
  }
  return (enum.new option<i64>.some (mul.i64 size, (struct.get Item.price item)))
}
Types: i8 i16 i32 i64 f32 f64 bool string bytes unit, array<T>, option<T>, result<T, E>, struct and enum. Values: \
`struct.new Item \"tea\", 5`, `enum.new Kind.plain`, `array.get<i64> a, i`. Calls: \
`x = call name(a, b)`. Variables: `var v: i64`, `var.set v, 1`, `var.get v`. All operators: the graphql tool, \
`{ ops { mnemonic example doc } }`; with `ops(search: \"array\")` some of them.";

/// How long a client may keep the list of tools, which changes with the version only.
const LIST_MS: u64 = 3_600_000;

/// The MCP server.
#[derive(Clone)]
pub(crate) enum Service {
    /// Everybody calls at one desk.
    Alone(Desk),
    /// Each request brings its caller.
    Each {
        /// What runs operations.
        executor: Executor,
        /// Counted for each caller by itself.
        rates: Arc<Rates>,
    },
}

impl Service {
    /// The desk of a request.
    fn desk(&self, context: &RequestContext<RoleServer>) -> Result<Desk, ErrorData> {
        match self {
            Service::Alone(desk) => Ok(desk.clone()),
            Service::Each { executor, rates } => {
                let parts = context.extensions.get::<axum::http::request::Parts>();
                let caller = parts.and_then(|parts| parts.extensions.get::<Arc<Caller>>()).cloned();
                let caller =
                    caller.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))?;
                let who = match caller.grant.token() {
                    Some(token) => format!("token {}", token.id),
                    None => format!("author {}", caller.actor.name),
                };
                let ask = InProcess { executor: executor.clone(), caller };
                Ok(Desk::shared(Arc::new(ask), &who, rates))
            }
        }
    }
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let implementation = Implementation::new("lmlang", env!("CARGO_PKG_VERSION"))
            .with_title("lmlang")
            .with_description("programs as typed graphs: read, edit, verify, run, undo");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(list())
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        tools::find(name).map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = tools::find(&request.name).ok_or_else(|| unknown_tool(&request.name))?;
        let desk = self.desk(&context)?;
        let plain = is_plain(context.protocol_version().as_ref().map(ProtocolVersion::as_str));
        let arguments = request.arguments.unwrap_or_default();
        let named = desk::named(&arguments);
        let (progress, steps) = reports(context.meta.get_progress_token().is_some());
        let work = desk.call(tool, arguments, progress);
        let token = context.meta.get_progress_token();
        let done = tokio::select! {
            biased;
            // What it asks for ends with the future that waits for it.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            done = reporting(work, steps, token, &context.peer) => done,
        };
        let done = done.unwrap_or_else(|error| desk::Result::of_error(&error, named.as_deref()));
        Ok(result(&done, plain).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let edits = Resource::new(EDITS, "edits")
            .with_description(
                "every edit of propose_structured_edit, with its fields, in the GraphQL schema language",
            )
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![edits])
            .with_ttl_ms(LIST_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = TEMPLATES.map(|(uri, name, description)| {
            ResourceTemplate::new(uri, name).with_description(description).with_mime_type("text/plain")
        });
        Ok(ListResourceTemplatesResult::with_all_items(templates.into())
            .with_ttl_ms(LIST_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let desk = self.desk(&context)?;
        let read = tokio::select! {
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            read = resources::read(desk.asks(), &request.uri) => read,
        };
        let absent =
            || ErrorData::resource_not_found("resource not found", Some(json!({ "uri": request.uri })));
        let told = match read {
            Ok(told) => told.ok_or_else(absent)?,
            Err(Failure::Refused(refused)) if refused.code == "NOT_FOUND" => return Err(absent()),
            Err(Failure::Refused(refused)) => {
                let data = json!({ "code": refused.code, "data": hidden(refused.data) });
                return Err(ErrorData::invalid_params(refused.message, Some(data)));
            }
            Err(Failure::Rpc(error)) => return Err(error_data(&error)),
        };
        let contents = ResourceContents::text(told.text, request.uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let version = context.protocol_version();
        let shakes_hands = version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        if METHODS.contains(&method) && (shakes_hands || method != "initialize") {
            // The SDK knows it, but not with these parameters.
            let data = json!({ "field": "params", "expected": format!("the parameters of `{method}`") });
            return Err(error_data(&RpcError::new(RpcCode::InvalidParams, data)));
        }
        let mut error = RpcError::no_method(method, &tools::names());
        if tools::find(method).is_some() {
            error.data["suggestion"] = format!("Call it by `tools/call` with the name `{method}`").into();
        }
        Err(error_data(&error))
    }
}

/// A channel for what a call says of how far it is, if somebody asked for it.
fn reports(wanted: bool) -> (Progress, mpsc::UnboundedReceiver<String>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let progress: Progress = match wanted {
        true => Arc::new(move |message| {
            // Nobody listens any more when the call is over.
            sender.send(message.to_owned()).ok();
        }),
        false => Arc::new(|_| {}),
    };
    (progress, receiver)
}

/// Waits for a call, and passes on what it says of how far it is.
async fn reporting<T>(
    work: impl Future<Output = T>,
    mut steps: mpsc::UnboundedReceiver<String>,
    token: Option<ProgressToken>,
    peer: &Peer<RoleServer>,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut count = 0.0;
    let mut open = token.is_some();
    loop {
        let message = tokio::select! {
            biased;
            step = steps.recv(), if open => step,
            done = &mut work => {
                while let (Ok(message), Some(token)) = (steps.try_recv(), &token) {
                    count += 1.0;
                    report(peer, token, count, message).await;
                }
                return done;
            }
        };
        match (message, &token) {
            (Some(message), Some(token)) => {
                count += 1.0;
                report(peer, token, count, message).await;
            }
            _ => open = false,
        }
    }
}

async fn report(peer: &Peer<RoleServer>, token: &ProgressToken, count: f64, message: String) {
    let step = ProgressNotificationParam::new(token.clone(), count).with_message(message);
    if let Err(error) = peer.notify_progress(step).await {
        tracing::debug!(%error, "nobody takes progress");
    }
}

/// All tools, as a client lists them.
pub(crate) fn list() -> ListToolsResult {
    ListToolsResult::with_all_items(tools::offered().map(listed).collect())
        .with_ttl_ms(LIST_MS)
        .with_cache_scope(CacheScope::Public)
}

fn listed(tool: &Tool) -> Listed {
    let mut hints = ToolAnnotations::with_title(tool.title);
    hints = hints.read_only(tool.effect == Effect::Reads).open_world(false);
    if tool.effect != Effect::Reads {
        // An idempotency key makes some of them so, which is the caller's choice.
        hints = hints.destructive(tool.effect == Effect::Anything).idempotent(false);
    }
    Listed::new(tool.name, tool.description, Arc::new(tool.input_schema().clone()))
        .with_raw_output_schema(Arc::new(Tool::output_schema().clone()))
        .with_annotations(hints)
}

/// Whether a revision of the protocol knows no links in results.
pub(crate) fn is_plain(version: Option<&str>) -> bool {
    version.is_some_and(|version| version < ProtocolVersion::V_2025_06_18.as_str())
}

fn unknown_tool(name: &str) -> ErrorData {
    let mut data: Value = RpcError::no_method(name, &tools::names()).data;
    data["tool"] = name.into();
    ErrorData::invalid_params(format!("there is no tool `{name}`"), Some(data))
}

/// An error as the SDK has it.
fn error_data(error: &RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code.number()), error.code.message(), Some(hidden(error.data.clone())))
}
