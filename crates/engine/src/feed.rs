//! What subscribers are told of all programs.
//!
//! It is read from the store, in the order of commits: no program need be open for it. Whatever is stored wakes the
//! readers up, and each reads on from where it is, so that one that is far behind costs what one costs that is not.

use std::sync::Arc;

use lmlang_store::{Happened, Position, ProgramChangeKind, What};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::again::Again;
use crate::config::Limits;
use crate::cursor::{Cursor, ONE_PROGRAM, no_cursor_of_all};
use crate::engine::Engine;
use crate::error::Error;
use crate::events::{CHUNK, Change, Event, Events, Item, Told};
use crate::live::{Listener, Live};
use crate::records;
use crate::sealed::{Places, Seal};

/// Tells the readers of all programs that there is something. A clone is a handle to the same one.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    stored: watch::Sender<()>,
    refused: Live<(Uuid, Event)>,
}

impl Feed {
    pub(crate) fn new(limits: &Limits) -> Feed {
        let refused = Live::new(limits.events_in_memory, limits.event_bytes_in_memory);
        Feed { stored: watch::Sender::new(()), refused }
    }

    /// An event of a program: one that is not stored is told, any other can be read from now on.
    pub(crate) fn tell(&self, program: Uuid, event: &Event, bytes: usize) {
        match event {
            Event::Refused { .. } => self.refused.tell((program, event.clone()), bytes),
            Event::Entry(_) | Event::Program { .. } | Event::Gap { .. } => self.wake(),
        }
    }

    /// Something can be read.
    pub(crate) fn wake(&self) {
        if self.has_readers() {
            self.stored.send_replace(());
        }
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.stored.receiver_count() > 0
    }
}

impl Engine {
    /// The events of all programs after a position, without a gap and without an end.
    ///
    /// They come in the order in which they were committed, those of programs that are gone by now included. A slow
    /// reader costs bounded memory and misses nothing but refusals. While the database is away it waits.
    ///
    /// A place that nothing has come to is no cursor.
    pub async fn all_events(&self, after: Option<Cursor>) -> Result<Events, Error> {
        let (sender, events) = Events::channel();
        let (stored, refused) = (self.0.feed.stored.subscribe(), self.0.feed.refused.listen());
        let seal = self.sealing(Places::Programs).await?;
        let newest = self.store().position().await?;
        let seen = match after {
            None => newest,
            Some(after) => self.place_of(after, newest).await?,
        };
        let reader = Reader { engine: self.clone(), sender, seen, seal, again: Again::default() };
        self.spawn(async move {
            // An error means that the reader has gone away, or that the store cannot be read.
            reader.follow(stored, refused).await.ok();
        });
        Ok(events)
    }

    /// The place behind everything that happened so far: a reader of all events that goes on after it misses nothing.
    pub async fn cursor(&self) -> Result<Cursor, Error> {
        let seal = self.sealing(Places::Programs).await?;
        Ok(Cursor::behind(self.store().position().await?, seal.as_ref()))
    }

    /// The place of a cursor that this caller may have been given, when this is the newest one. Who may know of some programs
    /// only is told nothing of where others are.
    async fn place_of(&self, cursor: Cursor, newest: Position) -> Result<Position, Error> {
        let refused = |why: String| no_cursor_of_all(cursor.to_string(), why);
        let place = match cursor {
            // The beginning tells nothing.
            Cursor::All(place) if self.is_unlimited() || place == Position::default() => place,
            Cursor::All(_) => {
                return Err(refused("it is not one of those that this token is given".to_owned()));
            }
            Cursor::Sealed(sealed) => match self.seal(Places::Programs).await?.open(&sealed) {
                Some([log, change]) => Position { log, change },
                None => return Err(refused("it was not given by a server with this database".to_owned())),
            },
            Cursor::Program(_) => return Err(refused(ONE_PROGRAM.to_owned())),
        };
        let is_ahead = place.log > newest.log || place.change > newest.change;
        match (is_ahead, self.is_unlimited()) {
            (false, _) => Ok(place),
            (true, true) => Err(refused(format!("the newest one is `{}`", Cursor::All(newest)))),
            (true, false) => Err(refused("nothing has come to it".to_owned())),
        }
    }

    async fn event_of(&self, what: What) -> Result<Event, Error> {
        Ok(match what {
            What::Entry(row) => Event::Entry(Arc::new(records::from_row(self, *row).await?)),
            What::Program(change) => Event::Program {
                name: change.name,
                change: match change.kind {
                    ProgramChangeKind::Made => Change::Added,
                    ProgramChangeKind::Renamed => Change::Renamed,
                    ProgramChangeKind::Changed => Change::Modified,
                    ProgramChangeKind::Deleted => Change::Removed,
                },
                time: change.time.0,
            },
        })
    }
}

/// Someone who is told of the events of all programs.
struct Reader {
    engine: Engine,
    sender: mpsc::Sender<Item>,
    seen: Position,
    /// For one who may know of some programs only.
    seal: Option<Seal>,
    again: Again,
}

/// The reader has gone away, or the store cannot be read.
struct Ended;

impl Reader {
    async fn follow(
        mut self,
        mut stored: watch::Receiver<()>,
        mut refused: Listener<(Uuid, Event)>,
    ) -> Result<(), Ended> {
        loop {
            stored.borrow_and_update();
            self.catch_up().await?;
            tokio::select! {
                changed = stored.changed() => changed.map_err(|_| Ended)?,
                told = refused.next() => {
                    // Who fell behind has missed refusals only.
                    if let Ok((program, event)) = told {
                        self.pass(program, event).await?;
                    }
                }
                () = self.sender.closed() => return Err(Ended),
            }
        }
    }

    /// Passes on all that is stored beyond what was seen.
    async fn catch_up(&mut self) -> Result<(), Ended> {
        'chunks: loop {
            // Who may know of little is sent little, and would read all there is for nobody.
            if self.sender.is_closed() {
                return Err(Ended);
            }
            let happened = match self.engine.store().happened(self.seen, CHUNK).await {
                Ok(happened) => happened,
                Err(fault) => {
                    Box::pin(self.fail(fault.into())).await?;
                    continue;
                }
            };
            if happened.is_empty() {
                self.again.worked();
                return Ok(());
            }
            for Happened { position, program, what } in happened {
                match self.engine.event_of(what).await {
                    Ok(event) => {
                        self.seen = position;
                        self.pass(program, event).await?;
                    }
                    Err(error) => {
                        Box::pin(self.fail(error)).await?;
                        continue 'chunks;
                    }
                }
            }
            self.again.worked();
        }
    }

    async fn pass(&self, program: Uuid, event: Event) -> Result<(), Ended> {
        if !self.engine.sees(program) {
            return Ok(());
        }
        let cursor = Cursor::behind(self.seen, self.seal.as_ref());
        let told = Told { cursor, program, event };
        self.sender.send(Box::new(Ok(told))).await.map_err(|_| Ended)
    }

    /// Waits until it may be tried again, unless it would fail again: that is told as the last.
    async fn fail(&mut self, error: Error) -> Result<(), Ended> {
        match self.again.after(error, &self.sender).await {
            Ok(()) => Ok(()),
            Err(None) => Err(Ended),
            Err(Some(error)) => {
                tracing::error!(%error, "the events of all programs could not be read");
                self.sender.send(Box::new(Err(error))).await.ok();
                Err(Ended)
            }
        }
    }
}

#[cfg(test)]
mod tests;
