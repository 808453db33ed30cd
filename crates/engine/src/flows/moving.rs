//! Having a run go on as one of the definition that its flow has by now.

use std::sync::Arc;

use lmlang_flow::{Flow, Run, What};
use lmlang_ir::hash::hex;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::listing::RunInfo;
use crate::flows::live::damaged;
use crate::request::Call;

/// What moving a run comes to.
#[derive(Clone, Debug)]
pub struct Moved {
    /// What it was a run of.
    pub from: Arc<Flow>,
    /// What its flow is by now: the same if there is nothing to be done.
    pub to: Arc<Flow>,
    /// What keeps it from going on as one of that.
    pub hindrances: Vec<String>,
}

/// How often it is looked whether a run can be moved that goes on meanwhile.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Whether the flow of a run has a newer version by now, so that it is not gone on with here before it is moved. A flow that is
    /// not known here, or is older, is nothing that it could be moved to. A run of a declared flow is gone on with as it began.
    pub fn is_outdated(&self, run: &RunInfo) -> bool {
        let version = |flow: &Flow| flow.definition().version;
        let code = self.0.flows.code(run.flow.name()).filter(|_| run.flow.definition().declared.is_none());
        code.is_some_and(|code| !code.flow().runs_as(&run.flow) && version(code.flow()) >= version(&run.flow))
    }

    /// Has a run go on as one of the definition that its flow has by now. It carries the same and stands where it stood, or it is
    /// not moved; channels that are new hold what they hold at first. A repetition changes nothing. It is carried out, whether the
    /// caller stays or goes.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] says what keeps it from that; a dry run answers it.
    pub async fn move_run(&self, run: Uuid, dry_run: bool, call: &Call) -> Result<(RunInfo, Moved), Error> {
        let (engine, by) = (self.clone(), call.actor.name.clone());
        self.to_end(async move { engine.move_to_newest(run, dry_run, by).await }).await
    }

    async fn move_to_newest(&self, run: Uuid, dry_run: bool, by: String) -> Result<(RunInfo, Moved), Error> {
        for _ in 0..ATTEMPTS {
            let info = self.run_info(run).await?;
            let to = Arc::clone(self.code_named(info.flow.name()).await?.flow());
            let from = Arc::clone(&info.flow);
            if to.runs_as(&from) {
                if !dry_run {
                    self.go_on_as_moved(&info).await?;
                }
                return Ok((info, Moved { from: Arc::clone(&from), to: from, hindrances: Vec::new() }));
            }
            let mut moved = Moved { from: Arc::clone(&from), to: Arc::clone(&to), hindrances: Vec::new() };
            let journal = self.journal_of(run).await?;
            let before = match Run::replay(&from, &journal) {
                Ok(before) => before,
                // Somebody else has moved it.
                Err(_) if self.run_info(run).await?.flow.hash() != from.hash() => continue,
                Err(error) => return Err(damaged(run, 0, error)),
            };
            if let Err(hindrances) = before.moved(&journal, &to) {
                moved.hindrances.extend(hindrances.iter().map(ToString::to_string));
            }
            let version = to.definition().version;
            match (dry_run, moved.hindrances.is_empty()) {
                (true, _) => return Ok((info, moved)),
                (false, true) => {}
                (false, false) => {
                    let message = format!(
                        "the run cannot be moved to version {version} of the flow `{}`: {}",
                        to.name(),
                        moved.hindrances.join("; ")
                    );
                    return Err(Error::Argument { place: "input.runId".to_owned(), message });
                }
            }
            let what = What::Moved {
                from: from.definition().version,
                to: version,
                definition: hex(&to.hash()),
                by: by.clone(),
            };
            let appended = self.change_run(run, |machine, _| {
                let is_as_seen = machine.last() == before.last() && machine.flow().hash() == from.hash();
                Ok::<_, Error>(is_as_seen.then(|| what.clone()))
            });
            if appended.await?.1.is_some() {
                let info = self.run_info(run).await?;
                self.go_on_as_moved(&info).await?;
                return Ok((info, moved));
            }
        }
        Err(Error::Overloaded { what: "changes of the run" })
    }

    /// Goes on with a run that was moved, if it has not ended. What is in memory may be a run of the other definition.
    async fn go_on_as_moved(&self, info: &RunInfo) -> Result<(), Error> {
        let live = self.0.flows.live().get(&info.id).cloned();
        if live.is_some_and(|live| live.flow.hash() != info.flow.hash()) {
            self.let_go_of_run(info.id).await;
        }
        match info.ended {
            None => self.seeing_all().go_on(info.id).await,
            Some(_) => Ok(()),
        }
    }
}

/// The error of a run that nobody goes on with.
pub(crate) fn other_version(flow: &Flow) -> Error {
    let what =
        format!("going on with a run of another version of the flow `{}` before it is moved", flow.name());
    Error::Unsupported { what }
}
