use lmlang_server::{Config, Hooks};
use serde_json::json;

use crate::server::{Server, only, soon, start, start_with};

const NEW: &str = "application/graphql-response+json";
const OLD: &str = "application/json";
const JSON: &str = "content-type: application/json\r\n";

async fn check(server: &Server, query: &str, accept: &str, status: u16, code: Option<&str>) {
    let reply = server.post(query, accept).await;
    assert_eq!(reply.status, status, "{query} as {accept}: {}", reply.text());
    let json = reply.json();
    assert_eq!(json["errors"][0]["extensions"]["code"].as_str(), code, "{query}");
    assert!(reply.header("content-type").is_some_and(|seen| seen.starts_with(accept)), "{}", reply.head);
}

#[tokio::test]
async fn the_status_follows_the_form_of_the_answer() {
    let server = start().await;
    for (query, new, old, code) in [
        ("{ hello }", 200, 200, None),
        ("{ hello fails }", 200, 200, Some("NOT_FOUND")),
        ("{", 400, 200, Some("BAD_REQUEST")),
        ("{ nope }", 400, 200, Some("BAD_REQUEST")),
        ("{ hello panics }", 500, 500, Some("INTERNAL")),
        ("subscription { ticks }", 400, 200, Some("BAD_REQUEST")),
        ("mutation { add(to: 1) }", 200, 200, None),
    ] {
        check(&server, query, NEW, new, code).await;
        check(&server, query, OLD, old, code).await;
    }
    check(&server, "{ hello }", OLD, 200, None).await;
}

#[tokio::test]
async fn one_failing_field_leaves_the_others() {
    let reply = start().await.post("{ hello fails }", NEW).await;
    assert_eq!(reply.json()["data"], json!({"hello": "world", "fails": null}));
    assert_eq!(reply.json()["errors"][0]["path"], json!(["fails"]));
}

#[tokio::test]
async fn get_reads_and_does_not_write() {
    let server = start().await;
    let reply = server.send("GET /graphql?query=%7Bhello%7D&variables=&operationName=", "", "").await;
    assert_eq!((reply.status, reply.json()), (200, json!({"data": {"hello": "world"}})));
    let reply = server.send("GET /graphql?query=mutation%7Badd(to:1)%7D", "", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")));
    let reply = server.send("GET /graphql?query=query(%24n:Int!)%7Bhello%7D&variables=%5B%5D", "", "").await;
    assert_eq!(reply.status, 400);
    let reply = server.send("GET /graphql", "", "").await;
    assert_eq!(reply.status, 400);
    let reply = server.send("DELETE /graphql", "", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, POST")));
}

#[tokio::test]
async fn a_mutation_whose_client_goes_away_is_carried_out() {
    for accept in [NEW, "text/event-stream"] {
        let server = start_with(Config { connections: 1, ..Config::default() }, Hooks::default()).await;
        let levers = &server.levers;
        let client = server.ask("mutation { a: holds b: holds }", accept).await;
        soon(levers.waiting.notified()).await;
        drop(client);
        // The only connection is free, so the server has noticed.
        assert_eq!(server.send("GET /healthz", "", "").await.status, 200);
        levers.go_on.notify_one();
        soon(levers.waiting.notified()).await;
        levers.go_on.notify_one();
        let mut held = levers.held.subscribe();
        soon(held.wait_for(|&held| held == 2)).await.expect("the levers are there");
    }
}

#[tokio::test]
async fn what_is_no_graphql_request_is_refused() {
    let server = start().await;
    let query = r#"{"query":"{hello}"}"#;
    for (headers, body, status) in [
        ("", query, 415),
        ("content-type: text/plain\r\n", query, 415),
        ("content-type: application/x-www-form-urlencoded\r\n", "query={hello}", 415),
        ("content-type: multipart/form-data; boundary=x\r\n", query, 415),
        ("content-type: application/json; charset=latin1\r\n", query, 415),
        ("content-type: application/json; charset=\"UTF-8\"\r\n", query, 200),
        (JSON, "", 400),
        (JSON, "{", 400),
        (JSON, "null", 400),
        (JSON, "[{\"query\":\"{hello}\"}]", 400),
        (JSON, "[\"{hello}\"]", 400),
        (JSON, r#"{"query":1}"#, 400),
        (JSON, r#"{"query":"{hello}","variables":[]}"#, 400),
        (JSON, r#"{"query":"{hello}","query":"{hello}"}"#, 400),
        (JSON, r#"{"query":"{hello}","operationName":1}"#, 400),
        (JSON, r#"{"query":"{hello}","extensions":"x"}"#, 400),
        (JSON, "{\"query\":\"{hello}\",\"variables\":{\"a\":\"\u{0}\"}}", 400),
        (&format!("{JSON}accept: text/html\r\n"), query, 406),
    ] {
        let reply = server.send("POST /graphql", headers, body).await;
        assert_eq!(reply.status, status, "{headers} {body}: {}", reply.text());
    }
    let deep = format!(r#"{{"query":"{{hello}}","variables":{{"a":{}}}}}"#, "[".repeat(10_000));
    assert_eq!(server.send("POST /graphql", JSON, &deep).await.status, 400);
    assert_eq!(server.post("{ hello }", NEW).await.status, 200);
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_typed_error() {
    let server = start_with(Config { body_bytes: 64, ..Config::default() }, Hooks::default()).await;
    let body = format!(r#"{{"query":"{{hello}}","operationName":"{}"}}"#, "x".repeat(64));
    let reply = server.send("POST /graphql", JSON, &body).await;
    assert_eq!(reply.status, 413);
    let data = &reply.json()["errors"][0]["extensions"]["data"];
    assert_eq!(*data, json!({"which": "bodyBytes", "limit": 64, "actual": body.len()}));
    let chunked =
        format!("{JSON}transfer-encoding: chunked\r\ncontent-length:\r\n").replace("content-length:\r\n", "");
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let request = format!("{chunked}x-length: content-length:\r\n");
    assert_eq!(server.send("POST /graphql", &request, &chunks).await.status, 413);
}

#[tokio::test]
async fn foreign_pages_and_names_are_turned_away() {
    let server = start().await;
    let body = r#"{"query":"{hello}"}"#;
    for (header, foreign) in [
        ("origin: http://evil.example\r\n", Some("origin")),
        ("origin: null\r\n", Some("origin")),
        ("host: evil.example\r\n", Some("host")),
        ("sec-fetch-site: cross-site\r\n", Some("sec-fetch-site")),
        ("accept: text/html\r\norigin: null\r\n", Some("origin")),
        (&*format!("origin: http://{}\r\n", server.address), None),
    ] {
        let reply = server.send("POST /graphql", &format!("{JSON}{header}"), body).await;
        assert_eq!(reply.status, if foreign.is_some() { 403 } else { 200 }, "{header}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
        if let Some(foreign) = foreign {
            let error = &reply.json()["errors"][0];
            assert_eq!(error["extensions"]["code"], "FORBIDDEN", "{error}");
            assert_eq!(error["extensions"]["data"]["header"], foreign, "{error}");
            assert_eq!(reply.header("x-request-id"), error["extensions"]["requestId"].as_str());
        }
    }
}

#[tokio::test]
async fn a_caller_without_leave_is_unauthenticated() {
    let server = start_with(Config::default(), only("open")).await;
    let body = r#"{"query":"{hello}"}"#;
    for (header, status, code, challenge) in [
        ("", 401, "UNAUTHENTICATED", Some("Bearer")),
        ("authorization: Basic YTpi\r\n", 401, "UNAUTHENTICATED", Some("Bearer")),
        ("authorization: Bearer shut\r\n", 401, "UNAUTHENTICATED", Some(r#"Bearer error="invalid_token""#)),
        ("authorization: Bearer open\r\nauthorization: Bearer open\r\n", 400, "BAD_REQUEST", None),
    ] {
        let reply = server.send("POST /graphql", &format!("{JSON}{header}"), body).await;
        assert_eq!(reply.status, status, "{header}");
        assert_eq!(reply.json()["errors"][0]["extensions"]["code"], code, "{header}");
        assert_eq!(reply.header("www-authenticate"), challenge, "{header}");
    }
    let url = server.send("GET /graphql?query={hello}&access_token=open", "", "").await;
    assert_eq!(url.status, 401, "a token in an address is one in every log on the way");
    for open in ["Bearer open", "bearer  open"] {
        let headers = format!("{JSON}authorization: {open}\r\n");
        assert_eq!(server.send("POST /graphql", &headers, body).await.status, 200, "{open}");
    }
    assert_eq!(server.send("GET /metrics", "", "").await.status, 401);
    assert_eq!(server.send("GET /metrics", "authorization: Bearer open\r\n", "").await.status, 200);
    for free in ["/healthz", "/readyz"] {
        assert_eq!(server.send(&format!("GET {free}"), "", "").await.status, 200, "{free}");
    }
    // Not found in a build without it.
    assert_ne!(server.send("GET /graphiql", "", "").await.status, 401);
}

#[tokio::test]
async fn pages_of_listed_origins_may_call() {
    let config = Config { allowed_origins: vec!["http://pages.example".to_owned()], ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let asked = "origin: http://pages.example\r\naccess-control-request-method: POST\r\n\
                 access-control-request-headers: authorization,content-type\r\n";
    let leave = server.send("OPTIONS /graphql", asked, "").await;
    assert_eq!(leave.header("access-control-allow-origin"), Some("http://pages.example"), "{}", leave.head);
    assert!(
        leave.header("access-control-allow-headers").is_some_and(|headers| headers.contains("authorization"))
    );
    let methods = leave.header("access-control-allow-methods").unwrap_or_default();
    for method in ["GET", "POST", "PUT", "DELETE"] {
        assert!(methods.contains(method), "{method}: {methods}");
    }
    assert_eq!(leave.header("access-control-allow-credentials"), None);
    let other = server.send("OPTIONS /graphql", &asked.replace("pages.", "evil."), "").await;
    assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn a_request_keeps_its_id() {
    let server = start().await;
    let headers = format!("{JSON}x-request-id: mine-1\r\n");
    let reply = server.send("POST /graphql", &headers, r#"{"query":"{"}"#).await;
    assert_eq!(reply.header("x-request-id"), Some("mine-1"));
    assert_eq!(reply.json()["errors"][0]["extensions"]["requestId"], "mine-1");
    let headers = format!("{JSON}x-request-id: <script>\r\n");
    let reply = server.send("POST /graphql", &headers, r#"{"query":"{hello}"}"#).await;
    assert!(reply.header("x-request-id").is_some_and(|id| id.len() == 32), "{}", reply.head);
}

#[tokio::test]
async fn pages_probes_and_metrics_answer() {
    let server = start().await;
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200);
    assert_eq!(server.send("GET /readyz", "", "").await.status, 200);
    server.post("{ hello }", NEW).await;
    let metrics = server.send("GET /metrics", "", "").await.text();
    assert!(
        metrics.contains(r#"lmlang_graphql_answers_total{kind="query",outcome="executed"}"#),
        "{metrics}"
    );
    let page = server.send("GET /graphiql", "", "").await;
    // Built or not, depending on who runs the tests.
    let is_missing = page.text().contains("not part of this build");
    assert_eq!(page.status, if is_missing { 404 } else { 200 });
    let policy = page.header("content-security-policy").expect("the page has a policy");
    assert!(policy.contains("default-src 'none'"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let index = server.send("GET /llms.txt", "", "").await.text();
    assert!(
        index.contains(
            "- [Several agents on one program: branches, merging, undo](/docs/history.md): Every change"
        ),
        "{index}"
    );
    assert!(index.contains("- [Operators](/docs/reference/operators.md): "), "{index}");
    let place = |page: &str| index.find(page).expect("it is listed");
    assert!(place("/docs/README.md") < place("/docs/tutorial/1-program.md"), "{index}");
    assert!(place("/docs/tutorial/3-agents.md") < place("/docs/access.md"), "{index}");
    for link in index.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
        assert_eq!(server.send(&format!("GET {}", link.0), "", "").await.status, 200, "{}", link.0);
    }
    assert!(server.send("GET /llms-full.txt", "", "").await.text().contains("# Access: tokens and scopes"));
    let folder = server.send("GET /docs", "", "").await;
    assert_eq!((folder.status, folder.header("location")), (308, Some("/docs/")));
    let contents = server.send("GET /docs/", "", "").await.text();
    assert!(contents.starts_with("# The book"), "{contents}");
    for (link, _) in contents.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
        let page = link.split('#').next().expect("a part is there");
        let path =
            page.strip_prefix("../").map_or_else(|| format!("/docs/{page}"), |file| format!("/{file}"));
        assert_eq!(server.send(&format!("GET {path}"), "", "").await.status, 200, "{path}");
    }
    assert_eq!(server.send("GET /docs/nothing.md", "", "").await.status, 404);
    assert_eq!(server.send("GET /web/nothing.js", "", "").await.status, 404);
    assert_eq!(server.send("GET /web/../../Cargo.toml", "", "").await.status, 404);
    assert_eq!(server.send("GET /nothing", "", "").await.status, 404);
}
