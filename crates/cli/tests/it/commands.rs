//! Commands as text: what is typed and what is printed, from `tests/commands` and the tutorial. The README of the former
//! says how.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::serve::Server;
use crate::tool::{LMLANG, Place, root};

/// Set it to have what is printed written into the files.
const BLESS: &str = "LMLANG_BLESS";

/// Where commands are typed: a folder, and a server from when there is one.
struct Desk {
    server: Option<Server>,
    place: Place,
}

impl Desk {
    fn new() -> Desk {
        Desk { server: None, place: Place::new() }
    }

    fn leave(self) {
        assert_eq!(self.server.map(Server::stop).unwrap_or(Some(0)), Some(0), "the server ends well");
    }
}

#[test]
fn commands_print_what_is_written() {
    let mut wrong = Vec::new();
    for file in pages("tests/commands") {
        let mut desk = Desk::new();
        wrong.extend(difference(&mut desk, &file));
        desk.leave();
    }
    assert!(wrong.is_empty(), "{BLESS}=1 writes what is printed into the files:\n{}", wrong.join("\n"));
}

/// Its parts go on in one folder, each where the one before has ended.
#[test]
fn commands_print_what_the_tutorial_says() {
    let mut desk = Desk::new();
    let wrong: Vec<String> =
        pages("docs/tutorial").iter().filter_map(|file| difference(&mut desk, file)).collect();
    desk.leave();
    assert!(wrong.is_empty(), "{BLESS}=1 writes what is printed into the files:\n{}", wrong.join("\n"));
}

/// The pages of a folder but its README, by name.
fn pages(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.file_name().is_some_and(|name| name != "README.md"))
        .collect();
    files.sort_unstable();
    assert!(!files.is_empty(), "there are commands");
    files
}

/// Where a file differs from what its commands print; with [`BLESS`] it is written, and nothing differs.
fn difference(desk: &mut Desk, file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let printed = carried_out(desk, &name, &text);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(file, printed).expect("the file can be written");
        return None;
    }
    let line = first_difference(&text, &printed)?;
    Some(format!("{name}:{line}: expected\n{text}found\n{printed}"))
}

fn first_difference(text: &str, printed: &str) -> Option<usize> {
    let lines = text.lines().zip(printed.lines()).take_while(|(one, other)| one == other).count();
    (text != printed).then_some(lines + 1)
}

/// The text of a file with what its commands print.
fn carried_out(desk: &mut Desk, name: &str, text: &str) -> String {
    let Desk { server, place } = desk;
    let (mut out, mut lines) = (String::new(), text.lines());
    while let Some(line) = lines.next() {
        writeln!(out, "{line}").expect("a string takes everything");
        let Some(kind) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let content: String = block.iter().map(|line| format!("{line}\n")).collect();
        match kind.split_once(' ').unwrap_or((kind, "")) {
            ("console", "") => {
                for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                    write!(out, "$ {command}\n{}", shown(&typed(place, command)))
                        .expect("a string takes everything");
                }
            }
            ("console", "server") => {
                let line = block.first().and_then(|line| line.strip_prefix("$ lmlang "));
                let line = line.unwrap_or_else(|| panic!("{name}: a server is begun by `$ lmlang ..`"));
                let (begun, printed) = Server::start_shown(place, line);
                assert!(server.replace(begun).is_none(), "{name}: there is a server");
                write!(out, "$ lmlang {line}\n{printed}").expect("a string takes everything");
            }
            (kind, given) => {
                match kind {
                    "file" => place.write(given, &content),
                    "graphql" => {
                        let server: &Server = server.get_or_insert_with(|| Server::start(place));
                        let author = format!("lmlang-author: {given}\r\n");
                        let answer = server.ask_as(&author, &content).to_string();
                        let refused = ["\"errors\":", "EditRejected", "EditConflict"];
                        assert!(
                            !refused.iter().any(|word| answer.contains(word)),
                            "{name}: {content}{answer}"
                        );
                    }
                    _ => panic!("{name}: nobody knows a block `{kind}`"),
                }
                out.push_str(&content);
            }
        }
        out.push_str("```\n");
    }
    out
}

/// What comes of a line that Ada types.
fn typed(place: &Place, line: &str) -> Output {
    let folder = Path::new(LMLANG).parent().expect("the binary is in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(place.path()).env_clear().env("PATH", path);
    shell.env("HOME", place.path()).env("USER", "ada").stdin(Stdio::null());
    shell.output().expect("a shell runs")
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
