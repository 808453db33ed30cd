//! A request in the words of the protocol.

use serde_json::{Value, json};

use super::super::digest::canonical;
use super::super::reply::ToolCall;
use super::super::request::{Format, Message, Request};
use super::{LimitField, Structured};

/// What a server understands beside the plain protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// How it is made to answer in JSON.
    pub(super) structured: Structured,
    /// What it calls the most tokens of an answer.
    pub(super) limit: LimitField,
    /// Whether it reports the tokens of a stream when it is asked to.
    pub(super) stream_usage: bool,
    /// Whether it reports what an answer costs when it is asked to.
    pub(super) reports_cost: bool,
}

/// The body of the HTTP request.
pub(super) fn body(request: &Request, model: &str, dialect: Dialect) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    let (format, told) = format(&request.format, dialect.structured);
    messages.extend(request.messages.iter().map(message));
    if let Some(told) = told {
        // With what is told first, where there is such: some servers take one system message, in the first place.
        match messages.first_mut() {
            Some(first) if first["role"] == "system" => {
                let text = first["content"].as_str().unwrap_or_default();
                first["content"] = Value::from(format!("{text}\n\n{told}"));
            }
            Some(_) | None => messages.insert(0, json!({"role": "system", "content": told})),
        }
    }
    let mut body = json!({"model": model, "messages": messages, "stream": true});
    if dialect.stream_usage {
        body["stream_options"] = json!({"include_usage": true});
    }
    if dialect.reports_cost {
        body["usage"] = json!({"include": true});
    }
    if let Some(format) = format {
        body["response_format"] = format;
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = Value::from(temperature);
    }
    if let Some(most) = request.max_tokens {
        let field = match dialect.limit {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        body[field] = Value::from(most);
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Tool { call_id, text } => json!({"role": "tool", "tool_call_id": call_id, "content": text}),
        Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, tool_calls } => {
            // Servers that check it want no text beside calls to be null, not empty.
            let content = if text.is_empty() { Value::Null } else { Value::from(text.as_str()) };
            let calls: Value = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

/// What a server is asked for by its own means, and what the model is told beside that.
///
/// The ladder: a server that holds answers against schemas is given the schema; one that only makes them objects is asked
/// for that, and the model told the schema; one that knows of neither has the model told all of it.
fn format(format: &Format, structured: Structured) -> (Option<Value>, Option<String>) {
    match (format, structured) {
        (Format::Text, _) => (None, None),
        (Format::JsonSchema { name, schema }, Structured::JsonSchema) => {
            let schema = json!({"name": name, "schema": schema, "strict": strict(schema)});
            (Some(json!({"type": "json_schema", "json_schema": schema})), None)
        }
        (Format::JsonSchema { name, schema }, Structured::JsonObject) if is_object(schema) => {
            (Some(json!({"type": "json_object"})), Some(by_schema(name, schema)))
        }
        (Format::JsonSchema { name, schema }, Structured::JsonObject | Structured::Prompt) => {
            (None, Some(by_schema(name, schema)))
        }
        // Servers that make objects want to read the word JSON.
        (Format::JsonObject, Structured::JsonSchema | Structured::JsonObject) => {
            (Some(json!({"type": "json_object"})), Some(AN_OBJECT.to_owned()))
        }
        (Format::JsonObject, Structured::Prompt) => (None, Some(AN_OBJECT.to_owned())),
    }
}

const AN_OBJECT: &str = "Answer with one JSON object and nothing else: no explanation, no code fence.";

fn by_schema(name: &str, schema: &Value) -> String {
    let mut text = String::new();
    canonical(schema, &mut text);
    format!(
        "Answer with JSON and nothing else, no explanation, no code fence. It is `{name}` and must fit this JSON \
         schema:\n{text}"
    )
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// Says whether a schema keeps to what servers hold answers against strictly: each object names all its members as
/// required and allows no others.
fn strict(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let closed = match members.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = members.get("required").and_then(Value::as_array);
                    let all = properties.keys().all(|name| {
                        required.is_some_and(|required| required.iter().any(|known| known == name))
                    });
                    all && members.get("additionalProperties") == Some(&Value::Bool(false))
                }
                None => !is_object(schema),
            };
            closed && members.values().all(strict)
        }
        Value::Array(items) => items.iter().all(strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::request::Tool;
    use super::*;

    fn dialect(structured: Structured) -> Dialect {
        Dialect { structured, limit: LimitField::MaxTokens, stream_usage: true, reports_cost: false }
    }

    fn asked(format: Format) -> Request {
        let messages = vec![Message::system("be brief"), Message::user("plan")];
        Request { format, ..Request::new("planner".parse().unwrap(), messages) }
    }

    #[test]
    fn a_plain_request_is_plain() {
        let body = body(&asked(Format::Text), "m", dialect(Structured::JsonSchema));
        let expect = json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true},
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "plan"}],
        });
        assert_eq!(body, expect);
    }

    #[test]
    fn everything_has_its_word() {
        let call = ToolCall { id: "a".to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
        let mut request = asked(Format::Text);
        request.messages.extend([
            Message::Assistant { text: String::new(), tool_calls: vec![call] },
            Message::Tool { call_id: "a".to_owned(), text: "2".to_owned() },
            Message::Assistant { text: "two".to_owned(), tool_calls: Vec::new() },
        ]);
        let parameters = json!({"type": "object"});
        request.tools = vec![Tool { name: "f".to_owned(), description: "d".to_owned(), parameters }];
        request.temperature = Some(0.5);
        request.max_tokens = Some(9);
        let limit = LimitField::MaxCompletionTokens;
        let dialect =
            Dialect { limit, stream_usage: false, reports_cost: true, ..dialect(Structured::Prompt) };
        let body = body(&request, "m", dialect);
        let expect = json!({
            "model": "m", "stream": true, "usage": {"include": true}, "temperature": 0.5, "max_completion_tokens": 9,
            "tools": [{"type": "function", "function":
                {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "plan"},
                {"role": "assistant", "content": null, "tool_calls":
                    [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "2"},
                {"role": "assistant", "content": "two"},
            ],
        });
        assert_eq!(body, expect);
    }

    #[test]
    fn the_ladder_of_structured_answers() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let format = || Format::JsonSchema { name: "plan".to_owned(), schema: schema.clone() };
        let rung = |structured| {
            let body = body(&asked(format()), "m", dialect(structured));
            (body["response_format"].clone(), body["messages"][0]["content"].as_str().unwrap().to_owned())
        };
        let (asked_for, told) = rung(Structured::JsonSchema);
        let expect = json!({"name": "plan", "schema": schema, "strict": false});
        assert_eq!(asked_for, json!({"type": "json_schema", "json_schema": expect}));
        assert_eq!(told, "be brief");
        let (asked_for, told) = rung(Structured::JsonObject);
        assert_eq!(asked_for, json!({"type": "json_object"}));
        assert!(
            told.starts_with("be brief\n\nAnswer with JSON") && told.contains("\"properties\""),
            "{told}"
        );
        let (asked_for, told) = rung(Structured::Prompt);
        assert_eq!(asked_for, Value::Null);
        assert!(told.contains("\"properties\""), "{told}");
    }

    #[test]
    fn without_a_first_word_one_is_put_there() {
        let mut request = asked(Format::JsonObject);
        request.messages.remove(0);
        let body = body(&request, "m", dialect(Structured::JsonObject));
        assert_eq!(body["messages"][0], json!({"role": "system", "content": AN_OBJECT}));
        assert_eq!(body["messages"][1]["role"], "user");
    }

    fn check_strict(schema: Value, expect: bool) {
        assert_eq!(strict(&schema), expect, "{schema}");
    }

    #[test]
    fn only_closed_schemas_are_strict() {
        let inner = |required: Value| {
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": required,
                "additionalProperties": false})
        };
        check_strict(inner(json!(["a"])), true);
        check_strict(inner(json!([])), false);
        check_strict(json!({"type": "array", "items": inner(json!(["a"]))}), true);
        check_strict(json!({"type": "array", "items": {"type": "object"}}), false);
        check_strict(json!({"type": "string"}), true);
    }
}
