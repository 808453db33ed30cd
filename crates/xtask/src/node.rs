//! What is built and run with Node: the web page and the client tests.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// The oldest major version that works.
const MAJOR: u32 = 20;

/// What became of the web page.
pub(crate) enum Page {
    /// It was built anew.
    Built,
    /// It is as new as its sources.
    Fresh,
    /// It cannot be built, for this reason.
    NoNode(String),
}

/// Builds the page where its sources are newer than it.
pub(crate) fn build_page(workspace: &Workspace) -> Result<Page> {
    if let Some(reason) = missing() {
        return Ok(Page::NoNode(reason));
    }
    let web = workspace.path("web");
    let built = modified(&web.join("dist/index.html"));
    let sources = newest(&web)?;
    if built.is_some_and(|built| built >= sources) {
        return Ok(Page::Fresh);
    }
    install(workspace, "web")?;
    process::run(workspace.command("npm").args(["run", "--silent", "build"]).current_dir(&web))?;
    Ok(Page::Built)
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
        if name == "node_modules" || name == "dist" {
            continue;
        }
        let changed =
            if kind.is_dir() { self::newest(&entry.path())? } else { entry.metadata()?.modified()? };
        newest = newest.max(changed);
    }
    Ok(newest)
}
