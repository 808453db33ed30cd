//! A process that dies at a step of the write path, and what it leaves.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use lmlang_store::{Action, Fault, Faults, Object, Options, Snapshot, Step, Store};

use crate::fixture::{append, author, create, edit, options, seqs};

const DIR: &str = "LMLANG_STORE_KILL_DIR";
const STEP: &str = "LMLANG_STORE_KILL_STEP";
const ROUND: &str = "LMLANG_STORE_KILL_ROUND";

#[tokio::test]
async fn acknowledged_entries_survive_an_abort_at_every_step() {
    for (place, step) in Step::ALL.into_iter().enumerate() {
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
        let numbers = |what: &str| -> Vec<u64> {
            output.lines().filter_map(|line| line.strip_prefix(what)?.parse().ok()).collect()
        };
        let (acknowledged, kept) = (numbers("stored "), numbers("kept "));
        assert!(!acknowledged.is_empty(), "{step:?}: {output}");

        // The lock went with the process.
        let store = Store::open(options(dir.path())).await.unwrap();
        let program = store.program_by_name("a").await.unwrap().unwrap();
        let stored = seqs(&store, program.key).await;
        assert_eq!(stored, (1..=stored.len() as u64).collect::<Vec<_>>(), "{step:?}");
        assert!(stored.last() >= acknowledged.last(), "{step:?}: {stored:?} {acknowledged:?}");
        // Appends of one and of 300 in turn: none is there in part.
        assert!(stored.len() as u64 % 301 <= 1 + 1, "{step:?}: {}", stored.len());
        let snapshots = store.snapshots(program.key, u64::MAX >> 1, 1_000).await.unwrap();
        let snapshots: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.seq).collect();
        assert!(kept.iter().all(|seq| snapshots.contains(seq)), "{step:?}: {kept:?} {snapshots:?}");
        // What was durable when the child died was told to nobody.
        let untold = snapshots.iter().filter(|seq| !kept.contains(seq)).count();
        assert!(untold <= usize::from(step == Step::AfterBackground), "{step:?}: {kept:?} {snapshots:?}");
        assert_eq!(store.check(None).await.unwrap().findings, [], "{step:?}");
    }
}

/// Does nothing unless the test above starts it.
#[tokio::test]
async fn child_that_dies() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let step = Step::ALL[number(STEP) as usize];
    let (left, commits) = (AtomicU64::new(number(ROUND)), AtomicU64::new(0));
    let faults = Faults::new(move |at| {
        if at == step && left.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
        // The database is asked only when its answer was lost.
        let is_lost = step == Step::BeforeAsking && at == Step::AfterCommit;
        if is_lost && commits.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Action::Fail(Fault::ConnectionLost);
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
        let snapshot = Snapshot { program, seq: next - 1, root: vec![1; 64] };
        let object = Object { hash: [next as u8; 32], version: 1, bytes: vec![5; 9_000] };
        store.put_snapshot(snapshot, vec![object]).await.unwrap();
        println!("kept {}", next - 1);
    }
}
