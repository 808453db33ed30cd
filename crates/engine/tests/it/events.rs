//! What readers of events are told, and what they are not kept from.

use std::collections::BTreeMap;

use lmlang_engine::{Change, Cursor, Engine, Error, Event, Events, Selector, Told};

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module app\n\nfunc price() -> (i64) {\n  a = const.i64 0\n  return a\n}\n";

fn price(number: usize) -> String {
    format!("func price() -> (i64) {{\n  a = const.i64 {number}\n  return a\n}}\n")
}

async fn name(engine: &Engine, told: Told) -> String {
    let program = engine.find_recorded(told.program).await.unwrap().info().name.clone();
    match told.event {
        Event::Entry(entry) => format!("{program} r{}", entry.number),
        Event::Program { name, change: Change::Added, .. } => format!("{name} added"),
        Event::Program { name, change: Change::Removed, .. } => format!("{name} removed"),
        Event::Program { name, change: Change::Renamed, .. } => format!("renamed {name}"),
        Event::Program { name, change: Change::Modified, .. } => format!("{name} changed"),
        Event::Refused { .. } => format!("{program} refused"),
        Event::Gap { from, to } => format!("{program} gap r{from} to r{to}"),
    }
}

async fn told(events: &mut Events) -> Option<Told> {
    let next = tokio::time::timeout(std::time::Duration::from_secs(30), events.recv()).await;
    next.expect("an event comes").transpose().unwrap()
}

async fn next(engine: &Engine, events: &mut Events) -> String {
    match told(events).await {
        Some(told) => name(engine, told).await,
        None => "end".to_owned(),
    }
}

async fn delete(engine: &Engine, name: &str) {
    assert!(engine.delete_program(&Selector::Name(name.to_owned()), &call()).await.unwrap());
}

/// More events than the channel to a reader and the memory for live ones hold together.
const MANY: usize = 100;

#[tokio::test]
async fn a_slow_reader_of_all_programs_misses_no_entry() {
    let fixture = Fixture::new(OFTEN).await;
    fixture.create("shop", TEXT).await;
    let mut events = fixture.engine.all_events(None).await.unwrap();
    fixture.create("bank", TEXT).await;
    for number in 1..=MANY {
        fixture.replace("shop", "app::price", &price(number)).await;
        fixture.replace("bank", "app::price", &price(number)).await;
    }
    let mut last = [1, 0];
    while last != [MANY + 1, MANY + 1] {
        let event = next(&fixture.engine, &mut events).await;
        let Some((program, number)) = event.split_once(" r") else { continue };
        let last = &mut last[usize::from(program == "bank")];
        assert_eq!(number.parse(), Ok(*last + 1), "{event}");
        *last += 1;
    }
}

#[tokio::test]
async fn a_reader_goes_on_after_its_cursor() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    for number in 1..=MANY {
        fixture.replace("shop", "app::price", &price(number)).await;
    }
    let mut events = fixture.engine.events(&open, Some(40)).await.unwrap();
    for number in 41..=MANY + 1 {
        assert_eq!(next(&fixture.engine, &mut events).await, format!("shop r{number}"));
    }
    fixture.replace("shop", "app::price", &price(0)).await;
    assert_eq!(next(&fixture.engine, &mut events).await, format!("shop r{}", MANY + 2));
}

#[tokio::test]
async fn a_deletion_is_told_and_leaves_other_programs_alone() {
    let fixture = Fixture::new(OFTEN).await;
    let (shop, bank) = (fixture.create("shop", TEXT).await, fixture.create("bank", TEXT).await);
    let mut all = fixture.engine.all_events(None).await.unwrap();
    let mut of_shop = fixture.engine.events(&shop, None).await.unwrap();
    let mut of_bank = fixture.engine.events(&bank, None).await.unwrap();
    delete(&fixture.engine, "shop").await;
    fixture.replace("bank", "app::price", &price(1)).await;
    assert_eq!(next(&fixture.engine, &mut all).await, "shop removed");
    assert_eq!(next(&fixture.engine, &mut all).await, "bank r2");
    assert_eq!(next(&fixture.engine, &mut of_shop).await, "shop removed");
    assert_eq!(next(&fixture.engine, &mut of_shop).await, "end");
    assert_eq!(next(&fixture.engine, &mut of_bank).await, "bank r2");
    // The name is free again, for another program.
    let again = fixture.create("shop", TEXT).await;
    assert_ne!(again.info().id, shop.info().id);
    assert_eq!(next(&fixture.engine, &mut all).await, "shop added");
}

#[tokio::test]
async fn a_place_that_nothing_has_come_to_is_no_cursor() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    assert!(engine.events(&open, Some(1)).await.is_ok());
    let refused = engine.events(&open, Some(2)).await.unwrap_err().to_string();
    assert_eq!(refused, "`r2` is not a cursor of the events of this program: the newest one is `r1`");
    let all = async |cursor: &str| engine.all_events(Some(Cursor::of_all(cursor)?)).await;
    assert!(all("p1.1").await.is_ok());
    for (cursor, why) in [
        ("p2.1", "the newest one is `p1.1`"),
        ("p1.2", "the newest one is `p1.1`"),
        ("p18446744073709551615.0", "the newest one is `p1.1`"),
        ("r1", "it is one of the events of one program"),
        ("shop", "one looks like `p12.3`"),
    ] {
        let refused = all(cursor).await.unwrap_err();
        let expected = format!("`{cursor}` is not a cursor of the events of all programs: {why}");
        assert!(matches!(refused, Error::CursorInvalid { .. }));
        assert_eq!(refused.to_string(), expected);
    }
    let refused = Cursor::of_program("p1.1").unwrap_err().to_string();
    assert_eq!(
        refused,
        "`p1.1` is not a cursor of the events of this program: it is one of the events of all programs"
    );
}

/// Makes, changes, renames and deletes programs; what is told of it.
async fn busy(fixture: &Fixture) -> Vec<String> {
    let engine = &fixture.engine;
    let shop = Selector::Name("shop".to_owned());
    let open = fixture.create("shop", TEXT).await;
    fixture.replace("shop", "app::price", &price(1)).await;
    fixture.create("bank", TEXT).await;
    fixture.replace("bank", "app::price", &price(2)).await;
    engine.update_program(&shop, Some("store"), Some("sells"), &call()).await.unwrap();
    let store = Selector::Name("store".to_owned());
    engine.update_program(&store, Some("store"), Some("buys"), &call()).await.unwrap();
    engine.update_program(&store, Some("store"), Some("buys"), &call()).await.unwrap();
    engine.create_checkpoint(&open, "then", None, &call()).await.unwrap();
    fixture.replace("bank", "app::price", &price(3)).await;
    delete(engine, "bank").await;
    fixture.create("bank", TEXT).await;
    fixture.replace("store", "app::price", &price(4)).await;
    let expected = "shop added, store r1, store r2, bank added, bank r1, bank r2, renamed store, store changed, store r3, \
        bank r3, bank removed, bank added, bank r1, store r4";
    expected.split(", ").map(str::to_owned).collect()
}

#[tokio::test]
async fn the_events_of_all_programs_go_on_after_each_of_them() {
    let fixture = Fixture::new(OFTEN).await;
    let start = fixture.engine.cursor().await.unwrap();
    assert!(matches!(start, Cursor::All(_)), "{start}");
    let mut live = fixture.engine.all_events(None).await.unwrap();
    let expected = busy(&fixture).await;
    let mut cursors = vec![start];
    for event in &expected {
        let told = told(&mut live).await.unwrap();
        cursors.push(told.cursor);
        assert_eq!(name(&fixture.engine, told).await, *event);
    }
    assert_eq!(cursors[expected.len()], fixture.engine.cursor().await.unwrap());
    // From each of them on, after a restart as well.
    let fixture = fixture.reopened(&[]).await;
    for (seen, cursor) in cursors.iter().enumerate() {
        let mut events = fixture.engine.all_events(Some(*cursor)).await.unwrap();
        for event in &expected[seen..] {
            assert_eq!(next(&fixture.engine, &mut events).await, *event);
        }
        assert!(events.try_recv().is_err());
    }
    let mut events = fixture.engine.all_events(cursors.last().copied()).await.unwrap();
    fixture.replace("store", "app::price", &price(5)).await;
    assert_eq!(next(&fixture.engine, &mut events).await, "store r5");
}

#[tokio::test]
async fn writers_of_several_programs_are_told_each_in_its_order() {
    let fixture = Fixture::new(OFTEN).await;
    let names = ["a", "b", "c", "d"];
    for name in names {
        fixture.create(name, TEXT).await;
    }
    let mut events = fixture.engine.all_events(None).await.unwrap();
    let write = async |name| {
        for number in 1..=20 {
            fixture.replace(name, "app::price", &price(number)).await;
        }
    };
    let read = async {
        let mut seen = BTreeMap::new();
        for _ in 0..80 {
            let Told { program, event: Event::Entry(entry), .. } = told(&mut events).await.unwrap() else {
                panic!("nothing else happens");
            };
            assert_eq!(seen.insert(program, entry.number).unwrap_or(1) + 1, entry.number);
        }
        seen.into_values().collect::<Vec<_>>()
    };
    let [a, b, c, d] = names;
    let ((), (), (), (), seen) = tokio::join!(write(a), write(b), write(c), write(d), read);
    assert_eq!(seen, [21; 4]);
}
