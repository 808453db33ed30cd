//! Interactive simulations: they stand where they were left, for everybody, also after a restart.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use lmlang_engine::{
    Action, Batching, BreakpointText, Call, Engine, HaltReason, InteractiveRequest, InteractiveState, Limits,
    OpenProgram, RunRequest, Simulation, Status, WantedSteps,
};
use lmlang_interp::{Environment, TraceLevel};
use lmlang_ir::{Const, Ref, Value};

use crate::fixture::{Fixture, OFTEN, call};

/// Counts down from its argument; for ever from zero. `many` does something with each number.
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

fn request(open: &OpenProgram, from: i64) -> InteractiveRequest {
    let program = open.timeline.head().main.revision.checked.program().clone();
    let found: Vec<Ref> = program.resolve_path("app::count");
    let run = RunRequest {
        function: found[0].try_into().unwrap(),
        args: vec![Value::Const(Const::I64(from))],
        bounds: lmlang_engine::Bounds { fuel: Some(u64::MAX), ..lmlang_engine::Bounds::default() },
        environment: Environment::default(),
        trace: TraceLevel::Nodes,
        tier: None,
    };
    InteractiveRequest { run, breakpoints: Vec::new(), pause_at_start: true }
}

async fn start(
    engine: &Engine,
    open: &OpenProgram,
    request: InteractiveRequest,
    call: &Call,
) -> Arc<Simulation> {
    let revision = open.timeline.head().main.revision.clone();
    engine.start_interactive(open, &revision, request, call).await.unwrap()
}

async fn act(engine: &Engine, simulation: &Arc<Simulation>, action: Action) -> Arc<InteractiveState> {
    engine.control_interactive(simulation, action, &call()).await.unwrap();
    engine.interactive_state(simulation).unwrap()
}

/// What is the same for everybody who looks at it.
fn shown(standing: &InteractiveState) -> String {
    let InteractiveState {
        status,
        position,
        stack,
        values,
        variables,
        stdout,
        breakpoints,
        halt,
        report,
        ..
    } = standing;
    let outcome = report.as_ref().map(|report| &report.result.outcome);
    format!(
        "{status:?} {position} {stack:?} {values:?} {variables:?} {stdout:?} {breakpoints:?} {halt:?} {outcome:?}"
    )
}

fn at_exit() -> Vec<BreakpointText> {
    // The second node of the loop's body that is executed once a round.
    let condition = Some("eq.i64 left, 3".to_owned());
    vec![BreakpointText { node: Some("next".to_owned()), condition, ..BreakpointText::default() }]
}

/// The breakpoints with the label of a node for its ref.
fn by_ref(open: &OpenProgram, mut breakpoints: Vec<BreakpointText>) -> Vec<BreakpointText> {
    let program = open.timeline.head().main.revision.checked.program().clone();
    let (_, function) = program.functions().next().unwrap();
    for breakpoint in &mut breakpoints {
        let label = breakpoint.node.clone();
        let node =
            function.body().nodes().find(|(_, node)| node.name().map(|name| name.to_string()) == label);
        breakpoint.node = node.map(|(of, _)| of.to_string());
    }
    breakpoints
}

#[tokio::test]
async fn a_restart_leaves_it_where_it_was() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    let breakpoints = by_ref(&open, at_exit());
    let request = InteractiveRequest { breakpoints, pause_at_start: false, ..request(&open, 9) };
    let simulation = start(&fixture.engine, &open, request, &call()).await;
    let before = fixture.engine.interactive_state(&simulation).unwrap();
    assert_eq!(
        (before.status, before.stopped_at(), before.breakpoints[0].hits),
        (Status::Paused, Some(0), 1)
    );
    let id = simulation.id;
    drop((simulation, open));
    let fixture = fixture.reopened(&[]).await;
    let simulation = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    let after = fixture.engine.interactive_state(&simulation).unwrap();
    assert_eq!(shown(&before), shown(&after));
    // It goes on from there, and what it has come to is there after another restart.
    let end = act(&fixture.engine, &simulation, Action::Run).await;
    assert_eq!((end.status, end.breakpoints[0].hits), (Status::Completed, 1));
    drop(simulation);
    let fixture = fixture.reopened(&[]).await;
    let simulation = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    assert_eq!(shown(&end), shown(&fixture.engine.interactive_state(&simulation).unwrap()));
    let back = act(&fixture.engine, &simulation, Action::RunBack).await;
    assert_eq!(back.position, before.position);
    let cancelled = act(&fixture.engine, &simulation, Action::Cancel).await;
    assert_eq!((cancelled.status, cancelled.position), (Status::Cancelled, before.position));
    drop(simulation);
    let fixture = fixture.reopened(&[]).await;
    let simulation = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    assert_eq!(shown(&cancelled), shown(&fixture.engine.interactive_state(&simulation).unwrap()));
    let refused = fixture.engine.control_interactive(&simulation, Action::Run, &call()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the simulation was cancelled");
}

#[tokio::test]
async fn who_does_not_wait_can_pause_what_runs() {
    let limits = Limits {
        control_wait: Duration::ZERO,
        max_timeout: Duration::from_secs(600),
        default_timeout: Duration::from_secs(600),
        max_fuel: u64::MAX,
        ..Limits::default()
    };
    let fixture = Fixture::within(OFTEN, limits).await;
    let open = fixture.create("p", TEXT).await;
    let simulation = start(&fixture.engine, &open, request(&open, 0), &call()).await;
    fixture.engine.control_interactive(&simulation, Action::Run, &call()).await.unwrap();
    let refused =
        fixture.engine.control_interactive(&simulation, Action::Step(1), &call()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the simulation runs: `PAUSE` it first");
    let paused = act(&fixture.engine, &simulation, Action::Pause).await;
    assert_eq!(paused.status, Status::Paused);
    fixture.engine.control_interactive(&simulation, Action::Run, &call()).await.unwrap();
    let cancelled = act(&fixture.engine, &simulation, Action::Cancel).await;
    assert_eq!(cancelled.status, Status::Cancelled);
}

/// One that runs keeps its memory when it pauses, so its place is no more than a turn.
#[tokio::test]
async fn what_runs_gives_its_place_to_others() {
    let limits = Limits {
        parallel_simulations: 1,
        control_wait: Duration::ZERO,
        max_timeout: Duration::from_secs(600),
        default_timeout: Duration::from_secs(600),
        max_fuel: u64::MAX,
        ..Limits::default()
    };
    let fixture = Fixture::within(OFTEN, limits).await;
    let open = fixture.create("p", TEXT).await;
    let [endless, short] = [0, 1_000].map(|from| request(&open, from));
    let endless = start(&fixture.engine, &open, endless, &call()).await;
    fixture.engine.control_interactive(&endless, Action::Run, &call()).await.unwrap();
    let revision = open.timeline.head().main.revision.clone();
    let done = fixture.engine.simulate(&open, &revision, short.run).await.unwrap();
    assert_eq!(done.status(), Status::Completed);
    assert_eq!(fixture.engine.interactive_state(&endless).unwrap().status, Status::Running);
    assert_eq!(act(&fixture.engine, &endless, Action::Cancel).await.status, Status::Cancelled);
}

#[tokio::test]
async fn an_action_that_takes_too_long_stops_where_it_is() {
    let limits = Limits { max_timeout: Duration::from_millis(50), max_fuel: u64::MAX, ..Limits::default() };
    let fixture = Fixture::within(OFTEN, limits).await;
    let open = fixture.create("p", TEXT).await;
    let simulation = start(&fixture.engine, &open, request(&open, 0), &call()).await;
    let first = act(&fixture.engine, &simulation, Action::Run).await;
    assert_eq!(first.status, Status::Paused);
    // It says which limit that was, its value, and what was used of it.
    let Some(HaltReason::Late { bound, used }) = first.halt else { panic!("{:?}", first.halt) };
    assert_eq!(bound, Duration::from_millis(50));
    assert!(used >= bound);
    let second = act(&fixture.engine, &simulation, Action::Run).await;
    assert!(second.position > first.position && first.position > 0);
    assert_eq!(second.status, Status::Paused);
}

#[tokio::test]
async fn several_watch_one() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    let simulation = start(&fixture.engine, &open, request(&open, 9), &call()).await;
    let mut watchers = [0, 2].map(|from| fixture.engine.watch_interactive(&simulation, from, BATCHING));
    for (action, steps) in [
        (Action::Step(0), vec![]),
        (Action::Step(4), vec![0, 1, 2, 3]),
        (Action::StepBack(3), vec![]),
        (Action::Step(2), vec![1, 2]),
        (Action::Cancel, vec![]),
    ] {
        let standing = act(&fixture.engine, &simulation, action).await;
        for watcher in &mut watchers {
            let mut seen = Vec::new();
            loop {
                let batch = watcher.recv().await.expect("it goes on");
                seen.extend(batch.steps.iter().map(|step| step.seq));
                if (batch.status, batch.cursor) == (standing.status, standing.position) {
                    break;
                }
            }
            assert_eq!(seen, steps);
        }
    }
    for mut watcher in watchers {
        assert!(watcher.recv().await.is_none(), "nothing follows");
    }
}

#[tokio::test]
async fn a_key_begins_and_moves_once() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    let keyed = |key: &str, what: &str| call().keyed(Some(key), what.as_bytes());
    let first = start(&fixture.engine, &open, request(&open, 9), &keyed("a", "start")).await;
    let again = start(&fixture.engine, &open, request(&open, 9), &keyed("a", "start")).await;
    assert_eq!(first.id, again.id);
    let both = [request(&open, 9), request(&open, 9)];
    let [one, two] = both.map(|request| InteractiveRequest { pause_at_start: false, ..request });
    let key = keyed("c", "start");
    let (one, two) =
        tokio::join!(start(&fixture.engine, &open, one, &key), start(&fixture.engine, &open, two, &key));
    assert!(Arc::ptr_eq(&one, &two));
    let revision = open.timeline.head().main.revision.clone();
    let other =
        fixture.engine.start_interactive(&open, &revision, request(&open, 8), &keyed("a", "another")).await;
    assert_eq!(other.unwrap_err().to_string(), "the idempotency key was used before with another request");
    for _ in 0..2 {
        fixture.engine.control_interactive(&first, Action::Step(2), &keyed("b", "step")).await.unwrap();
        assert_eq!(first.position(), 2);
    }
    let other = fixture.engine.control_interactive(&first, Action::Step(3), &keyed("b", "steps")).await;
    assert_eq!(other.unwrap_err().to_string(), "the idempotency key was used before with another request");
    // What failed is not done, and fails again.
    let nonsense =
        || Action::SetBreakpoints(vec![BreakpointText { node: Some("n0".into()), ..Default::default() }]);
    for _ in 0..2 {
        let refused = fixture.engine.control_interactive(&first, nonsense(), &keyed("d", "set")).await;
        assert_eq!(refused.unwrap_err().to_string(), "there is no node `n0`");
    }
    let id = first.id;
    drop((first, again, open));
    let fixture = fixture.reopened(&[]).await;
    let simulation = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    fixture.engine.control_interactive(&simulation, Action::Step(2), &keyed("b", "step")).await.unwrap();
    assert_eq!(simulation.position(), 2);
}

#[tokio::test]
async fn forty_stand_where_they_were_left() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    let mut simulations = Vec::new();
    for index in 0..40 {
        let simulation = start(&fixture.engine, &open, request(&open, 1_000), &call()).await;
        act(&fixture.engine, &simulation, Action::Step(index * 7)).await;
        simulations.push(simulation);
    }
    // More than are held in memory: the first ones are made again.
    for (index, simulation) in (0..).zip(&simulations) {
        let standing = act(&fixture.engine, simulation, Action::Step(1)).await;
        assert_eq!(standing.position, index * 7 + 1);
    }
}

/// The same, with more linear memory than eight of them may hold together.
const LARGE: &str = "module app

memory main 1000

func count(from: i64) -> (i64) {
  end = loop L (left: i64 = from) -> (i64) {
    next = sub.i64 left, 1
    store.i64 (wrap.i64.i32 (mul.i64 next, 4096)), next
    break_if L (eqz.i64 next) (next)
    continue L (next)
  }
  return end
}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_at_once_stay_within_what_may_be_held() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", LARGE).await;
    let mut simulations = Vec::new();
    for _ in 0..10 {
        simulations.push(start(&fixture.engine, &open, request(&open, 15_000), &call()).await);
    }
    let all = |action: fn(u64) -> Action| {
        let moves = (0..).zip(&simulations).map(|(index, simulation)| {
            let engine = &fixture.engine;
            async move { act(engine, simulation, action(index)).await.position }
        });
        join_all(moves)
    };
    assert_eq!(all(|index| Action::Step(50_000 + index)).await, (50_000..50_010).collect::<Vec<u64>>());
    let held = fixture.engine.held_runs();
    assert!(held.bytes > 400 << 20 && held.bytes <= 512 << 20 && held.count < 10, "{held:?}");
    // Some of them are made again.
    assert_eq!(all(Action::StepBack).await, [50_000; 10]);
    let held = fixture.engine.held_runs();
    assert!(held.bytes <= 512 << 20, "{held:?}");
    assert_eq!(all(|_| Action::Run).await, [15_000 * 9 + 1; 10]);
}

#[tokio::test]
async fn steps_are_the_same_wherever_their_reader_begins() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    let simulation = start(&fixture.engine, &open, request(&open, 3_000_000), &call()).await;
    act(&fixture.engine, &simulation, Action::Seek(9_000_000)).await;
    let read = async |engine: &Engine, simulation: &Arc<Simulation>| {
        let wanted = WantedSteps::default();
        let page = engine.steps(simulation, wanted, 8_999_990, 20).await.expect("they are read");
        let shown = page.steps.iter().map(|step| format!("{} {} {:?}", step.seq, step.node, step.outputs));
        (shown.collect::<Vec<_>>(), page.next)
    };
    let (near, next) = read(&fixture.engine, &simulation).await;
    assert_eq!((near.len(), next), (10, None));
    let id = simulation.id;
    drop((simulation, open));
    let fixture = fixture.reopened(&[]).await;
    let again = fixture.engine.simulation(id).await.unwrap().expect("it is kept");
    assert_eq!(read(&fixture.engine, &again).await, (near, next));
}

#[tokio::test]
async fn another_process_moves_it_too() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.engine.store().is_alone() {
        return;
    }
    let open = fixture.create("p", TEXT).await;
    let other = fixture.replica().await;
    let here = start(&fixture.engine, &open, request(&open, 9), &call()).await;
    act(&fixture.engine, &here, Action::Step(4)).await;
    let there = other.simulation(here.id).await.unwrap().expect("it is stored");
    assert_eq!(there.position(), 4);
    act(&other, &there, Action::Step(3)).await;
    let again = fixture.engine.simulation(here.id).await.unwrap().expect("it is kept");
    assert_eq!(again.position(), 7);
    act(&fixture.engine, &again, Action::StepBack(1)).await;
    assert_eq!(other.simulation(here.id).await.unwrap().expect("it is kept").position(), 6);
    other.close().await;
}

/// Who only looks neither delays nor doubles what others do, and sees nothing of what is cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn looking_leaves_it_to_those_who_move_it() {
    let fixture = Fixture::new(OFTEN).await;
    let (engine, open) = (&fixture.engine, fixture.create("p", TEXT).await);
    let simulation = start(engine, &open, request(&open, 1_000), &call()).await;
    let looking = || engine.inspect_interactive(&simulation, |debugger| debugger.position());
    for round in 0..100 {
        let keyed = call().keyed(Some(&format!("step {round}")), b"step");
        let step = || engine.control_interactive(&simulation, Action::Step(1), &keyed);
        let (one, other, ..) = tokio::join!(step(), step(), looking(), looking(), looking());
        // One of the two may be told that the other is at work.
        assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
        assert_eq!(simulation.position(), round + 1);
        assert_eq!(looking().await.unwrap(), Some(round + 1));
    }
    act(engine, &simulation, Action::Cancel).await;
    assert_eq!(looking().await.unwrap(), None);
}
