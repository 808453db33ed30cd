//! A command's way to a database: its settings, the open engine, and who calls.

use std::future::Future;

use lmlang_engine::{Call, Engine, Error as EngineError, Limits, OpenProgram, Selector, SnapshotPolicy};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_ir::text::nearest;
use lmlang_store::{Options, Store};

use crate::error::Error;
use crate::settings::Settings;

/// Whether a database is made when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is made.
    Make,
    /// It is an error.
    Refuse,
}

/// Runs a command on a runtime of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|source| Error::Io { what: "starting the runtime", source })?.block_on(work)
}

/// Opens the database of the settings.
pub(crate) async fn open(settings: &Settings, missing: Missing) -> Result<Engine, Error> {
    let file = settings.database();
    if missing == Missing::Refuse && !file.exists() {
        return Err(Error::NoDatabase(settings.data.clone()));
    }
    let store = Store::open(Options::file(&file)).await?;
    Ok(Engine::new(store, Limits::default(), SnapshotPolicy::default()))
}

/// Opens the database, does something with a program and closes it again.
pub(crate) fn with_program<T, F>(
    settings: &Settings,
    program: &str,
    work: impl FnOnce(Engine, OpenProgram) -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    block_on(async {
        let engine = open(settings, Missing::Refuse).await?;
        let done = match find(&engine, program).await {
            Ok(open) => work(engine.clone(), open).await,
            Err(error) => Err(error),
        };
        engine.close().await;
        done
    })
}

/// The program with a name or an id; an error carries names that come near.
pub(crate) async fn find(engine: &Engine, given: &str) -> Result<OpenProgram, Error> {
    let found = engine.find(&selector(given)).await;
    let Err(EngineError::NotFound { what, given, retired, .. }) = found else { return Ok(found?) };
    let page = engine.programs(None, None, NEAR_AMONG).await?;
    let candidates = nearest(&given, page.programs.iter().map(|program| program.name.as_str()));
    Err(EngineError::NotFound { what, given, candidates, retired }.into())
}

/// How many programs are looked through for near names.
const NEAR_AMONG: usize = 10_000;

/// What a caller means by a text: an id, or a name.
fn selector(given: &str) -> Selector {
    match given.parse() {
        Ok(id) => Selector::Id(id),
        Err(_) => Selector::Name(given.to_owned()),
    }
}

/// A change made on the command line.
pub(crate) fn call(settings: &Settings, message: Option<String>) -> Call {
    let client = Some(concat!("lmlang/", env!("CARGO_PKG_VERSION")).to_owned());
    let actor = Actor { name: settings.author.clone(), kind: ActorKind::Human, client };
    Call { message, ..Call::by(actor) }
}
