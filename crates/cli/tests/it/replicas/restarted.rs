//! A PostgreSQL server of the test's own, which is restarted while several servers of ours write to it.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{edit, head, revision, settled};
use crate::serve::Server;
use crate::tool::Place;

/// Servers of ours.
const SERVERS: usize = 2;

/// Callers that edit at the same time.
const CALLERS: usize = 4;

/// How often the database goes down, and acknowledged edits before each time.
const RESTARTS: usize = 3;
const BETWEEN: usize = 25;

/// Within which the database is there again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who runs it when the tests are run by root, whom it refuses: nobody.
const NOBODY: u32 = 65534;

/// A PostgreSQL server in a folder.
struct Postgres {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Postgres {
    fn start() -> Postgres {
        let folder = TempDir::new().expect("a folder can be made");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("one is free").port();
        if let Some(owner) = owner(folder.path()) {
            chown(folder.path(), Some(owner), Some(owner)).expect("root may");
        }
        let mut make = command(folder.path(), "initdb");
        make.args(["--username=lmlang", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]);
        assert!(make.stdout(Stdio::null()).status().expect("`initdb` runs").success());
        let child = serve(folder.path(), port);
        let mut postgres = Postgres { child, folder, port };
        postgres.await_ready();
        postgres
    }

    fn url(&self) -> String {
        format!("postgres://lmlang@localhost:{}/postgres?host={}", self.port, self.folder.path().display())
    }

    fn await_ready(&mut self) {
        let (socket, since) = (self.folder.path().join(format!(".s.PGSQL.{}", self.port)), Instant::now());
        while UnixStream::connect(&socket).is_err() {
            assert!(self.child.try_wait().expect("it is ours").is_none(), "`postgres` has ended");
            assert!(since.elapsed() < PATIENCE, "`postgres` is not ready");
            std::thread::yield_now();
        }
    }

    /// Ends all of its processes at once, without a checkpoint: whoever starts it again reads its log.
    fn stop(&mut self) {
        let asked = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
        assert!(asked.expect("a signal can be sent").success());
        self.child.wait().expect("it ends");
    }

    fn restart(&mut self) {
        self.stop();
        self.child = serve(self.folder.path(), self.port);
        self.await_ready();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

/// Who is to run it, if that is not who runs the tests.
fn owner(folder: &Path) -> Option<u32> {
    let owner = folder.metadata().expect("the folder is there").uid();
    (owner == 0 || owner == NOBODY).then_some(NOBODY)
}

fn serve(folder: &Path, port: u16) -> Child {
    let mut command = command(folder, "postgres");
    command.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c"]).arg(format!("port={port}"));
    command.arg("-c").arg(format!("unix_socket_directories={}", folder.display()));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("`postgres` runs")
}

/// One of its programs, in its folder.
fn command(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(programs().join(program));
    command.arg("-D").arg(folder.join("data")).current_dir(folder);
    if let Some(owner) = owner(folder) {
        command.uid(owner).gid(owner);
    }
    command
}

/// Where its programs are: on the path, or the newest where Debian keeps them.
fn programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists());
    on_path.unwrap_or_else(|| {
        let debian = Path::new("/usr/lib/postgresql");
        let versions = debian.read_dir().expect("PostgreSQL is installed").flatten();
        let newest = versions.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok()).max();
        debian.join(newest.expect("PostgreSQL is installed").to_string()).join("bin")
    })
}

/// Does nothing but where the tests have PostgreSQL.
#[test]
fn a_database_that_is_restarted_under_load_loses_nothing_that_was_acknowledged() {
    if std::env::var_os("LMLANG_TEST_POSTGRES").is_none() {
        return;
    }
    let mut postgres = Postgres::start();
    let url = postgres.url();
    let places: Vec<Place> = (0..SERVERS).map(|_| Place::new()).collect();
    let begin = |place: &Place| {
        let mut command = place.command();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).env("LMLANG_DATABASE_URL", &url);
        Server::start_as(command, place)
    };
    let servers: Vec<Server> = places.iter().map(begin).collect();
    let (first, _) = head(&servers[0]);
    let (acknowledgement, acknowledgements) = mpsc::channel();
    let (over, made) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (servers, over, made, acknowledgement) = (&servers, &over, &made, acknowledgement.clone());
            scope.spawn(move || {
                for number in 0.. {
                    // Whoever gets no answer asks again, under the same key.
                    let mut tries = caller..;
                    let acknowledged = tries.find_map(|server| {
                        servers[server % SERVERS].try_ask(&edit(caller, number)).as_ref().and_then(revision)
                    });
                    let (revision, hash) = acknowledged.expect("tries have no end");
                    let before = made.lock().expect("no caller panicked").insert(revision, hash);
                    assert_eq!(before, None, "two edits are one revision");
                    acknowledgement.send(()).ok();
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        for _ in 0..RESTARTS {
            assert_eq!(acknowledgements.iter().take(BETWEEN).count(), BETWEEN);
            postgres.restart();
        }
        assert_eq!(acknowledgements.iter().take(BETWEEN).count(), BETWEEN);
        over.store(true, Ordering::Relaxed);
    });
    let made: BTreeMap<u64, String> = made.into_inner().expect("no caller panicked");
    let last = first + made.len() as u64;
    // Each edit is one revision, and there is no other: nothing is lost, nothing is there twice.
    assert!(made.keys().copied().eq(first + 1..=last), "{first} {:?}", made.keys());
    settled(servers, made.iter(), &places[0], &url);
}
