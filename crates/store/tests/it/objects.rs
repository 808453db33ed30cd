//! Objects and snapshots.

use lmlang_store::{Object, ObjectHash, Snapshot};

use crate::fixture::Fixture;

fn object(number: u32, size: usize) -> Object {
    let mut hash: ObjectHash = [0; 32];
    hash[..4].copy_from_slice(&number.to_be_bytes());
    Object { hash, version: 1, bytes: vec![number as u8; size] }
}

#[tokio::test]
async fn only_what_is_missing_is_stored() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    let objects: Vec<_> = (0..1_000).map(|number| object(number, 10)).collect();
    let hashes: Vec<_> = objects.iter().map(|object| object.hash).collect();
    assert_eq!(store.put_objects(objects[..600].to_vec()).await.unwrap(), 600);
    assert_eq!(store.put_objects(objects.clone()).await.unwrap(), 400);
    let twice: Vec<_> = hashes.iter().chain(&hashes).copied().collect();
    assert_eq!(store.objects(&twice).await.unwrap(), objects);
    assert_eq!(store.objects(&[[9; 32]]).await.unwrap(), []);
    // Larger than a portion, alone and among others.
    let large = vec![object(5_000, 3 << 20), object(5_001, 1), object(5_002, 2 << 20)];
    assert_eq!(store.put_objects(large.clone()).await.unwrap(), 3);
    assert_eq!(store.objects(&[large[0].hash]).await.unwrap(), large[..1]);
}

#[tokio::test]
async fn snapshots_are_found_from_the_newest_down() {
    let fixture = Fixture::new().await;
    let (program, other) = (fixture.program("a").await, fixture.program("b").await);
    for seq in 2..=9 {
        fixture.append(program, fixture.edit(seq)).await.unwrap();
    }
    let snapshot = |program, seq| Snapshot { program, seq, root: vec![seq as u8] };
    for seq in [3, 6, 9] {
        let new = fixture.store.put_snapshot(snapshot(program, seq), vec![object(1, 10)]).await.unwrap();
        assert_eq!(new, u64::from(seq == 3));
    }
    fixture.store.put_snapshot(snapshot(other, 1), Vec::new()).await.unwrap();
    let found = async |at_most, limit| fixture.store.snapshots(program, at_most, limit).await.unwrap();
    assert_eq!(found(u64::MAX, 1).await, [snapshot(program, 9)]);
    assert_eq!(found(8, 9).await, [snapshot(program, 6), snapshot(program, 3)]);
    assert_eq!(found(2, 9).await, []);
    assert_eq!(fixture.store.newest_on(program, 0, u64::MAX).await.unwrap(), Some(9));
    assert_eq!(fixture.store.check(None).await.unwrap().findings, []);
}
