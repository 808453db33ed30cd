//! What subscribers are told, live and from the log.

use std::collections::HashMap;
use std::sync::Arc;

use lmlang_history::log::{Actor, Entry};
use lmlang_store::Bound;
use tokio::sync::{broadcast, mpsc};
use uuid::Uuid;

use crate::edits::Outcome;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;

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

/// What is read from the log at a time.
const CHUNK: Bound = Bound { rows: 256, bytes: 1 << 20 };

/// Events that wait for a slow reader before the log takes over.
const WAITING: usize = 64;

/// What readers of events are sent.
pub type Told = (OpenProgram, Event);

impl Engine {
    /// The events of a program after a position of its log, without a gap; the last one is the deletion of the program.
    ///
    /// Old ones come from the log, new ones as they happen; a reader that falls behind reads the log again, so a slow
    /// one costs bounded memory and misses nothing but refusals.
    ///
    /// A place that the log has not come to is no cursor of it. The last item is an error when the log cannot be read.
    pub fn events(&self, open: &OpenProgram, after: Option<u64>) -> Result<Events, Error> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let live = open.timeline.listen();
        let last = open.timeline.head().last;
        let after = after.unwrap_or(last);
        if after > last {
            return Err(Error::CursorInvalid { given: format!("r{after}") });
        }
        let seen = HashMap::from([(open.timeline.id(), after)]);
        let reader = Reader { engine: self.clone(), sender, seen, ends_with_program: true };
        self.spawn(reader.follow(open.clone(), live));
        Ok(receiver)
    }

    /// The events of all programs from now on, without an end; a reader that falls behind reads the logs again.
    pub fn all_events(&self) -> Events {
        let (sender, receiver) = mpsc::channel(WAITING);
        let live = self.0.feed.subscribe();
        let seen =
            self.all_opened().iter().map(|open| (open.timeline.id(), open.timeline.head().last)).collect();
        let reader = Reader { engine: self.clone(), sender, seen, ends_with_program: false };
        self.spawn(reader.follow_all(live));
        receiver
    }
}

/// Events as a reader gets them.
pub type Events = mpsc::Receiver<Result<Told, Error>>;

/// Someone who is told of events.
struct Reader {
    engine: Engine,
    sender: mpsc::Sender<Result<Told, Error>>,
    /// How far in the log of each program.
    seen: HashMap<Uuid, u64>,
    /// Whether the deletion of a program is the last event.
    ends_with_program: bool,
}

/// The reader has gone away or was told the last event, or a log cannot be read.
struct Ended;

impl Reader {
    async fn follow(mut self, open: OpenProgram, mut live: broadcast::Receiver<Told>) {
        // Catches up with what was committed before this point; later events are in the channel by now.
        while self.catch_up(&open).await.is_ok() && self.listen(&mut live).await.is_ok() {}
    }

    async fn follow_all(mut self, mut live: broadcast::Receiver<Told>) {
        while self.listen(&mut live).await.is_ok() {
            for open in self.engine.all_opened() {
                if self.catch_up(&open).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Passes events on until it is too far behind for that.
    async fn listen(&mut self, live: &mut broadcast::Receiver<Told>) -> Result<(), Ended> {
        loop {
            let told = tokio::select! {
                told = live.recv() => told,
                () = self.sender.closed() => return Err(Ended),
            };
            match told {
                Ok((open, event)) => self.pass(open, event).await?,
                Err(broadcast::error::RecvError::Lagged(_)) => return Ok(()),
                Err(broadcast::error::RecvError::Closed) => return Err(Ended),
            }
        }
    }

    async fn pass(&mut self, open: OpenProgram, mut event: Event) -> Result<(), Ended> {
        let seen = self.seen.entry(open.timeline.id()).or_insert(open.timeline.opened_at());
        match &mut event {
            Event::Entry(entry) if entry.number <= *seen => return Ok(()),
            Event::Entry(_) | Event::Gap { .. } => *seen = event.position(),
            // The head may be ahead of the events: a reader goes on from where it is, or it would miss what lies between.
            Event::Refused { last, .. } | Event::Program { last, .. } => *last = *seen,
        }
        let last = self.ends_with_program && matches!(event, Event::Program { change: Change::Removed, .. });
        self.sender.send(Ok((open, event))).await.map_err(|_| Ended)?;
        if last { Err(Ended) } else { Ok(()) }
    }

    /// Passes on what the log of a program has beyond what was seen; a gap for what is too much.
    async fn catch_up(&mut self, open: &OpenProgram) -> Result<(), Ended> {
        let timeline = &open.timeline;
        let last = timeline.head().last;
        let mut seen = self.seen.get(&timeline.id()).copied().unwrap_or(timeline.opened_at());
        if last.saturating_sub(seen) > READ_AGAIN {
            let to = last - READ_AGAIN;
            self.pass(open.clone(), Event::Gap { from: seen + 1, to }).await?;
            seen = to;
        }
        while seen < last {
            let entries = match self.engine.entries_of(timeline.key(), seen, CHUNK).await {
                Ok(entries) => entries,
                Err(error) => {
                    tracing::error!(program = %timeline.id(), %error, "events of a program could not be read");
                    self.sender.send(Err(error)).await.ok();
                    return Err(Ended);
                }
            };
            for entry in entries {
                seen = entry.number;
                self.pass(open.clone(), Event::Entry(entry)).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
