//! Changes that meet each other.

use lmlang_engine::Way;
use lmlang_history::line::Distance;
use lmlang_ir::text::{Detail, print_program};

use crate::fixture::{Fixture, OFTEN};

fn price(number: u64) -> String {
    format!("func price() -> (i64) {{\n  a = const.i64 {number}\n  return a\n}}\n")
}

#[tokio::test]
async fn undo_goes_through_revisions_that_are_not_stored_yet() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    let (one, two, three) = (price(1), price(2), price(3));
    // Each is planned on what the one before has submitted, before the database has answered.
    tokio::join!(
        fixture.replace("shop", "app::price", &one),
        fixture.replace("shop", "app::price", &two),
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
        async { assert!(fixture.travel(&open, Way::Redo(Distance::Steps(2))).await) },
        fixture.replace("shop", "app::price", &three),
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
    );
    let head = open.timeline.head();
    assert_eq!(head.last, 8);
    let text = print_program(head.revision.checked.program(), Detail::Full);
    assert!(text.contains("const.i64 2"), "{text}");
    let findings = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(findings.findings().collect::<Vec<_>>(), Vec::<String>::new());
}
