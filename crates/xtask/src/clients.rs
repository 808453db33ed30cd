//! Real clients against a real server: every script of tests/clients, on a server of its own.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::report::Findings;
use crate::workspace::Workspace;
use crate::{node, process, python};

/// How long a server may take to be ready, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs every client; each passes or fails as a whole.
pub(crate) fn run(workspace: &Workspace) -> Result<Findings> {
    if let Some(reason) = node::missing() {
        bail!("{reason}");
    }
    node::install(workspace, "tests/clients")?;
    let requirements = workspace.path("tests/clients/requirements.txt");
    let python = python::environment(&requirements, &workspace.path("target/client-python"))?;
    let binary = workspace.tested_binary()?;
    let mut findings = Findings::default();
    for script in scripts(workspace)? {
        let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let interpreter = if name.ends_with(".py") { python.as_path() } else { Path::new("node") };
        println!("--- {name}");
        match client(&binary, interpreter, &script) {
            Ok(()) => findings.passed += 1,
            Err(error) => findings.failed.push(format!("{name}: {error:#}")),
        }
    }
    Ok(findings)
}

/// Lists the scripts that are clients: those whose name begins so.
fn scripts(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(workspace.path("tests/clients"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("client_") {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}

fn client(binary: &Path, interpreter: &Path, script: &Path) -> Result<()> {
    let server = Server::start(binary)?;
    // A client may start the binary itself, and let it ask that server.
    let ran =
        process::run_and_tell(Command::new(interpreter).arg(script).arg(&server.url).env("LMLANG", binary));
    let stopped = server.stop();
    ran.and(stopped)
}

/// A server with an empty database of its own.
struct Server {
    child: Child,
    url: String,
    data: PathBuf,
}

impl Server {
    fn start(binary: &Path) -> Result<Server> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let data = std::env::temp_dir().join(format!("lmlang-clients-{}-{port}", std::process::id()));
        fs::create_dir_all(&data)?;
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", &address, "--data"]).arg(&data);
        let child = command.spawn().with_context(|| format!("cannot run `{}`", binary.display()))?;
        let mut server = Server { child, url: format!("http://{address}"), data };
        let started = Instant::now();
        while !is_ready(&address) {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended before it was ready: {status}");
            }
            if started.elapsed() > PATIENCE {
                bail!("the server was not ready after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(server)
    }

    /// Asks it to stop and checks that it does, in order.
    fn stop(mut self) -> Result<()> {
        process::run(Command::new("kill").args(["-TERM", &self.child.id().to_string()]))?;
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if asked.elapsed() > PATIENCE {
                bail!("the server did not stop within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(PAUSE);
        };
        if !status.success() {
            bail!("the server did not stop in order: {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none())
            && let Err(error) = self.child.kill().and_then(|()| self.child.wait())
        {
            eprintln!("the server could not be ended: {error}");
        }
        if let Err(error) = fs::remove_dir_all(&self.data) {
            eprintln!("{} could not be removed: {error}", self.data.display());
        }
    }
}

fn is_ready(address: &str) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}
