//! Programs: made with their first entries, listed, renamed, deleted.

use lmlang_store::{
    CommitError, CreateProgramError, Entry, EntryKind, NewProgram, Timestamp, UpdateProgramError,
};

use crate::fixture::{Fixture, keyed, new_program};

#[tokio::test]
async fn names_ids_and_keys_are_unique() {
    let fixture = Fixture::new().await;
    let first = |key: &str| vec![keyed(Entry { kind: EntryKind::Create, ..fixture.edit(1) }, key)];
    let store = &fixture.store;
    let program = new_program("a");
    let key = store.create_program(program.clone(), first("k")).await.unwrap();

    let error = store.create_program(new_program("a"), first("l")).await.unwrap_err();
    assert!(matches!(error, CreateProgramError::NameTaken { .. }), "{error:?}");
    let error = store.create_program(new_program("b"), first("k")).await.unwrap_err();
    assert!(matches!(error, CreateProgramError::KeyTaken { program } if program == key), "{error:?}");
    let same_id = NewProgram { name: "b".to_owned(), ..program };
    let error = store.create_program(same_id, first("m")).await.unwrap_err();
    assert!(matches!(error, CreateProgramError::IdTaken), "{error:?}");
    let error = store.create_program(new_program("b"), vec![fixture.edit(2)]).await.unwrap_err();
    assert!(matches!(error, CreateProgramError::Entries(CommitError::OutOfOrder { .. })), "{error:?}");

    assert_eq!(store.programs(None, None, None, 10).await.unwrap().total, 1);
    assert_eq!(store.check(None).await.unwrap().entries, 1);
}

#[tokio::test]
async fn lists_are_paged_by_name_and_searched() {
    let fixture = Fixture::new().await;
    for name in ["delta", "Alpha_1", "beta", "alpha%2", "gamma"] {
        fixture.program(name).await;
    }
    let names = async |after: Option<&str>, search: Option<&str>, limit| {
        let page = fixture.store.programs(after, search, None, limit).await.unwrap();
        (page.programs.into_iter().map(|program| program.name).collect::<Vec<_>>(), page.total)
    };
    assert_eq!(names(None, None, 2).await, (vec!["Alpha_1".to_owned(), "alpha%2".to_owned()], 5));
    assert_eq!(names(Some("beta"), None, 9).await, (vec!["delta".to_owned(), "gamma".to_owned()], 5));
    assert_eq!(names(None, Some("ALPHA"), 9).await.1, 2);
    assert_eq!(names(None, Some("%"), 9).await.0, ["alpha%2"]);
    assert_eq!(names(None, Some("a_"), 9).await.0, ["Alpha_1"]);
    assert_eq!(names(None, Some("\\"), 9).await.1, 0);
}

#[tokio::test]
async fn names_and_docs_change() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    let store = &fixture.store;
    store.update_program(a, Some("c"), Some("what it does"), Timestamp(2)).await.unwrap();
    let program = store.program(a).await.unwrap().unwrap();
    assert_eq!((program.name.as_str(), program.doc.as_str()), ("c", "what it does"));
    assert_eq!(store.program_by_id(program.id).await.unwrap(), Some(program));
    assert_eq!(store.program_by_name("a").await.unwrap(), None);
    assert!(matches!(
        store.update_program(b, Some("c"), None, Timestamp(3)).await,
        Err(UpdateProgramError::NameTaken { .. })
    ));
    store.update_program(b, None, None, Timestamp(4)).await.unwrap();
    assert!(store.delete_program(b, Timestamp(9)).await.unwrap());
    assert!(matches!(
        store.update_program(b, None, None, Timestamp(10)).await,
        Err(UpdateProgramError::NoProgram)
    ));
}

#[tokio::test]
async fn deleting_one_leaves_the_others_and_its_own_log() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    fixture.append(a, fixture.edit(2)).await.unwrap();
    assert!(fixture.store.delete_program(a, Timestamp(9)).await.unwrap());
    assert!(!fixture.store.delete_program(a, Timestamp(10)).await.unwrap());

    assert!(matches!(fixture.append(a, fixture.edit(3)).await, Err(CommitError::NoProgram)));
    fixture.append(b, fixture.edit(2)).await.unwrap();
    assert_eq!(fixture.store.program_by_name("a").await.unwrap(), None);
    assert_eq!(fixture.store.program(a).await.unwrap().unwrap().deleted, Some(Timestamp(9)));
    assert_eq!(fixture.seqs(a).await, [1, 2]);
    let page = fixture.store.programs(None, None, None, 10).await.unwrap();
    assert_eq!((page.programs.len(), page.total), (1, 1));

    // The name is free, the key is not used again.
    let again = fixture.program("a").await;
    assert!(again > b);
    let fixture = fixture.reopened().await;
    assert!(matches!(fixture.append(a, fixture.edit(3)).await, Err(CommitError::NoProgram)));
    assert_eq!(fixture.store.check(None).await.unwrap().findings, []);
}
