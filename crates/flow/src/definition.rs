//! What a flow is, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::declared::Declaration;

/// A flow as it is written down; [`Flow::new`](crate::Flow::new) checks it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// What it is started by: lower case, digits and `-`.
    pub name: String,
    /// Counts up when the code of a node changes what a run comes to: a run goes on only in the version that it began in, or was moved to.
    pub version: u32,
    /// What it does, in a sentence for whoever starts it.
    pub doc: String,
    /// Where a run begins.
    pub entry: String,
    /// Its nodes.
    pub nodes: Vec<NodeSpec>,
    /// What a run carries from node to node.
    pub channels: Vec<Channel>,
    /// What it was declared as, with what its nodes do; none of a flow whose nodes are code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declaration>,
}

/// A node of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Its name, unique in the flow.
    pub name: String,
    /// What it is for.
    pub kind: NodeKind,
    /// The nodes that may come next; [`END`] for none.
    pub targets: Vec<String>,
    /// How often it may fail before a person is asked.
    pub attempts: u32,
    /// How often a run may come to it, in all its branches together; none where no cycle leads through it.
    pub visits: Option<u32>,
    /// How long answers to what is asked at it are awaited; none: for ever, unless the question itself says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
    /// How long an attempt at it may work, in microseconds; none: as long as what it calls takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<i64>,
    /// Where a run goes on when it has failed for good; none: a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// What it does, in a sentence.
    pub doc: String,
}

/// How long an answer is awaited, and what then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeout {
    /// Microseconds from the question on.
    pub after: i64,
    /// The node at which the run goes on, one of the targets; none: the run has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
}

/// Where a run goes on when a node has failed for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// The node, one of the targets.
    pub then: String,
    /// The channel that takes the failure: an object with `code`, `message`, `node` and `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

/// The target that ends a branch.
pub const END: &str = "END";

/// What a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeKind {
    /// It does something.
    Task,
    /// It may ask somebody.
    Ask,
    /// It decides whether what comes next may happen.
    Gate,
}

/// A part of a run's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Its name, unique in the flow.
    pub name: String,
    /// How an update changes it.
    pub reducer: Reducer,
    /// What it holds at first.
    pub initial: Value,
    /// Whether it is for nodes only: neither shown nor told to a model.
    pub private: bool,
}

/// How an update changes a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reducer {
    /// The new value stands for the old one.
    Replace,
    /// A list grows at its end by the items of a list; of more than so many, the newest stay.
    Append {
        /// Items that stay.
        most: usize,
    },
    /// A number grows by a number.
    Sum,
    /// An object takes in the fields of an object; no more than so many are let in.
    Merge {
        /// Fields that it may have.
        most: usize,
    },
}

impl Definition {
    /// A flow without nodes.
    #[must_use]
    pub fn new(name: &str, version: u32, doc: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            version,
            doc: doc.to_owned(),
            entry: String::new(),
            nodes: Vec::new(),
            channels: Vec::new(),
            declared: None,
        }
    }

    /// Adds a node; the first one is where runs begin.
    #[must_use]
    pub fn node(mut self, node: NodeSpec) -> Definition {
        if self.nodes.is_empty() {
            self.entry.clone_from(&node.name);
        }
        self.nodes.push(node);
        self
    }

    /// Adds a channel.
    #[must_use]
    pub fn channel(mut self, name: &str, reducer: Reducer, initial: Value) -> Definition {
        self.channels.push(Channel { name: name.to_owned(), reducer, initial, private: false });
        self
    }

    /// Adds a channel for nodes only.
    #[must_use]
    pub fn private(mut self, name: &str, reducer: Reducer, initial: Value) -> Definition {
        self.channels.push(Channel { name: name.to_owned(), reducer, initial, private: true });
        self
    }
}

/// How often a node may fail before a person is asked, unless it says otherwise.
pub const ATTEMPTS: u32 = 3;

impl NodeSpec {
    /// A node that does something.
    #[must_use]
    pub fn task(name: &str, targets: &[&str], doc: &str) -> NodeSpec {
        NodeSpec::of(NodeKind::Task, name, targets, doc)
    }

    /// A node that may ask somebody.
    #[must_use]
    pub fn ask(name: &str, targets: &[&str], doc: &str) -> NodeSpec {
        NodeSpec::of(NodeKind::Ask, name, targets, doc)
    }

    /// A node that decides whether what comes next may happen.
    #[must_use]
    pub fn gate(name: &str, targets: &[&str], doc: &str) -> NodeSpec {
        NodeSpec::of(NodeKind::Gate, name, targets, doc)
    }

    fn of(kind: NodeKind, name: &str, targets: &[&str], doc: &str) -> NodeSpec {
        NodeSpec {
            name: name.to_owned(),
            kind,
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            attempts: ATTEMPTS,
            visits: None,
            timeout: None,
            within: None,
            fallback: None,
            doc: doc.to_owned(),
        }
    }

    /// The same node, to which a run may come so often.
    #[must_use]
    pub fn at_most(mut self, visits: u32) -> NodeSpec {
        self.visits = Some(visits);
        self
    }

    /// The same node, which may fail so often.
    #[must_use]
    pub fn trying(mut self, attempts: u32) -> NodeSpec {
        self.attempts = attempts;
        self
    }

    /// The same node, at which answers are awaited for so many microseconds. Without one, the run goes on at `then`, or has
    /// failed.
    #[must_use]
    pub fn awaiting(mut self, after: i64, then: Option<&str>) -> NodeSpec {
        self.timeout = Some(Timeout { after, then: then.map(str::to_owned) });
        self
    }

    /// The same node, without which a run goes on at another one when it has failed for good.
    #[must_use]
    pub fn or_else(mut self, then: &str, into: Option<&str>) -> NodeSpec {
        self.fallback = Some(Fallback { then: then.to_owned(), into: into.map(str::to_owned) });
        self
    }

    /// The same node, an attempt at which may work for so many microseconds.
    #[must_use]
    pub fn within(mut self, micros: i64) -> NodeSpec {
        self.within = Some(micros);
        self
    }
}
