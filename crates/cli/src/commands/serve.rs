//! `lmlang serve`: the programs of a database over GraphQL.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use lmlang_engine::{Engine, Unnamed};
use lmlang_graphql::error::ApiError;
use lmlang_graphql::schema::{self, failure::fail, wasm};
use lmlang_graphql::transport::{self, Executor};
use lmlang_server::{
    Admit, Backup, BackupRequest, Bound, Config, Hooks, Import, Manager, Module, Pieces, Ready, telemetry,
};
use lmlang_store::Location;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client::selector;
use crate::error::Error;
use crate::exit::Exit;
use crate::misset;
use crate::open_files;
use crate::output::{Output, columns, say};
use crate::samples;
use crate::session::{block_on, is_missing, open_served};
use crate::settings::Settings;
use crate::signals::Signals;

/// Where to listen.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address; port 0 takes a free one [default: 127.0.0.1:4000].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Ask no caller for a token: everybody who reaches the address may do everything. Without this, an address that other
    /// machines reach needs tokens, and so does every caller once there is one.
    #[arg(long)]
    pub(crate) insecure_no_auth: bool,
    /// Leave a new database empty.
    #[arg(long)]
    no_samples: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    telemetry::start_logging(&settings.log, settings.log_format.into())?;
    telemetry::start_metrics();
    misset::doubtful(&settings.llm).iter().for_each(|told| say(format!("warning: {told}")));
    let config = Config {
        listen: settings.address()?,
        allowed_hosts: settings.allowed_hosts.clone(),
        allowed_origins: settings.allowed_origins.clone(),
        module_bytes: settings.module_bytes,
        write_timeout: Duration::from_secs(settings.write_timeout.get().into()),
        connections: connections(),
        ..Config::default()
    };
    block_on(async {
        // The address first: a second server ends before it touches anything.
        let limits = transport::Limits { carrier: config.named_limits(), ..transport::Limits::default() };
        let bound = lmlang_server::bind(config).await?;
        let unnamed = unnamed(bound.address(), settings);
        if unnamed == Unnamed::Nobody && is_missing(&settings.location()?) {
            return Err(Error::NoTokens(bound.address()));
        }
        let engine = open_served(settings, local(bound.address())).await?;
        if unnamed == Unnamed::Nobody && !engine.has_tokens().await? {
            engine.close().await;
            return Err(Error::NoTokens(bound.address()));
        }
        if !args.no_samples && (engine.store().is_new() || samples::are_incomplete(&engine).await?) {
            let loaded = samples::load(&engine).await?;
            say(format_args!("loaded {loaded} sample programs into `{}`", engine.store().location()));
        }
        let executor = schema::build(engine.clone(), limits);
        serve(bound, executor, &engine, unnamed, settings, output).await?;
        engine.close().await;
        Ok(Exit::Success)
    })
}

/// How many connections are held at a time: the database and whatever else has files open get a quarter of them.
fn connections() -> usize {
    let most = Config::default().connections;
    let files = open_files::raise().and_then(|files| usize::try_from(files / 4 * 3).ok());
    files.map_or(most, |files| most.min(files))
}

/// Who needs no token.
fn unnamed(address: SocketAddr, settings: &Settings) -> Unnamed {
    match (settings.insecure_no_auth, address.ip().is_loopback()) {
        (true, _) => Unnamed::Everybody,
        (false, true) => Unnamed::WithoutTokens,
        (false, false) => Unnamed::Nobody,
    }
}

/// What the server asks its host.
fn hooks(engine: &Engine, unnamed: Unnamed) -> Hooks {
    let reached = engine.clone();
    let ready: Ready = Arc::new(move || match reached.is_reachable() {
        true => Ok(()),
        false => Err("the database cannot be reached".to_owned()),
    });
    let (admitting, copied, written, importing) =
        (engine.clone(), engine.clone(), engine.clone(), engine.clone());
    let admit: Admit = Arc::new(move |token| {
        let engine = admitting.clone();
        Box::pin(async move { engine.admit(token.as_deref(), unnamed).await })
    });
    let backup: Backup = Arc::new(move |request| Box::pin(back_up(copied.clone(), request)));
    let module: Module = Arc::new(move |grant, request| {
        let engine = written.clone();
        Box::pin(async move { wasm::module(&engine, &grant, &request).await })
    });
    let import: Import = Arc::new(move |caller, request, watch| {
        let engine = importing.clone();
        Box::pin(async move { wasm::import(&engine, &caller, request, watch).await })
    });
    let managed = engine.clone();
    let manager: Manager = Arc::new(move |caller, request| {
        let engine = managed.clone();
        Box::pin(async move { engine.ask_manager(request, &caller.actor).await.map_err(fail) })
    });
    Hooks { ready, admit, backup, module, import, manager }
}

async fn back_up(engine: Engine, request: BackupRequest) -> Result<Pieces, ApiError> {
    let programs: Vec<_> = request.programs.iter().map(|given| selector(given)).collect();
    let backup = engine.backup(&programs, request.without_deleted).await.map_err(fail)?;
    let pieces = stream::try_unfold(backup, async |mut backup| {
        let next = backup.next().await.map_err(fail)?;
        Ok(next.map(|bytes| (bytes, backup)))
    });
    Ok(pieces.boxed())
}

async fn serve(
    bound: Bound,
    executor: Executor,
    engine: &Engine,
    unnamed: Unnamed,
    settings: &Settings,
    output: Output,
) -> Result<(), Error> {
    let shutdown = CancellationToken::new();
    // Heard before anybody is told that there is something to stop.
    tokio::spawn(stop_on_signal(Signals::listen()?, shutdown.clone()));
    announce(bound.address(), engine.store().location(), settings, output)?;
    lmlang_server::serve(bound, executor, hooks(engine, unnamed), shutdown).await;
    Ok(())
}

/// Where commands on this machine reach a server.
fn local(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

/// Prints the addresses, once requests are taken.
fn announce(
    address: SocketAddr,
    database: &Location,
    settings: &Settings,
    output: Output,
) -> Result<(), Error> {
    let dashboard = format!("http://{address}/");
    let graphql = format!("http://{address}/graphql");
    let websocket = format!("ws://{address}/graphql/ws");
    let graphiql = format!("http://{address}/graphiql");
    let mcp = format!("http://{address}/mcp");
    let docs = format!("http://{address}/llms.txt");
    let json = json!({
        "dashboard": dashboard,
        "graphql": graphql,
        "websocket": websocket,
        "events": graphql,
        "graphiql": graphiql,
        "mcp": mcp,
        "docs": docs,
        "data": settings.data,
        "database": database.to_string(),
        "pid": std::process::id(),
    });
    output.data(&json, || {
        columns(&[
            ["Dashboard".to_owned(), dashboard.clone()],
            ["GraphQL".to_owned(), graphql.clone()],
            ["Subscriptions".to_owned(), format!("{websocket} (graphql-transport-ws)")],
            [String::new(), format!("{graphql} (graphql-sse: Accept: text/event-stream)")],
            ["GraphiQL".to_owned(), graphiql.clone()],
            ["MCP".to_owned(), mcp.clone()],
            ["Documentation".to_owned(), docs.clone()],
            ["Database".to_owned(), database.to_string()],
        ])
    })?;
    if settings.insecure_no_auth {
        say("no caller needs a token: everybody who reaches the server may do everything");
    }
    say("Ctrl-C stops the server.");
    Ok(())
}

/// Asks the server to stop on Ctrl-C or SIGTERM; a second Ctrl-C ends the process at once.
async fn stop_on_signal(mut signals: Signals, shutdown: CancellationToken) {
    signals.asked_to_stop().await;
    shutdown.cancel();
    say("stopping; Ctrl-C again ends at once");
    signals.interrupted().await;
    std::process::exit(Exit::Interrupted.number().into());
}
