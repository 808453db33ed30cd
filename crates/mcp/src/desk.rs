//! Where a call of a tool comes in and its result goes out, the same on every transport.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::arguments;
use crate::ask::Ask;
use crate::budget::{CAP, DEFAULT, tokens};
use crate::failure::{Failure, Refused, RpcCode, RpcError};
use crate::mask::masked;
use crate::rates::Rates;
use crate::reply::{Item, Link, Reply, Told, hidden};
use crate::tool::{Call, Tool};
use crate::tools;

/// Bytes of a name that an error repeats.
const LONGEST: usize = 100;

/// How often a call that takes long says that it is not over.
const BEAT: Duration = Duration::from_secs(1);

/// Says how far a call is.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Calls tools in somebody's name.
#[derive(Clone)]
pub struct Desk {
    ask: Arc<dyn Ask>,
    /// Whose calls are counted together.
    who: Arc<str>,
    rates: Arc<Rates>,
}

/// The result of a call: what a model reads, and what of it is data.
#[derive(Clone, Debug, PartialEq)]
pub struct Result {
    pub(crate) told: Told,
}

impl Desk {
    /// A desk at which somebody calls alone.
    #[must_use]
    pub fn new(ask: Arc<dyn Ask>) -> Desk {
        Desk { ask, who: "".into(), rates: Arc::default() }
    }

    pub(crate) fn shared(ask: Arc<dyn Ask>, who: &str, rates: &Arc<Rates>) -> Desk {
        Desk { ask, who: who.into(), rates: Arc::clone(rates) }
    }

    pub(crate) fn asks(&self) -> &Arc<dyn Ask> {
        &self.ask
    }

    /// Calls a tool. What it asks for ends when nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// The call is wrong, or cannot be carried out; what a program or the API refuses is a result.
    pub async fn call(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
        progress: Progress,
    ) -> std::result::Result<Result, RpcError> {
        let named = named(&arguments);
        let arguments = Value::Object(arguments);
        arguments::check(&arguments, tool.input_schema())?;
        if let Some(rate) = tool.rate {
            self.rates.count(&self.who, tool.name, rate, Instant::now())?;
        }
        let most = arguments["max_tokens"].as_u64().unwrap_or(DEFAULT).min(CAP);
        let call = Call { ask: Arc::clone(&self.ask), progress: Arc::clone(&progress) };
        let work = (tool.run)(&call, arguments);
        let done = match tool.begins {
            Some((_, begins)) => beating(work, begins, &progress).await,
            None => work.await,
        };
        let reply = match done {
            Ok(reply) => reply,
            Err(Failure::Rpc(error)) => return Err(error),
            Err(Failure::Refused(refused)) => refusal(named, &refused),
        };
        let fit = move || match reply.carried_out {
            true => Ok(reply.fit_anyhow(most)),
            false => reply.fit(most),
        };
        let told = tokio::task::spawn_blocking(fit).await;
        let told = told.map_err(|error| {
            tracing::error!(%error, "a reply was not made");
            RpcError::new(RpcCode::Internal, json!({ "reason": "the reply was not made" }))
        })??;
        Ok(Result { told })
    }
}

/// The program that a call is about, as it is given.
pub(crate) fn named(arguments: &Map<String, Value>) -> Option<String> {
    arguments.get("program").and_then(Value::as_str).map(str::to_owned)
}

/// Waits for work, and says every second that it is not over.
async fn beating<T>(work: impl Future<Output = T>, begins: &str, progress: &Progress) -> T {
    progress(begins);
    let started = Instant::now();
    let mut work = std::pin::pin!(work);
    let mut beat = tokio::time::interval_at(tokio::time::Instant::now() + BEAT, BEAT);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = beat.tick() => progress(&format!("running for {} s", started.elapsed().as_secs())),
        }
    }
}

/// What is told of a refusal.
fn refusal(program: Option<String>, refused: &Refused) -> Reply {
    let text = format!("error {}: {}", refused.code, refused.told());
    let mut data = json!({ "code": refused.code, "message": refused.message });
    if !refused.data.is_null() {
        data["data"] = refused.data.clone();
    }
    Reply {
        program,
        outcome: Some("refused"),
        items: vec![Item { text, cursor: None, data: Some(data) }],
        is_error: true,
        ..Reply::default()
    }
}

impl Result {
    /// A result that tells an error of a call itself, for those who look at results only.
    pub(crate) fn of_error(error: &RpcError, program: Option<&str>) -> Result {
        let data = hidden(error.data.clone());
        let program = program.filter(|name| name.len() <= LONGEST && !name.contains(char::is_control));
        let (code, number) = (error.code.word(), error.code.number());
        let mut text = format!("; program {} @ -\nerror {code} ({number})", program.unwrap_or("*"));
        // In these two other fields say better what is to be done.
        let says_itself = matches!(error.code, RpcCode::TokenLimitExceeded | RpcCode::ValidationError);
        let fields = data.as_object().into_iter().flatten();
        for (name, value) in fields.filter(|(name, _)| !(says_itself && *name == "recovery")) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("\n{name}: {value}"));
        }
        let mistake = json!({ "code": code, "number": number, "data": data });
        let mut summary = json!({ "outcome": "refused", "truncated": false, "errors": [mistake] });
        if let Some(program) = program {
            summary["program"] = masked(program).into();
        }
        Result {
            told: Told { text: masked(&text).into_owned(), data: summary, links: Vec::new(), is_error: true },
        }
    }

    /// What a model reads.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.told.text
    }

    /// What of it is data.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.told.data
    }

    /// Whether what was asked for did not happen.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.told.is_error
    }

    /// The tokens of what is told.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        tokens(&self.told.text) + tokens(&self.told.data.to_string())
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.told.links
    }
}

/// Finds a tool by its name.
///
/// # Errors
///
/// There is none; those that there are are named.
pub fn find(name: &str) -> std::result::Result<&'static Tool, RpcError> {
    tools::find(name).ok_or_else(|| RpcError::no_method(name, &tools::names()))
}
