//! `lmlang edit`: edits of a program, as a list or as text, by a new revision.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::with_client;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted};
use crate::proposed::{Origin, Proposed, fragments};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::input;

/// Which program, and how it is changed: all of it or nothing.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lmlang edit [OPTIONS] <PROGRAM> <FILE>\n       lmlang edit [OPTIONS] <PROGRAM> --edits <JSON>\n       lmlang edit [OPTIONS] <PROGRAM> --add-text <FILE> [--module <MODULE>]\n       lmlang edit [OPTIONS] <PROGRAM> --replace-function <NAME> <FILE>\n       lmlang edit [OPTIONS] <PROGRAM> --patch <FILE>"
)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    #[command(flatten)]
    what: What,
    /// The module that the text goes into, by name, path or ref; without it, the text names its modules itself.
    #[arg(long, value_name = "MODULE", requires = "add_text")]
    module: Option<String>,
    /// The revision that you saw, such as `r7`: edits are carried over what others have changed since, or are a conflict
    /// [default: the head].
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
    /// The branch whose head moves.
    #[arg(long, default_value = "main", value_name = "NAME")]
    branch: String,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
    /// Only say what would come of it; refs of what is new are provisional.
    #[arg(long)]
    dry_run: bool,
    /// Refuse edits that leave something incomplete.
    #[arg(long)]
    require_complete: bool,
    /// Verify the whole program, not only what the edits can have touched.
    #[arg(long)]
    verify_all: bool,
    /// For whom; recorded beside the author.
    #[arg(long, value_name = "NAME")]
    on_behalf_of: Option<String>,
    /// An idempotency key: the same edits under the same key are carried out once, whoever asks again.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// What is changed.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// A list of edits in a file, `-` for standard input: `[{"setDoc": {"ref": "m::f", "doc": ".."}}]`, as `proposeEdit`
    /// and the tool `propose_structured_edit` take them.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A list of edits as it stands.
    #[arg(long, value_name = "JSON")]
    edits: Option<String>,
    /// Add the types, globals and functions of a text, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    add_text: Option<PathBuf>,
    /// Replace a function, by name, path or ref, by the text in a file; may be given several times.
    #[arg(long, num_args = 2, value_names = ["NAME", "FILE"])]
    replace_function: Vec<String>,
    /// Change the texts of modules and functions as a unified diff says, `-` for standard input: what `lmlang diff` prints is
    /// one.
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
}

const PROPOSE: &str = "mutation($input: ProposeEditInput!) {
  edited: proposeEdit(input: $input) { outcome { ...Proposed } }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    edited: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    outcome: Proposed,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (edits, origin) = args.edits()?;
    let document = format!("{PROPOSE}\n{}", fragments());
    let input = json!({
        "programId": args.program,
        "baseRevision": args.base,
        "branch": args.branch,
        "edits": edits,
        "message": args.message,
        "dryRun": args.dry_run,
        "requireComplete": args.require_complete,
        "verify": if args.verify_all { "FULL" } else { "LOCAL" },
        "onBehalfOf": args.on_behalf_of,
        "idempotencyKey": args.key,
    });
    let look = format!("lmlang history {} --branch {}", args.program, args.branch);
    let answer: Answer =
        with_client(settings, Missing::Refuse, async |client| client.change(&document, input, &look).await)?;
    answer.edited.outcome.tell(&origin, output)
}

impl Args {
    /// The edits, and where they are from.
    fn edits(&self) -> Result<(Value, Origin), Error> {
        let What { file, edits, add_text, replace_function, patch } = &self.what;
        if let Some(file) = add_text {
            let edit = json!({ "addText": { "module": self.module, "text": input(file)? } });
            return Ok((json!([edit]), Origin::File(name(file))));
        }
        if let Some(file) = patch {
            let edit = json!({ "applyTextPatch": { "patch": input(file)? } });
            return Ok((json!([edit]), Origin::File(name(file))));
        }
        if let [_, file] = replace_function.as_slice() {
            return Ok((replacements(replace_function)?, Origin::File(name(Path::new(file)))));
        }
        if !replace_function.is_empty() {
            return Ok((replacements(replace_function)?, Origin::List("edits".to_owned())));
        }
        let (name, text) = match (edits, file) {
            (None, Some(file)) => (name(file), input(file)?),
            (edits, _) => ("--edits".to_owned(), edits.clone().unwrap_or_default()),
        };
        let list: Vec<Map<String, Value>> = serde_json::from_str(&text)
            .map_err(|error| Error::Input(format!("`{name}` is no list of edits: {error}")))?;
        check("edits", &list)?;
        Ok((json!(list), Origin::List("edits".to_owned())))
    }
}

/// The edits that replace functions: each by the text in the file behind its name.
fn replacements(given: &[String]) -> Result<Value, Error> {
    let mut edits = Vec::new();
    for pair in given.chunks(2) {
        if let [function, file] = pair {
            let text = input(Path::new(file))?;
            edits.push(json!({ "replaceFunctionText": { "ref": function, "text": text } }));
        }
    }
    Ok(edits.into())
}

/// Looks at the shape of edits: each is an object with one key. What stands below it, whoever carries them out looks at.
pub(crate) fn check(list: &str, edits: &[Map<String, Value>]) -> Result<(), Error> {
    match edits.iter().enumerate().find(|(_, edit)| edit.len() != 1) {
        None => Ok(()),
        Some((index, edit)) => {
            let keys = counted(edit.len() as u64, "key", "keys");
            let told = format!(
                "`{list}[{index}]` has {keys}: an edit is an object with one, its name, such as `addText` or `setDoc`"
            );
            Err(Error::Input(told))
        }
    }
}

/// How messages call a file.
pub(crate) fn name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}
