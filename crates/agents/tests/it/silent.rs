//! A model that says nothing: that is no answer, and is not remembered as one.

use std::io::Write as _;

use lmlang_engine::Turn;
use lmlang_flow::AskKind;

use crate::world::{World, call, scripted};

const SCRIPT: &str = r#"
[[reply]]
role = "planner"
contains = ["say it"]
json = { goal = "Say it", constraints = [], domain_hints = [], plan = ["say it"] }

[[reply]]
times = 3
text = ""

[[reply]]
tool_calls = [{ name = "answer", arguments = { text = "It is said." } }]
"#;

/// Three answers were empty; whoever has the node tried again has the model asked again, in the same words.
#[tokio::test]
async fn an_empty_answer_is_asked_for_again() {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(SCRIPT.as_bytes()).expect("it can be written");
    let world = World::new(scripted(script.path())).await;
    let turn = Turn { workflow: Some("act".to_owned()), text: Some("say it".to_owned()), ..Turn::default() };
    let asked = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    let question = asked.interrupt.expect("it asks").ask;
    assert_eq!(question.kind, AskKind::Escalation);
    assert!(question.question.contains("(MODEL_SAYS_NOTHING)"), "{}", question.question);
    let retry = Turn { session: Some(asked.session.id), choice: Some("retry".to_owned()), ..Turn::default() };
    let done = world.engine.take_turn(&retry, &call()).await.expect("it is taken");
    assert_eq!(done.view["answer"]["text"], "It is said.", "{}", done.view);
    world.engine.close().await;
}
