//! A process that dies at a step of the write path, and what it leaves.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lmlang_store::{Action, Faults, Options, Step, Store};

use crate::fixture::{append, author, create, edit, options, seqs};

const DIR: &str = "LMLANG_STORE_KILL_DIR";
const STEP: &str = "LMLANG_STORE_KILL_STEP";
const ROUND: &str = "LMLANG_STORE_KILL_ROUND";

#[tokio::test]
async fn acknowledged_entries_survive_an_abort_at_every_step() {
    for (place, step) in
        [Step::BeforeInsert, Step::BeforeCommit, Step::AfterCommit, Step::BeforeAck].into_iter().enumerate()
    {
        let dir = tempfile::tempdir().unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file::kill::child_that_dies", "--nocapture"])
            .env(DIR, dir.path())
            .env(STEP, place.to_string())
            .env(ROUND, "9")
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(!child.status.success(), "{step:?}: the child ended well");
        let output = String::from_utf8(child.stdout).unwrap();
        let acknowledged: Vec<u64> =
            output.lines().filter_map(|line| line.strip_prefix("stored ")?.parse().ok()).collect();
        assert!(!acknowledged.is_empty(), "{step:?}: {output}");

        // The lock went with the process.
        let store = Store::open(options(dir.path())).await.unwrap();
        let program = store.program_by_name("a").await.unwrap().unwrap();
        let stored = seqs(&store, program.key).await;
        assert_eq!(stored, (1..=stored.len() as u64).collect::<Vec<_>>(), "{step:?}");
        assert!(stored.last() >= acknowledged.last(), "{step:?}: {stored:?} {acknowledged:?}");
        // Appends of one and of 300 in turn: none is there in part.
        assert!(stored.len() as u64 % 301 <= 1 + 1, "{step:?}: {}", stored.len());
        assert_eq!(store.check(None).await.unwrap().findings, [], "{step:?}");
    }
}

/// Does nothing unless the test above starts it.
#[tokio::test]
async fn child_that_dies() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let step =
        [Step::BeforeInsert, Step::BeforeCommit, Step::AfterCommit, Step::BeforeAck][number(STEP) as usize];
    let left = Arc::new(AtomicU64::new(number(ROUND)));
    let faults = Faults::new(move |at| {
        if at == step && left.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
        Action::Continue
    });
    let store = Store::open(Options { faults, ..options(std::path::Path::new(&dir)) }).await.unwrap();
    let actor = author(&store).await;
    let program = create(&store, "a", actor).await;
    let mut next = 2;
    loop {
        for rows in [1, 300] {
            let entries = (next..next + rows).map(|seq| edit(seq, actor)).collect();
            next += rows;
            store.committer().submit(append(program, entries)).await.unwrap();
            println!("stored {}", next - 1);
        }
    }
}
