//! What tools do and say.

use std::sync::{Arc, Mutex};

use lmlang_graphql::transport::Caller;
use lmlang_mcp::{Desk, InProcess, RpcCode, desk};
use serde_json::{Value, json};

use crate::world::{Listener, World, soon};

fn edit(text: &str) -> Value {
    json!([{ "addText": { "module": "shop", "text": text } }])
}

#[tokio::test]
async fn a_program_is_edited_verified_run_and_undone() {
    let world = World::with_shop().await;
    let overview = world.says("program", json!({ "action": "overview", "program": "shop" })).await;
    assert!(overview.starts_with("; program shop @ r1\n"), "{overview}");
    assert!(overview.contains("pub func shop::twice (x: i64) -> (i64) ; Doubles a price."), "{overview}");

    let edits = edit("pub func thrice (x: i64) -> (i64) pure { return (mul.i64 x, 3) }");
    let tried = world
        .call(
            "propose_structured_edit",
            json!({ "program": "shop", "base_revision": "r1", "edits": edits, "dry_run": true }),
        )
        .await;
    assert!(
        tried.text().starts_with("; program shop @ r1\nwould be applied, nothing is stored"),
        "{}",
        tried.text()
    );
    assert_eq!(tried.data()["outcome"], "dry_run");
    let done = world
        .call(
            "propose_structured_edit",
            json!({ "program": "shop", "base_revision": "r1", "edits": edits, "message": "three" }),
        )
        .await;
    assert_eq!((&done.data()["outcome"], &done.data()["revision"]), (&json!("applied"), &json!("r2")));
    assert!(done.text().contains("function thrice"), "{}", done.text());

    let verified = world.call("verify_and_propagate", json!({ "program": "shop", "scope": "full" })).await;
    assert_eq!(verified.data()["outcome"], "valid");
    let run = json!({ "program": "shop", "function": "shop::thrice", "args": ["i64:14"] });
    let run = world.call("simulate", run).await;
    assert!(run.text().contains("\nreturned i64:42"), "{}", run.text());
    let found =
        world.says("search", json!({ "program": "shop", "filter": { "usesFunction": "shop::twice" } })).await;
    assert!(found.contains("shop::pair"), "{found}");
    let diff = world.says("diff", json!({ "program": "shop", "from": "r1" })).await;
    assert!(diff.contains("added") && diff.contains("+pub func thrice"), "{diff}");

    let undone = world.call("undo", json!({ "program": "shop", "expected_head": "r2" })).await;
    assert!(undone.text().starts_with("; program shop @ r3\nundo: +0 -4"), "{}", undone.text());
    let redone = world.call("undo", json!({ "program": "shop", "action": "redo" })).await;
    assert_eq!(redone.data()["revision"], "r4");
    let history = world.says("history", json!({ "program": "shop" })).await;
    for line in ["r4 redo", "r3 undo", "r2 edit", "r1 create", "; three"] {
        assert!(history.contains(line), "{line}: {history}");
    }
    let nothing = world.call("undo", json!({ "program": "shop", "action": "redo" })).await;
    assert!(nothing.is_error(), "{}", nothing.text());
    assert_eq!(nothing.data()["outcome"], "nothing_to_do");
}

#[tokio::test]
async fn checkpoints_are_made_listed_restored_and_forgotten() {
    let world = World::with_shop().await;
    let call = |arguments: Value| world.says("checkpoint", arguments);
    call(json!({ "program": "shop", "action": "create", "name": "start", "message": "before" })).await;
    let edits = json!([{ "renameFunction": { "ref": "shop::twice", "name": "double" } }]);
    world
        .says("propose_structured_edit", json!({ "program": "shop", "base_revision": "r1", "edits": edits }))
        .await;
    let list = call(json!({ "program": "shop", "action": "list" })).await;
    assert!(list.contains("start at r1") && list.contains("; before"), "{list}");
    let restored = call(json!({ "program": "shop", "action": "restore", "name": "start" })).await;
    assert!(restored.contains("restore: "), "{restored}");
    call(json!({ "program": "shop", "action": "delete", "name": "start" })).await;
    assert!(call(json!({ "program": "shop", "action": "list" })).await.contains("no checkpoints"));
}

#[tokio::test]
async fn code_is_read_in_several_ways() {
    let world = World::with_shop().await;
    let read = |arguments: Value| world.says("retrieve_subgraph", arguments);
    let text = read(json!({ "program": "shop", "of": ["shop::twice", "shop::pair"] })).await;
    assert!(text.contains("func twice#f") && text.contains("call twice(x)"), "{text}");
    let whole = read(json!({ "program": "shop" })).await;
    assert!(whole.contains("module shop") && whole.contains("; Never ends."), "{whole}");
    let node =
        whole.split("#n").nth(1).and_then(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next());
    let node = format!("n{}", node.expect("there is a node"));
    let around = json!({ "program": "shop", "of": [node], "view": "neighborhood", "hops": 2 });
    assert!(read(around).await.contains("mul.i64"));
    let around =
        json!({ "program": "shop", "of": [node], "view": "neighborhood", "hops": 3, "max_nodes": 1 });
    let part = world.call("retrieve_subgraph", around).await;
    assert_eq!(part.data()["truncated"], true, "{}", part.text());
    assert!(
        part.text().ends_with(
            "; truncated: more lines left out; raise max_nodes, or ask for what lies at the frontier"
        ),
        "{}",
        part.text()
    );
    let forward = json!({ "program": "shop", "of": [node], "view": "forward" });
    assert!(read(forward).await.contains("return"));
    let calls = read(json!({ "program": "shop", "of": ["shop::twice"], "view": "calls" })).await;
    assert!(calls.contains("is called by") && calls.contains("shop::pair"), "{calls}");
    let impact = read(json!({ "program": "shop", "of": ["shop::twice"], "view": "impact" })).await;
    assert!(impact.contains("shop::pair"), "{impact}");
}

#[tokio::test]
async fn what_a_run_stopped_on_is_told() {
    let world = World::with_shop().await;
    let text = "pub func div (a: i64, b: i64) -> (i64) {\n c = div_s.i64 a, b\n return c\n }
                pub func open (a: i64) -> (i64) { return (add.i64 a, _) }";
    let edits = edit(text);
    world
        .says("propose_structured_edit", json!({ "program": "shop", "base_revision": "r1", "edits": edits }))
        .await;
    for (function, args, trace, outcome, word) in [
        ("shop::div", json!([1, 0]), "nodes", "trapped", "DIVISION_BY_ZERO"),
        ("shop::div", json!([1, 0]), "none", "trapped", "DIVISION_BY_ZERO"),
        ("shop::open", json!([1]), "calls", "reached_hole", "hole"),
        ("shop::forever", json!([]), "none", "limit_reached", "fuel"),
    ] {
        let run =
            json!({ "program": "shop", "function": function, "args": args, "trace": trace, "fuel": 10_000 });
        let run = world.call("simulate", run).await;
        assert!(run.is_error(), "{}", run.text());
        assert_eq!(run.data()["outcome"], outcome, "{}", run.text());
        assert!(run.text().contains(word), "{}", run.text());
    }
}

#[tokio::test]
async fn lists_and_texts_go_on_where_they_were_cut() {
    let world = World::new().await;
    let functions: Vec<String> = (0..300)
        .map(|index| format!("pub func f_{index} (x: i64) -> (i64) {{ return (add.i64 x, {index}) }}\n"))
        .collect();
    let text = format!("module many\n{}", functions.join("\n"));
    world.says("program", json!({ "action": "create", "name": "many", "text": text })).await;
    for (tool, first) in [
        ("program", json!({ "action": "overview", "program": "many", "max_tokens": 1500 })),
        ("retrieve_subgraph", json!({ "program": "many", "max_tokens": 3000 })),
        (
            "search",
            json!({ "program": "many", "filter": { "opcode": ["ADD"] }, "limit": 200, "max_tokens": 1500 }),
        ),
    ] {
        let (mut arguments, mut told) = (first, String::new());
        let mut pages = 0;
        loop {
            let page = world.call(tool, arguments.clone()).await;
            assert!(page.tokens() <= arguments["max_tokens"].as_u64().expect("it is there"), "{tool}");
            told.push_str(page.text());
            pages += 1;
            assert!(pages < 100, "{tool} does not end");
            let Some(cursor) = page.data()["next_cursor"].as_str() else { break };
            assert_eq!(page.data()["truncated"], true);
            assert!(page.text().contains(&format!("next_cursor: {cursor}")));
            arguments["cursor"] = cursor.into();
        }
        assert!(pages > 2, "{tool}: {pages}");
        for index in 0..300 {
            let mark = [format!("f_{index} "), format!("f_{index}#"), format!("f_{index}:")];
            let times: usize = mark.iter().map(|mark| told.matches(mark.as_str()).count()).sum();
            assert_eq!(times, 1, "{tool}: f_{index}");
        }
    }
}

/// What was done is told as done, however few tokens there are for telling it; what is read is not told instead.
#[tokio::test]
async fn what_was_done_is_never_told_as_refused() {
    let world = World::new().await;
    let edits = json!([{ "addText": { "module": "m", "text": "func f () -> () { return }" } }]);
    let done = [
        ("program", json!({ "action": "create", "name": "m", "text": "module m\n" }), "created"),
        (
            "propose_structured_edit",
            json!({ "program": "m", "base_revision": "r1", "edits": edits }),
            "applied",
        ),
        ("checkpoint", json!({ "program": "m", "action": "create", "name": "c" }), "created"),
        ("undo", json!({ "program": "m" }), "made"),
        ("undo", json!({ "program": "m", "action": "redo" }), "made"),
        ("checkpoint", json!({ "program": "m", "action": "delete", "name": "c" }), "deleted"),
        ("session", json!({ "action": "create", "workflow": "review" }), "session"),
    ];
    for (tool, mut arguments, outcome) in done {
        arguments["max_tokens"] = 5.into();
        let done = world.call(tool, arguments).await;
        assert!(!done.is_error(), "{tool}: {}", done.text());
        assert_eq!(done.data()["outcome"], outcome, "{tool}: {}", done.text());
    }
    let document = "mutation { createBranch(input: {programId: \"m\", name: \"b\"}) { branch { name } } }";
    let done = world.says("graphql", json!({ "document": document, "max_tokens": 5 })).await;
    assert!(done.contains("it was carried out"), "{done}");
    for (tool, arguments) in [
        ("history", json!({ "program": "m", "max_tokens": 5 })),
        ("graphql", json!({ "document": "{ program(name: \"m\") { name } }", "max_tokens": 5 })),
        ("undo", json!({ "program": "m", "dry_run": true, "max_tokens": 5 })),
    ] {
        let error = world.try_call(tool, arguments).await.expect_err("it does not fit");
        assert_eq!(error.code, RpcCode::TokenLimitExceeded, "{tool}");
    }
}

/// Who is concerned is told as a whole, however many there are, or as what it is: a part.
#[tokio::test]
async fn lists_of_who_is_concerned_are_whole() {
    let world = World::new().await;
    let functions: Vec<String> = (0..1_200)
        .map(|index| format!("pub func f_{index} (x: i64) -> (i64) {{\n  y = call base(x)\n  return y\n}}\n"))
        .collect();
    let text = format!(
        "module many\nfunc base (x: i64) -> (i64) {{ return (add.i64 x, 1) }}\n{}",
        functions.concat()
    );
    world.says("program", json!({ "action": "create", "name": "many", "text": text })).await;
    for (view, first, mark) in [("calls", "f2 many::base is called by ", 0), ("impact", "function ", 1)] {
        let mut arguments =
            json!({ "program": "many", "of": ["many::base"], "view": view, "max_tokens": 6000 });
        let mut told: Vec<String> = Vec::new();
        for page in 0.. {
            assert!(page < 20, "{view} does not end");
            let page = world.call("retrieve_subgraph", arguments.clone()).await;
            assert!(page.tokens() <= 6_000, "{view}: {}", page.tokens());
            told.extend(page.text().lines().filter(|line| line.starts_with(first)).map(str::to_owned));
            let next = page.data()["next_cursor"].clone();
            assert_eq!(page.data()["truncated"], next.is_string(), "{view}: {}", page.data());
            if next.is_null() {
                break;
            }
            arguments["cursor"] = next;
        }
        assert_eq!(told.len(), 1_200 + mark, "{view}");
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), 1_200 + mark, "{view}: some are told twice");
    }
}

#[tokio::test]
async fn entities_are_found_by_words() {
    let world = World::with_shop().await;
    let found = world.says("search", json!({ "program": "shop", "query": "price pair" })).await;
    assert!(found.contains("function shop::pair"), "{found}");
    let none = world.says("search", json!({ "program": "shop", "query": "giraffe" })).await;
    assert!(none.contains("no match"), "{none}");
}

#[tokio::test]
async fn words_that_only_nodes_have_are_found_among_these() {
    let world = World::new().await;
    let text = "module m
pub func f (x: i64) -> (i64) { return (shl.i64 (shl.i64 (shl.i64 x, 1), 2), 3) }
";
    world.says("program", json!({ "action": "create", "name": "m", "text": text })).await;
    let first = json!({ "program": "m", "query": "shl", "limit": 2 });
    let page = world.call("search", first.clone()).await;
    assert!(page.text().contains("3 results\nall of them nodes"), "{}", page.text());
    let cursor = page.data()["next_cursor"].as_str().expect("it goes on");
    let mut rest = first.clone();
    rest["cursor"] = cursor.into();
    let rest = world.says("search", rest).await;
    assert_eq!(rest.matches(" node ").count(), 1, "{rest}");
    let mut modules = first;
    modules["kinds"] = json!(["module"]);
    let modules = world.says("search", modules).await;
    assert!(modules.contains("no match"), "{modules}");
}

#[tokio::test]
async fn the_size_that_is_named_is_enough_for_a_context() {
    let world = World::with_shop().await;
    let arguments = |most: u64| json!({ "program": "shop", "focus": ["shop::pair"], "max_tokens": most });
    let error = world.try_call("read_context", arguments(20)).await.expect_err("it does not fit");
    let enough = error.data["current_size"].as_u64().expect("a size");
    let done = world.call("read_context", arguments(enough)).await;
    assert!(!done.is_error() && done.tokens() <= enough, "{enough}: {}", done.text());
}

/// CUE-03: what was asked before on the same revision is told again without being made again, and says so.
#[tokio::test]
async fn cue_03_a_context_that_is_asked_for_again_is_cached() {
    const CACHED: &str = "cached: it was made before on this revision\n";
    let world = World::with_shop().await;
    let context = async || {
        let arguments = json!({ "program": "shop", "focus": ["shop::pair"] });
        world.says("read_context", arguments).await
    };
    let first = context().await;
    assert!(!first.contains(CACHED), "{first}");
    let second = context().await;
    assert!(second.contains(CACHED), "{second}");
    assert_eq!(second.replacen(CACHED, "", 1), first);
    let text = "pub func twice (x: i64) -> (i64) pure { return (add.i64 x, x) }";
    let edits = json!([{ "replaceFunctionText": { "ref": "shop::twice", "text": text } }]);
    let edit = json!({ "program": "shop", "base_revision": "r1", "edits": edits });
    world.says("propose_structured_edit", edit).await;
    let changed = context().await;
    assert!(!changed.contains(CACHED), "{changed}");
    assert!(changed.contains("r2"), "{changed}");
}

/// CUE-75: context stays within its budget, and says what was left out.
#[tokio::test]
async fn cue_75_context_is_told_within_a_budget_and_then_what_changed() {
    let world = World::with_shop().await;
    for most in [500, 1000, 4000] {
        let context = world
            .call("read_context", json!({ "program": "shop", "focus": ["shop::pair"], "max_tokens": most }))
            .await;
        assert!(!context.is_error(), "{}", context.text());
        assert!(context.tokens() <= most, "{} of {most}", context.tokens());
        assert_eq!(context.data()["truncated"], false, "{}", context.text());
        assert!(context.text().contains("call twice"), "{}", context.text());
    }
    let arguments = json!({ "program": "shop", "focus": ["shop::pair"] });
    let first = world.says("read_context", arguments).await;
    let token = first.lines().find_map(|line| line.strip_prefix("since: ")).expect("there is one");
    let text = "pub func twice (x: i64) -> (i64) pure { return (add.i64 x, x) }";
    let edits = json!([{ "replaceFunctionText": { "ref": "shop::twice", "text": text } }]);
    world
        .says("propose_structured_edit", json!({ "program": "shop", "base_revision": "r1", "edits": edits }))
        .await;
    let arguments = json!({ "program": "shop", "focus": ["shop::pair"], "since": token });
    let then = world.says("read_context", arguments).await;
    assert!(then.contains("changed since: "), "{then}");
}

#[tokio::test]
async fn everything_else_is_asked_in_graphql() {
    let world = World::with_shop().await;
    let types = world.says("graphql", json!({ "action": "type", "name": "BranchPayload" })).await;
    assert!(types.contains("branch: Branch"), "{types}");
    let found = world.says("graphql", json!({ "action": "find", "search": "createBranch" })).await;
    assert!(found.contains("Mutation.createBranch"), "{found}");
    let document = "mutation($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }";
    let run = json!({ "action": "run", "document": document, "variables": { "input": { "programId": "shop", "name": "idea" } } });
    let made = world.says("graphql", run).await;
    assert!(made.contains(r#""name":"idea""#), "{made}");
    // What is given says what is asked for.
    let types = world.says("graphql", json!({ "name": "BranchPayload" })).await;
    assert!(types.contains("branch: Branch"), "{types}");
    let found = world.says("graphql", json!({ "search": "createBranch" })).await;
    assert!(found.contains("Mutation.createBranch"), "{found}");
    let read = world.says("graphql", json!({ "document": "{ program(name: \"shop\") { name } }" })).await;
    assert!(read.contains(r#""name":"shop""#), "{read}");
    let wrong =
        world.call("graphql", json!({ "action": "run", "document": "{ programs { nods { name } } }" })).await;
    assert!(wrong.is_error() && wrong.text().contains("error BAD_REQUEST"), "{}", wrong.text());
    let stream = world
        .call("graphql", json!({ "action": "run", "document": "subscription { programEvents { cursor } }" }))
        .await;
    assert!(stream.is_error(), "{}", stream.text());
}

/// A run asks with the id that answers it, and a person's word goes on with it; nobody answers twice.
#[tokio::test]
async fn a_branch_is_merged_when_somebody_agrees() {
    let world = World::with_shop().await;
    let text = "module shop\nfunc more () -> () pure { return }";
    let start = json!({ "action": "start", "flow": "review", "input": { "program": "shop", "text": text } });
    let asked = world.call("run", start).await;
    assert_eq!(asked.data()["outcome"], "awaiting_approval", "{}", asked.text());
    let told = asked.text();
    let word = |name: &str| {
        let rest = told.split(&format!("{name} ")).nth(1).expect("it is named");
        rest.split_whitespace().next().expect("it has an id").to_owned()
    };
    let (run, interrupt) = (word("run_id"), word("interrupt_id"));
    assert_eq!(asked.data()["run_id"], run.as_str(), "{}", asked.data());
    assert_eq!(asked.data()["interrupt_id"], interrupt.as_str(), "{}", asked.data());
    let answer = |confirm: bool| json!({ "action": "answer", "interrupt_id": interrupt, "answer": { "confirm": confirm } });
    let bad = world
        .try_call("run", json!({ "action": "answer", "interrupt_id": interrupt }))
        .await
        .expect_err("an answer is missing");
    assert_eq!((bad.code, &bad.data["field"]), (RpcCode::ValidationError, &json!("answer")));
    let done = world.call("run", answer(true)).await;
    assert_eq!(done.data()["outcome"], "completed", "{}", done.text());
    assert!(done.text().contains("merged as r"), "{}", done.text());
    assert_eq!((&done.data()["run_id"], &done.data()["interrupt_id"]), (&json!(run), &json!(null)));
    let late = world.call("run", answer(false)).await;
    assert_eq!(late.data()["outcome"], "already_answered", "{}", late.text());
    let listed = world.says("run", json!({ "action": "list" })).await;
    assert!(listed.contains(&format!("{run} review about shop: completed")), "{listed}");
    let shown = world.says("run", json!({ "action": "show", "run_id": run })).await;
    assert!(shown.contains("agreed to"), "{shown}");
    let sessions = world.says("session", json!({ "action": "list" })).await;
    assert!(sessions.contains("of review"), "{sessions}");
}

/// What a run asks that another one waits for is told with that one: with a turn, when it is begun, and when it is looked at.
#[tokio::test]
async fn what_is_asked_in_a_run_that_is_waited_for_is_told() {
    let world = World::with_shop().await;
    let text = "pub func more () -> (i64) pure {\n  return 1\n}";
    let turn = json!({ "action": "turn", "flow": "edit", "input": { "program": "shop" }, "text": text });
    let asked = world.call("run", turn).await;
    let told = asked.text();
    assert_eq!(asked.data()["outcome"], "awaiting_approval", "{told}");
    assert!(told.contains(" need_confirm: Merge r") && told.contains(" of edit: waiting"), "{told}");
    let id = |name: &str| {
        let rest = told.split(&format!("{name} ")).nth(1).expect("it is named");
        rest.split_whitespace().next().expect("it has an id").to_owned()
    };
    assert!(told.contains(asked.data()["session_id"].as_str().expect("the session is told")), "{told}");
    let shown = world.call("run", json!({ "action": "show", "run_id": id("run_id") })).await;
    assert!(shown.text().contains(&id("interrupt_id")), "{}", shown.text());
    assert_eq!(shown.data()["interrupt_id"], id("interrupt_id").as_str(), "{}", shown.data());
    let agree =
        json!({ "action": "answer", "interrupt_id": id("interrupt_id"), "answer": { "confirm": true } });
    let agreed = world.call("run", agree).await;
    assert_eq!(agreed.data()["outcome"], "completed", "{}", agreed.text());

    let text = "pub func less () -> (i64) pure {\n  return 2\n}";
    let start = json!({ "action": "start", "flow": "edit", "input": { "program": "shop", "text": text } });
    let asked = world.call("run", start).await;
    assert_eq!(asked.data()["outcome"], "awaiting_approval", "{}", asked.text());
}

/// A run whose time is over has failed, and its question does not stand any more.
#[tokio::test]
async fn a_run_has_a_deadline() {
    let world = World::with_shop().await;
    let text = "module shop\nfunc more () -> () pure { return }";
    let start = |deadline: u64| json!({ "action": "start", "flow": "review", "input": { "program": "shop", "text": text }, "deadline_ms": deadline });
    let refused = world.call("run", start(0)).await;
    assert!(refused.text().contains("at least a millisecond"), "{}", refused.text());
    let asked = world.call("run", start(86_400_000)).await;
    assert_eq!(asked.data()["outcome"], "awaiting_approval", "{}", asked.text());
    let query = json!({ "action": "run", "document": "{ runs { nodes { deadline } } }" });
    let found = world.says("graphql", query).await;
    assert!(!found.contains("null"), "{found}");
    let turn = json!({ "action": "turn", "text": "AddNode Ticket:T-1", "deadline_ms": 86_400_000 });
    let said = world.says("run", turn).await;
    assert!(said.contains("Entities: 1 created."), "{said}");
}

/// A list of sessions has the beginnings of their titles, what is shown alone the whole of one.
#[tokio::test]
async fn a_long_title_is_cut_in_lists() {
    let world = World::new().await;
    let title = "ä".repeat(81);
    let create = json!({ "action": "create", "workflow": "review", "title": title });
    let made = world.says("session", create).await;
    assert!(made.contains(&format!("of review \"{title}\"")), "{made}");
    let listed = world.says("session", json!({ "action": "list" })).await;
    assert!(listed.contains(&format!("of review \"{}…\"", "ä".repeat(80))), "{listed}");
}

/// Something is said in a session: it is done, or asked about, and the next turn answers.
#[tokio::test]
async fn a_session_is_talked_to() {
    let world = World::new().await;
    let turn = |more: serde_json::Value| {
        let mut arguments = json!({ "action": "turn" });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        arguments
    };
    let said = world.says("run", turn(json!({ "text": "AddNode Ticket:T-1" }))).await;
    assert!(said.contains("Entities: 1 created."), "{said}");
    let session = said.split("session_id ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let session = session.expect("the session is named").to_owned();
    let delete = turn(json!({ "session_id": session, "text": "DeleteNode Ticket:T-1" }));
    let asked = world.call("run", delete).await;
    assert_eq!(asked.data()["outcome"], "awaiting_approval", "{}", asked.text());
    let agree = turn(json!({ "session_id": session, "answer": { "confirm": true } }));
    let done = world.says("run", agree).await;
    assert!(done.contains("Entities: 1 deleted."), "{done}");
}

/// CUE-07: what takes long says how far it is.
#[tokio::test]
async fn cue_07_what_takes_long_says_so() {
    let world = World::with_shop().await;
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let progress =
        Arc::new(move |message: &str| heard.lock().expect("nobody panics").push(message.to_owned()));
    let tool = desk::find("verify_and_propagate").expect("there is one");
    let arguments = json!({ "program": "shop", "scope": "full" }).as_object().expect("an object").clone();
    soon(world.desk.call(tool, arguments, progress)).await.expect("it is done");
    assert_eq!(*said.lock().expect("nobody panics"), ["verifying"]);
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_is_cancelled() {
    let world = World::with_shop().await;
    let ask = InProcess { executor: world.executor.clone(), caller: Caller::anonymous() };
    let listener = Arc::new(Listener { to: Arc::new(ask), asked: Mutex::default() });
    let desk = Desk::new(listener.clone());
    let tool = desk::find("simulate").expect("there is one");
    let arguments = json!({
        "program": "shop", "function": "shop::forever", "trace": "calls", "fuel": 10_000_000_000_u64, "timeout_ms": 60_000,
    });
    let arguments = arguments.as_object().expect("an object").clone();
    let call = tokio::spawn(async move { desk.call(tool, arguments, Arc::new(|_| {})).await });
    let asked = |what: &'static str| {
        let listener = Arc::clone(&listener);
        async move {
            while !listener
                .asked
                .lock()
                .expect("nobody panics")
                .iter()
                .any(|document| document.contains(what))
            {
                tokio::task::yield_now().await;
            }
        }
    };
    soon(asked("action: RUN")).await;
    call.abort();
    soon(asked("action: CANCEL")).await;
    world.engine.close().await;
}
