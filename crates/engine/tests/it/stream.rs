//! Streams of traces: bounded by time, bytes and readers.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use lmlang_engine::{
    Action, Batch, Batching, Bounds, Engine, Error, Limits, NewToken, OpenProgram, RunRequest, Scope, Status,
    Unnamed, WantedSteps,
};
use lmlang_history::log::ActorKind;
use lmlang_interp::{Environment, TraceLevel};
use lmlang_ir::{Const, Ref, Value};

use tokio::sync::mpsc::Receiver;

use crate::fixture::{Fixture, OFTEN, call};

/// Counts down from its argument; for ever from zero.
const TEXT: &str = "module app

func count(from: i64) -> (i64) {
  end = loop L (left: i64 = from) -> (i64) {
    next = sub.i64 left, 1
    break_if L (eqz.i64 next) (next)
    continue L (next)
  }
  return end
}
";

const BATCHING: Batching =
    Batching { steps: 100, latency: Duration::from_secs(1), pulse: Duration::from_secs(60) };

fn request(open: &OpenProgram, from: i64, bounds: Bounds) -> RunRequest {
    let program = open.timeline.head().main.revision.checked.program().clone();
    let found: Vec<Ref> = program.resolve_path("app::count");
    RunRequest {
        function: found[0].try_into().unwrap(),
        args: vec![Value::Const(Const::I64(from))],
        bounds,
        environment: Environment::default(),
        trace: TraceLevel::Nodes,
        tier: None,
    }
}

/// More fuel than anybody waits for.
fn for_ever(timeout: Duration) -> Bounds {
    Bounds { fuel: Some(u64::MAX), timeout: Some(timeout), ..Bounds::default() }
}

async fn runs(fixture: &Fixture, open: &OpenProgram) -> Status {
    let revision = open.timeline.head().main.revision.clone();
    let run = fixture.engine.simulate(open, &revision, request(open, 10, Bounds::default()));
    let simulation =
        tokio::time::timeout(Duration::from_secs(30), run).await.expect("a slot is free").unwrap();
    simulation.status()
}

/// The numbers of the steps that come until the end.
async fn rest(batches: &mut Receiver<Batch>) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(batch) = batches.recv().await {
        numbers.extend(batch.steps.iter().map(|step| step.seq));
    }
    numbers
}

#[tokio::test]
async fn readers_that_do_not_read_hold_up_nobody() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let mut streams = Vec::new();
    for _ in 0..fixture.engine.limits().streamed_simulations {
        let request = request(&open, 0, for_ever(Duration::from_secs(60)));
        streams.push(fixture.engine.stream(&open, &revision, request, BATCHING).await.unwrap());
    }
    assert_eq!(runs(&fixture, &open).await, Status::Completed);
    for (simulation, _) in &streams {
        assert_eq!(simulation.status(), Status::Running);
    }
}

/// Whoever comes later has a place soon, however many run for long.
#[tokio::test]
async fn long_runs_give_their_places_to_others() {
    let fixture = Fixture::within(OFTEN, Limits { parallel_simulations: 2, ..Limits::default() }).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let endless = || request(&open, 0, for_ever(Duration::from_secs(60)));
    let mut long = [0, 1].map(|_| Box::pin(fixture.engine.simulate(&open, &revision, endless())));
    for run in &mut long {
        let runs = std::future::poll_fn(|context| Poll::Ready(run.as_mut().poll(context).is_pending())).await;
        assert!(runs, "it does not run");
    }
    assert_eq!(runs(&fixture, &open).await, Status::Completed);
}

/// The engine as a caller with a token of its own has it.
async fn caller(fixture: &Fixture, name: &str) -> Engine {
    let new = NewToken {
        name: name.to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Simulate],
        programs: None,
        expires: None,
    };
    let (_, secret) = fixture.engine.create_token(new, &call().actor).await.expect("the token is made");
    let grant = fixture.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    grant.engine().expect("it has a token").clone()
}

/// Who runs much waits for its own runs, and nobody else does.
#[tokio::test]
async fn a_caller_runs_no_more_than_its_share() {
    let limits = Limits { simulations_per_caller: 2, waiting_simulations_per_caller: 1, ..Limits::default() };
    let fixture = Fixture::within(OFTEN, limits).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let (busy, other) = (caller(&fixture, "busy").await, caller(&fixture, "other").await);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let request = request(&open, 0, for_ever(Duration::from_secs(60)));
        streams.push(busy.stream(&open, &revision, request, BATCHING).await.unwrap());
    }
    let short = || request(&open, 10, Bounds::default());
    let mut third = pin!(busy.simulate(&open, &revision, short()));
    let waits = std::future::poll_fn(|context| Poll::Ready(third.as_mut().poll(context).is_pending())).await;
    assert!(waits, "more have begun than the share of the caller");
    let refused = busy.simulate(&open, &revision, short()).await.unwrap_err();
    assert!(
        matches!(refused, Error::TooMany { which: "waitingSimulationsPerCaller", limit: 1, .. }),
        "{refused}"
    );
    let done = other.simulate(&open, &revision, short()).await.unwrap();
    assert_eq!(done.status(), Status::Completed);
    assert_eq!(runs(&fixture, &open).await, Status::Completed);
    streams.pop();
    let done = tokio::time::timeout(Duration::from_secs(30), third).await.expect("its turn comes").unwrap();
    assert_eq!(done.status(), Status::Completed);
}

#[tokio::test]
async fn the_time_of_a_run_is_not_that_of_its_reader() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let bounds = Bounds { timeout: Some(Duration::from_millis(20)), ..Bounds::default() };
    // To show all of it takes longer than that, the run itself does not.
    let request = request(&open, 200_000, bounds);
    let started = fixture.engine.stream(&open, &revision, request, BATCHING).await;
    let (simulation, mut batches) = started.unwrap();
    let mut steps = Vec::new();
    let last = loop {
        let batch = batches.recv().await.unwrap();
        steps.extend(batch.steps.iter().map(|step| step.seq));
        if batch.report.is_some() {
            break batch;
        }
    };
    assert_eq!(simulation.status(), Status::Completed);
    assert!(steps.iter().copied().eq(0..last.cursor));
    assert_eq!(last.cursor + last.skipped, simulation.report().unwrap().result.steps);
    let mut batches = fixture.engine.stream_again(&simulation, last.cursor, BATCHING).await.unwrap();
    assert_eq!(batches.recv().await.unwrap().steps.first().map(|step| step.seq), Some(last.cursor));
}

#[tokio::test]
async fn a_run_pauses_without_its_reader() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    for _ in 0..2 * fixture.engine.limits().parallel_simulations {
        let request = request(&open, 0, for_ever(Duration::from_secs(60)));
        let (_, mut batches) = fixture.engine.stream(&open, &revision, request, BATCHING).await.unwrap();
        assert_eq!(batches.recv().await.unwrap().steps.len(), 100);
    }
    assert_eq!(runs(&fixture, &open).await, Status::Completed);
}

#[tokio::test]
async fn a_stream_shows_as_much_as_its_bound_of_bytes() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let bounds = Bounds { trace_bytes: Some(100_000), ..Bounds::default() };
    let started = fixture.engine.stream(&open, &revision, request(&open, 1_000, bounds), BATCHING).await;
    let (simulation, mut batches) = started.unwrap();
    let mut steps = Vec::new();
    let last = loop {
        let batch = batches.recv().await.unwrap();
        steps.extend(batch.steps);
        if batch.report.is_some() {
            break batch.cursor..batch.cursor + batch.skipped;
        }
    };
    let report = simulation.report().unwrap();
    assert_eq!(simulation.status(), Status::Completed);
    assert!((50..report.result.steps as usize).contains(&steps.len()), "{}", steps.len());
    assert!(steps.iter().enumerate().all(|(index, step)| step.seq == index as u64));
    assert_eq!(last, steps.len() as u64..report.result.steps);
    // The rest can be had from there on.
    let mut rest = fixture.engine.stream_again(&simulation, last.start, BATCHING).await.unwrap();
    assert_eq!(rest.recv().await.unwrap().steps[0].seq, last.start);
}

#[tokio::test]
async fn a_stream_goes_on_after_any_cursor() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let one = Batching { steps: 1, ..BATCHING };
    let started = fixture.engine.stream(&open, &revision, request(&open, 3, Bounds::default()), one).await;
    let (simulation, mut batches) = started.unwrap();
    let mut all = Vec::new();
    let mut cursors = Vec::new();
    while let Some(batch) = batches.recv().await {
        all.extend(batch.steps);
        cursors.push((batch.cursor, all.len()));
    }
    for (cursor, seen) in cursors {
        let mut batches = fixture.engine.stream_again(&simulation, cursor, BATCHING).await.unwrap();
        let mut rest = Vec::new();
        while let Some(batch) = batches.recv().await {
            rest.extend(batch.steps);
        }
        assert_eq!(rest, all[seen..], "from {cursor} on");
    }
}

#[tokio::test]
async fn a_run_goes_on_for_a_reader_who_comes_back() {
    let mut fixture = Fixture::new(OFTEN).await;
    for restart in [false, true] {
        let open = fixture.create(if restart { "again" } else { "shop" }, TEXT).await;
        let revision = open.timeline.head().main.revision.clone();
        let request = request(&open, 1_000, Bounds::default());
        let (simulation, mut batches) =
            fixture.engine.stream(&open, &revision, request, BATCHING).await.unwrap();
        let id = simulation.id;
        let cursor = batches.recv().await.unwrap().cursor;
        simulation.read_to(cursor);
        drop(batches);
        let noticed = async {
            while simulation.status() != Status::Paused {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), noticed).await.expect("the run notices");
        assert_eq!(simulation.position(), cursor, "not what was executed ahead of its reader");
        if restart {
            fixture = fixture.reopened(&[]).await;
        }
        let simulation = fixture.engine.simulation(id).await.unwrap().unwrap();
        assert_eq!((simulation.status(), simulation.position()), (Status::Paused, cursor));
        let steps = fixture.engine.steps(&simulation, WantedSteps::default(), cursor, 10).await.unwrap();
        assert_eq!((steps.steps.len(), steps.executed), (10, cursor + 10));
        let mut batches = fixture.engine.stream_again(&simulation, 0, BATCHING).await.unwrap();
        simulation.read_to(batches.recv().await.unwrap().cursor);
        drop(batches);
        assert_eq!(simulation.position(), cursor, "it does not go back");
        let mut batches = fixture.engine.stream_again(&simulation, cursor, BATCHING).await.unwrap();
        let steps = rest(&mut batches).await;
        let report = simulation.report().unwrap();
        assert_eq!(simulation.status(), Status::Completed);
        assert!(steps.into_iter().eq(cursor..report.result.steps));
    }
}

#[tokio::test]
async fn how_a_run_ended_is_kept_over_a_restart_until_it_expires() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let mut ended = Vec::new();
    for request in
        [request(&open, 10, Bounds::default()), request(&open, 0, for_ever(Duration::from_millis(1)))]
    {
        let started = fixture.engine.stream(&open, &revision, request, BATCHING).await;
        let (simulation, mut batches) = started.unwrap();
        let steps = rest(&mut batches).await;
        ended.push((simulation.id, simulation.status(), simulation.report().unwrap(), steps));
    }
    assert_eq!([ended[0].1, ended[1].1], [Status::Completed, Status::LimitReached]);
    let fixture = fixture.reopened(&[]).await;
    for (id, status, report, steps) in &ended {
        // However many ask at once, it is brought back once.
        let engine = &fixture.engine;
        let (simulation, other) = tokio::join!(engine.simulation(*id), engine.simulation(*id));
        let simulation = simulation.unwrap().unwrap();
        assert!(Arc::ptr_eq(&simulation, &other.unwrap().unwrap()));
        assert_eq!(simulation.status(), *status);
        let found = simulation.report().unwrap();
        assert_eq!((&found.result.stdout, found.elapsed), (&report.result.stdout, report.elapsed));
        if *status == Status::Completed {
            assert_eq!(found.result, report.result);
            let mut batches = fixture.engine.stream_again(&simulation, 0, BATCHING).await.unwrap();
            assert_eq!(rest(&mut batches).await, *steps);
        }
    }
    let fixture = fixture.reopened(&["UPDATE simulations SET created = created - 3600000000"]).await;
    for (id, ..) in &ended {
        assert!(fixture.engine.simulation(*id).await.unwrap().is_none());
    }
}

/// Nothing is shown of it for as long as it runs, and its reader hears of it all the same.
#[tokio::test]
async fn a_run_is_heard_of_when_no_step_of_it_is_shown() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let often = Batching { pulse: Duration::ZERO, ..BATCHING };
    let bounds = |trace_bytes| Bounds { trace_bytes, ..for_ever(Duration::from_secs(60)) };
    let shown = request(&open, 0, bounds(Some(100_000)));
    let silent = RunRequest { trace: TraceLevel::None, ..request(&open, 0, bounds(None)) };
    let rare = RunRequest { trace: TraceLevel::Calls, ..silent.clone() };
    for (request, skips) in [(shown, true), (silent, false), (rare, false)] {
        let level = request.trace;
        let started = fixture.engine.stream(&open, &revision, request, often).await;
        let (_, mut batches) = started.unwrap();
        let (mut heard, mut told) = (0, Vec::new());
        while heard < 3 || skips && told.last().is_none_or(|skipped| *skipped < 100_000) {
            let batch = batches.recv().await.unwrap();
            assert!(batch.report.is_none());
            if batch.steps.is_empty() {
                heard += 1;
                told.push(batch.skipped);
            }
        }
        assert!(told.is_sorted(), "{told:?}");
        assert_eq!(told.last() > Some(&0), skips, "{level:?}: {told:?}");
    }
}

#[tokio::test]
async fn a_bound_of_bytes_is_told_before_the_end() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let bounds = Bounds { trace_bytes: Some(100_000), ..Bounds::default() };
    let started = fixture.engine.stream(&open, &revision, request(&open, 1_000, bounds), BATCHING).await;
    let (_, mut batches) = started.unwrap();
    let mut told = Vec::new();
    while let Some(batch) = batches.recv().await {
        if batch.steps.is_empty() {
            told.push((batch.cursor, batch.skipped, batch.report.is_some()));
        }
    }
    let [(cursor, first, false), (end, all, true)] = told[..] else { panic!("{told:?}") };
    assert!(cursor == end && 0 < first && first < all, "{told:?}");
}

#[tokio::test]
async fn whoever_knows_a_stream_can_cancel_it() {
    let fixture = Fixture::within(OFTEN, Limits { max_fuel: u64::MAX, ..Limits::default() }).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let endless = || request(&open, 0, for_ever(Duration::from_secs(60)));
    let call = call();
    // One whose reader reads on is told that it is over; so is one without a trace.
    for trace in [TraceLevel::Nodes, TraceLevel::None] {
        let request = RunRequest { trace, ..endless() };
        let (simulation, mut batches) =
            fixture.engine.stream(&open, &revision, request, BATCHING).await.unwrap();
        let reader = tokio::spawn(async move {
            let mut last = None;
            while let Some(batch) = batches.recv().await {
                last = Some(batch);
            }
            last.expect("it says how it ended")
        });
        let found = fixture.engine.simulation(simulation.id).await.unwrap().expect("it is kept");
        fixture.engine.control_interactive(&found, Action::Cancel, &call).await.unwrap();
        let last = reader.await.unwrap();
        assert_eq!((last.status, simulation.status()), (Status::Cancelled, Status::Cancelled));
        assert_eq!(last.report.expect("it ended").result.steps, simulation.position());
        // The same once more is another run.
        let again = fixture.engine.stream(&open, &revision, endless(), BATCHING).await.unwrap().0;
        assert_ne!(again.id, simulation.id);
        fixture.engine.control_interactive(&again, Action::Cancel, &call).await.unwrap();
        assert_eq!(again.status(), Status::Cancelled);
    }
    // One that nobody reads ends where its readers had come; one that has ended stays as it ended.
    let (left, batches) = fixture.engine.stream(&open, &revision, endless(), BATCHING).await.unwrap();
    drop(batches);
    fixture.engine.control_interactive(&left, Action::Cancel, &call).await.unwrap();
    assert_eq!(left.status(), Status::Cancelled);
    let done = request(&open, 10, Bounds::default());
    let (done, mut batches) = fixture.engine.stream(&open, &revision, done, BATCHING).await.unwrap();
    rest(&mut batches).await;
    fixture.engine.control_interactive(&done, Action::Cancel, &call).await.unwrap();
    assert_eq!(done.status(), Status::Completed);
    let refused = fixture.engine.control_interactive(&done, Action::Run, &call).await.unwrap_err();
    assert_eq!(refused.to_string(), "the simulation is a stream: only `CANCEL` is possible");
    // A restart changes nothing about it.
    let (id, steps) = (left.id, left.position());
    drop((left, done, open));
    let fixture = fixture.reopened(&[]).await;
    let left = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    assert_eq!((left.status(), left.position()), (Status::Cancelled, steps));
}

#[tokio::test]
async fn a_repeated_request_is_the_same_simulation() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let revision = open.timeline.head().main.revision.clone();
    let ask = async |fixture: &Fixture, open: &OpenProgram, from, bounds| {
        let started = fixture.engine.stream(open, &revision, request(open, from, bounds), BATCHING).await;
        let (simulation, mut batches) = started.unwrap();
        (simulation.id, rest(&mut batches).await, simulation.status())
    };
    let ended = || Bounds::default();
    let (first, both) = tokio::join!(ask(&fixture, &open, 10, ended()), ask(&fixture, &open, 10, ended()));
    assert_eq!(first, both);
    assert_eq!(first.2, Status::Completed);
    assert_eq!(ask(&fixture, &open, 10, ended()).await, first);
    let other = ask(&fixture, &open, 11, ended()).await;
    assert_ne!(other.0, first.0);
    assert_eq!(fixture.db.number("SELECT COUNT(*) FROM simulations").await, 2);
    // What the clock ended goes further another time.
    let late = ask(&fixture, &open, 0, for_ever(Duration::from_millis(1))).await;
    assert_eq!(late.2, Status::LimitReached);
    assert_ne!(ask(&fixture, &open, 0, for_ever(Duration::from_millis(1))).await.0, late.0);
    let fixture = fixture.reopened(&[]).await;
    let open = fixture.find("shop").await;
    assert_eq!(ask(&fixture, &open, 10, ended()).await, first);
    assert_eq!(fixture.db.number("SELECT COUNT(*) FROM simulations").await, 4);
    assert_eq!(fixture.db.number("SELECT COUNT(*) FROM simulations WHERE ended").await, 4);
}

#[tokio::test]
async fn as_many_simulations_are_stored_as_fit() {
    let limits = Limits { stored_simulations_of_program: 2, stored_simulations: 3, ..Limits::default() };
    let fixture = Fixture::within(OFTEN, limits).await;
    for name in ["shop", "bank"] {
        let open = fixture.create(name, TEXT).await;
        let revision = open.timeline.head().main.revision.clone();
        for from in 1..=3 {
            let request = request(&open, from, Bounds::default());
            let (_, mut batches) = fixture.engine.stream(&open, &revision, request, BATCHING).await.unwrap();
            rest(&mut batches).await;
        }
    }
    assert_eq!(fixture.db.number("SELECT COUNT(*) FROM simulations").await, 3);
    let of_one = "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM simulations GROUP BY program) AS counts";
    assert_eq!(fixture.db.number(of_one).await, 2);
}
