//! Older entries are packed, and read as before.

use lmlang_store::{
    Action, Bound, Entry, Fault, Faults, Finding, HistoryFilter, Options, ProgramKey, Step, Store, Stretch,
    Tail, What,
};
use tokio::sync::mpsc;

use crate::fixture::{Fixture, edit, options_of};

/// Rows that are packed at a time.
pub(crate) const WINDOW: u64 = 256;

/// The newest rows here, which are not packed.
pub(crate) const NEWEST: u64 = 10;

/// Bounds of which some end within packs, and some at single entries.
const BOUNDS: [Bound; 3] = [
    Bound { rows: 1_000, bytes: u64::MAX },
    Bound { rows: 7, bytes: u64::MAX },
    Bound { rows: 90, bytes: 2_000 },
];

/// Tells of each window that is durable, and fails as it is told to at the first.
pub(crate) fn told(fails: Option<(Step, Fault)>) -> (mpsc::UnboundedReceiver<()>, Faults) {
    let (tell, told) = mpsc::unbounded_channel();
    let fails = std::sync::Mutex::new(fails);
    let hook = move |step| {
        if step == Step::AfterBackground {
            tell.send(()).ok();
        }
        match fails.lock().unwrap().take_if(|(at, _)| *at == step) {
            Some((_, fault)) => Action::Fail(fault),
            None => Action::Continue,
        }
    };
    (told, Faults::new(hook))
}

/// An edit that says something else than the others.
fn different(seq: u64, fixture: &Fixture) -> Entry {
    let edits = match seq % 97 {
        0 => Vec::new(),
        1 => (0..20_000).map(|at| (at * seq % 251) as u8).collect(),
        _ => format!("{{\"of\":\"n{}\",\"is\":{seq}}}", seq % 7).into_bytes(),
    };
    Entry { edits, ..edit(seq, fixture.actor) }
}

/// Two programs, whose entries alternate, of so many rows together; and what was stored.
pub(crate) async fn fill(fixture: &Fixture, rows: u64) -> Vec<(ProgramKey, Vec<Entry>)> {
    let mut programs = Vec::new();
    for name in ["a", "b"] {
        let program = fixture.program(name).await;
        let first = fixture.store.entry(program, 1).await.unwrap().unwrap();
        programs.push((program, vec![first]));
    }
    let mut tickets = Vec::new();
    for at in 2..rows {
        // Two thirds in the first.
        let (program, stored) = &mut programs[usize::from(at % 3 == 0)];
        let entry = different(stored.len() as u64 + 1, fixture);
        stored.push(entry.clone());
        tickets.push(fixture.submit(*program, vec![entry]));
    }
    for ticket in tickets {
        ticket.await.unwrap();
    }
    programs
}

pub(crate) async fn packed(fixture: &Fixture) -> u64 {
    fixture.db.number("SELECT COUNT(*) FROM log WHERE packed IS NOT NULL").await.unsigned_abs()
}

/// Whatever is asked for is what was stored.
pub(crate) async fn all_is_as_stored(store: &Store, programs: &[(ProgramKey, Vec<Entry>)]) {
    let mut all = 0;
    for (program, stored) in programs {
        let (program, stored) = (*program, stored.as_slice());
        let last = stored.len() as u64;
        assert_eq!(store.entries(program, 1..=last, last).await.unwrap(), stored);
        assert_eq!(store.entries(program, 5..=300, 100).await.unwrap(), &stored[4..104.min(stored.len())]);
        for entry in stored.iter().step_by(23) {
            assert_eq!(store.entry(program, entry.seq).await.unwrap().as_ref(), Some(entry));
        }
        for bound in BOUNDS {
            let mut found = Vec::new();
            loop {
                let after = found.len() as u64;
                let stretch = Stretch { branch: 0, entries: after + 1..=last };
                let page = store.entries_on(program, &stretch, bound).await.unwrap();
                assert_eq!(store.tail(Tail { program, after }, bound).await.unwrap(), page);
                if page.is_empty() {
                    break;
                }
                let bytes: usize = page.iter().map(|entry| entry.edits.len()).sum();
                assert!(page.len() == 1 || bytes as u64 <= bound.bytes);
                found.extend(page);
            }
            assert_eq!(found, stored);
        }
        let numbers: Vec<u64> = (1..=last).step_by(3).collect();
        let edits = store.edits(program, &numbers, usize::MAX).await.unwrap();
        let expected = numbers.iter().rev().map(|seq| (*seq, stored[*seq as usize - 1].edits.clone()));
        assert_eq!(edits, expected.collect::<Vec<_>>());
        assert_eq!(store.edits(program, &numbers, 1).await.unwrap().len(), 1);
        // What is packed is not looked into: all that mention something are among those that are found.
        let mentioning = HistoryFilter { mentioning: vec![b"\"n3\"".to_vec()], ..Default::default() };
        let found = store.history(program, &mentioning, u64::from(u32::MAX)).await.unwrap();
        let mention = |entry: &&Entry| String::from_utf8_lossy(&entry.edits).contains("\"n3\"");
        assert!(stored.iter().filter(mention).all(|entry| found.contains(&entry.seq)));
        all += stored.len();
    }
    for bound in BOUNDS {
        let (mut told, mut position) = (Vec::new(), Default::default());
        loop {
            let happened = store.happened(position, bound).await.unwrap();
            let Some(last) = happened.last() else { break };
            position = last.position;
            told.extend(happened.into_iter().filter_map(|happened| match happened.what {
                What::Entry(entry) => Some(*entry),
                What::Program(_) => None,
            }));
        }
        for (_, stored) in programs {
            // Both have entries of the same ids, in the order of their numbers.
            assert!(stored.iter().all(|entry| told.contains(entry)));
        }
        assert_eq!(told.len(), all);
    }
    assert_eq!(store.check(None).await.unwrap().findings, []);
}

#[tokio::test]
async fn older_entries_are_packed_and_read_as_before() {
    let (mut told, faults) = told(None);
    let fixture = Fixture::with_options(|options| Options { faults, unpacked: NEWEST, ..options }).await;
    let programs = fill(&fixture, 3 * WINDOW).await;
    for _ in 0..2 {
        told.recv().await.unwrap();
    }
    // The third window is not whole without the newest rows.
    assert_eq!(packed(&fixture).await, 2 * WINDOW);
    all_is_as_stored(&fixture.store, &programs).await;
    let bytes =
        fixture.db.number("SELECT CAST(SUM(LENGTH(bytes)) AS BIGINT) FROM packs").await.unsigned_abs();
    let plain = fixture.db.number("SELECT CAST(SUM(packed) AS BIGINT) FROM log").await.unsigned_abs();
    assert!(bytes < plain / 3, "{bytes} of {plain}");
    let fixture = fixture.reopened().await;
    all_is_as_stored(&fixture.store, &programs).await;
}

#[tokio::test]
async fn packing_goes_on_where_it_was() {
    let fixture = Fixture::new().await;
    let programs = fill(&fixture, 3 * WINDOW).await;
    assert_eq!(packed(&fixture).await, 0);
    fixture.store.close().await.unwrap();
    for _ in 0..2 {
        let (mut told, faults) = told(None);
        let options = Options { faults, unpacked: NEWEST, ..options_of(&fixture.db) };
        let store = Store::open(options).await.unwrap();
        told.recv().await.unwrap();
        store.close().await.unwrap();
    }
    assert_eq!(packed(&fixture).await, 2 * WINDOW);
    let fixture = fixture.reopened().await;
    all_is_as_stored(&fixture.store, &programs).await;
}

/// The connection is lost before the window is committed, and behind that.
#[tokio::test]
async fn a_window_whose_answer_is_lost_is_packed_once() {
    for step in [Step::BeforeCommit, Step::AfterBackground] {
        let fixture = Fixture::new().await;
        let programs = fill(&fixture, 2 * WINDOW).await;
        fixture.store.close().await.unwrap();
        let (mut told, faults) = told(Some((step, Fault::ConnectionLost)));
        let options = Options { faults, unpacked: NEWEST, ..options_of(&fixture.db) };
        let store = Store::open(options).await.unwrap();
        told.recv().await.unwrap();
        store.close().await.unwrap();
        assert_eq!(packed(&fixture).await, WINDOW);
        let fixture = fixture.reopened().await;
        all_is_as_stored(&fixture.store, &programs).await;
    }
}

#[tokio::test]
async fn a_damaged_pack_is_found_and_hides_nothing_else() {
    for damage in
        ["UPDATE packs SET bytes = x'0100'", "DELETE FROM packs", "UPDATE log SET packed = packed + 1"]
    {
        let (mut told, faults) = told(None);
        let fixture = Fixture::with_options(|options| Options { faults, unpacked: NEWEST, ..options }).await;
        let programs = fill(&fixture, 2 * WINDOW).await;
        told.recv().await.unwrap();
        let fixture = fixture.reopened_after(damage).await;
        let (program, stored) = &programs[0];
        let error = fixture.store.entry(*program, 3).await.unwrap_err();
        assert!(matches!(error, Fault::Row { table: "packs", .. }), "{damage}: {error:?}");
        let last = stored.last().unwrap();
        assert_eq!(fixture.store.entry(*program, last.seq).await.unwrap().as_ref(), Some(last));
        assert!(fixture.store.header(*program, 3).await.unwrap().is_some());
        let findings = fixture.store.check(None).await.unwrap().findings;
        let unreadable = findings.iter().filter(|found| matches!(found, Finding::Unreadable { .. }));
        assert_eq!(unreadable.count() as u64, WINDOW, "{damage}: {findings:?}");
    }
}
