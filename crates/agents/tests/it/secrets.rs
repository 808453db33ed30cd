//! What nobody is told: secrets in tasks, arguments, answers of models and errors.

use std::io::Write as _;
use std::time::Duration;

use lmlang_agents::model::Models;
use lmlang_engine::{RunCursor, RunEventKind, RunsOf, Turn};
use lmlang_redact::{Config, Policy};
use serde_json::json;

use crate::world::{World, call, masked, scripted};

const PLANTED: &str = "planted-7f3a-secret";

const SCRIPT: &str = r#"
[[reply]]
role = "planner"
contains = ["remember"]
json = { goal = "keep planted-7f3a-secret", constraints = ["planted-7f3a-secret"], domain_hints = [], plan = ["keep planted-7f3a-secret"] }

[[reply]]
prompt_contains = ["keep"]
tool_calls = [{ name = "add_edge", arguments = { from = { label = "Account", key = "planted-7f3a-secret" }, type = "HAS", to = { label = "Note", key = "n" } } }]

[[reply]]
prompt_contains = ["does not exist"]
tool_calls = [{ name = "add_node", arguments = { label = "Account", key = "a", props = { note = "planted-7f3a-secret", password = "hunter2" } } }]

[[reply]]
prompt_contains = ["keep"]
tool_calls = [{ name = "ask", arguments = { question = "Is it planted-7f3a-secret?" } }]

[[reply]]
prompt_contains = ["The user says: yes, planted-7f3a-secret"]
text = "It was planted-\n7f3a: planted-7f3a-secret."
"#;

/// PUN-34, PUN-58, PUN-73, PUN-83: a planted secret, and what is called a password, are in no span and no event, whoever said them.
#[tokio::test]
async fn a_planted_secret_is_told_nowhere() {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(SCRIPT.as_bytes()).expect("it can be written");
    let world = World::new(scripted(script.path())).await;
    let config = Config { secrets: vec![PLANTED.to_owned()], ..Config::default() };
    world.engine.hide_by(Policy::new(&config).expect("it makes sense"));
    let mut events =
        world.engine.run_events(&RunsOf::All, Some(RunCursor::default())).await.expect("they are told");
    let say = |text: &str, session| Turn {
        session,
        workflow: session.is_none().then(|| "act".to_owned()),
        text: Some(text.to_owned()),
        ..Turn::default()
    };
    let first = say(&format!("remember {PLANTED}"), None);
    let first = world.engine.take_turn(&first, &call()).await.expect("it is taken");
    assert!(first.interrupt.is_some(), "{:?}", first.view);
    let second = say(&format!("yes, {PLANTED}"), Some(first.session.id));
    let second = world.engine.take_turn(&second, &call()).await.expect("it is taken");
    assert!(second.view["answer"]["text"].to_string().contains(PLANTED), "the user is told: {}", second.view);

    let spans = world.engine.span_page(&second.run, 0, 1_000).await.expect("they are read");
    let mut told = format!("{:?} {:?}", spans.items, second.session.title);
    let (mut said, mut over) = (String::new(), false);
    // What is not stored may come behind what is.
    while !over || !said.contains("It was planted-") {
        let event = tokio::time::timeout(Duration::from_secs(60), events.recv()).await.expect("it comes");
        let event = event.expect("it goes on").expect("it can be read");
        over |= event.kind == RunEventKind::Finished;
        if event.kind == RunEventKind::ModelDelta {
            said.push_str(event.text.as_deref().unwrap_or_default());
        }
        told.push_str(&format!("{event:?}\n"));
    }
    for secret in [PLANTED, "hunter2"] {
        assert!(!told.contains(secret), "{secret} is told: {told}");
    }
    assert!(told.matches("[redacted]").count() > 10, "{told}");
}

/// Answers of a planner that is told no secret: each is only for a prompt in which there is none.
const MASKED: &str = r#"
[[reply]]
role = "planner"
contains = ["remember [redacted] and password=[redacted] for me"]
json = { goal = "keep it", constraints = [], domain_hints = [], plan = ["keep it"] }

[[reply]]
prompt_contains = ["keep it"]
tool_calls = [{ name = "ask", arguments = { question = "Where?" } }]

[[reply]]
prompt_contains = ["The user says: in [redacted]"]
text = "It is kept."
"#;

/// PUN-34, PUN-58: what goes to a model has no secret in it where its settings say so. The run has what was said.
#[tokio::test]
async fn a_masked_model_is_told_no_secret() {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(MASKED.as_bytes()).expect("it can be written");
    let world = World::new(masked(script.path())).await;
    let config = Config { secrets: vec![PLANTED.to_owned()], ..Config::default() };
    world.engine.hide_by(Policy::new(&config).expect("it makes sense"));
    let task = format!("remember {PLANTED} and password=hunter2 for me");
    let first = Turn { workflow: Some("act".to_owned()), text: Some(task.clone()), ..Turn::default() };
    let first = world.engine.take_turn(&first, &call()).await.expect("it is taken");
    assert_eq!(first.interrupt.as_ref().map(|asked| asked.ask.question.as_str()), Some("Where?"));
    let second =
        Turn { session: Some(first.session.id), text: Some(format!("in {PLANTED}")), ..Turn::default() };
    let second = world.engine.take_turn(&second, &call()).await.expect("it is taken");
    assert_eq!(second.view["answer"]["text"], "It is kept.");
    assert_eq!(second.view["task"], task.as_str());
    assert!(world.models.unused().is_empty(), "{:?}", world.models.unused());

    let spans = world.engine.span_page(&second.run, 0, 1_000).await.expect("they are read").items;
    let mut models = spans.iter().filter(|span| span.kind == "model");
    assert!(models.all(|span| span.attributes["lmlang.prompt.masked"] == true), "{spans:?}");
}

/// PUN-40, PUN-98: a store keeps what it is given; what is told of it is hidden as somebody has configured.
#[tokio::test]
async fn what_is_told_of_a_store_is_hidden_as_it_is_configured() {
    for fields in [vec!["salary".to_owned()], Vec::new()] {
        let world = World::new(Models::none()).await;
        let hides = !fields.is_empty();
        let config = Config { fields, ..Config::default() };
        world.engine.hide_by(Policy::new(&config).expect("it makes sense"));
        let task = r#"AddNode Person:ada {"salary": "fourcrowns", "password": "hunter2"}; MATCH (p:Person) RETURN p.salary, p.password"#;
        let turn = Turn { workflow: Some("act".to_owned()), text: Some(task.to_owned()), ..Turn::default() };
        let done = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
        assert_eq!(done.view["answer"]["found"]["rows"], json!([["fourcrowns", "hunter2"]]), "{}", done.view);
        let spans = world.engine.span_page(&done.run, 0, 1_000).await.expect("they are read").items;
        let told = format!("{spans:?}");
        assert!(!told.contains("hunter2"), "{told}");
        assert_eq!(told.contains("fourcrowns"), !hides, "{told}");
    }
}
