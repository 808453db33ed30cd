//! What the tests share: a folder of one's own to run the binary in.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary.
pub(crate) const LMLANG: &str = env!("CARGO_BIN_EXE_lmlang");

/// A folder to run the binary in, with a home of its own.
pub(crate) struct Place {
    folder: TempDir,
    /// The URL of a database that is not in the folder.
    database: Option<String>,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { folder: TempDir::new().expect("a folder can be made"), database: None }
    }

    /// A folder whose commands find a database elsewhere.
    pub(crate) fn with_database(url: String) -> Place {
        Place { database: Some(url), ..Place::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The URL of the database, if that is not in the folder.
    pub(crate) fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// A folder with one of the examples.
    pub(crate) fn with_example(name: &str) -> Place {
        let place = Place::new();
        std::fs::copy(example(name), place.path().join(name)).expect("the example is there");
        place
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path().join(name), content).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("the file is there")
    }

    /// The binary, with nothing around it that could make a difference.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(LMLANG);
        command.current_dir(self.path()).env_clear().env("HOME", self.path()).env("USER", "ada");
        command.stdin(Stdio::null());
        if let Some(url) = self.database() {
            command.env("LMLANG_DATABASE_URL", url);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.command().args(args).output().expect("the binary runs").into()
    }

    /// Runs a command that is given an input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Done {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut pipe = child.stdin.take().expect("it is piped");
        pipe.write_all(input.as_bytes()).expect("somebody reads");
        drop(pipe);
        child.wait_with_output().expect("the binary ends").into()
    }

    /// Runs a command that must succeed and gives what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
        done.stdout
    }

    /// Runs a command that must succeed and prints a JSON document.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let args = [args, &["--json"]].concat();
        serde_json::from_str(&self.ok(&args)).expect("standard output is one JSON document")
    }

    /// Runs a command that must end with an exit code and a code of an error, and print no data.
    pub(crate) fn fails(&self, args: &[&str], exit: i32, code: &str) -> String {
        let done = self.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(exit), ""), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(&format!("[{code}]")), "{args:?}: {}", done.stderr);
        done.stderr
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The top folder of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One of the examples.
pub(crate) fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}
