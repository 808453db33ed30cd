//! What a model is asked for a node, whether it answers at once or calls tools first.

use lmlang_flow::declared::template::{self, Budget};
use lmlang_flow::declared::{AskModel, DeclaredNode, RunAgent};
use lmlang_flow::{Failure, State};
use serde_json::Value;

use super::Declared;
use super::acting::too_large;
use crate::model::{Format, Message, Repair, Request, Role};

/// A question as a node declares it.
pub(super) struct Question<'a> {
    role: Option<&'a str>,
    system: Option<&'a str>,
    prompt: &'a str,
    schema: Option<&'a Value>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
}

impl<'a> From<&'a AskModel> for Question<'a> {
    fn from(of: &'a AskModel) -> Question<'a> {
        Question {
            role: of.role.as_deref(),
            system: of.system.as_deref(),
            prompt: &of.prompt,
            schema: of.schema.as_ref(),
            temperature: of.temperature,
            max_tokens: of.max_tokens,
        }
    }
}

impl<'a> From<&'a RunAgent> for Question<'a> {
    fn from(of: &'a RunAgent) -> Question<'a> {
        Question {
            role: of.role.as_deref(),
            system: of.system.as_deref(),
            prompt: &of.prompt,
            schema: of.schema.as_ref(),
            temperature: of.temperature,
            max_tokens: of.max_tokens,
        }
    }
}

impl Declared {
    /// The question, with what the run carries in its texts.
    pub(super) fn request(
        &self,
        node: &DeclaredNode,
        question: Question<'_>,
        state: &State,
    ) -> Result<Request, Failure> {
        let Question { role, system, prompt, schema, temperature, max_tokens } = question;
        // A checked flow names a role.
        let role: Role = role.unwrap_or("default").parse().unwrap_or_else(|_| Role::default_role());
        let mut budget = Budget::default();
        let mut fill = |text: &str| template::text(text, state, &mut budget).map_err(too_large);
        let mut messages = Vec::new();
        if let Some(system) = system {
            messages.push(Message::system(fill(system)?));
        }
        messages.push(Message::user(fill(prompt)?));
        Ok(Request {
            prompt_version: format!("{}-{}", self.flow.name(), self.flow.definition().version),
            format: match schema {
                None => Format::Text,
                Some(schema) => Format::JsonSchema { name: node.name.clone(), schema: schema.clone() },
            },
            repair: Repair::Once,
            temperature,
            max_tokens,
            ..Request::new(role, messages)
        })
    }
}
