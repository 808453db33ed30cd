//! The definition of the flow: its nodes and channels.

use lmlang_flow::definition::END;
use lmlang_flow::{Definition, NodeSpec, Reducer};
use serde_json::{Value, json};

use crate::draft::asking::Spent;

/// How often a draft is given to the Manager, and how often it is mended before that, for one wish of the user.
pub(super) const MOST_ATTEMPTS: u64 = 3;

/// The definition of the flow.
pub(super) fn definition() -> Definition {
    let looks = u32::try_from(MOST_ATTEMPTS).unwrap_or(3) * 40;
    Definition::new(
        "draft",
        1,
        "Drafts a pipeline of a stream Manager from words, checks and explains it, and hands it out as JSON.",
    )
    .node(NodeSpec::task(
        "init_session",
        &["route_intent"],
        "Reads functions, syntax and streams; removes what was left behind.",
    ))
    .node(
        NodeSpec::task(
            "route_intent",
            &["handle_list_streams", "handle_describe_stream", "ensure_active_stream", "ask_user"],
            "Classifies what is wanted.",
        )
        .at_most(looks),
    )
    .node(NodeSpec::ask("ask_user", &["route_intent"], "Asks what is wanted."))
    .node(NodeSpec::task("handle_list_streams", &[END], "Lists the streams."))
    .node(
        NodeSpec::ask(
            "handle_describe_stream",
            &["handle_describe_stream", "init_session", END],
            "Describes a stream, or asks which one.",
        )
        .at_most(looks),
    )
    .node(
        NodeSpec::ask(
            "ensure_active_stream",
            &["ensure_active_stream", "draft_preview_sql", "init_session"],
            "Chooses a stream and reads its schema, or asks which one.",
        )
        .at_most(looks),
    )
    .node(
        NodeSpec::ask(
            "draft_preview_sql",
            &["check_grounding", "draft_preview_sql"],
            "Drafts SQL, or asks the question that the model has.",
        )
        .at_most(looks),
    )
    .node(
        NodeSpec::gate(
            "check_grounding",
            &["validate_sql_via_tmp_pipeline", "revise_sql_json", "ask_for_help"],
            "Whether the draft names only what there is.",
        )
        .at_most(looks),
    )
    .node(NodeSpec::task(
        "validate_sql_via_tmp_pipeline",
        &["explain_tmp_pipeline", "revise_sql_json", "ask_for_help"],
        "Has the Manager make it under a temporary id.",
    ))
    .node(NodeSpec::task("explain_tmp_pipeline", &["cleanup_tmp_pipeline"], "Has the Manager explain it."))
    .node(NodeSpec::task("cleanup_tmp_pipeline", &["interrupt_confirm"], "Removes the temporary pipeline."))
    .node(NodeSpec::ask(
        "interrupt_confirm",
        &["handle_confirm"],
        "Shows draft, plan and pipeline, and asks.",
    ))
    .node(NodeSpec::task("handle_confirm", &["revise_sql_json", "emit"], "Goes on as the user has decided."))
    .node(
        NodeSpec::ask(
            "revise_sql_json",
            &["check_grounding", "revise_sql_json", "ask_for_help"],
            "Mends the draft.",
        )
        .at_most(looks),
    )
    .node(NodeSpec::ask(
        "ask_for_help",
        &["revise_sql_json"],
        "Asks the user what to do about what the Manager says.",
    ))
    .node(NodeSpec::task("emit", &[END], "Hands the pipeline out as JSON."))
    .channel("session_id", Reducer::Replace, Value::Null)
    .channel("active_stream", Reducer::Replace, Value::Null)
    .channel("stream_schema", Reducer::Replace, Value::Null)
    .channel("catalog_digest", Reducer::Replace, Value::Null)
    .channel("streams", Reducer::Replace, json!([]))
    .channel("notes", Reducer::Append { most: 50 }, json!([]))
    .channel("history", Reducer::Replace, json!({ "summary": "", "tail": [] }))
    .channel("user_input", Reducer::Replace, json!({ "text": null, "feedback": null, "confirm": null }))
    .channel("intent", Reducer::Replace, Value::Null)
    .channel("draft", Reducer::Replace, no_draft())
    .channel("violations", Reducer::Replace, json!([]))
    .channel("validation", Reducer::Replace, no_validation())
    .channel("explain", Reducer::Replace, json!({ "pretty": null, "pipeline_request_json": null }))
    .channel("interrupt", Reducer::Replace, Value::Null)
    .channel("metrics", Reducer::Replace, Spent::default().added_to(&Value::Null))
    .channel("pipeline", Reducer::Replace, Value::Null)
    .channel("outcome", Reducer::Replace, Value::Null)
    .channel("provider", Reducer::Replace, Value::Null)
    .channel("progress", Reducer::Append { most: 100 }, json!([]))
    .private("catalog", Reducer::Replace, Value::Null)
    .private("ids", Reducer::Replace, json!([]))
    .private("turn", Reducer::Replace, json!(1))
    .private("mended", Reducer::Replace, json!(0))
    .private("sinks", Reducer::Replace, json!([{ "sink_type": "nop" }]))
    .private("reply", Reducer::Replace, Value::Null)
}

/// No draft yet.
pub(super) fn no_draft() -> Value {
    json!({ "preview_text": null, "sql": null, "assumptions": [], "questions": [] })
}

/// Nothing was checked yet.
pub(super) fn no_validation() -> Value {
    json!({ "tmp_pipeline_id": null, "error": null, "attempt": 0, "max_attempts": MOST_ATTEMPTS })
}
