//! Tokens: stored as hashes, found until they are revoked.

use lmlang_store::{ActorKind, CreateTokenError, Timestamp, Token};
use uuid::Uuid;

use crate::fixture::Fixture;

fn token(id: &str, name: &str) -> Token {
    Token {
        id: id.to_owned(),
        hash: [id.as_bytes()[0]; 32],
        name: name.to_owned(),
        kind: ActorKind::Agent,
        scopes: 3,
        programs: None,
        created: Timestamp(i64::from(id.as_bytes()[0])),
        expires: None,
        last_used: None,
        revoked: None,
    }
}

#[tokio::test]
async fn a_token_comes_back_as_it_was_made_until_it_is_revoked() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    assert!(!store.had_tokens().await.unwrap());
    let all = token("b", "all");
    let some = Token {
        programs: Some(vec![Uuid::from_u128(1), Uuid::from_u128(2)]),
        expires: Some(Timestamp(100)),
        ..token("a", "some")
    };
    for token in [&all, &some] {
        store.create_token(token.clone()).await.unwrap();
    }
    assert_eq!(store.tokens().await.unwrap(), [some.clone(), all.clone()]);

    store.use_token("b", Timestamp(7)).await.unwrap();
    store.revoke_token("a", Timestamp(8)).await.unwrap();
    store.revoke_token("a", Timestamp(9)).await.unwrap();
    let all = Token { last_used: Some(Timestamp(7)), ..all };
    assert_eq!(store.unrevoked_tokens().await.unwrap(), std::slice::from_ref(&all));
    let some = Token { revoked: Some(Timestamp(8)), ..some };
    assert_eq!(store.tokens().await.unwrap(), [some, all]);
    store.revoke_token("b", Timestamp(9)).await.unwrap();
    assert_eq!(store.unrevoked_tokens().await.unwrap(), []);
    assert!(store.had_tokens().await.unwrap());
}

#[tokio::test]
async fn names_are_unique_among_tokens_that_are_not_revoked() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    store.create_token(token("a", "ada")).await.unwrap();
    // As when the answer of the first one was lost.
    store.create_token(token("a", "ada")).await.unwrap();
    let taken = store.create_token(token("b", "ada")).await;
    assert!(matches!(taken, Err(CreateTokenError::NameTaken { name }) if name == "ada"));
    store.revoke_token("a", Timestamp(8)).await.unwrap();
    store.create_token(token("b", "ada")).await.unwrap();
    assert_eq!(store.unrevoked_tokens().await.unwrap().len(), 1);
}
