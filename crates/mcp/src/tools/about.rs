//! How a program is named in an operation, and how lists are read.

use serde_json::{Value, json};

use crate::reply::{Item, Reply};

/// The variables that name a program, by name or by id, at a revision.
pub(super) fn program(given: &str, at: Option<&str>) -> Value {
    match is_id(given) {
        true => json!({ "id": given, "at": at }),
        false => json!({ "name": given, "at": at }),
    }
}

/// Whether a text is written like a UUID, with the revision of a view behind it perhaps.
fn is_id(given: &str) -> bool {
    let id = given.split('@').next().unwrap_or(given);
    let parts: Vec<usize> = id.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether a text is a ref of a kind: `f` a function, `m` a module, `n` a node.
pub(super) fn is_ref(given: &str, kind: char) -> bool {
    given
        .strip_prefix(kind)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Takes over a page of a connection with `edges { cursor node }`, each as an item; `after` is where it begins.
pub(super) fn page(
    reply: &mut Reply,
    connection: &Value,
    after: Option<&str>,
    told: impl Fn(&Value) -> String,
) {
    let edges = connection["edges"].as_array().map(Vec::as_slice).unwrap_or_default();
    reply.items.extend(edges.iter().map(|edge| Item {
        text: told(&edge["node"]),
        cursor: edge["cursor"].as_str().map(str::to_owned),
        data: None,
    }));
    reply.count("total", &connection["totalCount"]);
    if connection["pageInfo"]["hasNextPage"] == true {
        let shown = u64::try_from(edges.len()).unwrap_or(u64::MAX);
        reply.further = connection["totalCount"].as_u64().unwrap_or_default().saturating_sub(shown).max(1);
        // How many come before a later page is not known.
        reply.uncounted = after.is_some();
    }
}

/// A text field, or nothing.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The moment that a field tells, to the second: the API tells it in UTC.
pub(super) fn moment(value: &Value, name: &str) -> String {
    const TO_THE_SECOND: usize = "2026-01-31T12:00:00".len();
    let given = text(value, name);
    given.get(..TO_THE_SECOND).map_or_else(|| given.to_owned(), |seconds| format!("{seconds}Z"))
}

/// The texts of a list.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `r7` of a revision.
pub(super) fn revision(value: &Value) -> String {
    value["number"].as_u64().map_or_else(|| "-".to_owned(), |number| format!("r{number}"))
}

/// A number that the API tells, of things by the words for one and for several.
pub(super) fn counted(number: &Value, one: &str, several: &str) -> String {
    lmlang_ir::counted(number.as_u64().unwrap_or_default(), one, several)
}

/// `+3 -0 ~1 in 2 functions`, of counts of a change.
pub(super) fn changed(reply: &mut Reply, counts: &Value) -> String {
    for name in ["added", "removed", "modified", "functions"] {
        reply.count(name, &counts[name]);
    }
    in_words(counts)
}

/// The same of counts that are told by the way.
pub(super) fn in_words(counts: &Value) -> String {
    let functions = counted(&counts["functions"], "function", "functions");
    format!("+{} -{} ~{} in {functions}", counts["added"], counts["removed"], counts["modified"])
}
