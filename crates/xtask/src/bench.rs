//! The benchmarks.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Runs every benchmark, or those whose name contains `name`, in the profile made for measuring.
pub(crate) fn run(workspace: &Workspace, name: Option<&str>) -> Result<ExitCode> {
    let mut command = workspace.cargo(&["bench", "--workspace", "--benches"]);
    command.arg("--").args(name);
    process::run(&mut command)?;
    Ok(ExitCode::SUCCESS)
}
