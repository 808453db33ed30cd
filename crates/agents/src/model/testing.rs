//! What the tests of several modules share.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::reply::{Finish, Latency, ToolCall, Usage, UsageSource};
use super::{Completion, Delta, Message, Model, ModelError, Reply, Request, Tell};

/// A request of the planner that says something.
pub(crate) fn request(text: &str) -> Request {
    Request::new("planner".parse().expect("a role"), vec![Message::user(text)])
}

/// Asks, and listens to no pieces.
pub(crate) async fn ask(model: &dyn Model, request: &Request) -> Result<Reply, ModelError> {
    model.complete(request, &mut |_| {}).await
}

/// Counts words.
pub(crate) fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The text of pieces.
pub(crate) fn joined(told: &[Delta]) -> String {
    let mut out = String::new();
    for delta in told {
        match delta {
            Delta::Text(text) => out.push_str(text),
            Delta::ToolCall { .. } => {}
            Delta::Restarted => out.clear(),
        }
    }
    out
}

/// A model that does one thing after the other, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct Acts {
    acts: Mutex<VecDeque<Act>>,
    asked: Mutex<Vec<Request>>,
}

enum Act {
    Says(Reply),
    Fails(String, ModelError),
    Hangs,
}

/// An answer with ten tokens asked and one said.
pub(crate) fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        value: None,
        tool_calls: Vec::new(),
        finish: Finish::Stop,
        usage: Usage { input: 10, output: 1, cached: None, source: UsageSource::Reported },
        model: "m-1".to_owned(),
        provider: "acts".to_owned(),
        latency: Latency { first_ms: Some(1), total_ms: 2 },
        cost: None,
        calls: 1,
    }
}

impl Acts {
    pub(crate) fn new() -> Acts {
        Acts::default()
    }

    pub(crate) fn says(self, text: &str) -> Acts {
        self.then(Act::Says(reply(text)))
    }

    pub(crate) fn replies(self, reply: Reply) -> Acts {
        self.then(Act::Says(reply))
    }

    pub(crate) fn calls(self, name: &str, arguments: &str) -> Acts {
        let call = ToolCall { id: "a".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        let reply = Reply { tool_calls: vec![call], finish: Finish::ToolCalls, ..reply("") };
        self.then(Act::Says(reply))
    }

    pub(crate) fn cut(self, text: &str) -> Acts {
        self.then(Act::Fails(text.to_owned(), ModelError::Cut { received: text.len() }))
    }

    pub(crate) fn fails(self, error: ModelError) -> Acts {
        self.then(Act::Fails(String::new(), error))
    }

    pub(crate) fn hangs(self) -> Acts {
        self.then(Act::Hangs)
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().expect("nobody panicked").clone()
    }

    fn then(self, act: Act) -> Acts {
        self.acts.lock().expect("nobody panicked").push_back(act);
        self
    }
}

impl Model for Acts {
    fn provider(&self) -> &str {
        "acts"
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(async move {
            self.asked.lock().expect("nobody panicked").push(request.clone());
            let act = self.acts.lock().expect("nobody panicked").pop_front();
            match act.expect("there is nothing left to do") {
                Act::Says(reply) => {
                    tell(Delta::Text(reply.text.clone()));
                    Ok(reply)
                }
                Act::Fails(text, error) => {
                    if !text.is_empty() {
                        tell(Delta::Text(text));
                    }
                    Err(error)
                }
                Act::Hangs => std::future::pending().await,
            }
        })
    }
}
