//! What the engine is told at its start.

use std::time::Duration;

use crate::tokens::MOST_PROGRAMS;

/// Bounds on what one caller or one program may cost. Every one is listed in `serverInfo` under its field's name.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Edits in one change set.
    pub edits_per_change_set: usize,
    /// Bytes of text in one request, over all its edits.
    pub text_bytes: usize,
    /// Characters of a name.
    pub name_length: usize,
    /// Fuel of a run when the caller names none.
    pub default_fuel: u64,
    /// Fuel of a run at most.
    pub max_fuel: u64,
    /// Bytes of linear memory and value heap of a run at most.
    pub max_memory_bytes: u64,
    /// Calls inside calls of a run at most.
    pub max_call_depth: u32,
    /// Time that a run executes when the caller names none.
    pub default_timeout: Duration,
    /// Time that a run executes at most.
    pub max_timeout: Duration,
    /// Bytes of recorded trace of a run at most.
    pub max_trace_bytes: u64,
    /// Bytes of standard output of a run at most.
    pub max_output_bytes: u64,
    /// Runs that have begun at the same time; those above wait. As many again may have given their places away after a while.
    pub parallel_simulations: usize,
    /// Of these, runs that stream their trace: they last as long as somebody reads, so that others keep some places.
    pub streamed_simulations: usize,
    /// Runs that execute at the same moment; those that have begun take turns.
    pub simulation_threads: usize,
    /// Runs that wait; those above are refused.
    pub waiting_simulations: usize,
    /// Runs that one caller has begun at the same time, as far as a token or a connection of its own tells it from others;
    /// those above wait.
    pub simulations_per_caller: usize,
    /// Runs of one caller that wait for others of its own; those above are refused.
    pub waiting_simulations_per_caller: usize,
    /// How long a streamed run can be looked at by its id, as long as those of its program and of all fit.
    pub simulation_retention: Duration,
    /// How long an action on an interactive run is waited for; it goes on then.
    pub control_wait: Duration,
    /// Streamed and interactive runs of one program that are stored; of those above, the oldest that have ended go first.
    pub stored_simulations_of_program: u64,
    /// Bytes that they take.
    pub stored_simulation_bytes_of_program: u64,
    /// Streamed runs of all programs that are stored; of those above, the oldest that have ended go first.
    pub stored_simulations: u64,
    /// Bytes that they take.
    pub stored_simulation_bytes: u64,
    /// Programs that are open at the same time, beyond those in use.
    pub open_programs: usize,
    /// Bytes that the contents of open programs take, about, beyond those in use.
    pub open_program_bytes: u64,
    /// Revisions of an open program that are held in memory.
    pub revisions_in_memory: usize,
    /// Bytes that those revisions take beside the newest one at most, about.
    pub revision_bytes_in_memory: u64,
    /// Events of an open program that are held in memory for subscribers; who is further behind reads the log.
    pub events_in_memory: usize,
    /// Bytes that those events take at most, about.
    pub event_bytes_in_memory: usize,
    /// How old what is known of tokens can be: a change that another process makes is noticed by then.
    pub token_refresh: Duration,
    /// How long runs of flows that have ended are kept, where flows are run; none: for ever.
    pub run_retention: Option<Duration>,
}

impl Limits {
    /// Every limit by the name that errors use, in its unit: bytes, milliseconds, pieces; null where there is none.
    pub fn named(&self) -> Vec<(String, serde_json::Value)> {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let own = [
            ("editsPerChangeSet", self.edits_per_change_set as u64),
            ("promotedInputs", lmlang_history::request::MOST_PROMOTED as u64),
            ("revertedSpan", crate::reverting::MOST as u64),
            ("textBytes", self.text_bytes as u64),
            ("moduleEntries", lmlang_wasm::MOST_OF_A_KIND.into()),
            ("moduleNodes", lmlang_wasm::MOST_NODES),
            ("nameLength", self.name_length as u64),
            ("defaultFuel", self.default_fuel),
            ("fuel", self.max_fuel),
            ("memoryBytes", self.max_memory_bytes),
            ("callDepth", u64::from(self.max_call_depth)),
            ("defaultTimeoutMs", millis(self.default_timeout)),
            ("timeoutMs", millis(self.max_timeout)),
            ("outputBytes", self.max_output_bytes),
            ("parallelSimulations", self.parallel_simulations as u64),
            ("streamedSimulations", self.streamed_simulations as u64),
            ("simulationThreads", self.simulation_threads as u64),
            ("waitingSimulations", self.waiting_simulations as u64),
            ("simulationsPerCaller", self.simulations_per_caller as u64),
            ("waitingSimulationsPerCaller", self.waiting_simulations_per_caller as u64),
            ("simulationRetentionMs", millis(self.simulation_retention)),
            ("controlWaitMs", millis(self.control_wait)),
            ("breakpoints", crate::interactive::MOST_BREAKPOINTS as u64),
            ("checkedFunctions", crate::checking::MOST_FUNCTIONS as u64),
            ("checkedInputs", crate::checking::MOST_TRIES),
            ("mutants", crate::checking::MOST_MUTANTS as u64),
            ("storedSimulationsOfProgram", self.stored_simulations_of_program),
            ("storedSimulationBytesOfProgram", self.stored_simulation_bytes_of_program),
            ("storedSimulations", self.stored_simulations),
            ("storedSimulationBytes", self.stored_simulation_bytes),
            ("openPrograms", self.open_programs as u64),
            ("openProgramBytes", self.open_program_bytes),
            ("revisionsInMemory", self.revisions_in_memory as u64),
            ("revisionBytesInMemory", self.revision_bytes_in_memory),
            ("eventsInMemory", self.events_in_memory as u64),
            ("eventBytesInMemory", self.event_bytes_in_memory as u64),
            ("traceBytes", self.max_trace_bytes),
            ("tokenRefreshMs", millis(self.token_refresh)),
            ("nodesLookedAt", lmlang_ir::graph::MOST_LOOKED_AT as u64),
            ("tokenPrograms", MOST_PROGRAMS as u64),
            ("casesOfProgram", crate::cases::MOST),
            ("caseBytes", crate::cases::BYTES as u64),
            ("candidates", crate::tournament::MOST_CANDIDATES as u64),
            ("caseRuns", crate::standing::MOST_RUNS as u64),
            ("flowBytes", crate::flows::registry::FLOW_BYTES as u64),
            ("runInputBytes", crate::flows::starting::INPUT_BYTES as u64),
            ("metricEntries", crate::flows::metrics::MOST_ENTRIES),
            ("runDeadlineMs", millis(crate::flows::starting::MOST_DEADLINE)),
        ];
        let all = own.into_iter().chain(crate::entities::limits());
        let kept = ("runRetentionMs".to_owned(), self.run_retention.map(millis).into());
        all.map(|(name, value)| (name.to_owned(), value.into())).chain([kept]).collect()
    }
}

impl Default for Limits {
    fn default() -> Limits {
        // The other half is for everybody else.
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2));
        Limits {
            edits_per_change_set: 2_000,
            text_bytes: 4 << 20,
            name_length: 200,
            default_fuel: 100_000_000,
            max_fuel: 10_000_000_000,
            max_memory_bytes: 256 << 20,
            max_call_depth: 10_000,
            default_timeout: Duration::from_secs(5),
            max_timeout: Duration::from_secs(60),
            max_trace_bytes: 64 << 20,
            max_output_bytes: 4 << 20,
            parallel_simulations: 16 * threads,
            streamed_simulations: 12 * threads,
            simulation_threads: threads,
            waiting_simulations: 64,
            simulations_per_caller: 6 * threads,
            waiting_simulations_per_caller: 64,
            simulation_retention: Duration::from_secs(3_600),
            control_wait: Duration::from_secs(5),
            stored_simulations_of_program: 256,
            stored_simulation_bytes_of_program: 4 << 20,
            stored_simulations: 4_096,
            stored_simulation_bytes: 32 << 20,
            open_programs: 1_000,
            open_program_bytes: 2 << 30,
            revisions_in_memory: 256,
            revision_bytes_in_memory: 16 << 20,
            events_in_memory: 1_024,
            event_bytes_in_memory: 4 << 20,
            token_refresh: Duration::from_secs(5),
            run_retention: None,
        }
    }
}

/// When the state of a program is written beside its log, so that opening it reads little of the log.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotPolicy {
    /// After this many entries, or
    pub entries: u64,
    /// after this many bytes of edits;
    pub bytes: u64,
    /// but not before the edits since the last one have this many times the bytes that it took.
    pub share: u64,
}

impl Default for SnapshotPolicy {
    fn default() -> SnapshotPolicy {
        SnapshotPolicy { entries: 64, bytes: 64 << 10, share: 2 }
    }
}
