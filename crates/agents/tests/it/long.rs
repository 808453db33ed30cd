//! Long conversations.

use lmlang_agents::model::Models;
use lmlang_engine::Turn;
use uuid::Uuid;

use crate::world::{World, call};

/// Says so much that what a turn takes over from those before it is as much as it ever is.
const WARM: usize = 20;

/// What the journals of all runs take.
async fn stored(world: &World) -> i64 {
    world.db.number(r#"SELECT CAST(SUM(LENGTH("payload")) AS BIGINT) FROM "journal""#).await
}

async fn say(world: &World, session: Option<Uuid>, number: usize) -> Uuid {
    let text = Some(format!("AddNode Note:n{number:04} {{\"about\": \"{}\"}}", "words ".repeat(20)));
    let turn =
        Turn { session, workflow: session.is_none().then(|| "act".to_owned()), text, ..Turn::default() };
    let turned = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    assert_eq!(turned.view["outcome"], "done", "{}", turned.view);
    turned.session.id
}

/// What a turn stores does not grow with the turns before it.
#[tokio::test]
async fn a_conversation_stores_no_more_per_turn_the_longer_it_is() {
    let turns = if std::env::var("LMLANG_LONG").is_ok() { 1_000 } else { 60 };
    let world = World::new(Models::none()).await;
    let mut session = None;
    for number in 0..WARM {
        session = Some(say(&world, session, number).await);
    }
    let (mut before, mut parts) = (stored(&world).await, Vec::new());
    for part in 0..2 {
        for number in 0..turns / 2 {
            say(&world, session, WARM + part * turns + number).await;
        }
        let now = stored(&world).await;
        parts.push(now - before);
        before = now;
    }
    println!("{} bytes a turn", parts[1] / i64::try_from(turns / 2).expect("small"));
    // Numbers with more digits take a little more.
    assert!(parts[1] * 100 <= parts[0] * 102, "{parts:?}");
}
