//! Which collector: its address, and what it is shown.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use lmlang_redact::SHORTEST_SECRET;

use super::parse::Variables;
use super::{Destination, Off, SettingsError};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TRACES_HEADERS: &str = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
const EXPORTER: &str = "OTEL_TRACES_EXPORTER";
const DISABLED: &str = "OTEL_SDK_DISABLED";
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const COMPRESSIONS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"];
const PUBLIC_KEY: &str = "LANGFUSE_PUBLIC_KEY";
const SECRET_KEY: &str = "LANGFUSE_SECRET_KEY";
const BASE_URL: &str = "LANGFUSE_BASE_URL";
const HOST: &str = "LANGFUSE_HOST";

/// Where OpenTelemetry looks for a collector that is asked for without an address.
const LOCAL: &str = "http://localhost:4318";

/// Says to Langfuse in which form spans come.
const INGESTION_VERSION: (&str, &str) = ("x-langfuse-ingestion-version", "4");

/// A collector. It never shows what it is shown.
#[derive(Clone, PartialEq)]
pub struct Collector {
    url: Uri,
    headers: HeaderMap,
    compression: Compression,
    secrets: Vec<String>,
}

/// How a request is made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// With gzip.
    Gzip,
}

impl Collector {
    /// Where requests go.
    pub(crate) fn url(&self) -> &Uri {
        &self.url
    }

    /// What every request shows.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// How requests are made smaller.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The server, without path, query and user.
    #[must_use]
    pub fn server(&self) -> String {
        let scheme = self.url.scheme_str().unwrap_or_default();
        format!("{scheme}://{}", self.url.authority().map_or("", |authority| authority.as_str()))
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        self.secrets.clone()
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        formatter
            .debug_struct("Collector")
            .field("server", &self.server())
            .field("headers", &headers)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

/// Reads where spans go.
pub(super) fn destination(variables: &Variables<'_>) -> Result<Destination, SettingsError> {
    if variables.is_true(DISABLED) {
        return Ok(Destination::Nowhere(Off::Disabled { variable: DISABLED }));
    }
    let exporter = variables.get(EXPORTER);
    match exporter.as_deref() {
        None | Some("otlp") => {}
        Some("none") => return Ok(Destination::Nowhere(Off::Disabled { variable: EXPORTER })),
        Some("console") => return Ok(Destination::Console),
        Some(_) => {
            let why = "expected `otlp`, `console` or `none`";
            return Err(SettingsError::Unsupported { variable: EXPORTER, why });
        }
    }
    let url = if let Some(url) = variables.get(TRACES_ENDPOINT) {
        address(TRACES_ENDPOINT, &url, "")?
    } else if let Some(url) = variables.get(ENDPOINT) {
        address(ENDPOINT, &url, "/v1/traces")?
    } else if let Some((langfuse, url)) = langfuse(variables)? {
        // Headers that are meant for another collector are not shown to Langfuse.
        let mut collector = plain(variables, url)?;
        let authorization = format!("Basic {}", STANDARD.encode(&langfuse));
        let value = HeaderValue::try_from(authorization).expect("base64 can be sent");
        collector.show(AUTHORIZATION, value);
        collector.show(
            HeaderName::from_static(INGESTION_VERSION.0),
            HeaderValue::from_static(INGESTION_VERSION.1),
        );
        let secret = langfuse.split_once(':').map_or("", |(_, secret)| secret);
        collector.keep_secret(secret);
        return Ok(Destination::Collector(collector));
    } else if exporter.is_some() {
        address(EXPORTER, LOCAL, "/v1/traces")?
    } else if let Some((given, _)) = variables.first(&[TRACES_HEADERS, HEADERS]) {
        return Err(SettingsError::Missing { missing: ENDPOINT, given });
    } else {
        return Ok(Destination::Nowhere(Off::NotConfigured));
    };
    Ok(Destination::Collector(collector(variables, url)?))
}

/// A collector that is shown what the variables say.
fn collector(variables: &Variables<'_>, url: Uri) -> Result<Collector, SettingsError> {
    let mut collector = plain(variables, url)?;
    // What is said of traces goes before what is said of everything.
    for variable in [HEADERS, TRACES_HEADERS] {
        for (name, value) in variables.pairs(variable)? {
            let malformed = |why| SettingsError::Malformed { variable, why };
            let name = HeaderName::try_from(name).map_err(|_| malformed("a name is not that of a header"))?;
            let header =
                HeaderValue::try_from(&value).map_err(|_| malformed("a value cannot be sent in a header"))?;
            // Each vendor calls its key differently.
            let (_, key) = value.split_once(' ').unwrap_or(("", &value));
            collector.keep_secret(&value);
            collector.keep_secret(key);
            collector.show(name, header);
        }
    }
    Ok(collector)
}

/// A collector that is shown nothing.
fn plain(variables: &Variables<'_>, url: Uri) -> Result<Collector, SettingsError> {
    if let Some((variable, protocol)) = variables.first(&PROTOCOLS)
        && protocol != "http/protobuf"
    {
        return Err(SettingsError::Unsupported { variable, why: "expected `http/protobuf`" });
    }
    let compression = match variables.first(&COMPRESSIONS) {
        None => Compression::None,
        Some((variable, name)) => match name.as_str() {
            "gzip" => Compression::Gzip,
            "none" => Compression::None,
            _ => return Err(SettingsError::Unsupported { variable, why: "expected `gzip` or `none`" }),
        },
    };
    Ok(Collector { url, headers: HeaderMap::new(), compression, secrets: Vec::new() })
}

impl Collector {
    fn show(&mut self, name: HeaderName, mut value: HeaderValue) {
        value.set_sensitive(true);
        self.headers.insert(name, value);
    }

    fn keep_secret(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() >= SHORTEST_SECRET && !self.secrets.iter().any(|known| known == secret) {
            self.secrets.push(secret.to_owned());
        }
    }
}

/// User and password for Langfuse, and where it takes traces; none if nothing names it.
fn langfuse(variables: &Variables<'_>) -> Result<Option<(String, Uri)>, SettingsError> {
    let Some((given, _)) = variables.first(&[SECRET_KEY, PUBLIC_KEY, BASE_URL, HOST]) else {
        return Ok(None);
    };
    let needed =
        |missing: &'static str| variables.get(missing).ok_or(SettingsError::Missing { missing, given });
    let (public, secret) = (needed(PUBLIC_KEY)?, needed(SECRET_KEY)?);
    let host = variables.first(&[BASE_URL, HOST]);
    let (variable, host) = host.ok_or(SettingsError::Missing { missing: BASE_URL, given })?;
    if public.contains(':') {
        return Err(SettingsError::Malformed { variable: PUBLIC_KEY, why: "expected no `:` in it" });
    }
    let url = address(variable, &host, "/api/public/otel/v1/traces")?;
    Ok(Some((format!("{public}:{secret}"), url)))
}

/// An address with a path behind its own.
fn address(variable: &'static str, base: &str, path: &str) -> Result<Uri, SettingsError> {
    let malformed = |why| SettingsError::Malformed { variable, why };
    let base: Uri = base.parse().map_err(|_| malformed("expected an address"))?;
    let scheme = match base.scheme_str() {
        Some(scheme @ ("http" | "https")) => scheme,
        Some(_) | None => return Err(malformed("expected it to begin with `http://` or `https://`")),
    };
    let authority = base.authority().ok_or_else(|| malformed("expected the name of a host"))?;
    if authority.as_str().contains('@') {
        return Err(malformed("expected no user or password in it; `OTEL_EXPORTER_OTLP_HEADERS` holds keys"));
    }
    let own = if path.is_empty() { base.path() } else { base.path().trim_end_matches('/') };
    let query = base.query().map(|query| format!("?{query}")).unwrap_or_default();
    let url = Uri::builder().scheme(scheme).authority(authority.clone());
    url.path_and_query(format!("{own}{path}{query}")).build().map_err(|_| malformed("expected an address"))
}
