use std::convert::Infallible;
use std::sync::Arc;
use std::sync::Mutex;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::patience::{Gate, Paced, Retry, Retrying, Timed};
use super::super::testing::{ask, joined, request, words};
use super::super::{Class, Delta, Format, UsageSource};
use super::reading::Reader;
use super::*;

const KEY: &str = "planted/key+0123456789==";

/// A server on this machine that answers as it is told, one request after the other.
struct Stub {
    url: String,
    state: Arc<StubState>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct StubState {
    answers: Mutex<Vec<Answers>>,
    asked: Mutex<Vec<(String, Option<String>, Value)>>,
}

struct Answers {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Piece>,
}

enum Piece {
    Bytes(Vec<u8>),
    /// Nothing comes any more; who waits for it is told when the stream is given up.
    Hang(oneshot::Sender<Infallible>),
}

fn events(pieces: Vec<Piece>) -> Answers {
    Answers { status: 200, headers: vec![("content-type", "text/event-stream".to_owned())], pieces }
}

fn lines(text: &str) -> Piece {
    Piece::Bytes(text.as_bytes().to_vec())
}

fn said(status: u16, body: &str) -> Answers {
    let headers = vec![("content-type", "application/json".to_owned())];
    Answers { status, headers, pieces: vec![lines(body)] }
}

impl Stub {
    async fn start(answers: Vec<Answers>) -> Stub {
        let state = Arc::new(StubState { answers: Mutex::new(answers), ..StubState::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(state.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Stub { url, state, task }
    }

    fn model(&self) -> OpenAi {
        OpenAi::new(options(&self.url)).unwrap()
    }

    fn asked(&self) -> Vec<(String, Option<String>, Value)> {
        self.state.asked.lock().unwrap().clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(state): State<Arc<StubState>>, request: axum::extract::Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let authorization = parts.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let asked = (parts.uri.to_string(), authorization, serde_json::from_slice(&body).unwrap());
    state.asked.lock().unwrap().push(asked);
    let answers = state.answers.lock().unwrap().remove(0);
    let mut response = Response::builder().status(answers.status);
    for (name, value) in answers.headers {
        response = response.header(name, value);
    }
    let pieces = stream::iter(answers.pieces).then(|piece| async {
        match piece {
            Piece::Bytes(bytes) => Ok::<_, Infallible>(bytes),
            Piece::Hang(_held) => std::future::pending().await,
        }
    });
    response.body(Body::from_stream(pieces)).unwrap()
}

fn options(url: &str) -> Options {
    Options {
        provider: "openai".to_owned(),
        base_url: url.to_owned(),
        model: "m".to_owned(),
        key: Some(Secret::new(KEY)),
        prices: Prices::new(),
        structured: Structured::JsonSchema,
        limit: LimitField::MaxTokens,
        stream_usage: true,
        reports_cost: false,
        idle: Duration::from_secs(60),
        count: words,
    }
}

fn text(text: &str) -> String {
    format!("data: {}\n\n", json!({"model": "m-1", "choices": [{"index": 0, "delta": {"content": text}}]}))
}

const STOP: &str = "data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n";
const USAGE: &str =
    "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": 2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// One answer, with what was told of it.
async fn run(answers: Answers) -> (Result<Reply, ModelError>, String) {
    let stub = Stub::start(vec![answers]).await;
    let mut told = Vec::new();
    let reply = stub.model().complete(&request("x y z"), &mut |delta| told.push(delta)).await;
    if let Err(error) = &reply {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("planted"), "{shown}");
    }
    (reply, joined(&told))
}

/// What comes of an answer whose connection is lost behind this much of it.
async fn cut(text: &str) -> (Result<Reply, ModelError>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = OpenAi::new(options(&format!("http://{}", listener.local_addr().unwrap()))).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = format!("{head}{:x}\r\n{text}\r\n", text.len());
    let server = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        // What is not read when a connection is closed takes with it what was sent.
        while !asked.ends_with(b"}") {
            assert!(socket.read_buf(&mut asked).await.unwrap() > 0);
        }
        socket.write_all(answer.as_bytes()).await.unwrap();
    };
    let mut told = Vec::new();
    let request = request("x");
    let mut tell = |delta| told.push(delta);
    let (reply, ()) = tokio::join!(model.complete(&request, &mut tell), server);
    (reply, joined(&told))
}

async fn check_text(stream: &str, expect: &str, source: UsageSource) {
    let (reply, told) = run(events(vec![lines(stream)])).await;
    let reply = reply.unwrap();
    assert_eq!((&*reply.text, &*told, reply.usage.source), (expect, expect, source), "{stream}");
    assert_eq!(reply.finish, Finish::Stop);
}

async fn check_error(answers: Answers, code: &str, class: Class, says: &str) {
    let (reply, _) = run(answers).await;
    let error = reply.unwrap_err();
    assert_eq!((error.code(), error.class()), (code, class), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[tokio::test]
async fn streams_are_read_as_servers_send_them() {
    use UsageSource::{Estimated, Reported};
    let hello = format!("{}{}", text("hel"), text("lo"));
    check_text(&format!("{hello}{STOP}{USAGE}{DONE}"), "hello", Reported).await;
    // Without the count of tokens, without the end, with neither.
    check_text(&format!("{hello}{STOP}{DONE}"), "hello", Estimated).await;
    check_text(&format!("{hello}{STOP}{USAGE}"), "hello", Reported).await;
    check_text(&format!("{hello}{STOP}"), "hello", Estimated).await;
    check_text(&format!("{hello}{DONE}"), "hello", Estimated).await;
    check_text(format!("{hello}{STOP}{DONE}").trim_end(), "hello", Estimated).await;
    check_text(
        &format!(": PROCESSING\n\n{hello}: x\n\n{STOP}{DONE}").replace('\n', "\r\n"),
        "hello",
        Estimated,
    )
    .await;
}

#[tokio::test]
async fn a_reply_says_who_and_how_much() {
    let stub = Stub::start(vec![events(vec![lines(&format!("{}{STOP}{USAGE}{DONE}", text("hello")))])]).await;
    let price = super::super::Price { input: 1.0, output: 10.0, cached: None };
    let prices = [("m-1".to_owned(), price)].into_iter().collect();
    let model = OpenAi::new(Options { prices, ..options(&stub.url) }).unwrap();
    let reply = ask(&model, &request("x")).await.unwrap();
    assert_eq!((&*reply.model, &*reply.provider, reply.calls), ("m-1", "openai", 1));
    assert_eq!(reply.cost.unwrap().to_string(), "$0.000029000");
    assert!(reply.latency.first_ms.unwrap() <= reply.latency.total_ms);
    let (url, authorization, body) = stub.asked().remove(0);
    assert_eq!((&*url, &*authorization.unwrap()), ("/v1/chat/completions", &*format!("Bearer {KEY}")));
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(true)));
}

#[tokio::test]
async fn what_is_not_counted_is_estimated_and_has_no_price() {
    let (reply, _) = run(events(vec![lines(&format!("{}{STOP}{DONE}", text("two words")))])).await;
    let reply = reply.unwrap();
    assert_eq!((reply.usage.input, reply.usage.output, reply.cost), (7, 2, None));
}

#[tokio::test]
async fn letters_may_be_split_between_packets() {
    let whole = format!("{}{STOP}{DONE}", text("naïve — 日本 🎈"));
    let pieces = whole.bytes().map(|byte| Piece::Bytes(vec![byte])).collect();
    let (reply, told) = run(events(pieces)).await;
    assert_eq!((&*reply.unwrap().text, &*told), ("naïve — 日本 🎈", "naïve — 日本 🎈"));
}

#[tokio::test]
async fn an_answer_in_one_piece_is_understood() {
    let body = json!({"model": "m-2", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "let me see",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}],
    }}], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": null}});
    let (reply, told) = run(said(200, &body.to_string())).await;
    let reply = reply.unwrap();
    assert_eq!((&*reply.text, &*told, reply.finish), ("let me see", "let me see", Finish::ToolCalls));
    assert_eq!((&*reply.tool_calls[0].arguments, reply.usage.output), ("{\"x\": 1}", 2));
}

#[tokio::test]
async fn a_cut_says_how_far_it_came() {
    let (reply, told) = cut(&text("hel")).await;
    let error = reply.unwrap_err();
    assert_eq!((&error, &*told), (&ModelError::Cut { received: 3 }, "hel"));
    assert!(error.class().retriable());
    // Ended in order, but in the middle of an event, or before anybody said that it is the end.
    let half = format!("{}data: {{\"choices\": [{{\"del", text("hel"));
    check_error(events(vec![lines(&half)]), "MODEL_CUT", Class::Cut, "after 3 bytes").await;
    check_error(events(vec![lines(&text("hel"))]), "MODEL_CUT", Class::Cut, "after 3 bytes").await;
    check_error(events(vec![]), "MODEL_CUT", Class::Cut, "after 0 bytes").await;
    // Cut where only the count of tokens was missing: the answer is there.
    let (reply, _) = cut(&format!("{}{STOP}", text("hello"))).await;
    assert_eq!(reply.unwrap().text, "hello");
}

#[tokio::test]
async fn too_many_requests_say_when_to_come_back() {
    let limited = |headers: Vec<(&'static str, String)>| Answers { headers, ..said(429, "{}") };
    let wait = |seconds| Class::Transient { retry_after: Some(Duration::from_secs(seconds)) };
    let seven = limited(vec![("retry-after", "7".to_owned())]);
    check_error(seven, "MODEL_RATE_LIMITED", wait(7), "too many requests").await;
    check_error(limited(vec![]), "MODEL_RATE_LIMITED", Class::Transient { retry_after: None }, "429").await;
    let overloaded = Answers { headers: vec![("retry-after", "1".to_owned())], ..said(503, "overloaded") };
    check_error(overloaded, "MODEL_UNAVAILABLE", wait(1), "503: overloaded").await;
}

/// All the layers that wait, around a server.
#[tokio::test]
async fn faults_of_a_server_pass() {
    let at_once = vec![("retry-after", "0".to_owned())];
    let limited = Answers { headers: at_once, ..said(429, "{}") };
    let half = events(vec![lines(&text("hel"))]);
    let whole = events(vec![lines(&format!("{}{STOP}{DONE}", text("hello")))]);
    let stub = Stub::start(vec![limited, half, whole]).await;
    let timed: Arc<dyn Model> = Arc::new(Timed::new(Arc::new(stub.model()), Duration::from_secs(60)));
    let paced = Arc::new(Paced::new(timed, Arc::new(Gate::new(None, Some(1)))));
    let retry = Retry { attempts: 3, first: Duration::ZERO, longest: Duration::ZERO };
    let model = Retrying::new(paced, retry);
    let mut told = Vec::new();
    let reply = model.complete(&request("x"), &mut |delta| told.push(delta)).await.unwrap();
    let expect = [Delta::Text("hel".to_owned()), Delta::Restarted, Delta::Text("hello".to_owned())];
    assert_eq!((&*reply.text, reply.calls, &told[..]), ("hello", 3, &expect[..]));
    assert_eq!(stub.asked().len(), 3);
}

#[tokio::test]
async fn refusals_are_quoted_without_the_key() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}. See sk-proj-abcdefghijklmnop")}});
    let expect = "Incorrect API key provided: [secret]. See [secret]";
    check_error(said(401, &body.to_string()), "MODEL_DENIED", Class::Refused, expect).await;
    let html = format!("<html>{} {KEY}</html>", "x".repeat(100_000));
    check_error(said(400, &html), "MODEL_REJECTED", Class::Refused, "<html>xxx").await;
    let hint = "the setting `structured`";
    let body = "{\"error\": {\"message\": \"response_format is not supported\"}}";
    check_error(said(400, body), "MODEL_REJECTED", Class::Refused, hint).await;
    let escaped = said(422, &format!("{{\"detail\": \"{}\"}}", KEY.replace('/', "\\/")));
    check_error(escaped, "MODEL_REJECTED", Class::Refused, "{\"detail\":\"[secret]\"}").await;
    let elsewhere =
        Answers { headers: vec![("location", "http://127.0.0.1:1/".to_owned())], ..said(307, "") };
    check_error(elsewhere, "MODEL_REJECTED", Class::Refused, "307").await;
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    let html = vec![("content-type", "text/html; charset=utf-8".to_owned())];
    let page = Answers { headers: html, ..said(200, &format!("<html>sign in {KEY}")) };
    check_error(page, "MODEL_UNREADABLE", Class::Invalid, "its content is `text/html`): <html>sign in").await;
    let broken = events(vec![lines("data: {\"choices\": 1}\n\n")]);
    check_error(broken, "MODEL_UNREADABLE", Class::Invalid, "invalid type").await;
    check_error(events(vec![lines(DONE)]), "MODEL_UNREADABLE", Class::Invalid, "no answer in it").await;
    check_error(said(200, "{}"), "MODEL_UNREADABLE", Class::Invalid, "no answer in it").await;
    let within =
        format!("{}data: {{\"error\": {{\"code\": 502, \"message\": \"down {KEY}\"}}}}\n\n", text("hel"));
    let transient = Class::Transient { retry_after: None };
    check_error(events(vec![lines(&within)]), "MODEL_UNAVAILABLE", transient, "502: down [secret]").await;
    let refusal =
        "data: {\"choices\": [{\"delta\": {\"refusal\": \"I will not\"}, \"finish_reason\": \"stop\"}]}\n\n";
    check_error(events(vec![lines(refusal)]), "MODEL_REFUSED", Class::Refused, "I will not").await;
    let endless = format!("data: {}", "x".repeat(5 << 20));
    check_error(events(vec![lines(&endless)]), "MODEL_TOO_LARGE", Class::Invalid, "longer than").await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_path() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = OpenAi::new(options(&format!("http://{address}/v1?version=planted"))).unwrap();
    let error = ask(&model, &request("x")).await.unwrap_err();
    assert_eq!((error.code(), error.class()), ("MODEL_UNREACHABLE", Class::Transient { retry_after: None }));
    let shown = format!("{error} {error:?}");
    assert!(shown.contains(&format!("`http://{address}` cannot be reached")), "{shown}");
    assert!(!shown.contains("planted"), "{shown}");
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let (held, given_up) = oneshot::channel();
    let stub = Stub::start(vec![events(vec![lines(&text("hel")), Piece::Hang(held)])]).await;
    let model = stub.model();
    let request = request("x");
    let (first, told) = oneshot::channel();
    let mut first = Some(first);
    let mut tell = |_| {
        if let Some(first) = first.take() {
            first.send(()).unwrap();
        }
    };
    tokio::select! {
        reply = model.complete(&request, &mut tell) => panic!("{reply:?}"),
        told = told => told.unwrap(),
    }
    // The server's side is dropped when it sees that nobody listens.
    given_up.await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_is_given_up() {
    let reader = Reader { status: 200, idle: Duration::from_secs(60), key: None };
    let begin = |text: String| stream::iter([Ok::<_, std::io::Error>(Bytes::from(text))]);
    let stalled = begin(text("hel")).chain(stream::pending());
    let error = reader.stream(stalled, &mut |_| {}).await.unwrap_err();
    assert_eq!((error.code(), error.class()), ("MODEL_STALLED", Class::Timeout));
    let finished = begin(format!("{}{STOP}", text("hello"))).chain(stream::pending());
    assert_eq!(reader.stream(finished, &mut |_| {}).await.unwrap().text, "hello");
}

fn check_address(given: &str, expect: &str) {
    let found = address(given, "/chat/completions").map(|(url, server)| format!("{url} at {server}"));
    assert_eq!(found.unwrap_or_else(|error| error.to_string()), expect);
}

#[test]
fn base_urls_are_taken_as_they_are() {
    check_address("https://a.example/v1", "https://a.example/v1/chat/completions at https://a.example");
    check_address("http://a:1/v1/", "http://a:1/v1/chat/completions at http://a:1");
    check_address("http://a", "http://a/chat/completions at http://a");
    check_address("http://a/x?version=2", "http://a/x/chat/completions?version=2 at http://a");
    let wrong = "the base URL is not an address of a server: ";
    check_address("a/v1", &format!("{wrong}invalid format"));
    check_address("ftp://a", &format!("{wrong}expected it to begin with `http://` or `https://`"));
    let user = "it holds a user or a password, which have settings of their own";
    let key = "its query holds a key, which has a setting of its own";
    check_address("http://a/v1?v=1&API-Key=planted", &format!("{wrong}{key}"));
    check_address("http://u:planted@a/v1", &format!("{wrong}{user}"));
}

#[test]
fn keys_show_nowhere() {
    let options = options("http://a/v1");
    assert!(!format!("{options:?} {}", options.key.as_ref().unwrap()).contains("planted"));
    let broken = Options { key: Some(Secret::new("planted\nkey")), ..options };
    let error = OpenAi::new(broken).err().unwrap();
    assert_eq!(error, ServerError::Key);
    assert!(!format!("{error} {error:?}").contains("planted"));
}

/// The certificates of the machine are read for `https` alone; nothing is sent.
#[test]
fn plain_addresses_need_no_certificates() {
    client(&Uri::from_static("http://localhost")).unwrap();
}

#[tokio::test]
async fn a_schema_goes_to_the_server() {
    let stub = Stub::start(vec![events(vec![lines(&format!("{}{STOP}{DONE}", text("{}")))])]).await;
    let format = Format::JsonSchema { name: "plan".to_owned(), schema: json!({"type": "object"}) };
    ask(&stub.model(), &Request { format, ..request("x") }).await.unwrap();
    assert_eq!(stub.asked()[0].2["response_format"]["json_schema"]["name"], "plan");
}

fn any_split() -> impl Strategy<Value = (Vec<String>, Vec<usize>, bool)> {
    let words = prop::collection::vec("[ -~é日🎈\\n\"\\\\]{1,12}", 1..12);
    (words, prop::collection::vec(any::<usize>(), 0..12), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    /// However a stream is split, and however its lines end: the pieces told are, joined, the text.
    #[test]
    fn pieces_joined_are_the_text((words, cuts, returns) in any_split()) {
        let mut whole: String = words.iter().map(|word| text(word)).collect();
        whole.push_str(STOP);
        if returns {
            whole = whole.replace('\n', "\r\n");
        }
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % whole.len()).chain([0, whole.len()]).collect();
        cuts.sort_unstable();
        let bytes = Bytes::from(whole);
        let pieces = cuts.windows(2).map(|ends| Ok::<_, std::io::Error>(bytes.slice(ends[0]..ends[1])));
        let pieces = stream::iter(pieces.collect::<Vec<_>>());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut told = Vec::new();
        let reader = Reader { status: 200, idle: Duration::from_secs(60), key: None };
        let answer = runtime.block_on(reader.stream(pieces, &mut |delta| told.push(delta))).unwrap();
        prop_assert_eq!(&answer.text, &words.concat());
        prop_assert_eq!(joined(&told), answer.text);
    }
}
