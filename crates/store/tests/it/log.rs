//! Reading what was appended.

use lmlang_store::{
    Actor, ActorKind, Bound, Entry, EntryKind, HistoryFilter, Idempotency, Origin, Stretch, Tail, Timestamp,
};
use uuid::Uuid;

use crate::fixture::Fixture;

#[tokio::test]
async fn an_entry_is_read_back_as_it_was() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let full = Entry {
        parents: [1, 0].into_iter().collect(),
        branch: u32::MAX,
        kind: EntryKind::Merge,
        on_behalf_of: Some("grace".to_owned()),
        message: Some("é \u{1} 'x'".to_owned()),
        time: Timestamp(i64::MIN),
        edits: b"edits".to_vec(),
        counts: Vec::new(),
        next_ref: u64::MAX,
        target: Some(1),
        idempotency: Some(Idempotency { key: vec![0, 255], digest: vec![1; 32] }),
        origin: Some(Origin { run: Uuid::now_v7(), step: 3 }),
        ..fixture.edit(2)
    };
    fixture.append(program, full.clone()).await.unwrap();
    let store = &fixture.store;
    assert_eq!(store.entry(program, 2).await.unwrap(), Some(full.clone()));
    let (header, edits) = full.split();
    assert_eq!(store.edits(program, &[2], 1).await.unwrap(), [(2, edits)]);
    assert_eq!(store.headers(program, &[2, 3]).await.unwrap(), std::slice::from_ref(&header));
    assert_eq!(store.header(program, 2).await.unwrap(), Some(header.clone()));
    assert_eq!(store.header_by_key(program, &[0, 255]).await.unwrap(), Some(header.clone()));
    assert_eq!(store.newest_header(program).await.unwrap(), Some(header));
    assert_eq!(store.entry(program, 3).await.unwrap(), None);
    assert_eq!(store.entry(program, u64::MAX).await.unwrap(), None);
    assert_eq!(store.header(program, 3).await.unwrap(), None);
    assert_eq!(store.header_by_key(program, b"other").await.unwrap(), None);
}

#[tokio::test]
async fn edits_are_read_until_they_are_many() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    for seq in 2..=5 {
        let edits = format!("{seq}, \"n{seq}\"").into_bytes();
        fixture.append(program, Entry { edits, ..fixture.edit(seq) }).await.unwrap();
    }
    let read = async |bytes| {
        let found = fixture.store.edits(program, &[2, 4, 5], bytes).await.unwrap();
        found.into_iter().map(|(seq, _)| seq).collect::<Vec<u64>>()
    };
    assert_eq!(read(1).await, [5]);
    assert_eq!(read(8).await, [5, 4]);
    assert_eq!(read(usize::MAX).await, [5, 4, 2]);
    let mentioning = HistoryFilter { mentioning: vec![b"\"n4\"".to_vec()], ..Default::default() };
    assert_eq!(fixture.store.history(program, &mentioning, 9).await.unwrap(), [4]);
    assert_eq!(fixture.store.history_len(program, &mentioning).await.unwrap(), 1);
}

#[tokio::test]
async fn history_is_paged_newest_first_and_filtered() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let grace = Actor { name: "grace".to_owned(), kind: ActorKind::Agent, client: None };
    let other = fixture.store.actor_key(&grace).await.unwrap();
    assert_eq!(fixture.store.actor(other).await.unwrap(), Some(grace));
    assert_eq!(fixture.store.actors_named("grace").await.unwrap(), [other]);
    let run = Uuid::now_v7();
    for seq in 2..=20 {
        let kind = if seq % 5 == 0 { EntryKind::Checkpoint } else { EntryKind::Edit };
        let actor = if seq % 2 == 0 { other } else { fixture.actor };
        let branch = u32::from(seq > 15);
        let origin = (seq % 7 == 0).then_some(Origin { run, step: seq });
        fixture.append(program, Entry { kind, actor, branch, origin, ..fixture.edit(seq) }).await.unwrap();
    }
    let list = async |filter: HistoryFilter, limit| {
        let page = fixture.store.history(program, &filter, limit).await.unwrap();
        let total = fixture.store.history_len(program, &filter).await.unwrap();
        (page, total)
    };
    assert_eq!(list(HistoryFilter::default(), 3).await, (vec![20, 19, 18], 20));
    assert_eq!(list(HistoryFilter { before: Some(18), ..Default::default() }, 2).await, (vec![17, 16], 17));
    let checkpoints = HistoryFilter { kinds: vec![EntryKind::Checkpoint], ..Default::default() };
    assert_eq!(list(checkpoints, 9).await, (vec![20, 15, 10, 5], 4));
    let by_other = HistoryFilter {
        actors: Some(vec![other]),
        stretches: vec![Stretch { branch: 1, entries: 1..=20 }],
        ..Default::default()
    };
    assert_eq!(list(by_other, 9).await, (vec![20, 18, 16], 3));
    let nobody = HistoryFilter { actors: Some(Vec::new()), ..Default::default() };
    assert_eq!(list(nobody, 9).await, (vec![], 0));
    let by_run = HistoryFilter { run: Some(run), ..Default::default() };
    assert_eq!(list(by_run, 9).await, (vec![14, 7], 2));
    let by_no_run = HistoryFilter { run: Some(Uuid::now_v7()), ..Default::default() };
    assert_eq!(list(by_no_run, 9).await, (vec![], 0));

    for (after, expected) in [(0, &[5, 10, 15, 20][..]), (10, &[15, 20])] {
        let marks = fixture.store.marks(program, after).await.unwrap();
        assert_eq!(marks.iter().map(|entry| entry.seq).collect::<Vec<_>>(), expected);
    }
    assert_eq!(fixture.store.newest_on(program, 0, u64::MAX).await.unwrap(), Some(15));
}

#[tokio::test]
async fn a_tail_is_what_follows_an_entry() {
    let fixture = Fixture::new().await;
    let program = fixture.program("p").await;
    for seq in 2..=4 {
        fixture.append(program, fixture.edit(seq)).await.unwrap();
    }
    let bound = Bound { rows: 1, bytes: 0 };
    let one = fixture.store.tail(Tail { program, after: 2 }, bound).await.unwrap();
    assert_eq!(one.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [3]);
    let end = fixture.store.tail(Tail { program, after: 4 }, bound).await.unwrap();
    assert_eq!(end, []);
}
