//! What readers of events are told, and what they are not kept from.

use lmlang_engine::{Change, Engine, Error, Event, Events, Selector, Told};

use crate::fixture::{Fixture, OFTEN};

const TEXT: &str = "module app\n\nfunc price() -> (i64) {\n  a = const.i64 0\n  return a\n}\n";

fn price(number: usize) -> String {
    format!("func price() -> (i64) {{\n  a = const.i64 {number}\n  return a\n}}\n")
}

fn name(told: Told) -> String {
    let (open, event) = told;
    let program = open.info().name.clone();
    match event {
        Event::Entry(entry) => format!("{program} r{}", entry.number),
        Event::Program { change: Change::Added, .. } => format!("{program} added"),
        Event::Program { change: Change::Removed, .. } => format!("{program} removed"),
        Event::Program { name, .. } => format!("{program} is {name}"),
        Event::Refused { .. } => format!("{program} refused"),
        Event::Gap { from, to } => format!("{program} gap r{from} to r{to}"),
    }
}

async fn next(events: &mut Events) -> String {
    let next = tokio::time::timeout(std::time::Duration::from_secs(30), events.recv()).await;
    next.expect("an event comes").map_or_else(|| "end".to_owned(), |told| name(told.unwrap()))
}

async fn delete(engine: &Engine, name: &str) {
    assert!(engine.delete_program(&Selector::Name(name.to_owned())).await.unwrap());
}

/// More events than the channel to a reader and the memory for live ones hold together.
const MANY: usize = 100;

#[tokio::test]
async fn a_slow_reader_of_all_programs_misses_no_entry() {
    let fixture = Fixture::new(OFTEN).await;
    fixture.create("shop", TEXT).await;
    let mut events = fixture.engine.all_events();
    fixture.create("bank", TEXT).await;
    for number in 1..=MANY {
        fixture.replace("shop", "app::price", &price(number)).await;
        fixture.replace("bank", "app::price", &price(number)).await;
    }
    let mut last = [1, 1];
    while last != [MANY + 1, MANY + 1] {
        let event = next(&mut events).await;
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
    let mut events = fixture.engine.events(&open, Some(40)).unwrap();
    for number in 41..=MANY + 1 {
        assert_eq!(next(&mut events).await, format!("shop r{number}"));
    }
    fixture.replace("shop", "app::price", &price(0)).await;
    assert_eq!(next(&mut events).await, format!("shop r{}", MANY + 2));
}

#[tokio::test]
async fn a_deletion_is_told_and_leaves_other_programs_alone() {
    let fixture = Fixture::new(OFTEN).await;
    let (shop, bank) = (fixture.create("shop", TEXT).await, fixture.create("bank", TEXT).await);
    let mut all = fixture.engine.all_events();
    let mut of_shop = fixture.engine.events(&shop, None).unwrap();
    let mut of_bank = fixture.engine.events(&bank, None).unwrap();
    delete(&fixture.engine, "shop").await;
    fixture.replace("bank", "app::price", &price(1)).await;
    assert_eq!(next(&mut all).await, "shop removed");
    assert_eq!(next(&mut all).await, "bank r2");
    assert_eq!(next(&mut of_shop).await, "shop removed");
    assert_eq!(next(&mut of_shop).await, "end");
    assert_eq!(next(&mut of_bank).await, "bank r2");
    // The name is free again, for another program.
    let again = fixture.create("shop", TEXT).await;
    assert_ne!(again.info().id, shop.info().id);
    assert_eq!(next(&mut all).await, "shop added");
}

#[tokio::test]
async fn a_place_that_the_log_has_not_come_to_is_no_cursor() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    assert!(fixture.engine.events(&open, Some(1)).is_ok());
    let refused = fixture.engine.events(&open, Some(2));
    assert!(matches!(refused, Err(Error::CursorInvalid { given }) if given == "r2"));
}
