//! Whom the tools for agents ask: a database or a server, found when it is needed first.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lmlang_graphql::transport::ActorKind;
use lmlang_mcp::{Answer, Ask, RpcCode, RpcError};
use lmlang_store::OpenError;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::client::Client;
use crate::error::Error;
use crate::remote::AT_THE_DOOR;
use crate::session::Missing;
use crate::settings::Settings;

/// A client that is connected when somebody asks first, and again after its server was gone.
pub(crate) struct Asking {
    settings: Settings,
    client: Mutex<Option<Arc<Client>>>,
}

impl Asking {
    pub(crate) fn new(settings: &Settings) -> Asking {
        Asking { settings: settings.clone(), client: Mutex::new(None) }
    }

    async fn client(&self) -> Result<Arc<Client>, Error> {
        let mut client = self.client.lock().await;
        if let Some(client) = &*client {
            return Ok(Arc::clone(client));
        }
        let connected = Client::connect(&self.settings, Missing::Make, ActorKind::Agent).await?;
        Ok(Arc::clone(client.insert(Arc::new(connected))))
    }

    /// Closes the database, if this process has it open.
    pub(crate) async fn close(&self) {
        if let Some(client) = self.client.lock().await.take() {
            client.close().await;
        }
    }

    async fn answer(&self, document: &str, variables: &Value) -> Result<Vec<u8>, Error> {
        let client = self.client().await?;
        let answer = client.answer(document, variables).await;
        if matches!(answer, Err(Error::Unreachable { .. } | Error::Lost { .. })) {
            // Another server may have the database by now, or nobody.
            self.client.lock().await.take();
        }
        answer
    }
}

impl Ask for Asking {
    fn ask<'a>(
        &'a self,
        document: &'a str,
        variables: Value,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Answer, RpcError>> + Send + 'a>> {
        Box::pin(async move {
            let answer = self.answer(document, &variables).await;
            Answer::read(&answer.map_err(|error| told(&error))?)
        })
    }
}

/// Why nobody answers, as JSON-RPC has it.
pub(crate) fn told(error: &Error) -> RpcError {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let network = |url: &str, timeout: Duration, detail: String| {
        let data = json!({ "url": url, "timeout_ms": millis(timeout), "error_detail": detail });
        RpcError::new(RpcCode::NetworkError, data)
    };
    match error {
        Error::Unreachable { url, .. } => network(url, AT_THE_DOOR, with_causes(error)),
        Error::Lost { url, .. } => {
            let detail = format!("{}; a change may have been made all the same", with_causes(error));
            network(url, crate::remote::PATIENCE, detail)
        }
        Error::TimeOut { url, seconds } => {
            network(url, Duration::from_secs(*seconds), "it did not answer in time".to_owned())
        }
        Error::Open(open) => match open.as_ref() {
            OpenError::Held { path, holder } => {
                let pid = holder.as_ref().map(|holder| holder.pid);
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
                let age = holder.as_ref().map(|holder| now.saturating_sub(holder.started));
                let suggestion = match pid {
                    Some(pid) => format!(
                        "Wait or end process {pid}, or let `lmlang serve` have the database and all others ask it."
                    ),
                    None => "Wait, or let `lmlang serve` have the database and all others ask it.".to_owned(),
                };
                let data = json!({
                    "lock_file": format!("{}.lock", path.display()),
                    "holder_pid": pid,
                    "lock_age_seconds": age,
                    "suggestion": suggestion,
                });
                RpcError::new(RpcCode::LockError, data)
            }
            _ => internal(error),
        },
        _ => internal(error),
    }
}

fn internal(error: &Error) -> RpcError {
    let data = json!({ "reason": format!("{}: {}", error.code(), with_causes(error)) });
    RpcError::new(RpcCode::Internal, data)
}

fn with_causes(error: &Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        told.push_str(&format!(": {source}"));
        cause = source.source();
    }
    told
}
