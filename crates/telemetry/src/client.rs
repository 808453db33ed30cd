//! The way to servers elsewhere: HTTP and HTTPS, without redirections and proxies.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, Uri};
use http_body_util::Full;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

/// How long a connection may take to be made.
const AT_THE_DOOR: Duration = Duration::from_secs(10);

/// Longest time that a server is believed to want to be left alone: what it says beyond is taken for this.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// What asks.
pub type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Gets ready to ask the server of an address; nothing is sent yet.
///
/// # Errors
///
/// The address needs the certificates of the system, and they cannot be read.
pub fn client(to: &Uri) -> io::Result<HttpClient> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(AT_THE_DOOR));
    connector.set_nodelay(true);
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls(to)?);
    let connector = tls.https_or_http().enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// What certificates are held against; nothing is read where none will be seen.
fn tls(to: &Uri) -> io::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions");
    if to.scheme_str() != Some("https") {
        return Ok(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    Ok(config.with_native_roots()?.with_no_client_auth())
}

/// How long a server wants to be left alone. A date is held against the server's own, so that nobody's
/// clock counts.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok().map(|wait| wait.min(LONGEST_WAIT));
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(LONGEST_WAIT));
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = httpdate::parse_http_date(text(DATE.as_str())?).ok()?;
    Some(until.duration_since(now).unwrap_or_default().min(LONGEST_WAIT))
}

/// An error and what it comes from: the outermost one says little.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        out = format!("{out}: {error}");
        cause = error.source();
    }
    out
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check_wait(headers: &[(&'static str, &'static str)], expect: Option<u64>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_static(value));
        }
        assert_eq!(retry_after(&map), expect.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn a_time_to_wait_is_read_as_servers_write_it() {
        check_wait(&[("retry-after", "3")], Some(3_000));
        check_wait(&[("retry-after", "0.5")], Some(500));
        check_wait(&[("retry-after", "3"), ("retry-after-ms", "20")], Some(20));
        check_wait(&[("retry-after", "-1")], None);
        check_wait(&[("retry-after", "NaN")], None);
        check_wait(&[("retry-after", "1e300")], None);
        check_wait(&[("retry-after", "999999999")], Some(86_400_000));
        let later = ("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT");
        check_wait(&[later, ("date", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(3_000));
        check_wait(&[later, ("date", "Sun, 06 Nov 1994 09:00:00 GMT")], Some(0));
        check_wait(&[later], None);
        check_wait(&[], None);
    }
}
