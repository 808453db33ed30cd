//! Backups: entities, what the Manager keeps and declared flows are where a backup is loaded, or nothing is.

use std::path::Path;

use lmlang_store::backup::{
    BackupFile, Choice, Contents, Fate, Item, LoadError, Part, PartItem, PartsInFile, Refusal, Wishes,
};
use lmlang_store::{
    Actor, ActorKey, ActorKind, EntityChange, EntityRow, FlowChange, Idempotency, ManagerChange,
    ManagerRecord, NewEntityChange, Store, Timestamp,
};
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use crate::backup::{backup, backup_in, cases, load, refusals, wishes};
use crate::entities::{all_are_found, change, entity, relation, wheel, with_props};
use crate::fixture::Fixture;

/// Keeps something in the Manager, or takes it away.
async fn keep(store: &Store, actor: ActorKey, name: &str, value: Option<&str>) {
    let value = value.map(|value| value.as_bytes().to_vec());
    let record = ManagerRecord { kind: "stream".to_owned(), name: name.to_owned(), value };
    let revision = store.manager_revision().await.unwrap() + 1;
    let (id, time) = (Uuid::now_v7(), Timestamp(revision.cast_signed() * 3));
    let change = ManagerChange { revision, id, time, actor, records: vec![record] };
    store.change_manager(change).await.unwrap();
}

/// Declares a flow, or takes it away.
async fn declare(store: &Store, actor: ActorKey, name: &str, definition: Option<&str>) {
    let revision = store.flow_revision().await.unwrap() + 1;
    let (id, time) = (Uuid::now_v7(), Timestamp(revision.cast_signed() * 5));
    let definition = definition.map(|text| text.as_bytes().to_vec());
    let (name, version) = (name.to_owned(), 7);
    store.change_flows(FlowChange { revision, id, time, actor, name, version, definition }).await.unwrap();
}

/// All that belongs to no program, without what means something in one database only.
async fn known(store: &Store) -> Vec<String> {
    let view = store.entities_now().await.unwrap();
    let rows = view.entities(None, None, None, 10_000).await.unwrap();
    let mut known = vec![format!("entities r{}", view.revision().await.unwrap())];
    // Of many, all are in the file that is made of them.
    for row in rows.into_iter().take(40) {
        let mut relations = view.relations_of(row.id, 10_000).await.unwrap();
        relations.sort_by_key(|relation| relation.id);
        known.push(format!("{row:?} {relations:?}"));
    }
    for number in 0..KEYS {
        if let Some(made) = view.change_made_under(&key(number)).await.unwrap() {
            let EntityChange { revision, id, time, actor, counts, making } = made;
            let actor = store.actor(actor).await.unwrap().unwrap();
            known.push(format!("r{revision} {id} {time:?} {counts:?} {making:?} by {actor:?}"));
        }
    }
    let (revision, mut records) = store.manager_records().await.unwrap();
    records.sort_by_key(|record| record.name.clone());
    known.push(format!("Manager r{revision} {records:?}"));
    for flow in store.declared_flows().await.unwrap() {
        let FlowChange { revision, id, time, actor, name, version, definition } = flow;
        let actor = store.actor(actor).await.unwrap().unwrap();
        known.push(format!("{name} {version} r{revision} {id} {time:?} {definition:?} by {actor:?}"));
    }
    known
}

/// Idempotency keys of changes of entities.
const KEYS: u32 = 12;

fn key(number: u32) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Changes entities, what the Manager keeps, or flows, a function of a number.
async fn work(fixture: &Fixture, number: u32) {
    let store = &fixture.store;
    let by = Actor { name: format!("by {}", number % 5), kind: ActorKind::Agent, client: None };
    let actor = store.actor_key(&by).await.unwrap();
    let (pick, names) = ((number / 8) as usize, ["a", "é", "zz", ""]);
    let name = names[pick % 4];
    if number % 8 < 2 {
        let value = number.to_string();
        return keep(store, actor, name, Some(&*value).filter(|_| number.is_multiple_of(8))).await;
    }
    if number % 8 == 7 && pick.is_multiple_of(2) {
        let value = number.to_string();
        return declare(store, actor, name, Some(&*value).filter(|_| !pick.is_multiple_of(6))).await;
    }
    let view = store.entities_now().await.unwrap();
    let revision = view.revision().await.unwrap() + 1;
    let rows = view.entities(None, None, None, 10_000).await.unwrap();
    let one = rows.get(pick % rows.len().max(1)).cloned();
    let other = rows.get(number as usize % rows.len().max(1)).cloned();
    let mut new = change(revision, actor);
    let free = view.change_made_under(&key(number % KEYS)).await.unwrap().is_none();
    let making = Idempotency { key: key(number % KEYS), digest: vec![number as u8; 32] };
    new.change.making = Some(making).filter(|_| free);
    new.change.time = Timestamp(number.into());
    let id = u128::from(revision) << 64 | u128::from(number) << 16;
    match (number % 8, one, other) {
        (2, Some(one), _) => {
            let relations = view.relations_of(one.id, 10_000).await.unwrap();
            new.deleted_relations = relations.iter().map(|relation| relation.id).collect();
            new.deleted_entities = vec![one.id];
        }
        (3, Some(mut one), _) => {
            one.updated = Timestamp(number.into());
            new.updated_entities = vec![with_props(one, &json!({ "count": number, "other": "x" }))];
        }
        (4 | 5, Some(one), Some(other)) => {
            if view.relation(one.id, name, other.id).await.unwrap().is_none() {
                let mut row = relation(id, 0, name, 0);
                (row.source, row.target) = (one.id, other.id);
                new.inserted_relations = vec![row];
            }
        }
        _ => {
            // More than are read at a time, or a few.
            let many = if pick.is_multiple_of(4) { 300 } else { number % 6 };
            for count in 0..=u128::from(many) {
                let name = format!("{name}{revision}-{count}");
                let props = json!({ "count": count as u64 % 7, "many": many > 9, "name": name });
                let new_one = entity(id | count, ["Hub", "Rim"][pick % 2], &name);
                new.inserted_entities.push(with_props(new_one, &props));
            }
        }
    }
    drop(view);
    store.change_entities(new).await.unwrap();
}

/// What would become of parts.
async fn planned(store: &Store, path: &Path, wishes: &Wishes) -> Vec<(Part, Fate, u64)> {
    let file = BackupFile::open(path).unwrap();
    let plan = store.plan(&file, wishes).await.unwrap();
    plan.parts().iter().map(|planned| (planned.part, planned.fate, planned.changes)).collect()
}

fn contents(path: &Path) -> Contents {
    BackupFile::open(path).unwrap().contents().clone()
}

/// What a file says, without the numbers that actors have in it.
fn told(path: &Path, actor: ActorKey) -> Vec<String> {
    let file = BackupFile::open(path).unwrap();
    let told = file.items().unwrap().map(|item| match item.unwrap() {
        Item::Part(item) => match *item {
            PartItem::EntityChange(change, by) => format!("{:?} {by:?}", EntityChange { actor, ..change }),
            PartItem::ManagerChange(mut change, by) => {
                change.actor = actor;
                format!("{change:?} {by:?}")
            }
            PartItem::FlowChange(change, by) => format!("{:?} {by:?}", FlowChange { actor, ..change }),
            PartItem::Entity(row) => format!("{row:?}"),
            PartItem::Relation(row) => format!("{row:?}"),
            PartItem::ManagerRecord(record) => format!("{record:?}"),
        },
        other => panic!("there are no programs: {other:?}"),
    });
    told.collect()
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn what_belongs_to_no_program_comes_back(first in prop::collection::vec(any::<u32>(), 1..20),
                                             then in prop::collection::vec(any::<u32>(), 0..20)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (from, to) = (Fixture::new().await, Fixture::new().await);
            for part in [first, then] {
                for number in part {
                    work(&from, number).await;
                }
                let path = backup_in(from.db.folder(), &from.store).await;
                load(&to.store, &path, &wishes()).await.unwrap();
                assert_eq!(known(&to.store).await, known(&from.store).await);
                all_are_found(&to.store).await;
                let again = planned(&to.store, &path, &wishes()).await;
                assert!(again.iter().all(|it| (it.1, it.2) == (Fate::Kept, 0)), "{again:?}");
                // What is made of the one is made of the other.
                let there = backup_in(to.db.folder(), &to.store).await;
                assert_eq!(contents(&there).parts, contents(&path).parts);
                assert_eq!(told(&there, from.actor), told(&path, from.actor));
            }
            // Both go on as ever.
            for fixture in [&from, &to] {
                let revision = fixture.store.entities_now().await.unwrap().revision().await.unwrap() + 1;
                fixture.store.change_entities(change(revision, fixture.actor)).await.unwrap();
                keep(&fixture.store, fixture.actor, "last", Some("1")).await;
                declare(&fixture.store, fixture.actor, "last", Some("1")).await;
            }
        });
    }
}

#[tokio::test]
async fn what_went_two_ways_is_refused_and_what_is_chosen_comes_in() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    wheel(&from).await;
    keep(&from.store, from.actor, "s", Some("1")).await;
    let path = backup_in(from.db.folder(), &from.store).await;
    let expect = [(Part::Entities, Fate::Made, 1), (Part::Manager, Fate::Made, 1)];
    assert_eq!(planned(&to.store, &path, &wishes()).await, expect);
    load(&to.store, &path, &wishes()).await.unwrap();
    // The one goes on alone.
    let update = |props, revision| NewEntityChange {
        updated_entities: vec![EntityRow { props, ..entity(3, "Rim", "a") }],
        ..change(revision, from.actor)
    };
    from.store.change_entities(update(vec![8], 2)).await.unwrap();
    let path = backup_in(from.db.folder(), &from.store).await;
    let expect = [(Part::Entities, Fate::Continued, 1), (Part::Manager, Fate::Kept, 0)];
    assert_eq!(planned(&to.store, &path, &wishes()).await, expect);
    load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!(known(&to.store).await, known(&from.store).await);
    // Here is more than in the backup: that stays.
    to.store.change_entities(update(vec![9], 3)).await.unwrap();
    let before = known(&to.store).await;
    load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!(known(&to.store).await, before);
    // And then in another way.
    from.store.change_entities(update(vec![7], 3)).await.unwrap();
    keep(&from.store, from.actor, "s", None).await;
    keep(&to.store, to.actor, "s", Some("2")).await;
    from.program("a").await;
    let b = from.program("b").await;
    let b = from.store.program(b).await.unwrap().unwrap().id;
    let (before, path) = (known(&to.store).await, backup_in(from.db.folder(), &from.store).await);
    let refused = refusals(&to.store, &path, &wishes()).await;
    let diverged = [(Part::Entities, 3), (Part::Manager, 2)];
    assert_eq!(refused, diverged.map(|(part, change)| Refusal::PartDiverged { part, change }));
    assert_eq!(refused[0].to_string(), "the entities went another way here: change 3 is another one");
    assert_eq!(known(&to.store).await, before);
    assert_eq!(to.store.check(None).await.unwrap().programs, 0);
    let only = Wishes { only: Some([b].into()), ..wishes() };
    assert_eq!(load(&to.store, &path, &only).await.unwrap().len(), 1);
    assert_eq!(known(&to.store).await, before);
}

#[tokio::test]
async fn a_backup_of_chosen_programs_has_programs_only() {
    let from = Fixture::new().await;
    wheel(&from).await;
    keep(&from.store, from.actor, "s", Some("1")).await;
    let a = from.program("a").await;
    let a = from.store.program(a).await.unwrap().unwrap().id;
    let path = from.db.folder().join("file");
    let told = async |choice: Choice| {
        std::fs::write(&path, backup(&from.store, choice).await).unwrap();
        let contents = contents(&path);
        (contents.parts, contents.left_out().len())
    };
    let all = PartsInFile {
        entity_changes: 1,
        entities: 4,
        relations: 4,
        manager_changes: 1,
        manager_records: 1,
        flow_changes: 0,
    };
    assert_eq!(told(Choice { only: None, live: true }).await, (Some(all), 3));
    assert_eq!(told(Choice { only: Some(vec![a]), live: false }).await, (None, 6));
    // What is not in it takes nothing away.
    let to = Fixture::new().await;
    wheel(&to).await;
    let before = known(&to.store).await;
    assert_eq!(planned(&to.store, &path, &wishes()).await, []);
    assert_eq!(load(&to.store, &path, &wishes()).await.unwrap().len(), 1);
    assert_eq!(known(&to.store).await, before);
    // Nor does what is in it and empty.
    let empty = Fixture::new().await;
    let path = backup_in(empty.db.folder(), &empty.store).await;
    assert_eq!(contents(&path).parts, Some(PartsInFile::default()));
    load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!(known(&to.store).await, before);
}

#[tokio::test]
async fn what_another_process_has_changed_meanwhile_stays() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    wheel(&from).await;
    from.program("a").await;
    let path = backup_in(from.db.folder(), &from.store).await;
    let file = BackupFile::open(&path).unwrap();
    let plan = to.store.plan(&file, &wishes()).await.unwrap();
    let new = NewEntityChange { inserted_entities: vec![entity(9, "Hub", "mine")], ..change(1, to.actor) };
    to.store.change_entities(new).await.unwrap();
    let before = known(&to.store).await;
    let error = to.store.take_in(&file, &plan, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, LoadError::PartMoved { part: Part::Entities }), "{error}");
    assert_eq!(known(&to.store).await, before);
    assert!(to.store.program_by_name("a").await.unwrap().is_some(), "programs come first");
}

#[tokio::test]
async fn what_cannot_be_stored_whole_leaves_what_was_there() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    if !to.db.is_file() {
        // The trigger is written as SQLite has them.
        return;
    }
    wheel(&from).await;
    let path = backup_in(from.db.folder(), &from.store).await;
    load(&to.store, &path, &wishes()).await.unwrap();
    let more =
        NewEntityChange { inserted_relations: vec![relation(15, 2, "LAST", 3)], ..change(2, from.actor) };
    from.store.change_entities(more).await.unwrap();
    let path = backup_in(from.db.folder(), &from.store).await;
    let before = known(&to.store).await;
    let full = "CREATE TRIGGER \"full\" BEFORE INSERT ON relations WHEN new.kind = x'4c415354' \
                BEGIN SELECT RAISE(ABORT, 'no room'); END";
    let to = to.reopened_after(full).await;
    assert!(matches!(load(&to.store, &path, &wishes()).await, Err(LoadError::Storage(_))));
    assert_eq!(known(&to.store).await, before);
    let to = to.reopened_after("DROP TRIGGER \"full\"").await;
    load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!(known(&to.store).await, known(&from.store).await);
}

/// By the last lmlang that wrote version 2: `b`, which was renamed, with two entries, and `gone`, which was deleted.
const VERSION_2: &str = "\
    896c6d62616b0d0a020096000000b204000028b52ffd60b20365040082071a22902b1d40dd1d9236b418ce069628f32f04a7\
    3ffe59568f5c139efc21f6d952a694022ede579f3c7c31fd460f480305944d82d051583091414236b665c7d6aefd5eb50df8\
    ee5bd7bc75ada4498a26e536463bffcdc5be90258e032b181017ce242b8bccf8ee00070b007a4b40b68442312e42401483c4\
    1bf132b7d40364031a8d82539bb9029001146fc78c4991d86e1fcd9c7599cef9f749b9f64ed80bd2aa4b14a2b70fa6a3220c";

#[tokio::test]
async fn a_file_of_the_version_before_is_loaded_as_ever() {
    let to = Fixture::new().await;
    wheel(&to).await;
    let before = known(&to.store).await;
    let digits = VERSION_2.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
    let bytes: Vec<u8> = digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect();
    let path = to.db.folder().join("file");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!((contents(&path).entries, contents(&path).parts), (3, None));
    let loaded = load(&to.store, &path, &wishes()).await.unwrap();
    let told: Vec<_> = loaded.iter().map(|it| (it.name.as_str(), it.deleted, it.fate, it.entries)).collect();
    assert_eq!(told, [("b", false, Fate::Made, 2), ("gone", true, Fate::Made, 1)]);
    assert_eq!(known(&to.store).await, before);
    assert_eq!(to.store.check(None).await.unwrap().findings, []);
}
