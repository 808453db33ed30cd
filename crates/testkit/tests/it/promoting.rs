//! Variables become values and values variables, and runs give what they gave.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use lmlang_history::request::{DemoteToVar, EditRequest, Expanded, PromoteVar, code, expand};
use lmlang_history::{apply_all, invert_all};
use lmlang_interp::{Cache, Control, Fault, Limits, Options as RunOptions, Outcome, run};
use lmlang_ir::ops::signature::outputs;
use lmlang_ir::text::{Detail, parse_program, print_program};
use lmlang_ir::{Const, FuncRef, NodeRef, Program, RefAllocator, Value, VarRef};
use lmlang_testkit::filetest::case::{self, End};
use lmlang_testkit::generate::values::arguments;
use lmlang_testkit::{Choices, Options, config, config_of, generate};
use lmlang_verify::{Checked, Severity};
use proptest::prelude::*;

/// The variables of all functions.
fn variables(program: &Program) -> Vec<VarRef> {
    program
        .functions()
        .flat_map(|(_, function)| function.body().variables().map(|(of, _)| of).collect::<Vec<_>>())
        .collect()
}

/// Carries out edits; the recorded ones have to lead there and back.
pub(crate) fn edited(
    program: &Program,
    refs: &mut RefAllocator,
    edits: &[EditRequest],
) -> Result<Program, Vec<&'static str>> {
    let Expanded { program: after, edits, .. } = expand(program, refs, edits)
        .map_err(|refused| refused.errors.iter().map(|error| error.code).collect::<Vec<_>>())?;
    let mut replayed = program.clone();
    apply_all(&mut replayed, &edits).unwrap();
    assert_eq!(replayed.root_hash(), after.root_hash());
    apply_all(&mut replayed, &invert_all(&edits, program).unwrap()).unwrap();
    assert_eq!(replayed.root_hash(), program.root_hash());
    Ok(after)
}

fn promote(of: VarRef) -> EditRequest {
    EditRequest::PromoteVar(PromoteVar { of: of.to_string() })
}

fn demote(of: NodeRef) -> EditRequest {
    EditRequest::DemoteToVar(DemoteToVar { name_as: None, of: of.to_string() })
}

/// Makes values of all variables. Those of types without a zero may have to stay; says how many did.
pub(crate) fn promoted(program: &Program, refs: &mut RefAllocator) -> (Program, usize) {
    let all: Vec<EditRequest> = variables(program).into_iter().map(promote).collect();
    if let Ok(after) = edited(program, refs, &all) {
        return (after, 0);
    }
    let (mut after, mut stayed) = (program.clone(), 0);
    for edit in all {
        match edited(&after, refs, &[edit]) {
            Ok(next) => after = next,
            Err(codes) => {
                assert_eq!(codes, [code::NO_ZERO]);
                stayed += 1;
            }
        }
    }
    (after, stayed)
}

/// The program, verified, without findings but warnings.
#[track_caller]
pub(crate) fn sound(program: Program, before: &Checked) -> Checked {
    let after = Checked::full(program, NonZeroUsize::MIN);
    let severe = |checked: &Checked| {
        let found = checked.findings().iter().map(|(_, found)| found);
        let found = found.filter(|found| {
            found.class().is_incomplete() || found.code.class().severity() == Severity::Error
        });
        found.map(|found| found.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(severe(&after), severe(before), "{}", print_program(after.program(), Detail::Full));
    after
}

/// How a run ends, and what it printed; nothing where it met a bound, which another program meets elsewhere.
fn ending(checked: &Checked, of: FuncRef, args: &[Value]) -> Option<(String, Vec<u8>)> {
    let limits = Limits { fuel: 200_000, ..Limits::default() };
    let (options, cache) = (RunOptions { limits, ..RunOptions::default() }, Cache::default());
    let result = run(checked, of, args, &options, &cache, u64::MAX, &mut |_| Control::Continue).ok()?;
    let end = match result.outcome {
        Outcome::Returned { values } => format!("{values:?}"),
        Outcome::Trapped {
            fault: Fault::Trap(trap) | Fault::Segment(_, trap) | Fault::InContract(_, trap),
            ..
        } => trap.code().to_owned(),
        Outcome::Trapped { fault, .. } => format!("{fault:?}"),
        Outcome::ContractViolated { message, .. } => message,
        Outcome::ReachedHole { .. } => "hole".to_owned(),
        Outcome::LimitReached { .. } => return None,
        Outcome::NotVerified { .. } | Outcome::Cancelled { .. } => panic!("{:?}", result.outcome),
    };
    Some((end, result.stdout))
}

#[track_caller]
pub(crate) fn alike(before: &Checked, after: &Checked, of: FuncRef, args: &[Value]) -> bool {
    let (Some(was), Some(is)) = (ending(before, of, args), ending(after, of, args)) else { return false };
    let texts = || [before, after].map(|checked| print_program(checked.program(), Detail::Full)).concat();
    assert_eq!(was, is, "{of}({args:?})\n{}", texts());
    true
}

/// Nodes with values outside of contracts, some of them.
fn some_nodes(program: &Program, choices: &mut Choices, percent: u32) -> Vec<NodeRef> {
    let mut found = Vec::new();
    for (_, function) in program.functions() {
        let body = function.body();
        for (of, node) in body.nodes() {
            let gives = outputs(program, function, node).is_some_and(|outputs| !outputs.is_empty());
            let inside = body.chain(node.region()).last() == body.root();
            if gives && inside && choices.chance(percent) {
                found.push(of);
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_programs_keep_their_answers(
        generated in generate::programs(Options { recursion: false, ..Options::default() }),
        mut choices in generate::choices(200),
    ) {
        let mut refs = generated.refs;
        let before = Checked::full(generated.program, NonZeroUsize::MIN);
        let (values, stayed) = promoted(before.program(), &mut refs);
        prop_assert_eq!((stayed, variables(&values).len()), (0, 0));
        let values = sound(values, &before);
        // In several requests, so that variables of values of variables are made, too.
        let (nodes, mut cells) = (some_nodes(values.program(), &mut choices, 30), values.program().clone());
        for some in nodes.chunks(3) {
            let some: Vec<EditRequest> = some.iter().copied().map(demote).collect();
            cells = edited(&cells, &mut refs, &some).expect("each of them has values");
        }
        let cells = sound(cells, &values);
        let (again, stayed) = promoted(cells.program(), &mut refs);
        prop_assert_eq!((stayed, variables(&again).len()), (0, 0));
        let again = sound(again, &values);
        for of in before.program().functions().map(|(of, _)| of).collect::<Vec<FuncRef>>() {
            let Some(args) = arguments(before.program(), of, &mut choices) else { continue };
            for after in [&values, &cells, &again] {
                alike(&before, after, of, &args);
            }
        }
    }
}

/// Writes a function of nothing but jumps, and variables that are written and read among them.
///
/// All that can be left takes one number, so that a switch may go anywhere.
struct Jumps<'c> {
    choices: &'c mut Choices,
    text: String,
    /// Labels around, and whether each is that of a loop.
    labels: Vec<(String, bool)>,
    made: usize,
    budget: usize,
}

impl Jumps<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn value(&mut self) -> String {
        match self.choices.below(8) {
            0..=4 => format!("(var.get {})", ["x", "y", "z"][self.choices.below(3)]),
            5 => "a".to_owned(),
            6 => self.choices.below(5).to_string(),
            _ => {
                let (one, other) = (self.value(), self.value());
                format!("(add.i64 {one}, (mul.i64 {other}, 3))")
            }
        }
    }

    fn condition(&mut self) -> String {
        let value = self.value();
        format!("(eqz.i64 (rem_u.i64 {value}, {}))", 2 + self.choices.below(3))
    }

    /// Somewhere to go: `break L`, `continue L`, `return`.
    fn target(&mut self) -> Option<String> {
        let at = self.choices.below(self.labels.len() + 1);
        let (label, is_loop) = self.labels.get(at).cloned()?;
        Some(if is_loop && self.choices.chance(60) {
            format!("continue {label}")
        } else {
            format!("break {label}")
        })
    }

    fn end(&mut self, yields: bool) {
        let value = self.value();
        let line = match self.choices.below(10) {
            0 => format!("return {value}"),
            1 | 2 => match self.target() {
                Some(target) => format!("{target} ({value})"),
                None => format!("return {value}"),
            },
            3..=5 => {
                let count = 1 + self.choices.below(3);
                let targets: Vec<String> =
                    (0..count).map(|_| self.target().unwrap_or_else(|| "return".to_owned())).collect();
                let index = self.value();
                format!("br_switch ({}) (wrap.i64.i32 (rem_u.i64 {index}, 4)) ({value})", targets.join(", "))
            }
            _ if yields => format!("yield {value}"),
            _ => format!("return {value}"),
        };
        self.line(&line);
    }

    fn region(&mut self, depth: usize) {
        for _ in 0..1 + self.choices.below(4) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        let what = if depth > 6 || self.budget == 0 { self.choices.below(5) } else { self.choices.below(12) };
        match what {
            0..=2 => {
                let (cell, value) = (["x", "y", "z"][self.choices.below(3)], self.value());
                self.line(&format!("var.set {cell}, {value}"));
            }
            3 | 4 => {
                let (condition, value) = (self.condition(), self.value());
                if let Some(target) = self.target() {
                    let (how, label) = target.split_once(' ').unwrap();
                    self.line(&format!("{how}_if {label} {condition} ({value})"));
                }
            }
            5 | 6 => {
                let condition = self.condition();
                self.line(&format!("if {condition} -> (i64) {{"));
                self.inner(depth);
                self.line("} else {");
                self.inner(depth);
                self.line("}");
            }
            7 => {
                let value = self.value();
                self.line(&format!("match (rem_u.i64 {value}, 3) (0, 1, default) -> (i64) {{"));
                for case in ["case 0", "case 1", "default"] {
                    self.line(&format!("{case} {{"));
                    self.inner(depth);
                    self.line("}");
                }
                self.line("}");
            }
            8 | 9 => self.labelled(depth, false),
            _ => self.labelled(depth, true),
        }
    }

    fn inner(&mut self, depth: usize) {
        self.region(depth + 1);
        self.end(true);
    }

    fn labelled(&mut self, depth: usize, is_loop: bool) {
        self.made += 1;
        let (label, cell) = (format!("L{}", self.made), ["x", "y", "z"][self.choices.below(3)]);
        let first = self.value();
        if is_loop {
            self.line(&format!("r{label} = loop {label} (p{label}: i64 = {first}) -> (i64) {{"));
            self.line("var.set left, (sub.i64 left, 1)");
            self.line(&format!("break_if {label} (le_s.i64 left, 0) (p{label})"));
        } else {
            self.line(&format!("r{label} = block {label} -> (i64) {{"));
        }
        self.labels.push((label.clone(), is_loop));
        self.inner(depth);
        self.labels.pop();
        self.line("}");
        if self.choices.chance(40) {
            self.line(&format!("var.set {cell}, r{label}"));
        }
    }
}

proptest! {
    #![proptest_config(config_of(3_000))]

    #[test]
    fn jumps_keep_their_answers(mut choices in generate::choices(400), args in any::<[i8; 3]>()) {
        let text = String::from("module m\npub func f (a: i64) -> (i64) {\n");
        let mut jumps = Jumps { choices: &mut choices, text, labels: Vec::new(), made: 0, budget: 40 };
        for cell in ["x", "y", "z", "left"] {
            jumps.line(&format!("var {cell}: i64"));
        }
        jumps.line("var.set left, 40");
        jumps.region(0);
        jumps.end(false);
        jumps.line("}");
        let mut refs = RefAllocator::starting_at(1);
        let program = parse_program(&jumps.text, &mut refs).map_err(|errors| {
            TestCaseError::fail(format!("{errors:?}\n{}", jumps.text))
        })?;
        let before = Checked::full(program, NonZeroUsize::MIN);
        let of = before.program().functions().next().unwrap().0;
        let mut all = variables(before.program());
        if choices.chance(50) {
            all.reverse();
        }
        let mut after = before.program().clone();
        for one in all {
            after = edited(&after, &mut refs, &[promote(one)]).expect("they are numbers");
            let after = sound(after.clone(), &before);
            for arg in args {
                alike(&before, &after, of, &[Value::Const(Const::I64(arg.into()))]);
            }
        }
        prop_assert!(variables(&after).is_empty());
    }
}

/// The `; run:` lines of the repository hold with all variables promoted, and with all values demoted.
#[test]
fn programs_that_are_text_keep_their_answers() {
    let (mut held, mut stayed) = (0, 0);
    for folder in ["examples", "tests/filetests/lang", "tests/filetests/ops"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let mut refs = RefAllocator::starting_at(1);
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let Ok(program) = parse_program(&text, &mut refs) else { continue };
            let before = Checked::full(program, NonZeroUsize::MIN);
            if before.findings().iter().any(|(_, found)| found.code.class().severity() == Severity::Error) {
                continue;
            }
            let (values, left) = promoted(before.program(), &mut refs);
            stayed += left;
            let values = sound(values, &before);
            let mut cells = before.program().clone();
            for node in some_nodes(&cells, &mut Choices::seeded(1), 100) {
                cells = edited(&cells, &mut refs, &[demote(node)]).expect("each of them has values");
            }
            let cells = sound(cells, &before);
            for (_, function) in before.program().functions() {
                let head = function.head();
                for case in head.runs.iter().filter_map(|line| case::parse(line).ok()) {
                    // Steps are others, and what has to be held at a time.
                    if case.settings.iter().any(|(name, _)| name != "stdin")
                        || matches!(case.end, Some(End::Exceeds(_)))
                    {
                        continue;
                    }
                    for after in [&values, &cells] {
                        if let Err((expected, found)) =
                            case::check(after, &Cache::new(), Some(head.module), &case)
                        {
                            panic!("{}: {}: {expected}, {found}", file.display(), head.name);
                        }
                        held += 1;
                    }
                }
            }
        }
    }
    println!("{held} runs, {stayed} variables stayed");
    assert!(held > 2_000, "{held} runs");
}
