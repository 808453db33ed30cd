//! A program whose log cannot be read.

use serde_json::{Value, json};

use crate::world::World;

/// Damages the newest entry of a program: nothing is left to open it with.
const DAMAGE: &str =
    "update log set edits = x'00' where program = (select key from programs where name = 'b')";

#[tokio::test]
async fn a_damaged_program_hides_no_other() {
    let world = World::empty().await;
    for name in ["a", "b", "c"] {
        world.create(name, "module m\nfunc f () -> (i64) { return 1 }\n").await;
    }
    let world = world.restarted(&[DAMAGE]).await;
    let query = "{ programs { totalCount nodes {
        id programId name doc branch rootHash eventCursor revision { number } stats { functions } function(name: \"m::f\") { name }
    } } }";
    let mut answer = world.ask(query, json!({})).await;
    let programs = answer["data"]["programs"].take();
    let names: Vec<&Value> =
        programs["nodes"].as_array().into_iter().flatten().map(|one| &one["name"]).collect();
    assert_eq!(programs["totalCount"], 3);
    assert_eq!(names, ["a", "b", "c"]);
    let damaged = &programs["nodes"][1];
    assert_eq!(damaged["id"], damaged["programId"]);
    assert_eq!(damaged["branch"], "main");
    let content = ["rootHash", "eventCursor", "revision", "stats", "function"];
    for node in programs["nodes"].as_array().into_iter().flatten() {
        for field in content {
            assert_eq!(node[field].is_null(), node["name"] == "b", "{field} of {node}");
        }
    }
    let errors = answer["errors"].as_array().expect("there are errors");
    assert_eq!(errors.len(), content.len(), "{errors:?}");
    for (error, field) in errors.iter().zip(content) {
        assert_eq!(error["path"], json!(["programs", "nodes", 1, field]), "{error}");
        assert_eq!(error["extensions"]["code"], "STORAGE_UNAVAILABLE", "{error}");
        assert_eq!(error["extensions"]["retriable"], false, "what is damaged stays so: {error}");
        assert_eq!(
            error["message"],
            "what is stored of the program cannot be read at r1; `lmlang doctor` says what is damaged"
        );
    }
}

#[tokio::test]
async fn a_list_of_programs_opens_none() {
    let world = World::empty().await;
    world.create("b", "module m\n").await;
    let world = world.restarted(&[DAMAGE]).await;
    let answer = world.data("{ programs { nodes { id name doc branch } } }", json!({})).await;
    assert_eq!(answer["programs"]["nodes"][0]["name"], "b");
}
