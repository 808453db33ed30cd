//! What happened to all programs, in order.

use lmlang_store::{Bound, Fault, Position, ProgramChangeKind as Kind, Step, Store, Timestamp, What};

use crate::faults::once;
use crate::fixture::{Fixture, edit};

const ALL: Bound = Bound { rows: 1_000, bytes: u64::MAX };

/// What happened after a place, as words, and the place behind it.
async fn happened(store: &Store, after: Position, bound: Bound) -> (Vec<String>, Position) {
    let mut position = after;
    let mut words = Vec::new();
    for happened in store.happened(after, bound).await.unwrap() {
        assert!(happened.position > position);
        position = happened.position;
        let program = store.program_by_id(happened.program).await.unwrap().unwrap().key;
        words.push(match happened.what {
            What::Entry(entry) => format!("{program} r{}", entry.seq),
            What::Program(change) => format!("{program} {:?} {} {}", change.kind, change.name, change.time.0),
        });
    }
    (words, position)
}

/// All that happened, read in small pieces.
async fn in_pieces(store: &Store, bound: Bound) -> Vec<String> {
    let (mut all, mut position) = (Vec::new(), Position::default());
    loop {
        let (words, behind) = happened(store, position, bound).await;
        if words.is_empty() {
            assert_eq!(position, store.position().await.unwrap());
            return all;
        }
        all.extend(words);
        position = behind;
    }
}

#[tokio::test]
async fn it_is_read_in_the_order_of_commits() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.position().await.unwrap(), Position::default());
    let a = fixture.program("a").await;
    fixture.append(a, fixture.edit(2)).await.unwrap();
    let b = fixture.program("b").await;
    fixture.append(b, fixture.edit(2)).await.unwrap();
    fixture.submit(a, vec![fixture.edit(3), fixture.edit(4)]).await.unwrap();
    let store = &fixture.store;
    store.update_program(a, Some("c"), Some("doc"), Timestamp(2)).await.unwrap();
    store.update_program(a, Some("c"), Some("other"), Timestamp(3)).await.unwrap();
    // Nothing becomes of these.
    store.update_program(a, Some("c"), Some("other"), Timestamp(4)).await.unwrap();
    store.update_program(a, None, None, Timestamp(4)).await.unwrap();
    store.update_program(a, Some("b"), None, Timestamp(4)).await.unwrap_err();
    fixture.append(b, fixture.edit(3)).await.unwrap();
    store.delete_program(b, Timestamp(5)).await.unwrap();
    store.delete_program(b, Timestamp(6)).await.unwrap();
    fixture.append(a, fixture.edit(5)).await.unwrap();
    let expected = [
        "1 Made a 1",
        "1 r1",
        "1 r2",
        "2 Made b 1",
        "2 r1",
        "2 r2",
        "1 r3",
        "1 r4",
        "1 Renamed c 2",
        "1 Changed c 3",
        "2 r3",
        "2 Deleted b 5",
        "1 r5",
    ];
    let fixture = fixture.reopened().await;
    let store = &fixture.store;
    assert_eq!(happened(store, Position::default(), ALL).await.0, expected);
    for rows in 1..=4 {
        assert_eq!(in_pieces(store, Bound { rows, ..ALL }).await, expected, "{rows}");
    }
    let behind = store.position().await.unwrap();
    assert_eq!(happened(store, behind, ALL).await.0, [""; 0]);
    fixture.append(a, fixture.edit(6)).await.unwrap();
    assert_eq!(happened(store, behind, ALL).await.0, ["1 r6"]);
}

#[tokio::test]
async fn it_is_read_as_far_as_its_bytes_are_within_the_bound() {
    let fixture = Fixture::new().await;
    let a = fixture.program("a").await;
    for seq in 2..=5 {
        fixture.append(a, fixture.edit(seq)).await.unwrap();
    }
    let two = Bound { bytes: 2 * 303, ..ALL };
    assert_eq!(happened(&fixture.store, Position::default(), two).await.0, ["1 Made a 1", "1 r1", "1 r2"]);
    // One is read, however large it is.
    let none = Bound { bytes: 0, ..ALL };
    let all = ["1 Made a 1", "1 r1", "1 r2", "1 r3", "1 r4", "1 r5"];
    assert_eq!(in_pieces(&fixture.store, none).await, all);
}

#[tokio::test]
async fn it_keeps_its_order_when_the_file_is_vacuumed() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    for seq in 2..=5 {
        fixture.append(b, fixture.edit(seq)).await.unwrap();
        fixture.append(a, fixture.edit(seq)).await.unwrap();
    }
    let before = fixture.store.happened(Position::default(), ALL).await.unwrap();
    let fixture = fixture.reopened_after("VACUUM").await;
    assert_eq!(fixture.store.happened(Position::default(), ALL).await.unwrap(), before);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_noted_once() {
    for step in Step::ALL {
        let (armed, faults) = once(step, Fault::ConnectionLost);
        let fixture = Fixture::with_faults(faults).await;
        armed.store(true, std::sync::atomic::Ordering::Relaxed);
        let a = fixture.program("a").await;
        armed.store(true, std::sync::atomic::Ordering::Relaxed);
        fixture.store.update_program(a, Some("b"), Some("doc"), Timestamp(2)).await.unwrap();
        armed.store(true, std::sync::atomic::Ordering::Relaxed);
        fixture.append(a, edit(2, fixture.actor)).await.unwrap();
        armed.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(fixture.store.delete_program(a, Timestamp(3)).await.unwrap());
        let expected = [(Kind::Made, "a"), (Kind::Renamed, "b"), (Kind::Deleted, "b")];
        let found = fixture.store.happened(Position::default(), ALL).await.unwrap();
        let found: Vec<_> = found.iter().map(|happened| &happened.what).collect();
        let [
            What::Program(made),
            What::Entry(_),
            What::Program(renamed),
            What::Entry(_),
            What::Program(gone),
        ] = found[..]
        else {
            panic!("{step:?}: {found:?}");
        };
        assert_eq!([made, renamed, gone].map(|change| (change.kind, change.name.as_str())), expected);
    }
}
