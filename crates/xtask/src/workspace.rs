//! Where things are, and what cargo knows about them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The checkout.
pub(crate) struct Workspace {
    /// Its top folder.
    pub(crate) root: PathBuf,
}

/// A program of tests.
pub(crate) struct TestBinary {
    /// The package that it tests.
    pub(crate) package: String,
    /// Where that is, and where the tests run.
    pub(crate) folder: PathBuf,
    /// The program.
    pub(crate) binary: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Workspace> {
        // Asked for when it runs: checkouts that share a target folder share the binary.
        let here = std::env::var_os("CARGO_MANIFEST_DIR").context("start xtask with `cargo xtask`")?;
        let here = Path::new(&here);
        let root = here.ancestors().nth(2).context("xtask lives two folders deep")?;
        Ok(Workspace { root: root.to_owned() })
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Starts a command line in the checkout.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = self.command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        command.args(args);
        command
    }

    /// Builds or runs the tests. Lints are found on the way: what compiles our own crates is clippy, which needs nothing of
    /// theirs compiled twice.
    pub(crate) fn tests(&self, args: &[&str]) -> Command {
        let mut command = self.cargo(&["test", "--workspace", "--locked"]);
        command.args(args).env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        command
    }

    /// Asks cargo about the packages; `whole` with all that they depend on.
    pub(crate) fn metadata(&self, whole: bool) -> Result<Value> {
        let mut command = self.cargo(&["metadata", "--format-version", "1"]);
        if !whole {
            command.arg("--no-deps");
        }
        let json = process::stdout(&mut command)?;
        serde_json::from_str(&json).context("cargo metadata prints JSON")
    }

    /// Builds the binary `lmlang` and returns its path.
    pub(crate) fn build_binary(&self) -> Result<PathBuf> {
        process::run(&mut self.cargo(&["build", "--workspace", "--bin", "lmlang"]))?;
        Ok(self.built()?.join("lmlang"))
    }

    /// The binary `lmlang` as the tests run it, which is built with them: alone it would be built anew, with all that it
    /// needs, because tests ask some libraries for more features.
    pub(crate) fn tested_binary(&self) -> Result<PathBuf> {
        process::run(&mut self.tests(&["--no-run", "--quiet"]))?;
        Ok(self.built()?.join("lmlang"))
    }

    /// Builds an example and returns its path.
    pub(crate) fn build_example(&self, name: &str) -> Result<PathBuf> {
        process::run(&mut self.cargo(&["build", "--workspace", "--example", name]))?;
        Ok(self.built()?.join("examples").join(name))
    }

    /// Builds the tests and says where they are.
    pub(crate) fn test_binaries(&self) -> Result<Vec<TestBinary>> {
        let messages = process::stdout(&mut self.tests(&["--no-run", "--message-format", "json"]))?;
        let mut tests = Vec::new();
        for line in messages.lines() {
            let message: Value = serde_json::from_str(line).context("cargo prints JSON")?;
            let Some(binary) = message["executable"].as_str() else { continue };
            if message["profile"]["test"] != true {
                continue;
            }
            let manifest = Path::new(message["manifest_path"].as_str().context("a package has a manifest")?);
            let folder = manifest.parent().context("a manifest is in a folder")?.to_owned();
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            tests.push(TestBinary { package: format!("lmlang-{name}"), folder, binary: binary.into() });
        }
        Ok(tests)
    }

    fn built(&self) -> Result<PathBuf> {
        let metadata = self.metadata(false)?;
        let target = metadata["target_directory"].as_str().context("cargo knows the target directory")?;
        Ok(Path::new(target).join("debug"))
    }

    /// Lists the files that are, or could be, under version control.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let mut command = self.command("git");
        command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let list = process::stdout(&mut command)?;
        let files = list.split('\0').filter(|file| !file.is_empty() && self.path(file).is_file());
        Ok(files.map(str::to_owned).collect())
    }
}

/// Reads the elements of a JSON array; none when it is no array.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
