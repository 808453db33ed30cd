//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::digest::Digest;
use super::reply::ToolCall;
use super::role::Role;

/// One question to a model: plain data, complete in itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What the model is asked for; it says whose settings count.
    pub role: Role,
    /// The model, where it is not the one that the role's settings name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which version of its prompt a flow used, so that answers to different versions can be told apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt_version: String,
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// What the answer's text must be.
    #[serde(default)]
    pub format: Format,
    /// What becomes of an answer that is not what it must be.
    #[serde(default)]
    pub repair: Repair,
    /// How much chance there is in the answer, from 0 on; the provider's own default without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// What the model is told before anybody speaks.
    System {
        /// The text.
        text: String,
    },
    /// What it is asked.
    User {
        /// The text.
        text: String,
    },
    /// What it answered.
    Assistant {
        /// The text.
        #[serde(default)]
        text: String,
        /// The tools that it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What came of a tool that it called.
    Tool {
        /// The call's id.
        call_id: String,
        /// The result.
        text: String,
    },
}

/// Something that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments, of an object.
    pub parameters: Value,
}

/// What the text of an answer must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Format {
    /// Anything.
    #[default]
    Text,
    /// An object in JSON.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// What the schema is of: letters, digits, `_` and `-`.
        name: String,
        /// The schema.
        schema: Value,
    },
}

/// What becomes of an answer that does not fit its format or the schemas of the tools that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// It is an error.
    #[default]
    Never,
    /// The model is told what is wrong, once, and its second answer counts.
    Once,
}

impl Request {
    /// A request of a role that says something, with no tools, and any text as answer.
    pub fn new(role: Role, messages: Vec<Message>) -> Request {
        Request {
            role,
            model: None,
            prompt_version: String::new(),
            messages,
            tools: Vec::new(),
            format: Format::Text,
            repair: Repair::Never,
            temperature: None,
            max_tokens: None,
        }
    }

    /// What the request is known by, in recordings and receipts: the digest of all of it.
    pub fn digest(&self) -> Digest {
        let value = serde_json::to_value(self).expect("a request is made of texts, numbers and JSON");
        Digest::of(&value)
    }

    /// The same request in other words: all that is said in it, calls of tools and what came of them too, as `hide` has it.
    pub fn masked(&self, hide: impl Fn(&str) -> String) -> Request {
        let call = |call: &ToolCall| ToolCall { arguments: hide(&call.arguments), ..call.clone() };
        let message = |message: &Message| match message {
            Message::System { text } => Message::System { text: hide(text) },
            Message::User { text } => Message::User { text: hide(text) },
            Message::Assistant { text, tool_calls } => {
                Message::Assistant { text: hide(text), tool_calls: tool_calls.iter().map(call).collect() }
            }
            Message::Tool { call_id, text } => Message::Tool { call_id: call_id.clone(), text: hide(text) },
        };
        Request { messages: self.messages.iter().map(message).collect(), ..self.clone() }
    }

    /// The newest text of the user.
    pub fn last_user(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::User { text } => Some(text.as_str()),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })
    }
}

impl Message {
    /// A message that the model is told before anybody speaks.
    pub fn system(text: impl Into<String>) -> Message {
        Message::System { text: text.into() }
    }

    /// A message of the user.
    pub fn user(text: impl Into<String>) -> Message {
        Message::User { text: text.into() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Message::System { text }
            | Message::User { text }
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. } => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn full() -> Request {
        Request {
            tools: vec![Tool {
                name: "find".to_owned(),
                description: "finds".to_owned(),
                parameters: json!({"type": "object"}),
            }],
            format: Format::JsonSchema { name: "plan".to_owned(), schema: json!({"type": "object"}) },
            temperature: Some(0.0),
            ..Request::new(
                "planner".parse().unwrap(),
                vec![Message::system("be brief"), Message::user("plan")],
            )
        }
    }

    #[test]
    fn a_request_reads_back_with_its_digest() {
        let text = serde_json::to_string(&full()).unwrap();
        let back: Request = serde_json::from_str(&text).unwrap();
        assert_eq!(back, full());
        assert_eq!(back.digest(), full().digest());
        assert_eq!(back.last_user(), Some("plan"));
    }

    #[test]
    fn every_part_of_a_request_counts_in_its_digest() {
        let mut seen = vec![full().digest()];
        let changes: [fn(&mut Request); 8] = [
            |request| request.role = "router".parse().unwrap(),
            |request| request.model = Some("m".to_owned()),
            |request| request.prompt_version = "2".to_owned(),
            |request| request.messages.swap(0, 1),
            |request| request.tools.clear(),
            |request| request.format = Format::JsonObject,
            |request| request.repair = Repair::Once,
            |request| request.temperature = None,
        ];
        for change in changes {
            let mut request = full();
            change(&mut request);
            assert!(!seen.contains(&request.digest()), "{request:?}");
            seen.push(request.digest());
        }
    }

    #[test]
    fn a_masked_request_says_nothing_else() {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "find".to_owned(),
            arguments: "{\"of\":\"planted\"}".to_owned(),
        };
        let messages = vec![
            Message::system("planted"),
            Message::user("a planted word"),
            Message::Assistant { text: "planted?".to_owned(), tool_calls: vec![call] },
            Message::Tool { call_id: "1".to_owned(), text: "planted!".to_owned() },
        ];
        let request = Request { messages, ..full() };
        let masked = request.masked(|text| text.replace("planted", "-"));
        let text = serde_json::to_string(&masked).unwrap();
        assert!(!text.contains("planted"), "{text}");
        assert_eq!(masked.last_user(), Some("a - word"));
        assert_eq!(masked.masked(str::to_owned), masked);
        assert_eq!(Request { messages: request.messages.clone(), ..masked }, request);
    }

    /// Recordings and receipts of older versions are found by it.
    #[test]
    fn digests_stay_as_they_are() {
        assert_eq!(
            full().digest().to_string(),
            "6ffb7b685df74256de52962be89caff30a8d41127553e08d0d407c5791899403"
        );
    }
}
