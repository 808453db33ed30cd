//! Clients: what they ask for, and what they know of it.
//!
//! Whoever gets no answer, or one that leaves open what happened, asks again under the same key until it is known.

use std::sync::Arc;

use lmlang_engine::{
    Arrival, Call, Content, Creation, Distance, Engine, Error, MergeRequest, NewProgramRequest, OpenProgram,
    Outcome, Proposal, RevertRequest, Revision, Selector, Travel, Way, Which,
};
use lmlang_history::request::{AddText, EditRequest, ReplaceText};
use lmlang_ir::text::{Detail, print_program};
use lmlang_store::Fault;

use super::plan::{Ask, What, Work};
use crate::fixture::call;

/// A program with a function that everybody changes.
pub(crate) const TEXT: &str = "module app\n\nfunc shared() -> (i64) {\n  v = const.i64 0\n  return v\n}\n";

/// What all clients know, as of the beginning of a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) programs: Vec<String>,
    /// Programs and names.
    branches: Vec<(String, String)>,
    checkpoints: Vec<(String, String)>,
    /// Programs and numbers of revisions.
    revisions: Vec<(String, u64)>,
}

impl Known {
    /// Takes in what a client has learnt.
    pub(crate) fn learn(&mut self, found: Known) {
        self.programs.extend(found.programs);
        self.branches.extend(found.branches);
        self.checkpoints.extend(found.checkpoints);
        self.revisions.extend(found.revisions);
    }
}

/// A request, with all particulars: a repetition is the same.
#[derive(Clone, Debug)]
enum Request {
    Propose(Proposal),
    Travel(String, Travel),
    Checkpoint { program: String, name: String, at: Option<String> },
    Branch { program: String, name: String, at: Option<String> },
    ForgetCheckpoint { program: String, name: String },
    ForgetBranch { program: String, name: String },
    Merge(String, MergeRequest),
    Revert(String, RevertRequest),
    Create(NewProgramRequest),
}

/// What is known of a request.
#[derive(Debug)]
pub(crate) struct Deed {
    pub(crate) key: String,
    pub(crate) fate: Fate,
}

#[derive(Debug)]
pub(crate) enum Fate {
    /// It made an entry; with its number and the hash of its state, where the answer tells them.
    Made { program: String, entry: Option<(u64, [u8; 32])> },
    /// It made none.
    Not,
}

/// A request without an answer.
struct Pending {
    key: String,
    request: Request,
    /// Whether it may have been carried out.
    open: bool,
}

pub(crate) struct Client {
    pub(crate) number: usize,
    asked: usize,
    pending: Option<Pending>,
    pub(crate) known: Arc<Known>,
    /// What it has learnt since.
    pub(crate) found: Known,
    pub(crate) deeds: Vec<Deed>,
    /// What was said, for whoever reads of a failure.
    pub(crate) trail: Vec<String>,
    /// An answer that cannot be.
    pub(crate) wrong: Option<String>,
}

/// What an answer comes to.
enum Answer {
    Made(Option<Arc<Revision>>),
    Number(u64),
    Not(String),
}

impl Client {
    pub(crate) fn new(number: usize) -> Client {
        Client {
            number,
            asked: 0,
            pending: None,
            known: Arc::default(),
            found: Known::default(),
            deeds: Vec::new(),
            trail: Vec::new(),
            wrong: None,
        }
    }

    /// Whether it knows what became of all that it asked for.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending.is_none()
    }

    /// Makes a program, without faults.
    pub(crate) async fn begin(&mut self, engine: &Engine, name: &str) {
        let request = Request::Create(creation(name));
        self.pending = Some(Pending { key: format!("first_{name}"), request, open: false });
        self.ask(engine).await;
        assert!(self.is_settled(), "{:?}", self.trail);
    }

    /// Does what it is to do in a round, as far as it gets.
    pub(crate) async fn work(&mut self, engine: &Engine, work: &Work) {
        if let Some(failed) = self.pending.take_if(|pending| !pending.open && !work.persists) {
            self.trail.push(format!("{}: given up", failed.key));
            self.deeds.push(Deed { key: failed.key, fate: Fate::Not });
        }
        self.insist(engine).await;
        for ask in &work.asks {
            if self.pending.is_some() || self.wrong.is_some() {
                return;
            }
            self.asked += 1;
            let key = format!("c{}_{}", self.number, self.asked);
            let request = self.request(ask, &key);
            self.trail.push(format!("{key}: {request:?}"));
            self.pending = Some(Pending { key, request, open: false });
            self.insist(engine).await;
        }
    }

    /// Asks until there is an answer; not for ever.
    async fn insist(&mut self, engine: &Engine) {
        for _ in 0..2 {
            self.ask(engine).await;
        }
    }

    async fn ask(&mut self, engine: &Engine) {
        let Some(pending) = &mut self.pending else { return };
        let was_open = std::mem::replace(&mut pending.open, true);
        let (key, request) = (pending.key.clone(), pending.request.clone());
        let answer = request.send(engine, &key).await;
        self.trail.push(match &answer {
            Ok(Answer::Made(Some(after))) => format!("{key} made r{}", after.entry.number),
            Ok(Answer::Made(None)) => format!("{key} made it"),
            Ok(Answer::Number(number)) => format!("{key} made entry {number}"),
            Ok(Answer::Not(reason)) => format!("{key} did nothing: {reason}"),
            Err(error) => format!("{key}: {error}"),
        });
        let fate = match answer {
            Ok(Answer::Not(_)) => Fate::Not,
            Ok(Answer::Made(after)) => {
                if let Some(after) = &after {
                    if let Some(missing) = request.missing_in(after) {
                        self.wrong = Some(format!("{key}: `{missing}` is not in r{}", after.entry.number));
                    }
                    self.found.revisions.push((request.program().to_owned(), after.entry.number));
                }
                self.learn(&request);
                let entry = after.map(|after| (after.entry.number, after.entry.root_hash.0));
                Fate::Made { program: request.program().to_owned(), entry }
            }
            Ok(Answer::Number(number)) => {
                self.learn(&request);
                self.found.revisions.push((request.program().to_owned(), number));
                Fate::Made { program: request.program().to_owned(), entry: None }
            }
            Err(error) => match verdict(&error) {
                Verdict::Refused => Fate::Not,
                Verdict::Open => return,
                Verdict::Failed => {
                    self.pending.as_mut().expect("it was asked").open = was_open;
                    return;
                }
                Verdict::Wrong => {
                    self.wrong = Some(format!("{key}: {error:?}"));
                    return;
                }
            },
        };
        self.pending = None;
        self.deeds.push(Deed { key, fate });
    }

    /// Notes what there is by a request that was carried out.
    fn learn(&mut self, request: &Request) {
        match request {
            Request::Checkpoint { program, name, .. } => {
                self.found.checkpoints.push((program.clone(), name.clone()));
            }
            Request::Branch { program, name, .. } => {
                self.found.branches.push((program.clone(), name.clone()))
            }
            Request::Create(creation) => self.found.programs.push(creation.name.clone()),
            _ => {}
        }
    }

    /// Makes a request of what is known.
    fn request(&self, ask: &Ask, key: &str) -> Request {
        let [of, on, far, old, also, dry] = ask.numbers;
        let pick = |from: &[String], number: usize| from.get(number % from.len().max(1)).cloned();
        let program = pick(&self.known.programs, of).expect("there is one");
        let named = |all: &[(String, String)]| -> Vec<String> {
            all.iter().filter(|(of, _)| *of == program).map(|(_, name)| name.clone()).collect()
        };
        let (mut branches, checkpoints) = (named(&self.known.branches), named(&self.known.checkpoints));
        branches.insert(0, "main".to_owned());
        let branch = pick(&branches, on).expect("there is one");
        // Now and then the newest revision, else one of the last that are known.
        let revisions = &self.known.revisions;
        let mut revisions: Vec<u64> =
            revisions.iter().filter(|(of, _)| *of == program).map(|(_, number)| *number).collect();
        revisions.sort_unstable();
        let revision = revisions.iter().rev().nth(old / 2 % 6);
        let revision = revision.map(|number| format!("r{number}"));
        let seen = revision.clone().filter(|_| old % 2 == 0);
        let dry_run = dry % 8 == 0;
        let travel = |way| {
            let expected_head = seen.clone().filter(|_| also % 4 == 0);
            Request::Travel(program.clone(), Travel { branch: branch.clone(), way, expected_head, dry_run })
        };
        let propose = |base, edit| {
            let program = Selector::Name(program.clone());
            let (require_complete, verify_all) = (false, also % 8 == 0);
            let edits = vec![edit];
            let branch = branch.clone();
            Request::Propose(Proposal { program, branch, base, edits, dry_run, require_complete, verify_all })
        };
        let (name, at) = (key.to_owned(), seen.clone());
        match ask.what {
            What::Add => {
                let text = format!("func f_{key}() -> () pure {{\n  return\n}}\n");
                propose(seen, EditRequest::AddText(AddText { module: Some("app".to_owned()), text }))
            }
            What::Replace => {
                let text = format!("func shared() -> (i64) {{\n  v = const.i64 {far}\n  return v\n}}\n");
                let edit = ReplaceText { of: "app::shared".to_owned(), text, if_hash: None };
                propose(seen, EditRequest::ReplaceFunctionText(edit))
            }
            What::Undo => travel(Way::Undo(Distance::Steps(1 + far as u64 % 3))),
            What::Redo => travel(Way::Redo(Distance::Steps(1 + far as u64 % 2))),
            What::Restore => {
                travel(Way::Restore(pick(&checkpoints, far).unwrap_or_else(|| "none".to_owned())))
            }
            What::Revert => {
                let which = match revision {
                    Some(revision) if far % 4 > 0 => Which::Revisions(vec![revision]),
                    Some(_) | None => Which::Newest("ada".to_owned(), 1),
                };
                Request::Revert(program, RevertRequest { branch, which, expected_head: None, dry_run })
            }
            What::Checkpoint => Request::Checkpoint { program, name, at },
            What::Branch => Request::Branch { program, name, at },
            What::Merge => {
                let from = pick(&branches, far).expect("there is one");
                let (into, resolutions) = (branch, Vec::new());
                let merge = MergeRequest { from, into, resolutions, expected_head: None, dry_run };
                Request::Merge(program, merge)
            }
            What::Forget => match pick(&checkpoints, far).filter(|_| also % 2 == 0) {
                Some(name) => Request::ForgetCheckpoint { program, name },
                None => Request::ForgetBranch { program, name: branch },
            },
            What::Create => Request::Create(creation(key)),
        }
    }
}

fn creation(name: &str) -> NewProgramRequest {
    NewProgramRequest { name: name.to_owned(), doc: String::new(), content: Content::Text(TEXT.to_owned()) }
}

enum Verdict {
    /// It is not to be, now or later.
    Refused,
    /// It has not happened; it may if it is asked again.
    Failed,
    /// Nobody knows.
    Open,
    /// Such an answer there must not be.
    Wrong,
}

fn verdict(error: &Error) -> Verdict {
    match error {
        Error::NotFound { .. } | Error::BadRequest { .. } | Error::NameTaken { .. } => Verdict::Refused,
        Error::Overloaded { .. } | Error::Storage(Fault::DiskFull | Fault::Busy | Fault::ReadOnly) => {
            Verdict::Failed
        }
        Error::Closed | Error::Storage(Fault::Device(_) | Fault::ConnectionLost | Fault::Closed) => {
            Verdict::Open
        }
        _ => Verdict::Wrong,
    }
}

impl Request {
    fn program(&self) -> &str {
        match self {
            Request::Propose(Proposal { program: Selector::Name(program), .. })
            | Request::Travel(program, _)
            | Request::Checkpoint { program, .. }
            | Request::Branch { program, .. }
            | Request::ForgetCheckpoint { program, .. }
            | Request::ForgetBranch { program, .. }
            | Request::Merge(program, _)
            | Request::Revert(program, _) => program,
            Request::Create(creation) => &creation.name,
            Request::Propose(_) => unreachable!("programs are named"),
        }
    }

    /// What should be in the state that it made, and is not.
    fn missing_in(&self, after: &Revision) -> Option<String> {
        let Request::Propose(proposal) = self else { return None };
        let text = match &proposal.edits[..] {
            [EditRequest::AddText(add)] => &add.text,
            [EditRequest::ReplaceFunctionText(replace)] => &replace.text,
            _ => return None,
        };
        let line = |text: &str, number| text.lines().nth(number).unwrap_or_default().trim().to_owned();
        // The head of a function that is new, the body of one that is not.
        let wanted = match text.starts_with("func f_") {
            true => line(text, 0).split('(').next().unwrap_or_default().to_owned(),
            false => line(text, 1),
        };
        let wanted = wanted.trim_start_matches("func ").trim_start_matches("v = ").to_owned();
        let found = print_program(after.checked.program(), Detail::Full).contains(&wanted);
        (!found).then_some(wanted)
    }

    async fn send(&self, engine: &Engine, key: &str) -> Result<Answer, Error> {
        let call: Call = call().keyed(Some(key), key.as_bytes());
        let find = async |program: &str| -> Result<OpenProgram, Error> {
            engine.find(&Selector::Name(program.to_owned())).await
        };
        Ok(match self {
            Request::Propose(proposal) => match engine.propose(proposal.clone(), &call).await? {
                Outcome::Applied(applied) if applied.committed => Answer::Made(Some(applied.after)),
                Outcome::Applied(_) => Answer::Not("tried".to_owned()),
                Outcome::Rejected(rejected) => Answer::Not(format!("{:?}", rejected.errors)),
                Outcome::Conflict(_) => Answer::Not("conflict".to_owned()),
            },
            Request::Travel(program, travel) => {
                let open = find(program).await?;
                arrived(engine.travel(&open, travel, &call).await?)
            }
            Request::Merge(program, request) => {
                let open = find(program).await?;
                arrived(engine.merge(&open, request, &call).await?)
            }
            Request::Revert(program, request) => {
                let open = find(program).await?;
                arrived(engine.revert(&open, request, &call).await?.arrival)
            }
            Request::Checkpoint { program, name, at } => {
                let open = find(program).await?;
                let made = engine.create_checkpoint(&open, name, at.as_deref(), &call).await?;
                Answer::Number(made.entry)
            }
            Request::Branch { program, name, at } => {
                let open = find(program).await?;
                engine.create_branch(&open, name, at.as_deref(), &call).await?;
                Answer::Made(None)
            }
            Request::ForgetCheckpoint { program, name } => {
                let open = find(program).await?;
                engine.delete_checkpoint(&open, name, &call).await?;
                Answer::Made(None)
            }
            Request::ForgetBranch { program, name } => {
                let open = find(program).await?;
                engine.delete_branch(&open, name, &call).await?;
                Answer::Made(None)
            }
            Request::Create(creation) => match engine.create_program(creation.clone(), &call).await? {
                Creation::Created(_) => Answer::Number(1),
                Creation::Rejected { text, .. } => Answer::Not(format!("{text:?}")),
            },
        })
    }
}

fn arrived(arrival: Arrival) -> Answer {
    match arrival {
        Arrival::Made { committed: true, after, .. } => Answer::Made(Some(after)),
        Arrival::Made { .. } => Answer::Not("tried".to_owned()),
        Arrival::Nothing(reason) => Answer::Not(reason),
        Arrival::Conflict(_) => Answer::Not("conflict".to_owned()),
    }
}
