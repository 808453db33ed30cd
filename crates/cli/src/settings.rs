//! The settings: flags over `LMLANG_*` over `lmlang.toml` over the user's file over the defaults.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use figment::providers::{Env, Format, Serialized, Toml};
use figment::value::{Dict, Map};
use figment::{Figment, Metadata, Profile, Provider, Source};
use lmlang_agents::draft::manager::RestManager;
use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::graph_store::{GraphSource, make_graph_store};
use lmlang_agents::model::Models;
#[cfg(feature = "neo4j")]
use lmlang_agents::neo4j::{self, Neo4jStore};
use lmlang_engine::{FlowCode, Interpreter, Limits};
use lmlang_redact::{Policy, SHORTEST_SECRET};
use lmlang_server::telemetry::LogFormat;
use lmlang_store::Location;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::misset;

/// The name of the file in the current folder.
const FILE: &str = "lmlang.toml";

/// Where settings come from, the first before the next.
pub(crate) const LAYERS: &str = "A flag overrides a variable (`LMLANG_LISTEN` for `listen`), which overrides `lmlang.toml` in the \
current folder, which overrides `lmlang/config.toml` in `$XDG_CONFIG_HOME` or `~/.config`. `lmlang config show --origin` shows \
what holds, and why.";

/// The settings by name, in the order in which they are shown, each with what it means.
pub(crate) const NAMES: [(&str, &str); 23] = [
    ("data", "the folder of the database"),
    ("database_url", "the database instead, as a URL: `postgres://..` or `sqlite:..`"),
    ("server", "the server that commands ask, instead of a database"),
    ("listen", "the address that `serve` listens on; port 0 takes a free one"),
    ("insecure_no_auth", "whether callers of `serve` need no token, wherever they call from"),
    ("allowed_hosts", "hosts by which the server may be addressed beside the loopback names"),
    ("allowed_origins", "origins of pages that may call beside the server's own"),
    ("module_bytes", "bytes of a module that is taken in, by `serve` or into a database"),
    ("write_timeout", "seconds for which a client of `serve` may take nothing of what it is sent"),
    ("token", "what commands show to a server that asks for a token"),
    ("author", "who is recorded with changes made on the command line"),
    (
        "wait",
        "seconds to wait at most: for a database that another process has open, and for a run of a flow",
    ),
    ("log", "which events are logged, as for `RUST_LOG`"),
    ("log_format", "`auto`, `text` or `json`"),
    ("llm", "the models that flows ask, by role: kind, address, name, where the key is"),
    ("manager", "the stream Manager that drafts are for, as a URL; the built-in one without it"),
    ("graph_store", "where `act` keeps entities: `sql`, the database; `memory`; or `neo4j`"),
    ("neo4j_url", "the HTTP interface of the Neo4j server"),
    ("neo4j_user", "who asks the Neo4j database"),
    ("neo4j_password", "that user's password"),
    ("neo4j_database", "the database of the Neo4j server"),
    ("run_retention_days", "days for which `serve` keeps runs of flows that have ended; for ever without it"),
    ("redaction", "what is hidden in spans, events and exports beside what always is: `fields`, `patterns`"),
];

/// Variables of the environment that hold secrets which others read.
const KEYS: [&str; 5] =
    ["OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "LANGFUSE_SECRET_KEY", "PGPASSWORD"];

/// What can be set.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The folder of the database.
    pub(crate) data: PathBuf,
    /// The database instead, as a URL.
    pub(crate) database_url: Option<Secret>,
    /// The server that commands ask, instead of a database.
    pub(crate) server: Option<String>,
    /// The address that `serve` listens on.
    pub(crate) listen: String,
    /// Whether callers of `serve` need no token, wherever they call from.
    pub(crate) insecure_no_auth: bool,
    /// Hosts by which the server may be addressed beside the loopback names.
    pub(crate) allowed_hosts: Vec<String>,
    /// Origins of pages that may call beside the server's own.
    pub(crate) allowed_origins: Vec<String>,
    /// Bytes of a module that is taken in, by the server or into a database.
    pub(crate) module_bytes: usize,
    /// Seconds for which a client may take nothing of what it is sent.
    pub(crate) write_timeout: NonZeroU32,
    /// What commands show to a server that asks for a token.
    pub(crate) token: Option<Secret>,
    /// Who is recorded with changes made on the command line.
    pub(crate) author: String,
    /// Seconds to wait at most: for a database that another process has open, and for a run of a flow.
    pub(crate) wait: Option<u64>,
    /// Which events are logged.
    pub(crate) log: String,
    /// How log lines look.
    pub(crate) log_format: Logs,
    /// The models that flows ask, by role.
    pub(crate) llm: lmlang_agents::model::settings::Settings,
    /// The stream Manager that drafts are for, as a URL.
    pub(crate) manager: Option<String>,
    /// Where tasks keep entities: `sql`, `memory` or `neo4j`.
    pub(crate) graph_store: String,
    /// The address of the Neo4j server.
    pub(crate) neo4j_url: String,
    /// Who asks it.
    pub(crate) neo4j_user: String,
    /// That user's password.
    pub(crate) neo4j_password: Option<Secret>,
    /// The database on the server.
    pub(crate) neo4j_database: String,
    /// Days for which the server keeps runs of flows that have ended; for ever without it.
    pub(crate) run_retention_days: Option<NonZeroU32>,
    /// What is hidden in spans, events and exports beside what always is.
    pub(crate) redaction: lmlang_redact::Config,
}

/// A setting that is not shown to anybody.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The text, for whom it is meant.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Logs {
    /// Text on a terminal, JSON otherwise.
    #[default]
    Auto,
    /// Text.
    Text,
    /// JSON.
    Json,
}

impl From<Logs> for LogFormat {
    fn from(logs: Logs) -> LogFormat {
        match logs {
            Logs::Auto => LogFormat::Auto,
            Logs::Text => LogFormat::Text,
            Logs::Json => LogFormat::Json,
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            data: PathBuf::from(".lmlang"),
            database_url: None,
            server: None,
            listen: "127.0.0.1:4000".to_owned(),
            insecure_no_auth: false,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            module_bytes: lmlang_server::Config::default().module_bytes,
            write_timeout: const { NonZeroU32::new(60).unwrap() },
            token: None,
            author: author(),
            wait: None,
            log: "info,sea_orm_migration=warn,rmcp=warn".to_owned(),
            log_format: Logs::Auto,
            llm: lmlang_agents::model::settings::Settings::new(),
            manager: None,
            graph_store: "sql".to_owned(),
            neo4j_url: "http://127.0.0.1:7474".to_owned(),
            neo4j_user: "neo4j".to_owned(),
            neo4j_password: None,
            neo4j_database: "neo4j".to_owned(),
            run_retention_days: None,
            redaction: lmlang_redact::Config::default(),
        }
    }
}

/// The user's name, as the system tells it.
fn author() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "operator".to_owned())
}

/// Settings that the command line gives.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Flags {
    /// See [`Settings::data`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<PathBuf>,
    /// See [`Settings::database_url`]; one without a value takes another layer's away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) database_url: Option<Option<Secret>>,
    /// See [`Settings::server`]; one without a value takes another layer's away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<Option<String>>,
    /// See [`Settings::listen`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<String>,
    /// See [`Settings::insecure_no_auth`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) insecure_no_auth: Option<bool>,
    /// See [`Settings::token`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Secret>,
    /// See [`Settings::author`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    /// See [`Settings::wait`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<u64>,
}

/// A layer with a name of its own.
struct Layer<T>(&'static str, T);

impl<T: Serialize> Provider for Layer<T> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.0)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Serialized::defaults(&self.1).data()
    }
}

/// The settings with where each of them comes from.
#[derive(Debug)]
pub(crate) struct Layers(Figment);

impl Layers {
    /// Stacks the layers up; nothing is read into [`Settings`] yet.
    pub(crate) fn stack(flags: &Flags) -> Layers {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        let mut figment = Figment::from(Layer("default", Settings::default()));
        // Only those that are there: a file that is named and missing is an error to figment.
        let files = user_file().into_iter().chain([PathBuf::from(FILE)]).filter(|file| file.is_file());
        for file in files {
            figment = figment.merge(Toml::file_exact(file));
        }
        // `LMLANG_LLM__DEFAULT__MODEL` is the `model` of `[llm.default]`.
        let of_models = Env::prefixed("LMLANG_").filter(|name| name.starts_with("llm__")).split("__");
        let figment = figment
            .merge(Env::prefixed("LMLANG_").only(&names))
            .merge(of_models)
            .merge(Layer("flag", flags.clone()));
        Layers(figment)
    }

    /// What is named elsewhere and passed over because the command line names a database: who has written to another one
    /// than they thought has lost nothing, and does not find it.
    pub(crate) fn passed_over(flags: &Flags) -> Vec<String> {
        let database = matches!(flags.database_url, Some(None));
        let server = matches!(flags.server, Some(None));
        if !database && !server {
            return Vec::new();
        }
        let given = if flags.data.is_some() { "--data" } else { "--database-url" };
        let below = Layers::stack(&Flags::default());
        let named = |name: &str| below.0.find_value(name).is_ok_and(|url| url.into_string().is_some());
        let told = |name: &str, what: &str, done: &str| {
            format!("`{given}` is given, so the {what} that {} names is not {done}", below.origin(name))
        };
        let database =
            (database && named("database_url")).then(|| told("database_url", "database", "looked at"));
        let server = (server && named("server")).then(|| told("server", "server", "asked"));
        database.into_iter().chain(server).collect()
    }

    /// The settings.
    pub(crate) fn settings(&self) -> Result<Settings, Error> {
        self.0.extract().map_err(|error| misset::told(&error))
    }

    /// Where a setting comes from, in words.
    pub(crate) fn origin(&self, name: &str) -> String {
        match self.0.find_metadata(name) {
            None => "default".to_owned(),
            Some(metadata) => match &metadata.source {
                Some(Source::File(path)) => path.display().to_string(),
                Some(_) | None if metadata.name.contains("environment") => {
                    format!("LMLANG_{}", name.to_ascii_uppercase())
                }
                Some(_) | None => metadata.name.to_string(),
            },
        }
    }
}

/// What carries out flows.
pub(crate) struct FlowCodes {
    /// The code of those that come with the program.
    pub(crate) built_in: Vec<Arc<dyn FlowCode>>,
    /// Carries out those that are declared.
    pub(crate) interpreter: Arc<dyn Interpreter>,
}

impl Settings {
    /// The address to listen on.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        self.listen.parse().map_err(|source| Error::Address { given: self.listen.clone(), source })
    }

    /// The language models that flows ask.
    pub(crate) fn models(&self) -> Result<Arc<Models>, Error> {
        let variable = |name: &str| std::env::var(name).ok();
        let models = lmlang_agents::model::build(&self.llm, &variable, lmlang_agents::model::tokens);
        models.map(Arc::new).map_err(|error| Error::Models(Box::new(error)))
    }

    /// The code of the flows.
    pub(crate) fn flows(&self) -> Result<FlowCodes, Error> {
        let manager = match &self.manager {
            None => ManagerSource::BuiltIn,
            Some(url) => {
                let manager = RestManager::new(url).map_err(Error::Manager)?;
                ManagerSource::Given(Arc::new(manager))
            }
        };
        // A script goes on where another flow left it, and entities are kept in one place.
        let (models, graph) = (self.models()?, self.graph()?);
        let interpreter = lmlang_agents::interpreter(&models, graph.clone());
        Ok(FlowCodes { built_in: lmlang_agents::flows(&models, graph, manager), interpreter })
    }

    /// Where tasks keep entities.
    fn graph(&self) -> Result<GraphSource, Error> {
        match self.graph_store.as_str() {
            #[cfg(feature = "neo4j")]
            "neo4j" => {
                let settings = neo4j::Settings {
                    url: &self.neo4j_url,
                    user: &self.neo4j_user,
                    password: self.neo4j_password.as_ref().map_or("", Secret::reveal),
                    database: &self.neo4j_database,
                };
                let store = Neo4jStore::new(&settings).map_err(Error::Neo4j)?;
                Ok(GraphSource::Given(Arc::new(store)))
            }
            kind => make_graph_store(kind).map_err(Error::GraphStore),
        }
    }

    /// What is hidden in all that is told of runs: what the settings say, and every secret that this process was given.
    pub(crate) fn redaction(&self) -> Result<Policy, Error> {
        let keys = self.llm.values().filter_map(|model| model.api_key_env.clone());
        let named = keys.chain(KEYS.map(str::to_owned)).filter_map(|name| std::env::var(name).ok());
        let given = [&self.token, &self.neo4j_password];
        let own = given.into_iter().flatten().map(|secret| secret.reveal().to_owned());
        let shown = self.telemetry()?.secrets();
        let secrets: BTreeSet<String> =
            named.chain(own).chain(shown).filter(|text| text.trim().len() >= SHORTEST_SECRET).collect();
        let config =
            lmlang_redact::Config { secrets: secrets.into_iter().collect(), ..self.redaction.clone() };
        Policy::new(&config).map_err(Error::Redaction)
    }

    /// Where the spans of runs are sent.
    #[expect(clippy::unused_self, reason = "what the environment names is a setting, too")]
    pub(crate) fn telemetry(&self) -> Result<lmlang_telemetry::Settings, Error> {
        let variable = |name: &str| std::env::var(name).ok();
        lmlang_telemetry::Settings::from_env(&variable).map_err(Error::Telemetry)
    }

    /// The bounds of an engine that is served.
    pub(crate) fn limits(&self) -> Limits {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let run_retention = self.run_retention_days.map(|days| DAY * days.get());
        Limits { run_retention, ..Limits::default() }
    }

    /// What tells apart the settings that flows go by: a digest of them.
    pub(crate) fn hash(&self) -> String {
        let settings = serde_json::json!({
            "llm": self.llm, "manager": self.manager, "redaction": self.redaction,
            "graph": [&self.graph_store, &self.neo4j_url, &self.neo4j_user, &self.neo4j_database],
        });
        blake3::hash(settings.to_string().as_bytes()).to_hex()[..16].to_owned()
    }

    /// Where the database is.
    pub(crate) fn location(&self) -> Result<Location, Error> {
        match &self.database_url {
            Some(url) => Location::parse(url.reveal()).map_err(Error::Location),
            None => Ok(Location::File(self.data.join("lmlang.db"))),
        }
    }
}

/// The user's own settings, for all folders.
fn user_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = match set("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(&set("HOME")?).join(".config"),
    };
    Some(folder.join("lmlang").join("config.toml"))
}
