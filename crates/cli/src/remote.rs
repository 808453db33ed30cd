//! A server that is asked over HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::header::InvalidHeaderValue;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use lmlang_graphql::schema::wasm::{GivenModule, ImportRequest};
use lmlang_graphql::transport::{Actor, ActorKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde_json::Value;

use crate::error::Error;
use crate::settings::Secret;

/// How long an answer may take; the server's own bound comes first.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// How long a server may take to let somebody in. Nothing has been sent until then.
pub(crate) const AT_THE_DOOR: Duration = Duration::from_secs(20);

/// The address at which a server answers GraphQL, and the connections to it.
pub(crate) struct Server {
    url: Uri,
    /// The `Authorization` that it is shown.
    token: Option<HeaderValue>,
    http: Client<HttpConnector, Full<Bytes>>,
}

impl Server {
    /// The server at an address: `http://127.0.0.1:4000`, with or without `/graphql`.
    pub(crate) fn at(given: &str, token: Option<Secret>) -> Result<Server, Error> {
        let refused = |why: &str| Error::ServerUrl { given: given.to_owned(), why: why.to_owned() };
        let url: Uri = given.parse().map_err(|error: http::uri::InvalidUri| refused(&error.to_string()))?;
        let authority = url.authority().ok_or_else(|| refused("it names no host"))?;
        match url.scheme_str() {
            Some("http") => {}
            Some(_) | None => return Err(refused("only `http://` is supported")),
        }
        if url.query().is_some() || !matches!(url.path(), "" | "/" | "/graphql") {
            return Err(refused("its path is not `/graphql`"));
        }
        let url = Uri::builder().scheme("http").authority(authority.clone()).path_and_query("/graphql");
        let url = url.build().map_err(|error| refused(&error.to_string()))?;
        let token = token.map(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal()))?;
            value.set_sensitive(true);
            Ok(value)
        });
        let token = token.transpose().map_err(|_: InvalidHeaderValue| Error::TokenText)?;
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(AT_THE_DOOR));
        Ok(Server { url, token, http: Client::builder(TokioExecutor::new()).build(connector) })
    }

    /// The address, as `--server` takes it.
    pub(crate) fn address(&self) -> String {
        self.url.to_string()
    }

    /// Sends a request, and gives the answer's bytes. [`Error::Unreachable`] says that nothing was sent.
    pub(crate) async fn ask(&self, request: &Value, author: &Actor) -> Result<Vec<u8>, Error> {
        let exchange = async {
            let answer = self.post("/graphql", request, author).await?;
            whole(answer).await.map_err(|error| self.lost(error.into()))
        };
        self.patiently(exchange).await
    }

    /// Asks for a backup; what is refused instead comes as the answer's bytes.
    pub(crate) async fn backup(
        &self,
        request: &Value,
        author: &Actor,
    ) -> Result<Result<Incoming, Vec<u8>>, Error> {
        let exchange = async {
            let answer = self.post("/backup", request, author).await?;
            self.body_of(answer).await
        };
        self.patiently(exchange).await
    }

    /// Sends a module that is to become the content of a program, and gives the stream of events that tells how far that is;
    /// what is refused instead comes as the answer's bytes.
    pub(crate) async fn import(
        &self,
        request: &ImportRequest,
        author: &Actor,
    ) -> Result<Result<Incoming, Vec<u8>>, Error> {
        let asked = [
            ("branch", &request.branch),
            ("expectedHead", &request.expected_head),
            ("message", &request.message),
        ];
        let asked: Vec<String> = asked
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", encoded(value.as_deref()?))))
            .collect();
        let path = format!("/programs/{}/wasm?{}", encoded(&request.program), asked.join("&"));
        let (kind, module) = match &request.module {
            GivenModule::Wasm(module) => ("application/wasm", module.clone()),
            GivenModule::Wat(text) => ("text/wat", text.clone().into_bytes()),
        };
        let key = request.idempotency_key.as_deref().map(|key| ("idempotency-key", key));
        let sent = Sent { path: &path, kind, accept: "text/event-stream", key, body: module.into() };
        let exchange = async {
            let answer = self.send(sent, author).await?;
            self.body_of(answer).await
        };
        self.patiently(exchange).await
    }

    /// Asks for an operation whose answers come as events; what is refused instead comes as the answer's bytes.
    pub(crate) async fn subscribe(
        &self,
        request: &Value,
        author: &Actor,
    ) -> Result<Result<Incoming, Vec<u8>>, Error> {
        let body = Bytes::from(request.to_string());
        let accept = "text/event-stream";
        let sent = Sent { path: "/graphql", kind: "application/json", accept, key: None, body };
        let exchange = async { self.body_of(self.send(sent, author).await?).await };
        self.patiently(exchange).await
    }

    /// The body of an answer that is read piece by piece; what is refused instead comes as the answer's bytes.
    async fn body_of(&self, answer: Response<Incoming>) -> Result<Result<Incoming, Vec<u8>>, Error> {
        match answer.status() == StatusCode::OK {
            true => Ok(Ok(answer.into_body())),
            false => whole(answer).await.map(Err).map_err(|error| self.lost(error.into())),
        }
    }

    /// A stream that ended before it said how.
    pub(crate) fn cut_off(&self) -> Error {
        self.lost("the stream of events ended".into())
    }

    /// The next bytes of an answer; nothing at its end.
    pub(crate) async fn next(&self, body: &mut Incoming) -> Result<Option<Bytes>, Error> {
        let next = async {
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| self.lost(error.into()))?;
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
            Ok(None)
        };
        self.patiently(next).await
    }

    async fn post(&self, path: &str, request: &Value, author: &Actor) -> Result<Response<Incoming>, Error> {
        // Errors of a request come as GraphQL's, whatever HTTP says to them.
        let accept = "application/graphql-response+json";
        let body = Bytes::from(request.to_string());
        self.send(Sent { path, kind: "application/json", accept, key: None, body }, author).await
    }

    async fn send(&self, sent: Sent<'_>, author: &Actor) -> Result<Response<Incoming>, Error> {
        let Sent { path, kind, accept, key, body } = sent;
        // The authority of an address that was read before.
        let authority = self.url.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::post(format!("http://{authority}{path}"));
        if let (Some(token), Some(headers)) = (&self.token, request.headers_mut()) {
            headers.insert(header::AUTHORIZATION, token.clone());
        }
        if let Some((name, value)) = key {
            request = request.header(name, value);
        }
        let request = request
            .header(header::CONTENT_TYPE, kind)
            .header(header::ACCEPT, accept)
            .header(header::USER_AGENT, author.client.as_deref().unwrap_or_default())
            .header("lmlang-author", author.name.as_bytes())
            .header("lmlang-author-kind", said(author.kind))
            .body(Full::new(body))
            .map_err(|_| Error::AuthorName)?;
        self.http.request(request).await.map_err(|error| match error.is_connect() {
            true => Error::Unreachable { url: self.url.to_string(), source: error.into() },
            false => self.lost(error.into()),
        })
    }

    async fn patiently<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let late = |_| Error::TimeOut { url: self.url.to_string(), seconds: PATIENCE.as_secs() };
        tokio::time::timeout(PATIENCE, answer).await.map_err(late)?
    }

    fn lost(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Lost { url: self.url.to_string(), source }
    }
}

/// What a server is told of what kind of caller somebody is.
fn said(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::Human => "HUMAN",
        ActorKind::Agent => "AGENT",
        // The others a server gives itself.
        ActorKind::Tool | ActorKind::Flow | ActorKind::System => "TOOL",
    }
}

/// What is sent by POST.
struct Sent<'s> {
    path: &'s str,
    /// The type of the body, and of the answer that is wanted.
    kind: &'s str,
    accept: &'s str,
    /// A header more.
    key: Option<(&'s str, &'s str)>,
    body: Bytes,
}

/// What does not stand in a path or a query as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as part of a path or a query.
fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ENCODED)
}

async fn whole(answer: Response<Incoming>) -> Result<Vec<u8>, hyper::Error> {
    Ok(answer.into_body().collect().await?.to_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, expect: Result<&str, &str>) {
        let seen =
            Server::at(given, None).map(|server| server.url.to_string()).map_err(|error| error.to_string());
        match (seen, expect) {
            (Ok(url), Ok(expect)) => assert_eq!(url, expect),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
            (seen, _) => panic!("{given}: {seen:?}"),
        }
    }

    #[test]
    fn names_are_encoded() {
        assert_eq!(encoded("a b?é/r~1").to_string(), "a%20b%3F%C3%A9%2Fr~1");
    }

    #[tokio::test]
    async fn an_address_is_that_of_a_server() {
        check("http://127.0.0.1:4000", Ok("http://127.0.0.1:4000/graphql"));
        check("http://[::1]:4000/", Ok("http://[::1]:4000/graphql"));
        check("http://localhost:4000/graphql", Ok("http://localhost:4000/graphql"));
        check("https://example.org", Err("only `http://` is supported"));
        check("127.0.0.1:4000", Err("only `http://` is supported"));
        check("/graphql", Err("it names no host"));
        check("http://localhost/api", Err("its path is not `/graphql`"));
        check("http://local host", Err("is not the address of a server"));
    }
}
