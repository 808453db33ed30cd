//! What takes the processor for long has its turn.

use std::sync::mpsc;

use futures_util::{FutureExt, poll};
use lmlang_engine::Selector;
use lmlang_graphql::schema::diff::ProgramDiff;
use lmlang_graphql::schema::view::View;

use crate::world::{World, soon};

#[tokio::test]
async fn a_difference_waits_for_its_turn_unless_nobody_waits_for_it() {
    let world = World::new().await;
    let open = world.engine.find(&Selector::Name("world".to_owned())).await.expect("it is there");
    let view = async |number| {
        let revision = world.engine.state(&open, number).await.expect("it can be read");
        View::pinned(&world.engine, open.clone(), revision.expect("it is there"))
    };
    let (from, to) = (view(1).await, view(2).await);
    // Something takes each processor until it is told to end.
    let (started, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let mut ends = Vec::new();
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    for _ in 0..processors {
        let (end, ended) = mpsc::channel::<()>();
        let (engine, started) = (world.engine.clone(), started.clone());
        let work = move || {
            started.send(()).expect("the test waits for it");
            // It is told by the end of the channel.
            ended.recv().unwrap_err();
        };
        tokio::spawn(async move { engine.compute(work).await.expect("the engine runs") });
        soon(begun.recv()).await.expect("it begins");
        ends.push(end);
    }
    let mut waiting = ProgramDiff::new(from.clone(), to.clone()).boxed();
    let mut gone = ProgramDiff::new(from, to).boxed();
    assert!(poll!(&mut gone).is_pending());
    assert!(poll!(&mut waiting).is_pending());
    drop(gone);
    ends.pop();
    soon(waiting).await;
}
