//! The server, from a fresh checkout.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::node::{self, Pages};
use crate::workspace::Workspace;

/// Builds what is needed and becomes `lmlang serve`.
///
/// In the development profile: it builds in under half the time of the release profile, shares every unit with the
/// tests, and optimises the crates in which programs run.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    println!("==> web pages");
    match node::build_pages(workspace)? {
        Pages::Built => println!("--> built"),
        Pages::Fresh => println!("--> up to date"),
        Pages::NoNode(reason) => println!("--> left out: {reason}; the pages will say so"),
    }
    println!("==> server");
    let binary = workspace.build_binary()?;
    // The process is replaced, so that signals reach the server itself.
    let error = Command::new(&binary).arg("serve").args(args).exec();
    Err(error).with_context(|| format!("cannot run `{}`", binary.display()))
}
