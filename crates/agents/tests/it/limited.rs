//! Conversations of callers who are limited to some programs.

use std::time::Duration;

use lmlang_agents::model::Models;
use lmlang_engine::{Engine, Error, NewToken, Scope, Selector, Turn, Unnamed};
use lmlang_flow::AskKind;
use lmlang_history::log::ActorKind;
use serde_json::json;

use crate::world::{World, call};

/// The engine as somebody sees it who is limited to a program.
async fn limited(world: &World, program: &str) -> Engine {
    let new = NewToken {
        name: format!("for {program}"),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Edit],
        programs: Some(vec![Selector::Name(program.to_owned())]),
        expires: None,
    };
    let (_, secret) = world.engine.create_token(new, &call().actor).await.expect("its name is free");
    let grant = world.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    grant.engine().expect("it is limited").clone()
}

fn function(name: &str) -> Option<String> {
    Some(format!("pub func {name} () -> (i64) pure {{\n  return 1\n}}"))
}

/// A turn that begins a conversation about a program.
fn about(program: &str) -> Turn {
    let options = json!({ "program": program }).as_object().cloned().unwrap_or_default();
    Turn { workflow: Some("edit".to_owned()), text: function("one"), options, ..Turn::default() }
}

#[tokio::test]
async fn a_limited_caller_talks_about_its_programs_alone() {
    let world = World::new(Models::none()).await;
    for name in ["mine", "other"] {
        world.program(name, &format!("module {name}\n")).await;
    }
    let engine = limited(&world, "mine").await;
    let asked = engine.take_turn(&about("mine"), &call()).await.expect("it is taken");
    assert_eq!(asked.interrupt.as_ref().map(|of| of.ask.kind), Some(AskKind::NeedConfirm));
    let yes = Turn { session: Some(asked.session.id), confirm: Some(true), ..Turn::default() };
    let merged = engine.take_turn(&yes, &call()).await.expect("it is taken");
    assert_eq!((merged.session.id, merged.run.id), (asked.session.id, asked.run.id));
    assert_eq!(merged.view["outcome"], "merged", "{}", merged.view);
    let again = Turn { session: Some(asked.session.id), text: function("two"), ..Turn::default() };
    let again = engine.take_turn(&again, &call()).await.expect("it is taken");
    assert_eq!((&again.view["program"], again.session.id), (&json!("mine"), asked.session.id));

    let unknown = engine.take_turn(&about("other"), &call()).await.expect_err("it knows of none");
    assert!(matches!(unknown, Error::NotFound { what: "program", .. }), "{unknown}");
    let theirs = world.engine.take_turn(&about("other"), &call()).await.expect("it is taken");
    let foreign = Turn { session: Some(theirs.session.id), ..yes };
    let foreign = engine.take_turn(&foreign, &call()).await.expect_err("it knows of none");
    assert!(matches!(foreign, Error::NotFound { what: "session", .. }), "{foreign}");
    let task =
        Turn { workflow: Some("act".to_owned()), text: Some("AddNode A:b".to_owned()), ..Turn::default() };
    let refused = engine.take_turn(&task, &call()).await.expect_err("entities belong to no program");
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
}

/// The session of such a caller begins with its first run, and keeps the time that was said then.
#[tokio::test]
async fn a_session_of_a_limited_caller_gives_its_runs_their_time() {
    let world = World::new(Models::none()).await;
    world.program("mine", "module mine\n").await;
    let engine = limited(&world, "mine").await;
    let (hour, two) = (Duration::from_secs(3_600), Duration::from_secs(7_200));
    let first = Turn { session_deadline: Some(hour), deadline: Some(two), ..about("mine") };
    let first = engine.take_turn(&first, &call()).await.expect("it is taken");
    assert_eq!(first.session.deadline, Some(hour));
    assert_eq!(first.run.deadline, Some(first.run.made + 7_200_000_000));
    let session = Some(first.session.id);
    let no = Turn { session, confirm: Some(false), ..Turn::default() };
    engine.take_turn(&no, &call()).await.expect("it is taken");
    let next = Turn { session, text: function("two"), ..Turn::default() };
    let next = engine.take_turn(&next, &call()).await.expect("it is taken");
    assert_eq!(next.run.deadline, Some(next.run.made + 3_600_000_000));
    let other = Turn { session, session_deadline: Some(two), ..Turn::default() };
    let other = engine.take_turn(&other, &call()).await.expect_err("it was said");
    assert!(matches!(other, Error::Argument { place, .. } if place == "input.sessionDeadlineMs"));
}

/// What was said in a session about other programs is not told when it goes on with one that the caller knows.
#[tokio::test]
async fn a_limited_caller_takes_over_nothing_of_other_programs() {
    let world = World::new(Models::none()).await;
    for name in ["mine", "other"] {
        world.program(name, &format!("module {name}\n")).await;
    }
    let first = world.engine.take_turn(&about("mine"), &call()).await.expect("it is taken");
    let session = Some(first.session.id);
    let no = Turn { session, confirm: Some(false), ..Turn::default() };
    world.engine.take_turn(&no, &call()).await.expect("it is taken");
    let other = Turn { session, text: function("hidden"), ..about("other") };
    world.engine.take_turn(&other, &call()).await.expect("it is taken");
    world.engine.take_turn(&no, &call()).await.expect("it is taken");

    let engine = limited(&world, "mine").await;
    let next = Turn { session, text: function("two"), ..Turn::default() };
    let next = engine.take_turn(&next, &call()).await.expect("it is taken");
    assert_eq!(next.view["program"], "mine");
    assert!(!next.view.to_string().contains("hidden"), "{}", next.view);
}
