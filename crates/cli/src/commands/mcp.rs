//! `lmlang mcp`: the tools for agents on standard input and output, and how clients start that.

use std::io::Read;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use clap::ValueEnum;
use lmlang_mcp::{Desk, stdio};
use lmlang_server::telemetry;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::sync::CancellationToken;

use crate::asking::Asking;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::block_on;
use crate::settings::Settings;
use crate::signals::Signals;

/// Without a command: speak MCP, and JSON-RPC with the tools as methods, on standard input and output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do instead of serving.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print what a client's configuration needs to start `lmlang mcp` with these settings. Nothing is written.
    Install {
        /// The client.
        #[arg(long, value_enum)]
        client: Kind,
        /// Print it, as is done without this, too.
        #[arg(long)]
        print: bool,
    },
}

/// Clients whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Claude Code: `.mcp.json` of a project.
    ClaudeCode,
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Visual Studio Code: `.vscode/mcp.json`.
    Vscode,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// Codex: `~/.codex/config.toml`.
    Codex,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        None => serve(settings),
        Some(Action::Install { client, print: _ }) => install(*client, settings, output),
    }
}

/// Bytes that are read ahead.
const AHEAD: usize = 64 << 10;

fn serve(settings: &Settings) -> Result<Exit, Error> {
    telemetry::start_logging(&settings.log, settings.log_format.into())?;
    block_on(async {
        let stop = CancellationToken::new();
        let (stopping, mut signals) = (stop.clone(), Signals::listen()?);
        tokio::spawn(async move {
            signals.asked_to_stop().await;
            stopping.cancel();
        });
        let (input, pipe) = tokio::io::duplex(AHEAD);
        read(pipe);
        let asking = Arc::new(Asking::new(settings));
        let served = stdio::serve(Desk::new(asking.clone()), input, tokio::io::stdout(), stop).await;
        asking.close().await;
        served.map_err(|source| Error::Io { what: "speaking on standard input and output", source })?;
        Ok(Exit::Success)
    })
}

/// Reads standard input on a thread that nobody waits for: it may wait for a line when the process ends.
fn read(mut pipe: DuplexStream) {
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let mut bytes = vec![0; AHEAD];
        let mut input = std::io::stdin().lock();
        while let Ok(count @ 1..) = input.read(&mut bytes) {
            if runtime.block_on(pipe.write_all(&bytes[..count])).is_err() {
                return;
            }
        }
    });
}

fn install(client: Kind, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let here = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("lmlang"));
    let (command, args) = (here.display().to_string(), arguments(settings));
    let (place, text) = client.block(&command, &args);
    say(format!("for {place}:"));
    if settings.token.is_some() {
        say("the token is not written: set LMLANG_TOKEN in the environment that the client starts it in");
    }
    if settings.server.as_deref().is_some_and(|url| address(url) != url) {
        say("only the host and path of the server's address are written: a token is what a client shows");
    }
    if settings.server.is_none() && settings.database_url.is_some() {
        say(
            "the database's URL is not written: set LMLANG_DATABASE_URL in the environment that the client starts it in",
        );
    }
    output.text(&text)?;
    Ok(Exit::Success)
}

/// What the settings come to, wherever a client starts it; nothing secret.
fn arguments(settings: &Settings) -> Vec<String> {
    let mut args = Vec::new();
    match (&settings.server, &settings.database_url) {
        (Some(url), _) => args.extend(["--server".to_owned(), address(url)]),
        (None, Some(_)) => {}
        (None, None) => args.extend(["--data".to_owned(), whole(&settings.data).display().to_string()]),
    }
    // Whoever chose a name wants to be known by it.
    if settings.author != Settings::default().author {
        args.extend(["--author".to_owned(), settings.author.clone()]);
    }
    args.push("mcp".to_owned());
    args
}

/// An address without the user, the password and the query that may stand in it.
fn address(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn whole(path: &Path) -> PathBuf {
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl Kind {
    /// Where its configuration is, and what goes into it.
    fn block(self, command: &str, args: &[String]) -> (&'static str, String) {
        let entry = json!({ "command": command, "args": args });
        let servers = json!({ "mcpServers": { "lmlang": entry } });
        match self {
            Kind::ClaudeCode => (".mcp.json in the project", pretty(&servers)),
            Kind::ClaudeDesktop => ("claude_desktop_config.json", pretty(&servers)),
            Kind::Cursor => (".cursor/mcp.json", pretty(&servers)),
            Kind::Vscode => {
                let entry = json!({ "type": "stdio", "command": command, "args": args });
                (".vscode/mcp.json", pretty(&json!({ "servers": { "lmlang": entry } })))
            }
            Kind::Codex => {
                let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
                let (command, args) = (quoted(command), args.join(", "));
                let text = format!("[mcp_servers.lmlang]\ncommand = {command}\nargs = [{args}]\n");
                ("~/.codex/config.toml", text)
            }
        }
    }
}

fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).expect("values have a JSON form");
    format!("{text}\n")
}

/// A text as a basic string of TOML, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
