//! Answers that are lost on their way: a change is asked for once more under its key, and carried out once.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use crate::serve::Server;
use crate::tool::Place;

/// What becomes of a request on its way to the server.
#[derive(Clone, Copy)]
enum Fate {
    /// It arrives, and its answer comes back.
    Answered,
    /// It arrives, and its answer is lost.
    AnswerLost,
    /// It does not arrive.
    RequestLost,
    /// Something else answers, with this body.
    Intercepted(&'static str),
}
use Fate::{AnswerLost, Answered, Intercepted, RequestLost};

/// A way to a server on which requests meet their fates, one after the other; behind the last one nobody listens.
struct Way {
    url: String,
    /// Gives how many requests came.
    came: JoinHandle<usize>,
}

impl Way {
    fn to(server: &Server, fates: &'static [Fate]) -> Way {
        let door = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", door.local_addr().expect("it has an address"));
        let address = server.address.clone();
        let passed = move || fates.iter().take_while(|fate| pass(&door, &address, **fate)).count();
        let came = std::thread::spawn(passed);
        Way { url, came }
    }

    /// Runs a command over the way: its exit, what it printed, and how many requests came.
    fn run(self, place: &Place, args: &[&str]) -> (Option<i32>, String, usize) {
        let done = place.run(&[args, &["--server", &self.url]].concat());
        // Whoever waits for one more request is told that there is none.
        TcpStream::connect(self.url.trim_start_matches("http://")).ok();
        (done.code, done.stdout + &done.stderr, self.came.join().expect("nothing panicked"))
    }
}

/// Waits for a request and lets it meet its fate; tells whether one came.
fn pass(door: &TcpListener, address: &str, fate: Fate) -> bool {
    let (mut caller, _) = door.accept().expect("somebody comes");
    let Some(request) = request(&mut caller) else { return false };
    let answer = match fate {
        RequestLost => return true,
        Intercepted(body) => {
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
        }
        Answered | AnswerLost => {
            let mut server = TcpStream::connect(address).expect("the server is there");
            let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            server.write_all(request.as_bytes()).expect("it listens");
            let mut answer = Vec::new();
            server.read_to_end(&mut answer).expect("it answers");
            answer
        }
    };
    if !matches!(fate, AnswerLost) {
        caller.write_all(&answer).expect("the caller listens");
    }
    true
}

/// A whole request; none if the caller leaves.
fn request(caller: &mut TcpStream) -> Option<String> {
    let (mut request, mut part) = (String::new(), [0; 4096]);
    loop {
        let read = caller.read(&mut part).ok().filter(|read| *read > 0)?;
        request.push_str(std::str::from_utf8(&part[..read]).expect("what is sent here is ASCII"));
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length.and_then(|length| length.parse().ok()) == Some(body.len()) {
            return Some(request);
        }
    }
}

/// The kinds of a program's revisions, oldest first.
fn kinds(place: &Place, program: &str) -> Vec<String> {
    let history = place.json(&["history", program]);
    let kinds = history.as_array().into_iter().flatten().filter_map(|one| one["kind"].as_str());
    kinds.rev().map(str::to_owned).collect()
}

fn edit(server: &Server) {
    let edited = server.ask(
        "mutation { proposeEdit(input: { programId: \"mine\", edits: [{ addText: { module: \"fibonacci\", text: \"func \
         twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }\" } }] }) { outcome { __typename } } }",
    );
    assert_eq!(edited["data"]["proposeEdit"]["outcome"]["__typename"], "EditApplied", "{edited}");
}

#[test]
fn a_change_whose_answer_is_lost_is_made_once() {
    let place = Place::with_example("fib.lm");
    let server = Server::start(&place);
    let once = |fates: &'static [Fate], args: &[&str]| {
        let (code, told, came) = Way::to(&server, fates).run(&place, args);
        assert_eq!((code, came), (Some(0), fates.len()), "{args:?}: {told}");
        assert!(told.contains("asking again"), "{told}");
        told
    };
    once(&[AnswerLost, Answered], &["import", "fib.lm", "--name", "mine"]);
    edit(&server);
    for (fates, args) in [
        (&[AnswerLost, Answered], &["undo", "mine"][..]),
        (&[RequestLost, Answered], &["redo", "mine"]),
        (&[AnswerLost, Answered], &["checkpoint", "create", "mine", "first"]),
        (&[AnswerLost, Answered], &["checkpoint", "delete", "mine", "first"]),
    ] {
        once(fates, args);
    }
    assert_eq!(kinds(&place, "mine"), ["CREATE", "EDIT", "UNDO", "REDO", "CHECKPOINT", "CHECKPOINT"]);
    once(&[AnswerLost, Answered], &["branch", "create", "mine", "line"]);
    for branch in ["line", "main"] {
        let edited = server.ask(&format!(
            "mutation {{ proposeEdit(input: {{ programId: \"mine\", branch: \"{branch}\", edits: [{{ setDoc: {{ ref: \
             \"fibonacci::fib\", doc: \"On {branch}.\" }} }}] }}) {{ outcome {{ __typename }} }} }}"
        ));
        assert_eq!(edited["data"]["proposeEdit"]["outcome"]["__typename"], "EditApplied", "{edited}");
    }
    // It looks first what is in conflict.
    once(&[Answered, AnswerLost, Answered], &["merge", "mine", "line", "--theirs"]);
    once(&[AnswerLost, Answered], &["revert", "mine", "main"]);
    once(&[AnswerLost, Answered], &["branch", "delete", "mine", "line"]);
    assert_eq!(kinds(&place, "mine")[6..], ["EDIT", "MERGE", "REVERT"]);
    // It looks first which one that is.
    once(&[Answered, AnswerLost, Answered], &["program", "delete", "mine", "--yes"]);
    place.fails(&["program", "show", "mine"], 3, "NOT_FOUND");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn what_is_not_known_is_said_with_how_to_find_out() {
    let place = Place::with_example("fib.lm");
    let server = Server::start(&place);
    place.ok(&["import", "fib.lm", "--name", "mine"]);
    edit(&server);
    const TIMEOUT: &str = r#"{"errors":[{"message":"the operation took longer than 30000 ms","extensions":{"code":"TIMEOUT"}}]}"#;
    const BUSY: &str = r#"{"errors":[{"message":"the server is busy","extensions":{"code":"OVERLOADED"}}]}"#;
    let doubt = |fates: &'static [Fate], args: &[&str], exit: i32, look: &str, requests: usize| {
        let (code, told, came) = Way::to(&server, fates).run(&place, args);
        assert_eq!((code, came), (Some(exit), requests), "{args:?}: {told}");
        let expected =
            format!("error[IN_DOUBT]: it may have been carried out: `{look}` shows whether it was: ");
        assert!(told.contains(&expected), "{told}");
    };
    let history = "lmlang history mine --branch main";
    doubt(&[RequestLost, RequestLost], &["undo", "mine"], 1, history, 2);
    assert_eq!(kinds(&place, "mine"), ["CREATE", "EDIT"]);
    doubt(&[AnswerLost, AnswerLost], &["undo", "mine"], 1, history, 2);
    assert_eq!(kinds(&place, "mine"), ["CREATE", "EDIT", "UNDO"]);
    // Nobody is there any more, or nobody looks at the key.
    doubt(&[AnswerLost], &["redo", "mine"], 1, history, 1);
    doubt(&[AnswerLost, Intercepted(BUSY)], &["undo", "mine"], 1, history, 2);
    // What was answered is not asked again.
    doubt(&[Intercepted(TIMEOUT)], &["redo", "mine"], 124, history, 1);
    doubt(&[Intercepted("<html>")], &["redo", "mine"], 1, history, 1);
    assert_eq!(kinds(&place, "mine"), ["CREATE", "EDIT", "UNDO", "REDO", "UNDO"]);
    let list = "lmlang checkpoint list mine";
    doubt(&[AnswerLost, RequestLost], &["checkpoint", "create", "mine", "c"], 1, list, 2);
    // A secret is shown once, and is not asked for twice.
    let token = ["token", "create", "bot", "--scope", "read"];
    doubt(&[AnswerLost, Answered], &token, 1, "lmlang token list --all", 1);
    assert_eq!(server.stop(), Some(0));
    assert_eq!(place.json(&["token", "list"])[0]["name"], "bot");
    assert_eq!(place.json(&["checkpoint", "list", "mine"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_refused_or_only_looked_at_is_asked_once() {
    let place = Place::with_example("fib.lm");
    let server = Server::start(&place);
    let gone = server.address.clone();
    place.ok(&["checkpoint", "create", "fib", "c"]);
    let asked = |fates: &'static [Fate], args: &[&str], exit: i32, code: &str| {
        let (ended, told, came) = Way::to(&server, fates).run(&place, args);
        assert_eq!((ended, came), (Some(exit), 1), "{args:?}: {told}");
        assert!(told.contains(&format!("[{code}]")) && !told.contains("asking again"), "{told}");
    };
    let taken = ["checkpoint", "create", "fib", "c"];
    asked(&[Answered, Answered], &taken, 5, "NAME_TAKEN");
    asked(&[Answered, Answered], &["undo", "nobody"], 3, "NOT_FOUND");
    asked(&[AnswerLost, Answered], &["history", "fib"], 1, "CONNECTION_LOST");
    asked(&[AnswerLost, Answered], &["undo", "fib", "--dry-run"], 1, "CONNECTION_LOST");
    assert_eq!(server.stop(), Some(0));
    // What was not sent leaves no doubt.
    let url = format!("http://{gone}");
    place.fails(&[&taken[..], &["--server", &url]].concat(), 1, "UNREACHABLE");
}
