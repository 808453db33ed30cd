//! What subscribers are told of one program, live and from its log.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use lmlang_history::log::{Actor, Entry};
use lmlang_store::Bound;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use uuid::Uuid;

use crate::again::Again;
use crate::cursor::{Cursor, no_cursor_of_program};
use crate::edits::Outcome;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::live::{Behind, Listener};

/// Something that happened to a program.
#[derive(Clone, Debug)]
pub enum Event {
    /// An entry of the log: a change of the content, or of a checkpoint.
    Entry(Arc<Entry>),
    /// A change set was refused. Not in the log: only live subscribers hear of it.
    Refused {
        /// Who asked for it.
        actor: Actor,
        /// The branch, by number, that it was for.
        branch: u32,
        /// Why.
        outcome: Arc<Outcome>,
        /// How many edits it had.
        edits: usize,
    },
    /// The program was made, renamed or deleted. Not in the log of the program.
    Program {
        /// Its name after that.
        name: String,
        /// What became of it.
        change: Change,
        /// When, in microseconds of UTC.
        time: i64,
    },
    /// The reader fell behind further than is read again.
    Gap {
        /// The first entry that is left out.
        from: u64,
        /// The last entry that is left out.
        to: u64,
    },
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

/// What readers of events are told.
#[derive(Clone, Debug)]
pub struct Told {
    /// Where a reader that has seen this goes on.
    pub cursor: Cursor,
    /// The program, which may be gone by now.
    pub program: Uuid,
    /// What happened to it.
    pub event: Event,
}

/// Events as a reader gets them. The last item is an error when they cannot be read any further.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<Item>);

/// What waits for a reader. A channel has places for 32 of them from its start, and there are many readers: each holds little.
pub(crate) type Item = Box<Result<Told, Error>>;

impl Events {
    /// A channel to a reader, who may be slow.
    pub(crate) fn channel() -> (mpsc::Sender<Item>, Events) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (sender, Events(receiver))
    }

    /// Waits for the next one; `None` after the last. Loses nothing when it is dropped half-way.
    pub async fn recv(&mut self) -> Option<Result<Told, Error>> {
        self.0.recv().await.map(|item| *item)
    }

    /// The next one, if it is there already.
    ///
    /// # Errors
    ///
    /// When it is not, or there are no more.
    pub fn try_recv(&mut self) -> Result<Result<Told, Error>, TryRecvError> {
        self.0.try_recv().map(|item| *item)
    }
}

impl Stream for Events {
    type Item = Result<Told, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|item| item.map(|item| *item))
    }
}

/// Entries that a reader is given again from the log; one that is further behind is told of a gap.
const READ_AGAIN: u64 = 10_000;

/// What is read from a log at a time.
pub(crate) const CHUNK: Bound = Bound { rows: 256, bytes: 1 << 20 };

/// Events that wait for a slow reader; each may be as large as a change set.
const WAITING: usize = 4;

impl Engine {
    /// The events of a program after a position of its log, without a gap; the last one is the deletion of the program.
    ///
    /// Old ones come from the log, new ones as they happen; a reader that falls behind reads the log again, so a slow
    /// one costs bounded memory and misses nothing but refusals. While the database is away it waits.
    ///
    /// A place that the log has not come to is no cursor of it.
    pub async fn events(&self, open: &OpenProgram, after: Option<u64>) -> Result<Events, Error> {
        if let Some(after) = after {
            // Another process may have given it a moment ago.
            self.come_to(open, after).await?;
        }
        let (sender, events) = Events::channel();
        let live = open.timeline.listen();
        let last = open.timeline.head().last;
        let seen = after.unwrap_or(last);
        if seen > last {
            return Err(no_cursor_of_program(format!("r{seen}"), format!("the newest one is `r{last}`")));
        }
        let reader = Reader { engine: self.clone(), open: open.clone(), sender, seen };
        self.spawn(reader.follow(live));
        Ok(events)
    }
}

/// Someone who is told of the events of a program.
struct Reader {
    engine: Engine,
    open: OpenProgram,
    sender: mpsc::Sender<Item>,
    /// How far in the log.
    seen: u64,
}

/// The reader has gone away or was told the last event, or the log cannot be read.
struct Ended;

impl Reader {
    async fn follow(mut self, mut live: Listener<Event>) {
        // Catches up with what was committed before this point; later events are told live by now. Apart: few readers are behind,
        // and each would have room for it all the time.
        while Box::pin(self.catch_up()).await.is_ok() && self.listen(&mut live).await.is_ok() {}
    }

    /// Passes events on until it is too far behind for that.
    async fn listen(&mut self, live: &mut Listener<Event>) -> Result<(), Ended> {
        loop {
            let told = tokio::select! {
                told = live.next() => told,
                () = self.sender.closed() => return Err(Ended),
            };
            match told {
                Ok(event) => self.pass(event).await?,
                Err(Behind) => return Ok(()),
            }
        }
    }

    async fn pass(&mut self, event: Event) -> Result<(), Ended> {
        match &event {
            Event::Entry(entry) if entry.number <= self.seen => return Ok(()),
            Event::Entry(entry) => self.seen = entry.number,
            Event::Gap { to, .. } => self.seen = *to,
            // The head may be ahead of the events: a reader goes on from where it is, or it would miss what lies between.
            Event::Refused { .. } | Event::Program { .. } => {}
        }
        let last = matches!(event, Event::Program { change: Change::Removed, .. });
        let (cursor, program) = (Cursor::Program(self.seen), self.open.timeline.id());
        let told = Box::new(Ok(Told { cursor, program, event }));
        self.sender.send(told).await.map_err(|_| Ended)?;
        if last { Err(Ended) } else { Ok(()) }
    }

    /// Passes on what the log has beyond what was seen, as far as the head; a gap for what is too much.
    async fn catch_up(&mut self) -> Result<(), Ended> {
        let last = self.open.timeline.head().last;
        if last.saturating_sub(self.seen) > READ_AGAIN {
            self.pass(Event::Gap { from: self.seen + 1, to: last - READ_AGAIN }).await?;
        }
        let mut again = Again::default();
        while self.seen < last {
            let timeline = &self.open.timeline;
            let entries = match self.engine.entries_of(timeline.key(), self.seen, CHUNK).await {
                Ok(entries) => entries,
                Err(error) => match again.after(error, &self.sender).await {
                    Ok(()) => continue,
                    Err(None) => return Err(Ended),
                    Err(Some(error)) => {
                        tracing::error!(program = %timeline.id(), %error, "events of a program could not be read");
                        self.sender.send(Box::new(Err(error))).await.ok();
                        return Err(Ended);
                    }
                },
            };
            again.worked();
            // The log may have more by now: that is told when it is the head, so that who is told of an entry finds it.
            for entry in entries.into_iter().take_while(|entry| entry.number <= last) {
                self.pass(Event::Entry(entry)).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
