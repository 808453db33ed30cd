//! Simulations across restarts: what is stored of one, and how it is brought back.
//!
//! A row says what is run, and, once it has ended, how far it went: running it again gives the rest, its trace included.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use lmlang_interp::{Entry, Environment, Files, Input, Outcome, Place, StartError, TraceLevel};
use lmlang_ir::{FuncRef, Param, Program, Value, text};
use lmlang_store::{Most, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::catalog::Selector;
use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::interactive::{Interactive, InteractiveRecord};
use crate::kept::request_bytes;
use crate::simulate::{Bounds, Cut, Report, RunRequest, Simulation};
use crate::tiers::{self, Tier};

/// The version of the form that is written.
const VERSION: u32 = 1;

/// Rows that are written between two looks for expired ones.
const LOOK: u64 = 256;

/// Bytes of arguments and of the environment that are stored at most.
const LARGE: usize = 64 << 10;

/// The stored form of a simulation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    version: u32,
    program: Uuid,
    revision: u64,
    function: String,
    /// Values in the text form, of the types of the parameters.
    args: Vec<String>,
    #[serde(flatten)]
    environment: EnvironmentRecord,
    #[serde(with = "LevelRecord")]
    trace: TraceLevel,
    #[serde(with = "BoundsRecord")]
    bounds: Bounds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tier: Option<TierRecord>,
    /// How far its readers had come.
    #[serde(default)]
    position: u64,
    ended: Option<Ended>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interactive: Option<InteractiveRecord>,
}

/// What the run is given besides its arguments.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentRecord {
    /// Standard input that is text; else it is empty, and there is the next one.
    stdin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin_base64: Option<String>,
    /// Paths and contents in base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<(Arc<str>, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command_line: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variables: Vec<(Arc<str>, Arc<str>)>,
    #[serde(default, skip_serializing_if = "is_zero")]
    seed: u64,
}

impl EnvironmentRecord {
    pub(crate) fn of(environment: &Environment) -> EnvironmentRecord {
        let Environment { stdin, files, command_line, variables, seed } = environment;
        let text = std::str::from_utf8(stdin.bytes()).ok();
        let (mut contents, mut folders) = (Vec::new(), Vec::new());
        for (path, entry) in files.iter() {
            match entry {
                Entry::File(bytes) => contents.push((Arc::clone(path), BASE64.encode(bytes))),
                Entry::Folder => folders.push(Arc::clone(path)),
            }
        }
        EnvironmentRecord {
            stdin: text.unwrap_or_default().to_owned(),
            stdin_base64: text.is_none().then(|| BASE64.encode(stdin.bytes())),
            files: contents,
            folders,
            command_line: command_line.to_vec(),
            variables: variables.to_vec(),
            seed: *seed,
        }
    }

    /// What tells it from others of the same standard input, in words.
    pub(crate) fn words(&self) -> String {
        let EnvironmentRecord { stdin: _, stdin_base64, files, folders, command_line, variables, seed } =
            self;
        let mut words = String::new();
        if !files.is_empty() || *seed != 0 {
            words.push_str(&format!(" {files:?} {seed}"));
        }
        if stdin_base64.is_some() || !(folders.is_empty() && command_line.is_empty() && variables.is_empty())
        {
            words.push_str(&format!(" {stdin_base64:?} {folders:?} {command_line:?} {variables:?}"));
        }
        words
    }

    pub(crate) fn environment(&self) -> Option<Environment> {
        let file = |(path, content): &(Arc<str>, String)| {
            Some((Arc::clone(path), Entry::File(BASE64.decode(content).ok()?.into())))
        };
        let files: Option<Files> = self.files.iter().map(file).collect();
        let mut files = files?;
        files.extend(self.folders.iter().map(|path| (Arc::clone(path), Entry::Folder)));
        let stdin: Input = match &self.stdin_base64 {
            Some(bytes) => BASE64.decode(bytes).ok()?.into(),
            None => self.stdin.as_str().into(),
        };
        Some(Environment {
            stdin,
            files: Arc::new(files),
            command_line: self.command_line.as_slice().into(),
            variables: self.variables.as_slice().into(),
            seed: self.seed,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Bounds", rename_all = "camelCase")]
pub(crate) struct BoundsRecord {
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    call_depth: Option<u32>,
    timeout: Option<Duration>,
    output_bytes: Option<u64>,
    trace_bytes: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "TraceLevel", rename_all = "camelCase")]
enum LevelRecord {
    None,
    Calls,
    Regions,
    Nodes,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How a run ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    steps: u64,
    elapsed: Duration,
    #[serde(default)]
    compiling: Duration,
    /// What ended it, if the run itself would go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    /// The same as older records say it: whether the clock ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_time: bool,
    /// What it had used, if it was compiled code: the interpreter could take very long to come that far again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compiled: Option<Used>,
}

impl Ended {
    fn cut(&self) -> Option<Cut> {
        self.cut.or(self.by_time.then_some(Cut::Time))
    }
}

/// What a run has used.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Used {
    fuel: u64,
    memory: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum TierRecord {
    Interpreter,
    Compiled,
}

impl TierRecord {
    fn of(tier: Tier) -> TierRecord {
        match tier {
            Tier::Interpreter => TierRecord::Interpreter,
            Tier::Compiled => TierRecord::Compiled,
        }
    }

    fn tier(self) -> Tier {
        match self {
            TierRecord::Interpreter => Tier::Interpreter,
            TierRecord::Compiled => Tier::Compiled,
        }
    }
}

impl Record {
    fn of(simulation: &Simulation) -> Record {
        let program = simulation.revision.checked.program();
        let RunRequest { function, args, bounds, environment, trace, tier } = &simulation.request;
        Record {
            version: VERSION,
            program: simulation.open.timeline.id(),
            revision: simulation.revision.entry.number,
            function: function.to_string(),
            args: args.iter().map(|arg| text::print_value(program, arg)).collect(),
            environment: EnvironmentRecord::of(environment),
            trace: *trace,
            bounds: *bounds,
            tier: tier.map(TierRecord::of),
            position: simulation.position(),
            ended: simulation.report().filter(|_| simulation.interactive().is_none()).map(|report| Ended {
                steps: report.result.steps,
                elapsed: report.elapsed,
                compiling: report.compiling,
                cut: report.cut(),
                by_time: false,
                compiled: (report.tier == Tier::Compiled)
                    .then_some(Used { fuel: report.result.fuel_used, memory: report.result.memory_peak }),
            }),
            interactive: simulation.interactive().map(Interactive::record),
        }
    }

    /// A digest of what is run: the same for the same request.
    fn digest(&self) -> [u8; 32] {
        let Record { version, program, revision, function, args, environment, trace, bounds, tier, .. } =
            self;
        let stdin = &environment.stdin;
        let mut what =
            format!("{version} {program} {revision} {function} {args:?} {stdin:?} {trace:?} {bounds:?}");
        if let Some(tier) = tier {
            what.push_str(&format!(" {tier:?}"));
        }
        what.push_str(&environment.words());
        *blake3::hash(what.as_bytes()).as_bytes()
    }

    /// What is run, if the program still knows the words.
    fn request(&self, program: &Program) -> Option<RunRequest> {
        let function: FuncRef = self.function.parse().ok()?;
        let params = &program.function(function)?.head().params;
        let read = |(param, arg): (&Param, &String)| text::parse_value(program, &param.ty, arg).ok();
        let args: Option<Vec<Value>> = params.iter().zip(&self.args).map(read).collect();
        Some(RunRequest {
            function,
            args: args?,
            bounds: self.bounds,
            environment: self.environment.environment()?,
            trace: self.trace,
            tier: self.tier.map(TierRecord::tier),
        })
    }
}

impl Engine {
    /// Stores a simulation as it stands; one with large arguments is in memory only.
    pub(crate) async fn record(&self, simulation: &Simulation) -> Result<(), Error> {
        if !is_stored(&simulation.request) {
            return Ok(());
        }
        let record = Record::of(simulation);
        // An interactive one is like no other.
        let digest = match &record.interactive {
            Some(_) => *blake3::hash(simulation.id.as_bytes()).as_bytes(),
            None => record.digest(),
        };
        let row = lmlang_store::Simulation {
            id: simulation.id,
            program: simulation.open.timeline.key(),
            created: simulation.asked(),
            digest: digest.to_vec(),
            ended: record.ended.is_some(),
            payload: serde_json::to_vec(&record).expect("a record has a JSON form"),
        };
        let limits = self.limits();
        let of_program = Most {
            rows: limits.stored_simulations_of_program,
            bytes: limits.stored_simulation_bytes_of_program,
        };
        let of_all = Most { rows: limits.stored_simulations, bytes: limits.stored_simulation_bytes };
        self.store().save_simulation(row, of_program, of_all).await?;
        if self.0.simulations.count_record().is_multiple_of(LOOK) {
            self.store().expire_simulations(self.oldest_kept()).await?;
        }
        Ok(())
    }

    /// Stores a simulation that begins, unless there is one of the same request already: then it is that one.
    ///
    /// What the clock ended would go further today, and what was cancelled too, so it is run anew.
    pub(crate) async fn record_once(&self, simulation: Arc<Simulation>) -> Result<Arc<Simulation>, Error> {
        if !is_stored(&simulation.request) {
            return Ok(self.0.simulations.kept().keep(&simulation, self.oldest_kept()));
        }
        let digest = Record::of(&simulation).digest();
        // Two that are sent at once are one as well.
        let cell = Arc::clone(self.0.simulations.beginning().entry(digest).or_default());
        let engine = self.clone();
        let begun = self.to_end(async move {
            let begun = cell.get_or_try_init(|| engine.same_or_new(simulation, &digest)).await.cloned();
            engine.0.simulations.beginning().remove(&digest);
            begun
        });
        begun.await
    }

    async fn same_or_new(
        &self,
        simulation: Arc<Simulation>,
        digest: &[u8],
    ) -> Result<Arc<Simulation>, Error> {
        let stored = self.store().simulation_of(digest).await?;
        let same = match stored {
            Some(row) if !was_cut(&row) => self.simulation(row.id).await?,
            Some(_) | None => None,
        };
        // Its end may not be stored yet.
        let same = same
            .filter(|same| !same.is_cancelled() && same.report().is_none_or(|report| report.cut().is_none()));
        if let Some(same) = &same {
            same.ask(simulation.asked());
        }
        let begun = same.unwrap_or(simulation);
        self.record(&begun).await?;
        Ok(self.0.simulations.kept().keep(&begun, self.oldest_kept()))
    }

    /// A simulation whose id a caller was given, while it is kept.
    pub async fn simulation(&self, id: Uuid) -> Result<Option<Arc<Simulation>>, Error> {
        let oldest = self.oldest_kept();
        let kept = self.0.simulations.kept().get(id);
        if kept.is_some() {
            let is_there = |program: &OpenProgram| {
                let id = program.timeline.id();
                self.sees(id) && self.opened(id).is_some()
            };
            let kept = kept.filter(|simulation| simulation.asked() >= oldest && is_there(&simulation.open));
            if let Some(simulation) = &kept {
                self.follow_moves(simulation).await?;
            }
            return Ok(kept);
        }
        if !self.sees_stored(id).await? {
            return Ok(None);
        }
        // A long run is run again once, however many ask for it and however long they wait.
        let cell = Arc::clone(self.0.simulations.recalls().entry(id).or_default());
        let engine = self.seeing_all();
        let recalled = self.to_end(async move {
            let recalled = cell.get_or_try_init(|| engine.recall(id, oldest)).await.cloned();
            engine.0.simulations.recalls().remove(&id);
            recalled
        });
        recalled.await
    }

    /// Where an interactive simulation stands as it is stored.
    pub(crate) async fn stored_interactive(&self, id: Uuid) -> Result<Option<InteractiveRecord>, Error> {
        let Some(row) = self.store().simulation(id).await? else { return Ok(None) };
        Ok(serde_json::from_slice::<Record>(&row.payload).ok().and_then(|record| record.interactive))
    }

    /// Whether a stored simulation is of a program that this handle may know of.
    async fn sees_stored(&self, id: Uuid) -> Result<bool, Error> {
        if self.only().is_none() {
            return Ok(true);
        }
        let Some(row) = self.store().simulation(id).await? else { return Ok(false) };
        let record = serde_json::from_slice::<Record>(&row.payload);
        Ok(record.is_ok_and(|record| self.sees(record.program)))
    }

    /// Brings a simulation back that is stored and not in memory.
    async fn recall(&self, id: Uuid, oldest: Timestamp) -> Result<Option<Arc<Simulation>>, Error> {
        let Some(row) = self.store().simulation(id).await? else { return Ok(None) };
        if row.created < oldest {
            return Ok(None);
        }
        let record = serde_json::from_slice::<Record>(&row.payload).ok();
        let Some(record) = record.filter(|record| record.version == VERSION) else { return Ok(None) };
        let open = match self.find(&Selector::Id(record.program)).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            open => open?,
        };
        let Some(revision) = self.state(&open, record.revision).await? else { return Ok(None) };
        let Some(request) = record.request(revision.checked.program()) else { return Ok(None) };
        let simulation = Simulation::new(id, &open, &revision, request, row.created);
        if let Some(interactive) = record.interactive {
            let simulation = Arc::new(simulation.interactively(Interactive::of(interactive)));
            if let Some(of) = simulation.interactive() {
                self.look(&simulation, of.moving().await).await?;
            }
            return Ok(Some(self.0.simulations.kept().keep(&simulation, oldest)));
        }
        let simulation = Arc::new(simulation);
        simulation.read_to(record.position);
        if let Some(ended) = record.ended {
            let report = self.repeat(&simulation, ended).await?;
            simulation.ended(Arc::new(report));
        }
        Ok(Some(self.0.simulations.kept().keep(&simulation, oldest)))
    }

    /// Simulations that were asked for before are not kept any more.
    pub(crate) fn oldest_kept(&self) -> Timestamp {
        let retention = i64::try_from(self.limits().simulation_retention.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.clock.now().0.saturating_sub(retention))
    }

    /// Finds out again how a run ended.
    async fn repeat(&self, simulation: &Arc<Simulation>, ended: Ended) -> Result<Report, Error> {
        let mut place = self.place().await?;
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        let work = tokio::task::spawn_blocking(move || {
            let refused = |error: StartError| Error::bad_request(error.to_string());
            let Ended { elapsed, compiling, .. } = ended;
            let timeout = simulation.request.bounds.timeout(engine.limits());
            if let Some(Used { fuel, memory }) = ended.compiled {
                if let Some(cut) = ended.cut() {
                    let outcome = match cut {
                        Cut::Time => tiers::timed_out(),
                        Cut::Cancelled => Outcome::Cancelled { place: Place::default() },
                    };
                    let result = tiers::within(timeout, tiers::result(outcome, ended.steps, fuel, memory));
                    return Ok(Report { result, elapsed, compiling, tier: Tier::Compiled });
                }
                let long = Duration::MAX;
                let report =
                    engine.run_to_end(&simulation, &mut place, long, &mut |_| false).map_err(refused)?;
                if engine.closing().is_cancelled() {
                    return Err(Error::Closed);
                }
                return Ok(Report { elapsed, compiling, ..report });
            }
            let mut run = engine.start(&simulation).map_err(refused)?;
            let to = if ended.cut().is_some() { ended.steps } else { u64::MAX };
            run.go_to(to, &mut || {
                place.take_turn();
                engine.closing().is_cancelled()
            });
            if engine.closing().is_cancelled() {
                return Err(Error::Closed);
            }
            match ended.cut() {
                Some(Cut::Time) => run.time_out(),
                Some(Cut::Cancelled) => run.cancel(),
                None => {}
            }
            let result = tiers::within(timeout, run.into_result());
            Ok(Report { result, elapsed, compiling, tier: Tier::Interpreter })
        });
        joined(work.await)?
    }
}

/// Whether a simulation of this is stored: one with large arguments is in memory only.
pub(crate) fn is_stored(request: &RunRequest) -> bool {
    request_bytes(request) <= LARGE
}

/// Whether a stored simulation ended before its own end, or nobody can tell.
fn was_cut(row: &lmlang_store::Simulation) -> bool {
    let record = serde_json::from_slice::<Record>(&row.payload);
    record.map_or(true, |record| record.ended.is_some_and(|ended| ended.cut().is_some()))
}
