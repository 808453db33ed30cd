//! What a Manager stores.

use lmlang_streams::manager::{Manager, Record, RecordKind, Request};
use lmlang_streams::simulate::SimulateCode;
use lmlang_streams::{Bounds, Column, Options, PipelineRequest, Sample, Stream, check, explain, simulate};
use serde_json::json;

/// A Manager of the records of another one is the same, and records go through JSON unchanged.
#[test]
fn a_manager_is_its_records() {
    let mut manager = Manager::new();
    let body = |sql: &str| json!({"id": "p", "sql": sql, "sinks": [{"type": "log"}]});
    let described = super::readings();
    let stream = json!({"name": "readings", "type": "mqtt", "schema": described["spec"]["schema"],
        "eventtime": described["spec"]["eventtime"]});
    let requests = [
        Request::CreateStream(stream),
        Request::CreatePipeline(body("SELECT temp FROM readings")),
        Request::StartPipeline("p".to_owned()),
        Request::StopPipeline("p".to_owned()),
        Request::ReplacePipeline("p".to_owned(), body("SELECT level FROM readings")),
    ];
    for request in &requests {
        // Deciding changes nothing.
        let before = manager.clone();
        manager.answer(request).unwrap();
        assert_eq!(manager, before);
        manager.handle(request).unwrap();
        let text = serde_json::to_string(&manager.records()).unwrap();
        assert_eq!(Manager::from_records(serde_json::from_str::<Vec<_>>(&text).unwrap()).unwrap(), manager);
    }
    assert_eq!(manager.pipeline("p").unwrap().version, 2);
}

/// What is passed on is stored as it is, and can be read again: what is nested too deep for that, or too long, is refused.
#[test]
fn what_is_stored_can_be_read_again() {
    let stream = |decoder: serde_json::Value| {
        let schema = json!({"columns": [{"name": "id", "data_type": "bigint"}]});
        Request::CreateStream(json!({"name": "s", "type": "mqtt", "schema": schema, "decoder": decoder}))
    };
    let nested = |depth| (0..depth).fold(json!(1), |inside, _| json!([inside]));
    for (decoder, fits) in [
        (nested(60), true),
        (nested(64), false),
        (json!("x".repeat(60_000)), true),
        (json!("x".repeat(70_000)), false),
    ] {
        let mut manager = Manager::new();
        assert_eq!(manager.handle(&stream(decoder)).is_ok(), fits);
        let text = serde_json::to_string(&manager.records()).unwrap();
        assert_eq!(Manager::from_records(serde_json::from_str::<Vec<_>>(&text).unwrap()).unwrap(), manager);
    }
}

/// NL-08: a described stream goes through JSON unchanged, and a list shows the same columns.
#[test]
fn streams_keep_their_shape() {
    let stream = Stream::from_json(&super::readings()).unwrap();
    let mut json = serde_json::to_value(&stream).unwrap();
    assert_eq!(Stream::from_json(&json).unwrap(), stream);
    assert_eq!(json["spec"]["schema"], super::readings()["spec"]["schema"]);
    let summary = super::catalog().summaries();
    assert_eq!(serde_json::to_value(&summary[0]).unwrap()["schema"], super::readings()["spec"]["schema"]);
    json["spec"]["more"] = json!(1);
    assert_eq!(Stream::from_json(&json).unwrap_err().path, "spec.more");
}

/// A request for a pipeline goes through JSON unchanged; options may be left out.
#[test]
fn requests_keep_their_shape() {
    let json = json!({"id": "p", "sql": "SELECT 1 FROM s", "sources": [{"stream": "s"}], "sinks": [{"type": "log"}],
        "options": {"data_channel_capacity": 16, "eventtime": {"enabled": false, "late_tolerance_ms": 0}}});
    let request: PipelineRequest = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&request).unwrap(), json);
    let short = json!({"id": "p", "sql": "SELECT 1 FROM s", "sources": [{"stream": "s"}], "sinks": [{"type": "log"}]});
    assert_eq!(serde_json::from_value::<PipelineRequest>(short).unwrap(), request);
}

/// Errors of data types name the place.
#[test]
fn columns_name_what_is_wrong() {
    let wrong = json!({"name": "a", "data_type": "struct", "fields": [{"name": "b", "data_type": "array",
        "element": {"data_type": "number"}}]});
    let error = serde_json::from_value::<Column>(wrong).unwrap_err();
    assert!(
        error.to_string().starts_with("fields[0].element.data_type: `number` is no data type"),
        "{error}"
    );
}

/// NL-21, NL-35: the request of a plan, with an id that somebody has to give.
#[test]
fn a_plan_has_its_request() {
    let sql = "SELECT temp FROM readings";
    let planned = check(sql, &super::catalog()).unwrap();
    let sinks = vec![json!({"type": "mqtt", "topic": "out"})];
    let request = explain::pipeline_request(&planned, explain::REPLACE_ME, sinks, Options::default());
    let expected = json!({
        "id": "REPLACE_ME", "sql": sql, "sources": [{"stream": "readings"}], "sinks": [{"type": "mqtt", "topic": "out"}],
        "options": {"data_channel_capacity": 16, "eventtime": {"enabled": false, "late_tolerance_ms": 0}},
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), expected);
    // A Manager takes it once it has an id.
    let mut body = expected;
    body["id"] = json!("p");
    let record = Record { kind: RecordKind::Stream, name: "readings".to_owned(), value: super::readings() };
    let mut manager = Manager::from_records([record]).unwrap();
    assert_eq!(manager.handle(&Request::CreatePipeline(body)).unwrap().status, 201);
}

/// A simulation ends where its bounds are met.
#[test]
fn simulations_are_bounded() {
    let planned =
        check("SELECT count(*) FROM readings GROUP BY slidingwindow('dd', 1)", &super::catalog()).unwrap();
    let rows = |count: i64| -> Sample {
        let rows: Vec<_> = (0..count).map(|at| json!({"at_ms": at, "row": {}})).collect();
        serde_json::from_value(json!({ "rows": rows })).unwrap()
    };
    let code = |sample: &Sample, bounds: Bounds| simulate(&planned, sample, &bounds).unwrap_err()[0].code;
    assert_eq!(code(&rows(2_000), Bounds { fuel: 1_000_000, ..Bounds::default() }), SimulateCode::Limit);
    assert_eq!(code(&rows(10), Bounds { rows: 9, ..Bounds::default() }), SimulateCode::TooManyRows);
    assert_eq!(code(&rows(100_001), Bounds::default()), SimulateCode::TooManyRows);
    assert_eq!(simulate(&planned, &rows(10), &Bounds::default()).unwrap().rows.len(), 10);
}

/// Every code of a simulation has a name of its own.
#[test]
fn codes_differ() {
    let names: std::collections::BTreeSet<_> = SimulateCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), SimulateCode::ALL.len());
}
