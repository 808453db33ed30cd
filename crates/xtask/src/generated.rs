//! Files that our own programs write, committed and proven current.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::process;
use crate::report::Findings;
use crate::workspace::Workspace;

/// Each file that `lmlang` writes, with the arguments that print it.
const GENERATED: &[(&str, &[&str])] = &[
    ("schema.graphql", &["schema", "print"]),
    ("docs/reference/commands.md", &["help", "commands"]),
    ("docs/reference/operators.md", &["help", "operators"]),
    ("docs/reference/codes.md", &["help", "codes"]),
];

/// Written by an example of the migrations, and proven current by their test.
const DATABASE_SCHEMA: &str = "migrations/schema.sql";

/// Writes every generated file.
pub(crate) fn write(workspace: &Workspace) -> Result<ExitCode> {
    let binary = workspace.build_binary()?;
    for (file, args) in GENERATED {
        fs::write(workspace.path(file), print(&binary, args)?)?;
        println!("wrote {file}");
    }
    let schema = process::stdout(&mut Command::new(workspace.build_example("schema")?))?;
    fs::write(workspace.path(DATABASE_SCHEMA), schema)?;
    println!("wrote {DATABASE_SCHEMA}");
    Ok(ExitCode::SUCCESS)
}

/// Compares what `lmlang` writes with what would be written now.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings> {
    let binary = workspace.tested_binary()?;
    let mut findings = Findings::default();
    for (file, args) in GENERATED {
        let current = fs::read_to_string(workspace.path(file)).unwrap_or_default();
        if current == print(&binary, args)? {
            findings.passed += 1;
        } else {
            findings.failed.push(format!("{file} is not current: run `cargo xtask codegen`"));
        }
    }
    Ok(findings)
}

fn print(binary: &Path, args: &[&str]) -> Result<String> {
    process::stdout(Command::new(binary).args(args))
}
