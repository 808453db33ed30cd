//! The runtime of a command, and the database that it opens.

use std::future::Future;
use std::time::{Duration, Instant};

use lmlang_engine::{Engine, Limits, SnapshotPolicy};
use lmlang_store::{Holder, Location, OpenError, Options, Store};

use crate::error::Error;
use crate::output::say;
use crate::settings::{FlowCodes, Settings};
use crate::spans;

/// How long it takes until a database is tried again that another process has open.
const PAUSE: Duration = Duration::from_millis(100);

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

/// Opens the database of the settings. Another process that has it open is waited for, as long as they say.
pub(crate) async fn open(settings: &Settings, missing: Missing) -> Result<Engine, Error> {
    open_unless(settings, missing, |_| false).await
}

/// The same, but a process that answers requests is not waited for: it can be asked.
pub(crate) async fn open_or_ask(settings: &Settings, missing: Missing) -> Result<Engine, Error> {
    open_unless(settings, missing, |holder| holder.reachable().is_some()).await
}

async fn open_unless(
    settings: &Settings,
    missing: Missing,
    is_asked: fn(&Holder) -> bool,
) -> Result<Engine, Error> {
    let location = settings.location()?;
    if missing == Missing::Refuse && is_missing(&location) {
        return Err(Error::NoDatabase(location));
    }
    let attempt = || open_as(Options::new(location.clone()), Limits::default());
    let engine = patiently(settings, is_asked, attempt).await?;
    // Runs that were left are the server's; those that a command names go on.
    engine.hide_by(settings.redaction()?);
    spans::export(&engine, settings)?;
    let FlowCodes { built_in, interpreter } = settings.flows()?;
    engine.interpret_by(interpreter);
    engine.know_flows(built_in);
    Ok(engine)
}

/// Opens the database of the settings, made if there is none, and tells others where its programs are served. Runs of flows
/// that were left go on, and those that are older than they are kept are removed.
pub(crate) async fn open_served(settings: &Settings, address: String) -> Result<Engine, Error> {
    let options = Options { address: Some(address), ..Options::new(settings.location()?) };
    let engine = patiently(settings, |_| false, || open_as(options.clone(), settings.limits())).await?;
    engine.hide_by(settings.redaction()?);
    spans::export(&engine, settings)?;
    let FlowCodes { built_in, interpreter } = settings.flows()?;
    engine.interpret_by(interpreter);
    engine.run_flows(built_in);
    Ok(engine)
}

/// Whether there is no file of a database that is one.
pub(crate) fn is_missing(location: &Location) -> bool {
    matches!(location, Location::File(file) if !file.exists())
}

/// Opens the rows of the database of the settings, made if there is none, for what nobody may see half done.
pub(crate) async fn open_alone(settings: &Settings) -> Result<Store, Error> {
    let location = settings.location()?;
    patiently(settings, |_| false, || open_store(Options::new(location.clone()))).await
}

async fn open_as(options: Options, limits: Limits) -> Result<Engine, Error> {
    Ok(Engine::new(open_store(options).await?, limits, SnapshotPolicy::default()))
}

async fn open_store(options: Options) -> Result<Store, Error> {
    Ok(Store::open(options).await?)
}

/// Tries to open a database until no other process has it open, one is asked instead, or the time of the settings is over.
async fn patiently<T, F: Future<Output = Result<T, Error>>>(
    settings: &Settings,
    is_asked: fn(&Holder) -> bool,
    attempt: impl Fn() -> F,
) -> Result<T, Error> {
    let (begun, patience) = (Instant::now(), Duration::from_secs(settings.wait.unwrap_or(0)));
    let mut is_told = false;
    loop {
        let error = match attempt().await {
            Ok(opened) => return Ok(opened),
            Err(error) => error,
        };
        let left = patience.saturating_sub(begun.elapsed());
        let Some(holder) = waited_for(&error, is_asked).filter(|_| !left.is_zero()) else {
            return Err(error);
        };
        if !is_told {
            say(format_args!("waiting for {holder}, which has the database open"));
            is_told = true;
        }
        tokio::time::sleep(PAUSE.min(left)).await;
    }
}

/// Who has the database open, if that is why it was not opened and it is not asked instead.
fn waited_for(error: &Error, is_asked: fn(&Holder) -> bool) -> Option<String> {
    let Error::Open(open) = error else { return None };
    match open.as_ref() {
        OpenError::Held { holder: Some(holder), .. } => (!is_asked(holder)).then(|| holder.to_string()),
        // It has not said yet who it is.
        OpenError::Held { holder: None, .. } => Some("another process".to_owned()),
        OpenError::NewerSchema { .. }
        | OpenError::Foreign { .. }
        | OpenError::Path { .. }
        | OpenError::Database { .. } => None,
    }
}
