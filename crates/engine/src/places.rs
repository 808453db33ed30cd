//! Places and turns: how runs share the processor.
//!
//! A run that has begun has one of a bounded number of places, which bounds the memory of all; those above wait in line,
//! which is bounded too. Of those that have begun, few execute at a moment, and let others have their turn after a short
//! while: a long run delays a short one by little. Waiting for a turn or for a reader is not part of a run's time. Runs that
//! stream last as long as somebody reads, so some places are not for them. What nobody waits for, runs in the background: it
//! takes nobody's place, and a turn only while nobody else wants one. One that keeps its memory when it pauses, or that has
//! gone on for long, gives its place to whoever stands in line, and stands in line itself: as many as there are places do.
//! Of one caller, as far as callers are told apart, no more runs begin than its share, and those above wait in a line of
//! its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::config::Limits;
use crate::engine::Engine;
use crate::error::Error;

/// How long a run executes before it lets others.
const TURN: Duration = Duration::from_millis(10);

/// How long a run executes before it gives its place to others, too, if it may.
const LONG: Duration = Duration::from_secs(1);

/// The places and turns that there are.
#[derive(Debug)]
pub(crate) struct Places {
    places: Arc<Semaphore>,
    /// Bounds the runs that stream.
    streaming: Arc<Semaphore>,
    /// Bounds the runs that give their places away and go on.
    sharing: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    wanted: Arc<Wanted>,
    waiting: Arc<AtomicUsize>,
    /// Those that gave their places away and want others.
    returning: Arc<AtomicUsize>,
}

/// How many runs that somebody waits for want a turn and have none.
#[derive(Debug, Default)]
struct Wanted {
    count: AtomicUsize,
    /// Notified when there are none any more.
    none: Notify,
}

impl Wanted {
    fn by_anybody(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Waits until nobody wants a turn.
    async fn by_nobody(&self) {
        loop {
            let none = self.none.notified();
            if !self.by_anybody() {
                return;
            }
            none.await;
        }
    }
}

impl Places {
    pub(crate) fn new(limits: &Limits) -> Places {
        Places {
            places: Arc::new(Semaphore::new(limits.parallel_simulations.max(1))),
            streaming: Arc::new(Semaphore::new(limits.streamed_simulations.max(1))),
            sharing: Arc::new(Semaphore::new(limits.parallel_simulations.max(1))),
            turns: Arc::new(Semaphore::new(limits.simulation_threads.max(1))),
            wanted: Arc::default(),
            waiting: Arc::default(),
            returning: Arc::default(),
        }
    }
}

/// The place of a run, and its turn while it executes. Used on a blocking thread.
#[derive(Debug)]
pub(crate) struct Place {
    turns: Arc<Semaphore>,
    runtime: Handle,
    turn: Option<(OwnedSemaphorePermit, Instant)>,
    busy: Duration,
    wanted: Arc<Wanted>,
    /// For a run in the background: what ends its waiting.
    behind: Option<CancellationToken>,
    /// Given back when the run is over; none in the background.
    place: Option<OwnedSemaphorePermit>,
    /// For a run that streams.
    _streaming: Option<OwnedSemaphorePermit>,
    /// For a run of a caller that is told apart from others.
    _own: Option<OwnedSemaphorePermit>,
    /// For a run that gives its place to others while it goes on.
    sharing: Option<OwnedSemaphorePermit>,
    line: Line,
}

/// Those that have no place.
#[derive(Debug)]
struct Line {
    places: Arc<Semaphore>,
    sharing: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    returning: Arc<AtomicUsize>,
    closing: CancellationToken,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0 && self.returning.load(Ordering::Relaxed) == 0
    }
}

/// What one caller may run at the same time, where callers are told apart.
#[derive(Debug)]
pub(crate) struct Share {
    begun: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Share {
    pub(crate) fn new(limits: &Limits) -> Share {
        let begun = Arc::new(Semaphore::new(limits.simulations_per_caller.max(1)));
        Share { begun, waiting: AtomicUsize::default() }
    }
}

impl Engine {
    /// A place for a run; waits in line, which is bounded.
    pub(crate) async fn place(&self) -> Result<Place, Error> {
        let own = self.own_permit().await?;
        self.place_within(own).await
    }

    /// A place for a run that streams; those of others stay free, however slowly its reader reads.
    pub(crate) async fn stream_place(&self) -> Result<Place, Error> {
        let own = self.own_permit().await?;
        let streaming = self.permit(&self.0.simulations.places.streaming).await?;
        Ok(Place { _streaming: Some(streaming), ..self.place_within(own).await? })
    }

    /// A place for a run that gives it to whoever stands in line. As many of these as there are places go on at once: they
    /// keep their memory meanwhile.
    pub(crate) async fn shared_place(&self) -> Result<Place, Error> {
        let own = self.own_permit().await?;
        let sharing = self.permit(&self.0.simulations.places.sharing).await?;
        Ok(Place { sharing: Some(sharing), ..self.place_within(own).await? })
    }

    async fn place_within(&self, own: Option<OwnedSemaphorePermit>) -> Result<Place, Error> {
        let place = self.permit(&self.0.simulations.places.places).await?;
        Ok(Place { _own: own, ..self.placed(None, Some(place)) })
    }

    /// A part of the caller's own share, before it takes anything that others want, if callers are told apart. Who waits for
    /// runs of its own stands in a line of its own.
    async fn own_permit(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let Some(share) = self.share() else { return Ok(None) };
        let most = self.limits().waiting_simulations_per_caller;
        let refused =
            Error::TooMany { what: "simulations", which: "waitingSimulationsPerCaller", limit: most as u64 };
        self.permit_in_line(&share.begun, &share.waiting, most, refused).await.map(Some)
    }

    async fn permit(&self, of: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Error> {
        let most = self.limits().waiting_simulations;
        let refused = Error::Overloaded { what: "simulations" };
        self.permit_in_line(of, &self.0.simulations.places.waiting, most, refused).await
    }

    async fn permit_in_line(
        &self,
        of: &Arc<Semaphore>,
        waiting: &AtomicUsize,
        most: usize,
        refused: Error,
    ) -> Result<OwnedSemaphorePermit, Error> {
        if let Ok(permit) = Arc::clone(of).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::enter(waiting, most).ok_or(refused)?;
        tokio::select! {
            permit = Arc::clone(of).acquire_owned() => permit.map_err(|_| Error::Closed),
            () = self.closing().cancelled() => Err(Error::Closed),
        }
    }

    /// A place for a run that nobody waits for, in addition to the others: for one such run at a time.
    pub(crate) fn place_behind(&self) -> Place {
        self.placed(Some(self.closing().clone()), None)
    }

    fn placed(&self, behind: Option<CancellationToken>, place: Option<OwnedSemaphorePermit>) -> Place {
        let all = &self.0.simulations.places;
        Place {
            turns: Arc::clone(&all.turns),
            runtime: Handle::current(),
            turn: None,
            busy: Duration::ZERO,
            wanted: Arc::clone(&all.wanted),
            behind,
            place,
            _streaming: None,
            _own: None,
            sharing: None,
            line: Line {
                places: Arc::clone(&all.places),
                sharing: Arc::clone(&all.sharing),
                waiting: Arc::clone(&all.waiting),
                returning: Arc::clone(&all.returning),
                closing: self.closing().clone(),
            },
        }
    }
}

impl Place {
    /// Waits for its turn, unless it has it. A turn that is over goes to whoever has waited longest.
    pub(crate) fn take_turn(&mut self) {
        let gives_way = self.behind.is_some() && self.wanted.by_anybody();
        if gives_way || self.turn.as_ref().is_some_and(|(_, since)| since.elapsed() >= TURN) {
            self.rest();
            self.stand_in_line();
        }
        if self.turn.is_some() {
            return;
        }
        let turns = Arc::clone(&self.turns);
        let turn = match &self.behind {
            None => {
                let _wanting = Wanting::enter(&self.wanted);
                self.runtime.block_on(turns.acquire_owned())
            }
            Some(closing) => self.runtime.block_on(async {
                tokio::select! {
                    () = self.wanted.by_nobody() => {}
                    () = closing.cancelled() => {}
                }
                turns.acquire_owned().await
            }),
        };
        self.turn = turn.ok().map(|turn| (turn, Instant::now()));
    }

    /// Gives its place away, if somebody waits for one and it may, and waits for the next.
    fn stand_in_line(&mut self) {
        if self.place.is_none() || self.line.is_empty() {
            return;
        }
        if self.sharing.is_none() && self.busy >= LONG {
            self.sharing = Arc::clone(&self.line.sharing).try_acquire_owned().ok();
        }
        if self.sharing.is_none() {
            return;
        }
        self.place = None;
        let (places, closing) = (Arc::clone(&self.line.places), &self.line.closing);
        self.line.returning.fetch_add(1, Ordering::Relaxed);
        self.place = self.runtime.block_on(async {
            tokio::select! {
                place = places.acquire_owned() => place.ok(),
                () = closing.cancelled() => None,
            }
        });
        self.line.returning.fetch_sub(1, Ordering::Relaxed);
    }

    /// Lets others have their turn: it has something to wait for.
    pub(crate) fn rest(&mut self) {
        if let Some((_, since)) = self.turn.take() {
            self.busy += since.elapsed();
        }
    }

    /// How long it has executed.
    pub(crate) fn busy(&self) -> Duration {
        self.busy + self.turn.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }
}

/// A run that wants a turn.
struct Wanting<'a>(&'a Wanted);

impl<'a> Wanting<'a> {
    fn enter(wanted: &'a Wanted) -> Wanting<'a> {
        wanted.count.fetch_add(1, Ordering::AcqRel);
        Wanting(wanted)
    }
}

impl Drop for Wanting<'_> {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

/// Someone in the line for a place.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Stands in line, unless that is full.
    fn enter(count: &'a AtomicUsize, most: usize) -> Option<Waiting<'a>> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(count);
        (before < most).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How much fuel a slice of a run takes, so that it lasts a few milliseconds: the clock is looked at between slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slices(u64);

impl Slices {
    const WANTED: Duration = Duration::from_millis(4);

    /// Begins with little: what an operator costs is not known yet.
    pub(crate) fn new() -> Slices {
        Slices(1 << 14)
    }

    /// The fuel of the next slice.
    pub(crate) fn next(self) -> u64 {
        self.0
    }

    /// Learns from how long a slice took.
    pub(crate) fn took(&mut self, time: Duration) {
        self.0 = if time < Slices::WANTED / 2 {
            (self.0 * 2).min(1 << 24)
        } else if time > Slices::WANTED {
            (self.0 / 2).max(1 << 8)
        } else {
            self.0
        };
    }
}
