//! Beginning runs and sessions.

use std::sync::Arc;
use std::time::Duration;

use lmlang_flow::{Entry, Run, State, What};
use lmlang_history::log::Actor;
use lmlang_store::{BeginError, Idempotency, NewRun, RunFilter, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::coding;
use crate::flows::listing::{RunInfo, SessionInfo};
use crate::flows::live::{definition, standing};
use crate::records::to_actor;
use crate::request::Call;

/// A run that is to be begun.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The name of its flow.
    pub flow: String,
    /// The session that it belongs to; without, it gets one of its own.
    pub session: Option<Uuid>,
    /// What it is begun with.
    pub input: Value,
    /// How long it may take; without, as long as its session says, or for ever.
    pub deadline: Option<Duration>,
}

/// A session that is to be begun.
#[derive(Clone, Debug)]
pub struct StartSession {
    /// The name of the flow that its turns are given to.
    pub workflow: String,
    /// What it is about.
    pub title: Option<String>,
    /// How long a run of it may take of which nothing else is said; without, for ever.
    pub deadline: Option<Duration>,
}

/// Characters of the title of a session, as long as a text that lists can hold many of. Who shows it cuts it shorter.
const TITLE: usize = 1_000;

/// Bytes of what a run is begun with.
pub(crate) const INPUT_BYTES: usize = 1 << 20;

/// The shortest time that a run may be given.
const SHORTEST_DEADLINE: Duration = Duration::from_millis(1);

/// The longest one.
pub(crate) const MOST_DEADLINE: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// What a run is begun with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// What its flow reads.
    pub(crate) input: &'a Value,
    /// What the session's run before it came to.
    pub(crate) before: Option<&'a Before>,
    /// How long it may take, in microseconds.
    pub(crate) within: Option<i64>,
}

/// What a run came to that another one goes on from.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) state: State,
    /// The program that it was about.
    pub(crate) program: Option<Uuid>,
}

impl<'a> Given<'a> {
    /// What a run is begun with that another one waits for: it ends with that one.
    pub(crate) fn to_sub(input: &'a Value) -> Given<'a> {
        Given { input, before: None, within: None }
    }
}

impl Engine {
    /// Begins a run, and answers when that is durable.
    pub async fn start_run(&self, start: &StartRun, call: &Call) -> Result<RunInfo, Error> {
        self.start_run_with(start, None, call).await
    }

    /// Begins a run; a session of its own says that of others, which are begun in it later, that they may take so many
    /// microseconds.
    pub(super) async fn start_run_with(
        &self,
        start: &StartRun,
        session_within: Option<i64>,
        call: &Call,
    ) -> Result<RunInfo, Error> {
        if let Some(first) = self.run_begun_by(call).await? {
            return Ok(first);
        }
        let size = start.input.to_string().len();
        if size > INPUT_BYTES {
            return Err(Error::Limit {
                which: "runInputBytes",
                limit: INPUT_BYTES as u64,
                actual: size as u64,
            });
        }
        let within = start.deadline.map(|deadline| within(deadline, "input.deadlineMs")).transpose()?;
        let mut within = within.or(session_within);
        let mut before = None;
        if let Some(session) = start.session {
            let found = self.session_info(session).await?;
            if found.workflow != start.flow {
                let message = format!("the session is one of the flow `{}`", found.workflow);
                return Err(Error::Argument { place: "input.sessionId".to_owned(), message });
            }
            before = self.came_to(session, &start.flow).await?;
            within = within.or(found.deadline.map(micros));
        }
        let id = self.0.clock.id();
        let given = Given { input: &start.input, before: before.as_ref(), within };
        let mut new = self.new_run(&start.flow, given, &call.actor, id, None).await?;
        if let Some(session) = start.session {
            new.run.session = session;
            new.session = None;
        }
        if let Some(session) = &mut new.session {
            session.within = session_within;
        }
        new.run.making = idempotency(call);
        let session = new.run.session;
        match self.store().begin_run(new).await {
            Ok(()) => {}
            Err(BeginError::NoSession) => return Err(Error::not_found("session", session)),
            Err(BeginError::KeyTaken) => {
                return self.run_begun_by(call).await?.ok_or(Error::IdempotencyMismatch);
            }
            Err(BeginError::Storage(fault)) => return Err(fault.into()),
        }
        self.0.flows.stored.send_modify(|count| *count += 1);
        self.seeing_all().go_on(id).await?;
        self.run_info(id).await
    }

    /// Begins a session, and answers when that is durable.
    pub async fn start_session(&self, start: &StartSession, call: &Call) -> Result<SessionInfo, Error> {
        let begun = |session: Option<lmlang_store::Session>| match session {
            Some(first) if first.making == idempotency(call) => Ok(Some(first.id)),
            Some(_) => Err(Error::IdempotencyMismatch),
            None => Ok(None),
        };
        if let Some(made) = &call.idempotency
            && let Some(first) = begun(self.store().session_made_under(&made.key).await?)?
        {
            return self.session_info(first).await;
        }
        self.code_named(&start.workflow).await?;
        let within = start.deadline.map(|deadline| within(deadline, "input.deadlineMs")).transpose()?;
        let hidden = self.0.flows.redaction();
        let title = start.title.as_deref().map(|title| beginning(&hidden.text(title)));
        let session = self.new_session(&start.workflow, title, &call.actor).await?;
        let id = session.id;
        let session = lmlang_store::Session { making: idempotency(call), within, ..session };
        match self.store().begin_session(session).await {
            Ok(()) => self.session_info(id).await,
            Err(BeginError::Storage(fault)) => Err(fault.into()),
            Err(BeginError::NoSession) => Err(Error::not_found("session", id)),
            Err(BeginError::KeyTaken) => {
                let made = call.idempotency.as_ref().ok_or(Error::IdempotencyMismatch)?;
                let first = begun(self.store().session_made_under(&made.key).await?)?;
                self.session_info(first.ok_or(Error::IdempotencyMismatch)?).await
            }
        }
    }

    /// What the newest run of a flow in a session that has ended came to, however it did: of those that the caller may know of.
    async fn came_to(&self, session: Uuid, flow: &str) -> Result<Option<Before>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let flow = Some(flow.to_owned());
        let session = Some(session);
        let filter = RunFilter { flow, session, programs, roots: true, ended: true, ..RunFilter::default() };
        let Some(newest) = self.store().runs(&filter, None, 1).await?.pop() else { return Ok(None) };
        match self.stored_run(&newest).await {
            Ok(run) => Ok(Some(Before { state: run.state().clone(), program: newest.program })),
            // It was removed meanwhile, as the last of an old session.
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn run_begun_by(&self, call: &Call) -> Result<Option<RunInfo>, Error> {
        let Some(made) = &call.idempotency else { return Ok(None) };
        match self.store().run_made_under(&made.key).await? {
            None => Ok(None),
            Some(first) if first.making == idempotency(call) => self.run_info(first.id).await.map(Some),
            Some(_) => Err(Error::IdempotencyMismatch),
        }
    }

    async fn new_session(
        &self,
        workflow: &str,
        title: Option<String>,
        actor: &Actor,
    ) -> Result<lmlang_store::Session, Error> {
        Ok(lmlang_store::Session {
            key: 0,
            id: self.0.clock.id(),
            workflow: workflow.to_owned(),
            title,
            actor: self.store().actor_key(&to_actor(actor)).await?,
            made: Timestamp(self.now()),
            making: None,
            within: None,
        })
    }

    /// A run of a flow before it is stored: with a session of its own, or for a branch of a run that waits for it.
    pub(crate) async fn new_run(
        &self,
        flow: &str,
        given: Given<'_>,
        actor: &Actor,
        id: Uuid,
        parent: Option<(Uuid, (Uuid, String))>,
    ) -> Result<NewRun, Error> {
        let code = self.code_named(flow).await?;
        let before = given.before;
        let mut accepted = code.accept(self, given.input, before.map(|before| &before.state)).await?;
        let is_of_another = before.is_some_and(|before| before.program != accepted.program);
        if is_of_another && code.flow().is_about_a_program() {
            // Who knows of the one program may not know of the other.
            accepted = code.accept(self, given.input, None).await?;
        }
        if let Some(program) = accepted.program.filter(|program| !self.sees(*program)) {
            return Err(Error::not_found("program", program.to_string()));
        }
        accepted.update.check_depth().map_err(|error| Error::bad_request(error.to_string()))?;
        let now = self.now();
        let mut machine = Run::new(Arc::clone(code.flow()));
        let mut entries = Vec::with_capacity(2);
        let bounded = given.within.map(|within| What::Bounded { within });
        for what in [What::Started(accepted.update)].into_iter().chain(bounded) {
            let entry = Entry { number: machine.last() + 1, time: now, what };
            machine.take(&entry).map_err(|error| Error::bad_request(error.to_string()))?;
            entries.push((Timestamp(now), entry.what.kind() as u8, coding::encode(&entry.what)?));
        }
        let (session, new_session, parent) = match parent {
            Some((session, parent)) => (session, None, Some(parent)),
            None => {
                let session = self.new_session(flow, None, actor).await?;
                (session.id, Some(session), None)
            }
        };
        let run = lmlang_store::Run {
            key: 0,
            id,
            flow: flow.to_owned(),
            definition: code.flow().hash().to_vec(),
            session,
            parent,
            program: accepted.program,
            branch: accepted.branch,
            actor: self.store().actor_key(&to_actor(actor)).await?,
            input: given.input.to_string().into_bytes(),
            made: Timestamp(now),
            making: None,
            forked: None,
            standing: standing(&machine, now),
        };
        Ok(NewRun {
            run,
            definition: definition(code.flow())?,
            session: new_session,
            entries,
            open: Vec::new(),
        })
    }
}

/// How long a run may take, in microseconds; `place` says so in the request.
pub(super) fn within(deadline: Duration, place: &str) -> Result<i64, Error> {
    if deadline < SHORTEST_DEADLINE {
        let message = "a run takes some time: at least a millisecond".to_owned();
        return Err(Error::Argument { place: place.to_owned(), message });
    }
    let millis = |of: Duration| u64::try_from(of.as_millis()).unwrap_or(u64::MAX);
    if deadline > MOST_DEADLINE {
        let (limit, actual) = (millis(MOST_DEADLINE), millis(deadline));
        return Err(Error::Limit { which: "runDeadlineMs", limit, actual });
    }
    Ok(micros(deadline))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// As much of a title as is kept. What is secret in it has been hidden before: half a secret has another form.
fn beginning(title: &str) -> String {
    match title.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

pub(crate) fn idempotency(call: &Call) -> Option<Idempotency> {
    let made = call.idempotency.as_ref()?;
    Some(Idempotency { key: made.key.clone(), digest: made.digest.to_vec() })
}
