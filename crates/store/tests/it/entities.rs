//! Entities: stored from one revision to the next, read as they were at one moment.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lmlang_entities::{Indexed, Props, encoding};
use lmlang_store::{
    Action, ActorKey, ChangeEntitiesError, EntityChange, EntityCounts, EntityRow, Fault, Faults, Idempotency,
    NewEntityChange, RelationEnd, RelationRow, Step, Store, Timestamp, ValueDigest,
};
use serde_json::{Value, json};
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

/// An entity with properties.
pub(crate) fn with_props(of: EntityRow, props: &Value) -> EntityRow {
    EntityRow { props: encoding::to_bytes(&Props::from_json(props).unwrap()), ..of }
}

/// The digest of a value.
pub(crate) fn digest(label: &str, prop: &str, value: &Value) -> ValueDigest {
    let props = Props::from_json(&json!({ "it": value })).unwrap();
    ValueDigest::of(label, prop, &Indexed::of(props.get("it").unwrap()).unwrap())
}

/// The keys of the entities of a label that are found by a value.
pub(crate) async fn having(store: &Store, label: &str, prop: &str, value: Value) -> Vec<String> {
    let now = store.entities_now().await.unwrap();
    let found = now.entities_having(&digest(label, prop, &value), None, 1_000).await.unwrap();
    found.into_iter().map(|row| row.name).collect()
}

/// That every entity is found by what its properties say, and by nothing else.
pub(crate) async fn all_are_found(store: &Store) {
    let now = store.entities_now().await.unwrap();
    let rows = now.entities(None, None, None, 10_000).await.unwrap();
    for some in rows.chunks(500) {
        assert_eq!(now.found_otherwise(some).await.unwrap(), BTreeSet::new());
    }
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

/// Entities with values: three of `A`, of which two are open, and one of `B`.
async fn valued(fixture: &Fixture) {
    let of = |id, label, name, props: Value| with_props(entity(id, label, name), &props);
    let new = NewEntityChange {
        inserted_entities: vec![
            of(1, "A", "z", json!({ "state": "open", "n": 3, "done": false })),
            of(2, "A", "é", json!({ "state": "open", "n": 3.0, "tags": ["open"] })),
            of(3, "A", "a", json!({ "state": "shut", "n": "3", "long": "x".repeat(60_000) })),
            of(4, "B", "z", json!({ "state": "open" })),
        ],
        ..change(1, fixture.actor)
    };
    fixture.store.change_entities(new).await.unwrap();
}

#[tokio::test]
async fn entities_are_found_by_their_values_as_these_change() {
    let fixture = Fixture::new().await;
    valued(&fixture).await;
    let store = &fixture.store;
    assert_eq!(having(store, "A", "state", json!("open")).await, ["z", "é"]);
    assert_eq!(having(store, "B", "state", json!("open")).await, ["z"]);
    assert_eq!(having(store, "A", "n", json!(3)).await, ["z", "é"]);
    assert_eq!(having(store, "A", "n", json!("3")).await, ["a"]);
    assert_eq!(having(store, "A", "done", json!(false)).await, ["z"]);
    assert_eq!(having(store, "A", "long", json!("x".repeat(60_000))).await, ["a"]);
    assert_eq!(having(store, "A", "long", json!("x".repeat(59_999))).await, Vec::<String>::new());
    let now = store.entities_now().await.unwrap();
    let open = digest("A", "state", &json!("open"));
    assert_eq!(names(&now.entities_having(&open, None, 1).await.unwrap()), ["A:z"]);
    assert_eq!(names(&now.entities_having(&open, Some("z"), 9).await.unwrap()), ["A:é"]);
    assert_eq!(now.count_having(&open, 9).await.unwrap(), 2);
    assert_eq!(now.count_having(&open, 1).await.unwrap(), 1);
    assert_eq!((now.count_some(Some("A"), 9).await.unwrap(), now.count_some(None, 9).await.unwrap()), (3, 4));
    assert_eq!(now.count_some(Some("A"), 2).await.unwrap(), 2);

    let next = NewEntityChange {
        deleted_entities: vec![Uuid::from_u128(2)],
        updated_entities: vec![with_props(entity(1, "A", "z"), &json!({ "state": "shut", "n": 4 }))],
        inserted_entities: vec![with_props(entity(5, "A", "m"), &json!({ "state": "shut" }))],
        ..change(2, fixture.actor)
    };
    store.change_entities(next).await.unwrap();
    // Who looks goes on seeing the moment at which they began.
    assert_eq!(names(&now.entities_having(&open, None, 9).await.unwrap()), ["A:z", "A:é"]);
    drop(now);
    assert_eq!(having(store, "A", "state", json!("open")).await, Vec::<String>::new());
    assert_eq!(having(store, "A", "state", json!("shut")).await, ["a", "m", "z"]);
    assert_eq!(having(store, "A", "n", json!(3)).await, Vec::<String>::new());
    assert_eq!(having(store, "A", "done", json!(false)).await, Vec::<String>::new());
    all_are_found(store).await;

    // What is not stored changes none.
    let refused = NewEntityChange {
        updated_entities: vec![with_props(entity(1, "A", "z"), &json!({ "state": "lost" }))],
        ..change(2, fixture.actor)
    };
    assert!(matches!(store.change_entities(refused).await, Err(ChangeEntitiesError::Moved)));
    assert_eq!(having(store, "A", "state", json!("shut")).await, ["a", "m", "z"]);
    let rows = fixture.db.number("SELECT count(*) FROM entity_values").await;
    // `state` and `n` of one, three of another, `state` of the two others.
    assert_eq!(rows, 2 + 3 + 1 + 1);
}

#[tokio::test]
async fn values_that_stay_are_not_written_again() {
    let fixture = Fixture::new().await;
    valued(&fixture).await;
    // Whatever is written again has a name again.
    fixture.db.execute("UPDATE entity_values SET name = digest").await;
    let next = NewEntityChange {
        updated_entities: vec![with_props(
            entity(1, "A", "z"),
            &json!({ "state": "open", "n": 4, "done": false, "new": 1 }),
        )],
        ..change(2, fixture.actor)
    };
    fixture.store.change_entities(next).await.unwrap();
    let kept = fixture.db.number("SELECT count(*) FROM entity_values WHERE name = digest").await;
    // All but `n` of the one: `state` and `done` of it, two of the second, three of the third, `state` of the last.
    assert_eq!(kept, 2 + 2 + 3 + 1);
    assert_eq!(fixture.db.number("SELECT count(*) FROM entity_values").await, kept + 2);
}

#[tokio::test]
async fn entities_of_before_are_found_by_their_values_too() {
    let fixture = Fixture::new().await;
    valued(&fixture).await;
    let many = (0..600).map(|number| {
        with_props(
            entity(1_000 + number, "Many", &format!("{number:03}")),
            &json!({ "odd": number % 2 == 1 }),
        )
    });
    // One that cannot be read stays as it is.
    let many = many.chain([entity(9, "Many", "x")]).collect();
    let new = NewEntityChange { inserted_entities: many, ..change(2, fixture.actor) };
    fixture.store.change_entities(new).await.unwrap();
    let before = "DROP TABLE entity_values; \
                  DELETE FROM seaql_migrations WHERE version = 'm20261128_000023_entity_values'";
    let fixture = fixture.reopened_after(before).await;
    all_are_found(&fixture.store).await;
    assert_eq!(having(&fixture.store, "A", "state", json!("open")).await, ["z", "é"]);
    assert_eq!(having(&fixture.store, "Many", "odd", json!(true)).await.len(), 300);
    assert_eq!(fixture.db.number("SELECT count(*) FROM entity_values").await, 3 + 2 + 3 + 1 + 600);
}
