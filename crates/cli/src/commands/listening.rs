//! What models say in a session, while they say it: on standard error, for whoever watches.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::Answers;
use crate::client::{Client, read};
use crate::error::Error;
use crate::output::murmur;

const WORDS: &str = "subscription($id: ID!) {
  runEvents(sessionId: $id, kinds: [LISTENING, MODEL_DELTA, INTERRUPTED, FINISHED]) {
    kind ... on RunUpdate { text }
  }
}";

/// How long words are waited for when what they belong to is there already.
const GRACE: Duration = Duration::from_secs(2);

/// Somebody who listens, if anybody may.
pub(crate) struct Listening<'a> {
    answers: Option<Answers<'a>>,
    /// Whether a run has asked or ended since.
    over: bool,
    /// Whether what was printed last does not end its line.
    in_line: bool,
}

#[derive(Deserialize)]
struct Told {
    #[serde(rename = "runEvents")]
    event: Value,
}

impl<'a> Listening<'a> {
    /// Listens to a session from now on. Where that is not possible nothing is heard, and nothing else is different.
    pub(crate) async fn to(client: &'a Client, session: &str) -> Listening<'a> {
        let request = json!({ "query": WORDS, "variables": { "id": session } });
        let mut listening =
            Listening { answers: client.stream(request).await.ok(), over: false, in_line: false };
        while listening.answers.is_some() && listening.next().await != Some(Value::from("LISTENING")) {}
        listening
    }

    /// Does something, and prints what is said meanwhile.
    pub(crate) async fn during<T>(
        mut self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut work = pin!(work);
        let done = loop {
            if self.answers.is_none() {
                break work.await?;
            }
            tokio::select! {
                done = &mut work => break done?,
                _ = self.next() => {}
            }
        };
        let rest = async {
            while self.answers.is_some() && !self.over {
                self.next().await;
            }
        };
        // Words are not stored: those that are lost on the way come with the answer.
        tokio::time::timeout(GRACE, rest).await.ok();
        if self.in_line {
            murmur("\n");
        }
        Ok(done)
    }

    /// What kind of event comes next; what was said is printed.
    async fn next(&mut self) -> Option<Value> {
        let told = match self.answers.as_mut()?.next().await {
            Ok(Some(answer)) => read::<Told>(&answer).ok(),
            Ok(None) | Err(_) => None,
        };
        let Some(Told { mut event }) = told else {
            self.answers = None;
            return None;
        };
        let kind = event["kind"].take();
        if let Some(text) = event["text"].as_str().filter(|text| kind == "MODEL_DELTA" && !text.is_empty()) {
            murmur(text);
            self.in_line = !text.ends_with('\n');
        }
        self.over |= kind == "INTERRUPTED" || kind == "FINISHED";
        Some(kind)
    }
}
