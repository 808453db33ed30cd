//! Servers as processes of their own, and the processor time that they use.

use std::hint::black_box;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A running server, which ends with this value.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a program and reads lines from it until one holds an address, as `http://127.0.0.1:4000`.
    ///
    /// # Errors
    ///
    /// When it does not start, or ends without telling an address.
    pub fn start(command: &mut Command) -> io::Result<Server> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let printed = child.stdout.take().ok_or_else(|| io::Error::other("its output is piped"))?;
        for line in BufReader::new(printed).lines() {
            if let Some(address) = address(&line?) {
                return Ok(Server { child, address });
            }
        }
        child.wait()?;
        Err(io::Error::other("a server ended without telling its address"))
    }

    /// Processor time that it has used, in user and system mode; `None` where the system does not tell.
    #[must_use]
    pub fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        ticks(&stat).map(|ticks| Duration::from_secs_f64(ticks as f64 / TICKS))
    }

    /// Waits until it does nothing any more, and returns the processor time that it has used.
    ///
    /// # Errors
    ///
    /// Where the system does not tell processor times.
    pub fn settle(&self) -> io::Result<Duration> {
        let told = || self.cpu().ok_or_else(|| io::Error::other("the system does not tell processor times"));
        let mut used = told()?;
        loop {
            sleep(Duration::from_millis(60));
            let now = told()?;
            if now == used {
                return Ok(now);
            }
            used = now;
        }
    }

    /// The memory that it has, in bytes; `None` where the system does not tell.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.told("status", "VmRSS:").map(|kilobytes| kilobytes * 1024)
    }

    /// Bytes that it has read from files and written to them, whether the disk was needed for it or not; `None` where the
    /// system does not tell. What it sends and receives over the network is not among them, but eight bytes are each time
    /// that one of its threads wakes another.
    #[must_use]
    pub fn file_bytes(&self) -> Option<u64> {
        Some(self.told("io", "rchar:")? + self.told("io", "wchar:")?)
    }

    /// A number that a file about its process tells.
    fn told(&self, file: &str, name: &str) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Errors
    ///
    /// When it cannot be asked.
    pub fn stop(mut self) -> io::Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait().map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has stopped has no process to end any more.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}

/// Starts `lmlang serve` on a free port, with an empty database in a folder.
///
/// # Errors
///
/// When the binary is not there, or does not start.
pub fn start_lmlang(folder: &Path) -> io::Result<Server> {
    let mut command = Command::new(lmlang()?);
    command.args(["serve", "--listen", "127.0.0.1:0", "--no-samples", "--json", "--data"]).arg(folder);
    // Nobody's settings but these.
    command.current_dir(folder).env("XDG_CONFIG_HOME", folder).stderr(Stdio::null());
    Server::start(&mut command)
}

/// Lets this process, and those that it starts from now on, have so many files and connections open.
///
/// # Errors
///
/// When the system allows fewer.
pub fn open_many(files: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    // None is no limit.
    if limit.current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|maximum| maximum < files) {
        return Err(io::Error::other(format!(
            "the system allows fewer than {files} open files: `ulimit -Hn`"
        )));
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), ..limit }).map_err(io::Error::from)
}

/// The binary `lmlang` that was built with the same profile as this program.
fn lmlang() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let found = own.ancestors().nth(2).map(|folder| folder.join("lmlang")).filter(|path| path.exists());
    found.ok_or_else(|| io::Error::other("`lmlang` is not built; `cargo xtask bench` builds it"))
}

/// Processor time that this process has used, with the threads that have ended.
#[must_use]
pub fn own_cpu() -> Duration {
    let told = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(told.tv_sec.unsigned_abs(), u32::try_from(told.tv_nsec).unwrap_or_default())
}

/// Processor time of this process for some work, in microseconds for each of `count`.
///
/// # Errors
///
/// Those of the work.
pub async fn cpu<T, E>(count: usize, work: impl Future<Output = Result<T, E>>) -> Result<f64, E> {
    let start = own_cpu();
    black_box(work.await?);
    Ok((own_cpu() - start).as_secs_f64() * 1e6 / count as f64)
}

/// Waits until this process does nothing in the background any more.
pub async fn settle() {
    let mut used = Duration::ZERO;
    while own_cpu() - used > Duration::from_micros(500) {
        used = own_cpu();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Ticks of a second in the files of processes; Linux has no other value.
const TICKS: f64 = 100.0;

/// User and system time of a line of `stat`. The name of the program before them can hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

/// The first address in a line.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':')).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_times_are_found() {
        assert_eq!(address(r#"  "graphql": "http://127.0.0.1:80/graphql","#), "127.0.0.1:80".parse().ok());
        assert_eq!(address("nothing"), None);
        assert_eq!(ticks("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0"), Some(42));
        assert_eq!(ticks("7 (a) S 1"), None);
    }
}
