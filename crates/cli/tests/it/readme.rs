//! The README's quick start and the page about programs, run as they stand there, and the book that they belong to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::serve::Server;
use crate::tool::{LMLANG, Place, root};

/// The fenced blocks of a page, each with what is written behind its fence.
fn blocks(page: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join(page)).expect("there is the page");
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) if !inside => {
                blocks.push((language.to_owned(), String::new()));
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => {
                if let Some((_, block)) = blocks.last_mut() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
            None => {}
        }
    }
    blocks
}

#[test]
fn documents_are_answered_as_the_readme_says() {
    let place = Place::new();
    let server = Server::start(&place);
    let blocks = blocks("README.md");
    let mut asked = 0;
    for pair in blocks.windows(2) {
        let [(language, document), (answer, expected)] = pair else { continue };
        if language != "graphql" {
            continue;
        }
        assert_eq!(answer, "json", "a document is followed by its answer: {document}");
        let expected: Value = serde_json::from_str(expected).expect("answers are JSON");
        let found = server.ask(document);
        assert_eq!(found["data"], expected, "{document}\n{found}");
        asked += 1;
    }
    assert!(asked >= 4, "the README asks {asked} documents");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn commands_print_what_the_readme_says() {
    let place = Place::new();
    let examples = place.path().join("examples");
    std::fs::create_dir(&examples).expect("the folder can be made");
    for file in std::fs::read_dir(root().join("examples")).expect("there are examples") {
        let file = file.expect("they can be listed");
        std::fs::copy(file.path(), examples.join(file.file_name())).expect("they can be copied");
    }
    let folder = Path::new(LMLANG).parent().expect("the binary is in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut ran = 0;
    for (_, block) in blocks("README.md").iter().filter(|(language, _)| language == "console") {
        for command in block.split("$ ").filter(|command| !command.is_empty()) {
            let (line, expected) = command.split_once('\n').expect("commands are lines");
            let mut shell = Command::new("sh");
            shell.args(["-c", line]).current_dir(place.path()).env("PATH", &path).env("HOME", place.path());
            let done = shell.output().expect("a shell runs");
            assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{line}\n{done:?}");
            assert!(done.status.success(), "{line}\n{done:?}");
            ran += 1;
        }
    }
    assert!(ran >= 4, "the README runs {ran} commands");
}

/// A block of JSON.
fn read(block: &str) -> Value {
    serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"))
}

#[test]
fn programs_are_written_as_the_page_says() {
    const CREATE: &str = "mutation($name: String!, $text: String!) {
        createProgram(input: {name: $name, text: $text}) { errors { line message } }
    }";
    const TRY: &str = "mutation($program: ID!, $edits: [EditInput!]!) {
        proposeEdit(input: {programId: $program, edits: $edits, dryRun: true}) { outcome {
            __typename ... on EditRejected { errors { editIndex path message } }
        } }
    }";
    let place = Place::new();
    let server = Server::start(&place);
    let blocks = blocks("docs/programs.md");
    let (mut program, mut edits) = (String::new(), BTreeSet::new());
    let mut rest = blocks.iter().map(|(kind, block)| (kind.as_str(), block.as_str())).peekable();
    while let Some((kind, block)) = rest.next() {
        match kind.split_once(' ').unwrap_or((kind, "")) {
            ("lm", name) => {
                // Edits are of the first one.
                if program.is_empty() {
                    name.clone_into(&mut program);
                }
                let made = server.ask_with(CREATE, &json!({ "name": name, "text": block }));
                assert_eq!(made["data"]["createProgram"]["errors"], json!([]), "{made}");
                place.write("page.lm", block);
                place.ok(&["check", "page.lm"]);
            }
            ("edits", _) => {
                let list = read(block);
                let named = list.as_array().into_iter().flatten().filter_map(Value::as_object);
                edits.extend(named.flat_map(|edit| edit.keys().cloned()));
                let tried = server.ask_with(TRY, &json!({ "program": program, "edits": list }));
                let outcome = &tried["data"]["proposeEdit"]["outcome"];
                assert_eq!(outcome["__typename"], "EditApplied", "{block}\n{tried}");
            }
            ("graphql", _) => {
                let given =
                    rest.next_if(|(kind, _)| *kind == "variables").map_or(json!({}), |(_, v)| read(v));
                let found = server.ask_with(block, &given);
                match rest.next() {
                    Some(("json", expected)) => assert_eq!(found["data"], read(expected), "{block}\n{found}"),
                    Some(("error", expected)) => {
                        for (name, value) in read(expected).as_object().expect("an object") {
                            assert_eq!(found["errors"][0]["extensions"][name], *value, "{block}\n{found}");
                        }
                    }
                    other => panic!("a document is followed by its answer: {block}\n{other:?}"),
                }
            }
            (other, _) => panic!("nobody runs a block `{other}`"),
        }
    }
    // What is not supported yet is not shown.
    let schema = std::fs::read_to_string(root().join("schema.graphql")).expect("there is a schema");
    let input = schema.split_once("input EditInput @oneOf {").expect("there are edits").1;
    let fields = input.split_once("\n}").expect("it ends").0.split("\n\t\"").skip(1);
    let known: BTreeSet<String> = fields
        .filter(|field| !field.starts_with("Not supported yet"))
        .filter_map(|field| Some(field.rsplit_once('\t')?.1.split_once(':')?.0.to_owned()))
        .collect();
    assert_eq!(edits, known, "each edit has an example");
    assert_eq!(server.stop(), Some(0));
}

/// The pages below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}

/// Where the links of a page lead to, but for addresses and places in the page itself.
fn links(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).expect("the page can be read");
    // Every other piece stands between fences.
    let told: Vec<&str> = text.split("```").step_by(2).collect();
    let told = told.join("\n");
    let targets = told.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_book_lists_its_pages_and_its_links_lead_somewhere() {
    let docs = root().join("docs");
    let contents = docs.join("README.md");
    let listed: BTreeSet<PathBuf> = links(&contents).iter().map(|link| docs.join(link)).collect();
    let mut all = pages(&docs);
    let missing: Vec<&PathBuf> =
        all.iter().filter(|page| **page != contents && !listed.contains(*page)).collect();
    assert!(missing.is_empty(), "the table of contents lists all: {missing:?}");
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| root().join(page)));
    for page in all {
        let folder = page.parent().expect("a page is in a folder");
        for link in links(&page) {
            assert!(folder.join(&link).exists(), "{}: `{link}` leads nowhere", page.display());
        }
    }
}
