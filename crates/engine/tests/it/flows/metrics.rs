//! How runs go, counted.

use lmlang_engine::{Error, Metrics, MetricsWanted, RunStatus};
use lmlang_flow::Class;
use serde_json::json;

use super::{fixture, start, until_status};

/// PUN-94, and of PUN-93 that there are metrics to tune by: what was called and how often that failed, failures by class, and what models took; of runs of a flow, and of a
/// span of time.
#[tokio::test]
async fn how_runs_went_is_counted_from_their_journals() {
    let (fixture, _) = fixture().await;
    let engine = &fixture.engine;
    let nothing = engine.metrics(MetricsWanted::default()).await.expect("counted");
    assert_eq!(nothing, Metrics::default());
    for (how, status) in
        [("twice", RunStatus::Completed), ("busy", RunStatus::Completed), ("astray", RunStatus::Failed)]
    {
        let run = start(engine, "shaky", json!({ "how": how })).await.id;
        until_status(engine, run, status).await;
    }
    let long = start(engine, "long", json!({})).await;
    until_status(engine, long.id, RunStatus::Waiting).await;

    let of = |flow: &str| MetricsWanted { flow: Some(flow.to_owned()), ..MetricsWanted::default() };
    let shaky = engine.metrics(of("shaky")).await.expect("counted");
    assert_eq!((shaky.runs, shaky.truncated), (3, false));
    let tools: Vec<(&str, u64, u64)> =
        shaky.tools.iter().map(|of| (of.name.as_str(), of.calls.calls, of.calls.failed)).collect();
    assert_eq!(tools, [("door", 3, 2), ("hammer", 1, 0)]);
    assert_eq!(shaky.tools[0].calls.codes, [("BUSY".to_owned(), 2)]);
    let classes: Vec<(Class, u64, u64, u64)> =
        shaky.classes.iter().map(|of| (of.class, of.retried, of.asked, of.stopped)).collect();
    assert_eq!(classes, [(Class::New, 2, 0, 1), (Class::Random, 2, 0, 0)]);

    let asked = engine.metrics(of("long")).await.expect("counted");
    assert_eq!((asked.runs, asked.entries), (1, 50));
    assert!(asked.oldest.is_some_and(|oldest| oldest >= long.made));
    assert_eq!((asked.models[0].calls.calls, asked.models[0].input_tokens), (25, 75));
    assert_eq!(asked.models[0].nano_usd, None, "no price is known");
    let all = engine.metrics(MetricsWanted::default()).await.expect("counted");
    assert_eq!((all.runs, all.entries), (4, shaky.entries + asked.entries));

    let since = asked.oldest.map(|oldest| oldest + 3_600_000_000);
    let later = engine.metrics(MetricsWanted { since, ..MetricsWanted::default() }).await.expect("counted");
    assert_eq!((later.runs, later.entries), (1, 0), "one goes on, and has done nothing since");
    let until = Some(long.made - 3_600_000_000);
    let before = engine.metrics(MetricsWanted { until, ..MetricsWanted::default() }).await.expect("counted");
    assert_eq!(before, Metrics::default());
    let empty = MetricsWanted { since: Some(5), until: Some(5), ..MetricsWanted::default() };
    let empty = engine.metrics(empty).await.expect_err("no time at all");
    assert!(matches!(empty, Error::Argument { place, .. } if place == "since"));
    let unknown = engine.metrics(of("nope")).await.expect_err("there is none");
    assert!(matches!(unknown, Error::NotFound { what: "flow", .. }));
}
