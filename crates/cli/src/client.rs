//! A command's way to programs: requests in GraphQL to a server, or to the database itself, opened for the command.
//!
//! A server is asked when the settings name one, and when one has the database open, which its lock tells.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use lmlang_engine::backup::Backup;
use lmlang_engine::{Engine, Selector};
use lmlang_graphql::schema;
use lmlang_graphql::schema::ids::GlobalId;
use lmlang_graphql::schema::wasm::{self, ImportRequest, Imported, Progress, Watch};
use lmlang_graphql::transport::{
    Actor, ActorKind, Answer as Answered, Caller, Executor, Limits, Params, RequestId,
};
use lmlang_store::{Location, OpenError};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answers::{Answers, written};
use crate::error::Error;
use crate::events::{Event, Events};
use crate::output::say;
use crate::remote::Server;
use crate::session::{Missing, block_on, open_or_ask};
use crate::settings::Settings;

/// Items that are asked for at a time.
const PAGE: usize = 500;

/// Whoever answers the requests of a command.
pub(crate) struct Client {
    host: Host,
    /// Whoever can open the database may do everything.
    owner: Arc<Caller>,
    /// What tells the change of this invocation from all others, however often it is asked for.
    key: Uuid,
}

enum Host {
    /// This process, which has the database open.
    Here { engine: Engine, executor: Executor },
    /// Another one.
    There(Box<Server>),
}

/// An answer, as every transport carries it.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(default)]
    errors: Vec<Refusal>,
}

/// An error of an answer.
#[derive(Deserialize)]
struct Refusal {
    message: String,
    #[serde(default)]
    extensions: Value,
}

/// A page of a connection.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    pub(crate) nodes: Vec<T>,
    pub(crate) page_info: PageInfo,
    /// The length of the whole list, where the operation asks for it.
    pub(crate) total_count: Option<u64>,
}

impl<T> Page<T> {
    /// Nothing, and nothing follows.
    pub(crate) fn empty() -> Page<T> {
        let page_info = PageInfo { has_next_page: false, end_cursor: None };
        Page { nodes: Vec::new(), page_info, total_count: Some(0) }
    }
}

/// Part of a list.
#[derive(Debug)]
pub(crate) struct Part<T> {
    pub(crate) items: Vec<T>,
    /// The cursor behind the last of them; nothing where no more follow.
    pub(crate) next: Option<String>,
    /// The length of the whole list, where the operation asks for it.
    pub(crate) total: Option<u64>,
}

impl<T> Part<T> {
    /// The document that tells of it, with each item as it is shown.
    pub(crate) fn json(&self, item: impl Fn(&T) -> Value) -> Value {
        json!({
            "items": self.items.iter().map(item).collect::<Vec<_>>(),
            "complete": self.next.is_none(),
            "total": self.total,
            "next": self.next,
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    pub(crate) has_next_page: bool,
    pub(crate) end_cursor: Option<String>,
}

impl PageInfo {
    /// Where the list goes on; nothing behind its end.
    pub(crate) fn next(self) -> Option<String> {
        self.end_cursor.filter(|_| self.has_next_page)
    }
}

/// An answer about one program.
#[derive(Debug, Deserialize)]
pub(crate) struct About<T> {
    pub(crate) program: T,
}

/// Does something with whoever answers requests.
pub(crate) fn with_client<T>(
    settings: &Settings,
    missing: Missing,
    work: impl AsyncFnOnce(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    block_on(async {
        let client = Client::connect(settings, missing, ActorKind::Human).await?;
        let done = work(&client).await;
        client.close().await;
        done
    })
}

/// How a query names a program: by its id, or by its name.
pub(crate) fn named(program: &str) -> Value {
    match program.parse::<Uuid>() {
        Ok(_) => json!({ "id": program }),
        Err(_) => json!({ "name": program }),
    }
}

impl Client {
    /// Finds whoever answers, for a caller of a kind.
    pub(crate) async fn connect(
        settings: &Settings,
        missing: Missing,
        kind: ActorKind,
    ) -> Result<Client, Error> {
        // Asked here as a server asks: who opens the database itself is recorded as well.
        if !Actor::is_name(&settings.author) {
            return Err(Error::AuthorName);
        }
        let token = settings.token.clone();
        let host = match &settings.server {
            Some(url) => Host::There(Box::new(Server::at(url, token)?)),
            None => match open_or_ask(settings, missing).await {
                Ok(engine) => Host::here(engine),
                Err(error) => match address(&error) {
                    Some(url) => Host::There(Box::new(Server::at(url, token)?)),
                    None => return Err(error),
                },
            },
        };
        let client = Some(concat!("lmlang/", env!("CARGO_PKG_VERSION")).to_owned());
        let author = Actor { name: settings.author.clone(), kind, client };
        Ok(Client { host, owner: Caller::owner(author), key: Uuid::new_v4() })
    }

    /// Where the answers come from: the address of a server, or the database that this process has open.
    pub(crate) fn address(&self) -> String {
        match &self.host {
            Host::Here { engine, .. } => engine.store().location().to_string(),
            Host::There(server) => server.address(),
        }
    }

    /// Closes the database, if this process has it open.
    pub(crate) async fn close(&self) {
        if let Host::Here { engine, .. } = &self.host {
            engine.close().await;
        }
    }

    /// Has a run gone on with, if this process has the database; a server does that by itself.
    pub(crate) async fn go_on(&self, run: &str) -> Result<(), Error> {
        match &self.host {
            Host::There(_) => Ok(()),
            Host::Here { engine, .. } => match run.parse() {
                Ok(GlobalId::Run(id)) => Ok(engine.resume_run(id).await?),
                // Whoever is asked for it says that there is none.
                Ok(_) | Err(_) => Ok(()),
            },
        }
    }

    /// Asks for an operation with variables, and gives the answer as it comes.
    pub(crate) async fn answer(&self, document: &str, variables: &Value) -> Result<Vec<u8>, Error> {
        let request = json!({ "query": document, "variables": variables });
        match &self.host {
            Host::Here { executor, .. } => self.ask_here(executor, request).await,
            Host::There(server) => server.ask(&request, &self.owner.actor).await,
        }
    }

    /// Sends a request as it stands, and gives its answers as they come.
    pub(crate) async fn stream(&self, request: Value) -> Result<Answers<'_>, Error> {
        match &self.host {
            Host::Here { executor, .. } => {
                let params: Params = serde_json::from_value(request).map_err(Error::Answer)?;
                Ok(match executor.prepare(params, RequestId::fresh(), &self.owner) {
                    Ok(prepared) => Answers::Here(executor.stream(prepared)),
                    Err(answer) => Answers::Only(Some(written(&answer))),
                })
            }
            Host::There(server) => Ok(match server.subscribe(&request, &self.owner.actor).await? {
                Ok(body) => Answers::There { server, body, events: Events::default() },
                Err(answer) => Answers::Only(Some(answer)),
            }),
        }
    }

    /// Whether others can change programs while this process looks at them.
    pub(crate) fn is_shared(&self) -> bool {
        match &self.host {
            Host::Here { engine, .. } => matches!(engine.store().location(), Location::Postgres(_)),
            Host::There(_) => true,
        }
    }

    /// Asks for an operation with variables.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        document: &str,
        variables: &Value,
    ) -> Result<T, Error> {
        read(&self.answer(document, variables).await?)
    }

    /// Asks for a mutation with an input, and once more if the answer is lost: its idempotency key, the one that it has or
    /// else that of this invocation, makes sure that it is carried out once. `look` is the command that shows whether it was.
    pub(crate) async fn change<T: DeserializeOwned>(
        &self,
        document: &str,
        mut input: Value,
        look: &str,
    ) -> Result<T, Error> {
        if input["idempotencyKey"].is_null() {
            input["idempotencyKey"] = self.key.to_string().into();
        }
        twice(look, async || self.change_once(document, &input, look).await).await
    }

    /// Makes a module the content of a program, and tells how far that is; asks once more as [`Client::change`] does.
    pub(crate) async fn import(
        &self,
        mut request: ImportRequest,
        look: &str,
        watch: &Watch,
    ) -> Result<Imported, Error> {
        // The program may have been made by this invocation, under the other key.
        request.idempotency_key = Some(Uuid::new_v4().to_string());
        twice(look, async || {
            let made = match &self.host {
                Host::Here { engine, .. } => {
                    let made = wasm::import(engine, &self.owner, request.clone(), Arc::clone(watch)).await;
                    made.map_err(|error| refusal(&Answered::refuse(error, &RequestId::fresh())))
                }
                Host::There(server) => self.import_there(server, &request, watch).await,
            };
            made.map_err(|error| if error.leaves_doubt() { error.in_doubt(look) } else { error })
        })
        .await
    }

    async fn import_there(
        &self,
        server: &Server,
        request: &ImportRequest,
        watch: &Watch,
    ) -> Result<Imported, Error> {
        let mut body = match server.import(request, &self.owner.actor).await? {
            Ok(body) => body,
            Err(answer) => return Err(refused(&answer)),
        };
        let mut events = Events::default();
        loop {
            while let Some(Event { name, data }) = events.next() {
                match name.as_str() {
                    "validated" | "built" => {
                        let Far { functions, of } = serde_json::from_str(&data).map_err(Error::Answer)?;
                        watch(of.map_or(Progress::Validated { functions }, |of| Progress::Built {
                            functions,
                            of,
                        }));
                    }
                    "committed" | "conflict" => return serde_json::from_str(&data).map_err(Error::Answer),
                    "refused" => return Err(refused(data.as_bytes())),
                    // Newer servers may tell more.
                    _ => {}
                }
            }
            match server.next(&mut body).await? {
                Some(bytes) => events.add(&bytes),
                None => return Err(server.cut_off()),
            }
        }
    }

    /// Asks for a mutation that takes no idempotency key.
    pub(crate) async fn change_once<T: DeserializeOwned>(
        &self,
        document: &str,
        input: &Value,
        look: &str,
    ) -> Result<T, Error> {
        let answer = self.ask(document, &json!({ "input": input })).await;
        let stores = input["dryRun"] != true;
        answer.map_err(|error| if stores && error.leaves_doubt() { error.in_doubt(look) } else { error })
    }

    /// Asks for a backup of programs, by name or id; of all if there is none.
    pub(crate) async fn backup(
        &self,
        programs: &[String],
        without_deleted: bool,
    ) -> Result<Pieces<'_>, Error> {
        let server = match &self.host {
            Host::Here { engine, .. } => {
                let programs: Vec<Selector> = programs.iter().map(|given| selector(given)).collect();
                return Ok(Pieces::Here(Box::new(engine.backup(&programs, without_deleted).await?)));
            }
            Host::There(server) => server,
        };
        let request = json!({ "programs": programs, "withoutDeleted": without_deleted });
        match server.backup(&request, &self.owner.actor).await? {
            Ok(body) => Ok(Pieces::There(server, body)),
            Err(answer) => Err(refused(&answer)),
        }
    }

    async fn ask_here(&self, executor: &Executor, request: Value) -> Result<Vec<u8>, Error> {
        let params: Params = serde_json::from_value(request).map_err(Error::Answer)?;
        let answer = match executor.prepare(params, RequestId::fresh(), &self.owner) {
            Ok(prepared) => executor.execute(prepared).await,
            Err(answer) => answer,
        };
        Ok(written(&answer))
    }

    /// Asks for the items of a connection, a page at a time, and tells whether there are more than `most`.
    ///
    /// The operation takes `$first` and `$after`; `page` finds the connection in its answer.
    pub(crate) async fn list<A: DeserializeOwned, T>(
        &self,
        document: &str,
        variables: Value,
        most: usize,
        page: impl Fn(A) -> Page<T>,
    ) -> Result<(Vec<T>, bool), Error> {
        let Part { items, next, total: _ } = self.part(document, variables, most, page).await?;
        Ok((items, next.is_some()))
    }

    /// The same, beginning behind the `after` of the variables, and tells where to go on.
    pub(crate) async fn part<A: DeserializeOwned, T>(
        &self,
        document: &str,
        mut variables: Value,
        most: usize,
        page: impl Fn(A) -> Page<T>,
    ) -> Result<Part<T>, Error> {
        let mut items = Vec::new();
        loop {
            variables["first"] = (most - items.len()).min(PAGE).into();
            let Page { nodes, page_info, total_count } = page(self.ask(document, &variables).await?);
            items.extend(nodes);
            let next = page_info.next();
            if items.len() >= most || next.is_none() {
                return Ok(Part { items, next, total: total_count });
            }
            variables["after"] = next.into();
        }
    }
}

/// How far an import is, as a server tells it.
#[derive(Deserialize)]
struct Far {
    functions: usize,
    of: Option<usize>,
}

/// Does what has an idempotency key, and does it once more if the answer is lost.
async fn twice<T>(look: &str, once: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    match once().await {
        Err(Error::InDoubt { source, .. }) if source.is_lost() => {
            say(format_args!("{source}: asking again, under the same idempotency key"));
            once().await.map_err(|error| match error.tells_nothing_of_the_first() {
                true => error.in_doubt(look),
                false => error,
            })
        }
        answer => answer,
    }
}

/// Why there is no other answer than this.
fn refused(answer: &[u8]) -> Error {
    match read::<Value>(answer) {
        Err(refusal) => refusal,
        Ok(_) => Error::Answer(serde_json::Error::custom("it is not what was asked for")),
    }
}

fn refusal(answer: &Answered) -> Error {
    refused(&written(answer))
}

/// The bytes of a backup, piece by piece.
pub(crate) enum Pieces<'a> {
    Here(Box<Backup>),
    There(&'a Server, Incoming),
}

impl Pieces<'_> {
    /// The next ones; nothing when it is whole.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self {
            Pieces::Here(backup) => Ok(backup.next().await?.map(Bytes::from)),
            Pieces::There(server, body) => server.next(body).await,
        }
    }

    /// Entries that were put in so far, and how many there are, where that is known.
    pub(crate) fn progress(&self) -> Option<(u64, u64)> {
        match self {
            Pieces::Here(backup) => Some(backup.progress()),
            Pieces::There(..) => None,
        }
    }
}

/// A program that is named by its id, or by its name.
pub(crate) fn selector(given: &str) -> Selector {
    given.parse().map_or_else(|_| Selector::Name(given.to_owned()), Selector::Id)
}

impl Host {
    fn here(engine: Engine) -> Host {
        // Nobody else waits for this process.
        let limits = Limits {
            complexity: u64::MAX,
            text_of_answer: u64::MAX,
            deadline: std::time::Duration::from_secs(24 * 60 * 60),
            ..Limits::default()
        };
        Host::Here { executor: schema::build(engine.clone(), limits), engine }
    }
}

/// Where whoever has the database open answers requests.
fn address(error: &Error) -> Option<&str> {
    let Error::Open(open) = error else { return None };
    match open.as_ref() {
        OpenError::Held { holder: Some(holder), .. } => holder.reachable(),
        _ => None,
    }
}

/// The data of an answer; its first error otherwise.
pub(crate) fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Error> {
    let Answer { data, errors } = serde_json::from_slice(answer).map_err(Error::Answer)?;
    match errors.into_iter().next() {
        Some(refusal) => Err(refusal.into()),
        None => serde_json::from_str(data.map_or("null", RawValue::get)).map_err(Error::Answer),
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let Refusal { message, mut extensions } = refusal;
        let mut data = extensions.get_mut("data").map(Value::take).unwrap_or_default();
        let code = match (&data["taken"], data["reason"].as_str()) {
            (Value::Bool(true), _) => "NAME_TAKEN",
            (_, Some("ENTITY_NOT_FOUND" | "ENTITY_END_MISSING")) => "NOT_FOUND",
            _ => extensions["code"].as_str().unwrap_or("INTERNAL"),
        };
        let near = data["candidates"].as_array().into_iter().flatten().chain([&data["nearest"]]);
        let candidates = near.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let code = code.to_owned();
        if let Some(data) = data.as_object_mut() {
            data.remove("candidates");
        }
        Error::Refused { code, message, candidates, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expect: &str) {
        let seen = match read::<Value>(answer.as_bytes()) {
            Ok(data) => data.to_string(),
            Err(error) => format!("{} {error}", error.code()),
        };
        assert_eq!(seen, expect);
    }

    #[test]
    fn an_answer_is_its_data_or_its_first_error() {
        check(r#"{"data":{"a":1}}"#, r#"{"a":1}"#);
        let refused =
            r#"{"data":{"a":null},"errors":[{"message":"there is no a","extensions":{"code":"NOT_FOUND"}}]}"#;
        check(refused, "NOT_FOUND there is no a");
        let taken =
            r#"{"errors":[{"message":"m","extensions":{"code":"BAD_REQUEST","data":{"taken":true}}}]}"#;
        check(taken, "NAME_TAKEN m");
        let absent = r#"{"errors":[{"message":"m","extensions":{"code":"BAD_REQUEST","data":{"reason":"ENTITY_NOT_FOUND"}}}]}"#;
        check(absent, "NOT_FOUND m");
        check("<html>", "BAD_ANSWER the answer is none of lmlang's, or that of another version of it");
    }
}
