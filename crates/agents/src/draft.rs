//! The flow `draft`: from words to a pipeline of a stream Manager, which is checked and explained, and handed out as JSON. It is
//! never applied.
//!
//! What a model drafts is held against the Manager's catalog by code before the Manager is asked to make anything; then the
//! Manager makes it under a temporary id, explains it, and takes it away again.

mod asking;
pub mod built_in;
mod checking;
mod deciding;
mod definition;
pub mod grounding;
pub mod manager;
mod named;
mod prompts;
pub mod source;
pub mod target;

use std::sync::Arc;

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Accepted, BoxFuture, Engine, Error, FlowCode, Halt, LetGo, Work};
use lmlang_flow::{AskKind, Failure, Flow, State, Step, Update};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asking::decide_by_rules;
use crate::draft::asking::{Catalogs, Spent, manager, model};
use crate::draft::deciding::{
    ask_for_help, ask_user, asks, confirm, emit, handle_confirm, list_streams, need_stream,
};
use crate::draft::definition::{definition, no_validation};
use crate::draft::grounding::{Catalog, Columns};
use crate::draft::prompts::{Told, is_sql, read_preview, route_by_rules};
use crate::draft::source::ManagerSource;
use crate::draft::target::{Answer, Ask as Request};
use crate::input;
use crate::model::{Models, Role, RoleError};
use crate::sentence::ended;

/// Messages of a conversation that are kept word by word.
const TAIL: usize = 8;
/// Most characters of each: every turn stores them again.
const MESSAGE: usize = 1_000;
/// Most characters of the summary of those before.
const SUMMARY: usize = 2_000;
/// Bytes of what is said.
const TEXT_BYTES: usize = 64 << 10;

/// The code of the flow.
pub struct Draft {
    flow: Arc<Flow>,
    models: Arc<Models>,
    target: ManagerSource,
    catalogs: Catalogs,
}

/// What a run is started with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    text: String,
    sinks: Option<Vec<Value>>,
}

impl Draft {
    /// The flow over a Manager.
    #[must_use]
    pub fn new(models: Arc<Models>, target: ManagerSource) -> Draft {
        // Checked by a test.
        let flow = Flow::new(definition()).expect("the definition makes sense");
        Draft { flow: Arc::new(flow), models, target, catalogs: Catalogs::default() }
    }
}

impl FlowCode for Draft {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn input_schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["text"],
            "additionalProperties": false,
            "properties": {
                "text": {
                    "type": "string", "title": "Text", "x-multiline": true, "minLength": 1,
                    "description": "What the pipeline should do; `list streams`, `describe NAME`, or SQL.",
                },
                "sinks": {
                    "type": "array", "title": "Sinks", "minItems": 1,
                    "description": "Where the pipeline writes to, as the Manager takes it; one that throws away without it.",
                },
            },
        })
    }

    fn turn_input(&self, text: &str) -> Option<Value> {
        Some(json!({ "text": text }))
    }

    fn accept<'a>(
        &'a self,
        engine: &'a Engine,
        input: &'a Value,
        before: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move {
            let input: Input = input::read(input)?;
            input::check_words("text", &input.text, TEXT_BYTES)?;
            if input.sinks.as_ref().is_some_and(Vec::is_empty) {
                return Err(input::wrong("sinks", "at least one is expected"));
            }
            if !engine.is_unlimited() {
                let what = "drafting with a token for some programs only".to_owned();
                return Err(Error::Unsupported { what });
            }
            let mut update = Update::none();
            let mut history = json!({ "summary": "", "tail": [] });
            if let Some(before) = before {
                // What a conversation goes on from.
                for channel in ["active_stream", "stream_schema", "notes", "validation", "ids"] {
                    update = update.with(channel, before.get(channel).clone());
                }
                history = before.get("history").clone();
                update = update.with("turn", before.get("turn").as_u64().unwrap_or(0) + 1);
            }
            let provider = match self.role("drafter").filter(|role| self.models.is_configured(role)) {
                Some(role) => self.models.described(&role).provider,
                None => crate::model::rules::PROVIDER.to_owned(),
            };
            let update = update
                .with("user_input", json!({ "text": input.text, "feedback": null, "confirm": null }))
                .with("history", told(&history, "user", &input.text))
                .with("provider", provider);
            let update = match input.sinks {
                Some(sinks) => update.with("sinks", sinks),
                None => update,
            };
            Ok(Accepted { update, program: None, branch: None })
        })
    }

    /// What the Manager has made for it alone goes with it: nobody explains that any more.
    fn let_go<'a>(&'a self, run: LetGo<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let target = self.target.of(run.engine, &run.call.actor);
            for id in ids(run.state) {
                // Best effort: what stays is tried again at the next turn.
                drop(target.ask(&Request::Delete(id)).await);
            }
        })
    }

    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            let mut spent = Spent::default();
            let step = match node {
                "init_session" => self.init_session(state, work, &mut spent).await,
                "route_intent" => self.route_intent(state, work, &mut spent).await,
                "ask_user" => Ok(ask_user(state)),
                "handle_list_streams" => Ok(list_streams(state)),
                "handle_describe_stream" => self.describe_stream(state, work, &mut spent).await,
                "ensure_active_stream" => self.ensure_active_stream(state, work, &mut spent).await,
                "draft_preview_sql" => self.draft_preview(state, work, &mut spent).await,
                "check_grounding" => self.check_grounding(state, work, &mut spent).await,
                "validate_sql_via_tmp_pipeline" => self.validate(state, work, &mut spent).await,
                "explain_tmp_pipeline" => self.explain(state, work, &mut spent).await,
                "cleanup_tmp_pipeline" => self.clean_up(state, work, &mut spent).await,
                "interrupt_confirm" => Ok(confirm(state)),
                "handle_confirm" => Ok(handle_confirm(state)),
                "revise_sql_json" => self.revise(state, work, &mut spent).await,
                "ask_for_help" => Ok(ask_for_help(state)),
                "emit" => Ok(emit(state)),
                other => Err(failure("INTERNAL", format!("there is no node `{other}`")).into()),
            };
            let mut step = step?;
            step.update = step.update.with("metrics", spent.added_to(state.get("metrics")));
            Ok(step)
        })
    }
}

impl Draft {
    fn role(&self, name: &str) -> Option<Role> {
        name.parse().ok()
    }

    fn has_model(&self, name: &str) -> bool {
        self.role(name).is_some_and(|role| self.models.is_configured(&role))
    }

    async fn manager(&self, request: Request, work: &mut Work, spent: &mut Spent) -> Result<Answer, Halt> {
        let target = self.target.of(work.engine(), work.actor());
        manager(&*target, &self.catalogs, request, work, spent).await
    }

    async fn init_session(&self, state: &State, work: &mut Work, spent: &mut Spent) -> Result<Step, Halt> {
        // What an earlier turn has left behind goes first.
        let (left, _) = self.removed(ids(state), work, spent).await?;
        let functions = self.manager(Request::Functions, work, spent).await?.body;
        let syntax = self.manager(Request::Syntax, work, spent).await?.body;
        let streams = self.manager(Request::Streams, work, spent).await?.body;
        let mut catalog = Catalog::default();
        catalog.add_functions(&functions);
        catalog.add_syntax(&syntax);
        let list = streams.as_array().or_else(|| streams["streams"].as_array()).cloned().unwrap_or_default();
        for stream in &list {
            if let Some(name) = stream["name"].as_str() {
                let schema = &stream["schema"];
                let columns = (!schema.is_null()).then(|| Columns::of(schema));
                catalog.streams.insert(name.to_owned(), columns);
            }
        }
        let names: Vec<&str> = catalog.streams.keys().map(String::as_str).collect();
        let note = match names.is_empty() {
            true => "there are no streams".to_owned(),
            false => format!("available streams: {}", names.join(", ")),
        };
        let digest = json!({ "functions": catalog.functions, "constructs": catalog.constructs });
        let hash = blake3::hash(digest.to_string().as_bytes()).to_hex()[..32].to_owned();
        let digest = json!({
            "functions": catalog.functions, "constructs": catalog.constructs, "digest_hash": hash,
        });
        // A stream that is gone is active no more.
        let gone =
            state.get("active_stream").as_str().is_some_and(|name| !catalog.streams.contains_key(name));
        let mut update = Update::none()
            .with("session_id", work.session().to_string())
            .with("streams", list)
            .with("catalog_digest", digest)
            .with("catalog", json!(catalog))
            .with("validation", with(&no_validation(), "tmp_pipeline_id", json!(left.first())))
            .with("ids", json!(left))
            .with("reply", Value::Null)
            .with("notes", json!([note]));
        if gone {
            update = update.with("active_stream", Value::Null).with("stream_schema", Value::Null);
        }
        Ok(Step::next("route_intent", update))
    }

    async fn route_intent(&self, state: &State, work: &mut Work, spent: &mut Spent) -> Result<Step, Halt> {
        // What was answered to a question is what is wanted: to a model, beside the wish; to rules, in its place.
        let said = state.get("reply")["text"].as_str();
        let wish = state.get("user_input")["text"].as_str().unwrap_or_default();
        let text = match said {
            Some(said) if self.has_model("router") => format!("{wish}\n{said}"),
            Some(said) => said.to_owned(),
            None => wish.to_owned(),
        };
        let text = text.as_str();
        let mut update = Update::none().with("reply", Value::Null).with("interrupt", Value::Null);
        if let Some(said) = said {
            update = update
                .with("user_input", json!({ "text": text, "feedback": null, "confirm": null }))
                .with("history", told(state.get("history"), "user", said));
        }
        let mut intent = match self.has_model("router") {
            true => {
                let request = self.told(state, text).route().map_err(internal)?;
                model(&self.models, &request, work, spent).await?.value.unwrap_or_default()
            }
            false => decide_by_rules("router", route_by_rules(text), work).await?,
        };
        // A stream that there is not was not named.
        let known = catalog(state);
        if intent["stream"].as_str().is_some_and(|name| !known.streams.contains_key(name)) {
            let unknown = intent["stream"].take();
            // Nobody is told of a name that they have not said.
            if unknown.as_str().is_some_and(|name| text.contains(name)) {
                intent["unknown_stream"] = unknown;
            }
        }
        let next = match intent["intent"].as_str() {
            Some("list_streams") => "handle_list_streams",
            Some("describe_stream") => "handle_describe_stream",
            Some("nl2sql") => "ensure_active_stream",
            Some("ask_user") => "ask_user",
            other => {
                return Err(failure(
                    "UNKNOWN_INTENT",
                    format!("`{}` is no intent", other.unwrap_or_default()),
                )
                .into());
            }
        };
        let notes = json!({ "lmlang.intent": intent["intent"] });
        Ok(Step::next(next, update.with("intent", intent)).noting(notes))
    }

    async fn describe_stream(&self, state: &State, work: &mut Work, spent: &mut Spent) -> Result<Step, Halt> {
        let chosen = state.get("reply")["choice"].as_str();
        let intent = state.get("intent");
        // The active one is not meant by whoever names another that there is not.
        let active = state.get("active_stream").as_str().filter(|_| intent["unknown_stream"].is_null());
        let named = chosen.or_else(|| intent["stream"].as_str()).or(active);
        let Some(name) = named else { return Ok(need_stream(state, "handle_describe_stream")) };
        let update = self.described(name, state, work, spent).await?;
        Ok(Step::end(update.with("outcome", "described")))
    }

    async fn ensure_active_stream(
        &self,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Step, Halt> {
        let known = catalog(state);
        let text = state.get("user_input")["text"].as_str().unwrap_or_default();
        let in_text = Catalog::streams_of(text).into_iter().find(|name| known.streams.contains_key(name));
        let chosen = state.get("reply")["choice"].as_str().map(str::to_owned);
        let named = chosen.or_else(|| state.get("intent")["stream"].as_str().map(str::to_owned)).or(in_text);
        // Its schema may have changed since it was read.
        let named = named.or_else(|| state.get("active_stream").as_str().map(str::to_owned));
        let Some(named) = named else {
            // What is wrong with SQL itself, a stream that there is not or a mistake before its name, is told by its checks.
            if is_sql(text) && !self.has_model("drafter") {
                return Ok(Step::next("draft_preview_sql", Update::none()));
            }
            return Ok(need_stream(state, "ensure_active_stream"));
        };
        let update = self.described(&named, state, work, spent).await?;
        Ok(Step::next("draft_preview_sql", update))
    }

    /// Makes a stream the active one, with its schema.
    async fn described(
        &self,
        name: &str,
        state: &State,
        work: &mut Work,
        spent: &mut Spent,
    ) -> Result<Update, Halt> {
        let described = self.manager(Request::Describe(name.to_owned()), work, spent).await?.body;
        let schema = &described["spec"]["schema"];
        let columns = Columns::of(schema);
        let names: Vec<&str> = columns.0.keys().map(String::as_str).collect();
        let note = format!("stream {name}: {}", names.join(", "));
        let mut known = catalog(state);
        known.streams.insert(name.to_owned(), Some(columns));
        Ok(Update::none()
            .with("active_stream", name)
            .with("stream_schema", schema.clone())
            .with("catalog", json!(known))
            .with("reply", Value::Null)
            .with("interrupt", Value::Null)
            .with("notes", json!([note])))
    }

    async fn draft_preview(&self, state: &State, work: &mut Work, spent: &mut Spent) -> Result<Step, Halt> {
        let said = state.get("reply")["text"].as_str();
        let text = state.get("user_input")["text"].as_str().unwrap_or_default();
        let text = said.map_or_else(|| text.to_owned(), |said| format!("{text}\n{said}"));
        let preview = match self.has_model("drafter") {
            true => {
                let request = self.told(state, &text).draft().map_err(internal)?;
                model(&self.models, &request, work, spent).await?.text
            }
            false => {
                let sql = said
                    .filter(|said| is_sql(said))
                    .unwrap_or_else(|| state.get("user_input")["text"].as_str().unwrap_or_default());
                let preview = match is_sql(sql) {
                    true => sql.to_owned(),
                    false => "QUESTION: No model is configured. Which SQL is it?".to_owned(),
                };
                let preview = decide_by_rules("drafter", json!(preview), work).await?;
                preview.as_str().unwrap_or_default().to_owned()
            }
        };
        let mut update = Update::none().with("interrupt", Value::Null).with("reply", Value::Null);
        if let Some(said) = said {
            update = update.with("history", told(state.get("history"), "user", said));
        }
        match read_preview(&preview) {
            Err(question) => {
                let draft = json!({ "preview_text": preview, "sql": null, "assumptions": [], "questions": [question] });
                Ok(asks(
                    AskKind::NeedClarification,
                    question,
                    Vec::new(),
                    "draft_preview_sql",
                    update.with("draft", draft),
                ))
            }
            Ok(sql) => {
                let draft =
                    json!({ "preview_text": preview, "sql": sql, "assumptions": [], "questions": [] });
                Ok(Step::next("check_grounding", update.with("draft", draft).with("mended", 0)))
            }
        }
    }

    async fn revise(&self, state: &State, work: &mut Work, spent: &mut Spent) -> Result<Step, Halt> {
        let before = sql(state);
        let said = state.get("reply")["text"].as_str();
        let feedback = said.or_else(|| state.get("user_input")["feedback"].as_str());
        let error = state.get("validation")["error"].as_str();
        let text = state.get("user_input")["text"].as_str().unwrap_or_default();
        let mut update = Update::none().with("reply", Value::Null).with("interrupt", Value::Null);
        if let Some(said) = said {
            update = update.with("history", told(state.get("history"), "user", said));
        }
        let revised = match self.has_model("reasoner") {
            true => {
                let request = self.told(state, text).revise(&before, error, feedback).map_err(internal)?;
                model(&self.models, &request, work, spent).await?.value.unwrap_or_default()
            }
            false => {
                let given = feedback.filter(|given| is_sql(given));
                let decision = match given {
                    Some(sql) => json!({ "sql": sql, "questions": [], "assumptions": [] }),
                    None => {
                        let why = error.map(|error| format!(", and {error}")).unwrap_or_default();
                        let why = ended(&format!("No model is configured{why}"));
                        let question = format!("{why} Which SQL is it?");
                        json!({ "sql": before, "questions": [question], "assumptions": [] })
                    }
                };
                decide_by_rules("reasoner", decision, work).await?
            }
        };
        let mut questions: Vec<String> =
            serde_json::from_value(revised["questions"].clone()).unwrap_or_default();
        let sql = read_preview(revised["sql"].as_str().unwrap_or_default()).unwrap_or_else(|question| {
            questions.insert(0, question);
            before.clone()
        });
        let draft = json!({
            "preview_text": sql, "sql": sql, "assumptions": revised["assumptions"], "questions": questions,
        });
        let update = update.with("draft", draft);
        match questions.first() {
            Some(question) => {
                let question = question.clone();
                Ok(asks(AskKind::NeedClarification, question, Vec::new(), "revise_sql_json", update))
            }
            None => {
                let mended = state.get("mended").as_u64().unwrap_or(0) + 1;
                let input = with(state.get("user_input"), "feedback", Value::Null);
                Ok(Step::next("check_grounding", update.with("mended", mended).with("user_input", input)))
            }
        }
    }

    fn told<'a>(&self, state: &'a State, text: &'a str) -> Told<'a> {
        Told {
            text,
            active_stream: state.get("active_stream").as_str(),
            schema: state.get("stream_schema"),
            digest: state.get("catalog_digest"),
            streams: state
                .get("streams")
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|of| of["name"].as_str())
                .collect(),
            history: state.get("history"),
        }
    }
}

/// A conversation with one more message: the newest word by word, those before as a summary.
fn told(history: &Value, role: &str, text: &str) -> Value {
    let mut tail = history["tail"].as_array().cloned().unwrap_or_default();
    let mut summary = history["summary"].as_str().unwrap_or_default().to_owned();
    tail.push(json!({ "role": role, "content": crate::model::shortened(text, MESSAGE) }));
    while tail.len() > TAIL {
        let old = tail.remove(0);
        let old = old["content"].as_str().unwrap_or_default();
        let line = crate::model::shortened(old.lines().next().unwrap_or_default(), 80);
        if !summary.is_empty() {
            summary.push_str("; ");
        }
        summary.push_str(&line);
    }
    let from = summary.char_indices().rev().nth(SUMMARY).map_or(0, |(at, _)| at);
    json!({ "summary": &summary[from..], "tail": tail })
}

fn with(value: &Value, field: &str, new: Value) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.insert(field.to_owned(), new);
    }
    value
}

fn sql(state: &State) -> String {
    state.get("draft")["sql"].as_str().unwrap_or_default().to_owned()
}

fn ids(state: &State) -> Vec<String> {
    serde_json::from_value(state.get("ids").clone()).unwrap_or_default()
}

fn catalog(state: &State) -> Catalog {
    serde_json::from_value(state.get("catalog").clone()).unwrap_or_default()
}

fn internal(error: RoleError) -> Failure {
    failure("INTERNAL", error.to_string())
}
