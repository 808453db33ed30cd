//! Commands and documents as text: what is typed and asked, and what comes of it, from `tests/commands`, the tutorial and the
//! pages of the documentation. The README of the first says how.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::serve::Server;
use crate::tool::{LMLANG, Place, root};

/// Set it to have what is printed written into the files.
const BLESS: &str = "LMLANG_BLESS";

/// Pages that are written otherwise, and have tests of their own.
const OTHERS: [&str; 3] = ["README.md", "programs.md", "streams.md"];

/// What asks a question in Cypher.
const CYPHER: &str = "query ($q: String!) { cypher(query: $q) { truncated } }";

#[test]
fn commands_print_what_is_written() {
    hold(&pages("tests/commands").map(|page| vec![page]).collect::<Vec<_>>());
}

#[test]
fn commands_print_what_the_pages_say() {
    hold(&pages("docs").map(|page| vec![page]).collect::<Vec<_>>());
}

/// Its parts go on in one folder, each where the one before has ended.
#[test]
fn commands_print_what_the_tutorial_says() {
    hold(&[pages("docs/tutorial").collect()]);
}

/// The pages of a folder that are written so, by name.
fn pages(folder: &str) -> impl Iterator<Item = PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| !OTHERS.iter().any(|other| path.ends_with(other)))
        .collect();
    files.sort_unstable();
    assert!(!files.is_empty(), "there are commands");
    files.into_iter()
}

/// Carries out what is in the files, those of a list in one folder, and finds where they say otherwise; with [`BLESS`] they
/// are written.
fn hold(lists: &[Vec<PathBuf>]) {
    hold_in(lists, Place::new);
}

/// The same, where each list begins in a place that somebody makes.
pub(crate) fn hold_in(lists: &[Vec<PathBuf>], place: impl Fn() -> Place) {
    let mut wrong = Vec::new();
    for list in lists {
        let mut desk = Desk::new(place());
        for file in list {
            let text = std::fs::read_to_string(file).expect("the file can be read");
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let printed = desk.carried_out(&name, &text);
            if std::env::var_os(BLESS).is_some() {
                std::fs::write(file, printed).expect("the file can be written");
            } else if let Some(line) = first_difference(&text, &printed) {
                wrong.push(format!("{name}:{line}: expected\n{text}found\n{printed}"));
            }
        }
        assert_eq!(desk.server.map(Server::stop).unwrap_or(Some(0)), Some(0), "{list:?}");
    }
    assert!(wrong.is_empty(), "{BLESS}=1 writes what is printed into the files:\n{}", wrong.join("\n"));
}

fn first_difference(text: &str, printed: &str) -> Option<usize> {
    let lines = text.lines().zip(printed.lines()).take_while(|(one, other)| one == other).count();
    (text != printed).then_some(lines + 1)
}

/// Where commands are typed and documents are sent.
struct Desk {
    /// A server, from when there is one.
    server: Option<Server>,
    place: Place,
    /// Ids that the server has told, the newest last.
    ids: Vec<String>,
    /// The answer that the next block shows.
    answer: Option<Value>,
}

impl Desk {
    fn new(place: Place) -> Desk {
        Desk { server: None, place, ids: Vec::new(), answer: None }
    }

    /// The text of a file with what comes of its blocks.
    fn carried_out(&mut self, name: &str, text: &str) -> String {
        let (mut out, mut lines) = (String::new(), text.lines());
        while let Some(line) = lines.next() {
            writeln!(out, "{line}").expect("a string takes everything");
            let Some(kind) = line.strip_prefix("```") else { continue };
            let block = rest_of_block(&mut lines);
            match kind.split_once(' ').unwrap_or((kind, "")) {
                ("console", "") => {
                    for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                        write!(out, "$ {command}\n{}", shown(&self.typed(command)))
                            .expect("a string takes everything");
                    }
                }
                ("console", "server") => {
                    let line = block.lines().next().and_then(|line| line.strip_prefix("$ lmlang "));
                    let line = line.unwrap_or_else(|| panic!("{name}: a server is begun by `$ lmlang ..`"));
                    assert!(self.server.is_none(), "{name}: there is a server");
                    let (server, printed) = Server::start_shown(&self.place, line);
                    self.server = Some(server);
                    write!(out, "$ lmlang {line}\n{printed}").expect("a string takes everything");
                }
                ("json", "") => out.push_str(&self.answered(block)),
                (kind, given) => {
                    match kind {
                        "file" => self.place.write(given, &block),
                        "graphql" => {
                            let mut ahead = lines.clone();
                            let mut next = ahead.next();
                            let mut variables = json!({});
                            if next == Some("```variables") {
                                let block = rest_of_block(&mut ahead);
                                variables = serde_json::from_str(&block).expect("variables are JSON");
                                next = ahead.next();
                            }
                            let author = if given.is_empty() { "ada" } else { given };
                            let answer = self.ask(author, &block, &variables);
                            // What is shown may be a refusal.
                            if next == Some("```json") {
                                self.answer = Some(answer);
                            } else {
                                assert!(!is_refused(&answer), "{name}: {block}{answer}");
                            }
                        }
                        "cypher" => {
                            for question in block.split("\n\n") {
                                let answer = self.ask("ada", CYPHER, &json!({ "q": question }));
                                assert!(!is_refused(&answer), "{name}: {question}{answer}");
                            }
                        }
                        // Variables belong to the document before them; all else is only to be read.
                        "variables" | "sh" | "text" | "toml" | "js" => {}
                        _ => panic!("{name}: nobody knows a block `{kind}`"),
                    }
                    out.push_str(&block);
                }
            }
            out.push_str("```\n");
        }
        out
    }

    /// What comes of a line that Ada types.
    fn typed(&self, line: &str) -> Output {
        let folder = Path::new(LMLANG).parent().expect("the binary is in a folder");
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.place.path()).env_clear().env("PATH", path);
        shell.env("HOME", self.place.path()).env("USER", "ada").stdin(Stdio::null());
        if let Some(url) = self.place.database() {
            shell.env("LMLANG_DATABASE_URL", url);
            // What only a file tells of itself: who has it open.
            if let Some(server) = &self.server {
                shell.env("LMLANG_SERVER", format!("http://{}", server.address));
            }
        }
        shell.output().expect("a shell runs")
    }

    /// What a server answers to a document, in which a text with a `…` stands for the newest id that begins and ends so.
    fn ask(&mut self, author: &str, document: &str, variables: &Value) -> Value {
        let pieces = document.split('"').map(|piece| {
            let Some((start, end)) = piece.split_once('…') else { return piece };
            let told = self.ids.iter().rev().find(|id| id.starts_with(start) && id.ends_with(end));
            told.unwrap_or_else(|| panic!("an id like `{piece}` was told: {document}"))
        });
        let document = pieces.collect::<Vec<_>>().join("\"");
        let server = self.server.get_or_insert_with(|| Server::start(&self.place));
        let request = json!({ "query": document, "variables": variables });
        let answer = server.send(&format!("lmlang-author: {author}\r\n"), &request).expect("an answer comes");
        remember(&answer, &mut self.ids);
        answer
    }

    /// A block that shows the last answer: as it stands there if it says the same.
    fn answered(&mut self, block: String) -> String {
        let Some(answer) = self.answer.take() else { return block };
        let told = if answer["errors"].is_null() { &answer["data"] } else { &answer };
        let found = without_chance(&format!("{told:#}\n"));
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        if read(&block) == read(&found) { block } else { found }
    }
}

/// The lines up to the end of a block, and past it.
fn rest_of_block(lines: &mut std::str::Lines<'_>) -> String {
    lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
}

fn is_refused(answer: &Value) -> bool {
    let answer = answer.to_string();
    ["\"errors\":", "EditRejected", "EditConflict"].iter().any(|word| answer.contains(word))
}

/// Adds the ids that an answer tells.
fn remember(answer: &Value, ids: &mut Vec<String>) {
    match answer {
        Value::Object(fields) => {
            ids.extend(fields.get("id").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| remember(value, ids));
        }
        Value::Array(items) => items.iter().for_each(|value| remember(value, ids)),
        _ => {}
    }
}

/// What was printed: data as it is, everything else behind a `!`, and how the command ended unless all is well.
fn shown(done: &Output) -> String {
    let mut text = String::from_utf8_lossy(&done.stdout).into_owned();
    for line in String::from_utf8_lossy(&done.stderr).lines() {
        writeln!(text, "{}", format!("! {line}").trim_end()).expect("a string takes everything");
    }
    if !done.status.success() {
        writeln!(text, "exit {}", done.status.code().unwrap_or_default()).expect("a string takes everything");
    }
    without_chance(&text)
}

/// The text with `TIME` for each moment, `UUID` for each id, and `"REQUEST"` for that of a request.
fn without_chance(text: &str) -> String {
    const FORMS: [(&str, &str); 3] = [
        ("dddd-dd-ddTdd:dd:ddZ", "TIME"),
        ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "UUID"),
        ("\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"", "\"REQUEST\""),
    ];
    let is_of = |from: &str, form: &str| {
        let fits = |(byte, form)| match form {
            b'd' => u8::is_ascii_digit(&byte),
            b'x' => u8::is_ascii_hexdigit(&byte),
            form => byte == form,
        };
        // Those that a test makes up are of zeros.
        from.len() >= form.len() && !from.starts_with("00000000") && from.bytes().zip(form.bytes()).all(fits)
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let found = FORMS.iter().find(|(form, _)| is_of(rest, form));
        let (cut, word) = match found {
            Some((form, word)) => (form.len(), *word),
            None => (first.len_utf8(), &rest[..first.len_utf8()]),
        };
        out.push_str(word);
        rest = &rest[cut..];
    }
    out
}
