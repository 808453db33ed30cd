//! One connection's conversation.
//!
//! One task reads the client and writes to it; each operation runs in its own (`running`), which asks for the next
//! answer only when the one before has been taken: a client that does not read holds up its sources and nothing else.
//! Reading goes on while a write is blocked, so that `complete` and `ping` are heard.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, SplitSink, SplitStream};
use futures_util::{FutureExt, Sink, SinkExt, StreamExt, future, stream};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Answer, Caller, Outcome, Params, RequestId};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::StreamMap;
use tokio_tungstenite::tungstenite;

use super::Shown;
use super::message::{self, Close, FromClient, Introduction};
use crate::admission::{self, Outside};
use crate::caller;
use crate::running;
use crate::state::Shared;

/// Answers that wait to be written; they leave in one write.
const ANSWERS_WAITING: usize = 16;
/// Messages of any kind that wait to be written, after which the client is not read either.
const MESSAGES_WAITING: usize = 64;
/// How long a closing connection may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(3);

/// Talks until either side closes.
pub(super) async fn run(socket: WebSocket, shown: Shown, state: Shared) {
    metrics::gauge!("lmlang_websockets").increment(1);
    let (sink, mut incoming) = socket.split();
    let mut session = Session {
        state,
        outgoing: Outgoing { sink, waiting: VecDeque::new(), flushed: true },
        streams: StreamMap::new(),
        shown,
        caller: None,
        ended: future::pending().boxed(),
    };
    let end = session.talk(&mut incoming).await;
    session.streams.clear();
    if let End::Close(close) = &end {
        tracing::debug!(code = close.code, reason = %close.reason, "closing a WebSocket");
    }
    if tokio::time::timeout(GOODBYE, session.goodbye(end, &mut incoming)).await.is_err() {
        tracing::debug!("a WebSocket client did not say goodbye");
    }
    metrics::gauge!("lmlang_websockets").decrement(1);
}

/// How a conversation ends.
enum End {
    /// This side closes.
    Close(Close),
    /// The client closed.
    Closed,
    /// The connection is gone.
    Gone,
}

/// An operation's answers, then nothing once.
type Answers = BoxStream<'static, Option<Answer>>;

struct Session {
    state: Shared,
    outgoing: Outgoing,
    streams: StreamMap<String, Answers>,
    shown: Shown,
    /// Who the client is, once its `connection_init` was accepted.
    caller: Option<Arc<Caller>>,
    /// What it came in with is good for nothing any more.
    ended: BoxFuture<'static, ()>,
}

impl Session {
    /// Goes on until one side closes.
    async fn talk(&mut self, incoming: &mut SplitStream<WebSocket>) -> End {
        // Made once: each answer is a round of the loop.
        let shutdown = self.state.shutdown.clone();
        let mut stopping = pin!(shutdown.cancelled());
        let mut late = pin!(tokio::time::sleep(self.state.config.init_timeout));
        let keep_alive = self.state.config.keep_alive;
        let mut beat = tokio::time::interval_at(Instant::now() + keep_alive, keep_alive);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            let waiting = self.outgoing.waiting.len();
            tokio::select! {
                () = &mut stopping => return End::Close(Close::restart()),
                () = &mut self.ended => return End::Close(Close::forbidden()),
                () = &mut late, if self.caller.is_none() => return End::Close(Close::init_timeout()),
                message = incoming.next(), if waiting < MESSAGES_WAITING => {
                    heard = Instant::now();
                    let Some(message) = message else { return End::Gone };
                    if let Err(end) = self.receive(message).await {
                        return end;
                    }
                }
                Some((id, answer)) = self.streams.next(), if waiting < ANSWERS_WAITING => {
                    self.send(&id, answer);
                    self.send_ready();
                }
                written = self.outgoing.pump(), if !self.outgoing.is_idle() => {
                    if written.is_err() {
                        return End::Gone;
                    }
                }
                _ = beat.tick() => {
                    if heard.elapsed() > keep_alive * 3 {
                        return End::Close(Close::silent());
                    }
                    self.outgoing.waiting.push_back(Message::Ping(bytes::Bytes::new()));
                }
            }
        }
    }

    /// Closes in order: the last message is this side's, or the answer to the client's.
    async fn goodbye(&mut self, end: End, incoming: &mut SplitStream<WebSocket>) {
        match end {
            End::Close(close) => self.outgoing.waiting.push_back(close.into_message()),
            End::Closed => self.outgoing.waiting.clear(),
            End::Gone => return,
        }
        if self.outgoing.pump().await.is_ok() {
            while let Some(Ok(_)) = incoming.next().await {}
        }
    }

    /// Takes in what arrived.
    async fn receive(&mut self, message: Result<Message, axum::Error>) -> Result<(), End> {
        match message {
            Ok(Message::Text(text)) => {
                let message = message::read(&text).map_err(End::Close)?;
                self.obey(message).await.map_err(End::Close)
            }
            Ok(Message::Binary(_)) => Err(End::Close(Close::bad_request("Invalid message: binary"))),
            Ok(Message::Ping(_) | Message::Pong(_)) => Ok(()),
            Ok(Message::Close(_)) => Err(End::Closed),
            Err(error) => Err(match error.into_inner().downcast_ref::<tungstenite::Error>() {
                Some(tungstenite::Error::Capacity(_)) => End::Close(Close::too_big()),
                Some(tungstenite::Error::Protocol(_)) => End::Close(Close::broken()),
                Some(tungstenite::Error::Utf8(_)) => End::Close(Close::not_utf8()),
                Some(_) | None => End::Gone,
            }),
        }
    }

    async fn obey(&mut self, message: FromClient) -> Result<(), Close> {
        match message {
            FromClient::Ping => self.outgoing.waiting.push_back(message::pong()),
            FromClient::Pong => {}
            FromClient::Init(_) if self.caller.is_some() => return Err(Close::too_many_inits()),
            FromClient::Init(introduction) => {
                // Apart: a session would hold room for it to its end.
                let caller = Box::pin(admit(&self.state, &self.shown, introduction)).await?;
                let held = Arc::clone(&caller);
                self.ended = async move { held.grant.ended().await }.boxed();
                self.caller = Some(caller);
                self.outgoing.waiting.push_back(message::ack());
            }
            FromClient::Subscribe { id, .. } if self.streams.contains_key(&id) => {
                return Err(Close::subscriber_exists(&id));
            }
            FromClient::Subscribe { id, params } => {
                let caller = self.caller.clone().ok_or_else(Close::unauthorized)?;
                self.subscribe(id, *params, &caller);
            }
            FromClient::Complete { id } => {
                self.streams.remove(&id);
            }
        }
        Ok(())
    }

    fn subscribe(&mut self, id: String, params: Params, caller: &Arc<Caller>) {
        let request = RequestId::fresh();
        let most = self.state.config.streams_per_connection;
        let prepared = if self.streams.len() < most {
            self.state.executor.prepare(params, request, caller)
        } else {
            let error = ApiError::limit("streamsPerConnection", most as u64, most as u64 + 1);
            Err(Answer::refuse(error, &request))
        };
        match prepared {
            Ok(prepared) => {
                let answers = running::begin(&self.state, prepared).map(Some);
                self.streams.insert(id, answers.chain(stream::once(future::ready(None))).boxed());
            }
            Err(answer) => self.outgoing.waiting.push_back(message::answer(&id, &answer)),
        }
    }

    /// Puts in line what an operation answered; none is its end.
    fn send(&mut self, id: &str, answer: Option<Answer>) {
        let message = match &answer {
            Some(answer) => message::answer(id, answer),
            None => message::complete(id),
        };
        let over = answer.is_none_or(|answer| answer.outcome() != Outcome::Executed);
        if over {
            self.streams.remove(id);
        }
        self.outgoing.waiting.push_back(message);
    }

    /// Puts in line what is ready as well, as far as there is room, so that one write carries it.
    fn send_ready(&mut self) {
        while self.outgoing.waiting.len() < ANSWERS_WAITING
            && let Some(Some((id, answer))) = self.streams.next().now_or_never()
        {
            self.send(&id, answer);
        }
    }
}

/// Lets the client in, or says why not: by a code, for the reason of a close tells nothing of tokens.
async fn admit(state: &Shared, shown: &Shown, introduction: Introduction) -> Result<Arc<Caller>, Close> {
    let id = RequestId::fresh();
    let closes = |outside: Outside| match outside.error.code {
        Code::BadRequest => Close::bad_request(outside.error.message),
        Code::StorageUnavailable => Close::try_again(),
        _ => Close::forbidden(),
    };
    let Introduction { authorization, author, author_kind } = introduction;
    let said = authorization.as_deref().map(admission::bearer).transpose().map_err(closes)?.flatten();
    let token = match (said, shown.token.as_deref()) {
        (Some(said), Some(shown)) if said != shown => {
            return Err(Close::bad_request("Two different tokens"));
        }
        (said, shown) => said.or(shown),
    };
    let grant = admission::of_token(state, token, &id).await.map_err(|outside| {
        let code = outside.error.code.as_str();
        tracing::info!(request_id = %id, code, "a WebSocket was refused");
        closes(outside)
    })?;
    let grant = grant.for_connection();
    caller::granted(author.as_deref(), author_kind.as_deref(), shown.client.clone(), grant)
        .map_err(|error| Close::bad_request(error.message))
}

/// What waits to be written, and where to.
struct Outgoing {
    sink: SplitSink<WebSocket, Message>,
    waiting: VecDeque<Message>,
    flushed: bool,
}

impl Outgoing {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.flushed
    }

    /// Writes what waits. Dropped half-way it loses nothing, and the next call goes on.
    async fn pump(&mut self) -> Result<(), axum::Error> {
        while !self.waiting.is_empty() {
            poll_fn(|cx| Pin::new(&mut self.sink).poll_ready(cx)).await?;
            if let Some(message) = self.waiting.pop_front() {
                self.flushed = false;
                Pin::new(&mut self.sink).start_send(message)?;
            }
        }
        self.sink.flush().await?;
        self.flushed = true;
        Ok(())
    }
}
