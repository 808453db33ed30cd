//! Planted mistakes in the example programs: bisecting names the revision, and comparing runs the node.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lmlang_engine::{
    Bounds, Case, CaseStatus, Effort, Engine, NewCase, OpenProgram, Outcome, Proposal, RunRequest, Selector,
    Stored,
};
use lmlang_history::request::{EditRequest, ModifyNode, SetDoc};
use lmlang_interp::{Environment, TraceLevel};
use lmlang_ir::text::{parse_value, print_op};
use lmlang_ir::{Attr, Const, FuncRef, NodeRef, Op, Opcode, Program, Value};
use lmlang_testkit::Choices;
use lmlang_testkit::filetest::case::{self, End};

use crate::fixture::{Fixture, OFTEN, call};

/// Programs, and revisions of each; those of a long run.
const FEW: (usize, u64) = (4, 60);
const MANY: (usize, u64) = (20, 1_000);

/// A call in an example, with what it returns.
struct Known {
    function: FuncRef,
    args: Vec<Value>,
    expected: Vec<Value>,
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "lm"));
    files.sort_unstable();
    files
}

/// The calls of a program that are written as lines of its text.
fn known(program: &Program) -> Vec<Known> {
    let mut found = Vec::new();
    for (function, of) in program.functions() {
        for line in of.head().runs.iter().filter_map(|line| case::parse(line).ok()) {
            let Some(End::Returns(values)) = &line.end else { continue };
            let read = |texts: &[String], types: Vec<&lmlang_ir::Type>| -> Option<Vec<Value>> {
                let pairs = types.into_iter().zip(texts);
                let values = pairs.map(|(ty, text)| parse_value(program, ty, text).ok());
                values.collect::<Option<Vec<Value>>>().filter(|values| values.len() == texts.len())
            };
            let args = read(&line.arguments, of.head().params.iter().map(|param| &param.ty).collect());
            let expected = read(values, of.head().results.iter().collect());
            if let (Some(args), Some(expected)) = (args, expected) {
                found.push(Known { function, args, expected });
            }
        }
    }
    found
}

/// Constants of the program, each with one that is one more.
fn constants(program: &Program) -> Vec<(NodeRef, String)> {
    let mut found = Vec::new();
    for (_, function) in program.functions() {
        for (node, of) in function.body().nodes() {
            let more = match of.op().attr() {
                Attr::Const(Const::I32(value)) => Const::I32(value.wrapping_add(1)),
                Attr::Const(Const::I64(value)) => Const::I64(value.wrapping_add(1)),
                _ => continue,
            };
            let op = Op::new(Opcode::Const, Attr::Const(more)).expect("a constant");
            found.push((node, print_op(&op)));
        }
    }
    found
}

async fn propose(engine: &Engine, name: &str, edit: EditRequest) -> u64 {
    let proposal = Proposal {
        program: Selector::Name(name.to_owned()),
        branch: "main".to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    match engine.propose(proposal, &call()).await.expect("it is answered") {
        Outcome::Applied(applied) => applied.after.entry.number,
        other => panic!("{other:?}"),
    }
}

async fn status(engine: &Engine, open: &OpenProgram, case: &Arc<Case>) -> CaseStatus {
    let revision = engine.revision(open, None).await.expect("there is a head");
    let how = (Effort::Runs(1), Stored::Yes);
    engine.standings(open, &revision, &[Arc::clone(case)], how).await.expect("it runs").remove(0).status
}

/// Changes what says something about a function, and nothing that it does.
async fn fill(engine: &Engine, name: &str, function: FuncRef, revisions: u64) {
    for at in 0..revisions {
        let doc = Some(format!("Note {at}."));
        propose(engine, name, EditRequest::SetDoc(SetDoc { of: function.to_string(), doc })).await;
    }
}

async fn plant(fixture: &Fixture, file: &Path, revisions: u64, choices: &mut Choices) -> bool {
    let engine = &fixture.engine;
    let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).expect("it is text");
    let open = fixture.create(&name, &text).await;
    let program = open.timeline.head().main.revision.checked.program().clone();
    let calls = known(&program);
    let Some(chosen) = choices.pick(&calls) else { return false };
    let new = NewCase {
        function: chosen.function,
        name: "known".to_owned(),
        args: chosen.args.clone(),
        expected: Some(chosen.expected.clone()),
        bounds: Bounds::default(),
        environment: Environment::default(),
    };
    let revision = open.timeline.head().main.revision.clone();
    let case = engine.add_case(&open, &revision, new, &call()).await.expect("it fits");
    assert_eq!(status(engine, &open, &case).await, CaseStatus::Green, "{name}");
    let before = 1 + choices.below(revisions as usize - 2) as u64;
    fill(engine, &name, chosen.function, before).await;
    // The first constant, from a place that chance chooses, that the case notices.
    let constants = constants(&program);
    let start = choices.below(constants.len().max(1));
    let mut planted = None;
    for (node, op) in constants.iter().cycle().skip(start).take(constants.len().min(40)) {
        let edit = ModifyNode { of: node.to_string(), op: op.clone() };
        let number = propose(engine, &name, EditRequest::ModifyNode(edit)).await;
        if status(engine, &open, &case).await == CaseStatus::Red {
            planted = Some((number, *node));
            break;
        }
        let undo = lmlang_engine::Way::Undo(lmlang_engine::Distance::Steps(1));
        assert!(fixture.travel(&open, undo).await);
    }
    let Some((number, node)) = planted else { return false };
    fill(engine, &name, chosen.function, revisions - before).await;
    let count = engine.revision(&open, None).await.expect("there is a head").entry.number;
    let found = engine.bisect(&open, &case, ("r1", "main"), &call()).await.expect("it is found");
    assert_eq!(found.first.number, number, "{name}");
    let most = 64 - (count - 1).leading_zeros() + 2;
    assert!(found.fresh_runs <= most, "{name}: {} of {most} runs", found.fresh_runs);
    let ends = [format!("r{}", number - 1), "main".to_owned()];
    let revisions = engine.compared(&open, (&ends[0], &ends[1]), &call()).await.expect("they are there");
    let request = || RunRequest {
        function: chosen.function,
        args: chosen.args.clone(),
        bounds: Bounds::default(),
        environment: Environment::default(),
        trace: TraceLevel::Nodes,
        tier: None,
    };
    let compared =
        engine.compare_runs(&open, &revisions, [request(), request()]).await.expect("they can be compared");
    let parted = compared.steps[1].as_ref().or(compared.steps[0].as_ref()).map(|step| step.node);
    assert_eq!((parted, compared.caused_by), (Some(node), Some(number)), "{name}");
    true
}

#[tokio::test]
async fn planted_mistakes_are_named() {
    let (programs, revisions) = if std::env::var_os("LMLANG_LONG").is_some() { MANY } else { FEW };
    let (fixture, mut choices, mut found) = (Fixture::new(OFTEN).await, Choices::seeded(7), 0);
    for file in examples() {
        if found < programs && plant(&fixture, &file, revisions, &mut choices).await {
            found += 1;
        }
    }
    println!("{found} planted mistakes in {revisions} revisions each");
    assert!(found * 4 >= programs * 3, "only {found} were planted");
}
