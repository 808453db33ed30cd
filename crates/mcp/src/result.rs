//! Results of calls as MCP has them.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

use crate::desk::Result;
use crate::reply::Link;

impl Result {
    /// All of it, as MCP's `tools/call` has it.
    #[must_use]
    pub fn json(&self) -> Value {
        json!(untyped(self, false))
    }
}

/// A result as MCP has it; `plain` for clients that know no links.
pub(crate) fn result(done: &Result, plain: bool) -> CallToolResult {
    let mut content = vec![ContentBlock::text(done.text())];
    if !plain {
        content.extend(done.links().iter().map(linked));
    }
    let mut result = match done.is_error() {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(done.data().clone());
    result
}

/// The same as plain JSON-RPC has it, and as the SDK writes it for all but the newest clients.
pub(crate) fn untyped(done: &Result, plain: bool) -> CallToolResult {
    let mut result = result(done, plain);
    result.result_type = None;
    result
}

fn linked(link: &Link) -> ContentBlock {
    let resource =
        Resource::new(&link.uri, &link.name).with_description(&link.description).with_mime_type("text/plain");
    ContentBlock::resource_link(resource)
}
