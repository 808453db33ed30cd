//! Test cases: how they stand is what running them says, and costs a run only where something has changed.

use std::path::Path;
use std::sync::Arc;

use lmlang_engine::backup::{LoadRequest, load};
use lmlang_engine::{
    BisectError, Bounds, Call, Case, CaseStatus, Distance, Effort, Engine, Error, NewCase, OpenProgram,
    Proposal, Revision, RunRequest, Selector, Standing, Stored, Way,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{EditRequest, Remove, Rename};
use lmlang_interp::{Environment, Outcome, TraceLevel};
use lmlang_ir::text::print_value;
use lmlang_ir::{Const, FuncRef, Value};
use lmlang_store::backup::{BackupFile, Fate};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use lmlang_testkit::Choices;

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module m

type Shape#t50 = enum { dot#d51, box#d52(i64) }

func rate#f2 () -> (i64) pure {
  return 19#n3
}

pub func tax#f4 (net: i64) -> (i64) pure {
  r = call rate()
  p = mul.i64 net, r
  return (div_s.i64 p, 100)
}

pub func other#f5 (a: i64) -> (i64) pure {
  return (add.i64 a, 1#n6)
}

pub func side#f7 (of: Shape) -> (i64) pure {
  s = match of (dot, box) -> (i64) {
    case dot { yield 0 }
    case box (n) { yield n }
  }
  return s
}
";

fn int(number: i64) -> Value {
    Value::Const(Const::I64(number))
}

fn function(name: &str) -> FuncRef {
    name.parse().unwrap()
}

fn case(of: &str, name: &str, args: Vec<Value>, expected: Option<Vec<Value>>) -> NewCase {
    NewCase {
        function: function(of),
        name: name.to_owned(),
        args,
        expected,
        bounds: Bounds::default(),
        environment: Environment::default(),
    }
}

async fn head(open: &OpenProgram) -> Arc<Revision> {
    Arc::clone(&open.timeline.head().main.revision)
}

async fn add(fixture: &Fixture, open: &OpenProgram, new: NewCase) -> Arc<Case> {
    fixture.engine.add_case(open, &head(open).await, new, &call()).await.unwrap()
}

async fn stands(engine: &Engine, open: &OpenProgram, at: &str, case: &Arc<Case>) -> Standing {
    let revision = engine.revision(open, Some(at)).await.unwrap();
    let how = (Effort::Runs(10), Stored::Yes);
    engine.standings(open, &revision, &[Arc::clone(case)], how).await.unwrap().remove(0)
}

async fn propose(fixture: &Fixture, edits: Vec<EditRequest>) {
    let proposal = Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: None,
        edits,
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    match fixture.engine.propose(proposal, &call()).await.unwrap() {
        lmlang_engine::Outcome::Applied(_) => {}
        other => panic!("{other:?}"),
    }
}

async fn rate(fixture: &Fixture, percent: i64) {
    fixture.replace("shop", "f2", &format!("func rate#f2 () -> (i64) pure {{\n  return {percent}\n}}")).await;
}

async fn other(fixture: &Fixture, more: i64) {
    let text = format!("pub func other#f5 (a: i64) -> (i64) pure {{\n  return (add.i64 a, {more}#n6)\n}}");
    fixture.replace("shop", "f5", &text).await;
}

#[tokio::test]
async fn a_revision_that_leaves_what_a_function_reaches_alone_costs_no_run() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    let nineteen = add(&fixture, &open, case("f4", "nineteen", vec![int(100)], Some(vec![int(19)]))).await;
    engine.cases_at_rest().await;
    assert_eq!(engine.case_runs(), 1, "it was run when it was added");
    for more in 2..6 {
        other(&fixture, more).await;
        assert_eq!(stands(engine, &open, "main", &nineteen).await.status, CaseStatus::Green);
    }
    engine.cases_at_rest().await;
    assert_eq!(engine.case_runs(), 1);
    // What it calls changes: it is run in the background, once, and whoever asks finds it known.
    rate(&fixture, 7).await;
    engine.cases_at_rest().await;
    assert_eq!(engine.case_runs(), 2);
    let standing = stands(engine, &open, "main", &nineteen).await;
    assert_eq!((standing.status, standing.fresh), (CaseStatus::Red, false));
    assert_eq!(standing.why.unwrap(), "expected i64:19, returned i64:7");
    assert_eq!(engine.case_runs(), 2);
    // What held until then is known up to the revision before.
    let green = engine.last_green(&open, 6, &[nineteen.id]).await.unwrap();
    assert_eq!(green.get(&nineteen.id), Some(&5));
    assert_eq!(engine.last_green(&open, 3, &[nineteen.id]).await.unwrap().get(&nineteen.id), None);
    fixture.travel(&open, Way::Undo(Distance::Steps(1))).await;
    engine.cases_at_rest().await;
    assert_eq!(stands(engine, &open, "main", &nineteen).await.status, CaseStatus::Green);
    assert_eq!(engine.case_runs(), 2, "that content was there before");
    // After a restart too.
    let id = nineteen.id;
    let fixture = fixture.reopened(&[]).await;
    let open = fixture.find("shop").await;
    let found = fixture.engine.case(&open, id).await.unwrap().unwrap();
    assert_eq!(stands(&fixture.engine, &open, "main", &found).await.status, CaseStatus::Green);
    assert_eq!(stands(&fixture.engine, &open, "r6", &found).await.status, CaseStatus::Red);
    assert_eq!(fixture.engine.case_runs(), 0);
    fixture.engine.close().await;
}

#[tokio::test]
async fn cases_outlive_names_and_tell_what_does_not_fit() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let program = head(&open).await.checked.program().clone();
    let ty = program.function(function("f7")).unwrap().head().params[0].ty.clone();
    let boxed = lmlang_ir::text::parse_value(&program, &ty, "box(4)").unwrap();
    let boxed = add(&fixture, &open, case("f7", "boxed", vec![boxed], Some(vec![int(4)]))).await;
    let engine = &fixture.engine;
    assert_eq!(stands(engine, &open, "main", &boxed).await.status, CaseStatus::Green);
    let rename = |of: &str, name: &str| Rename { of: of.to_owned(), name: name.to_owned() };
    propose(&fixture, vec![EditRequest::RenameType(rename("t50", "Form"))]).await;
    propose(&fixture, vec![EditRequest::RenameFunction(rename("f7", "length"))]).await;
    assert_eq!(stands(engine, &open, "main", &boxed).await.status, CaseStatus::Green);
    // The function takes one more value.
    let text = "pub func other#f5 (a: i64, b: i64) -> (i64) pure {\n  return (add.i64 a, b)\n}";
    let one = add(&fixture, &open, case("f5", "one", vec![int(1)], None)).await;
    assert_eq!(stands(engine, &open, "main", &one).await.status, CaseStatus::Green);
    fixture.replace("shop", "f5", text).await;
    let standing = stands(engine, &open, "main", &one).await;
    assert_eq!((standing.status, standing.unfit), (CaseStatus::Stale, true));
    assert_eq!(standing.why.unwrap(), "`m::other` takes 2 values here, the case has 1");
    let remove = Remove { of: "f5".to_owned(), cascade: false };
    propose(&fixture, vec![EditRequest::RemoveFunction(remove)]).await;
    let standing = stands(engine, &open, "main", &one).await;
    assert_eq!(standing.why.unwrap(), "the function `f5` is not there");
    fixture.engine.close().await;
}

#[tokio::test]
async fn what_is_added_is_checked_and_done_once() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let (engine, at) = (&fixture.engine, head(&open).await);
    let refused = async |new: NewCase| match engine.add_case(&open, &at, new, &call()).await {
        Err(Error::Argument { place, message }) => format!("{place}: {message}"),
        other => panic!("{other:?}"),
    };
    let text = Value::Const(Const::String("x".into()));
    assert_eq!(refused(case("f4", "a", vec![], None)).await, "input.args: `args` must have 1 value, found 0");
    assert_eq!(
        refused(case("f4", "a", vec![text.clone()], None)).await,
        "input.args[0]: `args[0]` is no `i64`"
    );
    let wrong = case("f4", "a", vec![int(1)], Some(vec![text]));
    assert_eq!(refused(wrong).await, "input.expected[0]: `expected[0]` is no `i64`");
    assert_eq!(
        refused(case("f4", " ", vec![int(1)], None)).await,
        "input.name: `name` must be one line that is not empty"
    );
    let keyed = |key: &str, what: &str| {
        let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
        Call::by(actor).keyed(Some(key), what.as_bytes())
    };
    let new = case("f4", "a", vec![int(1)], None);
    let first = engine.add_case(&open, &at, new.clone(), &keyed("k", "add")).await.unwrap();
    let again = engine.add_case(&open, &at, new.clone(), &keyed("k", "add")).await.unwrap();
    assert_eq!(first.id, again.id);
    let mismatch = engine.add_case(&open, &at, new.clone(), &keyed("k", "else")).await;
    assert!(matches!(mismatch, Err(Error::IdempotencyMismatch)), "{mismatch:?}");
    let taken = engine.add_case(&open, &at, new.clone(), &call()).await;
    assert!(matches!(taken, Err(Error::NameTaken { what: "case", .. })), "{taken:?}");
    // Another process sees it, and what it does is seen here.
    if !engine.store().is_alone() {
        let replica = fixture.replica().await;
        let there = replica.find(&Selector::Name("shop".to_owned())).await.unwrap();
        assert_eq!(replica.count_cases(&there, None).await.unwrap(), 1);
        assert_eq!(stands(&replica, &there, "main", &first).await.status, CaseStatus::Green);
        replica.close().await;
    }
    let remove = keyed("r", "remove");
    for _ in 0..2 {
        // At once, too.
        let again = || engine.remove_case(&open, first.id, &remove);
        let (one, two) = tokio::join!(again(), again());
        assert!(one.unwrap() && two.unwrap());
    }
    let gone = engine.remove_case(&open, first.id, &call()).await;
    assert!(matches!(gone, Err(Error::NotFound { retired: true, .. })), "{gone:?}");
    assert_eq!(engine.count_cases(&open, None).await.unwrap(), 0);
    let other = engine.add_case(&open, &at, new, &call()).await.unwrap();
    assert_ne!(other.id, first.id, "its name is free");
    fixture.engine.close().await;
}

/// The law: what is known of a case at a revision is what running it there says.
#[tokio::test]
async fn what_is_known_is_what_a_fresh_run_says() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    let mut cases = Vec::new();
    for (index, net) in [0, 100, 250, -7].into_iter().enumerate() {
        let expected = (index % 2 == 0).then(|| vec![int(net * 19 / 100)]);
        cases.push(add(&fixture, &open, case("f4", &format!("tax {net}"), vec![int(net)], expected)).await);
        let expected = Some(vec![int(net + 2)]);
        cases.push(add(&fixture, &open, case("f5", &format!("other {net}"), vec![int(net)], expected)).await);
    }
    let mut choices = Choices::seeded(7);
    for _ in 0..40 {
        match choices.number() % 6 {
            0 => rate(&fixture, i64::from(choices.number() % 3) + 18).await,
            1 => other(&fixture, i64::from(choices.number() % 3)).await,
            2 => {
                // Without its end.
                fixture.replace("shop", "f2", "func rate#f2 () -> (i64) pure {\n  a = const.i64 1\n}").await;
            }
            3 => {
                fixture
                    .replace("shop", "f2", "func rate#f2 () -> (i64) pure {\n  return (div_s.i64 1, 0)\n}")
                    .await;
            }
            4 => {
                fixture.travel(&open, Way::Undo(Distance::Steps(1))).await;
            }
            _ => {
                let rename = Rename { of: "f2".to_owned(), name: format!("rate{}", choices.number() % 9) };
                propose(&fixture, vec![EditRequest::RenameFunction(rename)]).await;
            }
        }
        if choices.number().is_multiple_of(3) {
            let at = 1 + u64::from(choices.number()) % open.timeline.head().last;
            check(engine, &open, at, &cases).await;
        }
    }
    engine.cases_at_rest().await;
    for at in 1..=open.timeline.head().last {
        check(engine, &open, at, &cases).await;
    }
    assert!(engine.case_runs() < 200, "{} runs were made", engine.case_runs());
    fixture.engine.close().await;
}

async fn check(engine: &Engine, open: &OpenProgram, at: u64, cases: &[Arc<Case>]) {
    let revision = engine.state(open, at).await.unwrap().unwrap();
    let program = revision.checked.program();
    let how = (Effort::Runs(100), Stored::Yes);
    let standings = engine.standings(open, &revision, cases, how).await.unwrap();
    for (case, standing) in cases.iter().zip(standings) {
        let read =
            |text: &String| lmlang_ir::text::parse_value(program, &lmlang_ir::Type::I64, text).unwrap();
        let request = RunRequest {
            function: case.function,
            args: case.args.iter().map(read).collect(),
            bounds: case.bounds,
            environment: Environment::default(),
            trace: TraceLevel::None,
            tier: None,
        };
        let ran = engine.simulate(open, &revision, request).await.unwrap().report().unwrap();
        let expected: Option<Vec<Value>> =
            case.expected.as_ref().map(|expected| expected.iter().map(read).collect());
        let (holds, returned) = match &ran.result.outcome {
            Outcome::Returned { values } => {
                let shown: Vec<String> = values.iter().map(|value| print_value(program, value)).collect();
                (expected.is_none_or(|expected| expected == *values), Some(shown))
            }
            _ => (false, None),
        };
        let status = if holds { CaseStatus::Green } else { CaseStatus::Red };
        assert_eq!(standing.status, status, "`{}` at r{at}: {standing:?}", case.name);
        let run = standing.run.unwrap();
        let results = program.function(case.function).unwrap().head().results.clone();
        assert_eq!(run.shown(program, &results), returned, "`{}` at r{at}", case.name);
        assert_eq!(run.steps, ran.result.steps, "`{}` at r{at}", case.name);
    }
}

#[tokio::test]
async fn a_broken_case_is_found_in_few_runs() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    // Revisions 2 to 33: each changes what the case reaches; r20 breaks it.
    for number in 2..=33_i64 {
        let rate = if number < 20 { 19 } else { 19 + number };
        let text = format!(
            "func rate#f2 () -> (i64) pure {{\n  a = const.i64 {number}\n  b = sub.i64 a, {number}\n  return (add.i64 b, {rate})\n}}"
        );
        fixture.replace("shop", "f2", &text).await;
    }
    let nineteen = add(&fixture, &open, case("f4", "nineteen", vec![int(100)], Some(vec![int(19)]))).await;
    engine.cases_at_rest().await;
    let log2 = |revisions: u64| u64::from(revisions.next_power_of_two().trailing_zeros());
    for (good, bad) in [(1, 33), (3, 21), (19, 20), (18, 33)] {
        let before = engine.case_runs();
        let (from, to) = (format!("r{good}"), format!("r{bad}"));
        let found = engine.bisect(&open, &nineteen, (&from, &to), &call()).await.unwrap();
        let fresh = engine.case_runs() - before;
        assert_eq!((found.first.number, u64::from(found.fresh_runs)), (20, fresh), "{from} to {to}");
        assert!(fresh <= log2(bad - good) + 2, "{fresh} runs from {from} to {to}");
        assert_eq!(found.message, "`nineteen` does not hold from r20 on: expected i64:19, returned i64:39");
        let again = engine.bisect(&open, &nineteen, (&from, &to), &call()).await.unwrap();
        assert_eq!((again.first.number, again.fresh_runs), (20, 0), "it is known");
    }
    let refused =
        async |good: &str, bad: &str| match engine.bisect(&open, &nineteen, (good, bad), &call()).await {
            Err(Error::Bisect(error)) => error,
            other => panic!("{other:?}"),
        };
    assert!(matches!(refused("r20", "r33").await, BisectError::NotGreen { revision: 20, .. }));
    assert!(matches!(refused("r2", "r19").await, BisectError::NotRed { revision: 19 }));
    assert!(matches!(refused("r33", "r20").await, BisectError::NotBefore { .. }));
    engine.create_branch(&open, "side", Some("r5"), &call()).await.unwrap();
    fixture.replace_on("side", "shop", "f2", "func rate#f2 () -> (i64) pure {\n  return 1\n}").await;
    let found = engine.bisect(&open, &nineteen, ("r3", "side"), &call()).await.unwrap();
    assert_eq!(found.first.number, 35, "the way leads over the branch");
    assert!(matches!(refused("r7", "side").await, BisectError::NotBefore { .. }));
    fixture.engine.close().await;
}

/// A function that was removed, and one that came later, are not green.
#[tokio::test]
async fn where_the_function_is_not_there_a_case_does_not_hold() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let one = add(&fixture, &open, case("f5", "one", vec![int(1)], Some(vec![int(2)]))).await;
    rate(&fixture, 20).await;
    let remove = Remove { of: "f5".to_owned(), cascade: false };
    propose(&fixture, vec![EditRequest::RemoveFunction(remove)]).await;
    rate(&fixture, 21).await;
    let found = fixture.engine.bisect(&open, &one, ("r1", "main"), &call()).await.unwrap();
    assert_eq!(found.first.number, 3);
    assert_eq!(found.message, "`one` does not hold from r3 on: the function `f5` is not there");
    fixture.engine.close().await;
}

const LONG: &str = "module m

func step#f2 (i: i64) -> (i64) pure {
  late#n30 = ge_u.i64 i, 100000#n31
  r#n32 = if late -> (i64) #g33 {
    yield#n34 i
  } else #g35 {
    odd#n36 = xor.i64 i, 1#n3
    yield#n37 odd
  }
  return#n38 r
}

pub func walk#f4 (n: i64) -> (i64) pure {
  s = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {
    break_if L (ge_u.i64 i, n) (acc)
    v = call step(i)
    continue L (add.i64 i, 1) (add.i64 acc, v)
  }
  return s
}
";

#[tokio::test]
async fn runs_part_at_the_first_step_that_differs() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", LONG).await;
    let engine = &fixture.engine;
    // r2 changes something else; r3 does something else from 100,000 rounds on.
    let text = "pub func other () -> (i64) pure {\n  return 1\n}";
    let add = lmlang_history::request::AddText { module: Some("m".to_owned()), text: text.to_owned() };
    propose(&fixture, vec![EditRequest::AddText(add)]).await;
    let late = "    m = mul.i64 i, 3\n    yield#n34 m";
    let step = LONG.lines().skip(2).take(10).collect::<Vec<_>>().join("\n");
    fixture.replace("shop", "f2", &step.replace("    yield#n34 i", late)).await;
    let request = |n: i64| RunRequest {
        function: function("f4"),
        args: vec![int(n)],
        bounds: Bounds {
            fuel: Some(100_000_000),
            timeout: Some(std::time::Duration::from_secs(60)),
            ..Bounds::default()
        },
        environment: Environment::default(),
        trace: TraceLevel::None,
        tier: None,
    };
    let compare = async |from: &str, to: &str, n: i64| {
        let names = engine.compared(&open, (from, to), &call()).await.unwrap();
        engine.compare_runs(&open, &names, [request(n), request(n)]).await.unwrap()
    };
    let same = compare("r1", "r2", 30_000).await;
    assert!(same.is_same());
    assert_eq!(same.same_steps, same.reports[0].result.steps);
    // Up to there they are the same, step by step.
    let differs = compare("r2", "r3", 100_100).await;
    let [before, after] = differs.steps.clone().map(|step| step.unwrap());
    assert_eq!((before.seq, before.function), (after.seq, after.function));
    assert_ne!(before.node, after.node, "there is one more");
    assert!(after.seq > 1_000_000 && differs.same_steps == after.seq, "{after:?}");
    assert_eq!(differs.caused_by, Some(3));
    let back = compare("r3", "r2", 100_100).await;
    assert_eq!((back.same_steps, back.caused_by), (differs.same_steps, Some(3)));
    assert!(compare("r2", "r3", 100_000).await.is_same(), "nothing tells them apart");
    fixture.engine.close().await;
}

#[tokio::test]
async fn cases_come_along_in_a_backup() {
    let from = Fixture::new(OFTEN).await;
    let open = from.create("shop", TEXT).await;
    let kept = add(&from, &open, case("f4", "kept", vec![int(100)], Some(vec![int(19)]))).await;
    let removed = add(&from, &open, case("f5", "removed", vec![int(1)], None)).await;
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    let load = async |path: &Path| {
        let store = Store::open(Options::new(Location::parse(&db.to_string()).unwrap())).await.unwrap();
        let file = Arc::new(BackupFile::open(path).unwrap());
        load(store, file, &LoadRequest::default(), |_| {}).await.unwrap().programs()[0].fate
    };
    let write = async || {
        let mut backup = from.engine.backup(&[], false).await.unwrap();
        let mut bytes = Vec::new();
        while let Some(more) = backup.next().await.unwrap() {
            bytes.extend(more);
        }
        std::fs::write(&path, bytes).unwrap();
    };
    write().await;
    assert_eq!(load(&path).await, Fate::Made);
    assert_eq!(load(&path).await, Fate::Kept);
    from.engine.remove_case(&open, removed.id, &call()).await.unwrap();
    write().await;
    assert_eq!(load(&path).await, Fate::Continued, "a removal is something new");
    let to = Fixture::over(&db, OFTEN).await;
    let there = to.find("shop").await;
    let cases = to.engine.cases(&there, None, None, 10).await.unwrap().cases;
    assert_eq!(
        cases.iter().map(|case| (case.id, case.name.as_str())).collect::<Vec<_>>(),
        [(kept.id, "kept")]
    );
    assert_eq!(stands(&to.engine, &there, "main", &cases[0]).await.status, CaseStatus::Green);
    assert_eq!(to.engine.doctor(|_| {}).await.unwrap().findings().count(), 0);
    let to = to
        .reopened(&[r#"UPDATE "cases" SET "payload" = substr("payload", 2) WHERE "removed" IS NULL"#])
        .await;
    let found: Vec<String> = to.engine.doctor(|_| {}).await.unwrap().findings().collect();
    assert_eq!(found, ["program `shop`: the case `kept` cannot be read"]);
    to.engine.close().await;
    from.engine.close().await;
}

/// What runs in the background gives way to whoever waits.
#[tokio::test]
async fn a_long_case_delays_nobody_and_ends_with_the_engine() {
    let fixture = Fixture::new(OFTEN).await;
    let text = "module m\n\npub func forever#f2 () -> (i64) {\n  s = loop L (i: i64 = 0) -> (i64) {\n    continue L (add.i64 i, 1)\n  }\n  return s\n}\n\npub func short#f9 () -> (i64) pure {\n  return 5\n}\n";
    let open = fixture.create("shop", text).await;
    let mut endless = case("f2", "endless", vec![], None);
    endless.bounds = Bounds {
        fuel: Some(u64::MAX),
        timeout: Some(std::time::Duration::from_secs(3_600)),
        ..Bounds::default()
    };
    add(&fixture, &open, endless).await;
    let at = head(&open).await;
    for _ in 0..20 {
        let request = RunRequest {
            function: function("f9"),
            args: vec![],
            bounds: Bounds::default(),
            environment: Environment::default(),
            trace: TraceLevel::None,
            tier: None,
        };
        let ran = fixture.engine.simulate(&open, &at, request).await.unwrap();
        assert!(matches!(ran.report().unwrap().result.outcome, Outcome::Returned { .. }));
    }
    let closed = tokio::time::timeout(std::time::Duration::from_secs(30), fixture.engine.close());
    closed.await.expect("it stops when it is told");
}
