//! `--wait`: a database that another process has open is tried again.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Output, Stdio};

use serde_json::json;

use crate::mcp::Wire;
use crate::serve::Server;
use crate::tool::Place;

/// A command that waits for a process to close the database.
struct Waiting {
    child: Child,
    /// The rest of what it says.
    told: BufReader<ChildStderr>,
}

impl Waiting {
    /// Runs a command until it has said for whom it waits.
    fn run(place: &Place, args: &[&str], holder: &str) -> Waiting {
        let mut command = place.command();
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut told = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        told.read_line(&mut line).expect("it says so");
        assert!(line.starts_with(&format!("waiting for {holder}")), "{args:?}: {line}");
        Waiting { child, told }
    }

    fn end(self) -> Output {
        let Waiting { child, told } = self;
        let done = child.wait_with_output().expect("it ends");
        drop(told);
        done
    }
}

/// The time that is given here is never over.
const LONG: &str = "86400";

#[test]
fn a_database_is_opened_when_the_process_that_holds_it_ends() {
    let place = Place::new();
    let mut holder = Wire::open(&place, &["mcp"]);
    let listed = holder.method("program", &json!({ "action": "list" }));
    assert_eq!(listed["result"]["isError"], false, "{listed}");
    let told = place.fails(&["program", "list"], 5, "DATABASE_HELD");
    assert!(told.contains("`--wait 30`"), "{told}");
    let told = place.fails(&["program", "list", "--wait", "1"], 5, "DATABASE_HELD");
    assert_eq!(told.matches("waiting for").count(), 1, "{told}");

    let name = format!("process {} on ", holder.child.id());
    let waiting = Waiting::run(&place, &["program", "create", "p", "--wait", LONG], &name);
    holder.close();
    let done = waiting.end();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(place.ok(&["program", "list"]), "p\n");
}

/// What a server can do, it is asked for.
#[test]
fn a_server_is_waited_for_where_it_cannot_be_asked() {
    let place = Place::new();
    let server = Server::start(&place);
    place.ok(&["program", "list", "--wait", LONG]);
    place.fails(&["doctor"], 5, "DATABASE_HELD");
    let waiting = Waiting::run(&place, &["doctor", "--wait", LONG], "process ");
    assert_eq!(server.stop(), Some(0));
    let done = waiting.end();
    assert!(done.status.success(), "{done:?}");
}
