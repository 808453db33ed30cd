//! A closer look at an interactive simulation that stands still than its state gives.

use std::sync::Arc;

use lmlang_interp::Debugger;

use crate::engine::Engine;
use crate::error::Error;
use crate::simulate::{Simulation, Status};

impl Engine {
    /// Looks at the run of an interactive simulation where it stands. `None` while it runs, and once it was cancelled and
    /// its run let go.
    ///
    /// # Errors
    ///
    /// The simulation is a stream, or its run cannot be made again.
    pub async fn inspect_interactive<T>(
        &self,
        simulation: &Arc<Simulation>,
        look: impl FnOnce(&Debugger) -> T,
    ) -> Result<Option<T>, Error> {
        let Some(of) = simulation.interactive() else {
            let message = "the simulation is a stream: only what `startSimulation` began can be looked into";
            return Err(Error::bad_request(message));
        };
        if of.standing().status == Status::Running {
            return Ok(None);
        }
        let mut hand = Arc::clone(&of.hand).lock_owned().await;
        if hand.is_none() {
            self.look(simulation, hand).await?;
            hand = Arc::clone(&of.hand).lock_owned().await;
        }
        Ok(hand.as_ref().map(look))
    }
}
