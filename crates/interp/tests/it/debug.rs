//! A debugger stands where the trace says, on whatever way it came there.

use lmlang_interp::{
    Breakpoint, BreakpointError, Cache, Debugger, Limits, Options, Outcome, Run, RunResult, Spot, Step,
    Stopped, Trace, TraceLevel, VariableValue,
};
use lmlang_ir::text::{parse_program, print_value};
use lmlang_ir::{FuncRef, NodeRef, Program, RefAllocator, RegionRef, Source, Value, VarRef};
use lmlang_testkit::choices::Choices;
use lmlang_testkit::generate::{self, Options as Wild};
use lmlang_verify::Checked;
use proptest::prelude::*;

use crate::tools::{check, i64s};

fn options() -> Options {
    let limits = Limits { fuel: 3_000, call_depth: 50, memory_bytes: 32 << 20, output_bytes: 10_000 };
    Options { limits, ..Options::default() }
}

/// What a trace says about where a debugger comes.
struct Model<'a> {
    program: &'a Program,
    steps: Vec<Step>,
    /// Executed nodes in all.
    end: u64,
}

impl Model<'_> {
    fn step(&self, at: u64) -> Option<&Step> {
        self.steps.get(at as usize)
    }

    fn first(&self, after: u64, is: impl Fn(&Step) -> bool) -> u64 {
        self.steps.iter().find(|step| step.seq > after && is(step)).map_or(self.end, |step| step.seq)
    }

    fn over(&self, at: u64) -> u64 {
        let Some(from) = self.step(at) else { return self.end };
        let body = self.program.function(from.function).expect("it runs").body();
        let around: Vec<RegionRef> = std::iter::successors(Some(from.region), |region| body.outer(*region))
            .chain(body.root())
            .collect();
        self.first(at, |step| {
            step.frame < from.frame || step.frame == from.frame && around.contains(&step.region)
        })
    }

    fn out(&self, at: u64) -> u64 {
        let Some(from) = self.step(at) else { return self.end };
        self.first(at, |step| step.frame < from.frame)
    }

    fn to_node(&self, at: u64, node: NodeRef) -> u64 {
        self.first(at, |step| step.node == node)
    }

    fn back_to_node(&self, at: u64, node: NodeRef) -> u64 {
        self.steps.iter().rev().find(|step| step.seq < at && step.node == node).map_or(0, |step| step.seq)
    }
}

/// Walks about in a run, and compares each place with what the trace and a debugger that came straight there say.
fn walk(
    checked: &Checked,
    function: FuncRef,
    args: &[Value],
    choices: &mut Choices,
) -> Result<(), TestCaseError> {
    let run = Run::new(checked, function, args, &options(), &Cache::new()).expect("the arguments fit");
    let steps =
        Trace::of(&run, TraceLevel::Nodes, None).expect("it starts").page(0, usize::MAX, u64::MAX).steps;
    let model = Model { program: checked.program(), end: steps.len() as u64, steps };
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    debugger.set_snapshot_spacing(1 + choices.below(60) as u64);
    let never: &mut dyn FnMut() -> bool = &mut || false;
    let mut at = 0;
    for _ in 0..12 {
        let node = model.step(choices.below(model.end.max(1) as usize) as u64);
        let node = node.map(|step| (step.function, step.node));
        let spots: Vec<Breakpoint> =
            node.iter().map(|(of, node)| Breakpoint::from(Spot::Node(*of, *node))).collect();
        let (what, to) = match choices.below(6) {
            0 => {
                debugger.step(3, never);
                ("step", (at + 3).min(model.end))
            }
            1 => {
                debugger.step_back(5, never);
                ("step back", at.saturating_sub(5))
            }
            2 => {
                debugger.step_over(1, never);
                ("step over", model.over(at))
            }
            3 => {
                debugger.step_out(1, never);
                ("step out", model.out(at))
            }
            4 => {
                debugger.set_breakpoints(&spots).expect("the node is there");
                debugger.resume(never);
                ("resume", node.map_or(model.end, |(_, node)| model.to_node(at, node)))
            }
            _ => {
                debugger.set_breakpoints(&spots).expect("the node is there");
                debugger.run_back(never);
                ("run back", node.map_or(0, |(_, node)| model.back_to_node(at, node)))
            }
        };
        prop_assert_eq!(debugger.position(), to, "{} from {}", what, at);
        debugger.set_breakpoints(&[]).expect("none is wrong");
        let mut straight = Debugger::of(&run, None).expect("it starts");
        straight.seek(to, never);
        prop_assert_eq!(debugger.stack(), straight.stack(), "{} from {} to {}", what, at, to);
        prop_assert_eq!(debugger.values(), straight.values(), "{} from {} to {}", what, at, to);
        prop_assert_eq!(debugger.variables(), straight.variables(), "{} from {} to {}", what, at, to);
        prop_assert_eq!(debugger.outcome(), straight.outcome());
        prop_assert_eq!(debugger.run().fuel_used(), straight.run().fuel_used());
        prop_assert_eq!(debugger.run().held(), straight.run().held(), "{} from {} to {}", what, at, to);
        // Where memory or files grow, the peak is that of what was run in one go.
        let result = |of: &Debugger| of.run().result().map(|result| RunResult { memory_peak: 0, ..result });
        prop_assert_eq!(result(&debugger), result(&straight), "{} from {} to {}", what, at, to);
        if choices.below(6) == 0 {
            check_readers(&debugger, &run, choices.below(model.end as usize + 1) as u64)?;
        }
        if let Some(step) = model.step(to) {
            let stack = debugger.stack();
            let here = stack.last().expect("a step stands in a call");
            prop_assert_eq!((here.function, here.node), (step.function, Some(step.node)));
            prop_assert_eq!(stack.len() as u32, step.frame + 1);
            check_calls(&debugger, &mut straight, &model, to)?;
        }
        at = to;
    }
    Ok(())
}

/// A reader of the steps may begin near any of them, and go back from there.
fn check_readers(debugger: &Debugger, run: &Run, from: u64) -> Result<(), TestCaseError> {
    for bound in [None, Some(debugger.run().fuel_used())] {
        let mut near = debugger.trace(from, TraceLevel::Nodes, bound).expect("it started");
        let mut fresh = Trace::of(run, TraceLevel::Nodes, bound).expect("it started");
        for from in [from, from / 2] {
            let (found, expected) = (near.page(from, 5, u64::MAX), fresh.page(from, 5, u64::MAX));
            prop_assert_eq!(found.steps, expected.steps, "from {}, {:?}", from, bound);
            prop_assert_eq!(found.next, expected.next, "from {}, {:?}", from, bound);
        }
    }
    Ok(())
}

/// What is alive in each call is what was alive when it made the one above it; `straight` may be moved.
fn check_calls(
    debugger: &Debugger,
    straight: &mut Debugger,
    model: &Model<'_>,
    at: u64,
) -> Result<(), TestCaseError> {
    let stack = debugger.stack();
    let memory = |of: &Debugger| of.memory(0..1 << 20).map(<[u8]>::to_vec);
    prop_assert_eq!(debugger.globals(), straight.globals(), "at {}", at);
    prop_assert_eq!(memory(debugger), memory(straight), "at {}", at);
    let innermost = stack.len() as u32 - 1;
    prop_assert_eq!(debugger.values_at(innermost), Some(debugger.values()), "at {}", at);
    prop_assert_eq!(debugger.variables_at(innermost), Some(debugger.variables()), "at {}", at);
    prop_assert_eq!(debugger.values_at(innermost + 1), None);
    for call in stack.iter().rev().skip(1).take(3) {
        let before = model.steps[..at as usize].iter().rev().find(|step| step.frame == call.frame);
        // Invariants are checked by calls that no node makes.
        let Some(before) = before.filter(|step| call.node == Some(step.node)) else { continue };
        straight.seek(before.seq, &mut || false);
        let node = model.program.function(call.function).and_then(|of| of.body().node(before.node));
        let given: Vec<Source> = node.expect("it runs").inputs().iter().flatten().collect();
        let values = debugger.values_at(call.frame).expect("it was called");
        // What a call read as the last is with what was called.
        let mut known = straight.values();
        known.retain(|one| values.contains(one) || !given.contains(&one.source));
        prop_assert_eq!(values, known, "{:?} at {}", call, at);
        prop_assert_eq!(
            debugger.variables_at(call.frame),
            Some(straight.variables()),
            "{:?} at {}",
            call,
            at
        );
    }
    Ok(())
}

fn walks(seed: u64) -> Result<(), TestCaseError> {
    let generated = generate::seeded(seed, &Wild { recursion: seed.is_multiple_of(3), ..Wild::default() });
    let checked = check(generated.program.clone());
    let mut choices = Choices::seeded(seed ^ 7);
    for (function, found) in generated.program.functions() {
        let args = generate::values::arguments(&generated.program, function, &mut choices);
        let Some(args) = args.filter(|_| found.head().captures.is_empty()) else { continue };
        walk(&checked, function, &args, &mut choices)?;
    }
    Ok(())
}

/// A snapshot where more was charged than a reader's bound of fuel left.
#[test]
fn readers_begin_where_nothing_is_charged_ahead() {
    walks(11_756_830_927_906_210_931).expect("every way is the same");
}

proptest! {
    #![proptest_config(lmlang_testkit::config_of(150))]

    #[test]
    fn every_way_leads_to_the_state_of_a_fresh_run(seed: u64) {
        walks(seed)?;
    }
}

const SUM: &str = "\
memory main#v1 1
global mut total#v2: i64 = 0

func step#f3 (a: i64) -> (i64) {
  b#n4 = mul.i64 a, 2#n23
  return#n5 b
}

func sum#f6 (n: i64) -> (i64) {
  var last#v7: i64
  s#n8 = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) #g9 {
    break_if#n10 L (ge_s.i64#n11 i, n) (acc)
    twice#n12 = call step(i)
    var.set#n13 last, (div_s.i64#n14 i, 2)
    global.set#n15 total, acc
    store.i64#n16 (wrap.i64.i32#n17 (and.i64 (mul.i64#n18 i, 8#n24), 1016)), twice
    continue#n19 L (add.i64#n20 i, 1#n25) (add.i64#n21 acc, twice)
  }
  return#n22 s
}
";

pub(crate) fn sum(n: i64) -> (Checked, Run) {
    let program = parse_program(SUM, &mut RefAllocator::starting_at(100)).unwrap_or_else(|e| panic!("{e:?}"));
    let checked = check(program);
    let run =
        Run::new(&checked, func(6), &i64s(&[n]), &Options::default(), &Cache::new()).expect("it starts");
    (checked, run)
}

pub(crate) fn func(number: u64) -> FuncRef {
    FuncRef::new(number).expect("in range")
}

fn node(number: u64) -> NodeRef {
    NodeRef::new(number).expect("in range")
}

fn var(number: u64) -> VarRef {
    VarRef::new(number).expect("in range")
}

/// Where a run stops again and again: the value of `i`, or of `a` in a call, and the node that comes next.
fn stops(spot: Spot, condition: Option<&str>, most: usize) -> Vec<String> {
    let (checked, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let condition = condition.map(str::to_owned);
    debugger
        .set_breakpoints(&[Breakpoint { spot, condition, ignore: 0 }])
        .unwrap_or_else(|(_, error)| panic!("{error}"));
    let mut found = Vec::new();
    while found.len() < most && debugger.resume(&mut || false) == Stopped::At(0) {
        let here = debugger.stack().last().cloned().expect("it stands in a call");
        let values = debugger.values();
        let wanted = ["f3.0", "g9.0"].map(|of| values.iter().find(|value| value.source.to_string() == of));
        let value = wanted.into_iter().flatten().next().expect("it is alive");
        let node = here.node.expect("at a node");
        found.push(format!("{node} {}", print_value(checked.program(), &value.shown.value)));
    }
    assert_eq!(debugger.hits().next(), Some(found.len() as u64));
    found
}

#[test]
fn breakpoints_stop_where_they_say() {
    assert_eq!(stops(Spot::Node(func(6), node(14)), None, 3), ["n14 i64:0", "n14 i64:1", "n14 i64:2"]);
    assert_eq!(stops(Spot::Function(func(3)), None, 2), ["n23 i64:0", "n23 i64:1"]);
}

#[test]
fn conditions_choose_among_the_steps() {
    let at = |number| Spot::Node(func(6), node(number));
    assert_eq!(stops(at(12), Some("eq.i64 i, 4"), 9), ["n12 i64:4"]);
    assert_eq!(stops(at(12), Some("gt_s.i64 acc, n"), 9), ["n12 i64:4", "n12 i64:5"]);
    assert_eq!(
        stops(Spot::Function(func(3)), Some("eq.i64 (rem_s.i64 a, 3), 0"), 9),
        ["n23 i64:0", "n23 i64:3"]
    );
    // Variables, globals, linear memory and calls of what only reads can be looked at.
    assert_eq!(stops(at(19), Some("eq.i64 (var.get last), 2"), 9), ["n19 i64:4", "n19 i64:5"]);
    assert_eq!(stops(at(19), Some("eq.i64 (global.get total), 12"), 9), ["n19 i64:4"]);
    assert_eq!(stops(at(19), Some("eq.i64 (load.i64 24), 6"), 9), ["n19 i64:3", "n19 i64:4", "n19 i64:5"]);
    assert_eq!(stops(at(12), Some("true"), 2), ["n12 i64:0", "n12 i64:1"]);
}

#[test]
fn what_is_ignored_counts_and_is_met_on_the_way_back() {
    let (_, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let condition = Some("gt_s.i64 i, 0".to_owned());
    let node = Breakpoint { condition, ignore: 3, ..Breakpoint::from(Spot::Node(func(6), node(12))) };
    let watch = Breakpoint { ignore: 1, ..Breakpoint::from(Spot::Variable(func(6), var(7))) };
    debugger.set_breakpoints(&[node, watch]).expect("they are right");
    let hits = |debugger: &Debugger| debugger.hits().collect::<Vec<u64>>();
    let mut never = || false;
    // The node is met with 1, 2 and 3; the variable is changed for the second time before it is met with 4.
    let mut met = Vec::new();
    while let Stopped::At(at) = debugger.resume(&mut never) {
        met.push((at, hits(&debugger)));
    }
    assert_eq!(met, [(0, vec![4, 1]), (1, vec![4, 2]), (0, vec![5, 2])]);
    let end = debugger.position();
    let mut back = Vec::new();
    while let Stopped::At(at) = debugger.run_back(&mut never) {
        back.push(at);
    }
    assert_eq!(back, [0, 1, 0, 0, 1, 0, 0]);
    assert_eq!(hits(&debugger), [5, 2]);
    // What was ignored once is not ignored again.
    assert_eq!(debugger.resume(&mut never), Stopped::At(0));
    assert!(debugger.position() < end);
}

#[test]
fn watches_stop_behind_a_change() {
    // The variable is given the same value twice each time.
    assert_eq!(stops(Spot::Variable(func(6), var(7)), None, 9), ["n15 i64:2", "n15 i64:4"]);
    assert_eq!(stops(Spot::Global(var(2)), None, 2), ["n24 i64:2", "n24 i64:3"]);
    assert_eq!(stops(Spot::Memory(24..32), None, 9), ["n25 i64:3"]);
}

#[test]
fn what_cannot_be_set_says_why() {
    let (_, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let mut refused = |spot: Spot, condition: Option<&str>| {
        let condition = condition.map(str::to_owned);
        let fine = Breakpoint::from(Spot::Function(func(3)));
        let refused = debugger.set_breakpoints(&[fine, Breakpoint { spot, condition, ignore: 0 }]);
        let (at, error): (usize, BreakpointError) = refused.expect_err("it is wrong");
        assert_eq!(at, 1);
        error.to_string()
    };
    let at = |number| Spot::Node(func(6), node(number));
    assert_eq!(refused(at(4), None), "there is no node `n4` in `f6`");
    assert_eq!(refused(Spot::Function(func(99)), None), "there is no function `f99` with a body");
    assert_eq!(refused(Spot::Variable(func(6), var(1)), None), "there is no variable `v1` in `f6`");
    assert_eq!(refused(Spot::Global(var(1)), None), "there is no global `v1`");
    assert_eq!(refused(Spot::Memory(0..5_000), None), "expected 1 to 4096 bytes, found 5000");
    assert_eq!(refused(Spot::Global(var(2)), Some("true")), "a watch takes no condition");
    assert_eq!(refused(at(12), Some("eq.i64 j, 4")), "there is no value `j` here");
    assert_eq!(refused(at(12), Some("add.i64 i, 4")), "expected `bool`, found `i64`");
    assert_eq!(refused(at(12), Some("eq.i64 twice, 4")), "there is no value `twice` here");
    assert_eq!(refused(at(12), Some("eq.i64 i,")), "expected an operand, found the end of the text");
    assert_eq!(
        refused(at(12), Some("eq.i64 (call sum(i)), 4")),
        "`call` needs the bound `any`: expected at most `reads`"
    );
}

#[test]
fn a_condition_that_traps_stops_and_says_so() {
    let (_, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let condition = Some("eq.i64 (div_s.i64 1, i), 7".to_owned());
    debugger
        .set_breakpoints(&[Breakpoint { spot: Spot::Node(func(6), node(12)), condition, ignore: 0 }])
        .expect("it is right");
    assert_eq!(debugger.resume(&mut || false), Stopped::At(0));
    assert_eq!(debugger.trouble(0), Some("integer division by zero"));
    assert_eq!(debugger.resume(&mut || false), Stopped::End);
    assert_eq!(debugger.hits().collect::<Vec<u64>>(), [1]);
}

/// Where one goes back to again and again from the end, and why it stops there.
fn ways_back(spots: &[Spot], spacing: u64) -> Vec<(u64, Stopped)> {
    let (_, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    debugger.set_snapshot_spacing(spacing);
    let wanted: Vec<Breakpoint> = spots.iter().map(|spot| Breakpoint::from(spot.clone())).collect();
    debugger.set_breakpoints(&wanted).expect("they are right");
    debugger.seek(u64::MAX, &mut || false);
    let mut found = Vec::new();
    while debugger.position() > 0 {
        let stopped = debugger.run_back(&mut || false);
        found.push((debugger.position(), stopped));
    }
    assert_eq!(debugger.hits().collect::<Vec<u64>>(), vec![0; spots.len()]);
    found
}

#[test]
fn snapshots_make_no_difference_to_the_way_back() {
    let all = [
        Spot::Node(func(6), node(12)),
        Spot::Function(func(3)),
        Spot::Variable(func(6), var(7)),
        Spot::Global(var(2)),
        Spot::Memory(24..40),
    ];
    let some = all.iter().map(std::slice::from_ref).chain([&all[..], &all[2..4]]);
    for spots in some {
        let plain = ways_back(spots, u64::MAX);
        assert!(plain.len() > 1, "{spots:?}: {plain:?}");
        for spacing in 1..40 {
            assert_eq!(ways_back(spots, spacing), plain, "{spots:?}, {spacing} steps apart");
        }
    }
}

#[test]
fn an_interrupted_way_back_ends_where_it_began() {
    let (_, run) = sum(100_000);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    debugger.seek(1_000_000, &mut || false);
    assert_eq!(debugger.run_back(&mut || true), Stopped::Interrupted);
    assert_eq!(debugger.position(), 1_000_000);
    assert_eq!(debugger.resume(&mut || true), Stopped::Interrupted);
    let here = debugger.position();
    assert!(here > 1_000_000, "{here}");
    assert_eq!(debugger.run_back(&mut || false), Stopped::End);
    assert_eq!(debugger.position(), 0);
}

#[test]
fn what_passes_marks_all_the_time_is_interrupted_too() {
    let (_, run) = sum(100_000);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let asked = std::cell::Cell::new(0);
    let mut third = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let condition = Some("lt_s.i64 i, 0".to_owned());
    let never = Breakpoint { spot: Spot::Node(func(6), node(12)), condition, ignore: 0 };
    debugger.set_breakpoints(&[never]).expect("it is right");
    assert_eq!(debugger.resume(&mut third), Stopped::Interrupted);
    debugger.set_breakpoints(&[]).expect("there is none");
    debugger.seek(10, &mut || false);
    asked.set(0);
    assert_eq!(debugger.step_over(u64::MAX, &mut third), Stopped::Interrupted);
    assert!(debugger.position() < 10_000, "{}", debugger.position());
}

#[test]
fn places_that_are_met_together_count_together() {
    let (_, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let spots = [Spot::Variable(func(6), var(7)), Spot::Node(func(6), node(15)), Spot::Function(func(6))];
    let wanted = spots.map(Breakpoint::from);
    debugger.set_breakpoints(&wanted).expect("they are right");
    // The first step is one to stop before as well.
    assert_eq!(debugger.begin(&mut || false), Stopped::At(2));
    assert_eq!(debugger.position(), 0);
    let mut met = Vec::new();
    while let Stopped::At(at) = debugger.resume(&mut || false) {
        met.push(at);
    }
    // The variable has another value in every second round; the node behind it comes in each.
    assert_eq!(met, [1, 1, 0, 1, 0, 1]);
    assert_eq!(debugger.hits().collect::<Vec<u64>>(), [2, 6, 1]);
}

#[test]
fn outer_calls_globals_and_memory_are_looked_at() {
    let (checked, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let in_step =
        Breakpoint { condition: Some("eq.i64 a, 4".to_owned()), ..Breakpoint::from(Spot::Function(func(3))) };
    debugger.set_breakpoints(&[in_step]).expect("it is right");
    debugger.resume(&mut || false);
    let shown = |value: &Value| print_value(checked.program(), value);
    let values = debugger.values_at(0).expect("it was called");
    let wanted = ["g9.0", "g9.1", "f6.0"].map(|of| values.iter().find(|one| one.source.to_string() == of));
    let wanted: Vec<String> = wanted.into_iter().flatten().map(|one| shown(&one.shown.value)).collect();
    assert_eq!(wanted, ["i64:4", "i64:12", "i64:6"]);
    let variables = |found: Vec<VariableValue>| -> Vec<String> {
        found.iter().map(|one| format!("{} {}", one.variable, shown(&one.shown.value))).collect()
    };
    assert_eq!(variables(debugger.variables_at(0).expect("it was called")), ["v7 i64:1"]);
    assert_eq!(variables(debugger.globals()), ["v2 i64:6"]);
    assert_eq!(debugger.memory(22..26), Some(&[0, 0, 6, 0][..]));
    assert_eq!(debugger.memory_size(), Some(65_536));
    assert_eq!(debugger.memory(65_534..u64::MAX).map(<[u8]>::len), Some(2));
    assert_eq!(debugger.memory(u64::MAX - 1..u64::MAX), Some(&[][..]));
    assert_eq!((debugger.values_at(2), debugger.variables_at(7)), (None, None));
    debugger.set_breakpoints(&[]).expect("there is none");
    debugger.resume(&mut || false);
    assert_eq!(debugger.values_at(0), None);
    assert_eq!(variables(debugger.globals()), ["v2 i64:20"]);
}

/// A list as deep as `n`, whose cells are also in an array of which older ones are kept, and which is walked again and again.
const SHARED: &str = "\
type List = enum { empty, cell(Cell) }
type Cell = struct { head: i64, tail: box<List> }

func chain (n: i64) -> (i64) {
  both = loop L (i: i64 = 0, list: List = (enum.new List.empty), now: array<List> = (array.new<List>), old: array<List> = (array.new<List>)) -> (List, array<List>, array<List>) {
    break_if L (ge_s.i64 i, n) (list) (now) (old)
    more = enum.new List.cell (struct.new Cell i, (box.new<List> list))
    kept = if (eq.i64 (rem_u.i64 i, 100), 0) -> (array<List>) {
      yield now
    } else {
      yield old
    }
    continue L (add.i64 i, 1) (more) (array.push<List> now, list) (kept)
  }
  sum = loop A (again: i64 = 0, sum: i64 = 0) -> (i64) {
    break_if A (ge_s.i64 again, 40) (sum)
    walked = loop W (at: List = both, sum: i64 = sum) -> (i64) {
      match at (empty, cell) {
        case empty {
          break W sum
        }
        case cell (cell) {
          continue W (box.get<List> (struct.get Cell.tail cell)) (add.i64 sum, (struct.get Cell.head cell))
        }
      }
      unreachable
    }
    continue A (add.i64 again, 1) (walked)
  }
  lengths = add.i32 (array.len<List> both.1), (array.len<List> both.2)
  return (add.i64 sum, (extend_u.i32.i64 lengths))
}
";

#[test]
fn what_is_deep_and_shared_is_there_again() {
    let program = parse_program(&format!("module m\n{SHARED}"), &mut RefAllocator::starting_at(1))
        .unwrap_or_else(|e| panic!("{e:?}"));
    let (of, _) = program.functions().next().expect("there is one");
    let checked = check(program);
    let run =
        Run::new(&checked, of, &i64s(&[10_000]), &Options::default(), &Cache::new()).expect("it starts");
    let mut plain = Debugger::of(&run, None).expect("it starts");
    plain.set_snapshot_spacing(u64::MAX);
    plain.seek(u64::MAX, &mut || false);
    let (end, result) = (plain.position(), plain.run().result());
    assert!(
        matches!(result.as_ref().map(|result| &result.outcome), Some(Outcome::Returned { .. })),
        "{result:?}"
    );
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    debugger.set_snapshot_spacing(end / 10);
    debugger.seek(u64::MAX, &mut || false);
    assert!(debugger.held() > 4_000_000, "{}", debugger.held());
    for to in [end - 1, end * 7 / 10 + 3, end / 5 - 3, end / 2, 5, end] {
        debugger.seek(to, &mut || false);
        plain.seek(to, &mut || false);
        assert_eq!(debugger.run().held(), plain.run().held(), "at {to}");
        assert_eq!(debugger.variables(), plain.variables());
    }
    debugger.seek(end / 2, &mut || false);
    debugger.seek(u64::MAX, &mut || false);
    assert_eq!(debugger.run().result(), result);
}

const MANY_PAGES: &str = "\
module m
memory main 1100

func spin (n: i64) -> (i64) {
  filled = loop F (page: i32 = 0) -> (i32) {
    break_if F (ge_u.i32 page, 1100) (page)
    store.i32 (mul.i32 page, 65536), (add.i32 page, 1)
    continue F (add.i32 page, 1)
  }
  end = loop L (i: i64 = 0) -> (i64) {
    break_if L (ge_s.i64 i, n) (i)
    continue L (add.i64 i, 1)
  }
  return end
}
";

#[test]
fn what_is_too_large_for_snapshots_is_run_again() {
    let program =
        parse_program(MANY_PAGES, &mut RefAllocator::starting_at(1)).unwrap_or_else(|e| panic!("{e:?}"));
    let (of, _) = program.functions().next().expect("there is one");
    let checked = check(program);
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let run = Run::new(&checked, of, &i64s(&[20_000_000]), &options, &Cache::new()).expect("it starts");
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    debugger.seek(60_000_000, &mut || false);
    assert_eq!(debugger.held(), 1_100 << 16);
    debugger.step_back(1, &mut || false);
    assert_eq!(debugger.position(), 59_999_999);
}
