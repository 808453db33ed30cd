//! Watching an interactive simulation: its steps as somebody moves it.

use std::sync::Arc;
use std::time::Duration;

use lmlang_interp::TraceLevel;
use tokio::sync::mpsc;

use super::InteractiveState;
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::simulate::{Simulation, Status};
use crate::stream::{Batch, Batching, End, Reader};

/// How often it is looked whether the simulation is still kept.
const LOOK: Duration = Duration::from_secs(1);

/// Batches that wait for a slow reader.
const BATCHES: usize = 4;

impl Engine {
    /// Streams the steps of an interactive simulation from a number on, each time that it is moved forward; where it is moved
    /// back, only where it stands. Ends with the simulation's cancellation, or when the receiver is dropped.
    pub fn watch_interactive(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
    ) -> mpsc::Receiver<Batch> {
        let (sender, receiver) = mpsc::channel(BATCHES);
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        self.spawn(async move {
            if let Err(error) = engine.watch(&simulation, from, batching, sender).await {
                tracing::warn!(simulation = %simulation.id, %error, "a simulation could not be watched");
            }
        });
        receiver
    }

    async fn watch(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
        sender: mpsc::Sender<Batch>,
    ) -> Result<(), Error> {
        let Some(of) = simulation.interactive() else { return Ok(()) };
        let (mut changes, mut cursor) = (of.standing.subscribe(), from);
        let gone = simulation.open.timeline.gone();
        loop {
            let standing = Arc::clone(&changes.borrow_and_update());
            let mut skipped = 0;
            if cursor < standing.position && standing.status != Status::Running {
                let shown = self.watched(simulation, &standing, cursor, batching, sender.clone()).await?;
                let Some(shown) = shown else { return Ok(()) };
                skipped = standing.position.saturating_sub(shown);
            }
            if standing.status != Status::Running {
                cursor = standing.position;
            }
            let batch = Batch {
                steps: Vec::new(),
                cursor,
                skipped,
                status: standing.status,
                report: standing.report.clone(),
            };
            if sender.send(batch).await.is_err() || standing.status == Status::Cancelled {
                return Ok(());
            }
            loop {
                tokio::select! {
                    changed = changes.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return Ok(()),
                    },
                    () = sender.closed() => return Ok(()),
                    () = gone.cancelled() => return Ok(()),
                    () = tokio::time::sleep(LOOK) => {
                        // Its program may be gone, or its time over.
                        if self.opened(simulation.open.timeline.id()).is_none()
                            || simulation.asked() < self.oldest_kept()
                        {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }

    /// Sends the steps up to where it stands, as many as there is room for; answers how far that is, if somebody reads on.
    async fn watched(
        &self,
        simulation: &Arc<Simulation>,
        standing: &InteractiveState,
        from: u64,
        batching: Batching,
        sender: mpsc::Sender<Batch>,
    ) -> Result<Option<u64>, Error> {
        let level = simulation.request.trace;
        if level == TraceLevel::None {
            return Ok(Some(standing.position));
        }
        let place = self.stream_place().await?;
        let mut reader = Reader::new(self, sender, place, batching.pulse);
        let (engine, simulation, fuel) = (self.clone(), Arc::clone(simulation), standing.fuel);
        let show = tokio::task::spawn_blocking(move || {
            let mut trace = engine.trace(&simulation, from, level, Some(fuel)).ok()??;
            let shown = engine.show(&mut reader, &simulation, &mut trace, from, batching);
            (shown.end != End::Left).then_some(shown.cursor)
        });
        joined(show.await)
    }
}
