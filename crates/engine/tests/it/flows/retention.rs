//! Runs that ended longer ago than they are kept.

use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{
    AnswerOutcome, Call, Clock, Content, Creation, Engine, Error, Limits, NewProgramRequest, RunCursor,
    RunEventKind, RunFilter, RunPlace, RunStatus, RunsOf, SnapshotPolicy, StartRun, StartSession, Turn,
};
use lmlang_history::log::Origin;
use lmlang_store::{
    BeginError, JournalAppend, JournalError, Location, NewRun, Options, Removed, Store, Timestamp,
};
use lmlang_testdb::TestDb;
use serde_json::json;
use uuid::Uuid;

use super::code::{Calls, all};
use super::{answer, open_questions, start, state, until_status};
use crate::fixture::call;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// An engine that keeps runs for thirty days and removes them when it is told to.
struct Kept {
    db: TestDb,
    clock: Clock,
    engine: Engine,
}

impl Kept {
    async fn new() -> Kept {
        let (db, clock) = (TestDb::new().await, Clock::default());
        let engine = open(&db, &clock).await;
        engine.know_flows(all(&Arc::default()));
        Kept { db, clock, engine }
    }

    fn day(&self, day: u32) {
        self.clock.set_ahead(i64::try_from((DAY * day).as_micros()).expect("small"));
    }

    async fn remove(&self) -> Removed {
        self.engine.remove_old_runs().await.expect("it can look")
    }

    /// Looks until nothing is removed any more; answers what was.
    async fn remove_all(&self) -> Removed {
        let mut sum = Removed::default();
        loop {
            let removed = self.remove().await;
            if removed == Removed::default() {
                return sum;
            }
            add(&mut sum, removed);
        }
    }

    /// How many rows there are of runs, entries, questions and sessions.
    async fn rows(&self) -> [i64; 4] {
        let mut rows = [0; 4];
        for (count, table) in rows.iter_mut().zip(["runs", "journal", "interrupts", "sessions"]) {
            *count = self.db.number(&format!(r#"SELECT COUNT(*) FROM "{table}""#)).await;
        }
        rows
    }

    async fn is_gone(&self, run: Uuid) -> bool {
        match self.engine.run_info(run).await {
            Ok(_) => false,
            Err(Error::NotFound { what: "run", .. }) => true,
            Err(error) => panic!("{error}"),
        }
    }

    /// Which of some runs are gone.
    async fn gone<const N: usize>(&self, runs: [Uuid; N]) -> [bool; N] {
        let mut gone = [false; N];
        for (gone, run) in gone.iter_mut().zip(runs) {
            *gone = self.is_gone(run).await;
        }
        gone
    }

    async fn session(&self) -> Uuid {
        let session = StartSession { workflow: "shaky".to_owned(), title: None, deadline: None };
        self.engine.start_session(&session, &call()).await.expect("it begins").id
    }

    async fn start_in(&self, session: Uuid, how: &str) -> Result<Uuid, Error> {
        let input = json!({ "how": how });
        let start = StartRun { flow: "shaky".to_owned(), session: Some(session), input, deadline: None };
        self.engine.start_run(&start, &call()).await.map(|run| run.id)
    }

    /// A run in a session that has ended.
    async fn ended_in(&self, session: Uuid) -> Uuid {
        let run = self.start_in(session, "well").await.expect("it begins");
        until_status(&self.engine, run, RunStatus::Completed).await;
        run
    }

    /// A run in a session of its own that has ended.
    async fn ended(&self) -> Uuid {
        let run = start(&self.engine, "shaky", json!({ "how": "well" })).await.id;
        until_status(&self.engine, run, RunStatus::Completed).await;
        run
    }

    /// A run that waits for an answer.
    async fn waiting(&self) -> Uuid {
        let run = start(&self.engine, "long", json!({})).await.id;
        until_status(&self.engine, run, RunStatus::Waiting).await;
        run
    }

    /// A run that has waited for eight others, of which each has asked eight times.
    async fn tree(&self) -> Uuid {
        let run = start(&self.engine, "outer", json!({})).await.id;
        let over = async {
            while self.engine.run_info(run).await.expect("it is there").ended.is_none() {
                for of in open_questions(&self.engine).await {
                    answer(&self.engine, &of, json!({ "text": "1" })).await.expect("it is taken");
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), over).await.expect("it comes to its end");
        run
    }

    /// The runs that a run has waited for.
    async fn children(&self, run: Uuid) -> Vec<Uuid> {
        let children = self.engine.store().child_runs(run).await.expect("listed");
        children.into_iter().map(|child| child.id).collect()
    }

    /// Closes the engine, changes the database with SQL, and opens it again.
    async fn reopened(self, sql: &str) -> Kept {
        self.engine.close().await;
        self.db.execute(sql).await;
        let engine = open(&self.db, &self.clock).await;
        engine.know_flows(all(&Arc::default()));
        Kept { engine, ..self }
    }
}

async fn open(db: &TestDb, clock: &Clock) -> Engine {
    let location = Location::parse(&db.to_string()).expect("a place");
    let store = Store::open(Options::new(location)).await.expect("it opens");
    let limits = Limits { run_retention: Some(DAY * 30), ..Limits::default() };
    Engine::with_clock(store, limits, SnapshotPolicy::default(), clock.clone())
}

fn add(sum: &mut Removed, removed: Removed) {
    sum.runs += removed.runs;
    sum.entries += removed.entries;
    sum.interrupts += removed.interrupts;
    sum.sessions += removed.sessions;
}

#[tokio::test]
async fn a_run_goes_with_all_that_it_has_when_it_is_old() {
    let kept = Kept::new().await;
    let engine = &kept.engine;
    let old = [kept.ended().await, kept.waiting().await];
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "yes" })).await.expect("it is taken");
    until_status(engine, old[1], RunStatus::Completed).await;
    let waits = kept.waiting().await;
    let before = kept.rows().await;
    kept.day(20);
    let young = kept.ended().await;
    let all = kept.rows().await;
    assert_eq!(kept.remove().await, Removed::default(), "nothing is old yet");
    kept.day(40);
    let removed = kept.remove().await;
    assert_eq!((removed.runs, removed.interrupts, removed.sessions), (2, 1, 2));
    assert_eq!(kept.remove().await, Removed::default());
    assert_eq!(kept.gone([old[0], old[1], waits, young]).await, [true, true, false, false]);
    let left = kept.rows().await;
    let counted = [removed.runs, removed.entries, removed.interrupts, removed.sessions].map(u64::cast_signed);
    assert_eq!(std::array::from_fn(|index| all[index] - left[index]), counted);
    assert_eq!((before[0], left[0]), (3, 2));
    let strays = r#"SELECT COUNT(*) FROM "journal" WHERE "run" NOT IN (SELECT "id" FROM "runs")"#;
    assert_eq!(kept.db.number(strays).await, 0);

    let page = engine.run_page(&RunFilter::default(), None, 1).await.expect("listed");
    assert_eq!((page.total, page.more, page.items[0].id), (2, true, young));
    let rest = engine.run_page(&RunFilter::default(), Some(page.items[0].key), 10).await.expect("listed");
    assert_eq!((rest.total, rest.more, rest.items[0].id), (2, false, waits));
    assert_eq!(engine.session_page(None, 10).await.expect("listed").total, 2);
    assert!(matches!(engine.interrupt_info(old[1], asked.asked).await, Err(Error::NotFound { .. })));
    assert!(matches!(answer(engine, &asked, json!({ "text": "x" })).await, Err(Error::NotFound { .. })));
    let asked = open_questions(engine).await.remove(0);
    let taken = answer(engine, &asked, json!({ "text": "late" })).await.expect("it is taken");
    assert!(matches!(taken, AnswerOutcome::Taken(_)));
    let done = until_status(engine, waits, RunStatus::Completed).await;
    assert_eq!(state(engine, &done).await["answer"], json!({ "text": "late" }));
}

/// A key is known for as long as what it has begun.
#[tokio::test]
async fn a_key_of_what_is_gone_begins_anew() {
    let kept = Kept::new().await;
    let engine = &kept.engine;
    let begin =
        StartRun { flow: "shaky".to_owned(), session: None, input: json!({ "how": "well" }), deadline: None };
    let first = engine.start_run(&begin, &call().keyed(Some("k"), b"1")).await.expect("it begins").id;
    until_status(engine, first, RunStatus::Completed).await;
    let session = StartSession { workflow: "shaky".to_owned(), title: None, deadline: None };
    let empty = engine.start_session(&session, &call().keyed(Some("s"), b"1")).await.expect("it begins").id;
    kept.day(40);
    let other = call().keyed(Some("k"), b"2");
    assert!(matches!(engine.start_run(&begin, &other).await, Err(Error::IdempotencyMismatch)));
    let removed = kept.remove().await;
    assert_eq!((removed.runs, removed.sessions), (1, 2), "a session without runs goes, too");
    let again = engine.start_run(&begin, &other).await.expect("it begins").id;
    assert_ne!(again, first);
    let anew = engine.start_session(&session, &call().keyed(Some("s"), b"2")).await.expect("it begins").id;
    assert_ne!(anew, empty);
    assert_eq!(kept.remove().await, Removed::default(), "a session that has just begun stays");
    kept.start_in(anew, "well").await.expect("it begins");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_waited_goes_before_whom_it_waited_for() {
    let kept = Kept::new().await;
    let run = kept.tree().await;
    let children = kept.children(run).await;
    assert_eq!(children.len(), 8);
    kept.day(40);
    let removed = kept.remove().await;
    assert_eq!((removed.runs, removed.sessions, removed.interrupts), (1, 0, 0));
    assert!(kept.is_gone(run).await);
    // What is left for a moment can be looked at.
    let page = kept.engine.run_page(&RunFilter::default(), None, 100).await.expect("listed");
    assert_eq!(page.items.len(), 8);
    assert!(page.items.iter().all(|child| child.parent.is_none()));
    let removed = kept.remove().await;
    assert_eq!((removed.runs, removed.sessions, removed.interrupts), (8, 1, 64));
    assert_eq!(kept.rows().await, [0; 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_belong_together_stay_together() {
    let kept = Kept::new().await;
    let run = kept.tree().await;
    // Those that it waited for ended long ago, it did not.
    let kept = kept.reopened(r#"UPDATE "runs" SET "ended" = 1 WHERE "parent" IS NOT NULL"#).await;
    assert_eq!(kept.remove().await, Removed::default());
    // It ended long ago, and one of them has not been stopped yet.
    kept.day(40);
    let child = kept.children(run).await[0];
    let one = r#"UPDATE "runs" SET "ended" = NULL, "status" = 1 WHERE "key" IN (SELECT MIN("key") FROM "runs" WHERE "parent" IS NOT NULL)"#;
    let kept = kept.reopened(one).await;
    assert_eq!(kept.remove().await, Removed::default());
    assert!(!kept.is_gone(child).await);
    let kept = kept.reopened(r#"UPDATE "runs" SET "ended" = 1, "status" = 2"#).await;
    let removed = kept.remove_all().await;
    assert_eq!((removed.runs, removed.sessions), (9, 1));
    assert_eq!(kept.rows().await, [0; 4]);
}

#[tokio::test]
async fn a_session_keeps_what_its_next_turn_carries_on() {
    let kept = Kept::new().await;
    let session = kept.session().await;
    let (first, second) = (kept.ended_in(session).await, kept.ended_in(session).await);
    let open = kept.start_in(session, "waits").await.expect("it begins");
    kept.day(40);
    let removed = kept.remove_all().await;
    assert_eq!((removed.runs, removed.sessions), (1, 0));
    assert_eq!(kept.gone([first, second, open]).await, [true, false, false]);
    // The newest one to have ended is another one now.
    kept.engine.cancel_run(open, None, &call()).await.expect("it is stopped");
    let removed = kept.remove_all().await;
    assert_eq!((removed.runs, removed.sessions), (1, 0));
    let of_session = RunFilter { session: Some(session), ..RunFilter::default() };
    let page = kept.engine.run_page(&of_session, None, 10).await.expect("listed");
    assert_eq!((page.total, page.items[0].id), (1, open));
    kept.engine.session_info(session).await.expect("it is there");
    kept.day(80);
    let removed = kept.remove_all().await;
    assert_eq!((removed.runs, removed.sessions), (1, 1));
    let gone = kept.engine.session_info(session).await.expect_err("it is gone");
    assert!(matches!(gone, Error::NotFound { what: "session", .. }));
    let gone = kept.start_in(session, "well").await.expect_err("it is gone");
    assert!(matches!(gone, Error::NotFound { what: "session", .. }));
    let turn = Turn { session: Some(session), text: Some("on".to_owned()), ..Turn::default() };
    let gone = kept.engine.take_turn(&turn, &call()).await.expect_err("it is gone");
    assert!(matches!(gone, Error::NotFound { what: "session", .. }));
}

/// Of a session that is old as a whole, the newest run goes last.
#[tokio::test]
async fn an_old_session_goes_as_a_whole() {
    let kept = Kept::new().await;
    let session = kept.session().await;
    let runs = [kept.ended_in(session).await, kept.ended_in(session).await, kept.ended_in(session).await];
    kept.day(40);
    assert_eq!(kept.remove().await.runs, 2);
    assert_eq!(kept.gone(runs).await, [true, true, false]);
    let removed = kept.remove().await;
    assert_eq!((removed.runs, removed.sessions), (1, 1));
    assert_eq!(kept.rows().await, [0; 4]);
}

#[tokio::test]
async fn listeners_go_on_behind_what_is_gone() {
    let kept = Kept::new().await;
    let engine = &kept.engine;
    let all = [kept.ended().await, kept.ended().await];
    let told = |after: RunPlace| async move {
        let after = RunCursor::At(after);
        let mut events = engine.run_events(&RunsOf::All, Some(after)).await.expect("told");
        let (mut seen, mut cursor) = (Vec::new(), RunPlace::default());
        loop {
            let told = events.recv().await.expect("it goes on").expect("it can be read");
            let RunCursor::At(place) = told.cursor else { panic!("it may know of all: {told:?}") };
            cursor = cursor.max(place);
            seen.push(told.run);
            if told.kind == RunEventKind::Finished && told.run != all[0] {
                return (seen, cursor);
            }
        }
    };
    let (seen, newest) = told(RunPlace::default()).await;
    assert!(seen.contains(&all[0]) && seen.contains(&all[1]));
    let middle = RunPlace { position: 1, event: 0 };
    kept.day(40);
    assert_eq!(kept.remove().await.runs, 2);
    let ahead = RunCursor::At(RunPlace { position: newest.position + 1, event: 0 });
    let ahead = engine.run_events(&RunsOf::All, Some(ahead)).await.expect_err("nothing is there");
    assert!(matches!(ahead, Error::CursorInvalid { .. }));
    let end = RunPlace { position: newest.position, event: u32::MAX };
    assert_eq!(engine.run_cursor().await.expect("told"), RunCursor::At(end));
    let young = kept.ended().await;
    for after in [RunPlace::default(), middle, newest] {
        let (seen, cursor) = told(after).await;
        assert!(seen.iter().all(|run| *run == young), "behind {after:?}: {seen:?}");
        assert!(cursor > newest, "positions are never given again");
    }
}

#[tokio::test]
async fn a_fork_stands_without_what_it_was_forked_from() {
    let kept = Kept::new().await;
    let engine = &kept.engine;
    let run = kept.waiting().await;
    let asked = open_questions(engine).await.remove(0);
    let fork = engine.fork_run(run, asked.asked, &call()).await.expect("it begins");
    answer(engine, &asked, json!({ "text": "first" })).await.expect("it is taken");
    until_status(engine, run, RunStatus::Completed).await;
    kept.day(40);
    // It is of the same session, in which the fork is open: the next turn may carry on the first one.
    assert_eq!(kept.remove().await, Removed::default());
    let again = open_questions(engine).await.remove(0);
    answer(engine, &again, json!({ "text": "second" })).await.expect("it is taken");
    until_status(engine, fork.id, RunStatus::Completed).await;
    let snapshots = r#"SELECT COUNT(*) FROM "run_snapshots""#;
    assert_eq!(kept.db.number(snapshots).await, 2);
    assert_eq!(kept.remove().await.runs, 1);
    assert_eq!(kept.db.number(snapshots).await, 1, "what is kept of a run goes with it");
    assert_eq!(kept.gone([run, fork.id]).await, [true, false]);
    let fork = engine.run_info(fork.id).await.expect("it is there");
    assert_eq!(fork.forked, Some((run, asked.asked)));
    assert_eq!(state(engine, &fork).await["answer"], json!({ "text": "second" }));
    engine.span_page(&fork, 0, 1_000).await.expect("its trace is its own");
    let (back, _) = engine.rewind_run(fork.id, again.asked, false, &call()).await.expect("it goes back");
    assert_eq!(back.status, RunStatus::Waiting);
}

/// The log of a program goes on naming the run that has changed it.
#[tokio::test]
async fn a_revision_names_the_run_that_made_it() {
    let kept = Kept::new().await;
    let run = kept.ended().await;
    let origin = Origin { run: run.into_bytes(), step: 1 };
    let request = NewProgramRequest {
        name: "app".to_owned(),
        doc: String::new(),
        content: Content::Text("module app\n".to_owned()),
    };
    let by_run = Call { origin: Some(origin), ..call() };
    let Creation::Created(open) = kept.engine.create_program(request, &by_run).await.expect("it is made")
    else {
        panic!("it is a program");
    };
    kept.day(40);
    assert_eq!(kept.remove().await.runs, 1);
    let header = kept.engine.header(&open, 1).await.expect("read").expect("it is there");
    assert_eq!(header.origin, Some(origin));
    assert!(kept.is_gone(run).await);
}

/// Somebody goes on with a run between the look and the removal.
#[tokio::test]
async fn what_goes_on_meanwhile_stays() {
    let kept = Kept::new().await;
    let engine = &kept.engine;
    let run = kept.waiting().await;
    let asked = open_questions(engine).await.remove(0);
    answer(engine, &asked, json!({ "text": "first" })).await.expect("it is taken");
    let session = until_status(engine, run, RunStatus::Completed).await.session.id;
    kept.day(40);
    let before = Timestamp(engine.run_info(run).await.expect("it is there").ended.expect("it has") + 1);
    let found = engine.store().removable_runs(before, 10).await.expect("it can look");
    assert_eq!(found, [(run, session)]);
    engine.rewind_run(run, asked.asked, false, &call()).await.expect("it goes back");
    let rows = kept.rows().await;
    let removed = engine.store().remove_run(run, session, before).await.expect("it can look");
    assert_eq!((removed, kept.rows().await), (Removed::default(), rows));
    let again = open_questions(engine).await.remove(0);
    answer(engine, &again, json!({ "text": "second" })).await.expect("it is taken");
    until_status(engine, run, RunStatus::Completed).await;
}

/// Nothing is written to what is gone, by whoever still has it.
#[tokio::test]
async fn nothing_comes_after_the_removal() {
    let kept = Kept::new().await;
    let store = kept.engine.store();
    let run = kept.ended().await;
    let row = store.run(run).await.expect("read").expect("it is there");
    let definition = store.flow_definition(&row.definition).await.expect("read").expect("it is there");
    kept.day(40);
    assert_eq!(kept.remove().await.runs, 1);
    let append = JournalAppend {
        run,
        program: None,
        number: row.standing.last + 1,
        time: row.made,
        kind: 1,
        payload: vec![0],
        standing: Some(row.standing.clone()),
        interrupts: Vec::new(),
        begins: Vec::new(),
        lease: None,
        definition: None,
        snapshot: None,
    };
    let refused = store.append_to_journal(append).await.expect_err("it is gone");
    assert!(matches!(refused, JournalError::Gone));
    let begin = NewRun {
        run: lmlang_store::Run { id: Uuid::new_v4(), ..row },
        definition,
        session: None,
        entries: Vec::new(),
        open: Vec::new(),
    };
    let begin = NewRun { entries: vec![(begin.run.made, 1, vec![0])], ..begin };
    let refused = store.begin_run(begin).await.expect_err("its session is gone");
    assert!(matches!(refused, BeginError::NoSession));
    assert_eq!(kept.rows().await, [0; 4]);
    // A writer that was refused takes the next one.
    kept.ended().await;
}

/// Sessions in which somebody begins a run while they are removed: each is there with the run, or neither is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_begins_in_a_session_that_stays() {
    let kept = Kept::new().await;
    let mut sessions = Vec::new();
    for _ in 0..24 {
        let session = kept.session().await;
        kept.ended_in(session).await;
        sessions.push(session);
    }
    kept.day(40);
    let begin = async {
        let (mut begun, mut late) = (Vec::new(), 0);
        // From the end, as the removal comes from the beginning: the two meet.
        for session in sessions.iter().rev() {
            match kept.start_in(*session, "waits").await {
                Ok(run) => begun.push((*session, run)),
                Err(Error::NotFound { what: "session", .. }) => late += 1,
                Err(error) => panic!("{error}"),
            }
        }
        (begun, late)
    };
    let list = async {
        for _ in 0..24 {
            kept.engine.run_page(&RunFilter::default(), None, 100).await.expect("what is there is listed");
        }
    };
    let ((begun, late), removed, ()) = tokio::join!(begin, kept.remove_all(), list);
    assert_eq!(begun.len() + late, 24);
    assert_eq!((removed.runs, removed.sessions), (late as u64, late as u64));
    for (session, run) in begun {
        assert_eq!(kept.engine.run_info(run).await.expect("it is there").session.id, session);
    }
    for (table, of, owner) in [("runs", "session", "sessions"), ("journal", "run", "runs")] {
        let strays =
            format!(r#"SELECT COUNT(*) FROM "{table}" WHERE "{of}" NOT IN (SELECT "id" FROM "{owner}")"#);
        assert_eq!(kept.db.number(&strays).await, 0);
    }
    kept.engine.close().await;
}

/// As two processes do over one server; over a file, two callers of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_remove_the_same_do_it_once() {
    const RUNS: u64 = 140;
    let kept = Kept::new().await;
    for _ in 0..RUNS {
        kept.ended().await;
    }
    kept.day(40);
    let other = match kept.db.is_file() {
        true => kept.engine.clone(),
        false => open(&kept.db, &kept.clock).await,
    };
    let mut sum = Removed::default();
    loop {
        let (one, two) = tokio::join!(kept.engine.remove_old_runs(), other.remove_old_runs());
        let (one, two) = (one.expect("it can look"), two.expect("it can look"));
        assert!(one.runs <= 128 && two.runs <= 128, "a bounded number at a time");
        if (one, two) == (Removed::default(), Removed::default()) {
            break;
        }
        add(&mut sum, one);
        add(&mut sum, two);
    }
    assert_eq!((sum.runs, sum.sessions), (RUNS, RUNS));
    assert_eq!(kept.rows().await, [0; 4]);
    if !kept.db.is_file() {
        other.close().await;
    }
}

#[tokio::test]
async fn an_engine_that_is_served_removes_by_itself() {
    let kept = Kept::new().await;
    let session = kept.session().await;
    for _ in 0..3 {
        kept.ended_in(session).await;
    }
    let waits = kept.waiting().await;
    let Kept { db, clock, engine } = kept;
    engine.close().await;
    clock.set_ahead(i64::try_from((DAY * 40).as_micros()).expect("small"));
    let engine = open(&db, &clock).await;
    let calls = Arc::new(Calls::default());
    engine.run_flows(all(&calls));
    let gone = async {
        while engine.session_page(None, 10).await.expect("listed").total > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("they go");
    let left = engine.run_page(&RunFilter::default(), None, 10).await.expect("listed");
    assert_eq!((left.total, left.items[0].id), (1, waits));
    engine.close().await;
}

/// Without a limit nothing goes, however old it is.
#[tokio::test]
async fn runs_are_kept_for_ever_where_nothing_is_said() {
    let (fixture, _) = super::fixture().await;
    let run = start(&fixture.engine, "shaky", json!({ "how": "well" })).await.id;
    until_status(&fixture.engine, run, RunStatus::Completed).await;
    let fixture = fixture.reopened(&[r#"UPDATE "runs" SET "ended" = 1"#]).await;
    assert_eq!(fixture.engine.limits().run_retention, None);
    assert_eq!(fixture.engine.remove_old_runs().await.expect("it can look"), Removed::default());
    fixture.engine.run_info(run).await.expect("it is there");
}
