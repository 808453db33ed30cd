//! The flow `edit`: from words to a change of a program, which is checked before a person sees it and merged when they agree.
//!
//! A model reads what the program is made of, and the texts that the words are found in, and writes edits. They are tried on the
//! newest revision by code, and what is wrong goes back to a model. Then a run of `review` takes them: it makes a branch of them,
//! has them pass its gates, asks, and merges. What a gate or a person holds against them goes back to a model, too.

mod prompts;

use std::sync::Arc;

use lmlang_engine::branches::no_branch;
use lmlang_engine::flows::code::{failed, failure};
use lmlang_engine::{Accepted, BoxFuture, Engine, Error, FlowCode, Halt, Outcome, Work};
use lmlang_flow::definition::END;
use lmlang_flow::{Ask, AskKind, Definition, Flow, Goto, NodeSpec, Reducer, State, Step, Update};
use lmlang_history::revision::MAIN;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asking::{ask, decide_by_rules};
pub use crate::edit::prompts::BEGINNINGS;
use crate::edit::prompts::{Told, draft_by_rules};
use crate::edits::{TextEdit, proposal, words};
use crate::input;
use crate::model::{Models, Request, Role, RoleError, shortened};
use crate::review::program;
use crate::sentence::ended;
use crate::tools::program::grounding::{Ground, ground};

/// How often edits are tried for one word of the user.
const MOST_ATTEMPTS: u64 = 3;
/// How often a node of a run is gone through.
const LOOKS: u32 = 60;
/// Wishes of a conversation that are remembered.
const WISHES: usize = 8;
/// Characters of what was said, in a question.
const SHOWN: usize = 60;
/// Characters of each.
const WISH: usize = 500;
/// Bytes of what is said.
const TEXT_BYTES: usize = 64 << 10;

/// The code of the flow.
pub struct Edit {
    flow: Arc<Flow>,
    models: Arc<Models>,
}

/// What a run is started with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    text: String,
    program: Option<String>,
    into: Option<String>,
}

impl Edit {
    /// The flow, which asks these models.
    #[must_use]
    pub fn new(models: Arc<Models>) -> Edit {
        // Checked by a test.
        let flow = Flow::new(definition()).expect("the definition makes sense");
        Edit { flow: Arc::new(flow), models }
    }

    /// The role of a name, if a model is configured for it.
    fn role(&self, name: &str) -> Option<Role> {
        let role: Result<Role, RoleError> = name.parse();
        role.ok().filter(|role| self.models.is_configured(role))
    }
}

fn definition() -> Definition {
    Definition::new(
        "edit",
        1,
        "Drafts a change of a program from words, checks it, and has it reviewed and merged.",
    )
    .node(NodeSpec::task(
        "ground",
        &["draft"],
        "Reads what the program is made of, and what the words are found in.",
    ))
    .node(
        NodeSpec::ask("draft", &["check", "draft"], "Drafts edits, or asks what is to be known first.")
            .at_most(LOOKS),
    )
    .node(
        NodeSpec::gate(
            "check",
            &["review", "revise", "ask_for_help"],
            "Whether the edits parse and type-check.",
        )
        .at_most(LOOKS),
    )
    .node(
        NodeSpec::task(
            "review",
            &["decide", "revise"],
            "Has a branch of them reviewed, and merged if a person agrees.",
        )
        .at_most(LOOKS),
    )
    .node(
        NodeSpec::task("decide", &["revise", "ask_for_help", END], "Goes on as the review has ended.")
            .at_most(LOOKS),
    )
    .node(NodeSpec::ask("revise", &["check", "revise"], "Mends the edits.").at_most(LOOKS))
    .node(NodeSpec::ask("ask_for_help", &["revise"], "Asks the user what is to be different.").at_most(LOOKS))
    .channel("program", Reducer::Replace, Value::Null)
    .channel("into", Reducer::Replace, json!(MAIN))
    .channel("user_input", Reducer::Replace, json!({ "text": null }))
    .channel("wishes", Reducer::Append { most: WISHES }, json!([]))
    .channel("base", Reducer::Replace, Value::Null)
    .channel("draft", Reducer::Replace, Value::Null)
    .channel("validation", Reducer::Replace, validation(0, None))
    .channel("review", Reducer::Replace, Value::Null)
    .channel("outcome", Reducer::Replace, Value::Null)
    .channel("revision", Reducer::Replace, Value::Null)
    .channel("provider", Reducer::Replace, Value::Null)
    .channel("progress", Reducer::Append { most: 100 }, json!([]))
    .private("ground", Reducer::Replace, Value::Null)
    // A later turn is about the same program, whatever it is called by then.
    .private("program_id", Reducer::Replace, Value::Null)
    .private("reply", Reducer::Replace, Value::Null)
}

fn validation(attempt: u64, error: Option<&str>) -> Value {
    json!({ "attempt": attempt, "max_attempts": MOST_ATTEMPTS, "error": error })
}

impl FlowCode for Edit {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn is_about_a_program(&self) -> bool {
        true
    }

    fn input_schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["text"],
            "additionalProperties": false,
            "properties": {
                "program": {
                    "type": "string", "title": "Program",
                    "description": "The program, by name or id. In a later turn of a conversation, that of the turn before.",
                },
                "text": {
                    "type": "string", "title": "Text", "x-multiline": true, "minLength": 1,
                    "description": "What should be different; or functions and types in the text form, or a patch of texts.",
                },
                "into": {
                    "type": "string", "title": "Into", "default": MAIN,
                    "description": "The branch that takes the change in.",
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
            let given: Input = input::read(input)?;
            input::check_words("text", &given.text, TEXT_BYTES)?;
            let earlier =
                |channel: &str| before.and_then(|before| before.get(channel).as_str()).map(str::to_owned);
            let Some(program) = given.program.or_else(|| earlier("program_id")) else {
                return Err(input::wrong("program", "`program`: a program is expected, by name or id"));
            };
            let open = engine.find(&input::program(&program)).await?;
            let into = given.into.or_else(|| earlier("into")).unwrap_or_else(|| MAIN.to_owned());
            if open.timeline.head().number_of(&into).is_none() {
                return Err(no_branch(&open.timeline.head(), &into));
            }
            let provider = match self.role("drafter") {
                Some(role) => self.models.described(&role).provider,
                None => crate::model::rules::PROVIDER.to_owned(),
            };
            let mut update = Update::none()
                .with("program", open.info().name.clone())
                .with("program_id", open.info().id.to_string())
                .with("into", into)
                .with("user_input", json!({ "text": given.text }))
                .with("provider", provider);
            if let Some(before) = before {
                let mut wish = before.get("user_input")["text"].as_str().unwrap_or_default().to_owned();
                let answer = &before.get("review")["answer"];
                if let Some(said) = answer["feedback"].as_str().filter(|_| answer["confirm"] == true) {
                    // What was said beside the yes to it.
                    wish = format!("{wish}\n{said}");
                }
                let wish = shortened(&wish, WISH);
                let earlier = before.get("wishes").as_array().cloned().unwrap_or_default();
                let wishes: Vec<Value> = earlier.into_iter().chain([json!(wish)]).collect();
                update = update.with("wishes", wishes[wishes.len().saturating_sub(WISHES)..].to_vec());
            }
            Ok(Accepted { update, program: Some(open.info().id), branch: None })
        })
    }

    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            match node {
                "ground" => begin(state, work).await,
                "draft" => self.draft(state, work).await,
                "check" => check(state, work).await,
                "review" => Ok(review(state, work)),
                "decide" => decide(state, work).await,
                "revise" => self.revise(state, work).await,
                "ask_for_help" => Ok(ask_for_help(state)),
                other => Err(failure("INTERNAL", format!("there is no node `{other}`")).into()),
            }
        })
    }
}

impl Edit {
    async fn draft(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        let said = state.get("reply")["text"].as_str();
        let wish = said.map_or_else(|| wish(state).to_owned(), |said| format!("{}\n{said}", wish(state)));
        let drafted = match self.role("drafter") {
            Some(_) => {
                let request = told(state, &wish).draft().map_err(internal)?;
                self.asked(&request, work).await?
            }
            None => {
                let text = said.unwrap_or(&wish);
                let draft = draft_by_rules(text).unwrap_or_else(|| without_model(text, None));
                decide_by_rules("drafter", draft, work).await?
            }
        };
        Ok(drafted_step(state, drafted, "draft"))
    }

    async fn revise(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        let said = state.get("reply")["text"].as_str();
        let wrong = said.or_else(|| state.get("validation")["error"].as_str()).unwrap_or("it does not work");
        let drafted = match self.role("reasoner") {
            Some(_) => {
                let request = told(state, wish(state)).revise(state.get("draft"), wrong).map_err(internal)?;
                self.asked(&request, work).await?
            }
            None => {
                let error = Some(wrong).filter(|_| said.is_none());
                // What a person has said to the review may be the text itself.
                let draft = draft_by_rules(said.unwrap_or(wrong));
                let draft = draft.unwrap_or_else(|| without_model(said.unwrap_or_default(), error));
                decide_by_rules("reasoner", draft, work).await?
            }
        };
        Ok(drafted_step(state, drafted, "revise"))
    }

    async fn asked(&self, request: &Request, work: &mut Work) -> Result<Value, Halt> {
        let reply = ask(&self.models, request, work).await?;
        let value = reply
            .value
            .ok_or_else(|| failure("MODEL_SCHEMA_MISMATCH", "the model did not answer in JSON"))?;
        Ok(value)
    }
}

fn wish(state: &State) -> &str {
    state.get("user_input")["text"].as_str().unwrap_or_default()
}

fn told<'a>(state: &'a State, wish: &'a str) -> Told<'a> {
    let before = state.get("wishes").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    Told { wish, before, ground: state.text("ground") }
}

/// What is asked where there is no model that could make edits of what was said, or of what was held against them.
fn without_model(said: &str, held: Option<&str>) -> Value {
    let why = match held {
        Some(held) => format!("What is to be different: {} No model is configured", ended(held)),
        None => {
            let first = said.trim().lines().next().unwrap_or_default();
            format!("No model is configured, and `{}` is no text of a program", shortened(first, SHOWN))
        }
    };
    json!({
        "edits": [],
        "question": format!("{why}. Which functions in the text form is it, or which patch of texts?"),
    })
}

/// Where a draft leads: to being tried, or to the question that it is.
fn drafted_step(state: &State, drafted: Value, node: &str) -> Step {
    let update = Update::none().with("reply", Value::Null);
    let question = drafted["question"].as_str().filter(|question| !question.trim().is_empty());
    let is_empty = drafted["edits"].as_array().is_none_or(Vec::is_empty);
    if question.is_none() && !is_empty {
        return Step::next("check", update.with("draft", drafted));
    }
    let question = question.unwrap_or("Nothing would be changed. What should be different?");
    let update = match state.get("draft").is_null() || !is_empty {
        true => update.with("draft", drafted.clone()),
        // What was tried last is what is mended.
        false => update,
    };
    clarification(question.to_owned(), node, update)
}

fn clarification(question: String, then: &str, update: Update) -> Step {
    let ask = Ask {
        kind: AskKind::NeedClarification,
        question,
        choices: Vec::new(),
        expires: None,
        otherwise: None,
        into: Some("reply".to_owned()),
        subject: None,
    };
    Step::ask(ask, then, update)
}

/// What a model is to read of the program as it is now.
async fn read(state: &State, work: &Work) -> Result<Ground, Halt> {
    let open = program(state, work).await?;
    let ground = ground(work.engine(), &open, state.text("into"), wish(state)).await;
    Ok(ground.map_err(|error| failure(&error.code, error.message))?)
}

async fn begin(state: &State, work: &Work) -> Result<Step, Halt> {
    let ground = read(state, work).await?;
    let said = format!("read `{}` r{}", state.text("program"), ground.revision);
    let update = Update::none().with("ground", ground.text).with("base", ground.revision);
    Ok(Step::next("draft", update.with("progress", json!([said]))))
}

/// Tries the edits on the newest revision.
async fn check(state: &State, work: &mut Work) -> Result<Step, Halt> {
    let attempt = state.get("validation")["attempt"].as_u64().unwrap_or(0) + 1;
    let edits: Result<Vec<TextEdit>, _> = serde_json::from_value(state.get("draft")["edits"].clone());
    let wrong = match edits {
        Err(error) => Some(format!("the edits cannot be read: {error}")),
        Ok(edits) => {
            let open = program(state, work).await?;
            let call = work.call("", None, &Value::Null);
            let tried = work.engine().propose(proposal(&open, state.text("into"), edits, true), &call).await;
            match tried {
                Ok(Outcome::Applied(_)) => None,
                Ok(refused) => Some(words(&refused)),
                // What the edits name is not there.
                Err(error) => Some(failed("propose_edit", &error).message),
            }
        }
    };
    let update = Update::none().with("validation", validation(attempt, wrong.as_deref()));
    let next = match &wrong {
        None => "review",
        Some(_) if attempt < MOST_ATTEMPTS => "revise",
        Some(_) => "ask_for_help",
    };
    Ok(Step::next(next, update).noting(json!({ "lmlang.attempt": attempt })))
}

fn review(state: &State, work: &Work) -> Step {
    if let Some(refused) = work.failures().iter().rfind(|failure| !failure.transient) {
        // The program has changed since the edits were tried.
        let attempt = state.get("validation")["attempt"].as_u64().unwrap_or(0);
        let update = Update::none().with("validation", validation(attempt, Some(&refused.message)));
        return Step::next("revise", update);
    }
    let draft = state.get("draft");
    let message = draft["message"].as_str().filter(|message| !message.trim().is_empty());
    let first_line = wish(state).lines().next().unwrap_or_default();
    let input = json!({
        "program": work.program(),
        "into": state.text("into"),
        "edits": draft["edits"],
        "message": message.unwrap_or(first_line),
    });
    Step {
        update: Update::none(),
        goto: Goto::Sub {
            flow: "review".to_owned(),
            input,
            into: "review".to_owned(),
            then: "decide".to_owned(),
        },
        notes: Value::Null,
    }
}

/// Goes on as the review has ended: what was held against the edits is mended.
async fn decide(state: &State, work: &mut Work) -> Result<Step, Halt> {
    let review = state.get("review");
    let outcome = review["outcome"].as_str().unwrap_or("withdrawn");
    let violations = review["violations"].as_array().cloned().unwrap_or_default();
    if outcome != "withdrawn" || violations.is_empty() {
        let said = match review["revision"].as_u64() {
            Some(revision) => format!("{outcome} as r{revision}"),
            None => outcome.to_owned(),
        };
        let update = Update::none()
            .with("outcome", outcome)
            .with("revision", review["revision"].clone())
            .with("progress", json!([said]));
        return Ok(Step::end(update));
    }
    let held: Vec<&str> = violations.iter().filter_map(|of| of["message"].as_str()).take(10).collect();
    // A word of a person gives new attempts.
    let by_person = violations.iter().any(|of| of["gate"] == "human");
    let attempt = match by_person {
        true => 0,
        false => state.get("validation")["attempt"].as_u64().unwrap_or(0),
    };
    let update = Update::none().with("validation", validation(attempt, Some(&held.join("; "))));
    // Meanwhile others may have worked on the program.
    let ground = read(state, work).await?;
    let update = update.with("ground", ground.text).with("base", ground.revision);
    Ok(Step::next(if attempt < MOST_ATTEMPTS { "revise" } else { "ask_for_help" }, update))
}

fn ask_for_help(state: &State) -> Step {
    let error = state.get("validation")["error"].as_str().unwrap_or("the edits do not work");
    let question = format!("The edits do not work: {} What should be different?", ended(error));
    // The user's word gives new attempts.
    clarification(question, "revise", Update::none().with("validation", validation(0, Some(error))))
}

fn internal(error: RoleError) -> Halt {
    failure("INTERNAL", error.to_string()).into()
}
