//! Calling other programs.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How many of the last lines of a program that failed are told with it.
const LAST: usize = 24;

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs to the end, with this process's own output; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", line(command));
    }
    Ok(())
}

/// Runs to the end, with this process's own output; an error ends with the last lines that it wrote to standard error.
pub(crate) fn run_and_tell(command: &mut Command) -> Result<()> {
    let mut child =
        command.stderr(Stdio::piped()).spawn().with_context(|| format!("cannot run `{}`", line(command)))?;
    let complaints = child.stderr.take().context("its errors are piped")?;
    let mut last = VecDeque::with_capacity(LAST);
    for text in BufReader::new(complaints).lines() {
        let text = text?;
        eprintln!("{text}");
        if last.len() == LAST {
            last.pop_front();
        }
        last.push_back(text);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed: {status}\n{}", line(command), last.make_contiguous().join("\n"));
    }
    Ok(())
}

/// Runs to the end and returns what it printed.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    command.stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run `{}`", line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", line(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` prints text", line(command)))
}

/// Runs to the end, and hands each line that it prints to `see`.
pub(crate) fn watch(command: &mut Command, mut see: impl FnMut(&str)) -> Result<()> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run `{}`", line(command)))?;
    let printed = child.stdout.take().context("its output is piped")?;
    for text in BufReader::new(printed).lines() {
        see(&text?);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed: {status}", line(command));
    }
    Ok(())
}

/// Says whether a program answers `--version`, and with which text.
pub(crate) fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
