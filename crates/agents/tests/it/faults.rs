//! A Manager that says nothing of what it is asked: for a while, or until somebody has seen to it.

use std::sync::Arc;
use std::time::Duration;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::model::Models;
use lmlang_engine::{RunStatus, Turn, Turned};
use lmlang_flow::AskKind;
use uuid::Uuid;

use crate::manager::Manager;
use crate::world::{World, call};

/// How requests of three nodes begin.
const REQUESTS: [&str; 3] = ["GET /streams", "POST /pipelines", "GET /pipelines/"];

async fn drafting() -> (World, Manager) {
    let manager = Manager::start().await;
    let target = ManagerSource::Given(Arc::new(manager.target()));
    (World::with_manager(Models::none(), target).await, manager)
}

/// A draft in a session of its own.
async fn draft(world: &World) -> Turned {
    let turn = Turn {
        workflow: Some("draft".to_owned()),
        text: Some("SELECT id FROM orders".to_owned()),
        ..Turn::default()
    };
    world.engine.take_turn(&turn, &call()).await.expect("it is taken")
}

async fn retry(world: &World, session: Uuid) -> Turned {
    let turn = Turn { session: Some(session), choice: Some("retry".to_owned()), ..Turn::default() };
    world.engine.take_turn(&turn, &call()).await.expect("it is taken")
}

/// Checks that something is asked, in these words.
fn check_asks(turned: &Turned, kind: AskKind, words: &[&str]) {
    let asked = &turned.interrupt.as_ref().expect("it asks").ask;
    let fits = asked.kind == kind && words.iter().all(|words| asked.question.contains(*words));
    assert!(fits, "{words:?}: {} {}", asked.kind.name(), asked.question);
}

fn check_drafted(turned: &Turned) {
    check_asks(turned, AskKind::NeedConfirm, &["SELECT id FROM orders", "Source orders"]);
}

/// How often the Manager was asked so since the last time.
fn asked(manager: &Manager, request: &str) -> usize {
    let is_it = |asked: &&String| asked.starts_with(request) && !asked.contains("/describe/");
    manager.log().iter().filter(is_it).count()
}

/// What may go away by itself is waited for as long as the Manager says, by each node.
#[tokio::test]
async fn a_manager_that_is_busy_is_asked_again() {
    let (world, manager) = drafting().await;
    for request in REQUESTS {
        for status in [408, 429, 503] {
            manager.order(request, status, "later");
            check_drafted(&draft(&world).await);
            assert_eq!(asked(&manager, request), 2, "{request} {status}");
        }
    }
    assert!(manager.pipelines().is_empty());
}

/// Whoever has waited in vain is asked, and `retry` asks the Manager anew.
#[tokio::test]
async fn a_manager_that_stays_busy_is_put_to_a_person() {
    let (world, manager) = drafting().await;
    for request in REQUESTS {
        (0..6).for_each(|_| manager.order(request, 429, "later"));
        let busy = draft(&world).await;
        let told = format!("the Manager answers 429 to `{request}");
        let waited = "failed 6 times, although it was waited for";
        check_asks(&busy, AskKind::Escalation, &[waited, &told, "`: later (MANAGER_FAILED)"]);
        assert_eq!(asked(&manager, request), 6, "{request}");
        manager.order(request, 429, "later");
        check_drafted(&retry(&world, busy.session.id).await);
        assert_eq!(asked(&manager, request), 2, "{request}");
    }
    assert!(manager.pipelines().is_empty());
}

/// A lost permission and another address are no mistakes of the SQL: they are told with status and words, and
/// `retry` asks the Manager anew.
#[tokio::test]
async fn a_manager_that_refuses_is_told_from_wrong_sql() {
    let (world, manager) = drafting().await;
    for request in REQUESTS {
        for status in [401, 403, 302] {
            manager.order(request, status, "sorry");
            check_drafted(&draft(&world).await);
            assert_eq!(asked(&manager, request), 2, "{request} {status}");

            (0..2).for_each(|_| manager.order(request, status, "sorry"));
            let refused = draft(&world).await;
            let told = format!("the Manager answers {status} to `{request}");
            let tried = "failed 2 times, each time alike";
            check_asks(&refused, AskKind::Escalation, &[tried, &told, "`: sorry (MANAGER_REFUSED)"]);
            assert_eq!(asked(&manager, request), 2, "{request} {status}");
            check_drafted(&retry(&world, refused.session.id).await);
            assert_eq!(asked(&manager, request), 1, "{request} {status}");
        }
    }
    assert!(manager.pipelines().is_empty());
}

/// What the Manager has made for a draft alone goes with it, when somebody gives it up.
#[tokio::test]
async fn a_draft_that_is_given_up_leaves_no_pipeline() {
    let (world, manager) = drafting().await;
    let explained = REQUESTS[2];
    (0..2).for_each(|_| manager.order(explained, 401, "sorry"));
    let refused = draft(&world).await;
    check_asks(&refused, AskKind::Escalation, &["(MANAGER_REFUSED)"]);
    assert_eq!(manager.pipelines().len(), 1);
    let stop = Turn { session: Some(refused.session.id), choice: Some("stop".to_owned()), ..Turn::default() };
    let stopped = world.engine.take_turn(&stop, &call()).await.expect("it is taken");
    assert_eq!(stopped.run.status, RunStatus::Failed);
    let gone = async {
        while !manager.pipelines().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("it is taken away");

    (0..2).for_each(|_| manager.order(explained, 401, "sorry"));
    let refused = draft(&world).await;
    assert_eq!(manager.pipelines().len(), 1);
    world.engine.cancel_run(refused.run.id, None, &call()).await.expect("it is stopped");
    assert!(manager.pipelines().is_empty());
}
