//! Callers who go away in the middle of what they have asked for.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use lmlang_engine::{AnswerOutcome, RunStatus};
use serde_json::json;

use super::{answer, fixture, open_questions, start, state, until_status};

/// Waits for a future until it was looked at so often.
async fn looked_at<F: Future>(mut times: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(move |context| match times {
        0 => Poll::Ready(None),
        _ => {
            times -= 1;
            future.as_mut().poll(context).map(Some)
        }
    })
    .await
}

/// Wherever the answer of a question is given up, the run stands as its journal says: the next answer is taken, or told who
/// has answered.
#[tokio::test]
async fn an_answer_that_is_given_up_leaves_the_run_as_it_is_stored() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let mut given_up = 0;
    for times in 0..40 {
        let run = start(engine, "long", json!({})).await.id;
        until_status(engine, run, RunStatus::Waiting).await;
        let asked = open_questions(engine).await.remove(0);
        let first = looked_at(times, answer(engine, &asked, json!({ "text": "first" }))).await;
        given_up += usize::from(first.is_none());
        let second = answer(engine, &asked, json!({ "text": "second" })).await.expect("it is told");
        let text = match second {
            AnswerOutcome::Taken(_) => "second",
            AnswerOutcome::Already(_) => "first",
            AnswerOutcome::Stale(why) | AnswerOutcome::Own(why) => panic!("after {times}: {why}"),
        };
        let done = until_status(engine, run, RunStatus::Completed).await;
        assert_eq!(state(engine, &done).await["answer"], json!({ "text": text }), "after {times}");
        if first.is_some() {
            // Looked at so often, it comes to its end: how often that is, differs.
            break;
        }
    }
    assert!(given_up > 0, "it was never given up");
}
