//! Backups: what is made of one database is in another, all of it or nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lmlang_store::backup::{
    BackupFile, Choice, Fate, FileError, Item, LoadError, Planned, Progress, Refusal, Wishes,
};
use lmlang_store::{
    Actor, ActorKind, Bound, Entry, EntryKind, FIRST_SEQ, Happened, Idempotency, Location, NewProgram,
    Options, Origin, Position, ProgramKey, ProgramRequest, Store, Timestamp, What,
};
use lmlang_testdb::TestDb;
use proptest::prelude::*;
use uuid::Uuid;

use crate::fixture::{Fixture, edit, keyed, options_of, seqs};

pub(crate) fn wishes() -> Wishes {
    Wishes { only: None, names: Default::default(), now: Timestamp(77) }
}

/// The file of a backup.
pub(crate) async fn backup(store: &Store, choice: Choice) -> Vec<u8> {
    let mut backup = store.backup(choice, Timestamp(5)).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(more) = backup.next().await.unwrap() {
        bytes.extend(more);
    }
    let (done, of) = backup.progress();
    assert_eq!(done, of);
    bytes
}

/// A backup in a folder.
pub(crate) async fn backup_in(dir: &Path, store: &Store) -> PathBuf {
    let path = dir.join("backup.lmb");
    std::fs::write(&path, backup(store, Choice::default()).await).unwrap();
    path
}

pub(crate) async fn load(store: &Store, path: &Path, wishes: &Wishes) -> Result<Vec<Planned>, LoadError> {
    let file = BackupFile::open(path)?;
    let plan = store.plan(&file, wishes).await?;
    let mut last = None;
    store.take_in(&file, &plan, &mut |progress| last = Some(progress)).await?;
    let stored: u64 = plan.programs().iter().map(|planned| planned.entries).sum();
    assert_eq!(last.map(|progress| (progress.done, progress.of)), (stored > 0).then_some((stored, stored)));
    Ok(plan.programs().to_vec())
}

pub(crate) async fn refusals(store: &Store, path: &Path, wishes: &Wishes) -> Vec<Refusal> {
    match load(store, path, wishes).await {
        Err(LoadError::Refused(refused)) => refused.0,
        other => panic!("{other:?}"),
    }
}

/// All that is known of the programs of a database, without what means something in that one only.
async fn known(store: &Store) -> Vec<String> {
    let mut known = Vec::new();
    let mut position = Position::default();
    loop {
        let happened = store.happened(position, Bound { rows: 100, bytes: 1 << 20 }).await.unwrap();
        let Some(Happened { position: last, .. }) = happened.last() else { break };
        position = *last;
        for Happened { program, what, .. } in happened {
            known.push(match what {
                What::Entry(entry) => {
                    let actor = store.actor(entry.actor).await.unwrap().unwrap();
                    let (header, edits) = entry.split();
                    let header = format!("{header:?}").replace(&format!("{:?}", header.actor), "");
                    format!("{program} {header} {edits:?} by {actor:?}")
                }
                What::Program(change) => format!("{program} {change:?}"),
            });
        }
    }
    // Each program by itself: others may have come between.
    known.sort_by_key(|line| line[..36].to_owned());
    let ids: std::collections::BTreeSet<Uuid> =
        known.iter().map(|line| line[..36].parse().unwrap()).collect();
    for id in ids {
        let row = store.program_by_id(id).await.unwrap().unwrap();
        known.push(format!("{id} {} {} {:?} {:?}", row.name, row.doc, row.created, row.deleted));
        for key in KEYS {
            if let Some(request) = store.carried_out(key.as_bytes()).await.unwrap()
                && request.program == row.key
            {
                known.push(format!(
                    "{id} {key} {:?} {} {} {}",
                    request.digest, request.seq, request.name, request.doc
                ));
            }
        }
    }
    known
}

/// Idempotency keys of requests that change programs as wholes.
const KEYS: [&str; 4] = ["k0", "k1", "k2", "k3"];

/// Does something to programs, a function of a number.
async fn work(fixture: &Fixture, programs: &mut Vec<(ProgramKey, u64)>, number: u32) {
    let store = &fixture.store;
    let time = Timestamp(number.into());
    let pick = |of: usize| (number / 16) as usize % of.max(1);
    let name = format!("p{}-{}", programs.len(), number);
    let idempotency = Idempotency { key: KEYS[pick(4)].as_bytes().to_vec(), digest: vec![number as u8; 32] };
    let taken = store.carried_out(&idempotency.key).await.unwrap().is_some();
    let request = ProgramRequest { time, idempotency: Some(idempotency).filter(|_| !taken), seq: 1 };
    let which = pick(programs.len());
    match (number % 16, programs.get(which).copied()) {
        (0 | 1, _) | (_, None) => {
            let first =
                Entry { kind: EntryKind::Create, parents: Default::default(), ..fixture.edit(FIRST_SEQ) };
            let first = if number.is_multiple_of(3) { keyed(first, &name) } else { first };
            let program = NewProgram { id: Uuid::now_v7(), name, doc: String::new(), created: time };
            programs.push((store.create_program(program, vec![first]).await.unwrap(), 1));
        }
        (2, Some((key, _))) => store.update_program(key, Some(&name), None, request).await.unwrap(),
        (3, Some((key, _))) => store.update_program(key, None, Some(&name), request).await.unwrap(),
        (4, Some((key, _))) if programs.len() > 1 => {
            assert!(store.delete_program(key, request).await.unwrap());
            programs.swap_remove(which);
        }
        (_, Some((key, newest))) => {
            let client = number.is_multiple_of(2).then(|| format!("client {}", number % 5));
            let actor = Actor { name: format!("by {}", number % 7), kind: ActorKind::Agent, client };
            let actor = store.actor_key(&actor).await.unwrap();
            let entries = (newest + 1..=newest + 1 + u64::from(number % 90)).map(|seq| Entry {
                branch: number % 3,
                edits: vec![number as u8; (number % 700) as usize],
                message: number.is_multiple_of(5).then(|| format!("at {seq}")),
                on_behalf_of: number.is_multiple_of(6).then(|| "bob".to_owned()),
                target: number.is_multiple_of(4).then_some(seq - 1),
                origin: number
                    .is_multiple_of(9)
                    .then(|| Origin { run: Uuid::from_u128(number.into()), step: seq }),
                ..edit(seq, actor)
            });
            let mut entries: Vec<Entry> = entries.collect();
            entries[0] = keyed(entries[0].clone(), &format!("{number} {newest}"));
            programs[which].1 += entries.len() as u64;
            fixture.submit(key, entries).await.unwrap();
        }
    }
}

pub(crate) fn cases() -> ProptestConfig {
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { 160 } else { 16 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn what_is_in_a_backup_comes_back(first in prop::collection::vec(any::<u32>(), 1..12),
                                      then in prop::collection::vec(any::<u32>(), 0..12)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (from, to) = (Fixture::new().await, Fixture::new().await);
            let mut programs = Vec::new();
            let mut fates = Vec::new();
            for part in [first, then] {
                for number in part {
                    work(&from, &mut programs, number).await;
                }
                let path = backup_in(from.db.folder(), &from.store).await;
                let planned = load(&to.store, &path, &wishes()).await.unwrap();
                fates.extend(planned.iter().map(|planned| planned.fate));
                assert_eq!(known(&to.store).await, known(&from.store).await);
                assert_eq!(to.store.check(None).await.unwrap().findings.len(), from.store.check(None).await.unwrap().findings.len());
                // Once more, there is nothing to do.
                let again = load(&to.store, &path, &wishes()).await.unwrap();
                assert!(again.iter().all(|planned| planned.fate == Fate::Kept && planned.entries == 0), "{again:?}");
                assert_eq!(known(&to.store).await, known(&from.store).await);
            }
            assert!(fates.contains(&Fate::Made));
            // Both go on as ever.
            for (key, newest) in programs {
                let id = from.store.program(key).await.unwrap().unwrap().id;
                let there = to.store.program_by_id(id).await.unwrap().unwrap().key;
                to.append(there, to.edit(newest + 1)).await.unwrap();
            }
        });
    }
}

#[tokio::test]
async fn a_choice_is_taken_and_left() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    let [a, b, gone] = [from.program("a").await, from.program("b").await, from.program("gone").await];
    from.store.delete_program(gone, Timestamp(3)).await.unwrap();
    from.append(a, from.edit(2)).await.unwrap();
    let id = from.store.program(b).await.unwrap().unwrap().id;
    let path = from.db.folder().join("file");
    let names = async |choice: Choice| {
        std::fs::write(&path, backup(&from.store, choice).await).unwrap();
        let file = BackupFile::open(&path).unwrap();
        let contents = file.contents();
        assert_eq!(contents.made, Timestamp(5));
        let names: Vec<String> = contents.programs.iter().map(|program| program.name.clone()).collect();
        (names.join(" "), contents.entries)
    };
    assert_eq!(names(Choice { only: Some(vec![id]), live: false }).await, ("b".to_owned(), 1));
    assert_eq!(names(Choice { only: Some(vec![]), live: false }).await, (String::new(), 0));
    assert_eq!(names(Choice { only: None, live: true }).await, ("a b".to_owned(), 3));
    assert_eq!(names(Choice::default()).await, ("a b gone".to_owned(), 4));
    let left_out = BackupFile::open(&path).unwrap().contents().left_out();
    assert!(left_out.contains(&"runs of flows with their sessions"), "{left_out:?}");

    let wishes = Wishes { only: Some([id].into()), ..wishes() };
    let planned = load(&to.store, &path, &wishes).await.unwrap();
    assert_eq!(planned.iter().map(|planned| planned.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(to.store.check(None).await.unwrap().programs, 1);
}

#[tokio::test]
async fn a_backup_is_of_one_moment() {
    let from = Fixture::new().await;
    let program = from.program("a").await;
    let long = |seq| Entry {
        edits: (0..9_000_u32).map(|byte| (byte * byte % 251) as u8).collect(),
        ..from.edit(seq)
    };
    from.submit(program, (2..=600).map(long).collect()).await.unwrap();
    let mut backup = from.store.backup(Choice::default(), Timestamp(5)).await.unwrap();
    let (mut bytes, mut newest, mut pieces) = (Vec::new(), 600, 0);
    while let Some(more) = backup.next().await.unwrap() {
        bytes.extend(more);
        pieces += 1;
        // Whatever happens meanwhile.
        newest += 1;
        from.append(program, from.edit(newest)).await.unwrap();
        from.store.update_program(program, Some(&format!("a{newest}")), None, Timestamp(9)).await.unwrap();
        from.program(&format!("b{newest}")).await;
    }
    assert!(pieces > 2, "{pieces}");
    let path = from.db.folder().join("file");
    std::fs::write(&path, bytes).unwrap();
    let file = BackupFile::open(&path).unwrap();
    assert_eq!(file.contents().entries, 600);
    let to = Fixture::new().await;
    let planned = load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!((planned.len(), planned[0].name.as_str(), planned[0].entries), (1, "a", 600));
    // What came after is appended from the next one.
    let path = backup_in(from.db.folder(), &from.store).await;
    let planned = load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!((planned[0].fate, planned[0].entries), (Fate::Continued, newest - 600));
    assert_eq!(known(&to.store).await, known(&from.store).await);
}

#[tokio::test]
async fn a_file_that_is_not_whole_is_none() {
    let from = Fixture::new().await;
    for name in ["a", "b"] {
        let program = from.program(name).await;
        from.submit(program, (2..=9).map(|seq| from.edit(seq)).collect()).await.unwrap();
    }
    let file = backup(&from.store, Choice::default()).await;
    let path = from.db.folder().join("file");
    let opened = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        BackupFile::open(&path).map(|file| file.contents().entries)
    };
    assert_eq!(opened(&file).unwrap(), 18);
    for end in 0..file.len() {
        let error = opened(&file[..end]).unwrap_err();
        assert!(
            matches!(error, FileError::Truncated { at, frame } if at == end as u64 && frame <= at),
            "{end}: {error}"
        );
    }
    for at in 0..file.len() {
        let mut flipped = file.clone();
        flipped[at] ^= 0x10;
        let error = opened(&flipped).unwrap_err();
        let at_its_place = match error {
            FileError::Foreign => at < 8,
            FileError::Version { found } => (8..10).contains(&at) && found != 1,
            FileError::Damaged { at: place, .. } => place <= at as u64,
            FileError::Truncated { at: end, frame } => end == file.len() as u64 && frame <= at as u64,
            FileError::Io(_) => false,
        };
        assert!(at_its_place, "{at}: {error}");
    }
    assert!(matches!(opened(b"PK\x03\x04"), Err(FileError::Foreign)));
    assert!(matches!(opened(&[&file[..], &file[..]].concat()), Err(FileError::Damaged { .. })));
    assert!(matches!(BackupFile::open(from.db.folder()), Err(FileError::Io(_))));
}

#[tokio::test]
async fn what_cannot_be_there_is_refused_before_anything_is_stored() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    let mut keys = Vec::new();
    for name in ["moved", "renamed", "deleted", "named", "keyed", "fine"] {
        keys.push(from.program(name).await);
    }
    let path = backup_in(from.db.folder(), &from.store).await;
    load(&to.store, &path, &wishes()).await.unwrap();
    // Both go on, each in its own way.
    let idempotency = Some(Idempotency { key: b"k0".to_vec(), digest: vec![1] });
    let request = ProgramRequest { time: Timestamp(8), idempotency, seq: 1 };
    for (fixture, other) in [(&from, "from"), (&to, "to")] {
        let key = async |name: &str| fixture.store.program_by_name(name).await.unwrap().unwrap().key;
        let entry = Entry { id: Uuid::now_v7(), ..fixture.edit(2) };
        fixture.append(key("moved").await, entry).await.unwrap();
        let name = format!("renamed by {other}");
        fixture.store.update_program(key("renamed").await, Some(&name), None, Timestamp(8)).await.unwrap();
        let keyed = if other == "from" { "keyed" } else { "fine" };
        fixture.store.update_program(key(keyed).await, None, Some("doc"), request.clone()).await.unwrap();
    }
    from.append(keys[2], from.edit(2)).await.unwrap();
    let deleted = to.store.program_by_name("deleted").await.unwrap().unwrap();
    to.store.delete_program(deleted.key, Timestamp(8)).await.unwrap();
    from.program("taken").await;
    let taken = to.program("taken").await;
    let by = to.store.program(taken).await.unwrap().unwrap().id;
    from.append(keys[5], from.edit(2)).await.unwrap();
    let before = known(&to.store).await;
    let path = backup_in(from.db.folder(), &from.store).await;
    let named = |name: &str| name.to_owned();
    assert_eq!(
        refusals(&to.store, &path, &wishes()).await,
        [
            Refusal::Diverged { program: named("moved"), entry: 2 },
            Refusal::Changed { program: named("renamed by from") },
            Refusal::Deleted { program: named("deleted") },
            Refusal::KeyTaken { program: named("keyed") },
            Refusal::NameTaken { name: named("taken"), by },
        ]
    );
    assert_eq!(known(&to.store).await, before);

    // What is chosen of it comes in; a name can be another one.
    let id = async |name: &str| from.store.program_by_name(name).await.unwrap().unwrap().id;
    let (fine, taken) = (id("fine").await, id("taken").await);
    let some = Wishes {
        only: Some([fine, taken].into()),
        names: [(taken, named("other"))].into(),
        now: Timestamp(99),
    };
    let planned = load(&to.store, &path, &some).await.unwrap();
    let told: Vec<_> = planned.iter().map(|it| (it.name.as_str(), it.fate, it.entries)).collect();
    assert_eq!(told, [("fine", Fate::Continued, 1), ("other", Fate::Made, 1)]);
    let other = to.store.program_by_name("other").await.unwrap().unwrap();
    assert_eq!(other.id, taken);
    // Whoever renames here keeps the name; what is behind here is taken in.
    from.append(from.store.program_by_id(taken).await.unwrap().unwrap().key, from.edit(2)).await.unwrap();
    let path = backup_in(from.db.folder(), &from.store).await;
    let only = Wishes { only: Some([taken].into()), ..wishes() };
    let planned = load(&to.store, &path, &only).await.unwrap();
    assert_eq!((planned[0].name.as_str(), planned[0].entries), ("other", 1));
    // Here is more than in the backup: that stays.
    to.append(other.key, to.edit(3)).await.unwrap();
    assert_eq!(load(&to.store, &path, &only).await.unwrap()[0].fate, Fate::Kept);
    assert_eq!(seqs(&to.store, other.key).await, [1, 2, 3]);
}

#[tokio::test]
async fn a_name_that_is_given_up_is_free() {
    let (from, to) = (Fixture::new().await, Fixture::new().await);
    let first = from.program("a").await;
    let path = backup_in(from.db.folder(), &from.store).await;
    load(&to.store, &path, &wishes()).await.unwrap();
    from.store.update_program(first, Some("b"), None, Timestamp(8)).await.unwrap();
    from.program("a").await;
    let second = from.program("c").await;
    from.store.delete_program(second, Timestamp(8)).await.unwrap();
    from.program("c").await;
    let path = backup_in(from.db.folder(), &from.store).await;
    load(&to.store, &path, &wishes()).await.unwrap();
    assert_eq!(known(&to.store).await, known(&from.store).await);
}

const DATABASE: &str = "LMLANG_STORE_LOAD_DATABASE";
const FILE: &str = "LMLANG_STORE_LOAD_FILE";
const AFTER: &str = "LMLANG_STORE_LOAD_AFTER";

#[tokio::test]
async fn a_load_that_dies_leaves_whole_programs_and_is_completed() {
    let from = Fixture::new().await;
    for (name, newest) in [("a", 700), ("b", 900), ("c", 10)] {
        let program = from.program(name).await;
        from.submit(program, (2..=newest).map(|seq| from.edit(seq)).collect()).await.unwrap();
    }
    let path = backup_in(from.db.folder(), &from.store).await;
    let mut begun = 0;
    for after in 1..=8 {
        let db = TestDb::new().await;
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "backup::child_that_dies_loading", "--nocapture"])
            .env(DATABASE, db.to_string())
            .env(FILE, &path)
            .env(AFTER, after.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!child.success(), "after {after}");
        let store = Store::open(options_of(&db)).await.unwrap();
        assert_eq!(store.check(None).await.unwrap().findings, []);
        for (name, newest) in [("a", 700), ("b", 900), ("c", 10)] {
            if let Some(program) = store.program_by_name(name).await.unwrap() {
                assert_eq!(seqs(&store, program.key).await.len(), newest, "after {after}: {name}");
                begun += 1;
            }
        }
        load(&store, &path, &wishes()).await.unwrap();
        assert_eq!(known(&store).await, known(&from.store).await, "after {after}");
        store.close().await.unwrap();
    }
    assert!(begun > 0);
}

/// Does nothing unless the test above starts it.
#[tokio::test]
async fn child_that_dies_loading() {
    let Ok(database) = std::env::var(DATABASE) else { return };
    let mut left: u32 = std::env::var(AFTER).unwrap().parse().unwrap();
    let store = Store::open(Options::new(Location::parse(&database).unwrap())).await.unwrap();
    let file = BackupFile::open(Path::new(&std::env::var_os(FILE).unwrap())).unwrap();
    let plan = store.plan(&file, &wishes()).await.unwrap();
    let mut die = |_: Progress| {
        left -= 1;
        if left == 0 {
            std::process::abort();
        }
    };
    store.take_in(&file, &plan, &mut die).await.unwrap();
}

#[tokio::test]
async fn a_database_with_a_gap_has_no_backup() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    fixture.submit(program, (2..=9).map(|seq| fixture.edit(seq)).collect()).await.unwrap();
    let fixture = fixture.reopened_after("DELETE FROM log WHERE seq = 5").await;
    let mut backup = fixture.store.backup(Choice::default(), Timestamp(5)).await.unwrap();
    assert!(backup.next().await.is_err());
}

#[tokio::test]
async fn everything_is_read_in_order() {
    let from = Fixture::new().await;
    let program = from.program("a").await;
    from.append(program, from.edit(2)).await.unwrap();
    from.store.update_program(program, Some("b"), None, Timestamp(8)).await.unwrap();
    from.append(program, from.edit(3)).await.unwrap();
    let path = backup_in(from.db.folder(), &from.store).await;
    let file = BackupFile::open(&path).unwrap();
    let told = file.items().unwrap().map(|item| match item.unwrap() {
        Item::Program(program) => format!("program {}", program.name),
        Item::Change(change) => format!("{:?} {}", change.kind, change.name),
        Item::Entry(entry, actor) => format!("r{} by {}", entry.seq, actor.name),
        Item::Request(request) => format!("{request:?}"),
        Item::Case(case) => format!("case {}", case.id()),
        Item::Part(item) => format!("{item:?}"),
    });
    let told: Vec<String> = told.collect();
    assert_eq!(told, ["program b", "Made a", "r1 by ada", "r2 by ada", "Renamed b", "r3 by ada"]);
}
