//! The command line over a database that other processes can have open too: what it prints is what it prints over a file.

use lmlang_testdb::TestDb;

use crate::commands::hold_in;
use crate::tool::{Place, root};

/// Carries out pages of `tests/commands`, each with a database of its own. Does nothing but where the tests have PostgreSQL.
fn hold(pages: &[&str]) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let database = || runtime.block_on(TestDb::new());
    if database().is_file() {
        return;
    }
    let folder = root().join("tests/commands");
    let lists: Vec<_> = pages.iter().map(|page| vec![folder.join(page)]).collect();
    hold_in(&lists, || Place::with_database(database().to_string()));
}

#[test]
fn commands_about_history_print_what_is_written() {
    hold(&["blame.md", "branches.md", "editing.md", "merging.md", "reverting.md", "selecting.md"]);
}

/// What one command has begun or asked, the next ones go on with. Pages that begin without a database, or tell what only the
/// holder of a file can know, are not among them.
#[test]
fn commands_about_runs_and_what_is_kept_beside_programs_print_what_is_written() {
    hold(&["acting.md", "cases.md", "rewinding.md", "stopping.md"]);
}
