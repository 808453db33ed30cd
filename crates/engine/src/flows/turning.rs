//! Turns of a conversation: something is said, and the run of the session goes on with it as far as it can.

use std::time::Duration;

use lmlang_flow::{Ask, AskKind, Status};
use lmlang_store::{InterruptFilter, InterruptStanding, RunFilter, RunStatus};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::answering::{Answer, AnswerOutcome};
use crate::flows::listing::{InterruptInfo, RunInfo, SessionInfo};
use crate::flows::live::child_id;
use crate::flows::starting::{StartRun, StartSession, idempotency, within};
use crate::flows::steering::request_digest;
use crate::request::Call;

/// Something that is said in a session.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The session; without, a new one is begun.
    pub session: Option<Uuid>,
    /// The flow: of a session that is begun, or that a session must be one of.
    pub workflow: Option<String>,
    /// Words: a task, or the answer to a question.
    pub text: Option<String>,
    /// What a run that begins is started with besides the words.
    pub options: Map<String, Value>,
    /// How long a run that begins may take; without, as long as the session says, or for ever.
    pub deadline: Option<Duration>,
    /// How long a run may take of which nothing else is said, in a session that is begun.
    pub session_deadline: Option<Duration>,
    /// What is to be different, where somebody asked whether to go on.
    pub feedback: Option<String>,
    /// Whether to go on.
    pub confirm: Option<bool>,
    /// One of the choices of a question.
    pub choice: Option<String>,
    /// The question that is answered, as run and entry; without, the oldest open one of the session.
    pub interrupt: Option<(Uuid, u64)>,
}

/// What a turn came to.
#[derive(Clone, Debug)]
pub struct Turned {
    /// The session.
    pub session: SessionInfo,
    /// Its run.
    pub run: RunInfo,
    /// What is asked now.
    pub interrupt: Option<InterruptInfo>,
    /// What its flow shows of its state.
    pub view: Value,
}

/// Where a turn says how long runs of its session may take.
const SESSION_DEADLINE: &str = "input.sessionDeadlineMs";

/// Runs of a session among which the answer of a repeated request is looked for.
const REPEATED: u64 = 3;

/// How long a turn waits for its run to come to a question or its end: less than an operation may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// After what time a run is looked at again that another process may have gone on with.
const LOOK: Duration = Duration::from_millis(250);

/// For how long what is stored is gathered before runs are looked at that wait for others.
const GATHERED: Duration = Duration::from_millis(25);

impl Engine {
    /// Takes a turn: answers what the session asks, or begins its next run, and waits until that asks or ends; for a while,
    /// whatever becomes of it.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] while the run of the session goes on without asking anything.
    pub async fn take_turn(&self, turn: &Turn, call: &Call) -> Result<Turned, Error> {
        let (session, run) = {
            // One at a time: of two turns of an idle session the second answers what the first has begun.
            let _turn = self.0.flows.turning.lock().await;
            self.turned(turn, call).await?
        };
        let run = self.settled(run, PATIENCE).await?;
        let open = self.open_questions(session).await?;
        let interrupt = open.into_iter().next();
        let machine = self.run_machine(&run).await?;
        let code = self.code_of(&run.flow).or_else(|| self.0.flows.code(run.flow.name()).cloned());
        let view = match code {
            Some(code) => code.view(machine.state()),
            None => machine.state().public(machine.flow()),
        };
        Ok(Turned { session: self.session_info(session).await?, run, interrupt, view })
    }

    /// The run when it neither does something nor is about to, or as it is after some time.
    pub async fn settled(&self, run: Uuid, patience: Duration) -> Result<RunInfo, Error> {
        let mut stored = self.0.flows.stored.subscribe();
        let until = tokio::time::Instant::now() + patience;
        loop {
            stored.mark_unchanged();
            let info = self.run_info(run).await?;
            let busy = info.status == RunStatus::Running || self.waits_for_one_at_work(&info).await?;
            if !busy || tokio::time::Instant::now() >= until {
                return Ok(info);
            }
            if info.status == RunStatus::Waiting {
                // Others store, too, and looking at runs that wait for others takes more than a row.
                tokio::time::sleep(GATHERED).await;
            }
            tokio::select! {
                changed = stored.changed() => changed.map_err(|_| Error::Closed)?,
                () = tokio::time::sleep(LOOK) => {}
                () = self.closing().cancelled() => return Err(Error::Closed),
            }
        }
    }

    /// Whether a run that waited a moment ago does so for another one that does something, or that it has not heard of since that
    /// has ended; or does not wait any more.
    async fn waits_for_one_at_work(&self, run: &RunInfo) -> Result<bool, Error> {
        if run.status != RunStatus::Waiting {
            // What has ended waits for nobody.
            return Ok(false);
        }
        let mut waiting = vec![run.id];
        while let Some(id) = waiting.pop() {
            let Some(row) = self.store().run(id).await? else { continue };
            let machine = self.stored_run(&row).await?;
            if machine.status() != Status::Waiting {
                return Ok(true);
            }
            for (_, since, ..) in machine.subs() {
                let child = child_id(id, since);
                match self.store().run(child).await?.map(|row| row.standing.status) {
                    Some(RunStatus::Waiting) => waiting.push(child),
                    Some(_) => return Ok(true),
                    None => {}
                }
            }
        }
        Ok(false)
    }

    /// What a turn answers or begins: its session and run.
    async fn turned(&self, turn: &Turn, call: &Call) -> Result<(Uuid, Uuid), Error> {
        if let Some(made) = &call.idempotency
            && let Some(first) = self.store().run_made_under(&made.key).await?
        {
            return match first.making == idempotency(call) {
                true => self.run_info(first.id).await.map(|info| (info.session.id, info.id)),
                false => Err(Error::IdempotencyMismatch),
            };
        }
        let Some(session) = turn.session else {
            if turn.interrupt.is_some() {
                let message = "a question belongs to a session".to_owned();
                return Err(Error::Argument { place: "input.sessionId".to_owned(), message });
            }
            let workflow = turn.workflow.as_deref().unwrap_or_default();
            let start = StartSession {
                workflow: workflow.to_owned(),
                title: turn.text.clone(),
                deadline: turn.session_deadline,
            };
            // Looked at first: a session is not begun by what makes no sense.
            let (input, words) = self.input_of(workflow, turn).await?;
            let accepted = self.code_named(workflow).await?.accept(self, &input, None).await;
            accepted.map_err(|error| place_in_turn(error, &words))?;
            turn.deadline.map(|deadline| within(deadline, "input.deadlineMs")).transpose()?;
            turn.session_deadline.map(|deadline| within(deadline, SESSION_DEADLINE)).transpose()?;
            let session = match self.is_unlimited() {
                true => Some(self.start_session(&start, call).await?.id),
                // Whoever is limited to programs knows of a session by its runs: this one begins with its first.
                false => None,
            };
            return self.begun(session, workflow, turn, call).await;
        };
        if turn.session_deadline.is_some() {
            let message = "the session has begun, and keeps the time that it gives its runs".to_owned();
            return Err(Error::Argument { place: SESSION_DEADLINE.to_owned(), message });
        }
        let info = self.session_info(session).await?;
        if let Some(named) = turn.workflow.as_ref().filter(|named| **named != info.workflow) {
            let message = format!("the session is one of the flow `{}`, not `{named}`", info.workflow);
            return Err(Error::Argument { place: "input.sessionId".to_owned(), message });
        }
        let newest = self.newest_runs(session).await?;
        if let Some(made) = &call.idempotency {
            let request = request_digest(made);
            for run in &newest {
                if self.took_before(*run, &request).await? {
                    return Ok((session, *run));
                }
            }
        }
        let newest = newest.first().copied();
        let open = self.open_questions(session).await?;
        let asked = match turn.interrupt {
            None => open.first(),
            Some((run, asked)) => {
                let found = open.iter().find(|of| (of.run, of.asked) == (run, asked));
                Some(found.ok_or_else(|| Error::Argument {
                    place: "input.interruptId".to_owned(),
                    message: "the session does not ask this any more".to_owned(),
                })?)
            }
        };
        match asked {
            Some(asked) => {
                let answer = Answer {
                    run: asked.run,
                    asked: asked.asked,
                    answer: answer_of(&asked.ask, turn),
                    reason: None,
                };
                match self.answer_interrupt(&answer, call).await? {
                    AnswerOutcome::Taken(_) => Ok((session, self.root_of(asked.run).await?)),
                    AnswerOutcome::Already(decision) => {
                        let message = format!("`{}` has answered it: {}", decision.by, decision.answer);
                        Err(Error::Argument { place: "input.interruptId".to_owned(), message })
                    }
                    AnswerOutcome::Stale(message) => {
                        Err(Error::Argument { place: "input.interruptId".to_owned(), message })
                    }
                    AnswerOutcome::Own(beginner) => {
                        let message =
                            format!("somebody else than `{beginner}`, who began the run, has to answer");
                        Err(Error::Argument { place: "input.interruptId".to_owned(), message })
                    }
                }
            }
            None => {
                let begun = newest.map(|run| async move { self.run_info(run).await });
                if let Some(begun) = begun
                    && begun.await?.ended.is_none()
                {
                    // It goes on: the same turn may be taken when it asks or has ended.
                    return Err(Error::Overloaded { what: "turns of the session" });
                }
                self.begun(Some(session), &info.workflow, turn, call).await
            }
        }
    }

    async fn begun(
        &self,
        session: Option<Uuid>,
        workflow: &str,
        turn: &Turn,
        call: &Call,
    ) -> Result<(Uuid, Uuid), Error> {
        let (input, words) = self.input_of(workflow, turn).await?;
        let start = StartRun { flow: workflow.to_owned(), session, input, deadline: turn.deadline };
        // Of a session that is there already, it is known.
        let of_session = turn.session_deadline.filter(|_| start.session.is_none());
        let of_session = of_session.map(|deadline| within(deadline, SESSION_DEADLINE)).transpose()?;
        let begun = self.start_run_with(&start, of_session, call).await;
        let run = begun.map_err(|error| place_in_turn(error, &words))?;
        Ok((run.session.id, run.id))
    }

    /// What a run is begun with for what was said, and which of its fields has the words.
    async fn input_of(&self, workflow: &str, turn: &Turn) -> Result<(Value, String), Error> {
        let place = || "input.text".to_owned();
        let text = turn.text.as_deref().filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            Error::Argument { place: place(), message: "words are expected: nothing is asked".to_owned() }
        })?;
        let input = self.code_named(workflow).await?.turn_input(text).ok_or_else(|| Error::Argument {
            place: place(),
            message: format!("the flow `{workflow}` holds no conversations: start a run of it"),
        });
        let mut input = input?;
        let words = input.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
        if let Some(fields) = input.as_object_mut() {
            // The words stand, whatever is called like them.
            turn.options.iter().for_each(|(name, value)| {
                fields.entry(name.clone()).or_insert_with(|| value.clone());
            });
        }
        Ok((input, words))
    }

    /// The newest runs of a session that no other one waits for: those that a repeated request may be an answer to. Callers who are
    /// limited to some programs have those of these.
    async fn newest_runs(&self, session: Uuid) -> Result<Vec<Uuid>, Error> {
        let programs = self.only().map(<[Uuid]>::to_vec);
        let filter = RunFilter { session: Some(session), programs, roots: true, ..RunFilter::default() };
        let runs = self.store().runs(&filter, None, REPEATED).await?;
        Ok(runs.into_iter().map(|run| run.id).collect())
    }

    /// The run at the beginning of those that wait for a run.
    async fn root_of(&self, run: Uuid) -> Result<Uuid, Error> {
        let mut root = run;
        while let Some((parent, _)) = self.store().run(root).await?.and_then(|row| row.parent)
            // One that has waited may have been removed.
            && self.store().run(parent).await?.is_some()
        {
            root = parent;
        }
        Ok(root)
    }

    /// Whether a run has taken an answer of a request.
    async fn took_before(&self, run: Uuid, request: &str) -> Result<bool, Error> {
        let row = self.store().run(run).await?.ok_or_else(|| Error::not_found("run", run))?;
        Ok(self.stored_run(&row).await?.has_taken(request))
    }

    /// What the runs of a session ask, the oldest first.
    async fn open_questions(&self, session: Uuid) -> Result<Vec<InterruptInfo>, Error> {
        let filter = InterruptFilter {
            session: Some(session),
            standing: Some(InterruptStanding::Open),
            ..InterruptFilter::default()
        };
        Ok(self.interrupt_page(&filter, None, 100).await?.items)
    }
}

/// What was said, as the answer to a question. Nothing of it is lost: words where yes or no is expected are feedback.
fn answer_of(ask: &Ask, turn: &Turn) -> Value {
    let words = turn.text.as_ref().or(turn.feedback.as_ref());
    match ask.kind {
        AskKind::NeedConfirm => {
            let said: Vec<&str> =
                [&turn.text, &turn.feedback].into_iter().flatten().map(String::as_str).collect();
            let feedback = (!said.is_empty()).then(|| said.join("\n"));
            let mut answer = json!({ "confirm": turn.confirm.unwrap_or(false) });
            if let Some(feedback) = &feedback {
                answer["feedback"] = json!(feedback);
            }
            match (turn.confirm, feedback) {
                (None, None) => json!({}),
                _ => answer,
            }
        }
        AskKind::NeedClarification => match words.or(turn.choice.as_ref()) {
            Some(words) => json!({ "text": words }),
            None => json!({}),
        },
        AskKind::NeedChoice | AskKind::Escalation => {
            let named = words.filter(|words| ask.choices.contains(words));
            let choice = turn.choice.as_ref().or(named);
            let mut answer = json!({});
            if let Some(choice) = choice {
                answer["choice"] = json!(choice);
            }
            if let Some(words) = words.filter(|words| Some(*words) != choice) {
                answer["text"] = json!(words);
            }
            answer
        }
    }
}

/// Places what is wrong with the input of a run where a turn has it: its words in `text`, everything else in `options`.
fn place_in_turn(error: Error, words: &str) -> Error {
    let Error::Argument { place, message } = error else { return error };
    let place = match place.strip_prefix("input.input").map(|field| field.trim_start_matches('.')) {
        None => place,
        Some("") => "input.options".to_owned(),
        Some(field) => {
            let first = field.split(['.', '[']).next().unwrap_or_default();
            match first == words {
                true => "input.text".to_owned(),
                false => format!("input.options.{field}"),
            }
        }
    };
    Error::Argument { place, message }
}
