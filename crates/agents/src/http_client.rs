//! The one way in which this crate asks servers.

use http::Uri;
use thiserror::Error;

pub(crate) use lmlang_telemetry::client::{HttpClient, retry_after, with_causes};

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

/// Gets ready to ask the server of an address; nothing is sent yet.
pub(crate) fn client(to: &Uri) -> Result<HttpClient, ServerError> {
    lmlang_telemetry::client::client(to).map_err(|error| ServerError::Roots { why: error.to_string() })
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
