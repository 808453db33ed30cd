//! A client that edits: sets constants of a program to new values, one or several in a request.

use std::cell::Cell;
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use lmlang_ir::text::{Detail, print_program};
use lmlang_testkit::shapes::{self, Shape};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::find;
use crate::load::{Caller, once};

/// Nodes of a program.
const NODES: usize = 1_000;

/// Why, as it stands in the log.
pub const MESSAGE: &str = "set a constant";

/// What a client sends again and again, with other variables.
const EDIT: &str = "mutation Edit($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename \
                    ... on EditApplied { committed revision { number } } \
                    ... on EditRejected { errors { code message } } \
                    ... on EditConflict { conflicts { kind message } } } } }";

/// A program on the server.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its id.
    pub id: String,
    /// Its constants.
    pub constants: Vec<String>,
}

/// Makes a program and finds its constants.
///
/// # Errors
///
/// When the server does not answer, or refuses.
pub fn create(server: SocketAddr, name: &str, seed: u64) -> io::Result<Program> {
    let text = print_program(&shapes::program(Shape::ManySmall, NODES, seed).program, Detail::Standard);
    let made = once(
        server,
        &json!({
            "query": "mutation($input: CreateProgramInput!) { createProgram(input: $input) \
                      { errors { message } program { programId } } }",
            "variables": { "input": { "name": name, "text": text } },
        }),
    )?;
    let id = made["data"]["createProgram"]["program"]["programId"].as_str();
    let id = id.ok_or_else(|| io::Error::other(format!("no program was made: {made}")))?.to_owned();
    let found = once(
        server,
        &json!({
            "query": "query($id: ID!) { program(id: $id) { search(filter: { opcode: [CONST] }, first: 200) \
                      { nodes { ref op } } } }",
            "variables": { "id": id },
        }),
    )?;
    let nodes = found["data"]["program"]["search"]["nodes"].as_array();
    let nodes = nodes.ok_or_else(|| io::Error::other(format!("no constants were found: {found}")))?;
    let constants =
        nodes.iter().filter(|node| node["op"].as_str().is_some_and(|op| op.starts_with("const.i64")));
    let constants = constants.filter_map(|node| Some(node["ref"].as_str()?.to_owned())).collect();
    Ok(Program { id, constants })
}

/// The number of the newest revision.
///
/// # Errors
///
/// When the server does not answer, or knows no such program.
pub fn head(server: SocketAddr, program: &Program) -> io::Result<u64> {
    let asked = once(
        server,
        &json!({
            "query": "query($id: ID!) { program(id: $id) { revision { number } } }",
            "variables": { "id": program.id },
        }),
    )?;
    let number = asked["data"]["program"]["revision"]["number"].as_u64();
    number.ok_or_else(|| io::Error::other(format!("a program has no head: {asked}")))
}

/// One who edits.
#[derive(Debug)]
pub struct Editor {
    start: String,
    /// The nodes that a request changes.
    nodes: Vec<String>,
    /// What they are set to next, shared so that no edit finds its value there already.
    next: Rc<Cell<u64>>,
    /// Requests that were acknowledged.
    pub applied: u64,
}

impl Editor {
    /// Sets so many constants of a program in each request, others than editors with other numbers.
    #[must_use]
    pub fn of(program: &Program, number: usize, edits: usize, next: &Rc<Cell<u64>>) -> Editor {
        let start = format!(
            r#"{{"query":{},"variables":{{"input":{{"programId":"{}","message":"{MESSAGE}","idempotencyKey":""#,
            Value::from(EDIT),
            program.id
        );
        let nodes = program.constants.iter().cycle().skip(number * edits).take(edits).cloned().collect();
        Editor { start, nodes, next: Rc::clone(next), applied: 0 }
    }
}

impl Caller for Editor {
    fn request(&mut self, body: &mut String) {
        body.push_str(&self.start);
        body.push_str(Uuid::now_v7().hyphenated().encode_lower(&mut Uuid::encode_buffer()));
        body.push_str(r#"","edits":["#);
        for (at, node) in self.nodes.iter().enumerate() {
            let value = self.next.replace(self.next.get() + 1);
            let separator = if at > 0 { "," } else { "" };
            let edit =
                format_args!(r#"{separator}{{"modifyNode":{{"ref":"{node}","op":"const.i64 {value}"}}}}"#);
            body.write_fmt(edit).expect("memory takes text");
        }
        body.push_str("]}}}");
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), String> {
        match find(answer, br#""committed":true"#) {
            Some(_) => {
                self.applied += 1;
                Ok(())
            }
            None => Err(format!("not applied: {}", String::from_utf8_lossy(answer))),
        }
    }
}
