//! Programs that were just made.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted, say};

const CREATE: &str = "mutation($input: CreateProgramInput!) {
  created: createProgram(input: $input) {
    program { programId id name revision { number } rootHash stats { functions nodes } }
  }
}";

const READ: &str = "query($id: ID) {
  program(id: $id) { programId id name revision { number } rootHash stats { functions nodes } }
}";

#[derive(Debug, Deserialize)]
struct Created {
    created: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    program: Option<Made>,
}

/// A program that was made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Made {
    pub(crate) program_id: String,
    id: String,
    name: String,
    revision: Numbered,
    root_hash: String,
    stats: Stats,
}

#[derive(Debug, Deserialize)]
struct Stats {
    functions: u64,
    nodes: u64,
}

impl Made {
    /// Makes a program of that name; nothing where its text has errors.
    pub(crate) async fn create(client: &Client, name: &str, input: Value) -> Result<Option<Made>, Error> {
        Ok(client.change::<Created>(CREATE, input, &look_at(name)).await?.created.program)
    }

    /// The same program as it is by now.
    pub(crate) async fn read(client: &Client, id: &str) -> Result<Made, Error> {
        let about: About<Made> = client.ask(READ, &json!({ "id": id })).await?;
        Ok(about.program)
    }

    /// Tells its name, and how large it is.
    pub(crate) fn tell(&self, output: Output) -> Result<Exit, Error> {
        let Stats { functions, nodes } = self.stats;
        let json = json!({
            "id": self.id,
            "name": self.name,
            "revision": format!("r{}", self.revision.number),
            "rootHash": self.root_hash,
            "functions": functions,
            "nodes": nodes,
        });
        output.data(&json, || format!("{}\n", self.name))?;
        let (functions, nodes) =
            (counted(functions, "function", "functions"), counted(nodes, "node", "nodes"));
        say(format_args!("{functions}, {nodes}, {}", &self.root_hash[..12]));
        Ok(Exit::Success)
    }
}

/// The command that shows whether a program of that name was made, or changed.
pub(crate) fn look_at(name: &str) -> String {
    format!("lmlang program show {name}")
}
