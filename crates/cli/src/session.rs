//! The runtime of a command, and the database that it opens.

use std::future::Future;

use lmlang_engine::{Engine, Limits, SnapshotPolicy};
use lmlang_store::{Location, Options, Store};

use crate::error::Error;
use crate::settings::Settings;
use crate::spans;

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
    let location = settings.location()?;
    if missing == Missing::Refuse && is_missing(&location) {
        return Err(Error::NoDatabase(location));
    }
    let engine = open_as(Options::new(location), Limits::default()).await?;
    // Runs that were left are the server's; those that a command names go on.
    engine.hide_by(settings.redaction()?);
    spans::export(&engine, settings)?;
    engine.know_flows(settings.flows()?);
    Ok(engine)
}

/// Opens the database of the settings, made if there is none, and tells others where its programs are served. Runs of flows
/// that were left go on, and those that are older than they are kept are removed.
pub(crate) async fn open_served(settings: &Settings, address: String) -> Result<Engine, Error> {
    let options = Options { address: Some(address), ..Options::new(settings.location()?) };
    let engine = open_as(options, settings.limits()).await?;
    engine.hide_by(settings.redaction()?);
    spans::export(&engine, settings)?;
    engine.run_flows(settings.flows()?);
    Ok(engine)
}

/// Whether there is no file of a database that is one.
pub(crate) fn is_missing(location: &Location) -> bool {
    matches!(location, Location::File(file) if !file.exists())
}

/// Opens the rows of the database of the settings, made if there is none, for what nobody may see half done.
pub(crate) async fn open_alone(settings: &Settings) -> Result<Store, Error> {
    Ok(Store::open(Options::new(settings.location()?)).await?)
}

async fn open_as(options: Options, limits: Limits) -> Result<Engine, Error> {
    Ok(Engine::new(Store::open(options).await?, limits, SnapshotPolicy::default()))
}
