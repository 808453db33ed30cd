use std::sync::Arc;
use std::time::Duration;

use async_graphql::{
    Context, Enum, InputObject, Json, Object, Result, Schema, SimpleObject, Subscription, ValidationMode,
};
use futures_util::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::*;
use crate::error::{ApiError, Code};

struct Query;
struct Mutation;
struct Events;

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum Colour {
    Red,
    Green,
}

#[derive(InputObject)]
struct Paint {
    colour: Colour,
    coats: Option<i32>,
}

#[derive(SimpleObject)]
struct Item {
    name: &'static str,
}

#[derive(SimpleObject)]
struct ItemConnection {
    nodes: Vec<Item>,
}

#[derive(InputObject)]
struct Around {
    #[graphql(default = 200)]
    max_nodes: i32,
}

#[derive(SimpleObject)]
struct Graph {
    nodes: Vec<Item>,
}

#[Object]
impl Query {
    async fn hello(&self) -> &'static str {
        "world"
    }
    async fn me(&self) -> Query {
        Query
    }
    async fn all(&self) -> Vec<Query> {
        vec![Query, Query]
    }
    async fn items(&self, #[graphql(default = 20)] first: i32) -> Option<ItemConnection> {
        (first >= 0).then(|| ItemConnection { nodes: vec![Item { name: "a" }] })
    }
    async fn around(&self, input: Around) -> Option<Graph> {
        (input.max_nodes > 0).then(|| Graph { nodes: Vec::new() })
    }
    async fn part(&self, #[graphql(default = 200)] max_nodes: i32) -> Option<Graph> {
        (max_nodes > 0).then(|| Graph { nodes: Vec::new() })
    }
    async fn missing(&self) -> Option<Result<i32>> {
        let error = ApiError::new(Code::NotFound, "no program is named `x`");
        Some(Err(error.data(json!({"given": "x"})).into()))
    }
    async fn leaks(&self) -> Option<Result<i32>> {
        Some("secret".parse().map_err(Into::into))
    }
    async fn whispers(&self) -> Option<Result<i32>> {
        Some(Err(async_graphql::Error::new("secret")))
    }
    async fn panics(&self) -> Option<i32> {
        explode()
    }
    async fn hangs(&self) -> Option<i32> {
        std::future::pending().await
    }
    async fn paint(&self, paint: Paint) -> i32 {
        paint.coats.unwrap_or(i32::from(paint.colour == Colour::Green))
    }
    async fn scores(&self, of: Vec<i32>) -> usize {
        of.len()
    }
    async fn echo(&self, value: Json<Value>) -> Json<Value> {
        value
    }
}

#[Object]
impl Mutation {
    async fn wait(&self, context: &Context<'_>) -> Result<bool> {
        context.data::<Arc<Notify>>()?.notified().await;
        Ok(true)
    }
    async fn count(&self, context: &Context<'_>) -> Result<i32> {
        let counted = context.data::<watch::Sender<i32>>()?;
        counted.send_modify(|count| *count += 1);
        Ok(*counted.borrow())
    }
    async fn add(&self, context: &Context<'_>, to: i32) -> i32 {
        to + context.data_opt::<i32>().unwrap_or(&1)
    }
}

#[Subscription]
impl Events {
    async fn count(&self, to: i32) -> impl Stream<Item = i32> {
        stream::iter(0..to)
    }
    async fn breaks(&self) -> impl Stream<Item = Option<i32>> {
        stream::iter(0..2).map(|at| if at == 0 { Some(at) } else { explode() })
    }
}

/// Panics without the hook's noise.
fn explode() -> Option<i32> {
    std::panic::resume_unwind(Box::new("secret"))
}

fn executor(limits: Limits) -> Executor {
    Executor::new(Schema::new(Query, Mutation, Events), limits)
}

fn id() -> RequestId {
    RequestId("test".into())
}

fn params(query: &str, variables: Value) -> Params {
    serde_json::from_value(json!({"query": query, "variables": variables}))
        .expect("parameters are well-formed")
}

async fn answers(executor: &Executor, params: Params) -> (Vec<Value>, Outcome) {
    let answers = match executor.prepare(params, id(), &Caller::anonymous()) {
        Ok(prepared) => executor.stream(prepared).collect().await,
        Err(answer) => vec![answer],
    };
    let outcome = answers.last().expect("there is an answer").outcome();
    let json = answers.iter().map(|answer| serde_json::to_value(answer).expect("answers are JSON"));
    (json.collect(), outcome)
}

async fn check_data(query: &str, variables: Value, data: Value) {
    let (answers, outcome) = answers(&executor(Limits::default()), params(query, variables)).await;
    assert_eq!(answers, [json!({ "data": data })], "{query}");
    assert_eq!(outcome, Outcome::Executed);
}

/// Checks the only error of the only answer, and that a refused request shows no data.
async fn check_error(limits: Limits, params: Params, code: Code, message: &str, data: Value) {
    let shown = params.query.clone();
    let (answers, outcome) = answers(&executor(limits), params).await;
    let [answer] = &answers[..] else { panic!("{shown}: one answer, not {answers:?}") };
    let mut extensions = json!({"code": code.as_str(), "retriable": code.retriable(), "requestId": "test"});
    if !data.is_null() {
        extensions["data"] = data;
    }
    assert_eq!(answer["errors"][0]["message"], message, "{shown}");
    assert_eq!(answer["errors"][0]["extensions"], extensions, "{shown}");
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(answer.get("data").is_none(), outcome == Outcome::Refused(code), "{shown}: {answer}");
}

async fn check_limit(query: &str, which: &str, limit: u64, actual: u64) {
    let message = format!("`{which}` is limited to {limit}, found {actual}");
    let data = json!({"which": which, "limit": limit, "actual": actual});
    let limits = Limits::default();
    check_error(limits, params(query, json!({})), Code::LimitExceeded, &message, data).await;
}

async fn check_complexity(query: &str, actual: u64, field: &str) {
    let limit = Limits::default().complexity;
    let message = format!("`complexity` is limited to {limit}, found {actual}: most of it below `{field}`");
    let data = json!({"which": "complexity", "limit": limit, "actual": actual, "field": field});
    check_error(Limits::default(), params(query, json!({})), Code::LimitExceeded, &message, data).await;
}

#[tokio::test]
async fn operations_of_every_kind_run() {
    check_data("{ hello me { hello } }", json!({}), json!({"hello": "world", "me": {"hello": "world"}}))
        .await;
    check_data("mutation($to: Int!) { add(to: $to) }", json!({"to": 2}), json!({"add": 3})).await;
    let (answers, _) =
        answers(&executor(Limits::default()), params("subscription { count(to: 2) }", json!({}))).await;
    assert_eq!(answers, [json!({"data": {"count": 0}}), json!({"data": {"count": 1}})]);
}

#[tokio::test]
async fn a_valid_document_is_validated_again_only_for_doubtful_variables() {
    let lenient =
        Schema::build(Query, Mutation, Events).validation_mode(ValidationMode::Fast).data(100).finish();
    let executor = Executor::with_lenient(Schema::new(Query, Mutation, Events), lenient, Limits::default());
    let document = "mutation($to: Int!) { add(to: $to) }";
    let ask = async |to: Value| answers(&executor, params(document, json!({ "to": to }))).await;
    let refused = ask(json!("two")).await;
    assert_eq!(refused.1, Outcome::Refused(Code::BadRequest));
    assert_eq!(ask(json!(2)).await.0, [json!({"data": {"add": 3}})]);
    // The other schema says so by another sum.
    assert_eq!(ask(json!(2)).await.0, [json!({"data": {"add": 102}})]);
    assert_eq!(ask(json!("two")).await, refused, "as when the document was new");
    assert_eq!(ask(Value::Null).await.1, Outcome::Refused(Code::BadRequest));
}

#[tokio::test]
async fn a_failing_field_keeps_its_siblings_and_its_code() {
    let (answers, outcome) =
        answers(&executor(Limits::default()), params("{ hello missing }", json!({}))).await;
    assert_eq!(answers[0]["data"], json!({"hello": "world", "missing": null}));
    assert_eq!(answers[0]["errors"][0]["path"], json!(["missing"]));
    let extensions =
        json!({"code": "NOT_FOUND", "retriable": false, "requestId": "test", "data": {"given": "x"}});
    assert_eq!(answers[0]["errors"][0]["extensions"], extensions);
    assert_eq!(outcome, Outcome::Executed);
}

#[tokio::test]
async fn internal_messages_do_not_leave() {
    for query in ["{ hello leaks }", "{ hello whispers }", "{ hello panics }"] {
        let limits = Limits::default();
        check_error(limits, params(query, json!({})), Code::Internal, "internal error", Value::Null).await;
    }
    let (answers, outcome) =
        answers(&executor(Limits::default()), params("subscription { breaks }", json!({}))).await;
    assert_eq!(answers[0], json!({"data": {"breaks": 0}}));
    assert_eq!(answers[1]["errors"][0]["message"], "internal error");
    assert_eq!(answers.len(), 2);
    assert_eq!(outcome, Outcome::Refused(Code::Internal));
}

#[tokio::test]
async fn input_that_does_not_fit_says_where_and_what_is_known() {
    async fn check(query: &str, variables: Value, data: Value) {
        let (answers, outcome) = answers(&executor(Limits::default()), params(query, variables)).await;
        assert_eq!(answers[0]["errors"][0]["extensions"]["data"], data, "{query}: {answers:?}");
        assert_eq!(outcome, Outcome::Refused(Code::BadRequest));
    }
    let colours = json!({"path": "paint.colour", "known": ["RED", "GREEN"], "candidates": []});
    check("{ paint(paint: {colour: BLUE}) }", json!({}), colours.clone()).await;
    let query = "query($p: Paint!) { paint(paint: $p) }";
    check(query, json!({"p": {"colour": "BLUE"}}), colours).await;
    let near = json!({"path": "paint.colour", "known": ["RED", "GREEN"], "candidates": ["GREEN"]});
    check(query, json!({"p": {"colour": "GREN"}}), near).await;
    let fields = json!({"path": "paint", "known": ["colour", "coats"], "candidates": []});
    check(query, json!({"p": {"colour": "RED", "layers": 1}}), fields).await;
    let near = json!({"path": "paint", "known": ["colour", "coats"], "candidates": ["coats"]});
    check(query, json!({"p": {"colour": "RED", "coat": 1}}), near).await;
    check(query, json!({"p": {"colour": "RED", "coats": "x"}}), json!({"path": "paint.coats"})).await;
    let default = json!({"path": "c", "known": ["RED", "GREEN"], "candidates": ["GREEN"]});
    check("query($c: Colour = GREN) { paint(paint: {colour: $c}) }", json!({}), default).await;
    let query = "query($of: [Int!]!) { scores(of: $of) }";
    check(query, json!({"of": [1, "x"]}), json!({"path": "of[1]"})).await;
}

/// The library would find these at the field, and its siblings would be lost with it.
#[tokio::test]
async fn input_that_does_not_fit_is_found_before_anything_runs() {
    async fn check(query: &str, variables: Value, message: &str, path: &str) {
        let data = json!({ "path": path });
        check_error(Limits::default(), params(query, variables), Code::BadRequest, message, data).await;
    }
    let int = |path: &str| format!("Invalid value for argument \"{path}\", expected type \"Int\"");
    let query = "{ hello paint(paint: {colour: RED, coats: 2147483648}) }";
    check(query, json!({}), &int("paint.coats"), "paint.coats").await;
    let query = "{ ...F } fragment F on Query { me { ... { scores(of: [1, -2147483649]) } } }";
    check(query, json!({}), &int("of[1]"), "of[1]").await;
    let query = "query($p: Paint!, $of: [Int!]!) { hello paint(paint: $p) scores(of: $of) }";
    let variables = json!({"p": {"colour": "RED", "coats": 3_000_000_000_i64}, "of": []});
    check(query, variables, &int("p.coats"), "p.coats").await;
    let variables = json!({"p": {"colour": "RED"}, "of": 3_000_000_000_i64});
    check(query, variables, &int("of"), "of").await;
    let missing = "variable `$of` of type `[Int!]!` is not given";
    check(query, json!({"p": {"colour": "RED"}}), missing, "of").await;
    check(query, json!({"p": {"colour": "RED"}, "of": null}), missing, "of").await;
    let fits = json!({"p": {"colour": "RED", "coats": -2_147_483_648}, "of": 2_147_483_647});
    check_data(query, fits, json!({"hello": "world", "paint": -2_147_483_648, "scores": 1})).await;
}

#[tokio::test]
async fn a_variable_that_is_not_given_counts_as_missing() {
    let items = json!({"nodes": [{"name": "a"}]});
    let query = "query($n: Int) { items(first: $n) { nodes { name } } }";
    check_data(query, json!({}), json!({ "items": items })).await;
    let query = "query($n: Int) { me { ...F } } fragment F on Query { items(first: $n) { nodes { name } } }";
    check_data(query, json!({}), json!({"me": {"items": items}})).await;
    let query = "query($c: Int) { paint(paint: {colour: GREEN, coats: $c}) }";
    check_data(query, json!({}), json!({"paint": 1})).await;
    let query = "query($a: Int, $b: Int = 2) { scores(of: [1, $b]) paint(paint: {colour: RED, coats: $a}) }";
    check_data(query, json!({"a": 3}), json!({"scores": 2, "paint": 3})).await;
    let unused = params("query($a: Int) { hello }", json!({}));
    let message = "Variable \"$a\" is not used";
    check_error(Limits::default(), unused, Code::BadRequest, message, Value::Null).await;
}

#[tokio::test]
async fn bad_requests_are_refused_without_data() {
    async fn check(query: &str, message: &str) {
        check_error(Limits::default(), params(query, json!({})), Code::BadRequest, message, Value::Null)
            .await;
    }
    check("{ hello", "syntax error: expected selection_set, selection, directive, or arguments").await;
    check("{ nope }", "Unknown field \"nope\" on type \"Query\".").await;
    check("{ me { ...A } } fragment A on Query { me { ...A } }", "fragment `A` spreads itself").await;
    check("{ hello } fragment A on Query { ...A }", "fragment `A` spreads itself").await;
    let several = params("query A { hello } query B { hello }", json!({}));
    let message = "the document has several operations and `operationName` is not given";
    let data = json!({"path": "operationName", "known": ["A", "B"]});
    check_error(Limits::default(), several, Code::BadRequest, message, data).await;
    let mut named = params("query A { hello }", json!({}));
    named.operation_name = Some("B".to_owned());
    let data = json!({"path": "operationName", "known": ["A"]});
    check_error(Limits::default(), named, Code::BadRequest, "no operation is named `B`", data).await;
    let raw = params(
        "query($v: JSON!) { echo(value: $v) }",
        json!({"v": [{"$serde_json::private::RawValue": "1, \"injected\": 2"}]}),
    );
    check_error(Limits::default(), raw, Code::BadRequest, "a variable has a reserved key", Value::Null).await;
    let prepared = executor(Limits::default()).prepare(params("{", json!({})), id(), &Caller::anonymous());
    assert_eq!(prepared.err().map(|answer| answer.outcome()), Some(Outcome::Refused(Code::BadRequest)));
}

#[tokio::test]
async fn every_limit_has_its_typed_error() {
    check_limit(&format!("{{{}}}", " hello".repeat(20_000)), "tokens", 20_000, 20_002).await;
    let deep = format!("{{ echo(value: {}1{}) }}", "[".repeat(60), "]".repeat(60));
    check_limit(&deep, "brackets", 60, 62).await;
    let many: String = (0..101).map(|at| format!("query Q{at} {{ hello }} ")).collect();
    check_limit(&many, "definitions", 100, 101).await;
    let deep = format!("{}hello{}", "{ me ".repeat(25) + "{", "}".repeat(26));
    check_limit(&deep, "depth", 25, 26).await;
    check_limit(&format!("{{{}}}", " hello".repeat(5_001)), "selections", 5_000, 5_001).await;
    check_complexity("{ all { items(first: 100000) { nodes { name } } } }", 2_000_011, "all.items").await;
    let spread =
        "{ hello all { ...A } } fragment A on Query { many: items(first: 100000) { nodes { name } } hello }";
    check_complexity(spread, 2_000_022, "all.many").await;
    let aliased: String = (0..101).map(|at| format!("a{at}: hello ")).collect();
    check_limit(&format!("{{{aliased}}}"), "aliases", 100, 101).await;
    check_limit(&format!("{{ hello {} }}", "@x ".repeat(11)), "directives", 10, 11).await;
    let variables: String = (0..101).map(|at| format!("$v{at}: Int ")).collect();
    check_limit(&format!("query({variables}) {{ hello }}"), "variables", 100, 101).await;
}

/// Lists of introspection lead back to each other: without a bound, each pair of levels multiplies the answer.
#[tokio::test]
async fn introspection_does_not_go_in_circles() {
    let which = "introspection";
    let circle = "interfaces { possibleTypes { ";
    let query = format!("{{ __schema {{ types {{ {} name {} }} }} }}", circle.repeat(10), "} ".repeat(20));
    check_limit(&query, which, 2, 20).await;
    let query = "{ __type(name: \"Query\") { fields { type { ofType { fields { type { inputFields { name } } } } } } } }";
    check_limit(query, which, 2, 3).await;
    let query = "{ __schema { types { ...A } } } fragment A on __Type { fields { type { ...B } } }
        fragment B on __Type { ... { possibleTypes { ...C } } } fragment C on __Type { interfaces { name } }";
    check_limit(query, which, 2, 3).await;
    let query = "{ __type(name: \"Item\") { fields { type { ofType { fields { name } } } } } }";
    let fields = json!([{"type": {"ofType": {"fields": null}}}]);
    check_data(query, json!({}), json!({"__type": {"fields": fields}})).await;
}

#[tokio::test]
async fn the_size_of_a_graph_counts() {
    check_complexity("{ around(input: {maxNodes: 1000000}) { nodes { name } } }", 2_000_001, "around").await;
    let limits = || Limits { complexity: 3_100, ..Limits::default() };
    let query = "query($of: Around!, $n: Int) { a: around(input: $of) { nodes { name } } b: part(maxNodes: $n) { nodes { name } } }";
    let message = "`complexity` is limited to 3100, found 4002: most of it below `a`";
    let data = json!({"which": "complexity", "limit": 3100, "actual": 4002, "field": "a"});
    let many = json!({"of": {"maxNodes": 1000}, "n": 1000});
    check_error(limits(), params(query, many.clone()), Code::LimitExceeded, message, data).await;
    // What was within the limits once need not be with other variables.
    let executor = executor(limits());
    let holds = |variables| executor.prepare(params(query, variables), id(), &Caller::anonymous()).is_ok();
    assert!(holds(json!({"of": {}, "n": 3})));
    assert!(!holds(many));
}

#[tokio::test]
async fn a_page_size_in_a_variable_counts() {
    let query = "query($n: Int = 7) { items(first: $n) { nodes { name } } }";
    let limits = || Limits { complexity: 20, ..Limits::default() };
    let over = |actual: u64| {
        (format!("`complexity` is limited to 20, found {actual}: most of it below `items`"), actual)
    };
    let (message, actual) = over(41);
    let data = json!({"which": "complexity", "limit": 20, "actual": actual, "field": "items"});
    check_error(limits(), params(query, json!({"n": 20})), Code::LimitExceeded, &message, data).await;
    let (answers, _) = answers(&executor(limits()), params(query, json!({}))).await;
    assert_eq!(answers, [json!({"data": {"items": {"nodes": [{"name": "a"}]}}})]);
    let negative = params("{ items(first: -1) { nodes { name } } }", json!({}));
    assert!(executor(limits()).prepare(negative, id(), &Caller::anonymous()).is_ok());
}

#[tokio::test]
async fn a_fragment_bomb_is_refused_at_once() {
    let chain: String =
        (0..24).map(|at| format!("fragment F{at} on Query {{ ...F{0} ...F{0} }} ", at + 1)).collect();
    let bomb = format!("{{ ...F0 }} {chain} fragment F24 on Query {{ hello }}");
    let executor = executor(Limits { depth: 32, ..Limits::default() });
    let answer = executor
        .prepare(params(&bomb, json!({})), id(), &Caller::anonymous())
        .expect_err("the bomb is refused");
    let answer = serde_json::to_value(&answer).expect("answers are JSON");
    assert_eq!(answer["errors"][0]["extensions"]["data"]["which"], "selections");
}

#[tokio::test]
async fn many_errors_are_counted_instead_of_listed() {
    let executor = executor(Limits { errors: 2, ..Limits::default() });
    let (answers, _) = answers(&executor, params("{ a b c d }", json!({}))).await;
    let messages: Vec<_> =
        answers[0]["errors"].as_array().into_iter().flatten().map(|error| &error["message"]).collect();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[2], "2 more errors are not listed");
}

#[tokio::test]
async fn an_operation_that_takes_too_long_is_cut_off() {
    let limits = Limits { deadline: Duration::from_millis(70), ..Limits::default() };
    let message = "the operation took longer than 70 ms";
    check_error(limits, params("{ hangs }", json!({})), Code::Timeout, message, Value::Null).await;
}

#[tokio::test]
async fn a_mutation_that_takes_too_long_is_carried_out_all_the_same() {
    let limits = Limits { deadline: Duration::from_millis(70), in_flight: 1, ..Limits::default() };
    let (go_on, (count, mut counted)) = (Arc::new(Notify::new()), watch::channel(0));
    let schema = Schema::build(Query, Mutation, Events).data(Arc::clone(&go_on)).data(count).finish();
    let executor = Executor::new(schema, limits);
    let prepare = |query| {
        executor.prepare(params(query, json!({})), id(), &Caller::anonymous()).expect("the document is fine")
    };
    let answer = executor.execute(prepare("mutation { wait count }")).await;
    assert_eq!(answer.outcome(), Outcome::Refused(Code::Timeout));
    let answer = executor.execute(prepare("{ hello }")).await;
    assert_eq!(answer.outcome(), Outcome::Refused(Code::Overloaded), "it is in flight");
    go_on.notify_one();
    counted.wait_for(|&count| count == 1).await.expect("the schema is there");
    executor.mutations_done().await;
    let answer = executor.execute(prepare("{ hello }")).await;
    assert_eq!(answer.outcome(), Outcome::Executed);
}

#[tokio::test]
async fn more_operations_than_fit_are_turned_away() {
    let executor = executor(Limits { in_flight: 1, ..Limits::default() });
    let prepare = |query| {
        executor.prepare(params(query, json!({})), id(), &Caller::anonymous()).expect("the query is fine")
    };
    let mut hanging = Box::pin(executor.execute(prepare("{ hangs }")));
    assert!(futures_util::poll!(&mut hanging).is_pending());
    let answer = executor.execute(prepare("{ hello }")).await;
    assert_eq!(answer.outcome(), Outcome::Refused(Code::Overloaded));
    drop(hanging);
    let answer = executor.execute(prepare("{ hello }")).await;
    assert_eq!(answer.outcome(), Outcome::Executed);
}

#[test]
fn the_limits_are_named_for_server_info() {
    let named = Limits::default().named();
    assert_eq!(named["depth"], 25);
    assert_eq!(named["deadlineMs"], 30_000);
}
