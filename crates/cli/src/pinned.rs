//! A program at the revision that its view led to, whatever the head is by now.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::view::View;

/// A program at one revision.
pub(crate) struct Pinned<'a> {
    pub(crate) client: &'a Client,
    /// Its id.
    program: String,
    /// The revision: `r7`.
    pub(crate) revision: String,
}

const WHICH: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) { programId revision { number } }
}";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Which {
    program_id: String,
    revision: Numbered,
}

impl<'a> Pinned<'a> {
    pub(crate) async fn find(client: &'a Client, program: &str, view: &View) -> Result<Pinned<'a>, Error> {
        let which: About<Which> = client.ask(WHICH, &view.of(program)).await?;
        let Which { program_id, revision } = which.program;
        Ok(Pinned { client, program: program_id, revision: format!("r{}", revision.number) })
    }

    /// How a query names the program and the revision.
    pub(crate) fn variables(&self) -> Value {
        json!({ "id": self.program, "at": self.revision })
    }
}
