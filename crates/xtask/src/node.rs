//! What is built and run with Node: the web pages and the client tests.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// The oldest major version that works.
const MAJOR: u32 = 20;

/// What pages are made of besides `web`: the types of their operations, and the sample that an empty page offers.
const OTHER_SOURCES: [&str; 2] = ["schema.graphql", "examples/fib.lm"];

/// What became of the web pages.
pub(crate) enum Pages {
    /// They were built anew.
    Built,
    /// They are as new as their sources.
    Fresh,
    /// They cannot be built, for this reason.
    NoNode(String),
}

/// Builds the pages where their sources are newer.
pub(crate) fn build_pages(workspace: &Workspace) -> Result<Pages> {
    if let Some(reason) = missing() {
        return Ok(Pages::NoNode(reason));
    }
    let web = workspace.path("web");
    // A large page stands there in its compressed form alone.
    let built = ["dist/index.html.gz", "dist/index.html"].iter().find_map(|file| modified(&web.join(file)));
    let others = OTHER_SOURCES.iter().filter_map(|file| modified(&workspace.path(file)));
    let sources = others.fold(newest(&web)?, SystemTime::max);
    if built.is_some_and(|built| built >= sources) {
        return Ok(Pages::Fresh);
    }
    install(workspace, "web")?;
    process::run(workspace.command("npm").args(["run", "--silent", "build"]).current_dir(&web))?;
    Ok(Pages::Built)
}

/// Checks how the sources of the pages are written, and runs the tests of their logic.
pub(crate) fn test_pages(workspace: &Workspace) -> Result<()> {
    let web = workspace.path("web");
    for script in ["lint", "test"] {
        process::run(workspace.command("npm").args(["run", "--silent", script]).current_dir(&web))?;
    }
    Ok(())
}

/// Installs a package's dependencies as its lock file says, where that has not happened.
pub(crate) fn install(workspace: &Workspace, package: &str) -> Result<()> {
    let folder = workspace.path(package);
    let installed = modified(&folder.join("node_modules/.package-lock.json"));
    let locked = modified(&folder.join("package-lock.json")).context("a package has a lock file")?;
    if installed.is_some_and(|installed| installed >= locked) {
        return Ok(());
    }
    let mut npm = workspace.command("npm");
    process::run(npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder))
}

/// Says what is missing to use Node; nothing is when it is there and new enough.
pub(crate) fn missing() -> Option<String> {
    let Some(version) = process::version("node") else {
        return Some(format!("Node {MAJOR} or newer is not installed"));
    };
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < MAJOR) {
        return Some(format!("Node {MAJOR} or newer is needed, found {version}"));
    }
    process::version("npm").is_none().then(|| "npm is not installed".to_owned())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Returns when a source below the folder changed last.
fn newest(folder: &Path) -> Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name == "node_modules" || name == "dist" || name == "generated" {
            continue;
        }
        let changed =
            if kind.is_dir() { self::newest(&entry.path())? } else { entry.metadata()?.modified()? };
        newest = newest.max(changed);
    }
    Ok(newest)
}
