//! What of SQL the planner understands, as a tree of constructs.
//!
//! The tree is `syntax.json`; tests hold that what it calls supported plans, and that the rest is refused with its id.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Whether a construct is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As its `semantics` say.
    Supported,
    /// But for what its `constraints` say; of a group: not all of it.
    Partial,
    /// Refused with its id.
    Unsupported,
}

/// Whether a construct has others inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConstructType {
    /// It is its children.
    Group,
    /// It is something that can be written.
    Feature,
}

/// Something of SQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Construct {
    /// Its stable id, such as `select.where`.
    pub id: String,
    /// Group or feature.
    #[serde(rename = "type")]
    pub kind: ConstructType,
    /// Its name for readers.
    pub title: String,
    /// Whether it is understood.
    pub status: Status,
    /// What it is for.
    pub purpose: String,
    /// What it does.
    pub semantics: String,
    /// Where it stands.
    pub placement: String,
    /// What it is bound to.
    pub constraints: Vec<String>,
    /// What to write instead.
    pub workarounds: Vec<String>,
    /// Its forms.
    pub syntax: Vec<String>,
    /// Queries with it, over the stream `readings` of the documentation.
    pub examples: Vec<String>,
    /// What is inside.
    pub children: Vec<Construct>,
}

/// What `GET /capabilities/syntax` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Syntax {
    /// The SQL that is read.
    pub dialect: String,
    /// What queries become.
    pub ir: String,
    /// The groups of constructs.
    pub constructs: Vec<Construct>,
}

/// The constructs that the planner knows.
pub fn syntax() -> &'static Syntax {
    static SYNTAX: LazyLock<Syntax> =
        LazyLock::new(|| serde_json::from_str(include_str!("syntax.json")).expect("the file is the tree"));
    &SYNTAX
}

impl Syntax {
    /// All constructs, each before its children.
    pub fn all(&self) -> Vec<&Construct> {
        let mut all = Vec::new();
        let mut open: Vec<&Construct> = self.constructs.iter().rev().collect();
        while let Some(construct) = open.pop() {
            all.push(construct);
            open.extend(construct.children.iter().rev());
        }
        all
    }

    /// The construct of an id.
    pub fn get(&self, id: &str) -> Option<&Construct> {
        self.all().into_iter().find(|construct| construct.id == id)
    }
}
