//! How spans and attributes are called: OpenTelemetry's conventions for generative AI, and Langfuse's.
//!
//! The conventions are in development and have no release; these are the names of schema 1.42.0, whose core has been the
//! same since 1.37.

/// Names of OpenTelemetry's conventions for generative AI.
pub mod gen_ai {
    /// What is done, of [`operation`].
    pub const OPERATION_NAME: &str = "gen_ai.operation.name";
    /// Who provides the model.
    pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
    /// The model that was asked for.
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    /// The temperature that was asked for.
    pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
    /// The model that answered.
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    /// Why an answer ended; a list.
    pub const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
    /// Tokens that went in, with those from a cache.
    pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    /// Tokens that came out.
    pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    /// Tokens that a cache of the provider had.
    pub const USAGE_CACHE_READ_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
    /// The tool that is called.
    pub const TOOL_NAME: &str = "gen_ai.tool.name";
    /// Content: what a tool is called with.
    pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
    /// Content: what a tool returned.
    pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
    /// Content: the tools that a model was shown.
    pub const TOOL_DEFINITIONS: &str = "gen_ai.tool.definitions";
    /// Content: what a model was told.
    pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
    /// Content: what a model answered.
    pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
    /// Content: what a model was told beforehand.
    pub const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";

    /// Values of [`OPERATION_NAME`].
    pub mod operation {
        /// A flow is run.
        pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
        /// A model is asked.
        pub const CHAT: &str = "chat";
        /// A tool is called.
        pub const EXECUTE_TOOL: &str = "execute_tool";
    }
}

/// Names that Langfuse reads before those of OpenTelemetry.
pub mod langfuse {
    /// What a span is, of [`observation`].
    pub const OBSERVATION_TYPE: &str = "langfuse.observation.type";
    /// Content: what went in.
    pub const OBSERVATION_INPUT: &str = "langfuse.observation.input";
    /// Content: what came out.
    pub const OBSERVATION_OUTPUT: &str = "langfuse.observation.output";
    /// What it cost, as JSON of parts.
    pub const OBSERVATION_COST_DETAILS: &str = "langfuse.observation.cost_details";
    /// What a trace is called.
    pub const TRACE_NAME: &str = "langfuse.trace.name";
    /// Content: what a trace began with.
    pub const TRACE_INPUT: &str = "langfuse.trace.input";
    /// Content: what a trace came to.
    pub const TRACE_OUTPUT: &str = "langfuse.trace.output";
    /// The commit that runs.
    pub const RELEASE: &str = "langfuse.release";
    /// The session that a trace belongs to.
    pub const SESSION_ID: &str = "session.id";
    /// The user that a trace is for.
    pub const USER_ID: &str = "user.id";

    /// Values of [`OBSERVATION_TYPE`].
    pub mod observation {
        /// Anything.
        pub const SPAN: &str = "span";
        /// A run of a flow or an agent.
        pub const AGENT: &str = "agent";
        /// A call of a tool.
        pub const TOOL: &str = "tool";
        /// An answer of a model.
        pub const GENERATION: &str = "generation";
        /// A gate.
        pub const GUARDRAIL: &str = "guardrail";
        /// A moment.
        pub const EVENT: &str = "event";
    }
}

/// What kind of error a span ended in.
pub const ERROR_TYPE: &str = "error.type";

/// Attributes that hold what was said to models and tools and what they answered.
const CONTENT: [&str; 16] = [
    gen_ai::INPUT_MESSAGES,
    gen_ai::OUTPUT_MESSAGES,
    gen_ai::SYSTEM_INSTRUCTIONS,
    gen_ai::TOOL_CALL_ARGUMENTS,
    gen_ai::TOOL_CALL_RESULT,
    gen_ai::TOOL_DEFINITIONS,
    langfuse::OBSERVATION_INPUT,
    langfuse::OBSERVATION_OUTPUT,
    langfuse::TRACE_INPUT,
    langfuse::TRACE_OUTPUT,
    "input.value",
    "output.value",
    // As earlier conventions have them.
    "gen_ai.prompt",
    "gen_ai.completion",
    // What flows of ours note of the tools that they call.
    "lmlang.tool.arguments",
    "lmlang.tool.said",
];

/// Says whether an attribute holds content of messages, which is sent only if that is asked for.
#[must_use]
pub fn is_content(name: &str) -> bool {
    CONTENT.iter().any(|content| {
        name.strip_prefix(content).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Says whether an event is a message, as earlier conventions have them.
#[must_use]
pub fn is_message(event: &str) -> bool {
    event.starts_with("gen_ai.") && (event.ends_with(".message") || event.starts_with("gen_ai.content."))
        || event == "gen_ai.choice"
}

/// The span of a run of a flow.
#[must_use]
pub fn invoke_workflow(name: &str) -> String {
    format!("{} {name}", gen_ai::operation::INVOKE_WORKFLOW)
}

/// The span of a question to a model.
#[must_use]
pub fn chat(model: &str) -> String {
    format!("{} {model}", gen_ai::operation::CHAT)
}

/// The span of a call of a tool.
#[must_use]
pub fn execute_tool(name: &str) -> String {
    format!("{} {name}", gen_ai::operation::EXECUTE_TOOL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_known_by_its_name() {
        for name in ["gen_ai.input.messages", "gen_ai.prompt.0.content", "langfuse.observation.output"] {
            assert!(is_content(name), "{name}");
        }
        for name in ["gen_ai.prompt_name", "gen_ai.tool.name", "langfuse.trace.name", "gen_ai.output.type"] {
            assert!(!is_content(name), "{name}");
        }
        assert!(is_message("gen_ai.user.message") && is_message("gen_ai.choice"));
        assert!(!is_message("exception") && !is_message("gen_ai.evaluation.result"));
    }

    #[test]
    fn spans_are_called_as_the_conventions_say() {
        assert_eq!(invoke_workflow("feature"), "invoke_workflow feature");
        assert_eq!(chat("m"), "chat m");
        assert_eq!(execute_tool("search"), "execute_tool search");
    }

    /// No name of an attribute looks like that of a secret: its value would be hidden.
    #[test]
    fn no_name_is_taken_for_a_secret() {
        let policy = lmlang_redact::Policy::default();
        for name in [
            gen_ai::USAGE_INPUT_TOKENS,
            gen_ai::USAGE_OUTPUT_TOKENS,
            gen_ai::USAGE_CACHE_READ_INPUT_TOKENS,
            gen_ai::TOOL_NAME,
            // The engine's.
            "gen_ai.conversation.id",
            langfuse::SESSION_ID,
            langfuse::USER_ID,
            langfuse::OBSERVATION_COST_DETAILS,
        ] {
            assert!(!policy.hides_field(name), "{name}");
        }
    }
}
