//! Long conversations.

use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::interpreter;
use lmlang_agents::model::Models;
use lmlang_engine::Turn;
use serde_json::json;
use uuid::Uuid;

use crate::world::{World, call};

/// Says so much that what a turn takes over from those before it is as much as it ever is.
const WARM: usize = 20;

/// What the journals of all runs take, and what is kept of runs beside them.
async fn stored(world: &World) -> i64 {
    let bytes = async |table: &str| {
        let sum = format!(r#"SELECT CAST(COALESCE(SUM(LENGTH("payload")), 0) AS BIGINT) FROM "{table}""#);
        world.db.number(&sum).await
    };
    bytes("journal").await + bytes("run_snapshots").await
}

/// Nodes that came to their end in all runs.
async fn steps(world: &World) -> i64 {
    let stepped = r#"SELECT COUNT(*) FROM "journal" WHERE "kind" = 3"#;
    world.db.number(stepped).await
}

/// What is said in a turn: no two have much in common.
fn message(number: usize) -> String {
    let digits = blake3::hash(&number.to_le_bytes()).to_hex();
    format!("AddNode Note:n{number:04} {{\"about\": \"{digits}\"}}")
}

async fn say(world: &World, session: Option<Uuid>, number: usize) -> Uuid {
    let text = Some(message(number));
    let turn =
        Turn { session, workflow: session.is_none().then(|| "act".to_owned()), text, ..Turn::default() };
    let turned = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    assert_eq!(turned.view["outcome"], "done", "{}", turned.view);
    turned.session.id
}

/// What a turn stores is bounded by what is said and done in it, and does not grow with the turns before it.
#[tokio::test]
async fn a_conversation_stores_no_more_per_turn_the_longer_it_is() {
    let turns = if std::env::var("LMLANG_LONG").is_ok() { 1_000 } else { 60 };
    let world = World::new(Models::none()).await;
    let mut session = None;
    for number in 0..WARM {
        session = Some(say(&world, session, number).await);
    }
    let first = steps(&world).await;
    let (mut before, mut parts) = (stored(&world).await, Vec::new());
    for part in 0..2 {
        for number in 0..turns / 2 {
            say(&world, session, WARM + part * turns + number).await;
        }
        let now = stored(&world).await;
        parts.push(now - before);
        before = now;
    }
    let count = |turns: usize| i64::try_from(turns).expect("small");
    let (bytes, steps) = (parts.iter().sum::<i64>(), steps(&world).await - first);
    let said = count(message(0).len() * turns);
    println!("{} bytes a turn of {} steps", bytes / count(turns), steps / count(turns));
    assert!(bytes * 2 <= said * 3 + 400 * steps, "{bytes} bytes of {said} and {steps} steps");
    // Numbers with more digits take a little more.
    assert!(parts[1] * 100 <= parts[0] * 102, "{parts:?}");
}

/// The same of a conversation that is one run, which asks again and again.
#[tokio::test]
async fn a_run_of_many_turns_stores_no_more_than_they_say() {
    let turns = if std::env::var("LMLANG_LONG").is_ok() { 1_000 } else { 100 };
    let world = World::new(Models::none()).await;
    world.engine.interpret_by(interpreter(&world.models, GraphSource::Engine));
    let talk = json!({
        "name": "talk", "turn": "words",
        "input": { "type": "object", "required": ["words"], "properties": { "words": { "type": "string" } } },
        "channels": { "reply": {} },
        "nodes": [{
            "name": "ask", "visits": 10_000,
            "action": { "ask": {
                "kind": "need_clarification", "question": "And then?", "into": "reply", "then": "ask",
            } },
        }],
    });
    let registered = world.engine.register_flow(&talk, false, &call()).await.expect("it is answered");
    assert_eq!(registered.mistakes, []);
    let begin = Turn { workflow: Some("talk".to_owned()), text: Some(message(0)), ..Turn::default() };
    let session = world.engine.take_turn(&begin, &call()).await.expect("it is taken").session.id;
    let (before, first) = (stored(&world).await, steps(&world).await);
    for number in 0..turns {
        let turn = Turn { session: Some(session), text: Some(message(number)), ..Turn::default() };
        let turned = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
        assert!(turned.interrupt.is_some(), "{}", turned.view);
    }
    let (bytes, steps) = (stored(&world).await - before, steps(&world).await - first);
    let count = |turns: usize| i64::try_from(turns).expect("small");
    let said = count(message(0).len() * turns);
    println!("{} bytes a turn of {} steps", bytes / count(turns), steps / count(turns));
    assert_eq!(steps, count(turns));
    assert!(bytes * 2 <= said * 3 + 400 * steps, "{bytes} bytes of {said} and {steps} steps");
    assert_eq!(world.db.number(r#"SELECT COUNT(*) FROM "run_snapshots""#).await, 1);
}
