//! A model that calls tools until it answers, within one node.
//!
//! Each of its answers and each of its calls is an effect of the run: after a crash, or in the next attempt, those that there were
//! are not made again, and it goes on from there.

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Halt, Work};
use lmlang_flow::declared::{DeclaredNode, PROVIDER, RunAgent};
use lmlang_flow::{State, Step, Update};
use serde_json::{Map, Value};

use super::Declared;
use super::acting::{add_line, answer_of, go};
use crate::act::evaluating::ToolExecutor;
use crate::act::parts::{Executor, ToolUse};
use crate::asking::ask_for;
use crate::model::{Message, Reply, Tool, ToolCall, shortened};
use crate::tools::ToolRegistry;

/// How often a model is asked before it has to have answered, unless the node says otherwise.
const STEPS: u32 = 8;
/// The code of a model that calls tools as often as it may, and then calls one more.
const TOO_LONG: &str = "AGENT_TOO_LONG";
/// Characters of what a tool answers that a model is told.
const TOLD: usize = 16_000;

impl Declared {
    pub(super) async fn run_agent(
        &self,
        node: &DeclaredNode,
        agent: &RunAgent,
        state: &State,
        work: &mut Work,
    ) -> Result<Step, Halt> {
        let mut request = self.request(node, agent.into(), state)?;
        request.tools = self.offered(agent);
        let mut update = Update::none();
        let most = agent.most_steps.unwrap_or(STEPS);
        let mut asked = 0;
        loop {
            asked += 1;
            let is_last = asked >= most;
            let judge = |reply: &Reply| match reply.tool_calls.is_empty() {
                true => answer_of(agent.schema.as_ref(), reply).map(drop),
                false if is_last => {
                    Err(failure(TOO_LONG, format!("asked {most} times, the model still calls tools")))
                }
                false => Ok(()),
            };
            let reply = ask_for(&self.parts.models, &request, work, judge).await?;
            if reply.tool_calls.is_empty() {
                let mut update = update.with(PROVIDER, reply.provider.clone());
                self.take(&mut update, &agent.into, answer_of(agent.schema.as_ref(), &reply)?);
                return Ok(go(&agent.then, update));
            }
            let Reply { text, tool_calls, .. } = reply;
            request.messages.push(Message::Assistant { text, tool_calls: tool_calls.clone() });
            for call in &tool_calls {
                let (text, said) = self.called(agent, call, work).await?;
                if node.say.is_none() {
                    add_line(&mut update, said);
                }
                request.messages.push(Message::Tool { call_id: call.id.clone(), text });
            }
        }
    }

    /// The tools that a model is told of.
    fn offered(&self, agent: &RunAgent) -> Vec<Tool> {
        let found = agent.tools.iter().filter_map(|name| self.parts.tools.get(name));
        let told = found.map(|tool| Tool {
            name: tool.spec().name.to_owned(),
            description: tool.spec().description.to_owned(),
            parameters: tool.spec().parameters.clone(),
        });
        told.collect()
    }

    /// What the call of a tool comes to: for the model, and in a line for people. What may go away by itself is waited out; of
    /// everything else the model makes what it can.
    async fn called(
        &self,
        agent: &RunAgent,
        call: &ToolCall,
        work: &mut Work,
    ) -> Result<(String, String), Halt> {
        let refused = |why: String| Ok((format!("error: {why}"), String::new()));
        if !agent.tools.contains(&call.name) {
            return refused(format!("there is no tool `{}`", call.name));
        }
        let arguments: Map<String, Value> = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return refused(format!("the arguments are no object: {error}")),
        };
        let used = ToolUse { tool: call.name.clone(), arguments };
        let graph = self.parts.graph.of(work.engine());
        match ToolExecutor.execute(&self.parts.tools, &*graph, &used, work).await? {
            Ok(answer) => {
                let is_shown = self.parts.tools.get(&call.name).is_some_and(|tool| tool.is_shown());
                let text = match &answer.value {
                    Value::String(text) if is_shown => text.clone(),
                    value if is_shown && !value.is_null() => value.to_string(),
                    _ => answer.said.clone(),
                };
                Ok((shortened(&text, TOLD), answer.said))
            }
            Err(failed) if failed.transient => Err(failed.into()),
            Err(failed) => refused(format!("{} ({})", failed.message, failed.code)),
        }
    }
}
