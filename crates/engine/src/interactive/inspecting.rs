//! The run of an interactive simulation, for who looks closer than where it stands tells; made again where it was let go of.

use std::sync::Arc;

use lmlang_interp::Debugger;
use tokio::sync::OwnedMutexGuard;

use super::{Interactive, InteractiveState, spots};
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::simulate::{Simulation, Status};

impl Interactive {
    /// The run, once nobody else has it in the hand; `None` as soon as it runs, and once it was cancelled.
    async fn at_rest(&self) -> Option<OwnedMutexGuard<Option<Debugger>>> {
        let mut standing = self.standing.subscribe();
        let is_away = |of: &Arc<InteractiveState>| matches!(of.status, Status::Running | Status::Cancelled);
        tokio::select! {
            biased;
            _ = standing.wait_for(is_away) => None,
            hand = Arc::clone(&self.hand).lock_owned() => Some(hand),
        }
    }
}

impl Simulation {
    /// Takes a look at the run of an interactive simulation, wherever it stands, if it is held and nobody has it in the hand.
    pub(crate) fn near<T>(&self, look: impl FnOnce(&Debugger) -> T) -> Option<T> {
        self.interactive()?.hand.try_lock().ok()?.as_ref().map(look)
    }
}

impl Engine {
    /// Looks at the run of an interactive simulation where it stands. `None` while it runs, once it was cancelled, and where
    /// it cannot be made again within its time.
    ///
    /// # Errors
    ///
    /// The simulation is a stream, or its run cannot be made again.
    pub async fn inspect_interactive<T: Send + 'static>(
        &self,
        simulation: &Arc<Simulation>,
        look: impl FnOnce(&mut Debugger) -> T + Send + 'static,
    ) -> Result<Option<T>, Error> {
        let Some(of) = simulation.interactive() else {
            let message = "the simulation is a stream: only what `startSimulation` began can be looked into";
            return Err(Error::bad_request(message));
        };
        match of.at_rest().await {
            None => return Ok(None),
            Some(mut hand) if hand.is_some() => {
                return joined(tokio::task::spawn_blocking(move || hand.as_mut().map(look)).await);
            }
            Some(_) => {}
        }
        // In the order in which who moves it takes them.
        let mut place = self.place().await?;
        let Some(mut hand) = of.at_rest().await else { return Ok(None) };
        let (engine, held) = (self.clone(), Arc::clone(simulation));
        let made = tokio::task::spawn_blocking(move || {
            if let (None, Some(of)) = (hand.as_ref(), held.interactive()) {
                place.take_turn();
                let (since, timeout) = (place.busy(), held.request.bounds.timeout(engine.limits()));
                let mut given_up = || {
                    place.take_turn();
                    engine.closing().is_cancelled() || place.busy() - since >= timeout
                };
                *hand = engine.made_again(&held, &of.standing(), &mut given_up)?;
            }
            Ok::<_, Error>(hand.as_mut().map(look))
        });
        let found = joined(made.await)??;
        self.let_go_of_runs();
        Ok(found)
    }

    /// Makes the run of a simulation again, up to where it stands; `None` where that was given up.
    pub(super) fn made_again(
        &self,
        simulation: &Simulation,
        before: &InteractiveState,
        given_up: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Debugger>, Error> {
        let program = simulation.revision.checked.program();
        let texts: Vec<_> = before.breakpoints.iter().map(|state| state.text.clone()).collect();
        let run = self.start(simulation).map_err(|error| Error::bad_request(error.to_string()))?;
        let mut debugger = Debugger::of(&run, None).ok_or(Error::Closed)?;
        let spots = spots::all(program, &texts)?;
        debugger.set_breakpoints(&spots).map_err(|(index, error)| Error::Breakpoint { index, error })?;
        debugger.set_hits(before.breakpoints.iter().map(|state| state.hits));
        debugger.seek(before.position, given_up);
        match debugger.position() == before.position {
            true => Ok(Some(debugger)),
            false if self.closing().is_cancelled() => Err(Error::Closed),
            false => Ok(None),
        }
    }
}
