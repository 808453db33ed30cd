//! Other libraries of durable steps: Python, each in a process of its own that is asked for runs.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

/// Which, as the script is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    LangGraph,
    Dbos,
}

impl Library {
    pub(crate) const ALL: [Library; 2] = [Library::LangGraph, Library::Dbos];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Library::LangGraph => "LangGraph",
            Library::Dbos => "DBOS",
        }
    }

    /// What the script calls it, and its database.
    fn key(self) -> &'static str {
        match self {
            Library::LangGraph => "langgraph",
            Library::Dbos => "dbos",
        }
    }
}

/// A running process, which ends with this value.
#[derive(Debug)]
pub(crate) struct Rival {
    pub(crate) library: Library,
    pub(crate) database: PathBuf,
    child: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What it says at first.
#[derive(Deserialize)]
struct Hello {
    version: String,
}

/// What some runs took.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) seconds: f64,
    /// Seconds of a processor.
    pub(crate) cpu: f64,
    /// The step of each run, and what that wrote.
    pub(crate) came_to: Vec<(u64, String)>,
}

impl Rival {
    /// Starts it with an empty database in a folder.
    pub(crate) fn start(python: &Path, folder: &Path, library: Library) -> io::Result<Rival> {
        let script = folder.join("rivals.py");
        fs::write(&script, include_str!("rivals.py"))?;
        let mut command = Command::new(python);
        command.arg(&script).arg(library.key()).arg(folder);
        // Nobody's settings but these, and no traces for anybody.
        command.current_dir(folder).env("LANGSMITH_TRACING", "false");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let piped = child.stdin.take().zip(child.stdout.take());
        let (asked, answers) = piped.ok_or_else(|| io::Error::other("both are piped"))?;
        let database = folder.join(format!("{}.db", library.key()));
        let mut rival = Rival { library, database, child, asked, answers: BufReader::new(answers) };
        let hello: Hello = rival.answer()?;
        println!("{} {}", library.name(), hello.version);
        Ok(rival)
    }

    /// Has it take so many steps in each of so many runs at once.
    pub(crate) fn run(&mut self, runs: usize, steps: u64) -> io::Result<Answer> {
        writeln!(self.asked, "{runs} {steps}")?;
        self.asked.flush()?;
        self.answer()
    }

    fn answer<T: for<'a> Deserialize<'a>>(&mut self) -> io::Result<T> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(io::Error::other(format!("{} ended and said why", self.library.name())));
        }
        serde_json::from_str(&line).map_err(io::Error::other)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // One that has ended has no process to end any more.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}
