//! Whether a run can go on as one of another definition of its flow.

use std::sync::Arc;

use crate::branch::{Branch, Position};
use crate::check::Flow;
use crate::corrupt::Corrupt;
use crate::entry::Entry;
use crate::run::Run;

/// What keeps a run from going on as one of another definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hindrance {
    /// What happened could not have happened so.
    #[error("{0}")]
    Journal(#[from] Corrupt),
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
    /// An answer that is waited for goes into a channel that is not there.
    #[error("it waits for what goes into the channel `{channel}`, which is not there")]
    Answer {
        /// Its name.
        channel: String,
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
        let moved = Run::replay(to, journal).map_err(|error| vec![error.into()])?;
        let mut found = Vec::new();
        for (place, branch) in &self.branches {
            let Some(after) = moved.branches.get(place) else { continue };
            for channel in &self.flow().definition().channels {
                let name = &channel.name;
                if to.channel(name).is_some() && branch.state.get(name) != after.state.get(name) {
                    found.push(Hindrance::Channel { channel: name.clone() });
                }
            }
            if !self.has_ended() {
                found.extend(self.missing(branch, to));
            }
        }
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

    /// Where a branch goes on that a definition does not have.
    fn missing(&self, branch: &Branch, to: &Flow) -> Vec<Hindrance> {
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
        let nodes = nodes.into_iter().filter(|node| to.node(node).is_none());
        let nodes = nodes.map(|node| Hindrance::Node { node: node.clone() });
        let channels = channels.into_iter().filter(|channel| to.channel(channel).is_none());
        nodes.chain(channels.map(|channel| Hindrance::Answer { channel: channel.clone() })).collect()
    }
}
