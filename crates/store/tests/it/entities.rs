//! Entities: stored from one revision to the next, read as they were at one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lmlang_store::{
    Action, ActorKey, ChangeEntitiesError, EntityChange, EntityCounts, EntityRow, Fault, Faults, Idempotency,
    NewEntityChange, RelationEnd, RelationRow, Step, Timestamp,
};
use uuid::Uuid;

use crate::fixture::Fixture;

pub(crate) fn entity(id: u128, label: &str, name: &str) -> EntityRow {
    EntityRow {
        id: Uuid::from_u128(id),
        label: label.to_owned(),
        name: name.to_owned(),
        props: vec![id as u8],
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

pub(crate) fn relation(id: u128, source: u128, kind: &str, target: u128) -> RelationRow {
    RelationRow {
        id: Uuid::from_u128(id),
        source: Uuid::from_u128(source),
        kind: kind.to_owned(),
        target: Uuid::from_u128(target),
        props: vec![id as u8],
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

pub(crate) fn change(revision: u64, actor: ActorKey) -> NewEntityChange {
    NewEntityChange {
        change: EntityChange {
            revision,
            id: Uuid::now_v7(),
            time: Timestamp(5),
            actor,
            counts: EntityCounts { inserted: 1, updated: 2, deleted: 3, unchanged: 4 },
            making: None,
        },
        deleted_relations: Vec::new(),
        deleted_entities: Vec::new(),
        inserted_entities: Vec::new(),
        updated_entities: Vec::new(),
        inserted_relations: Vec::new(),
        updated_relations: Vec::new(),
    }
}

/// A hub with a spoke to each of three, and one of another kind.
pub(crate) async fn wheel(fixture: &Fixture) {
    let new = NewEntityChange {
        inserted_entities: vec![
            entity(1, "Hub", "h"),
            entity(2, "Rim", "é"),
            entity(3, "Rim", "a"),
            entity(4, "Cap", "z"),
        ],
        inserted_relations: vec![
            relation(11, 1, "SPOKE", 2),
            relation(12, 1, "SPOKE", 3),
            relation(13, 1, "SPOKE", 4),
            relation(14, 1, "AXLE", 1),
        ],
        ..change(1, fixture.actor)
    };
    fixture.store.change_entities(new).await.unwrap();
}

fn names(rows: &[EntityRow]) -> Vec<String> {
    rows.iter().map(|row| format!("{}:{}", row.label, row.name)).collect()
}

#[tokio::test]
async fn rows_come_back_in_order_after_another_start() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.entities_now().await.unwrap().revision().await.unwrap(), 0);
    wheel(&fixture).await;
    let fixture = fixture.reopened().await;
    let now = fixture.store.entities_now().await.unwrap();
    assert_eq!(now.revision().await.unwrap(), 1);
    let all = now.entities(None, None, None, 9).await.unwrap();
    assert_eq!(names(&all), ["Cap:z", "Hub:h", "Rim:a", "Rim:é"]);
    assert_eq!(all[1], entity(1, "Hub", "h"));
    let next = now.entities(None, None, Some(("Hub", "h")), 1).await.unwrap();
    assert_eq!(names(&next), ["Rim:a"]);
    let next = now.entities(Some("Rim"), None, Some(("Rim", "a")), 9).await.unwrap();
    assert_eq!(names(&next), ["Rim:é"]);
    assert_eq!(names(&now.entities(None, Some("z"), None, 9).await.unwrap()), ["Cap:z"]);
    assert_eq!(now.count_entities(Some("Rim"), None).await.unwrap(), 2);
    assert_eq!(now.entity("Rim", "é").await.unwrap(), Some(entity(2, "Rim", "é")));
    assert_eq!(now.entity("Rim", "É").await.unwrap(), None);
    assert_eq!(now.entity_with(Uuid::from_u128(3)).await.unwrap(), Some(entity(3, "Rim", "a")));
    let found = now.relation(Uuid::from_u128(1), "SPOKE", Uuid::from_u128(2)).await.unwrap();
    assert_eq!(found, Some(relation(11, 1, "SPOKE", 2)));
    assert_eq!(now.relations_of(Uuid::from_u128(1), 9).await.unwrap().len(), 4);
    assert_eq!(now.relations_of(Uuid::from_u128(1), 2).await.unwrap().len(), 2);
}

#[tokio::test]
async fn neighbours_come_in_pages_by_kind_and_name() {
    let fixture = Fixture::new().await;
    wheel(&fixture).await;
    let now = fixture.store.entities_now().await.unwrap();
    let (hub, out) = (Uuid::from_u128(1), RelationEnd::Source);
    let mut after: Option<(String, String, String)> = None;
    let mut seen = Vec::new();
    loop {
        let last = after.as_ref().map(|(kind, label, name)| (kind.as_str(), label.as_str(), name.as_str()));
        let page = now.neighbours(hub, out, &[], last, 1).await.unwrap();
        let Some((relation, other)) = page.first() else { break };
        seen.push(format!("{} {}:{}", relation.kind, other.label, other.name));
        after = Some((relation.kind.clone(), other.label.clone(), other.name.clone()));
    }
    assert_eq!(seen, ["AXLE Hub:h", "SPOKE Cap:z", "SPOKE Rim:a", "SPOKE Rim:é"]);
    let ids = now.neighbour_ids(hub, out, &[], 9).await.unwrap();
    assert_eq!(ids, [14, 13, 12, 11].map(Uuid::from_u128));
    assert_eq!(now.neighbour_ids(hub, out, &["SPOKE"], 2).await.unwrap(), [13, 12].map(Uuid::from_u128));
    let mut by_id = now.neighbours_by(out, &ids[..3]).await.unwrap();
    by_id.sort_by_key(|(relation, _)| relation.id);
    assert_eq!(by_id[0], (relation(12, 1, "SPOKE", 3), entity(3, "Rim", "a")));
    assert_eq!(by_id.len(), 3);
    let axles = now.neighbours(hub, out, &["AXLE", "NONE"], None, 9).await.unwrap();
    assert_eq!(axles, [(relation(14, 1, "AXLE", 1), entity(1, "Hub", "h"))]);
    let back = now.neighbours(Uuid::from_u128(3), RelationEnd::Target, &[], None, 9).await.unwrap();
    assert_eq!(back, [(relation(12, 1, "SPOKE", 3), entity(1, "Hub", "h"))]);
    let into = now.neighbour_ids(Uuid::from_u128(3), RelationEnd::Target, &[], 9).await.unwrap();
    assert_eq!(now.neighbours_by(RelationEnd::Target, &into).await.unwrap(), back);
}

/// PUN-100.
#[tokio::test]
async fn of_two_planned_on_one_revision_the_second_stores_nothing() {
    let fixture = Fixture::new().await;
    wheel(&fixture).await;
    let then = fixture.store.entities_now().await.unwrap();
    assert_eq!(then.revision().await.unwrap(), 1);
    let updated = EntityRow { props: vec![9], updated: Timestamp(7), ..entity(1, "Hub", "h") };
    let first = NewEntityChange {
        deleted_relations: vec![Uuid::from_u128(13)],
        deleted_entities: vec![Uuid::from_u128(4)],
        updated_entities: vec![updated.clone()],
        ..change(2, fixture.actor)
    };
    fixture.store.change_entities(first).await.unwrap();
    let second = NewEntityChange {
        inserted_relations: vec![relation(15, 2, "TO", 4)],
        updated_entities: vec![EntityRow { props: vec![8], ..updated.clone() }],
        ..change(2, fixture.actor)
    };
    let refused = fixture.store.change_entities(second).await;
    assert!(matches!(refused, Err(ChangeEntitiesError::Moved)), "{refused:?}");
    // Who looks goes on seeing the moment at which they began.
    assert_eq!(then.count_entities(None, None).await.unwrap(), 4);
    drop(then);
    let now = fixture.store.entities_now().await.unwrap();
    assert_eq!(now.entity("Hub", "h").await.unwrap(), Some(updated));
    assert_eq!(now.count_entities(None, None).await.unwrap(), 3);
    assert_eq!(now.relations_of(Uuid::from_u128(2), 9).await.unwrap(), [relation(11, 1, "SPOKE", 2)]);
}

#[tokio::test]
async fn a_change_whose_answer_is_lost_is_there_once() {
    let lost = Arc::new(AtomicBool::new(false));
    let losing = Arc::clone(&lost);
    let faults =
        Faults::new(move |step| match step == Step::AfterCommit && losing.swap(false, Ordering::Relaxed) {
            true => Action::Fail(Fault::ConnectionLost),
            false => Action::Continue,
        });
    let fixture = Fixture::with_faults(faults).await;
    lost.store(true, Ordering::Relaxed);
    let making = Some(Idempotency { key: b"k".to_vec(), digest: vec![1; 32] });
    let new = change(1, fixture.actor);
    let new = NewEntityChange {
        change: EntityChange { making: making.clone(), ..new.change.clone() },
        inserted_entities: vec![entity(1, "Hub", "h")],
        ..new
    };
    let stored = new.change.clone();
    fixture.store.change_entities(new).await.unwrap();
    assert!(!lost.load(Ordering::Relaxed), "the answer was lost");
    let now = fixture.store.entities_now().await.unwrap();
    assert_eq!(now.change_made_under(b"k").await.unwrap(), Some(stored));
    assert_eq!(now.count_entities(None, None).await.unwrap(), 1);
    drop(now);
    // The key is taken, at any revision.
    let new = change(2, fixture.actor);
    let again = NewEntityChange { change: EntityChange { making, ..new.change.clone() }, ..new };
    assert!(matches!(fixture.store.change_entities(again).await, Err(ChangeEntitiesError::Moved)));
}
