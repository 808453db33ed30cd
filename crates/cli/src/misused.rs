//! A command line that cannot be read, told as it asks for.

use clap::error::{ContextKind, ContextValue};
use serde_json::json;

use crate::exit::Exit;
use crate::output;

/// Ends the process on what is wrong with its command line, or on the help or version that it asks for: with `--json` a
/// mistake is told in JSON as other errors are.
pub(crate) fn told(error: &clap::Error) -> Exit {
    let mut given = std::env::args_os().take_while(|argument| argument != "--");
    if !error.use_stderr() || !given.any(|argument| argument == "--json") {
        error.exit();
    }
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    let told = json!({ "code": "BAD_ARGUMENT", "message": words.join(" "), "candidates": candidates(error) });
    output::say(json!({ "error": told }));
    Exit::Usage
}

/// What was meant perhaps, the nearest first.
fn candidates(error: &clap::Error) -> Vec<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let mut found: Vec<String> = kinds
        .into_iter()
        .filter_map(|kind| error.get(kind))
        .flat_map(|value| match value {
            ContextValue::String(one) => vec![one.clone()],
            ContextValue::Strings(several) => several.clone(),
            _ => Vec::new(),
        })
        .collect();
    // They come with the nearest last.
    found.reverse();
    found
}
