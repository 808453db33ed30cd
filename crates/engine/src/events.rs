//! What subscribers are told, live and from the log.

use std::sync::Arc;

use lmlang_history::log::{Actor, Entry};
use tokio::sync::{broadcast, mpsc};

use crate::catalog::Selector;
use crate::edits::Outcome;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::timeline::Timeline;

/// Something that happened to a program.
#[derive(Clone, Debug)]
pub enum Event {
    /// An entry of the log: a change of the content, or of a checkpoint.
    Entry(Arc<Entry>),
    /// A change set was refused. Not in the log: only live subscribers hear of it.
    Refused {
        /// The number of the newest entry at that time.
        last: u64,
        /// Who asked for it.
        actor: Actor,
        /// Why.
        outcome: Arc<Outcome>,
        /// How many edits it had.
        edits: usize,
    },
    /// The program was renamed or deleted. Not in the log of the program.
    Program {
        /// The number of the newest entry at that time.
        last: u64,
        /// Its name now.
        name: String,
        /// What became of it.
        change: Change,
    },
    /// The reader fell behind further than is read again.
    Gap {
        /// The first entry that is left out.
        from: u64,
        /// The last entry that is left out.
        to: u64,
    },
}

impl Event {
    /// The number of the log entry after which a reader that has seen this event goes on.
    pub fn position(&self) -> u64 {
        match self {
            Event::Entry(entry) => entry.number,
            Event::Refused { last, .. } | Event::Program { last, .. } => *last,
            Event::Gap { to, .. } => *to,
        }
    }
}

/// What became of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Modified,
    /// It has another name.
    Renamed,
}

/// Entries that a reader is given again from the log; one that is further behind is told of a gap.
const READ_AGAIN: u64 = 10_000;

/// Entries read from the log at a time.
const CHUNK: u64 = 256;

/// Events that wait for a slow reader before the log takes over.
const WAITING: usize = 64;

impl Engine {
    /// The events of a program after a position of its log, without a gap and without an end.
    ///
    /// Old ones come from the log, new ones as they happen; a reader that falls behind reads the log again, so a slow
    /// one costs bounded memory and misses nothing but refusals.
    pub fn events(&self, timeline: Arc<Timeline>, after: Option<u64>) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let live = timeline.listen();
        let seen = after.unwrap_or_else(|| timeline.head().last);
        let engine = self.clone();
        self.spawn(async move {
            if let Err(error) = follow(&engine, &timeline, live, seen, &sender).await {
                tracing::error!(program = %timeline.id(), %error, "events of a program could not be read");
            }
        });
        receiver
    }
}

impl Engine {
    /// The events of all programs as they happen, each with its program. A reader that falls behind is cut off, since
    /// there is no one log to read again: it follows single programs instead, or starts over.
    pub fn all_events(&self) -> mpsc::Receiver<(OpenProgram, Event)> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut live = self.0.feed.subscribe();
        let engine = self.clone();
        self.spawn(async move {
            loop {
                let next = tokio::select! {
                    next = live.recv() => next,
                    () = sender.closed() => return,
                };
                let Ok((program, event)) = next else { return };
                let open = match engine.find(&Selector::Id(program)).await {
                    Ok(open) => open,
                    // Deleted since: nobody can read it any more.
                    Err(_) => continue,
                };
                if sender.send((open, event)).await.is_err() {
                    return;
                }
            }
        });
        receiver
    }
}

async fn follow(
    engine: &Engine,
    timeline: &Timeline,
    mut live: broadcast::Receiver<Event>,
    mut seen: u64,
    reader: &mpsc::Sender<Event>,
) -> Result<(), Error> {
    loop {
        // Catch up with what was committed before this point; later events are in the channel by now.
        let last = timeline.head().last;
        if last.saturating_sub(seen) > READ_AGAIN {
            let to = last - READ_AGAIN;
            if reader.send(Event::Gap { from: seen + 1, to }).await.is_err() {
                return Ok(());
            }
            seen = to;
        }
        while seen < last {
            for entry in engine.entries_of(timeline.key(), seen, CHUNK).await? {
                seen = entry.number;
                if reader.send(Event::Entry(entry)).await.is_err() {
                    return Ok(());
                }
            }
        }
        loop {
            let event = tokio::select! {
                event = live.recv() => event,
                () = reader.closed() => return Ok(()),
            };
            match event {
                Ok(Event::Entry(entry)) if entry.number <= seen => {}
                Ok(event) => {
                    seen = seen.max(event.position());
                    let ended = matches!(event, Event::Program { change: Change::Removed, .. });
                    if reader.send(event).await.is_err() || ended {
                        return Ok(());
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => break,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }
}
