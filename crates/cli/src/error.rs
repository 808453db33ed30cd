//! Why a command was not carried out, with the code and the exit that go with it.

use std::io;
use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;

use lmlang_engine::Error as EngineError;
use lmlang_engine::backup::Unsound;
use lmlang_history::log::Actor;
use lmlang_mcp::{RpcCode, RpcError};
use lmlang_server::telemetry::LogError;
use lmlang_store::backup::{FileError, Refused};
use lmlang_store::{Fault, Location, OpenError, UnknownLocation};
use lmlang_wasm::{ExportError, ImportError};
use serde_json::Value;
use thiserror::Error;

use crate::codes::{engine_code, refusal_code, refused_exit};
use crate::exit::Exit;

/// Why a command was not carried out.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// A tool was not called.
    #[error(transparent)]
    Tool(#[from] RpcError),
    /// The arguments of a tool are none.
    #[error("the arguments of `{tool}` are no JSON object")]
    ToolArguments {
        /// The tool.
        tool: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The use case refused, or could not.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Whoever answers requests refused.
    #[error("{message}")]
    Refused {
        /// The code of the error, as the API lists it.
        code: String,
        /// What is wrong.
        message: String,
        /// Names that come near.
        candidates: Vec<String>,
        /// What else the API says: the argument that it is about, as `path`, a limit, values that there are.
        data: Value,
    },
    /// An answer is none of ours, or of another version.
    #[error("the answer is none of lmlang's, or that of another version of it")]
    Answer(#[source] serde_json::Error),
    /// The address of a server is none.
    #[error("`{given}` is not the address of a server, such as `http://127.0.0.1:4000`: {why}")]
    ServerUrl {
        /// What was given.
        given: String,
        /// What is wrong.
        why: String,
    },
    /// The settings of models make no sense.
    #[error("the settings of models")]
    Models(#[source] Box<lmlang_agents::model::SettingsError>),
    /// The Manager has no such address.
    #[error("the setting `manager`")]
    Manager(#[source] lmlang_agents::draft::manager::AddressError),
    /// There is no such place for entities.
    #[error("the setting `graph_store`")]
    GraphStore(#[source] lmlang_agents::graph_store::GraphError),
    /// The Neo4j server has no such address.
    #[cfg_attr(not(feature = "neo4j"), expect(dead_code, reason = "there is no such store then"))]
    #[error("the setting `neo4j_url`")]
    Neo4j(#[source] lmlang_agents::draft::manager::AddressError),
    /// What is to be hidden makes no sense.
    #[error("the settings of what is hidden")]
    Redaction(#[source] lmlang_redact::PolicyError),
    /// The environment names a collector of spans in a way that makes no sense.
    #[error("the variables of the collector")]
    Telemetry(#[source] lmlang_telemetry::SettingsError),
    /// Spans cannot be sent.
    #[error("spans cannot be sent to the collector")]
    Collector(#[source] lmlang_telemetry::StartError),
    /// What is given to work with cannot be read, or names nothing.
    #[error("{0}")]
    Input(String),
    /// The author's name is none that a change can be recorded under.
    #[error("the author's name must be one line of 1 to {} bytes", Actor::NAME_BYTES)]
    AuthorName,
    /// The token is none that a server could be shown.
    #[error("the token cannot be sent to a server")]
    TokenText,
    /// The address is reachable from other machines, and everybody there would be let in, or nobody.
    #[error(
        "`{0}` is not a loopback address, and the database has no tokens: `lmlang token create` makes one, \
         `--insecure-no-auth` does without"
    )]
    NoTokens(SocketAddr),
    /// The server cannot be reached.
    #[error("no server answers at `{url}`")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection to the server ended before its answer.
    #[error("the connection to the server at `{url}` was lost before it answered")]
    Lost {
        /// Where.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A change may have been made, and nobody said so.
    #[error("it may have been carried out: `{look}` shows whether it was")]
    InDoubt {
        /// The command that shows it.
        look: String,
        /// Why nothing is known.
        source: Box<Error>,
    },
    /// The server did not answer in time.
    #[error("the server at `{url}` did not answer within {seconds} s")]
    TimeOut {
        /// Where.
        url: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The database was not opened.
    #[error(transparent)]
    Open(Box<OpenError>),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] Fault),
    /// The server did not start.
    #[error(transparent)]
    Server(#[from] lmlang_server::Error),
    /// Logging did not start.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The settings cannot be right.
    #[error("the settings cannot be used: {message}")]
    Settings {
        /// Which of them, and what is wrong with it.
        message: String,
        /// Settings whose names come near.
        candidates: Vec<String>,
    },
    /// The address to listen on is none.
    #[error("`{given}` is not an address: expected one like `127.0.0.1:4000`")]
    Address {
        /// What was given.
        given: String,
        /// Why.
        source: AddrParseError,
    },
    /// There is no database file.
    #[error("there is no database at `{0}`: `lmlang serve`, `import` or `program create` makes one")]
    NoDatabase(Location),
    /// What the settings say of the database is no place of one.
    #[error("`database_url` cannot be used")]
    Location(#[source] UnknownLocation),
    /// A file cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What a program removed stays: what it made of it may be what could not be written.
    #[error("`{}` is not removed, as not all that the program wrote could be written", .0.display())]
    Kept(PathBuf),
    /// A file is no backup that can be used.
    #[error("`{}` cannot be read as a backup", path.display())]
    Backup {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FileError,
    },
    /// Programs of a backup cannot be stored beside what is there.
    #[error("`{}` is not loaded", path.display())]
    NotLoaded {
        /// The file.
        path: PathBuf,
        /// Which ones, and why.
        source: Refused,
    },
    /// Programs of a backup are not in order.
    #[error("`{}` is not loaded", path.display())]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Unsound,
    },
    /// Another process changed a program, or what belongs to none, while it was loaded.
    #[error("`{}` is not loaded as a whole: another process changed {what} meanwhile; load it again", path.display())]
    Moved {
        /// The file.
        path: PathBuf,
        /// What was changed.
        what: String,
    },
    /// A server cannot do this for a command: what is done, and where; the server that was named.
    #[error("{0}: give `--data`, not the server `{1}`")]
    NotByServer(&'static str, String),
    /// Nothing happens to the programs of a database that only this process has open.
    #[error(
        "nobody else can change what this command has open: watch a database that `lmlang serve` has open"
    )]
    NotServed,
    /// A WebAssembly module where a text is wanted.
    #[error("`{}` is a WebAssembly module: a file in the text form (`.lm`) is wanted", .0.display())]
    NoText(PathBuf),
    /// A text where a WebAssembly module is wanted.
    #[error("`{}` is in the text form: a WebAssembly module (`.wasm`, `.wat`) is what becomes the content of a program", .0.display())]
    TextIntoProgram(PathBuf),
    /// A file that is no module, or has something that programs do not have.
    #[error("`{}`", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ImportError>,
    },
    /// A program that is not written as a module.
    #[error(transparent)]
    Export(Box<ExportError>),
    /// A module of ours that cannot be printed.
    #[error("the module cannot be printed: {0}")]
    Printed(String),
    /// A module that is to be written as something else.
    #[error("a module is written to a file that ends in `.wasm` or `.wat`")]
    NoModule,
    /// A file that would be written over what it is made from.
    #[error("`{}` would be written over itself", .0.display())]
    SameFile(PathBuf),
    /// A program that offers nothing to those who run it.
    #[error(
        "`{0}` has no `main` that takes and returns nothing, and exports no function: name one with `--main`"
    )]
    NothingToRun(String),
    /// Nothing can be told from a file's name; what else it may be is told.
    #[error("`{}` does not say what it holds: expected a name that ends in `.lm`, `.wasm` or `.wat`{}", .0.display(), .1)]
    UnknownSuffix(PathBuf, &'static str),
    /// Nothing says which function is to be run.
    #[error(
        "`{name}` has {}",
        match candidates.is_empty() {
            true => "no functions: there is nothing to run",
            false => "no export `_start` and no function `main`: name the function that is to be run",
        }
    )]
    NoStart {
        /// The file.
        name: String,
        /// Functions that there are.
        candidates: Vec<String>,
    },
    /// No function has the name.
    #[error("`{name}` has no function `{given}`")]
    NoFunction {
        /// The file.
        name: String,
        /// What was given.
        given: String,
        /// Names that come near.
        candidates: Vec<String>,
    },
    /// More than one function has the name.
    #[error("`{given}` names {} functions", candidates.len())]
    AmbiguousFunction {
        /// What was given.
        given: String,
        /// The functions.
        candidates: Vec<String>,
    },
    /// The function takes another number of arguments.
    #[error("`{function}` takes {}, found {found}: `{signature}`", lmlang_ir::counted(*expected as u64, "argument", "arguments"))]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
        /// Its head.
        signature: String,
    },
    /// An argument is no value of the parameter's type.
    #[error("argument {number}, `{given}`, is not a value of `{parameter}: {ty}`: {reason}")]
    Argument {
        /// Its position, from 1.
        number: usize,
        /// What was given.
        given: String,
        /// The parameter.
        parameter: String,
        /// Its type.
        ty: String,
        /// What is wrong.
        reason: String,
    },
    /// The function cannot be run by itself.
    #[error("the function cannot be run: {reason}")]
    CannotRun {
        /// Why.
        reason: String,
    },
    /// A command of the debugger that cannot be carried out.
    #[error("`{line}`: {reason}")]
    Command {
        /// The command.
        line: String,
        /// Why.
        reason: String,
        /// Names that come near.
        candidates: Vec<String>,
    },
    /// A revision that a distance leads to is no entry's number.
    #[error("`{given}` is not a revision that can be gone to: expected one like `r12`")]
    Target {
        /// What was given.
        given: String,
    },
    /// The command lists what authors have done, and records none itself.
    #[error(
        "`{0}` records no author, so `--author` chooses nothing: `--by NAME` lists what one author has done"
    )]
    NoAuthor(&'static str),
    /// Both sides of a merge are to be taken everywhere.
    #[error("`--ours` and `--theirs` cannot both be taken everywhere: name conflicts, as in `--theirs=n3`")]
    BothSides,
    /// What comes from standard input has no name of its own.
    #[error("standard input has no name for the program: give `--name`")]
    NoName,
    /// Somebody has to agree, and cannot be asked.
    #[error("`{what}` asks first and there is no terminal: give `--yes`")]
    NotConfirmed {
        /// The command.
        what: &'static str,
    },
    /// The runtime did not start, or standard output is closed.
    #[error("{what} failed")]
    Io {
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// What was named is not there, and these names come near.
    pub(crate) fn not_found(message: String, candidates: Vec<String>) -> Error {
        Error::Refused { code: "NOT_FOUND".to_owned(), message, candidates, data: Value::Null }
    }

    /// The stable name of the error.
    pub(crate) fn code(&self) -> &str {
        match self {
            Error::Refused { code, .. } => code,
            Error::Answer(_) => "BAD_ANSWER",
            Error::ServerUrl { .. }
            | Error::AuthorName
            | Error::TokenText
            | Error::Models(_)
            | Error::Manager(_)
            | Error::GraphStore(_)
            | Error::Neo4j(_)
            | Error::Telemetry(_)
            | Error::Collector(_)
            | Error::Redaction(_) => "BAD_SETTINGS",
            Error::Input(_) => "BAD_REQUEST",
            Error::Unreachable { .. } => "UNREACHABLE",
            Error::Lost { .. } => "CONNECTION_LOST",
            Error::InDoubt { .. } => "IN_DOUBT",
            Error::TimeOut { .. } => "TIMEOUT",
            Error::Engine(error) => engine_code(error),
            Error::Tool(error) => error.code.word(),
            Error::ToolArguments { .. } => "BAD_ARGUMENT",
            Error::Open(error) => match error.as_ref() {
                OpenError::Held { .. } => "DATABASE_HELD",
                OpenError::NewerSchema { .. } => "DATABASE_NEWER",
                OpenError::Foreign { .. } => "DATABASE_FOREIGN",
                OpenError::Path { .. } | OpenError::Database { .. } => "STORAGE_UNAVAILABLE",
            },
            Error::Storage(_) => "STORAGE_UNAVAILABLE",
            Error::Server(_) | Error::NoTokens(_) => "CANNOT_LISTEN",
            Error::Log(_) | Error::Settings { .. } | Error::Address { .. } | Error::Location(_) => {
                "BAD_SETTINGS"
            }
            Error::NoDatabase(_) => "NO_DATABASE",
            Error::Read { .. } | Error::Write { .. } | Error::Kept(_) | Error::Io { .. } => "IO",
            Error::NoText(_) | Error::TextIntoProgram(_) | Error::Printed(_) => "UNSUPPORTED",
            Error::Import { source, .. } => match source.as_ref() {
                ImportError::Invalid { .. } | ImportError::Text { .. } => "BAD_REQUEST",
                ImportError::Unsupported { .. } => "UNSUPPORTED",
                ImportError::TooMany { .. } | ImportError::TooManyNodes { .. } => "LIMIT_EXCEEDED",
            },
            Error::Export(error) => match error.as_ref() {
                ExportError::Incomplete { .. } => "INCOMPLETE",
                ExportError::Unsupported { .. } => "UNSUPPORTED",
                ExportError::NoMain { .. } => "BAD_ARGUMENT",
            },
            Error::UnknownSuffix(..) => "UNKNOWN_SUFFIX",
            Error::NoStart { .. } | Error::NoFunction { .. } => "NOT_FOUND",
            Error::AmbiguousFunction { .. } => "AMBIGUOUS_NAME",
            Error::ArgumentCount { .. }
            | Error::Argument { .. }
            | Error::CannotRun { .. }
            | Error::Command { .. }
            | Error::Target { .. }
            | Error::NoAuthor(_)
            | Error::BothSides
            | Error::NoModule
            | Error::SameFile(_)
            | Error::NothingToRun(_)
            | Error::NoName => "BAD_ARGUMENT",
            Error::NotConfirmed { .. } => "NOT_CONFIRMED",
            Error::Backup { source, .. } => match source {
                FileError::Io(_) => "IO",
                FileError::Version { .. } => "BACKUP_NEWER",
                FileError::Foreign | FileError::Truncated { .. } | FileError::Damaged { .. } => "BAD_BACKUP",
            },
            Error::Unsound { .. } => "BAD_BACKUP",
            // One of them; the message has all.
            Error::NotLoaded { source, .. } => source.0.first().map_or("DIVERGED", refusal_code),
            Error::Moved { .. } => "HEAD_MOVED",
            Error::NotByServer(..) | Error::NotServed => "BAD_SETTINGS",
        }
    }

    /// How the process ends on it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Error::Refused { code, .. } => refused_exit(code),
            Error::ServerUrl { .. }
            | Error::AuthorName
            | Error::TokenText
            | Error::Input(_)
            | Error::Models(_)
            | Error::Manager(_)
            | Error::GraphStore(_)
            | Error::Neo4j(_)
            | Error::Telemetry(_)
            | Error::Collector(_)
            | Error::Redaction(_) => Exit::Usage,
            Error::TimeOut { .. } => Exit::TimeOut,
            Error::Answer(_) | Error::Unreachable { .. } | Error::Lost { .. } => Exit::Failure,
            Error::InDoubt { source, .. } => source.exit(),
            Error::Tool(error) => match error.code {
                RpcCode::MethodNotFound => Exit::NotFound,
                RpcCode::LockError => Exit::Conflict,
                RpcCode::ParseError
                | RpcCode::InvalidRequest
                | RpcCode::InvalidParams
                | RpcCode::ValidationError => Exit::Usage,
                RpcCode::Internal
                | RpcCode::TokenLimitExceeded
                | RpcCode::NetworkError
                | RpcCode::RateLimited => Exit::Failure,
            },
            Error::ToolArguments { .. } => Exit::Usage,
            Error::Engine(error) => match error {
                EngineError::NotFound { .. } => Exit::NotFound,
                EngineError::BadRequest { .. }
                | EngineError::Argument { .. }
                | EngineError::Breakpoint { .. }
                | EngineError::Bisect(_)
                | EngineError::EntityValue(_)
                | EngineError::EntityConstraint(_)
                | EngineError::Cypher(_) => Exit::Usage,
                EngineError::NameTaken { .. } | EngineError::IdempotencyMismatch => Exit::Conflict,
                EngineError::Late => Exit::TimeOut,
                EngineError::Limit { .. }
                | EngineError::ModuleEntries { .. }
                | EngineError::ModuleNodes { .. }
                | EngineError::CursorInvalid { .. }
                | EngineError::Overloaded { .. }
                | EngineError::TooMany { .. }
                | EngineError::Unsupported { .. }
                | EngineError::Storage(_)
                | EngineError::Unmergeable { .. }
                | EngineError::Damaged { .. }
                | EngineError::Closed => Exit::Failure,
            },
            Error::Open(error) => match error.as_ref() {
                OpenError::Held { .. } => Exit::Conflict,
                OpenError::Path { .. }
                | OpenError::NewerSchema { .. }
                | OpenError::Foreign { .. }
                | OpenError::Database { .. } => Exit::Failure,
            },
            Error::NotLoaded { .. } | Error::Moved { .. } => Exit::Conflict,
            Error::Backup { source: FileError::Io(source), .. }
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Exit::NotFound
            }
            Error::Export(error) if matches!(**error, ExportError::NoMain { .. }) => Exit::Usage,
            Error::NoDatabase(_) | Error::NoStart { .. } | Error::NoFunction { .. } => Exit::NotFound,
            Error::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::NotFound,
            Error::Log(_)
            | Error::Location(_)
            | Error::Settings { .. }
            | Error::Address { .. }
            | Error::UnknownSuffix(..)
            | Error::AmbiguousFunction { .. }
            | Error::ArgumentCount { .. }
            | Error::Argument { .. }
            | Error::CannotRun { .. }
            | Error::Command { .. }
            | Error::Target { .. }
            | Error::NoAuthor(_)
            | Error::BothSides
            | Error::NoName
            | Error::NotConfirmed { .. }
            | Error::NotByServer(..)
            | Error::NotServed
            | Error::NoModule
            | Error::SameFile(_)
            | Error::NothingToRun(_) => Exit::Usage,
            Error::Storage(_)
            | Error::Server(_)
            | Error::NoTokens(_)
            | Error::Read { .. }
            | Error::Write { .. }
            | Error::Kept(_)
            | Error::NoText(_)
            | Error::TextIntoProgram(_)
            | Error::Import { .. }
            | Error::Export(_)
            | Error::Printed(_)
            | Error::Backup { .. }
            | Error::Unsound { .. }
            | Error::Io { .. } => Exit::Failure,
        }
    }

    /// Names that come near to what was not found.
    pub(crate) fn candidates(&self) -> &[String] {
        match self {
            Error::Refused { candidates, .. }
            | Error::Settings { candidates, .. }
            | Error::NoStart { candidates, .. }
            | Error::NoFunction { candidates, .. }
            | Error::AmbiguousFunction { candidates, .. }
            | Error::Command { candidates, .. }
            | Error::Engine(EngineError::NotFound { candidates, .. }) => candidates,
            _ => &[],
        }
    }

    /// What on the command line may keep it from happening again, where the error speaks of something else.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        match self.code() {
            "UNAUTHENTICATED" => Some("a command shows the token of `LMLANG_TOKEN` or `--token`"),
            "DATABASE_HELD" => Some("`--wait 30` waits for it, 30 seconds at most"),
            "CANNOT_LISTEN" if matches!(self, Error::Server(_)) => {
                Some("`--listen` takes another address; with port 0 one that is free")
            }
            _ => None,
        }
    }

    /// What goes with the code and the names, for programs to act on: an object with something in it.
    pub(crate) fn data(&self) -> Option<&Value> {
        let data = match self {
            Error::Refused { data, .. } | Error::Tool(RpcError { data, .. }) => data,
            Error::InDoubt { source, .. } => return source.data(),
            _ => return None,
        };
        data.as_object().is_some_and(|data| !data.is_empty()).then_some(data)
    }

    /// Tells whether nobody reads standard output any more, which is no failure.
    pub(crate) fn is_closed_output(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        Error::Open(Box::new(error))
    }
}
