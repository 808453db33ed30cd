//! The command line `lmlang`.
//!
//! It translates: a command about files calls the domain, one about programs asks in GraphQL, and each prints what came
//! out. Data goes to standard output, everything else to standard error. Read `cli` for the table of commands, `exit` for
//! how the process ends, `client` for who answers requests, then one file per command.

mod answers;
mod asking;
mod breaking;
mod callee;
mod cli;
mod client;
mod codes;
mod commands;
mod diagnostics;
mod doubt;
mod duration;
mod ends;
mod error;
mod events;
mod exit;
mod failures;
mod fields;
mod findings;
mod folder;
mod following;
mod made;
mod misset;
mod misused;
mod nodes;
mod open_files;
mod outcome;
mod output;
mod pinned;
mod proposed;
mod reference;
mod remote;
mod replacing;
mod running;
mod samples;
mod session;
mod settings;
mod signals;
mod source;
mod spans;
mod stdio;
mod told;
mod view;

use std::error::Error as _;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Form, Output};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused::told(&error).into(),
    };
    anstream::ColorChoice::from(cli.color).write_global();
    let output = Output { form: if cli.json { Form::Json } else { Form::Text } };
    match commands::run(cli, output) {
        Ok(exit) => exit.into(),
        Err(error) if error.is_closed_output() => Exit::Success.into(),
        Err(error) => {
            report(&error, output);
            error.exit().into()
        }
    }
}

/// Tells on standard error why a command was not carried out.
fn report(error: &Error, output: Output) {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let source_text = source.to_string();
        // Some say what their source says as well.
        if !message.ends_with(&source_text) {
            message.push_str(&format!(": {source_text}"));
        }
        cause = source.source();
    }
    let candidates = error.candidates();
    match output.form {
        Form::Text => {
            let red = anstyle::AnsiColor::Red.on_default().bold();
            output::say(format_args!("{red}error[{}]{red:#}: {message}", error.code()));
            if !candidates.is_empty() {
                output::say(format_args!("  did you mean: {}", candidates.join(", ")));
            }
            if let Some(remedy) = error.remedy() {
                output::say(format_args!("  {remedy}"));
            }
        }
        Form::Json => {
            let mut told = json!({ "code": error.code(), "message": message, "candidates": candidates });
            if let Some(data) = error.data() {
                told["data"] = data.clone();
            }
            output::say(json!({ "error": told }));
        }
    }
}
