//! A PostgreSQL server for the tests, brought up in a temporary folder and down again.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{certificates, process};

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
    socket: PathBuf,
    /// Where clients find it.
    pub(crate) url: String,
    /// The same over TCP and TLS.
    pub(crate) tls_url: String,
}

impl Server {
    /// Brings a server up. It listens in its folder, and with TLS on a port of the loopback address.
    pub(crate) fn start() -> Result<Server> {
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("lmlang-postgres-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
        let is_root = fs::metadata(&folder)?.uid() == 0;
        let owner = is_root.then_some(NOBODY);
        chown(&folder, owner, owner)?;
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.arg("-D").arg(folder.join("data")).current_dir(&folder);
            if let Some(owner) = owner {
                command.uid(owner).gid(owner);
            }
            command
        };
        let mut make = command("initdb");
        make.args(["--username=lmlang", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]);
        // Words are ordered as in a language, so that what relies on the order of their bytes has to say so.
        make.args(["--locale-provider=icu", "--icu-locale=en-US"]);
        process::run(make.stdout(Stdio::null()))?;
        let tls = folder.join("tls");
        certificates::make(&tls, owner)?;
        let admitted = format!(
            "local all all trust\nhostssl all {0} all cert\nhost all {0} all reject\nhost all all all trust\n",
            certificates::CLIENT
        );
        fs::write(folder.join("data/pg_hba.conf"), admitted)?;
        // Free at the moment; the server cannot choose one itself.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut serve = command("postgres");
        let set = [
            ("listen_addresses", "127.0.0.1".to_owned()),
            ("port", port.to_string()),
            ("unix_socket_directories", folder.display().to_string()),
            ("fsync", "off".to_owned()),
            ("max_connections", "400".to_owned()),
            ("ssl", "on".to_owned()),
            ("ssl_cert_file", tls.join("server.pem").display().to_string()),
            ("ssl_key_file", tls.join("server.key").display().to_string()),
            ("ssl_ca_file", tls.join("ca.pem").display().to_string()),
        ];
        for (name, value) in set {
            serve.arg("-c").arg(format!("{name}={value}"));
        }
        serve.stderr(fs::File::create(folder.join("log"))?);
        let child = serve.spawn().context("cannot run `postgres`")?;
        let at = format!("postgres://lmlang@{}:{port}/postgres", certificates::SERVER);
        let url = format!("{at}?host={}", folder.display());
        let tls_url = format!("{at}?sslmode=verify-full&sslrootcert={}", tls.join("ca.pem").display());
        let socket = folder.join(format!(".s.PGSQL.{port}"));
        let mut server = Server { child, folder, socket, url, tls_url };
        server.await_ready()?;
        Ok(server)
    }

    fn await_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while UnixStream::connect(&self.socket).is_err() {
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
