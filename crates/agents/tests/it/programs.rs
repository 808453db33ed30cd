//! Who may do what with programs by a run, and what a run of an agent leaves in their logs.

use lmlang_agents::model::Models;
use lmlang_engine::{Call, Error, NewToken, Scope, Selector, Turn, Turned, Unnamed};
use lmlang_history::log::{Actor, ActorKind};

use crate::world::{World, call};

const CALC: &str = "module calc\n\nfunc twice (n: i64) -> (i64) pure {\n  return (mul.i64 n, 2)\n}\n";

fn by(name: &str) -> Call {
    Call::by(Actor { name: name.to_owned(), kind: ActorKind::Agent, client: None })
}

fn saying(text: &str) -> Turn {
    Turn { workflow: Some("act".to_owned()), text: Some(text.to_owned()), ..Turn::default() }
}

/// What is asked after a run that was begun by one was told to run a function by another one.
async fn told_by(world: &World, name: &str) -> Turned {
    let asked = world.engine.take_turn(&saying("make it nice"), &call()).await.expect("it is taken");
    let turn = Turn { session: Some(asked.session.id), ..saying("Run twice 21 in calc") };
    world.engine.take_turn(&turn, &by(name)).await.expect("it is taken")
}

/// Everybody who has had a say in a run must be allowed to run functions: who answers it as well as who began it.
#[tokio::test]
async fn who_answers_a_run_may_not_run_functions_by_it() {
    let world = World::new(Models::none()).await;
    world.program("calc", CALC).await;
    world.token("editor", "EDIT").await;
    world.token("runner", "EDIT,SIMULATE").await;
    let refused = told_by(&world, "editor").await;
    let question = refused.interrupt.expect("it asks").ask.question;
    assert!(question.contains("needs the scope `SIMULATE`, which `editor` lacks (FORBIDDEN)"), "{question}");
    let done = told_by(&world, "runner").await;
    assert_eq!(
        done.view["answer"]["text"], "; program calc @ r1\nreturned i64:42\n3 steps, 3 fuel",
        "{}",
        done.view
    );
    world.engine.close().await;
}

/// Who is limited to some programs begins no run that has tools, and answers none: the run itself sees all programs.
#[tokio::test]
async fn who_is_limited_to_programs_begins_and_answers_no_run() {
    let world = World::new(Models::none()).await;
    world.program("calc", CALC).await;
    world.program("other", "module other\n").await;
    let new = NewToken {
        name: "limited".to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Edit, Scope::Simulate],
        programs: Some(vec![Selector::Name("calc".to_owned())]),
        expires: None,
    };
    let (_, secret) = world.engine.create_token(new, &call().actor).await.expect("its name is free");
    let grant = world.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is let in");
    let limited = grant.engine().expect("it is limited");
    let begun = limited.take_turn(&saying("Read other"), &by("limited")).await;
    assert!(matches!(begun, Err(Error::Unsupported { .. })), "{begun:?}");
    let asked = world.engine.take_turn(&saying("make it nice"), &call()).await.expect("it is taken");
    let turn = Turn { session: Some(asked.session.id), ..saying("Read other") };
    let answered = limited.take_turn(&turn, &by("limited")).await;
    assert!(matches!(answered, Err(Error::NotFound { .. })), "{answered:?}");
    world.engine.close().await;
}
