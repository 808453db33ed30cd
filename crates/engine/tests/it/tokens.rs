//! Tokens: who comes in with one, how long, and what it sees.

use std::time::Duration;

use lmlang_engine::{
    Cursor, Denied, Engine, Error, Event, Events, Grant, Limits, NewToken, Scope, Secret, Selector, Token,
    Unnamed,
};
use lmlang_history::log::{Actor, ActorKind};

use crate::fixture::{Fixture, OFTEN, call};

const PATIENCE: Duration = Duration::from_secs(20);

fn somebody() -> Actor {
    Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None }
}

fn new(name: &str) -> NewToken {
    NewToken {
        name: name.to_owned(),
        kind: ActorKind::Agent,
        scopes: vec![Scope::Edit],
        programs: None,
        expires: None,
    }
}

async fn make(engine: &Engine, new: NewToken) -> (Token, Secret) {
    engine.create_token(new, &somebody()).await.expect("the token is made")
}

async fn limited(engine: &Engine, name: &str, program: &str) -> Grant {
    let programs = Some(vec![Selector::Name(program.to_owned())]);
    let (_, secret) = make(engine, NewToken { programs, ..new(name) }).await;
    engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("the token is good")
}

/// Waits for the end of a grant.
async fn ends(grant: &Grant) {
    tokio::time::timeout(PATIENCE, grant.ended()).await.expect("the grant ends soon");
}

#[tokio::test]
async fn without_tokens_everybody_comes_in_until_there_is_one() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let open = engine.admit(None, Unnamed::WithoutTokens).await.expect("there is no token");
    assert!(Scope::ALL.into_iter().all(|scope| open.includes(scope)) && open.token().is_none());
    // Nobody is told apart, but a connection counts its runs for itself.
    assert!(open.engine().is_none() && open.clone().for_connection().engine().is_some());
    assert!(matches!(engine.admit(None, Unnamed::Nobody).await, Err(Denied::Missing)));
    let unknown = engine.admit(Some("lml_x"), Unnamed::Everybody).await;
    assert!(matches!(unknown, Err(Denied::Invalid { id: None })), "what is shown must be good");

    let (token, secret) = make(engine, new("planner")).await;
    ends(&open).await;
    assert!(matches!(engine.admit(None, Unnamed::WithoutTokens).await, Err(Denied::Missing)));
    assert!(engine.admit(None, Unnamed::Everybody).await.is_ok());
    let grant = engine.admit(Some(secret.reveal()), Unnamed::WithoutTokens).await.expect("it is good");
    assert_eq!(grant.token().map(|token| token.name.as_str()), Some("planner"));
    assert!(grant.includes(Scope::Read) && grant.includes(Scope::Edit));
    assert!(!grant.includes(Scope::Simulate) && !grant.includes(Scope::Admin));

    engine.revoke_token(&token.id, &somebody()).await.expect("it is there");
    ends(&grant).await;
    let revoked = engine.admit(Some(secret.reveal()), Unnamed::Everybody).await;
    assert!(matches!(revoked, Err(Denied::Invalid { id: Some(id) }) if id == token.id));
    // Its end opens nothing, nor does a restart.
    assert!(matches!(engine.admit(None, Unnamed::WithoutTokens).await, Err(Denied::Missing)));
    assert!(!engine.has_tokens().await.expect("they can be read"));
    let fixture = fixture.reopened(&[]).await;
    let shut = fixture.engine.admit(None, Unnamed::WithoutTokens).await;
    assert!(matches!(shut, Err(Denied::Missing)));
}

#[tokio::test]
async fn a_secret_is_stored_as_a_hash_and_a_use_is_noted_coarsely() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let (token, secret) = make(engine, new("planner")).await;
    let kept =
        "SELECT count(*) FROM api_tokens WHERE length(hash) = 32 AND CAST(hash AS TEXT) NOT LIKE '%lml_%'";
    assert_eq!(fixture.db.number(kept).await, 1);
    for _ in 0..3 {
        engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    }
    let used = tokio::time::timeout(PATIENCE, async {
        loop {
            let tokens = engine.tokens().await.expect("they are there");
            if let Some(used) = tokens[0].last_used {
                break used;
            }
            tokio::task::yield_now().await;
        }
    });
    assert!(used.await.expect("it is noted soon") >= token.created);
}

#[tokio::test]
async fn what_another_process_does_to_tokens_is_noticed() {
    let limits = Limits { token_refresh: Duration::from_millis(1), ..Limits::default() };
    let fixture = Fixture::within(OFTEN, limits).await;
    let engine = &fixture.engine;
    let (_, secret) = make(engine, new("planner")).await;
    let grant = engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    fixture.db.execute("UPDATE api_tokens SET revoked = 1").await;
    ends(&grant).await;
    assert!(engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.is_err());
}

/// A request to revoke whose answer was an error can be sent again.
#[tokio::test]
async fn what_is_revoked_already_is_good_for_nothing_here_either() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let (token, secret) = make(engine, new("planner")).await;
    let grant = engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good");
    fixture.db.execute("UPDATE api_tokens SET revoked = 1").await;
    let revoked = engine.revoke_token(&token.id, &somebody()).await.expect("it is there");
    assert_eq!(revoked.revoked, Some(1));
    assert!(engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.is_err());
    ends(&grant).await;
}

#[tokio::test]
async fn a_token_that_has_expired_is_refused_and_opens_nothing() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let expires = Some(now() + 2_000_000);
    let (_, secret) = make(engine, NewToken { expires, ..new("short") }).await;
    let grant = engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.expect("it is good for a moment");
    ends(&grant).await;
    let late = engine.admit(Some(secret.reveal()), Unnamed::WithoutTokens).await;
    assert!(matches!(late, Err(Denied::Invalid { .. })));
    assert!(matches!(engine.admit(None, Unnamed::WithoutTokens).await, Err(Denied::Missing)));
    let over = engine.create_token(NewToken { expires: Some(1), ..new("over") }, &somebody()).await;
    assert!(matches!(over, Err(Error::BadRequest { .. })));
}

fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    i64::try_from(now.as_micros()).expect("it is before 292277")
}

#[tokio::test]
async fn a_limited_handle_knows_of_no_other_program() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    for name in ["mine", "mine_too", "other"] {
        fixture.create(name, "").await;
    }
    let other = engine.find(&Selector::Name("other".to_owned())).await.expect("it is there").timeline.id();
    let grant = limited(engine, "planner", "mine").await;
    let seen = grant.engine().expect("it is limited");

    let page = seen.programs(None, None, 10).await.expect("they can be listed");
    let names: Vec<&str> = page.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!((names.as_slice(), page.total), (["mine"].as_slice(), 1));
    assert!(seen.find(&Selector::Name("mine".to_owned())).await.is_ok());
    let near = seen.find(&Selector::Name("mine_tox".to_owned())).await;
    let Err(Error::NotFound { candidates, .. }) = near else { panic!("{near:?}") };
    assert_eq!(candidates, [""; 0]);
    for selector in [Selector::Id(other), Selector::Name("other".to_owned())] {
        let hidden = seen.find(&selector).await;
        assert!(matches!(hidden, Err(Error::NotFound { retired: false, .. })), "{hidden:?}");
        assert!(engine.find(&selector).await.is_ok());
    }

    let mut events = seen.all_events(None).await.expect("events can be heard");
    engine.delete_program(&Selector::Id(other), &call()).await.expect("it is there");
    engine
        .update_program(&Selector::Name("mine".to_owned()), None, Some("new"), &call())
        .await
        .expect("it is there");
    let told =
        tokio::time::timeout(PATIENCE, events.recv()).await.expect("soon").expect("one").expect("event");
    assert!(matches!(told.event, Event::Program { name, .. } if name == "mine"));
    let gone = seen.find(&Selector::Name("other".to_owned())).await;
    assert!(matches!(gone, Err(Error::NotFound { retired: false, .. })), "{gone:?}");
}

/// The name that the program of the next event has, and where to go on behind it.
async fn next(events: &mut Events) -> (String, Cursor) {
    let told =
        tokio::time::timeout(PATIENCE, events.recv()).await.expect("soon").expect("one").expect("event");
    let Event::Program { name, .. } = told.event else { panic!("{told:?}") };
    (name, told.cursor)
}

async fn describe(engine: &Engine, program: &str, doc: &str) {
    let program = Selector::Name(program.to_owned());
    engine.update_program(&program, None, Some(doc), &call()).await.expect("it is there");
}

async fn refused(engine: &Engine, cursor: Cursor) -> String {
    let refused = engine.all_events(Some(cursor)).await.expect_err("it is no cursor");
    assert!(matches!(refused, Error::CursorInvalid { .. }), "{refused}");
    refused.to_string().replace(&cursor.to_string(), "GIVEN")
}

#[tokio::test]
async fn places_of_a_limited_handle_say_nothing_of_others() {
    let fixture = Fixture::new(OFTEN).await;
    for name in ["mine", "other"] {
        fixture.create(name, "").await;
    }
    let grant = limited(&fixture.engine, "planner", "mine").await;
    let seen = grant.engine().expect("it is limited");
    let start = seen.cursor().await.expect("there is one");
    // What nobody can tell apart tells nothing: neither that it is the same place, nor that others went on meanwhile.
    let same = seen.cursor().await.expect("there is one");
    assert!(matches!((start, same), (Cursor::Sealed(_), Cursor::Sealed(_))) && start != same);
    let mut live = seen.all_events(None).await.expect("events can be heard");
    describe(&fixture.engine, "other", "new").await;
    describe(&fixture.engine, "mine", "new").await;
    let (name, behind) = next(&mut live).await;
    assert!(name == "mine" && matches!(behind, Cursor::Sealed(_)), "{behind}");
    for from in [start, same] {
        let mut events = seen.all_events(Some(from)).await.expect("it goes on");
        assert_eq!(next(&mut events).await.0, "mine");
    }
    // No number is compared with where others are; the beginning is where everybody begins.
    for cursor in ["p1.0", "p2.2", "p999.999"] {
        let cursor = Cursor::of_all(cursor).expect("it is written like one");
        let why = refused(seen, cursor).await;
        assert_eq!(
            why,
            "`GIVEN` is not a cursor of the events of all programs: it is not one of those that this token is given"
        );
    }
    let first = Cursor::of_all("p0.0").expect("it is written like one");
    let mut events = seen.all_events(Some(first)).await.expect("it begins");
    assert_eq!(next(&mut events).await.0, "mine");
    let made_up = Cursor::of_all(&format!("p~{}", "A".repeat(59))).expect("it is written like one");
    for engine in [seen, &fixture.engine] {
        let why = refused(engine, made_up).await;
        assert!(why.ends_with("it was not given by a server with this database"), "{why}");
    }
    assert!(fixture.engine.all_events(Some(start)).await.is_ok(), "who may know of all may read it");

    // Of another process, for another token; and in a database that has forgotten what came last.
    describe(&fixture.engine, "mine", "newer").await;
    let lost = seen.cursor().await.expect("there is one");
    let forget = "DELETE FROM program_changes WHERE key = (SELECT MAX(key) FROM program_changes)";
    let fixture = fixture.reopened(&[forget]).await;
    let grant = limited(&fixture.engine, "reader", "mine").await;
    let seen = grant.engine().expect("it is limited");
    let mut events = seen.all_events(Some(start)).await.expect("it goes on");
    assert_eq!(next(&mut events).await.0, "mine");
    let why = refused(seen, lost).await;
    assert_eq!(why, "`GIVEN` is not a cursor of the events of all programs: nothing has come to it");
}
