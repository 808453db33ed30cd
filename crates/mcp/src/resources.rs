//! What is too long for an answer, by address: traces and differences, read page by page, and the schema of edits.

use std::sync::Arc;

use serde_json::Value;

use crate::address::{SCHEME, decoded, encoded};
use crate::ask::Ask;
use crate::budget::{CAP, DEFAULT};
use crate::cursor::Paged;
use crate::edits;
use crate::failure::{Failure, RpcError};
use crate::reply::{Reply, Told};
use crate::tool::Call;
use crate::tools;

/// The schema of edits.
pub(crate) const EDITS: &str = "lmlang://schema/edits";

/// The addresses that have variable parts, with what is there.
pub(crate) const TEMPLATES: [(&str, &str, &str); 2] = [
    (
        "lmlang://run/{id}/trace{?cursor,max_tokens}",
        "trace",
        "the steps of a run that simulate made, a page at a time",
    ),
    (
        "lmlang://program/{name}/diff/{from}..{to}{?cursor,max_tokens}",
        "diff",
        "the difference of two revisions of a program, function by function, a page at a time",
    ),
];

/// Reads what is at an address; nothing if there is no such address.
pub(crate) async fn read(ask: &Arc<dyn Ask>, uri: &str) -> Result<Option<Told>, Failure> {
    #[cfg(feature = "fixtures")]
    if let Some(told) = crate::fixtures::read(uri)? {
        return Ok(Some(told));
    }
    let Some(rest) = uri.strip_prefix(SCHEME) else { return Ok(None) };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (mut cursor, mut most) = (None, DEFAULT);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "cursor" => cursor = Some(decoded(value)),
            "max_tokens" => {
                let number = value.parse().map_err(|_| RpcError::invalid("max_tokens", "integer", value))?;
                most = CAP.min(number);
            }
            _ => return Err(RpcError::invalid("uri", "cursor and max_tokens behind `?`", name).into()),
        }
    }
    let call = Call { ask: Arc::clone(ask), progress: Arc::new(|_| {}) };
    let parts: Vec<String> = path.split('/').map(decoded).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let reply = match parts.as_slice() {
        ["schema", "edits"] => {
            let (_, lines) = Paged::Edits.lines(cursor.as_deref())?;
            let mut reply = Reply::default();
            reply.lines(&edits::schema(), lines);
            reply
        }
        ["run", id, "trace"] => tools::trace_page(&call, id, Paged::Steps.step(cursor.as_deref())?).await?,
        ["program", program, "diff", revisions] => {
            let Some(revisions) = revisions.split_once("..") else { return Ok(None) };
            tools::diff_page(&call, program, revisions, cursor.as_deref()).await?
        }
        _ => return Ok(None),
    };
    let mut told = reply.fit(most)?;
    if let Some(cursor) = told.data.get("next_cursor").and_then(Value::as_str) {
        let size = if most == DEFAULT { String::new() } else { format!("&max_tokens={most}") };
        let next = format!("\n; next page: {SCHEME}{path}?cursor={}{size}", encoded(cursor));
        told.text.push_str(&next);
    }
    Ok(Some(told))
}
