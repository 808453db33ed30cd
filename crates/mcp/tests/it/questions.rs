//! Structural questions about the examples and an imported library, asked through the tools: the answers of the domain, which is
//! held against walks over everything, short, within the budget of an answer, and said to be whole.

use std::collections::BTreeSet;
use std::path::Path;

use lmlang_context::Tokenizer;
use lmlang_context::analysis::{Question, answers};
use lmlang_graphql::transport::Caller;
use lmlang_ir::graph::impact;
use lmlang_ir::text::parse_program;
use lmlang_ir::{FuncRef, Program, Ref, RefAllocator, RefKind};
use lmlang_mcp::{Ask, InProcess};
use serde_json::{Value, json};

use crate::world::World;

/// Tokens of an answer, where nobody says how many.
const BUDGET: u64 = 4_000;

/// The names and texts of the examples.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).expect("there are examples");
    let files = files.map(|entry| entry.expect("it can be read").path());
    let texts = files.filter(|path| path.extension().is_some_and(|extension| extension == "lm"));
    let mut found: Vec<(String, String)> = texts
        .map(|path| {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    found.sort_unstable();
    found
}

/// A WebAssembly module of functions that call each other, and use a memory and a global.
fn library() -> String {
    let functions = (1..60).map(|index| {
        let counts = match index % 3 {
            0 => "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))",
            _ => "",
        };
        let export = if index % 10 == 0 { format!("(export \"f{index}\")") } else { String::new() };
        format!(
            "(func $f{index} {export} (param $n i32) (result i32) {counts}
               (i32.add (call $f{} (local.get $n)) (i32.load (local.get $n))))",
            index / 2
        )
    });
    format!(
        "(module $library (memory 1) (global $calls (mut i32) (i32.const 0))
           (func $f0 (param $n i32) (result i32) (i32.div_u (local.get $n) (i32.const 3))) {})",
        functions.collect::<String>()
    )
}

/// A question, with its answer: a word for each thing that is found.
struct Asked {
    tool: &'static str,
    arguments: Value,
    expect: BTreeSet<String>,
}

fn around(name: &str, program: &Program, of: FuncRef, view: &str) -> Asked {
    let arguments = json!({ "program": name, "of": [of.to_string()], "view": view });
    let callers = |of: FuncRef| {
        let users = program.users_of(of.into()).map(|(user, _)| user);
        users.filter(|user| user.kind == RefKind::Function).collect::<BTreeSet<Ref>>()
    };
    let expect = if view == "calls" {
        let callees = program
            .functions()
            .map(|(other, _)| other)
            .filter(|other| callers(*other).contains(&Ref::from(of)));
        let callees = callees.map(|callee| format!("{of} calls {callee}"));
        callers(of).into_iter().map(|caller| format!("{of} is called by {caller}")).chain(callees).collect()
    } else {
        let found = impact(program, &[of.into()]);
        let functions = found.functions.iter().map(|of| format!("function {of}"));
        let types = found.types.iter().map(|of| format!("type {of}"));
        let contracts = found.contracts.iter().map(|of| format!("contract {of}"));
        let exports = found.exports.iter().map(|name| format!("export {name}"));
        let storage = found.storage.iter().map(|of| format!("storage {of}"));
        functions.chain(types).chain(storage).chain(contracts).chain(exports).collect()
    };
    Asked { tool: "retrieve_subgraph", arguments, expect }
}

fn about(name: &str, program: &Program, question: (Question, &str), of: &[Ref]) -> Asked {
    const DOCUMENT: &str =
        "query($name: String!, $question: Question!, $of: [String!]) { program(name: $name) {
      analysis(question: $question, of: $of, first: 500) { totalCount pageInfo { hasNextPage } nodes { ref } }
    } }";
    let refs: Option<Vec<String>> = (!of.is_empty()).then(|| of.iter().map(ToString::to_string).collect());
    let variables = json!({ "name": name, "question": question.1, "of": refs });
    let found = answers(program, question.0, of, &[]).expect("it can be asked");
    Asked {
        tool: "graphql",
        arguments: json!({ "action": "run", "document": DOCUMENT, "variables": variables }),
        expect: found.iter().map(|answer| answer.of.to_string()).collect(),
    }
}

fn questions(name: &str, program: &Program) -> Vec<Asked> {
    const WRITERS: (Question, &str) = (Question::Writers, "WRITERS");
    const READERS: (Question, &str) = (Question::Readers, "READERS");
    let mut asked = vec![
        about(name, program, (Question::UnusedTypes, "UNUSED_TYPES"), &[]),
        about(name, program, (Question::DeadCode, "DEAD_CODE"), &[]),
    ];
    let functions: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
    for of in functions.iter().step_by(functions.len().div_ceil(3)).copied() {
        asked.push(around(name, program, of, "calls"));
        asked.push(around(name, program, of, "impact"));
        asked.push(about(name, program, (Question::MayTrap, "MAY_TRAP"), &[of.into()]));
        asked.push(about(name, program, (Question::HasEffect, "HAS_EFFECT"), &[of.into()]));
    }
    let fields: Vec<Ref> = match program.types().next() {
        Some((_, def)) => def.fields().iter().take(2).map(|field| Ref::from(field.member)).collect(),
        None => Vec::new(),
    };
    let storage = program.all_storage().map(|(of, _)| Ref::from(of));
    for of in fields.into_iter().chain(storage.take(2)) {
        asked.push(about(name, program, WRITERS, &[of]));
        asked.push(about(name, program, READERS, &[of]));
    }
    asked
}

/// What an answer names, in the words of [`Asked`].
fn named(asked: &Asked, text: &str) -> BTreeSet<String> {
    let lines = text.lines().skip(1);
    if asked.tool == "graphql" {
        let answer: Value = serde_json::from_str(&lines.collect::<String>()).expect("an answer is JSON");
        let list = &answer["program"]["analysis"];
        let nodes = list["nodes"].as_array().expect("there is a list");
        // Both say that these are all.
        assert_eq!(
            (&list["totalCount"], &list["pageInfo"]["hasNextPage"]),
            (&json!(nodes.len()), &json!(false))
        );
        return nodes.iter().map(|node| node["ref"].as_str().expect("a ref").to_owned()).collect();
    }
    let word = |line: &str, at: usize| line.split(' ').nth(at).unwrap_or_default().to_owned();
    let of_calls = lines.clone().filter_map(|line| {
        let (one, rest) = (word(line, 0), line.split_once(' ')?.1.split_once(' ')?.1);
        let (said, other) = match rest.strip_prefix("is called by ") {
            Some(other) => ("is called by", other),
            None => ("calls", rest.strip_prefix("calls ")?),
        };
        Some(format!("{one} {said} {}", word(other, 0)))
    });
    let of_impact = lines.filter_map(|line| match word(line, 0).as_str() {
        kind @ ("function" | "type" | "storage" | "contract") => Some(format!("{kind} {}", word(line, 1))),
        "export" => Some(line.to_owned()),
        _ => None,
    });
    of_calls.chain(of_impact).collect()
}

#[tokio::test]
async fn two_hundred_questions_are_answered_exactly_briefly_and_as_a_whole() {
    let world = World::new().await;
    let ask = InProcess { executor: world.executor.clone(), caller: Caller::anonymous() };
    let mut names = Vec::new();
    for (name, text) in examples() {
        world.says("program", json!({ "action": "create", "name": name, "text": text })).await;
        names.push(name);
    }
    let import = "mutation($wat: String!) { createProgram(input: {name: \"library\", wat: $wat}) { errors { message } } }";
    let made = ask.ask(import, json!({ "wat": library() })).await.expect("somebody answers");
    assert_eq!(made.data["createProgram"]["errors"], json!([]), "{made:?}");
    names.push("library".to_owned());
    let tokenizer = Tokenizer::O200kBase;
    let (mut count, mut told, mut whole) = (0, 0, 0);
    for name in &names {
        let document = "query($name: String!) { program(name: $name) { text(detail: FULL) } }";
        let answer = ask.ask(document, json!({ "name": name })).await.expect("somebody answers");
        let text = answer.data["program"]["text"].as_str().expect("it has a text").to_owned();
        let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it reads");
        let tokens = u64::try_from(tokenizer.count(&text)).expect("it is a number");
        for asked in questions(name, &program) {
            let done = world.call(asked.tool, asked.arguments.clone()).await;
            let what = format!("{name} {}\n{}", asked.arguments, done.text());
            assert!(!done.is_error(), "{what}");
            assert!(done.tokens() <= BUDGET, "{} tokens: {what}", done.tokens());
            assert_eq!(done.data()["truncated"], false, "{what}");
            assert_eq!(named(&asked, done.text()), asked.expect, "{what}");
            count += 1;
            told += done.tokens();
            whole += tokens;
        }
    }
    assert!(count >= 200, "{count}");
    assert!(10 * told <= whole, "{told} of {whole} tokens in {count} answers");
}
