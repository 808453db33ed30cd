//! What clients are told of the tools.

use lmlang_context::Tokenizer;
use lmlang_mcp::{TOOLS, Tool};
use serde_json::{Value, json};

/// Keys and types that some clients do not understand.
fn check(schema: &Value, place: &str) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                let here = format!("{place}.{name}");
                assert!(
                    !matches!(name.as_str(), "$ref" | "$defs" | "$schema" | "format" | "oneOf" | "anyOf"),
                    "{here}"
                );
                assert_ne!(value, "null", "{here}");
                check(value, &here);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check(item, place)),
        _ => {}
    }
}

#[test]
fn schemas_are_understood_by_all_clients() {
    for tool in TOOLS {
        let schema = Value::from(tool.input_schema().clone());
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        check(&schema, tool.name);
        let plain = |name: &str| {
            name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        assert!(plain(tool.name), "{}", tool.name);
        for name in schema["properties"].as_object().expect("there are some").keys() {
            assert!(plain(name), "{}.{name}", tool.name);
        }
    }
    check(&Value::from(Tool::output_schema().clone()), "output");
}

#[test]
fn the_list_fits_into_6000_tokens() {
    let list: Vec<Value> = TOOLS
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.input_schema(),
                "outputSchema": Tool::output_schema(),
                "annotations": { "title": tool.title, "readOnlyHint": true, "openWorldHint": false },
            })
        })
        .collect();
    let tokens = Tokenizer::O200kBase.count(&json!({ "tools": list }).to_string());
    assert!(tokens <= 6_000, "{tokens} tokens");
}

#[test]
fn tools_have_the_names_that_are_fixed() {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let expect = [
        "program",
        "propose_structured_edit",
        "retrieve_subgraph",
        "search",
        "verify_and_propagate",
        "simulate",
        "history",
        "undo",
        "checkpoint",
        "diff",
        "read_context",
        "read_doc",
        "session",
        "run",
        "graphql",
    ];
    assert_eq!(names, expect);
}
