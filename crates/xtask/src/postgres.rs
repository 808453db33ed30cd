//! A PostgreSQL server for the tests, brought up in a temporary folder and down again.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process;

/// How long it may take to be ready, or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked.
const PAUSE: Duration = Duration::from_millis(50);

/// Who runs the server when the tests are run by root, whom it refuses: nobody.
const NOBODY: u32 = 65534;

/// A running server. It is stopped, and its folder removed, when this is dropped.
pub(crate) struct Server {
    child: Child,
    folder: PathBuf,
    /// Where clients find it.
    pub(crate) url: String,
}

impl Server {
    /// Brings a server up. It listens in its folder only.
    pub(crate) fn start() -> Result<Server> {
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("lmlang-postgres-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
        let is_root = fs::metadata(&folder)?.uid() == 0;
        if is_root {
            chown(&folder, Some(NOBODY), Some(NOBODY))?;
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.arg("-D").arg(folder.join("data")).current_dir(&folder);
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let mut make = command("initdb");
        make.args(["--username=lmlang", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]);
        process::run(make.stdout(Stdio::null()))?;
        let mut serve = command("postgres");
        serve.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=400"]);
        serve.arg("-c").arg(format!("unix_socket_directories={}", folder.display()));
        serve.stderr(fs::File::create(folder.join("log"))?);
        let child = serve.spawn().context("cannot run `postgres`")?;
        let url = format!("postgres://lmlang@localhost/postgres?host={}", folder.display());
        let mut server = Server { child, folder, url };
        server.await_ready()?;
        Ok(server)
    }

    fn await_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while UnixStream::connect(self.folder.join(".s.PGSQL.5432")).is_err() {
            if let Some(status) = self.child.try_wait()? {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                bail!("`postgres` ended before it was ready: {status}\n{log}");
            }
            if started.elapsed() > PATIENCE {
                bail!("`postgres` was not ready after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Asks it to stop at once and to end its processes.
    fn stop(&mut self) -> Result<()> {
        process::run(Command::new("kill").args(["-QUIT", &self.child.id().to_string()]))?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > PATIENCE {
                bail!("`postgres` did not stop within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(PAUSE);
        }
        fs::remove_dir_all(&self.folder)?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("the PostgreSQL of the tests was left behind: {error:#}");
        }
    }
}

/// The folder with the server's programs: that on the path, or the newest where Debian keeps them.
fn programs() -> Result<PathBuf> {
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
    });
    let debian = || {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let versions = versions.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Some(Path::new("/usr/lib/postgresql").join(versions.max()?.to_string()).join("bin"))
    };
    on_path
        .or_else(debian)
        .context("install PostgreSQL (on Debian: `apt-get install postgresql`): its `initdb` was not found")
}
