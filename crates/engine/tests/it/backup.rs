//! Backups: a program that was loaded is what it was, and goes on as it would have.

use std::path::Path;
use std::sync::Arc;

use lmlang_engine::backup::{LoadError, LoadRequest, Loading, load};
use lmlang_engine::{
    Call, Content, Creation, Distance, Engine, Limits, NewProgramRequest, Outcome, Patched, Proposal,
    Selector, SnapshotPolicy, Way,
};
use lmlang_entities::Patch;
use lmlang_history::record::{decode_edits, encode_edits};
use lmlang_history::request::{EditRequest, ReplaceText};
use lmlang_history::{apply_all, diff};
use lmlang_ir::Program;
use lmlang_store::backup::{BackupFile, Fate, Part, Plan, Planned};
use lmlang_store::{
    Actor, ActorKey, ActorKind, Entry, EntryKind, Location, NewProgram, OpenError, Options, Store, Timestamp,
};
use lmlang_streams::manager::Request;
use lmlang_testdb::TestDb;
use lmlang_testkit::edits::typed;
use lmlang_testkit::{Choices, Generated, generate};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::fixture::{Fixture, OFTEN, call};
use crate::opening::{TEXT, known, price, work};

/// Writes a backup of a database.
async fn write(engine: &Engine, path: &Path) {
    let mut backup = engine.backup(&[], false).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(more) = backup.next().await.unwrap() {
        bytes.extend(more);
    }
    std::fs::write(path, bytes).unwrap();
}

async fn open(db: &TestDb) -> Result<Store, OpenError> {
    Store::open(Options::new(Location::parse(&db.to_string()).unwrap())).await
}

/// Loads a backup into a database.
async fn load_into(db: &TestDb, path: &Path, request: &LoadRequest) -> Result<Vec<Planned>, LoadError> {
    load_all_into(db, path, request).await.map(|plan| plan.programs().to_vec())
}

async fn load_all_into(db: &TestDb, path: &Path, request: &LoadRequest) -> Result<Plan, LoadError> {
    let store = open(db).await.unwrap();
    let file = Arc::new(BackupFile::open(path).unwrap());
    let entries = file.contents().entries;
    load(store, file, request, move |at| match at {
        Loading::Checked(done, of) => assert!(done <= of && of == entries),
        Loading::Stored(done, of) => assert!(done <= of && of <= entries),
    })
    .await
}

async fn findings(fixture: &Fixture) -> Vec<String> {
    fixture.engine.doctor(|_| {}).await.unwrap().findings().collect()
}

#[tokio::test]
async fn a_program_goes_on_elsewhere_as_it_would_have() {
    let from = Fixture::new(OFTEN).await;
    let open = from.create("shop", TEXT).await;
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    for round in 0..3 {
        work(&from, &open, 40).await;
        let before = known(&from, &open).await;
        write(&from.engine, &path).await;
        let loaded = load_into(&db, &path, &LoadRequest::default()).await.unwrap();
        let fate = if round == 0 { Fate::Made } else { Fate::Continued };
        assert_eq!((loaded.len(), loaded[0].fate), (1, fate));
        let to = Fixture::over(&db, OFTEN).await;
        let there = to.find("shop").await;
        assert_eq!(known(&to, &there).await, before);
        for number in 1..=open.timeline.head().last {
            let state = async |fixture: &Fixture, open| {
                let state = fixture.engine.state(open, number).await.unwrap().unwrap();
                state.checked.program().root_hash()
            };
            assert_eq!(state(&to, &there).await, state(&from, &open).await, "r{number}");
        }
        assert_eq!(findings(&to).await, Vec::<String>::new());
        to.engine.close().await;
    }
    // Both take the same step back.
    let to = Fixture::over(&db, OFTEN).await;
    let there = to.find("shop").await;
    let undone = [
        from.travel(&open, Way::Undo(Distance::Steps(1))).await,
        to.travel(&there, Way::Undo(Distance::Steps(1))).await,
    ];
    assert_eq!(undone[0], undone[1]);
    let root =
        |open: &lmlang_engine::OpenProgram| open.timeline.head().main.revision.checked.program().root_hash();
    assert_eq!(root(&there), root(&open));
    work(&to, &there, 20).await;
    assert_eq!(findings(&to).await, Vec::<String>::new());
}

/// The middle one is a server's where the tests are run on one; so is what a file had that was there and back again.
#[tokio::test]
async fn a_program_moves_to_another_kind_of_database_and_back() {
    let dbs = [TestDb::in_file(), TestDb::new().await, TestDb::in_file()].map(Arc::new);
    let mut from = Fixture::over(&dbs[0], OFTEN).await;
    let mut open = from.create("shop", TEXT).await;
    for db in &dbs[1..] {
        work(&from, &open, 40).await;
        let before = known(&from, &open).await;
        let path = db.folder().join("backup.lmb");
        write(&from.engine, &path).await;
        let loaded = load_into(db, &path, &LoadRequest::default()).await.unwrap();
        assert_eq!((loaded.len(), loaded[0].fate), (1, Fate::Made));
        let to = Fixture::over(db, OFTEN).await;
        let there = to.find("shop").await;
        assert_eq!(known(&to, &there).await, before);
        assert_eq!(findings(&to).await, Vec::<String>::new());
        let undone = Way::Undo(Distance::Steps(1));
        assert_eq!(from.travel(&open, undone.clone()).await, to.travel(&there, undone).await);
        assert_eq!(
            to.engine.edits(&there, 1).await.unwrap(),
            from.engine.edits(&open, 1).await.unwrap(),
            "the first entry is packed or not, and the same"
        );
        from.engine.close().await;
        (from, open) = (to, there);
    }
}

fn keyed(key: &str) -> Call {
    call().keyed(Some(key), b"the request")
}

fn proposal() -> Proposal {
    let edit = ReplaceText { of: "app::price".to_owned(), text: price(3), if_hash: None };
    Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: None,
        edits: vec![EditRequest::ReplaceFunctionText(edit)],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    }
}

/// The entries of a program that is generated and then changed over and over.
fn generated(seed: u64, steps: u64, actor: ActorKey) -> Vec<Entry> {
    let options = generate::Options { odd_names: false, ..generate::Options::small() };
    let Generated { program: mut next, mut refs } = generate::seeded(seed, &options);
    let mut choices = Choices::seeded(seed);
    let (mut before, mut entries) = (Program::new(), Vec::new());
    for seq in 1..=steps {
        entries.push(Entry {
            seq,
            id: Uuid::from_u128(u128::from(seed) << 64 | u128::from(seq)),
            parents: (1..seq).last().into_iter().collect(),
            branch: 0,
            kind: if seq == 1 { EntryKind::Create } else { EntryKind::Edit },
            actor,
            on_behalf_of: None,
            message: None,
            time: Timestamp(seq.cast_signed()),
            edits: encode_edits(&diff(&before, &next).edits),
            counts: br#"{"n":[0,0,0,0]}"#.to_vec(),
            root_hash: next.root_hash().0,
            next_ref: refs.watermark(),
            target: None,
            idempotency: None,
            origin: None,
        });
        before = next.clone();
        // A few that do not fit are tried in vain.
        (0..8).find_map(|_| typed(&mut next, &mut refs, &mut choices, &options));
    }
    entries
}

#[tokio::test]
async fn generated_histories_are_sound_where_they_are_loaded() {
    let seeds = if std::env::var_os("LMLANG_LONG").is_some() { 1_000 } else { 100 };
    let from = Fixture::new(OFTEN).await;
    let store = from.engine.store();
    let actor = author(store).await;
    for seed in 0..seeds {
        let id = Uuid::from_u128(seed.into());
        let program = NewProgram { id, name: format!("p{seed}"), doc: String::new(), created: Timestamp(1) };
        store.create_program(program, generated(seed, 1 + seed % 40, actor)).await.unwrap();
    }
    assert_eq!(findings(&from).await, Vec::<String>::new());
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    let loaded = load_into(&db, &path, &LoadRequest::default()).await.unwrap();
    assert_eq!(loaded.len() as u64, seeds);
    let to = Fixture::over(&db, OFTEN).await;
    assert_eq!(findings(&to).await, Vec::<String>::new());
    for seed in 0..seeds {
        let name = format!("p{seed}");
        let (here, there) = (from.find(&name).await, to.find(&name).await);
        assert_eq!(known(&to, &there).await, known(&from, &here).await, "{name}");
    }
}

/// What entities there are, and what the Manager answers.
async fn beside(engine: &Engine) -> String {
    let mut entities = Vec::new();
    for query in [
        "MATCH (p:Person) RETURN p.key, p.born, p.ratio, p.tags, p.created_at, p.updated_at",
        "MATCH (n:Note) RETURN n.key, n.title, n.created_at, n.updated_at ORDER BY n.key",
        "MATCH (p:Person)-[w]->(n) RETURN p.key, w.year, n.key ORDER BY n.key",
    ] {
        entities.extend(engine.cypher(query.to_owned(), Map::new()).await.unwrap().rows);
    }
    let streams = engine.ask_manager(Request::ListStreams, &call().actor).await.unwrap().unwrap();
    format!("{entities:?} {:?}", streams.body)
}

async fn patched(engine: &Engine, ops: &Value, key: &str) -> Patched {
    engine.patch_entities(Patch::from_json(ops).unwrap(), false, &keyed(key)).await.unwrap()
}

#[tokio::test]
async fn entities_and_streams_are_elsewhere_as_here() {
    let from = Fixture::new(OFTEN).await;
    from.create("shop", TEXT).await;
    let ada = json!([
        {"upsert_node": {"label": "Person", "key": "ada", "props": {"born": 1815, "ratio": 0.1, "tags": ["a", null]}}},
        {"upsert_node": {"label": "Note", "key": "g"}},
        {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE",
                         "to": {"label": "Note", "key": "g"}, "props": {"year": 1843}}},
    ]);
    let first = patched(&from.engine, &ada, "ada").await;
    let gone = json!([{"delete_node": {"label": "Note", "key": "g", "detach": true}},
                      {"upsert_node": {"label": "Note", "key": "h"}},
                      {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE",
                                       "to": {"label": "Note", "key": "h"}, "props": {"year": 1844}}}]);
    patched(&from.engine, &gone, "gone").await;
    let stream = json!({"name": "readings", "type": "mqtt",
                        "schema": {"columns": [{"name": "temp", "data_type": "double"}]}});
    let made = from.engine.ask_manager(Request::CreateStream(stream.clone()), &call().actor).await.unwrap();
    assert_eq!(made.unwrap().status, 201);
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    let plan = load_all_into(&db, &path, &LoadRequest::default()).await.unwrap();
    let fates = |plan: &Plan| -> Vec<(Part, Fate)> {
        plan.parts().iter().map(|planned| (planned.part, planned.fate)).collect()
    };
    assert_eq!(fates(&plan), [(Part::Entities, Fate::Made), (Part::Manager, Fate::Made)]);
    let to = Fixture::over(&db, OFTEN).await;
    let before = beside(&from.engine).await;
    assert!(before.contains("1844") && before.contains("readings"), "{before}");
    assert_eq!(beside(&to.engine).await, before);
    assert_eq!(findings(&to).await, Vec::<String>::new());
    // A request that comes again is answered, and brings nothing back.
    let again = patched(&to.engine, &ada, "ada").await;
    assert_eq!(again.counts, first.counts);
    assert_eq!(beside(&to.engine).await, before);
    let again = to.engine.ask_manager(Request::CreateStream(stream), &call().actor).await.unwrap();
    assert!(again.is_err(), "it is there");
    to.engine.close().await;

    // What goes on there comes back.
    let more = json!([{"update_props": {"label": "Note", "key": "h", "props": {"title": "H"}}}]);
    let to = Fixture::over(&db, OFTEN).await;
    patched(&to.engine, &more, "more").await;
    let after = beside(&to.engine).await;
    write(&to.engine, &path).await;
    to.engine.close().await;
    from.engine.close().await;
    let from_db = Arc::clone(&from.db);
    let plan = load_all_into(&from_db, &path, &LoadRequest::default()).await.unwrap();
    assert_eq!(fates(&plan), [(Part::Entities, Fate::Continued), (Part::Manager, Fate::Kept)]);
    let from = Fixture::over(&from_db, OFTEN).await;
    assert_eq!(beside(&from.engine).await, after);
}

async fn author(store: &Store) -> ActorKey {
    let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
    store.actor_key(&actor).await.unwrap()
}

/// What requests under keys answer.
async fn answers(fixture: &Fixture) -> String {
    let request = NewProgramRequest {
        name: "shop".to_owned(),
        doc: "d".to_owned(),
        content: Content::Text(TEXT.to_owned()),
    };
    let Creation::Created(made) = fixture.engine.create_program(request, &keyed("made")).await.unwrap()
    else {
        panic!("not made");
    };
    let Outcome::Applied(applied) = fixture.engine.propose(proposal(), &keyed("edited")).await.unwrap()
    else {
        panic!("not applied");
    };
    let shop = Selector::Name("shop".to_owned());
    let updated = fixture.engine.update_program(&shop, None, Some("other"), &keyed("updated")).await.unwrap();
    let info = updated.info;
    let gone = Selector::Name("gone".to_owned());
    let deleted = fixture.engine.delete_program(&gone, &keyed("deleted")).await.unwrap();
    format!(
        "{} {} {} {} {} {deleted}",
        made.timeline.id(),
        applied.after.entry.number,
        info.name,
        info.doc,
        info.created
    )
}

#[tokio::test]
async fn repeated_requests_are_answered_elsewhere_as_here() {
    let from = Fixture::new(OFTEN).await;
    from.create("gone", TEXT).await;
    let first = answers(&from).await;
    assert_eq!(answers_again(&from).await, first);
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    load_into(&db, &path, &LoadRequest::default()).await.unwrap();
    let to = Fixture::over(&db, OFTEN).await;
    assert_eq!(answers_again(&to).await, first);
}

/// The same requests once more.
async fn answers_again(fixture: &Fixture) -> String {
    let answered = answers(fixture).await;
    let shop = fixture.find("shop").await;
    assert_eq!(shop.timeline.head().last, 2, "nothing was done again");
    answered
}

#[tokio::test]
async fn what_is_not_sound_is_not_loaded() {
    for (damage, expect) in [
        (
            "update log set root_hash = x'0000000000000000000000000000000000000000000000000000000000000000' where seq = 7",
            "r7: records the hash",
        ),
        ("update log set edits = x'ff' where seq = 5", "r5: cannot be read"),
        ("update log set counts = x'00' where seq = 6", "r6: cannot be read"),
    ] {
        let from = Fixture::new(OFTEN).await;
        from.create("fine", TEXT).await;
        let open = from.create("shop", TEXT).await;
        for step in 1..9 {
            from.replace("shop", "app::price", &price(step)).await;
        }
        drop(open);
        let from = from.reopened(&[&format!("{damage} and program = 2")]).await;
        let db = Arc::new(TestDb::new().await);
        let path = db.folder().join("backup.lmb");
        write(&from.engine, &path).await;
        let error = load_into(&db, &path, &LoadRequest::default()).await.unwrap_err();
        assert!(matches!(error, LoadError::Unsound(_)), "{error}");
        assert!(error.to_string().contains(&format!("program `shop`, {expect}")), "{error}");
        // The other one is.
        let fine = LoadRequest { programs: vec![Selector::Name("fine".to_owned())], names: Vec::new() };
        assert_eq!(load_into(&db, &path, &fine).await.unwrap().len(), 1);
        let to = Fixture::over(&db, OFTEN).await;
        assert_eq!(to.engine.programs(None, None, 10).await.unwrap().total, 1);
    }
}

/// A log whose counter of refs is behind what its entries have.
#[tokio::test]
async fn what_only_counts_wrongly_is_loaded() {
    let from = Fixture::new(OFTEN).await;
    from.create("shop", TEXT).await;
    let from = from.reopened(&["UPDATE log SET next_ref = 2"]).await;
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    assert_eq!(load_into(&db, &path, &LoadRequest::default()).await.unwrap().len(), 1);
    let to = Fixture::over(&db, OFTEN).await;
    assert_eq!(findings(&to).await, ["program `shop`, r1: hands out refs again that are in use"]);
    to.replace("shop", "app::price", &price(1)).await;
    assert_eq!(findings(&to).await.len(), 1);
}

/// A log in which an edit makes something with the ref of what an edit before has removed.
#[tokio::test]
async fn a_ref_that_was_handed_out_twice_is_told() {
    let from = Fixture::new(OFTEN).await;
    let store = from.engine.store();
    let actor = author(store).await;
    let mut log = generated(7, 2, actor);
    let first = decode_edits(&log[0].edits).unwrap();
    let mut all = Program::new();
    apply_all(&mut all, &first).unwrap();
    let (of, _) = all.functions().last().expect("a function");
    let mut without = all.clone();
    without.remove_function(of).unwrap();
    log[1].next_ref = log[0].next_ref;
    let third = Entry { seq: 3, id: Uuid::from_u128(3), parents: vec![2].into(), ..log[1].clone() };
    log.push(third);
    for (entry, [before, after]) in log[1..].iter_mut().zip([[&all, &without], [&without, &all]]) {
        entry.edits = encode_edits(&diff(before, after).edits);
        entry.root_hash = after.root_hash().0;
    }
    let program = NewProgram {
        id: Uuid::from_u128(7),
        name: "p".to_owned(),
        doc: String::new(),
        created: Timestamp(1),
    };
    store.create_program(program, log).await.unwrap();
    let told = findings(&from).await;
    assert_eq!(told, [format!("program `p`, r3: makes `{of}`, and its number was handed out before")]);
}

#[tokio::test]
async fn a_long_log_has_a_snapshot_when_it_is_loaded() {
    let from = Fixture::new(SnapshotPolicy::default()).await;
    let open = from.create("shop", TEXT).await;
    for step in 1..80 {
        from.replace("shop", "app::price", &price(step)).await;
    }
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    let names = vec![(Selector::Id(open.timeline.id()), "other".to_owned())];
    load_into(&db, &path, &LoadRequest { programs: Vec::new(), names }).await.unwrap();
    let to = Fixture::over(&db, SnapshotPolicy::default()).await;
    let there = to.find("other").await;
    assert_eq!(to.snapshots(&there).await, [80]);
    assert_eq!(findings(&to).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_is_asked_for_must_be_there() {
    let from = Fixture::new(OFTEN).await;
    from.create("shop", TEXT).await;
    let unknown = from.engine.backup(&[Selector::Name("shap".to_owned())], false).await.unwrap_err();
    assert!(matches!(unknown, lmlang_engine::Error::NotFound { candidates, .. } if candidates == ["shop"]));
    let db = Arc::new(TestDb::new().await);
    let path = db.folder().join("backup.lmb");
    write(&from.engine, &path).await;
    let named = |name: &str| Selector::Name(name.to_owned());
    for (programs, names, expect) in [
        (vec![named("shap")], vec![], "there is no program in the backup `shap`"),
        (vec![], vec![(named("shop"), "a/b".to_owned())], "must not contain"),
        (vec![], vec![(named("shap"), "other".to_owned())], "there is no program in the backup `shap`"),
    ] {
        let error = load_into(&db, &path, &LoadRequest { programs, names }).await.unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    }
    let store = open(&db).await.unwrap();
    let engine = Engine::new(store, Limits::default(), OFTEN);
    assert_eq!(engine.programs(None, None, 10).await.unwrap().total, 0);
}
