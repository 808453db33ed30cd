//! The benchmarks.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::{Workspace, items};

/// Runs every benchmark, or the one called `name`, in the profile made for measuring.
///
/// Each by its own name: a plain `cargo bench` would also build every library's tests with that profile.
pub(crate) fn run(workspace: &Workspace, name: Option<&str>) -> Result<ExitCode> {
    let all = benches(workspace)?;
    let chosen: Vec<_> = all.iter().filter(|(_, bench)| name.is_none_or(|name| name == bench)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = all.iter().map(|(_, bench)| bench.as_str()).collect();
        bail!("no benchmark of that name; there are: {}", names.join(", "));
    }
    for (package, bench) in chosen {
        println!("==> {bench} ({package})");
        process::run(&mut workspace.cargo(&["bench", "--package", package, "--bench", bench]))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the packages' benchmarks, by package and name.
fn benches(workspace: &Workspace) -> Result<Vec<(String, String)>> {
    let metadata = workspace.metadata(false)?;
    let mut benches = Vec::new();
    for package in items(&metadata["packages"]) {
        for target in items(&package["targets"]) {
            if items(&target["kind"]).any(|kind| kind == "bench") {
                let package = package["name"].as_str().context("a package has a name")?;
                let bench = target["name"].as_str().context("a target has a name")?;
                benches.push((package.to_owned(), bench.to_owned()));
            }
        }
    }
    benches.sort();
    Ok(benches)
}
