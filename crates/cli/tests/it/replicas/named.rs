//! What one server has just given a name to, looked at by that name at another one.

use lmlang_testdb::TestDb;

use super::{head, start};
use crate::tool::Place;

#[test]
fn a_branch_that_one_server_has_made_is_a_branch_at_the_others() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let db = runtime.block_on(TestDb::new());
    if db.is_file() {
        return;
    }
    let places = [Place::new(), Place::new()];
    let [here, there] = places.each_ref().map(|place| start(place, &db));
    // Both have the program open.
    assert_eq!(head(&here), head(&there));
    for round in 0..10 {
        let name = format!("draft{round}");
        let made = here.ask(&format!(
            "mutation {{ createBranch(input: {{ programId: \"fib\", name: \"{name}\" }}) {{ branch {{ name }} }} }}"
        ));
        assert_eq!(made["data"]["createBranch"]["branch"]["name"], name, "{made}");
        let found = there.ask(&format!("{{ program(name: \"fib\", at: \"{name}\") {{ branch }} }}"));
        assert_eq!(found["data"]["program"]["branch"], name, "{found}");
    }
    for server in [here, there] {
        assert_eq!(server.stop(), Some(0));
    }
}
