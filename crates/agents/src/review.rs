//! The flow `review`: brings a branch of a program into another one, once it has passed its gates and a person has agreed.
//!
//! An agent works on a branch of its own, with every edit verified as it lands, then starts a run. Two gates look at what
//! would come of it: whether it merges and type-checks, and whether every test case holds that held before. What they find
//! is recorded, and leads to a question instead of a merge. The person who agrees agrees to one revision: what the branch
//! gets after that is not merged.

mod gates;

use std::sync::Arc;

use lmlang_engine::branches::no_branch;
use lmlang_engine::flows::code::{failed, failure};
use lmlang_engine::{
    Accepted, Arrival, BoxFuture, Effect, Engine, Error, FlowCode, Halt, LetGo, MergeRequest, OpenProgram,
    Outcome, Repeat, Selector, Work,
};
use lmlang_flow::definition::END;
use lmlang_flow::{
    Ask, AskKind, Definition, Failure, Flow, NodeSpec, Reducer, State, Status, Step, Subject, Update,
};
use lmlang_history::revision::MAIN;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::edits::{self, TextEdit, proposal, words};
use crate::input;
use crate::sentence::ended;
use gates::{Violation, broken_cases, gate_cases, gate_merge, tip};

/// How often a branch may be looked at: each time somebody has worked on it.
const LOOKS: u32 = 50;

/// The code of the flow.
#[derive(Debug)]
pub struct Review(Arc<Flow>);

/// What a run is started with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    program: String,
    branch: Option<String>,
    text: Option<String>,
    patch: Option<String>,
    edits: Option<Vec<TextEdit>>,
    into: Option<String>,
    message: Option<String>,
    #[serde(default)]
    keep_branch: bool,
    #[serde(default)]
    approver: Approver,
}

/// Who may agree to the merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Approver {
    /// Everybody who may answer runs.
    #[default]
    Anybody,
    /// All of them but who began the run.
    Others,
}

/// What is offered when a gate has found something, or a person wants something else.
const AGAIN: [&str; 2] = ["look again", "withdraw"];

impl Default for Review {
    fn default() -> Review {
        let definition = Definition::new(
            "review",
            1,
            "Brings a branch of a program into another one, once it has passed its gates and a person has agreed.",
        )
        .node(NodeSpec::task("prepare", &["gate_merge"], "Makes a branch of a given text or patch, if one is given."))
        .node(
            NodeSpec::gate(
                "gate_merge",
                &["gate_cases", "ask_again"],
                "Whether the branch merges and what comes of it type-checks.",
            )
            .at_most(LOOKS),
        )
        .node(NodeSpec::gate(
            "gate_cases",
            &["ask_confirm", "ask_again"],
            "Whether every test case holds that held before.",
        ))
        .node(NodeSpec::ask("ask_confirm", &["decide"], "Asks a person to agree to what would change."))
        .node(NodeSpec::task(
            "decide",
            &["merge", "ask_again", "clean_up"],
            "Goes on as the person has decided.",
        ))
        .node(NodeSpec::task(
            "merge",
            &["clean_up", "gate_merge", "ask_again"],
            "Merges what was agreed to, and nothing that came after.",
        ))
        .node(NodeSpec::ask("ask_again", &["resume"], "Asks for more work on the branch, or to give it up."))
        .node(NodeSpec::task("resume", &["gate_merge", "clean_up"], "Looks again, or gives up."))
        .node(NodeSpec::task("clean_up", &[END], "Removes the branch, if it was merged or made for this run."))
        .channel("program", Reducer::Replace, Value::Null)
        .channel("branch", Reducer::Replace, Value::Null)
        .channel("into", Reducer::Replace, json!(MAIN))
        .channel("message", Reducer::Replace, Value::Null)
        .channel("plan", Reducer::Replace, json!(["verify", "run the test cases", "ask", "merge"]))
        .channel("progress", Reducer::Append { most: 100 }, json!([]))
        .channel("violations", Reducer::Replace, json!([]))
        .channel("evidence", Reducer::Replace, json!({}))
        .channel("proposed", Reducer::Replace, Value::Null)
        .channel("base", Reducer::Replace, Value::Null)
        .channel("answer", Reducer::Replace, Value::Null)
        .channel("outcome", Reducer::Replace, Value::Null)
        .channel("revision", Reducer::Replace, Value::Null)
        .private("edits", Reducer::Replace, json!([]))
        .private("owns_branch", Reducer::Replace, json!(false))
        .private("keep_branch", Reducer::Replace, json!(false))
        .private("others", Reducer::Replace, json!(false));
        // Checked by a test.
        Review(Arc::new(Flow::new(definition).expect("the definition makes sense")))
    }
}

impl FlowCode for Review {
    fn flow(&self) -> &Arc<Flow> {
        &self.0
    }

    fn is_about_a_program(&self) -> bool {
        true
    }

    fn input_schema(&self) -> Value {
        let mut edits = edits::schema();
        edits["title"] = json!("Edits");
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["program"],
            "additionalProperties": false,
            "properties": {
                "program": { "type": "string", "title": "Program", "description": "The program, by name or id." },
                "branch": {
                    "type": "string", "title": "Branch",
                    "description": "The branch that was worked on. Without it, the run makes one of `text`, `patch` or `edits`.",
                },
                "text": {
                    "type": "string", "title": "Text", "x-multiline": true,
                    "description": "Functions, types and modules to add, in the text form.",
                },
                "patch": {
                    "type": "string", "title": "Patch", "x-multiline": true,
                    "description": "A unified diff of texts of the program, as the edit `applyTextPatch` takes it.",
                },
                "edits": edits,
                "into": {
                    "type": "string", "title": "Into", "default": MAIN,
                    "description": "The branch that takes the changes in.",
                },
                "message": { "type": "string", "title": "Message", "description": "Why, for the log." },
                "keepBranch": {
                    "type": "boolean", "title": "Keep the branch", "default": false,
                    "description": "Whether the branch stays when it was merged.",
                },
                "approver": {
                    "type": "string", "title": "Approver", "enum": ["anybody", "others"], "default": "anybody",
                    "description": "Who may agree to the merge: `others` is everybody but who starts the run.",
                },
            },
        })
    }

    fn accept<'a>(
        &'a self,
        engine: &'a Engine,
        input: &'a Value,
        _: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move {
            let given: Input = input::read(input)?;
            for (field, words) in [("text", &given.text), ("patch", &given.patch)] {
                if let Some(words) = words {
                    input::check_words(field, words, usize::MAX)?;
                }
            }
            let edits = given_edits(&given);
            let open = engine.find(&input::program(&given.program)).await?;
            let into = given.into.clone().unwrap_or_else(|| MAIN.to_owned());
            let head = open.timeline.head();
            if head.number_of(&into).is_none() {
                return Err(no_branch(&head, &into));
            }
            let (branch, owns) = match (&given.branch, edits.is_empty()) {
                (Some(_), false) => {
                    return Err(input::wrong(
                        "branch",
                        "give a branch, or a text, patch or edits to make one of".to_owned(),
                    ));
                }
                (None, true) => {
                    return Err(input::wrong("branch", "a branch, a text or a patch is missing"));
                }
                (Some(branch), true) if *branch == into => {
                    return Err(input::wrong("branch", format!("`{into}` cannot be brought into itself")));
                }
                (Some(branch), true) if head.number_of(branch).is_none() => {
                    return Err(no_branch(&head, branch));
                }
                (Some(branch), true) => (branch.clone(), false),
                (None, false) => (String::new(), true),
            };
            if owns {
                // What is wrong with the text is told now, not by a run that fails.
                let fields =
                    [("patch", given.patch.is_some()), ("text", given.text.is_some()), ("edits", true)];
                let field =
                    fields.into_iter().find_map(|(field, given)| given.then_some(field)).unwrap_or_default();
                let call = lmlang_engine::Call::by(lmlang_history::log::Actor {
                    name: "review".to_owned(),
                    kind: lmlang_history::log::ActorKind::Flow,
                    client: None,
                });
                match engine.propose(proposal(&open, &into, edits.clone(), true), &call).await? {
                    Outcome::Applied(_) => {}
                    refused => return Err(input::wrong(field, words(&refused))),
                }
            }
            let update = Update::none()
                .with("program", open.info().name.clone())
                .with("branch", if owns { Value::Null } else { json!(branch) })
                .with("into", into)
                .with("message", given.message)
                .with("edits", json!(edits))
                .with("owns_branch", owns)
                .with("keep_branch", given.keep_branch)
                .with("others", given.approver == Approver::Others);
            Ok(Accepted { update, program: Some(open.info().id), branch: Some(branch).filter(|_| !owns) })
        })
    }

    /// A branch that it made of what it was given goes with one that is cancelled; one that it was given stays, and so does that
    /// of a run that has failed, which can be taken back and gone on with.
    fn let_go<'a>(&'a self, run: LetGo<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if run.ended != Status::Cancelled {
                return;
            }
            let is = |channel: &str| run.state.get(channel) == &json!(true);
            let Some(program) = run.program.filter(|_| is("owns_branch") && !is("keep_branch")) else {
                return;
            };
            // Best effort: what stays can be seen, and deleted by anybody.
            let Ok(open) = run.engine.find(&Selector::Id(program)).await else { return };
            // Its name may be another branch's by now.
            for branch in run.engine.branches_made_by(&open, run.run).await.unwrap_or_default() {
                if went_on(run.engine, &open, &branch, run.state, run.run).await.is_none() {
                    drop(run.engine.delete_branch(&open, &branch, &run.call).await);
                }
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
            let open = program(state, work).await?;
            match node {
                "prepare" => prepare(&open, state, work).await,
                "gate_merge" => gate_merge(&open, state, work).await,
                "gate_cases" => gate_cases(&open, state, work).await,
                "ask_confirm" => Ok(ask_confirm(&open, state, work)),
                "decide" => Ok(decide(state)),
                "merge" => merge(&open, state, work).await,
                "ask_again" => Ok(ask_again(state, work)),
                "resume" => Ok(resume(state)),
                _ => clean_up(&open, state, work).await,
            }
        })
    }
}

/// The program that a run is about.
pub(crate) async fn program(state: &State, work: &Work) -> Result<OpenProgram, Failure> {
    let program = work.program().ok_or_else(|| failure("NOT_FOUND", "the run is about no program"))?;
    work.engine().find(&Selector::Id(program)).await.map_err(|error| match error {
        Error::NotFound { retired: true, .. } => {
            // Whoever is asked about it knows its name alone.
            let message = format!("the program `{}` was deleted", state.text("program"));
            Failure { tool: Some("program".to_owned()), ..failure("NOT_FOUND", message) }
        }
        error => failed("program", &error),
    })
}

/// What is to be put on a branch of its own.
fn given_edits(given: &Input) -> Vec<TextEdit> {
    let text = given.text.clone().map(|text| TextEdit::AddText { module: None, text });
    let patch = given.patch.clone().map(|patch| TextEdit::ApplyTextPatch { patch });
    text.into_iter().chain(patch).chain(given.edits.iter().flatten().cloned()).collect()
}

/// The branch that a run looks at: that which it was begun for or forked onto, or made itself.
fn branch_of(state: &State, work: &Work) -> String {
    work.branch().unwrap_or_else(|| state.text("branch")).to_owned()
}

async fn prepare(open: &OpenProgram, state: &State, work: &mut Work) -> Result<Step, Halt> {
    if state.get("owns_branch") != &json!(true) {
        return Ok(Step::next("gate_merge", Update::none()));
    }
    let branch = match work.branch() {
        // It was forked before it had made one.
        Some(branch) => branch.to_owned(),
        None => made_branch(open, state, work).await?,
    };
    let edits: Vec<TextEdit> = serde_json::from_value(state.get("edits").clone())
        .map_err(|error| failure("INTERNAL", error.to_string()))?;
    let request = json!({ "branch": branch, "edits": state.get("edits") });
    let effect = Effect::new("edit", "propose_edit", request.clone(), Repeat::Keyed);
    let call = work.call("", state.get("message").as_str().map(str::to_owned), &request);
    let (engine, proposal, on) =
        (work.engine().clone(), proposal(open, &branch, edits, false), branch.clone());
    let edited = work.effect(effect, move |key| async move {
        let call = call.keyed(Some(&key), request.to_string().as_bytes());
        match engine.propose(proposal, &call).await.map_err(|error| failed("propose_edit", &error))? {
            Outcome::Applied(applied) => {
                let number = applied.after.entry.number;
                Ok((json!({ "revision": number }), json!({ "branch": on, "revision": number })))
            }
            refused => Err(failure("EDIT_REFUSED", words(&refused))),
        }
    });
    edited.await?;
    let progress = json!([format!("made the branch `{branch}`")]);
    Ok(Step::next("gate_merge", Update::none().with("branch", branch).with("progress", progress)))
}

/// Makes a branch for a given text, under a name that is free. A repetition makes no other one: its key says the same.
async fn made_branch(open: &OpenProgram, state: &State, work: &mut Work) -> Result<String, Halt> {
    let into = state.text("into").to_owned();
    let request = json!({ "at": into });
    let effect = Effect::new("edit", "create_branch", request.clone(), Repeat::Keyed);
    let call = work.call("", state.get("message").as_str().map(str::to_owned), &request);
    let (engine, of) = (work.engine().clone(), open.clone());
    let made = work.effect(effect, move |key| async move {
        let call = call.keyed(Some(&key), request.to_string().as_bytes());
        let made = engine.create_branch(&of, &of.free_branch("review"), Some(&into), &call).await;
        let made = made.map_err(|error| failed("create_branch", &error))?;
        Ok((json!({ "branch": made.name, "at": made.head.entry.number }), Value::Null))
    });
    Ok(made.await?["branch"].as_str().unwrap_or_default().to_owned())
}

fn ask_confirm(open: &OpenProgram, state: &State, work: &Work) -> Step {
    let proposed = state.get("proposed").as_u64().unwrap_or(0);
    let (branch, into) = (branch_of(state, work), state.text("into"));
    let functions = state.get("evidence")["changes"]["functions"].as_u64().unwrap_or(0);
    let of = if functions == 1 { "function" } else { "functions" };
    let why = state.get("message").as_str().map(|why| format!(" {why}")).unwrap_or_default();
    let question =
        format!("Merge r{proposed} of `{branch}` into `{into}`? It changes {functions} {of}.{why}");
    let ask = Ask {
        kind: AskKind::NeedConfirm,
        question,
        choices: Vec::new(),
        expires: None,
        otherwise: None,
        into: Some("answer".to_owned()),
        subject: Some(Subject {
            program: open.info().id.into_bytes(),
            branch,
            proposed,
            into: into.to_owned(),
            base: state.get("base").as_u64().unwrap_or(0),
            others: state.get("others") == &json!(true),
        }),
    };
    Step::ask(ask, "decide", Update::none())
}

fn decide(state: &State) -> Step {
    let answer = state.get("answer");
    let feedback = answer["feedback"].as_str().filter(|feedback| !feedback.trim().is_empty());
    if answer["confirm"] == true {
        // What was said beside a yes keeps nothing from being merged, and whoever works on goes by it.
        let said = feedback.map_or_else(|| "agreed to".to_owned(), |said| format!("agreed to: {said}"));
        return Step::next("merge", Update::none().with("progress", json!([said])));
    }
    match feedback {
        Some(feedback) => {
            let violation = Violation {
                gate: "human",
                rule: "FEEDBACK".to_owned(),
                severity: "error",
                message: feedback.to_owned(),
                location: None,
            };
            Step::next("ask_again", Update::none().with("violations", json!([violation])))
        }
        None => Step::next("clean_up", Update::none().with("outcome", "rejected")),
    }
}

async fn merge(open: &OpenProgram, state: &State, work: &mut Work) -> Result<Step, Halt> {
    let proposed = state.get("proposed").as_u64().unwrap_or(0);
    let into = state.text("into").to_owned();
    if Some(tip(open, &into, work).await?) != state.get("base").as_u64() {
        // Others have changed it since the gates have looked: what they hold against it now, nobody has agreed to.
        let (violations, _) = broken_cases(open, state, work).await?;
        if !violations.is_empty() {
            return Ok(Step::next("ask_again", Update::none().with("violations", json!(violations))));
        }
    }
    let request = json!({ "from": format!("r{proposed}"), "into": into });
    let effect = Effect::new("edit", "merge", request.clone(), Repeat::Keyed);
    let message = state.get("message").as_str().map(str::to_owned);
    let call = work.call("", message, &request);
    let (engine, of, branch) = (work.engine().clone(), open.clone(), into.clone());
    let merged = work.effect(effect, move |key| async move {
        let call = call.keyed(Some(&key), request.to_string().as_bytes());
        let asked = MergeRequest {
            from: format!("r{proposed}"),
            into: branch.clone(),
            resolutions: Vec::new(),
            expected_head: None,
            dry_run: false,
        };
        match engine.merge(&of, &asked, &call).await.map_err(|error| failed("merge", &error))? {
            Arrival::Made { after, .. } => {
                let number = after.entry.number;
                Ok((json!({ "revision": number }), json!({ "branch": branch, "revision": number })))
            }
            Arrival::Nothing(why) => Ok((json!({ "nothing": why }), Value::Null)),
            Arrival::Conflict(conflict) => {
                let messages: Vec<&str> = conflict.conflicts.iter().map(|of| of.message.as_str()).collect();
                Ok((json!({ "conflict": messages }), Value::Null))
            }
        }
    });
    let merged = merged.await?;
    if let Some(why) = merged["nothing"].as_str() {
        // The branch has all of it: it was merged before, and may have been taken back since. The gates say so.
        let said = format!("nothing was merged: {why}");
        return Ok(Step::next("gate_merge", Update::none().with("progress", json!([said]))));
    }
    if !merged["conflict"].is_null() {
        // Somebody was faster since the gates have looked.
        let said = format!("`{into}` has gone on, and r{proposed} does not merge any more");
        return Ok(Step::next("gate_merge", Update::none().with("progress", json!([said]))));
    }
    let said = format!("merged as r{}", merged["revision"]);
    let update = Update::none()
        .with("outcome", "merged")
        .with("revision", merged["revision"].clone())
        .with("progress", json!([said]));
    Ok(Step::next("clean_up", update))
}

fn ask_again(state: &State, work: &Work) -> Step {
    if work.parent().is_some() {
        // Whoever waits for this run does better, or asks.
        return Step::next("resume", Update::none().with("answer", json!({ "choice": AGAIN[1] })));
    }
    let violations = state.get("violations").as_array().cloned().unwrap_or_default();
    let found: Vec<&str> = violations.iter().filter_map(|of| of["message"].as_str()).take(5).collect();
    let more = violations.len().saturating_sub(found.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let question = format!(
        "`{}` cannot be merged as it is: {} Work on it and have it looked at again, or withdraw it?",
        branch_of(state, work),
        ended(&format!("{}{more}", found.join("; "))),
    );
    let ask = Ask {
        kind: AskKind::NeedChoice,
        question,
        choices: AGAIN.map(str::to_owned).to_vec(),
        expires: None,
        otherwise: None,
        into: Some("answer".to_owned()),
        subject: None,
    };
    Step::ask(ask, "resume", Update::none())
}

fn resume(state: &State) -> Step {
    match state.get("answer")["choice"] == AGAIN[0] {
        true => Step::next("gate_merge", Update::none().with("progress", json!(["looks again"]))),
        false => Step::next("clean_up", Update::none().with("outcome", "withdrawn")),
    }
}

async fn clean_up(open: &OpenProgram, state: &State, work: &mut Work) -> Result<Step, Halt> {
    let merged = state.get("outcome") == &json!("merged");
    let owns = state.get("owns_branch") == &json!(true);
    let keeps = state.get("keep_branch") == &json!(true);
    let end = |said: String| Step::end(Update::none().with("progress", json!([said])));
    let branch = branch_of(state, work);
    if keeps || !(merged || owns) {
        return Ok(end(format!("the branch `{branch}` stays")));
    }
    let request = json!({ "branch": branch });
    let effect = Effect::new("edit", "delete_branch", request.clone(), Repeat::Keyed);
    let call = work.call("", None, &request);
    let (engine, of, name) = (work.engine().clone(), open.clone(), branch.clone());
    let (state, run) = (state.clone(), work.run());
    let removed = work.effect(effect, move |key| async move {
        let call = call.keyed(Some(&key), request.to_string().as_bytes());
        if let Some(newest) = went_on(&engine, &of, &name, &state, run).await {
            return Ok((json!({ "kept": format!("it went on to r{newest}") }), Value::Null));
        }
        let tip = engine.tip(&of, &of.timeline.head(), &name).await;
        let newest = tip.map_or(Value::Null, |tip| json!(tip.revision.entry.number));
        match engine.delete_branch(&of, &name, &call).await {
            // Taking the run back makes it again there.
            Ok(()) => Ok((json!({ "removed": true }), json!({ "branch": name, "removed_at": newest }))),
            // Best effort: the run has done what it was for.
            Err(error) => Ok((json!({ "kept": error.to_string() }), Value::Null)),
        }
    });
    Ok(match removed.await?["kept"].as_str() {
        None => end(format!("removed the branch `{branch}`")),
        Some(why) => end(format!("the branch `{branch}` stays: {why}")),
    })
}

/// The newest revision of a branch, if somebody else has gone on with it: since it was merged, or since a run made it. Whoever
/// has worked on it does not lose anything.
async fn went_on(engine: &Engine, open: &OpenProgram, branch: &str, state: &State, run: Uuid) -> Option<u64> {
    let tip = engine.tip(open, &open.timeline.head(), branch).await.ok()?;
    let newest = &tip.revision.entry;
    let merged = state.get("proposed").as_u64().filter(|_| state.get("outcome") == &json!("merged"));
    let by_others = match merged {
        Some(merged) => newest.number > merged,
        None => {
            newest.number > u64::from(tip.branch)
                && newest.origin.is_none_or(|origin| origin.run != run.into_bytes())
        }
    };
    by_others.then_some(newest.number)
}
