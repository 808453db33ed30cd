//! Nodes of a program, a row for each.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::case::Path;

/// A node, and the function that it stands in.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    #[serde(rename = "ref")]
    of: String,
    owner: Path,
    text: String,
}

impl Node {
    pub(crate) fn json(&self) -> Value {
        json!({ "ref": self.of, "function": self.owner.path, "text": self.text.trim_end() })
    }

    /// The node as a row: ref, function, and the first line of its text.
    pub(crate) fn row(&self) -> [String; 3] {
        [self.of.clone(), self.owner.path.clone(), first_line(&self.text)]
    }
}

/// The first line of a text, without what it is indented by.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}
