//! Events as they happen: where the server goes away it is waited for, and the stream goes on behind the last event.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::client::{Client, read};
use crate::error::Error;
use crate::output::say;

/// The first wait for a server that is gone; each that follows is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// The longest one.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Which events of a stream.
pub(crate) struct Wanted {
    /// Those behind this cursor.
    pub(crate) after: Option<String>,
    /// So many at most.
    pub(crate) limit: Option<u64>,
}

/// An answer of a subscription, whose document calls the event so.
#[derive(Deserialize)]
struct Answer {
    event: Value,
}

/// Tells of each event until the stream ends, or whoever tells of it has enough. `request` is what is asked behind a cursor; events
/// have theirs in the field `cursor`.
pub(crate) async fn follow(
    client: &Client,
    wanted: Wanted,
    request: impl Fn(Option<&str>) -> Value,
    mut tell: impl AsyncFnMut(Value) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let Wanted { after: mut cursor, limit } = wanted;
    let (mut seen, mut wait) = (0, FIRST_WAIT);
    loop {
        let mut answers = client.stream(request(cursor.as_deref())).await;
        if answers.is_ok() && wait > FIRST_WAIT {
            say("! the server is there again");
            wait = FIRST_WAIT;
        }
        let gone = loop {
            let answer = match &mut answers {
                Ok(answers) => answers.next().await,
                Err(_) => break answers.err(),
            };
            match answer {
                Ok(Some(answer)) => {
                    let Answer { event } = read(&answer)?;
                    cursor = event["cursor"].as_str().map(str::to_owned).or(cursor);
                    let more = tell(event).await?;
                    seen += 1;
                    if more.is_break() || limit.is_some_and(|limit| seen >= limit) {
                        return Ok(());
                    }
                }
                // What is deleted is not heard of any more.
                Ok(None) => return Ok(()),
                Err(error) => break Some(error),
            }
        };
        match gone {
            Some(Error::Lost { .. } | Error::Unreachable { .. } | Error::TimeOut { .. }) => {
                if wait == FIRST_WAIT {
                    say("! the server is gone: waiting for it; nothing is missed");
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            Some(error) => return Err(error),
            None => return Ok(()),
        }
    }
}
