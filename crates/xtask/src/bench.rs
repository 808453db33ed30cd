//! The benchmarks.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{Workspace, items};
use crate::{node, process, python};

/// Benchmarks of the binary, which is built first with the same profile.
const OF_THE_BINARY: &[&str] = &["durable_edits", "lists", "live", "opening", "pages", "readers", "traces"];

/// Benchmarks of the binary that look at its pages in a browser, as the client tests do.
const OF_THE_PAGES: &[&str] = &["pages"];

/// Benchmarks that set something beside libraries of Python, with the file that requires these.
const BESIDE_PYTHON: &[(&str, &str)] = &[("flows", "crates/bench/benches/flows/requirements.txt")];

/// Runs every benchmark, or the one called `name`, in the profile made for measuring.
///
/// Each by its own name: a plain `cargo bench` would also build every library's tests with that profile. With the
/// features of the whole workspace, so that all share their units.
pub(crate) fn run(workspace: &Workspace, name: Option<&str>) -> Result<ExitCode> {
    let metadata = workspace.metadata(false)?;
    let all = benches(&metadata)?;
    let chosen: Vec<_> = all.iter().filter(|(_, bench)| name.is_none_or(|name| name == bench)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = all.iter().map(|(_, bench)| bench.as_str()).collect();
        bail!("no benchmark of that name; there are: {}", names.join(", "));
    }
    let target = metadata["target_directory"].as_str().context("cargo knows the target directory")?;
    let mut found = Vec::new();
    for (package, bench) in chosen {
        println!("==> {bench} ({package})");
        if OF_THE_PAGES.contains(&bench.as_str()) {
            if let node::Pages::NoNode(reason) = node::build_pages(workspace)? {
                println!("it is left out: {reason}");
                continue;
            }
            node::install(workspace, "tests/clients")?;
        }
        if OF_THE_BINARY.contains(&bench.as_str()) {
            let build = ["build", "--workspace", "--profile", "bench", "--bin", "lmlang"];
            process::run(&mut workspace.cargo(&build))?;
        }
        // What an earlier run left says nothing of this one.
        let lines = Path::new(target).join("bench").join(format!("{bench}.jsonl"));
        if lines.exists() {
            fs::remove_file(&lines)?;
        }
        let mut command = workspace.cargo(&["bench", "--workspace", "--bench", bench]);
        if let Some((_, requirements)) = BESIDE_PYTHON.iter().find(|(of, _)| *of == bench.as_str()) {
            let folder = Path::new(target).join("bench-python");
            match python::environment(&workspace.path(requirements), &folder) {
                Ok(python) => {
                    command.env("LMLANG_BENCH_PYTHON", python);
                }
                Err(error) => println!("without what it needs of Python: {error:#}"),
            }
        }
        process::run(&mut command)?;
        if lines.exists() {
            found.push(fs::read_to_string(&lines)?);
        }
    }
    print!("{}", judge(&found.concat())?);
    Ok(ExitCode::SUCCESS)
}

/// Says how many targets are met and which are not. A figure of a shared machine decides nothing, so none is an error.
fn judge(lines: &str) -> Result<String> {
    let (mut met, mut missed) = (0, Vec::new());
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).context("a benchmark writes lines of JSON")?;
        match line["pass"].as_bool() {
            None => {}
            Some(true) => met += 1,
            Some(false) => {
                let found = if line["ratio"].is_null() { &line["value"] } else { &line["ratio"] };
                let found = found.as_f64().context("what has a target is a number")?;
                let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
                let (block, name, target) = (text("block"), text("name"), text("target"));
                missed.push(format!("  {block}: {name}: {found:.2}, wanted {target} in every round\n"));
            }
        }
    }
    match met + missed.len() {
        0 => Ok(String::new()),
        all => Ok(format!("{met} of {all} targets met\n{}", missed.concat())),
    }
}

/// Lists the packages' benchmarks, by package and name.
fn benches(metadata: &Value) -> Result<Vec<(String, String)>> {
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

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn targets_are_counted_and_misses_named() {
        let lines = concat!(
            r#"{"block":"b","name":"met","value":9.0,"ratio":1.0,"target":"<= 1.5","pass":true}"#,
            "\n",
            r#"{"block":"b","name":"missed","value":120.0,"ratio":null,"target":"<= 100","pass":false}"#,
            "\n",
            r#"{"block":"b","name":"without","value":1.0,"ratio":null,"target":null,"pass":null}"#,
        );
        let expect = "1 of 2 targets met\n  b: missed: 120.00, wanted <= 100 in every round\n";
        assert_eq!(judge(lines).unwrap(), expect);
        assert_eq!(judge("").unwrap(), "");
        assert!(judge("no JSON").is_err());
    }
}
