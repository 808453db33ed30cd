//! What the conformance suite of MCP expects to find at a server, made as the tools and resources of lmlang are made.
//!
//! Only builds for tests have it, and only where [`SWITCH`] is set. The names are the suite's. What there is nothing like
//! here has no fixture: images, sounds, and whatever asks the client something.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Refused};
use crate::reply::{Reply, Told};
use crate::tool::{Effect, Tool};

/// The variable of the environment that asks for the fixtures.
const SWITCH: &str = "LMLANG_MCP_FIXTURES";

/// How long each step of the tool takes that tells how far it is.
const STEP: Duration = Duration::from_millis(20);

static TOOLS: [&Tool; 5] = [&TEXT, &ERROR, &PROGRESS, &DIALECT, &HEADER];

/// The tools, where they are asked for.
pub(crate) fn tools() -> &'static [&'static Tool] {
    if asked_for() { &TOOLS } else { &[] }
}

/// Reads a resource, where they are asked for.
pub(crate) fn read(uri: &str) -> Result<Option<Told>, Failure> {
    let of_template = || uri.strip_prefix("test://template/")?.strip_suffix("/data");
    let text = match (uri, of_template()) {
        _ if !asked_for() => return Ok(None),
        ("test://static-text", _) => "a text that is always the same".to_owned(),
        (_, Some(id)) => format!("what there is of {id}"),
        _ => return Ok(None),
    };
    Ok(Some(said(text).fit(1_000)?))
}

fn asked_for() -> bool {
    static ASKED_FOR: LazyLock<bool> = LazyLock::new(|| std::env::var_os(SWITCH).is_some());
    *ASKED_FOR
}

fn said(text: impl Into<String>) -> Reply {
    Reply { items: vec![text.into().into()], ..Reply::default() }
}

const fn fixture(name: &'static str, schema: fn() -> Map<String, Value>, run: crate::tool::Run) -> Tool {
    Tool {
        name,
        title: name,
        description: "A fixture of the conformance suite.",
        effect: Effect::Reads,
        rate: None,
        begins: None,
        schema: LazyLock::new(schema),
        run,
    }
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn no_arguments() -> Map<String, Value> {
    object(json!({ "type": "object", "properties": {} }))
}

static TEXT: Tool =
    fixture("test_simple_text", no_arguments, |_, _| Box::pin(async { Ok(said("a plain text")) }));

static ERROR: Tool = fixture("test_error_handling", no_arguments, |_, _| {
    let refused = Refused {
        code: "FIXTURE".to_owned(),
        message: "it is refused every time".to_owned(),
        data: Value::Null,
    };
    Box::pin(async { Err(refused.into()) })
});

static PROGRESS: Tool = fixture("test_tool_with_progress", no_arguments, |call, _| {
    Box::pin(async {
        for step in ["first", "second", "third"] {
            (call.progress)(step);
            tokio::time::sleep(STEP).await;
        }
        Ok(said("three steps"))
    })
});

/// Everything of the newest dialect of JSON Schema that a list must not lose.
static DIALECT: Tool =
    fixture("json_schema_2020_12_tool", dialect, |_, _| Box::pin(async { Ok(said("accepted")) }));

fn dialect() -> Map<String, Value> {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "additionalProperties": false,
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
    }))
}

/// An argument that is a header of the request, too.
static HEADER: Tool = fixture("test_header_argument", header, |_, arguments| {
    Box::pin(async move { Ok(said(arguments["region"].as_str().unwrap_or_default())) })
});

fn header() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
    }))
}
