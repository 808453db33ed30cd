//! The README's quick start, run as it stands there.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::serve::Server;
use crate::tool::{LMLANG, Place, root};

/// The fenced blocks of the README, each with its language.
fn blocks() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
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
    let blocks = blocks();
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
    for (_, block) in blocks().iter().filter(|(language, _)| language == "console") {
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
