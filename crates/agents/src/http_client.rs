//! The one way in which this crate asks servers: HTTP and HTTPS, without redirections and proxies.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

/// How long a connection may take to be made.
const AT_THE_DOOR: Duration = Duration::from_secs(10);

/// What asks.
pub(crate) type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Why a server cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerError {
    /// It has no such address. What was given is not shown: it may hold a key.
    #[error("the base URL is not an address of a server: {why}")]
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// The key cannot be sent.
    #[error("the key has characters that cannot be sent: is it the right file or variable?")]
    Key,
    /// The system trusts no authorities, and the address needs one.
    #[error("the certificates of the system cannot be read, so that `https` can reach nobody: {why}")]
    Roots {
        /// What the system says.
        why: String,
    },
}

/// Gets ready to ask; `secure` where certificates will be seen.
pub(crate) fn client(secure: bool) -> Result<HttpClient, ServerError> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(AT_THE_DOOR));
    connector.set_nodelay(true);
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls(secure)?);
    let connector = tls.https_or_http().enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// Where requests go, and how the server is called in errors.
///
/// `path` is put behind the path of the base, whose query is kept.
pub(crate) fn address(base: &str, path: &str) -> Result<(Uri, String), ServerError> {
    let wrong = |why: &str| ServerError::Url { why: why.to_owned() };
    let base: Uri = base.trim().parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
    let scheme = match base.scheme_str() {
        Some(scheme @ ("http" | "https")) => scheme,
        Some(_) | None => return Err(wrong("expected it to begin with `http://` or `https://`")),
    };
    let authority = base.authority().ok_or_else(|| wrong("it names no host"))?;
    if authority.as_str().contains('@') {
        return Err(wrong("it holds a user or a password, which have settings of their own"));
    }
    let parameters = base.query().unwrap_or_default().split('&');
    let mut names = parameters.map(|part| part.split('=').next().unwrap_or_default().to_ascii_lowercase());
    if names.any(|name| ["key", "token", "secret", "sig", "password"].iter().any(|word| name.contains(word)))
    {
        return Err(wrong("its query holds a key, which has a setting of its own"));
    }
    let query = base.query().map(|query| format!("?{query}")).unwrap_or_default();
    let before = base.path().strip_suffix('/').unwrap_or(base.path());
    let url = Uri::builder()
        .scheme(scheme)
        .authority(authority.clone())
        .path_and_query(format!("{before}{path}{query}"))
        .build();
    let url = url.map_err(|error| wrong(&error.to_string()))?;
    Ok((url, format!("{scheme}://{authority}")))
}

/// What certificates are held against; nothing is read where none will be seen.
fn tls(secure: bool) -> Result<ClientConfig, ServerError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions");
    if !secure {
        return Ok(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let config = config.with_native_roots().map_err(|error| ServerError::Roots { why: error.to_string() })?;
    Ok(config.with_no_client_auth())
}

/// An error and what it comes from: the outermost one says little.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        out = format!("{out}: {error}");
        cause = error.source();
    }
    out
}
