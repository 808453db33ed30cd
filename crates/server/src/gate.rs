//! Turns away what does not come from where it should: pages of other origins, and names that are not ours.
//!
//! A page on another host can make a browser send requests here. Its `Origin` gives it away, except when it made its
//! own name resolve to this machine; then the `Host` does.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, uri::Authority};
use axum::middleware::Next;
use axum::response::Response;
use lmlang_graphql::error::{ApiError, Code};

use crate::answering::{named, refused, request_id};
use crate::config::Config;
use crate::negotiate::{self, Form};
use crate::state::Shared;

/// Lets a request through, or answers 403.
pub(crate) async fn check(State(state): State<Shared>, request: Request, next: Next) -> Response {
    match admit(request.headers(), request.uri(), &state.config) {
        Ok(()) => next.run(request).await,
        Err(foreign) => {
            let id = request_id(request.headers());
            let (path, reason) = (request.uri().path(), foreign.reason);
            tracing::info!(request_id = %id, reason, path, "turned away");
            let data = serde_json::json!({ "header": foreign.header });
            let error = ApiError::new(Code::Forbidden, reason).data(data);
            // Whoever takes none of our forms gets one all the same: it is about what else the request says.
            let form = negotiate::form(request.headers()).unwrap_or(Form::Json);
            named(refused(form, StatusCode::FORBIDDEN, error, &id), &id)
        }
    }
}

/// What of a request says that it comes from elsewhere.
#[derive(Debug)]
struct Foreign {
    header: &'static str,
    reason: &'static str,
}

fn admit(headers: &HeaderMap, uri: &Uri, config: &Config) -> Result<(), Foreign> {
    let foreign = |header, reason| Foreign { header, reason };
    if is_probe(uri.path()) {
        return Ok(());
    }
    let host = only(headers, "host")?.and_then(|host| host.to_str().ok());
    let host = host.or_else(|| uri.authority().map(Authority::as_str));
    let host: Authority = host
        .and_then(|host| host.parse().ok())
        .ok_or_else(|| foreign("host", "the request names no host"))?;
    if !is_ours(host.host(), config) {
        return Err(foreign("host", "the header `host` names another host, which is not in `allowed_hosts`"));
    }
    let Some(origin) = only(headers, "origin")? else {
        return match is_page(uri.path()) || !is_of_another_site(headers) {
            true => Ok(()),
            false => Err(foreign(
                "sec-fetch-site",
                "the header `sec-fetch-site` says that a page of another site calls",
            )),
        };
    };
    let origin = origin.to_str().map_err(|_| foreign("origin", "the header `origin` is not readable"))?;
    let same = origin.split_once("://").is_some_and(|(scheme, authority)| {
        matches!(scheme, "http" | "https") && authority.eq_ignore_ascii_case(host.as_str())
    });
    if same || config.allowed_origins.iter().any(|allowed| allowed == origin) {
        Ok(())
    } else {
        let reason = "the header `origin` names a page of another origin, which is not in `allowed_origins`";
        Err(foreign("origin", reason))
    }
}

/// A header that comes once: somebody on the way could look at one of several, and we at the other.
fn only<'a>(headers: &'a HeaderMap, header: &'static str) -> Result<Option<&'a HeaderValue>, Foreign> {
    let mut given = headers.get_all(header).iter();
    let (first, second) = (given.next(), given.next());
    match second {
        None => Ok(first),
        Some(_) => Err(Foreign { header, reason: "a header that says who calls is there several times" }),
    }
}

/// Whether it is what monitors ask, and shows nothing. A load balancer asks by the address of the machine, or names no host.
fn is_probe(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Whether anybody may link to it.
fn is_page(path: &str) -> bool {
    matches!(
        path,
        "/" | "/graphiql" | "/llms.txt" | "/llms-full.txt" | "/schema.graphql" | "/docs" | "/ARCHITECTURE.md"
    ) || ["/web/", "/docs/"].iter().any(|folder| path.starts_with(folder))
}

/// Whether a browser says that a page of another site made it send the request. A picture or a script has no `Origin`, and
/// what it asks for is carried out, though the page does not see the answer.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    matches!(site, Some(b"cross-site" | b"same-site"))
}

fn is_ours(host: &str, config: &Config) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = bare.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    loopback
        || (!config.listen.ip().is_loopback() && config.allowed_hosts.is_empty())
        || config.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    fn check(config: &Config, host: &str, origin: Option<&str>, admitted: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let verdict = admit(&headers, &Uri::from_static("/graphql"), config);
        assert_eq!(verdict.is_ok(), admitted, "{host} {origin:?}: {verdict:?}");
    }

    #[test]
    fn only_our_own_names_and_pages_come_in() {
        let local = Config::default();
        check(&local, "localhost:4000", None, true);
        check(&local, "127.0.0.1:4000", Some("http://127.0.0.1:4000"), true);
        check(&local, "[::1]:4000", Some("http://[::1]:4000"), true);
        check(&local, "localhost:4000", Some("http://localhost:5173"), false);
        check(&local, "localhost:4000", Some("https://evil.example"), false);
        check(&local, "localhost:4000", Some("null"), false);
        check(&local, "evil.example:4000", Some("http://evil.example:4000"), false);
        check(&local, "127.0.0.1.evil.example", None, false);
        check(&local, "10.0.0.1:4000", None, false);
    }

    #[test]
    fn who_calls_is_said_once() {
        for name in ["host", "origin"] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:4000".parse().unwrap());
            headers.insert(header::ORIGIN, "http://localhost:4000".parse().unwrap());
            assert!(admit(&headers, &Uri::from_static("/graphql"), &Config::default()).is_ok());
            headers.append(name, "http://localhost:4000".parse().unwrap());
            let twice = admit(&headers, &Uri::from_static("/graphql"), &Config::default());
            assert_eq!(twice.map_err(|foreign| foreign.header), Err(name));
        }
    }

    #[test]
    fn what_a_page_of_another_site_brings_about_stays_outside() {
        let check = |path: &'static str, site: &str, admitted: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:4000".parse().unwrap());
            headers.insert("sec-fetch-site", site.parse().unwrap());
            let verdict = admit(&headers, &Uri::from_static(path), &Config::default());
            assert_eq!(verdict.is_ok(), admitted, "{path} {site}: {verdict:?}");
        };
        check("/graphql?query={a}", "cross-site", false);
        check("/graphql?query={a}", "same-site", false);
        check("/metrics", "cross-site", false);
        check("/graphql?query={a}", "same-origin", true);
        check("/graphql?query={a}", "none", true);
        check("/graphiql", "cross-site", true);
        check("/web/main.js", "same-site", true);
        check("/docs/mcp.md", "cross-site", true);
        check("/docs", "cross-site", true);
        check("/ARCHITECTURE.md", "cross-site", true);
        check("/backup", "cross-site", false);
    }

    #[test]
    fn who_asks_whether_the_server_lives_need_not_know_its_name() {
        let hosts = vec!["lm.example".to_owned()];
        let named = Config { listen: ([0, 0, 0, 0], 4000).into(), allowed_hosts: hosts, ..Config::default() };
        let mut by_address = HeaderMap::new();
        by_address.insert(header::HOST, "10.0.0.1:4000".parse().unwrap());
        for headers in [HeaderMap::new(), by_address] {
            for (path, admitted) in [("/healthz", true), ("/readyz", true), ("/metrics", false), ("/", false)]
            {
                let verdict = admit(&headers, &Uri::from_static(path), &named);
                assert_eq!(verdict.is_ok(), admitted, "{path} {headers:?}: {verdict:?}");
            }
        }
    }

    #[test]
    fn remote_callers_come_in_when_they_may() {
        let open = Config { listen: ([0, 0, 0, 0], 4000).into(), ..Config::default() };
        check(&open, "any.example", None, true);
        check(&open, "any.example", Some("http://other.example"), false);
        let named = Config { allowed_hosts: vec!["lm.example".to_owned()], ..open };
        check(&named, "lm.example:80", Some("http://lm.example:80"), true);
        check(&named, "any.example", None, false);
        let origins = vec!["http://localhost:5173".to_owned()];
        let dev = Config { allowed_origins: origins, ..Config::default() };
        check(&dev, "localhost:4000", Some("http://localhost:5173"), true);
    }
}
