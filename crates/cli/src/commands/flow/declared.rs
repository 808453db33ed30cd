//! Flows of one's own: declaring them, looking whether they make sense, taking them away, and writing them down.

use std::path::{Path, PathBuf};

use figment::providers::{Format as _, Toml};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::input;

const REGISTER: &str = "mutation($input: RegisterFlowInput!) { registered: registerFlow(input: $input) {
  changed flow { name version definitionHash nodes { name } } errors { code path message }
} }";

const REMOVE: &str = "mutation($input: RemoveFlowInput!) { removed: removeFlow(input: $input) { deleted } }";

const DECLARATION: &str = "query($id: ID!) { flow(id: $id) { declaration } }";

/// What to do with flows of one's own.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Action {
    /// Declare a flow of one's own, or declare it anew; exits with 9 if it is declared so already.
    Register {
        /// The declaration, as JSON or TOML in a file, or `-` for standard input.
        file: PathBuf,
    },
    /// Tell what is wrong with a declaration of a flow, and store nothing; exits with 1 if something is.
    Check {
        /// The declaration, as JSON or TOML in a file, or `-` for standard input.
        file: PathBuf,
    },
    /// Take a flow of one's own away; runs that have begun go on.
    Remove {
        /// The flow, by name.
        flow: String,
    },
    /// Print the declaration of a flow of one's own, as JSON.
    Export {
        /// The flow, by name.
        flow: String,
    },
}

#[derive(Debug, Deserialize)]
struct Answered {
    registered: Registered,
}

#[derive(Debug, Deserialize)]
struct Registered {
    changed: bool,
    flow: Option<Declared>,
    errors: Vec<Mistake>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Declared {
    name: String,
    version: String,
    definition_hash: String,
    nodes: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct Mistake {
    code: String,
    path: String,
    message: String,
}

pub(super) fn run(action: &Action, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match action {
        Action::Register { file } => declare(file, false, settings, output),
        Action::Check { file } => declare(file, true, settings, output),
        Action::Remove { flow } => with_client(settings, Missing::Refuse, async |client| {
            let removed: Value = client.change(REMOVE, json!({ "name": flow }), "lmlang flow list").await?;
            let deleted = removed["removed"]["deleted"] == true;
            output.data(&json!({ "name": flow, "deleted": deleted }), || match deleted {
                true => format!("removed {flow}\n"),
                false => String::new(),
            })?;
            if deleted {
                return Ok(Exit::Success);
            }
            say(format_args!("nothing was removed: `{flow}` is gone already"));
            Ok(Exit::Nothing)
        }),
        Action::Export { flow } => with_client(settings, Missing::Refuse, async |client| {
            let found: Value = client.ask(DECLARATION, &json!({ "id": flow })).await?;
            match &found["flow"]["declaration"] {
                Value::Null => {
                    let message = format!("`{flow}` is a flow of the server, which nobody has declared");
                    Err(Error::not_found(message, Vec::new()))
                }
                declaration => {
                    output.json(declaration)?;
                    Ok(Exit::Success)
                }
            }
        }),
    }
}

/// Declares a flow, or tells what that would come to.
fn declare(file: &Path, dry_run: bool, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let input = json!({ "definition": read(file)?, "dryRun": dry_run });
    let answered: Answered = with_client(settings, Missing::Make, async |client| {
        client.change(REGISTER, input, "lmlang flow list").await
    })?;
    let Registered { changed, flow, errors } = answered.registered;
    let Some(flow) = flow else {
        let told = |of: &Mistake| json!({ "code": of.code, "path": of.path, "message": of.message });
        let json = json!({ "errors": errors.iter().map(told).collect::<Vec<_>>() });
        output.data(&json, String::new)?;
        for Mistake { code, path, message } in &errors {
            let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
            say(format_args!("error[{code}]: {}: {place}{message}", file.display()));
        }
        return Ok(Exit::Failure);
    };
    let Declared { name, version, definition_hash, nodes } = flow;
    let json = json!({
        "name": name, "version": version, "definitionHash": definition_hash, "changed": changed, "errors": [],
    });
    let nodes = crate::output::counted(nodes.len() as u64, "node", "nodes");
    output.data(&json, || format!("{name}  version {version}, {nodes}\n"))?;
    match (dry_run, changed) {
        (true, _) | (false, true) => Ok(Exit::Success),
        (false, false) => {
            say(format_args!("nothing was changed: `{name}` is declared so already"));
            Ok(Exit::Nothing)
        }
    }
}

/// A declaration, as it stands in a file: what begins as an object of JSON does is that, everything else is TOML.
fn read(file: &Path) -> Result<Value, Error> {
    let text = input(file)?;
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(&text)
            .map_err(|error| Error::Input(format!("the declaration is no JSON: {error}")));
    }
    let read: Result<Value, _> = Toml::from_str(&text);
    read.map_err(|error| {
        Error::Input(format!("the declaration is no TOML: {}", error.to_string().trim_end()))
    })
}
