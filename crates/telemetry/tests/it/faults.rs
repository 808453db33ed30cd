//! What becomes of spans while the collector is slow, ill or away.

use std::collections::BTreeSet;
use std::sync::mpsc as blocking;
use std::time::{Duration, Instant};

use lmlang_telemetry::{Counters, Exporter, Retry, Settings, Span, Unsent, Value};
use tokio::net::TcpListener;
use tokio::task::yield_now;
use tokio::time;

use crate::collector::{Answer, LONG, Stub, span, start, to};

/// Keeps a paused clock from going on by itself while something is on its way through the kernel.
struct Hold(#[expect(dead_code, reason = "it is held")] blocking::Sender<()>);

fn hold() -> Hold {
    let (sender, receiver) = blocking::channel::<()>();
    tokio::task::spawn_blocking(move || receiver.recv());
    Hold(sender)
}

async fn until(exporter: &Exporter, reached: impl Fn(Counters) -> bool) {
    while !reached(exporter.counters()) {
        yield_now().await;
    }
}

/// Lets whatever is ready happen.
async fn settle() {
    for _ in 0..1_000 {
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_collector_is_asked_again_when_it_says() {
    let hold = hold();
    let mut stub = Stub::start(&[Answer::Status(503, Some(30)), Answer::Ok]).await;
    let exporter = start(&Settings { batch_spans: 1, ..to(&stub) });
    exporter.record(span(1));
    let first = stub.next().await;
    until(&exporter, |counters| counters.retried == 1).await;
    // The pause begins when its timer is polled.
    settle().await;

    // Somebody who waits does not shorten what the collector wants.
    let waiting = tokio::spawn({
        let exporter = exporter.clone();
        async move { exporter.flush(LONG).await }
    });
    settle().await;
    time::advance(Duration::from_secs(29)).await;
    settle().await;
    assert!(stub.requests.is_empty());
    time::advance(Duration::from_secs(2)).await;
    let second = stub.next().await;
    assert_eq!(first.body, second.body);
    waiting.await.unwrap().unwrap();
    let expect = Counters { recorded: 1, exported: 1, retried: 1, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
    drop(hold);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_waits_shortens_the_pauses() {
    let hold = hold();
    let mut stub = Stub::start(&[Answer::Status(502, None), Answer::Status(502, None), Answer::Ok]).await;
    let retry = Retry { first: Duration::from_secs(20), longest: 2 * LONG, patience: 9 * LONG };
    let exporter = start(&Settings { batch_spans: 1, retry, ..to(&stub) });
    exporter.record(span(1));
    stub.next().await;
    until(&exporter, |counters| counters.retried == 1).await;
    settle().await;
    // The first pause has up to twice its length, the second is twice as long as the first.
    time::advance(Duration::from_secs(41)).await;
    stub.next().await;
    until(&exporter, |counters| counters.retried == 2).await;
    settle().await;
    time::advance(Duration::from_secs(25)).await;
    settle().await;
    assert!(stub.requests.is_empty());
    exporter.shutdown(LONG).await.unwrap();
    stub.next().await;
    assert_eq!(exporter.counters().exported, 1);
    drop(hold);
}

#[tokio::test]
async fn what_may_be_repeated_is() {
    let ill = [429, 502, 503, 504].map(|status| Answer::Status(status, None));
    let answers: Vec<_> = ill.into_iter().chain([Answer::Ok]).collect();
    let mut stub = Stub::start(&answers).await;
    let exporter = start(&to(&stub));
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    let expect = Counters { recorded: 1, exported: 1, retried: 4, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
    let first = stub.next().await.body;
    for _ in 0..4 {
        assert_eq!(stub.next().await.body, first);
    }
}

#[tokio::test]
async fn what_is_refused_is_not_repeated() {
    let mut stub = Stub::start(&[Answer::Status(400, None), Answer::Status(302, None), Answer::Ok]).await;
    let exporter = start(&Settings { batch_spans: 1, ..to(&stub) });
    (0..3).for_each(|number| exporter.record(span(number)));
    exporter.flush(LONG).await.unwrap();
    let expect = Counters { recorded: 3, exported: 1, failed: 2, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
    for number in 1..=3_u64 {
        assert_eq!(stub.next().await.spans()[0].span_id, number.to_be_bytes());
    }
}

#[tokio::test]
async fn spans_that_are_taken_in_part_are_counted() {
    let stub = Stub::start(&[Answer::Partial(2, "too old"), Answer::Partial(0, "a word"), Answer::Ok]).await;
    let exporter = start(&Settings { batch_spans: 3, ..to(&stub) });
    (0..6).for_each(|number| exporter.record(span(number)));
    exporter.flush(LONG).await.unwrap();
    let expect = Counters { recorded: 6, exported: 4, rejected: 2, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
}

#[tokio::test]
async fn a_collector_that_comes_late_gets_everything() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let env = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| format!("http://{address}"));
    let retry = Retry { first: Duration::from_millis(1), longest: Duration::from_millis(4), patience: LONG };
    let exporter = start(&Settings { retry, ..Settings::from_env(&env).unwrap() });
    exporter.record(span(1));
    let waiting = tokio::spawn({
        let exporter = exporter.clone();
        async move { exporter.flush(LONG).await }
    });
    // The connection ends without an answer.
    for _ in 0..3 {
        drop(listener.accept().await.unwrap());
    }
    let mut stub = Stub::on(listener, &[Answer::Ok]);
    waiting.await.unwrap().unwrap();
    assert_eq!(stub.next().await.spans().len(), 1);
    assert!(exporter.counters().retried >= 3);
    assert_eq!(exporter.counters().exported, 1);
}

#[tokio::test]
async fn spans_are_given_up_after_a_while() {
    let stub = Stub::start(&[Answer::Status(503, Some(3_600))]).await;
    let retry = Retry { patience: Duration::from_millis(20), ..to(&stub).retry };
    let exporter = start(&Settings { retry, ..to(&stub) });
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    let counters = exporter.counters();
    assert_eq!((counters.exported, counters.failed, counters.queued), (0, 1, 0));
}

#[tokio::test]
async fn a_shutdown_loses_nothing() {
    let mut stub = Stub::start(&[Answer::Status(503, None), Answer::Ok]).await;
    let exporter = start(&Settings { batch_spans: 64, ..to(&stub) });
    (0..2_000).for_each(|number| exporter.record(span(number)));
    exporter.shutdown(LONG).await.unwrap();
    exporter.shutdown(LONG).await.unwrap();
    exporter.record(span(9_999));
    let expect = Counters { recorded: 2_000, exported: 2_000, dropped: 1, retried: 1, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);

    let refused = stub.next().await;
    assert_eq!(refused.spans().len(), 64);
    let mut seen = BTreeSet::new();
    while let Ok(request) = stub.requests.try_recv() {
        for span in request.spans() {
            assert!(seen.insert(span.span_id.clone()), "{:?} came twice", span.span_id);
        }
    }
    assert_eq!(seen.len(), 2_000);
}

#[tokio::test]
async fn a_collector_that_hangs_stalls_nobody() {
    let mut stub = Stub::start(&[Answer::Never]).await;
    let exporter = start(&Settings { queue_spans: 50, batch_spans: 10, ..to(&stub) });
    let begun = Instant::now();
    for number in 0..20_000 {
        exporter.record(span(number));
        if number == 100 {
            stub.next().await;
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
    let counters = exporter.counters();
    assert_eq!((counters.recorded, counters.dropped, counters.queued), (50, 19_950, 50));

    let short = Duration::from_millis(20);
    assert_eq!(exporter.flush(short).await, Err(Unsent { spans: 50 }));
    assert_eq!(exporter.shutdown(short).await, Err(Unsent { spans: 50 }));
    let expect = Counters { recorded: 50, dropped: 20_000, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
    assert!(stub.requests.is_empty());
}

#[tokio::test]
async fn the_queue_is_bounded_in_bytes() {
    let stub = Stub::start(&[Answer::Never]).await;
    let exporter = start(&Settings { queue_bytes: 10_000, ..to(&stub) });
    let large =
        |bytes: usize| Span { attributes: vec![("a".to_owned(), Value::from("a".repeat(bytes)))], ..span(1) };
    exporter.record(large(20_000));
    (0..20).for_each(|_| exporter.record(large(1_000)));
    let counters = exporter.counters();
    assert_eq!((counters.recorded, counters.dropped), (9, 12));
}

#[tokio::test]
async fn a_collector_that_does_not_answer_is_asked_again() {
    let stub = Stub::start(&[Answer::Never, Answer::Ok]).await;
    let exporter = start(&Settings { timeout: Duration::from_millis(20), ..to(&stub) });
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    assert_eq!((exporter.counters().exported, exporter.counters().retried), (1, 1));
}
