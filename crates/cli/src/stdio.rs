//! The standard streams of a program that runs: its input is read when it asks for it, its output is passed on as it comes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use lmlang_interp::Run;

use crate::error::Error;

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// How long somebody waits between two looks whether he still should.
const LOOK: Duration = Duration::from_millis(50);

/// Input that is read piece by piece, on a thread of its own: whoever waits for a piece can give up.
#[derive(Debug)]
pub(crate) struct Pieces {
    path: PathBuf,
    asks: SyncSender<()>,
    pieces: Receiver<io::Result<Vec<u8>>>,
}

impl Pieces {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Pieces, Error> {
        let mut source: Box<dyn Read + Send> = match path == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(cannot_read(path))?),
        };
        let (asks, asked) = sync_channel(1);
        let (gives, pieces) = sync_channel(1);
        // It may wait for a terminal when the process ends, so nobody waits for it.
        thread::spawn(move || while asked.recv().is_ok() && gives.send(piece(&mut source)).is_ok() {});
        Ok(Pieces { path: path.to_owned(), asks, pieces })
    }

    /// The next piece, empty at the end; nothing when `stop` says so before there is one.
    pub(crate) fn next(&self, stop: impl Fn() -> bool) -> Result<Option<Vec<u8>>, Error> {
        let lost = || Err(io::Error::from(ErrorKind::BrokenPipe));
        let mut found = if self.asks.send(()).is_err() { Some(lost()) } else { None };
        while found.is_none() {
            if stop() {
                return Ok(None);
            }
            found = match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => Some(piece),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(lost()),
            };
        }
        found.transpose().map_err(cannot_read(&self.path))
    }
}

/// What one read gives.
fn piece(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => {
                piece.truncate(read?);
                return Ok(piece);
            }
        }
    }
}

fn cannot_read(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::Read { path: path.to_owned(), source }
}

/// How much of a program's output this command's streams have got.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    stdout: usize,
    stderr: usize,
}

impl Passed {
    /// Passes on what a run wrote since the last time. Says whether somebody still reads its output.
    pub(crate) fn on(&mut self, run: &Run) -> Result<bool, Error> {
        self.rest(run.stdout(), run.stderr())
    }

    /// Passes on what is left of all that a program wrote; one that began anew in another tier writes the same again first.
    /// Says whether somebody still reads its output.
    pub(crate) fn rest(&mut self, stdout: &[u8], stderr: &[u8]) -> Result<bool, Error> {
        let left = stdout.get(self.stdout..).unwrap_or_default();
        let read = pass_on(io::stdout().lock(), "standard output", left)?;
        pass_on(io::stderr().lock(), "standard error", stderr.get(self.stderr..).unwrap_or_default())?;
        (self.stdout, self.stderr) = (self.stdout.max(stdout.len()), self.stderr.max(stderr.len()));
        Ok(read)
    }
}

/// As it is: what is for a terminal stays in it. Nobody has to read it to its end; says whether somebody does.
fn pass_on(mut to: impl Write, what: &'static str, bytes: &[u8]) -> Result<bool, Error> {
    if bytes.is_empty() {
        return Ok(true);
    }
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        done => done.map(|()| true).map_err(|source| Error::Io { what, source }),
    }
}
