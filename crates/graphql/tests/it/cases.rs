//! Test cases as objects: found by their ids, hidden with their program, told about as far as a caller may ask.

use std::sync::Arc;

use lmlang_engine::{NewToken, Scope, Unnamed};
use lmlang_graphql::transport::{Actor, ActorKind, Caller};
use serde_json::{Value, json};

use crate::world::{World, ask_as};

const PROGRAM: &str = "module shop\n\npub func tax#f2 (n: i64) -> (i64) { return (add.i64 n, 1#n3) }\n";

async fn add(world: &World, name: &str) -> String {
    let add = r#"mutation($name: String!) {
        addCase(input: {programId: "shop", function: "tax", name: $name, args: [1], expected: [2]}) { case { id status } }
    }"#;
    let case = world.data(add, json!({ "name": name })).await["addCase"]["case"].take();
    assert_eq!(case["status"], "GREEN");
    case["id"].as_str().expect("it has an id").to_owned()
}

async fn edit(world: &World, more: i64) {
    let text = format!("pub func tax#f2 (n: i64) -> (i64) {{ return (add.i64 n, {more}#n3) }}");
    let edit = r#"mutation($text: String!) {
        proposeEdit(input: {programId: "shop", edits: [{replaceFunctionText: {ref: "f2", text: $text}}]}) { outcome { __typename } }
    }"#;
    let answer = world.data(edit, json!({ "text": text })).await;
    assert_eq!(answer["proposeEdit"]["outcome"]["__typename"], "EditApplied");
}

#[tokio::test]
async fn a_case_is_found_by_its_id_in_every_view() {
    let world = World::empty().await;
    world.create("shop", PROGRAM).await;
    let id = add(&world, "one").await;
    edit(&world, 5).await;
    let find =
        r#"query($id: ID!) { node(id: $id) { id ... on TestCase { name status lastGreen { number } } } }"#;
    let head = world.data(find, json!({ "id": id })).await["node"].take();
    assert_eq!(head, json!({ "id": id, "name": "one", "status": "RED", "lastGreen": { "number": 1 } }));
    let pinned = id.replace("/c-", "@r1/c-");
    let then = world.data(find, json!({ "id": pinned })).await["node"].take();
    assert_eq!(then, json!({ "id": pinned, "name": "one", "status": "GREEN", "lastGreen": { "number": 1 } }));

    let bisect = r#"mutation($id: ID!, $good: String!, $key: String) {
        bisect(input: {programId: "shop", case: $id, good: $good, bad: "main", idempotencyKey: $key}) { first { number } freshRuns lookedAt message }
    }"#;
    let variables = json!({ "id": id, "good": "r1", "key": "b" });
    let found = world.data(bisect, variables.clone()).await;
    assert_eq!(found["bisect"]["first"]["number"], 2);
    // The head has moved on, and the answer is the first one.
    edit(&world, 1).await;
    assert_eq!(world.data(bisect, variables).await, found);
    let other = world.ask(bisect, json!({ "id": id, "good": "r2", "key": "b" })).await;
    assert_eq!(other["errors"][0]["extensions"]["code"], "IDEMPOTENCY_MISMATCH", "{other}");
    let wrong = world.ask(bisect, json!({ "id": id, "good": "r1", "key": null })).await;
    assert_eq!(wrong["errors"][0]["extensions"]["data"], json!({ "path": "input.bad", "reason": "NOT_RED" }));

    let remove = r#"mutation($id: ID!, $key: String) { removeCase(input: {id: $id, idempotencyKey: $key}) { deleted } }"#;
    for _ in 0..2 {
        let removed = world.data(remove, json!({ "id": pinned, "key": "r" })).await;
        assert_eq!(removed, json!({ "removeCase": { "deleted": true } }));
    }
    let gone = world.ask(remove, json!({ "id": id })).await;
    assert_eq!(gone["errors"][0]["extensions"]["data"]["retired"], true, "{gone}");
    let gone = world.ask(find, json!({ "id": id })).await;
    assert_eq!(gone["errors"][0]["extensions"]["code"], "NOT_FOUND", "{gone}");
}

#[tokio::test]
async fn a_case_goes_with_its_program() {
    let world = World::empty().await;
    world.create("shop", PROGRAM).await;
    let id = add(&world, "one").await;
    world.data(r#"mutation { deleteProgram(input: {programId: "shop"}) { deleted } }"#, json!({})).await;
    world.create("shop", PROGRAM).await;
    let cases = world.data(r#"{ program(name: "shop") { cases { totalCount } } }"#, json!({})).await;
    assert_eq!(cases["program"]["cases"]["totalCount"], 0);
    for document in [
        r#"query($id: ID!) { node(id: $id) { id } }"#,
        r#"mutation($id: ID!) { removeCase(input: {id: $id}) { deleted } }"#,
    ] {
        let answer = world.ask(document, json!({ "id": id })).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND", "{answer}");
    }
}

#[tokio::test]
async fn who_may_not_simulate_is_told_what_is_known() {
    let world = World::empty().await;
    world.create("shop", PROGRAM).await;
    add(&world, "one").await;
    world.engine.cases_at_rest().await;
    let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
    let new = NewToken {
        name: "reader".to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Read],
        programs: None,
        expires: None,
    };
    let (_, secret) = world.engine.create_token(new, &actor).await.expect("it is made");
    let grant = world.engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    let reader = Arc::new(Caller { actor, on_behalf_of: None, grant });
    let status = async |at: &str| -> Value {
        let asked = format!(
            r#"{{ program(name: "shop", at: "{at}") {{ cases {{ nodes {{ status message }} }} }} }}"#
        );
        let answer = ask_as(&world.executor, &reader, &asked, json!({})).await;
        answer["data"]["program"]["cases"]["nodes"][0].clone()
    };
    assert_eq!(status("main").await, json!({ "status": "GREEN", "message": null }));
    let runs = world.engine.case_runs();
    // On a branch, where nobody has looked yet: what follows from the same is known all the same.
    let branch = r#"mutation { createBranch(input: {programId: "shop", name: "side"}) { branch { name } } }"#;
    world.data(branch, json!({})).await;
    assert_eq!(status("side").await["status"], "GREEN");
    let dry = r#"mutation { proposeEdit(input: {programId: "shop", edits: [{replaceFunctionText: {ref: "f2", text: "pub func tax#f2 (n: i64) -> (i64) { return (add.i64 n, 9#n3) }"}}]}) { outcome { __typename } } }"#;
    world.data(dry, json!({})).await;
    world.engine.cases_at_rest().await;
    assert_eq!(status("main").await["status"], "RED", "it was run in the background");
    assert_eq!(world.engine.case_runs(), runs + 1);
}
