//! Whether a definition makes sense.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use petgraph::visit::Dfs;

use crate::definition::{Channel, Definition, END, Fallback, NodeSpec, Reducer};

/// A flow that was checked: every target is there, every node is reached, every cycle is bounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    definition: Definition,
    hash: [u8; 32],
    nodes: BTreeMap<String, usize>,
    channels: BTreeMap<String, usize>,
}

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A name that could not be written where names are written.
    #[error("`{name}` is no name of a {what}")]
    BadName {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two things have one name.
    #[error("there are two {what}s `{name}`")]
    NameTaken {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A node, or the entry, leads to what is not there.
    #[error("`{from}` leads to `{to}`, which is no node")]
    MissingTarget {
        /// The node, or `entry`.
        from: String,
        /// What it names.
        to: String,
    },
    /// No run comes to a node.
    #[error("no run comes to `{node}`")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// A run could go round for ever.
    #[error("nothing bounds the cycle through {}", .nodes.join(", "))]
    UnboundedCycle {
        /// Its nodes, none of which has a bound of visits, by name.
        nodes: Vec<String>,
    },
    /// A node leads nowhere.
    #[error("`{node}` has no target")]
    NoTarget {
        /// The node.
        node: String,
    },
    /// A node may never be tried.
    #[error("`{node}` has no attempt")]
    NoAttempt {
        /// The node.
        node: String,
    },
    /// A node awaits answers for no time at all.
    #[error("`{node}` awaits answers for no time")]
    NoTime {
        /// The node.
        node: String,
    },
    /// An attempt at a node may work for no time at all.
    #[error("`{node}` may work for no time")]
    NoWork {
        /// The node.
        node: String,
    },
    /// A node leads to where it may not lead when nobody answers.
    #[error("`{node}` leads to `{to}` when nobody answers, which is no node among its targets")]
    StrayTimeout {
        /// The node.
        node: String,
        /// What it names.
        to: String,
    },
    /// A node leads to where it may not lead when it has failed.
    #[error("`{node}` leads to `{to}` when it has failed, which is no node among its targets")]
    StrayFallback {
        /// The node.
        node: String,
        /// What it names.
        to: String,
    },
    /// The failure of a node goes where it cannot be taken.
    #[error("the failure of `{node}` goes into `{channel}`, which is no channel that is replaced")]
    BadFallback {
        /// The node.
        node: String,
        /// What it names.
        channel: String,
    },
    /// A channel begins with what its reducer cannot take on.
    #[error("channel `{channel}` begins with {found} where its reducer takes {expected}")]
    BadInitial {
        /// The channel.
        channel: String,
        /// What it should begin with.
        expected: &'static str,
        /// What it begins with.
        found: &'static str,
    },
}

impl Flow {
    /// Checks a definition; tells everything that is wrong with it.
    ///
    /// # Errors
    ///
    /// See [`Problem`].
    pub fn new(definition: Definition) -> Result<Flow, Vec<Problem>> {
        let mut problems = Vec::new();
        if !is_name(&definition.name) {
            problems.push(Problem::BadName { what: "flow", name: definition.name.clone() });
        }
        let nodes = index("node", definition.nodes.iter().map(|node| &node.name), &mut problems);
        let channels =
            index("channel", definition.channels.iter().map(|channel| &channel.name), &mut problems);
        check_targets(&definition, &nodes, &mut problems);
        check_initials(&definition, &mut problems);
        if problems.is_empty() {
            check_shape(&definition, &mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let hash = hash(&definition);
        Ok(Flow { definition, hash, nodes, channels })
    }

    /// What it was made of.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether it was declared as one whose runs are about a program, and reach nothing beside it.
    #[must_use]
    pub fn is_about_a_program(&self) -> bool {
        self.definition.declared.as_ref().is_some_and(|declared| declared.program.is_some())
    }

    /// What it is started by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// What tells it from every other definition, other versions included.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Whether a run of one is as well a run of the other: they differ in what they say of themselves at most.
    #[must_use]
    pub fn runs_as(&self, other: &Flow) -> bool {
        let silent = |flow: &Flow| {
            let mut definition = flow.definition.clone();
            definition.doc.clear();
            definition.nodes.iter_mut().for_each(|node| node.doc.clear());
            definition
        };
        self.hash == other.hash || silent(self) == silent(other)
    }

    /// A node by its name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&NodeSpec> {
        self.nodes.get(name).map(|index| &self.definition.nodes[*index])
    }

    /// A channel by its name.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.get(name).map(|index| &self.definition.channels[*index])
    }
}

/// BLAKE3 of the definition as JSON: fields in the order of their declaration.
fn hash(definition: &Definition) -> [u8; 32] {
    // Plain data with string keys.
    let json = serde_json::to_vec(definition).expect("a definition is written as JSON");
    *blake3::hash(&json).as_bytes()
}

/// Whether something can be written in a command, an address and a picture as it is.
fn is_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    name.len() <= 64
        && name.bytes().all(legal)
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
}

fn index<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a String>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (index, name) in names.enumerate() {
        if !is_name(name) {
            problems.push(Problem::BadName { what, name: name.clone() });
        }
        if found.insert(name.clone(), index).is_some() {
            problems.push(Problem::NameTaken { what, name: name.clone() });
        }
    }
    found
}

fn check_targets(definition: &Definition, nodes: &BTreeMap<String, usize>, problems: &mut Vec<Problem>) {
    let missing = |from: &str, to: &str| Problem::MissingTarget { from: from.to_owned(), to: to.to_owned() };
    if !nodes.contains_key(&definition.entry) {
        problems.push(missing("entry", &definition.entry));
    }
    for node in &definition.nodes {
        if node.targets.is_empty() {
            problems.push(Problem::NoTarget { node: node.name.clone() });
        }
        if node.attempts == 0 {
            problems.push(Problem::NoAttempt { node: node.name.clone() });
        }
        if node.within.is_some_and(|within| within <= 0) {
            problems.push(Problem::NoWork { node: node.name.clone() });
        }
        if let Some(timeout) = &node.timeout {
            if timeout.after <= 0 {
                problems.push(Problem::NoTime { node: node.name.clone() });
            }
            let stray = |to: &&String| *to == END || !node.targets.contains(to);
            if let Some(to) = timeout.then.as_ref().filter(stray) {
                problems.push(Problem::StrayTimeout { node: node.name.clone(), to: to.clone() });
            }
        }
        if let Some(fallback) = &node.fallback {
            check_fallback(definition, node, fallback, problems);
        }
        for target in node.targets.iter().filter(|target| *target != END && !nodes.contains_key(*target)) {
            problems.push(missing(&node.name, target));
        }
    }
}

fn check_fallback(
    definition: &Definition,
    node: &NodeSpec,
    Fallback { then, into }: &Fallback,
    problems: &mut Vec<Problem>,
) {
    if then == END || !node.targets.contains(then) {
        problems.push(Problem::StrayFallback { node: node.name.clone(), to: then.clone() });
    }
    let takes =
        |channel: &Channel| Some(&channel.name) == into.as_ref() && channel.reducer == Reducer::Replace;
    if let Some(channel) = into.as_ref().filter(|_| !definition.channels.iter().any(takes)) {
        problems.push(Problem::BadFallback { node: node.name.clone(), channel: channel.clone() });
    }
}

fn check_initials(definition: &Definition, problems: &mut Vec<Problem>) {
    for channel in &definition.channels {
        let (expected, fits) = match channel.reducer {
            Reducer::Replace => continue,
            Reducer::Append { .. } => ("a list", channel.initial.is_array()),
            Reducer::Sum => ("a number", channel.initial.is_number()),
            Reducer::Merge { .. } => ("an object", channel.initial.is_object()),
        };
        if !fits {
            let found = crate::state::kind(&channel.initial);
            problems.push(Problem::BadInitial { channel: channel.name.clone(), expected, found });
        }
    }
}

fn check_shape(definition: &Definition, problems: &mut Vec<Problem>) {
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    for node in &definition.nodes {
        graph.add_node(&node.name);
        for target in node.targets.iter().filter(|target| *target != END) {
            graph.add_edge(&node.name, target, ());
        }
    }
    let mut reached = BTreeSet::new();
    let mut walk = Dfs::new(&graph, definition.entry.as_str());
    while let Some(node) = walk.next(&graph) {
        reached.insert(node);
    }
    for node in definition.nodes.iter().filter(|node| !reached.contains(node.name.as_str())) {
        problems.push(Problem::Unreachable { node: node.name.clone() });
    }
    // Without the nodes that have a bound, no cycle may be left.
    for node in definition.nodes.iter().filter(|node| node.visits.is_some()) {
        graph.remove_node(&node.name);
    }
    for part in tarjan_scc(&graph) {
        let cyclic = part.len() > 1 || part.first().is_some_and(|node| graph.contains_edge(node, node));
        if cyclic {
            let mut nodes: Vec<String> = part.into_iter().map(str::to_owned).collect();
            nodes.sort();
            problems.push(Problem::UnboundedCycle { nodes });
        }
    }
}
