//! The web pages, embedded in the binary.
//!
//! `cargo xtask serve` builds them into `web/dist`, the large files compressed; a build without them answers 404 with
//! a page that says how to make one with them. No page loads anything from another host, and the policy below holds browsers to that.

use std::borrow::Cow;
use std::io::Read;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// GraphiQL's editor styles its lines inline and runs its language services in workers made from blobs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PLACEHOLDER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>lmlang</title>\
<h1>The web pages are not part of this build</h1>\
<p>Build them with Node 20 or newer: <code>cargo xtask serve</code> does, or <code>npm ci &amp;&amp; npm run build</code> \
in <code>web/</code>, followed by a new build of the server.</p>\
<p>The API is at <code>/graphql</code>, subscriptions at <code>/graphql/ws</code>, the documentation at \
<code>/llms.txt</code>.</p></html>";

/// The dashboard. What it shows stands behind `#` in the address.
pub(crate) async fn dashboard(headers: HeaderMap) -> Response {
    page("index.html", &headers)
}

/// GraphiQL.
pub(crate) async fn graphiql(headers: HeaderMap) -> Response {
    page("graphiql.html", &headers)
}

fn page(file: &str, headers: &HeaderMap) -> Response {
    match send(file, headers, "no-cache") {
        Some(response) => response,
        None => secured((StatusCode::NOT_FOUND, axum::response::Html(PLACEHOLDER)).into_response()),
    }
}

/// A file that a page loads; its name changes with its content.
pub(crate) async fn file(Path(path): Path<String>, headers: HeaderMap) -> Response {
    let response = send(&path, &headers, "public, max-age=31536000, immutable");
    response.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

/// Sends a file, compressed where it is stored so and the client takes it; none where there is no such file.
fn send(path: &str, headers: &HeaderMap, caching: &'static str) -> Option<Response> {
    let plain = Dist::get(path);
    let (stored, compressed) = match plain {
        Some(file) => (file, false),
        None => (Dist::get(&format!("{path}.gz"))?, true),
    };
    let tag: String = stored.metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = HeaderValue::from_str(&format!("\"{tag}\"")).ok()?;
    let asked = headers.get(header::IF_NONE_MATCH);
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(path))),
    ];
    if asked == Some(&tag) {
        return Some(secured((StatusCode::NOT_MODIFIED, common).into_response()));
    }
    let body = match (compressed, takes_gzip(headers)) {
        (true, true) => {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            return Some(secured((common, encoding, owned(stored.data)).into_response()));
        }
        (true, false) => {
            let mut body = Vec::new();
            GzDecoder::new(&*stored.data).read_to_end(&mut body).ok()?;
            body
        }
        (false, _) => owned(stored.data),
    };
    Some(secured((common, body).into_response()))
}

fn owned(data: Cow<'static, [u8]>) -> Vec<u8> {
    data.into_owned()
}

fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        parts.next() == Some("gzip") && parts.next().is_none_or(|weight| !matches!(weight, "q=0" | "q=0.0"))
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("ttf") => "font/ttf",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
