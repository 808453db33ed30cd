//! Whether a run can go on as one of another definition of its flow.

use std::sync::Arc;

use crate::branch::{Branch, Position};
use crate::check::Flow;
use crate::corrupt::Corrupt;
use crate::definition::Reducer;
use crate::entry::Entry;
use crate::run::Run;

/// What keeps a run from going on as one of a definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hindrance {
    /// The definition is older than its own.
    #[error("it is one of the newer version {version}")]
    Older {
        /// The version that it is a run of.
        version: u32,
    },
    /// What happened could not have happened so.
    #[error("{0}")]
    Journal(#[from] Corrupt),
    /// It would stand elsewhere.
    #[error("it would not stand where it stands")]
    Position,
    /// What its nodes reach would be another part of what there is.
    #[error("it would reach more than its program, or less than everything")]
    Reach,
    /// A channel would hold something else than it does.
    #[error("the channel `{channel}` would hold something else")]
    Channel {
        /// Its name.
        channel: String,
    },
    /// The run goes on at a node that is not there.
    #[error("it is to go on at the node `{node}`, which is not there")]
    Node {
        /// Its name.
        node: String,
    },
    /// What is waited for goes into a channel that is not there, or cannot take it.
    #[error("it waits for what goes into the channel `{channel}`, which cannot take it")]
    Answer {
        /// The channel's name.
        channel: String,
    },
    /// It has come to a node more often than it may.
    #[error("it has come to the node `{node}` {visits} times, and may {most} times")]
    Visits {
        /// The node's name.
        node: String,
        /// How often it has.
        visits: u32,
        /// How often it may.
        most: u32,
    },
    /// An effect is at work, or nobody knows whether it has happened: asked for in another way, it would be another one.
    #[error("it is not known yet what became of `{name}`")]
    Effect {
        /// What was asked for.
        name: String,
    },
}

impl Run {
    /// The run of the same journal, as one of another definition. It carries the same and stands where it stood: channels that are
    /// new hold what they hold at first.
    ///
    /// # Errors
    ///
    /// All that keeps it from that; of a journal that does not fit, the first entry.
    pub fn moved(&self, journal: &[Entry], to: &Arc<Flow>) -> Result<Run, Vec<Hindrance>> {
        let version = self.flow().definition().version;
        if to.definition().version < version {
            return Err(vec![Hindrance::Older { version }]);
        }
        let moved = Run::replay(to, journal).map_err(|error| vec![error.into()])?;
        let mut found = Vec::new();
        if self.flow().is_about_a_program() != to.is_about_a_program() {
            found.push(Hindrance::Reach);
        }
        for (place, branch) in &self.branches {
            let after = moved.branches.get(place);
            if after.is_none_or(|after| after.position != branch.position) {
                found.push(Hindrance::Position);
            }
            for channel in &self.flow().definition().channels {
                let name = &channel.name;
                let held = after.map(|after| after.state.get(name));
                if to.channel(name).is_some() && held != Some(branch.state.get(name)) {
                    found.push(Hindrance::Channel { channel: name.clone() });
                }
            }
            if !self.has_ended() {
                let answered = |id| branch.receipts.iter().any(|receipt| receipt.intent.id == id);
                let open = branch.announced.iter().filter(|intent| !answered(intent.id.clone()));
                found.extend(open.map(|intent| Hindrance::Effect { name: intent.name.clone() }));
            }
        }
        found.extend(moved.hindrances());
        let mut told: Vec<Hindrance> = Vec::new();
        // Branches may have the same ones.
        for hindrance in found {
            if !told.contains(&hindrance) {
                told.push(hindrance);
            }
        }
        match told.is_empty() {
            true => Ok(moved),
            false => Err(told),
        }
    }

    /// What keeps it from going on as a run of its definition: nothing, unless it was moved to that and taken back behind the
    /// moving.
    #[must_use]
    pub fn hindrances(&self) -> Vec<Hindrance> {
        if self.has_ended() {
            return Vec::new();
        }
        let mut found: Vec<Hindrance> =
            self.branches.values().flat_map(|branch| self.missing(branch)).collect();
        for (node, visits) in &self.visits {
            let most = self.flow().node(node).and_then(|node| node.visits);
            if let Some(most) = most.filter(|most| visits > most) {
                found.push(Hindrance::Visits { node: node.clone(), visits: *visits, most });
            }
        }
        found
    }

    /// Where a branch goes on that its definition does not have.
    fn missing(&self, branch: &Branch) -> Vec<Hindrance> {
        let (mut nodes, mut channels) = (Vec::new(), Vec::new());
        match &branch.position {
            Position::At { node, .. } => nodes.push(node),
            Position::Asking { asked, then } => {
                nodes.push(then);
                let ask = self.interrupt(*asked).map(|asked| &asked.ask);
                nodes.extend(ask.and_then(|ask| ask.otherwise.as_ref()));
                channels.extend(ask.and_then(|ask| ask.into.as_ref()));
            }
            Position::Forked { join, .. } => nodes.push(join),
            Position::Sub { into, then, .. } => {
                nodes.push(then);
                channels.push(into);
            }
            Position::Ended => {}
        }
        let refuses = |channel: &&String| {
            self.flow().channel(channel).is_none_or(|channel| channel.reducer != Reducer::Replace)
        };
        let nodes = nodes.into_iter().filter(|node| self.flow().node(node).is_none());
        let nodes = nodes.map(|node| Hindrance::Node { node: node.clone() });
        let channels = channels.into_iter().filter(refuses);
        nodes.chain(channels.map(|channel| Hindrance::Answer { channel: channel.clone() })).collect()
    }
}
