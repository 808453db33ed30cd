//! Flows that were declared are there in their newest version, and one of two who plan on one revision gives way.

use lmlang_store::{ChangeFlowsError, FlowChange, Timestamp};
use uuid::Uuid;

use crate::fixture::Fixture;

#[tokio::test]
async fn the_newest_change_of_each_flow_is_there() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    assert_eq!(
        (store.flow_revision().await.unwrap(), store.declared_flows().await.unwrap()),
        (0, Vec::new())
    );
    let change = |revision: u64, name: &str, version, definition: Option<&str>| FlowChange {
        revision,
        id: Uuid::now_v7(),
        time: Timestamp(revision.cast_signed()),
        actor: fixture.actor,
        name: name.to_owned(),
        version,
        definition: definition.map(|text| text.as_bytes().to_vec()),
    };
    let made = [
        change(1, "b-c", 1, Some("one")),
        change(2, "b_a", 1, Some("two")),
        change(3, "b-c", 2, Some("three")),
        change(4, "b_a", 1, None),
    ];
    for change in &made {
        store.change_flows(change.clone()).await.unwrap();
        // As after a lost answer.
        store.change_flows(change.clone()).await.unwrap();
    }
    let late = store.change_flows(change(4, "x", 1, Some("late"))).await;
    assert!(matches!(late, Err(ChangeFlowsError::Moved)), "{late:?}");
    assert_eq!(store.flow_revision().await.unwrap(), 4);
    assert_eq!(store.declared_flows().await.unwrap(), [made[2].clone(), made[3].clone()]);
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store.declared_flows().await.unwrap(), made[2..]);
}
