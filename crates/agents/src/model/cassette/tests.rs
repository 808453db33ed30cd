use super::super::testing::{Acts, ask, joined, request};
use super::super::{Message, Repair};
use super::*;

/// The text of a cassette of these requests and answers.
async fn recorded(pairs: &[(Request, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    for (request, text) in pairs {
        // Opened anew, so that what there is already stays.
        let tape = Arc::new(Tape::open(&path).unwrap());
        let model = Recording::new(Arc::new(Acts::new().says(text)), tape);
        assert_eq!(ask(&model, request).await.unwrap().provider, "acts");
    }
    fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn what_was_recorded_is_given_again() {
    let text = recorded(&[(request("a"), "1"), (request("b"), "2"), (request("a"), "3")]).await;
    let model = Replaying::parse("c", &text).unwrap();
    for (asked, expect) in [("a", "1"), ("a", "3"), ("b", "2"), ("a", "3"), ("b", "2")] {
        let mut told = Vec::new();
        let reply = model.complete(&request(asked), &mut |delta| told.push(delta)).await.unwrap();
        assert_eq!((&*reply.text, &*joined(&told), &*reply.provider), (expect, expect, "cassette"));
        assert_eq!(&*reply.model, "m-1");
    }
}

#[tokio::test]
async fn a_miss_shows_where_the_nearest_differs() {
    let long = |end: &str| {
        let messages = vec![Message::system("be brief"), Message::user(format!("one\ntwo\n{end}"))];
        Request::new("planner".parse().unwrap(), messages)
    };
    let text = recorded(&[(request("x"), "1"), (long("three"), "2"), (long("four"), "3")]).await;
    let model = Replaying::parse("c", &text).unwrap();
    let asked = long("five");
    let error = ask(&model, &asked).await.unwrap_err();
    let expect = format!(
        "the cassette `c` has no answer to the request {}; the nearest that it has, {}, differs in line 7: `three` is \
         recorded, and `five` is asked",
        asked.digest(),
        long("three").digest()
    );
    assert_eq!((error.to_string(), error.code()), (expect, "MODEL_UNRECORDED"));
    let other = Request { repair: Repair::Once, ..long("three") };
    let error = ask(&model, &other).await.unwrap_err().to_string();
    assert!(
        error.ends_with("differs in line 2: `[system]` is recorded, and `repair: once` is asked"),
        "{error}"
    );
    let empty = Replaying::parse("c", "\n").unwrap();
    let error = ask(&empty, &asked).await.unwrap_err().to_string();
    assert!(error.ends_with("; it has none at all"), "{error}");
}

#[tokio::test]
async fn errors_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let fails = Acts::new().fails(ModelError::Cut { received: 0 });
    let model = Recording::new(Arc::new(fails), Arc::new(Tape::open(&path).unwrap()));
    ask(&model, &request("a")).await.unwrap_err();
    assert_eq!(fs::read_to_string(path).unwrap(), "");
}

#[tokio::test]
async fn a_cassette_that_was_changed_is_refused() {
    let text = recorded(&[(request("asked"), "1")]).await;
    let check = |text: &str, expect: &str| {
        let error = Replaying::parse("c", text).err().unwrap().to_string();
        assert!(error.starts_with(expect), "{error}");
    };
    check(
        &text.replace("asked", "other"),
        "line 1 of the cassette `c` has another request than its digest says",
    );
    check(&format!("{text}{{"), "line 2 of the cassette `c` cannot be understood");
}
