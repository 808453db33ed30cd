//! What is run with Python: some of the client tests, and libraries that benchmarks set something beside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Makes an environment in a folder with what a file requires, once, and answers with its interpreter.
pub(crate) fn environment(requirements: &Path, folder: &Path) -> Result<PathBuf> {
    let wanted = fs::read_to_string(requirements)?;
    let (python, stamp) = (folder.join("bin/python"), folder.join("installed.txt"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    process::run(pip.arg(requirements))?;
    fs::write(stamp, wanted)?;
    Ok(python)
}
