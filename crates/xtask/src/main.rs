//! Development commands. `cargo xtask help` lists them.
//!
//! It builds in half a minute on an empty target directory and knows nothing of the other crates but their names: it only
//! calls tools. `test` is the table of contents of everything that decides whether a change may land.

mod bench;
mod certificates;
mod clients;
mod dependencies;
mod generated;
mod imports;
mod node;
mod postgres;
mod process;
mod python;
mod report;
mod serve;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};
use workspace::Workspace;

const HELP: &str = "\
cargo xtask serve [ARGS]     build what is needed, then run `lmlang serve` with ARGS
cargo xtask test [--long]    everything that decides whether a change may land; --long for the full counts
cargo xtask test --seed N [--postgres]
                             try one seed of the engine's faults again, as a failure names it
cargo xtask bench [NAME]     run the benchmarks, or the one named
cargo xtask codegen          write the generated files anew
cargo xtask tidy             only the checks that need no build: sources, imports, dependencies
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    match run(&command, args.collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask {command}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &str, args: Vec<String>) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    match (command, &args[..]) {
        ("serve", _) => serve::run(&workspace, &args),
        ("test", []) => test::run(&workspace, test::Length::Short),
        ("test", [long]) if long == "--long" => test::run(&workspace, test::Length::Long),
        ("test", [seed, number]) if seed == "--seed" => {
            test::try_seed(&workspace, number.parse()?, test::Database::File)
        }
        ("test", [seed, number, kind]) if seed == "--seed" && kind == "--postgres" => {
            test::try_seed(&workspace, number.parse()?, test::Database::Postgres)
        }
        ("bench", []) => bench::run(&workspace, None),
        ("bench", [name]) => bench::run(&workspace, Some(name)),
        ("codegen", []) => generated::write(&workspace),
        ("tidy", []) => test::tidy(&workspace),
        ("help" | "--help" | "-h" | "", []) => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("not understood\n\n{HELP}"),
    }
}
