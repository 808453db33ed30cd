//! The doctor finds what is wrong, and nothing in a sound database.

use lmlang_store::{Finding, Object, References, Snapshot};

use crate::fixture::Fixture;

fn object(number: u8, names: &[u8]) -> Object {
    Object { hash: [number; 32], version: 1, bytes: names.to_vec() }
}

#[tokio::test]
async fn objects_are_followed_from_their_roots() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let snapshot = Snapshot { program, seq: 1, root: vec![1, 2] };
    // 9 is named and missing; 5 is there and not named.
    let objects = vec![object(1, &[3]), object(2, &[3, 9]), object(3, &[1]), object(5, &[3])];
    fixture.store.put_snapshot(snapshot, objects).await.unwrap();
    let report = fixture
        .store
        .check(Some(References {
            of_entry: &|_| Vec::new(),
            of_snapshot: &|snapshot| snapshot.root.iter().map(|&number| [number; 32]).collect(),
            of_object: &|object| object.bytes.iter().map(|&number| [number; 32]).collect(),
        }))
        .await
        .unwrap();
    assert_eq!(report.findings, [Finding::MissingObject { hash: [9; 32] }]);
    assert_eq!((report.programs, report.entries, report.snapshots, report.objects), (1, 1, 1, 4));
    assert_eq!(report.orphans, Some(1));
}

#[tokio::test]
async fn damage_is_found() {
    let cases = [
        ("DELETE FROM log WHERE seq = 2", "program 1: entry 2 is missing before entry 3"),
        ("DELETE FROM log", "program 1 has no entries"),
        ("DELETE FROM programs", "log 1 belongs to no program"),
        ("UPDATE log SET kind = 77 WHERE seq = 2", "program 1, entry 2: `kind` cannot be read"),
        ("UPDATE log SET root_hash = x'00' WHERE seq = 2", "program 1, entry 2: `root_hash` cannot be read"),
        (
            "UPDATE log SET parents = x'02' WHERE seq = 2",
            "program 1, entry 2: names entry 2, which does not come before it",
        ),
        (
            "UPDATE log SET position = -1 WHERE seq = 3",
            "program 1, entry 3: stands before entry 2 in the log of all",
        ),
        ("UPDATE log SET next_ref = 0 WHERE seq = 3", "program 1, entry 3: hands out refs again"),
        ("UPDATE log SET actor = 9 WHERE seq = 3", "program 1, entry 3: its actor is unknown"),
        (
            "UPDATE log SET branch = 4 WHERE seq = 3",
            "program 1, entry 3: is on branch 4, which was never made",
        ),
        ("INSERT INTO snapshots VALUES (1, 8, x'')", "program 1: snapshot of entry 8, beyond the log"),
    ];
    for (damage, finding) in cases {
        let fixture = Fixture::new().await;
        let program = fixture.program("a").await;
        fixture.submit(program, vec![fixture.edit(2), fixture.edit(3)]).await.unwrap();
        assert_eq!(fixture.store.check(None).await.unwrap().findings, []);
        let fixture = fixture.reopened_after(damage).await;
        let findings: Vec<_> =
            fixture.store.check(None).await.unwrap().findings.iter().map(Finding::to_string).collect();
        assert!(findings.iter().any(|found| found == finding), "{damage}: {findings:?}");
    }
}
