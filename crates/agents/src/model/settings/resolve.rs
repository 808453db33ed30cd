//! What settings and the environment come to.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::super::openai::{LimitField, Structured};
use super::super::patience::Retry;
use super::super::prices::Prices;
use super::super::role::Role;
use super::super::secret::Secret;
use super::{CassetteSettings, Kind, ModelSettings, SettingsError};

/// Reads a variable of the environment.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// OpenAI's own server.
const OPENAI: &str = "https://api.openai.com/v1";
/// OpenRouter's.
const OPENROUTER: &str = "https://openrouter.ai/api/v1";
/// Ollama's port.
const OLLAMA_PORT: u16 = 11_434;

/// The models that are asked where only a key is there, and no word about which.
const OPENAI_MODEL: &str = "gpt-4o-mini";
const OPENROUTER_MODEL: &str = "openrouter/auto";
const OLLAMA_MODEL: &str = "llama3.2";

/// Most bytes of a file with a key.
const KEY: u64 = 16 << 10;

/// The settings of one role, each with a value.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// What answers.
    pub(crate) provider: Provider,
    /// How often a request is sent.
    pub(crate) retry: Retry,
    /// How long an attempt may take.
    pub(crate) timeout: Duration,
    /// How many requests go out in a minute.
    pub(crate) per_minute: Option<u32>,
    /// How many are under way.
    pub(crate) at_once: Option<u32>,
    /// Where answers are recorded, or taken from.
    pub(crate) cassette: Option<CassetteSettings>,
}

/// What answers, with what is particular to it.
#[derive(Debug)]
pub(crate) enum Provider {
    /// A server.
    Server(Box<Server>),
    /// A script.
    Script(std::path::PathBuf),
    /// Nothing.
    Rules,
}

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    /// Who it is.
    pub(crate) name: &'static str,
    /// Where.
    pub(crate) base_url: String,
    /// The model.
    pub(crate) model: String,
    /// The key.
    pub(crate) key: Option<Secret>,
    /// What tokens cost.
    pub(crate) prices: Prices,
    /// How it is made to answer in JSON.
    pub(crate) structured: Structured,
    /// What it calls the most tokens.
    pub(crate) limit: LimitField,
    /// Whether it is asked for the tokens of a stream.
    pub(crate) stream_usage: bool,
    /// Whether it is asked for what an answer costs.
    pub(crate) reports_cost: bool,
    /// How long it may send nothing.
    pub(crate) idle: Duration,
}

/// What the settings of one role come to; they are complete, with what `default` says in them.
pub(crate) fn resolve(
    role: &Role,
    settings: ModelSettings,
    variable: Variable<'_>,
) -> Result<Resolved, SettingsError> {
    for (field, zero) in [
        ("timeout_ms", settings.timeout_ms == Some(0)),
        ("idle_timeout_ms", settings.idle_timeout_ms == Some(0)),
        ("attempts", settings.attempts == Some(0)),
        ("requests_per_minute", settings.requests_per_minute == Some(0)),
        ("concurrency", settings.concurrency == Some(0)),
    ] {
        if zero {
            return Err(SettingsError::Zero { role: role.clone(), field });
        }
    }
    let millis = |given: Option<u64>, usual| Duration::from_millis(given.unwrap_or(usual));
    Ok(Resolved {
        retry: Retry {
            attempts: settings.attempts.unwrap_or(3),
            first: millis(settings.backoff_ms, 500),
            longest: millis(settings.longest_backoff_ms, 30_000),
        },
        timeout: millis(settings.timeout_ms, 120_000),
        per_minute: settings.requests_per_minute,
        at_once: settings.concurrency,
        cassette: settings.cassette.clone(),
        provider: provider(role, settings, variable)?,
    })
}

fn provider(role: &Role, settings: ModelSettings, variable: Variable<'_>) -> Result<Provider, SettingsError> {
    let wrong = |why| Err(SettingsError::Kind { role: role.clone(), why });
    let kind = match settings.kind {
        Some(kind) => kind,
        None if settings.base_url.is_some() => Kind::OpenAi,
        None if settings.script.is_some() => Kind::Script,
        None => match discovered(variable) {
            Some(kind) => kind,
            None if settings.model.is_some() => {
                return wrong(
                    "a model is named, and nothing says where it is: set `base_url`, `kind`, `OPENAI_API_KEY`, \
                     `OPENROUTER_API_KEY` or `OLLAMA_HOST`",
                );
            }
            None => Kind::Rules,
        },
    };
    if kind != Kind::Script && settings.script.is_some() {
        return wrong("`script` is only for `kind = \"script\"`");
    }
    match kind {
        Kind::OpenAi | Kind::OpenRouter | Kind::Ollama => {
            Ok(Provider::Server(Box::new(server(role, kind, settings, variable)?)))
        }
        Kind::Script => match settings.script {
            Some(script) => Ok(Provider::Script(script)),
            None => wrong("`kind = \"script\"` needs a `script`"),
        },
        Kind::Rules => Ok(Provider::Rules),
    }
}

/// What the variables that users have already say there is.
fn discovered(variable: Variable<'_>) -> Option<Kind> {
    let variables = [
        ("OPENAI_API_KEY", Kind::OpenAi),
        ("OPENAI_BASE_URL", Kind::OpenAi),
        ("OPENROUTER_API_KEY", Kind::OpenRouter),
        ("OLLAMA_HOST", Kind::Ollama),
    ];
    variables.into_iter().find(|(name, _)| set(variable, name).is_some()).map(|(_, kind)| kind)
}

fn server(
    role: &Role,
    kind: Kind,
    settings: ModelSettings,
    variable: Variable<'_>,
) -> Result<Server, SettingsError> {
    let known = |name: &str| set(variable, name);
    let (name, usual_url, key_variable, model_variable, usual_model) = match kind {
        Kind::OpenRouter => (
            "openrouter",
            OPENROUTER.to_owned(),
            Some("OPENROUTER_API_KEY"),
            "OPENROUTER_MODEL",
            OPENROUTER_MODEL,
        ),
        Kind::Ollama => ("ollama", ollama(known("OLLAMA_HOST")), None, "OLLAMA_MODEL", OLLAMA_MODEL),
        Kind::OpenAi | Kind::Script | Kind::Rules => {
            let url = known("OPENAI_BASE_URL").unwrap_or_else(|| OPENAI.to_owned());
            ("openai", url, Some("OPENAI_API_KEY"), "OPENAI_MODEL", OPENAI_MODEL)
        }
    };
    let own_url = settings.base_url.is_some();
    let base_url = settings.base_url.unwrap_or(usual_url);
    let named = key(role, settings.api_key_env, settings.api_key_file.as_deref(), variable)?;
    let key = match (named, key_variable) {
        (Some(key), _) => Some(key),
        // A key that belongs to one server is not shown to another.
        (None, _) if own_url => None,
        (None, None) => None,
        (None, Some(usual)) => match known(usual) {
            Some(key) => Some(Secret::new(key)),
            None if base_url == OPENAI || base_url == OPENROUTER => {
                return Err(SettingsError::NoKey { role: role.clone(), variable: usual });
            }
            None => None,
        },
    };
    let model = match settings.model {
        Some(model) => model,
        None if own_url => return Err(SettingsError::ModelName { role: role.clone() }),
        None => known(model_variable).unwrap_or_else(|| usual_model.to_owned()),
    };
    let prices = settings.prices.unwrap_or_default();
    if let Some((model, _)) = prices.iter().find(|(_, price)| !price.is_legal()) {
        return Err(SettingsError::Price { role: role.clone(), model: model.clone() });
    }
    let limit = match base_url.trim_end_matches('/') {
        OPENAI => LimitField::MaxCompletionTokens,
        _ => LimitField::MaxTokens,
    };
    Ok(Server {
        name,
        base_url,
        model,
        key,
        prices,
        structured: settings.structured.unwrap_or_default(),
        limit: settings.limit_field.unwrap_or(limit),
        stream_usage: settings.stream_usage.unwrap_or(true),
        reports_cost: kind == Kind::OpenRouter,
        idle: Duration::from_millis(settings.idle_timeout_ms.unwrap_or(60_000)),
    })
}

/// A variable that has more than spaces in it.
fn set(variable: Variable<'_>, name: &str) -> Option<String> {
    let value = variable(name)?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}

fn key(
    role: &Role,
    name: Option<String>,
    file: Option<&Path>,
    variable: Variable<'_>,
) -> Result<Option<Secret>, SettingsError> {
    let role = || role.clone();
    match (name, file) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(SettingsError::TwoKeys { role: role() }),
        (Some(name), None) => {
            // Keys have small letters or signs in them; names of variables do not.
            let legal = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
            if name.is_empty() || name.len() > 64 || !name.bytes().all(legal) {
                return Err(SettingsError::KeyName { role: role() });
            }
            match set(variable, &name) {
                Some(key) => Ok(Some(Secret::new(key))),
                None => Err(SettingsError::KeyVariable { role: role(), variable: name }),
            }
        }
        (None, Some(path)) => {
            let file = path.display().to_string();
            let text = fs::metadata(path).and_then(|there| {
                if there.len() > KEY { Ok(String::new()) } else { fs::read_to_string(path) }
            });
            let text = match text {
                Ok(text) => text,
                Err(error) => return Err(SettingsError::KeyFile { role: role(), file, error }),
            };
            let key = text.trim();
            if key.is_empty() || key.contains(char::is_whitespace) {
                return Err(SettingsError::KeyText { role: role(), file });
            }
            Ok(Some(Secret::new(key)))
        }
    }
}

/// The base URL for what `OLLAMA_HOST` says, which its own server reads as well: so it may be an address to listen on.
fn ollama(host: Option<String>) -> String {
    let host = host.unwrap_or_default();
    let (scheme, rest) = match host.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("http", host.as_str()),
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, port) = match authority.rsplit_once(':') {
        // Not within the brackets of an address of version 6.
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        Some(_) | None => (authority, None),
    };
    let name = match name {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        name => name,
    };
    let port = match port {
        Some(port) => format!(":{port}"),
        None if host.contains("://") => String::new(),
        None => format!(":{OLLAMA_PORT}"),
    };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    format!("{scheme}://{name}{port}{path}/v1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, expect: &str) {
        assert_eq!(ollama(Some(host.to_owned())), expect, "{host}");
    }

    #[test]
    fn ollama_is_where_its_variable_says() {
        assert_eq!(ollama(None), "http://127.0.0.1:11434/v1");
        check("0.0.0.0", "http://127.0.0.1:11434/v1");
        check("0.0.0.0:80", "http://127.0.0.1:80/v1");
        check(":9000", "http://127.0.0.1:9000/v1");
        check("gpu.local", "http://gpu.local:11434/v1");
        check("[::]:5", "http://[::1]:5/v1");
        check("[fe80::1]", "http://[fe80::1]:11434/v1");
        check("https://o.example.com", "https://o.example.com/v1");
        check("https://o.example.com:4/sub/", "https://o.example.com:4/sub/v1");
    }
}
