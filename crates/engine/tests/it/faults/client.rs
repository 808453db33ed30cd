//! Clients: what they ask for, and what they know of it.
//!
//! Whoever gets no answer, or one that leaves open what happened, asks again under the same key until it is known.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lmlang_engine::{
    Arrival, Call, Conflict, Content, Creation, Distance, Engine, Error, MergeRequest, NewProgramRequest,
    OpenProgram, Outcome, Proposal, Resolution, RevertRequest, Revision, Selector, StartRun, Travel, Way,
    Which,
};
use lmlang_entities::Patch;
use lmlang_history::merge::Side;
use lmlang_history::request::{AddText, EditRequest, ReplaceText};
use lmlang_ir::Ref;
use lmlang_ir::text::{Detail, print_program};
use lmlang_store::Fault;
use serde_json::json;
use uuid::Uuid;

use super::plan::{Ask, What, Work};
use crate::fixture::call;

/// A program with a function that everybody changes.
pub(crate) const TEXT: &str = "module app\n\nfunc shared() -> (i64) {\n  v = const.i64 0\n  return v\n}\n";

/// What each note is joined to.
pub(crate) const HUB: &str = "hub";

/// How often what is in conflict in a merge is decided, as more may come up by it.
const DECISIONS: usize = 4;

/// How many merges got through by what was decided, in all runs.
static DECIDED: AtomicUsize = AtomicUsize::new(0);

/// How many merges got through by what was decided.
pub(crate) fn decided() -> usize {
    DECIDED.load(Ordering::Relaxed)
}

/// What all clients know, as of the beginning of a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Names and ids of all that were made.
    pub(crate) programs: Vec<(String, Uuid)>,
    /// Those that were deleted.
    gone: Vec<String>,
    notes: Vec<String>,
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
        self.gone.extend(found.gone);
        self.notes.extend(found.notes);
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
    Merge(String, MergeRequest, Decide),
    Revert(String, RevertRequest),
    Create(NewProgramRequest),
    Delete { program: String },
    Write { note: String },
    Erase { note: String },
    Run { how: &'static str },
}

/// What is said about conflicts of a merge.
#[derive(Clone, Debug)]
enum Decide {
    Nothing,
    Take(Side),
    /// The function that everybody changes gets this text; elsewhere ours is taken.
    Write(String),
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
    /// It deleted a program.
    Deleted { program: String },
    /// It changed entities: a note is there by that, or is not any more.
    Wrote { note: String, there: bool },
    /// It began a run.
    Began { run: Uuid },
    /// It did nothing.
    Not,
    /// Nobody knows, and nobody can find out any more: the program is gone.
    Lost,
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
    Created(Uuid),
    Deleted,
    Wrote,
    Began(Uuid),
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
            Ok(Answer::Created(id)) => format!("{key} made {id}"),
            Ok(Answer::Deleted) => format!("{key} deleted it"),
            Ok(Answer::Wrote) => format!("{key} changed entities"),
            Ok(Answer::Began(run)) => format!("{key} began run {run}"),
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
            Ok(Answer::Created(id)) => {
                let program = request.program().to_owned();
                self.found.programs.push((program.clone(), id));
                self.found.revisions.push((program.clone(), 1));
                Fate::Made { program, entry: None }
            }
            Ok(Answer::Deleted) => {
                self.found.gone.push(request.program().to_owned());
                Fate::Deleted { program: request.program().to_owned() }
            }
            Ok(Answer::Wrote) => match request {
                Request::Erase { note } => Fate::Wrote { note, there: false },
                _ => {
                    self.found.notes.push(key.clone());
                    Fate::Wrote { note: key.clone(), there: true }
                }
            },
            Ok(Answer::Began(run)) => Fate::Began { run },
            // What was asked for before may have been carried out, and the program have been deleted since.
            Err(Error::NotFound { what: "program", .. }) if was_open => Fate::Lost,
            Err(error) => match verdict(&error) {
                Verdict::Refused => Fate::Not,
                Verdict::Open => return,
                // It may have begun, and not have been found afterwards.
                Verdict::Failed if matches!(request, Request::Run { .. }) => return,
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
            _ => {}
        }
    }

    /// Makes a request of what is known.
    fn request(&self, ask: &Ask, key: &str) -> Request {
        let [of, on, far, old, also, dry] = ask.numbers;
        let pick = |from: &[String], number: usize| from.get(number % from.len().max(1)).cloned();
        let programs = self.known.programs.iter().map(|(name, _)| name.clone());
        let live: Vec<String> = programs.filter(|name| !self.known.gone.contains(name)).collect();
        let program = pick(&live, of).expect("the first ones are never deleted");
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
            What::Replace => propose(seen, replacing(shared(far))),
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
                let decide = match also % 4 {
                    0 => Decide::Nothing,
                    1 => Decide::Take(Side::Ours),
                    2 => Decide::Take(Side::Theirs),
                    _ => Decide::Write(shared(far)),
                };
                Request::Merge(program, merge, decide)
            }
            What::Forget => match pick(&checkpoints, far).filter(|_| also % 2 == 0) {
                Some(name) => Request::ForgetCheckpoint { program, name },
                None => Request::ForgetBranch { program, name: branch },
            },
            What::Create => Request::Create(creation(key)),
            What::Delete => {
                let others: Vec<String> =
                    live.into_iter().filter(|name| !FIRST.contains(&name.as_str())).collect();
                match pick(&others, far) {
                    Some(program) => Request::Delete { program },
                    None => Request::Create(creation(key)),
                }
            }
            What::Erase if !self.known.notes.is_empty() => {
                Request::Erase { note: pick(&self.known.notes, far).expect("there is one") }
            }
            What::Write | What::Erase => Request::Write { note: name },
            What::Run => Request::Run { how: if far % 2 == 0 { "well" } else { "transient" } },
        }
    }
}

/// The text of the function that everybody changes.
fn shared(number: usize) -> String {
    format!("func shared() -> (i64) {{\n  v = const.i64 {number}\n  return v\n}}\n")
}

fn replacing(text: String) -> EditRequest {
    EditRequest::ReplaceFunctionText(ReplaceText { of: "app::shared".to_owned(), text, if_hash: None })
}

impl Decide {
    /// Says something about all that nothing was said about yet; tells whether there was anything.
    fn decide(&self, conflict: &Conflict, resolutions: &mut Vec<Resolution>) -> bool {
        let mut known: BTreeSet<Ref> = resolutions.iter().map(|one| one.of).collect();
        let before = resolutions.len();
        for of in conflict.conflicts.iter().filter_map(|one| one.of.parse::<Ref>().ok()) {
            if !known.insert(of) {
                continue;
            }
            let (take, edits) = match self {
                Decide::Nothing => return false,
                Decide::Take(side) => (Some(*side), Vec::new()),
                Decide::Write(text) if resolutions.is_empty() => (None, vec![replacing(text.clone())]),
                Decide::Write(_) => (Some(Side::Ours), Vec::new()),
            };
            resolutions.push(Resolution { of, take, edits });
        }
        resolutions.len() > before
    }
}

/// The programs that are there from the beginning, and stay.
pub(crate) const FIRST: [&str; 2] = ["shop", "bank"];

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
        Error::NotFound { .. }
        | Error::BadRequest { .. }
        | Error::NameTaken { .. }
        | Error::EntityConstraint(_) => Verdict::Refused,
        Error::Overloaded { .. }
        | Error::Storage(
            Fault::DiskFull | Fault::Busy | Fault::Held | Fault::NoConnection | Fault::ReadOnly,
        ) => Verdict::Failed,
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
            | Request::Delete { program }
            | Request::Merge(program, ..)
            | Request::Revert(program, _) => program,
            Request::Create(creation) => &creation.name,
            Request::Write { .. } | Request::Erase { .. } | Request::Run { .. } => {
                unreachable!("it is of no program")
            }
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
            Request::Merge(program, request, decide) => {
                let open = find(program).await?;
                let mut request = request.clone();
                for _ in 0..DECISIONS {
                    let conflict = match engine.merge(&open, &request, &call).await? {
                        Arrival::Conflict(conflict) => conflict,
                        arrival => {
                            let answer = arrived(arrival);
                            if matches!(answer, Answer::Made(_)) && !request.resolutions.is_empty() {
                                DECIDED.fetch_add(1, Ordering::Relaxed);
                            }
                            return Ok(answer);
                        }
                    };
                    if !decide.decide(&conflict, &mut request.resolutions) {
                        break;
                    }
                }
                Answer::Not("conflict".to_owned())
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
                Creation::Created(open) => Answer::Created(open.timeline.id()),
                Creation::Rejected { text, .. } => Answer::Not(format!("{text:?}")),
            },
            Request::Delete { program } => {
                match engine.delete_program(&Selector::Name(program.clone()), &call).await? {
                    true => Answer::Deleted,
                    false => Answer::Not("it was not there".to_owned()),
                }
            }
            Request::Write { note } => {
                let hub = json!({ "label": "Person", "key": HUB });
                let note = json!({ "label": "Note", "key": note });
                let joined = json!({ "from": hub, "type": "WROTE", "to": note, "props": {} });
                patch(
                    engine,
                    &json!([{ "upsert_node": hub }, { "upsert_node": note }, { "upsert_edge": joined }]),
                    &call,
                )
                .await?
            }
            Request::Erase { note } => {
                let note = json!({ "label": "Note", "key": note, "detach": true });
                patch(engine, &json!([{ "delete_node": note }]), &call).await?
            }
            Request::Run { how } => {
                let input = json!({ "how": how });
                let start = StartRun { flow: "shaky".to_owned(), session: None, input, deadline: None };
                Answer::Began(engine.start_run(&start, &call).await?.id)
            }
        })
    }
}

/// Changes entities.
async fn patch(engine: &Engine, ops: &serde_json::Value, call: &Call) -> Result<Answer, Error> {
    let patch = Patch::from_json(ops).expect("the operations are legal");
    engine.patch_entities(patch, false, call).await?;
    Ok(Answer::Wrote)
}

fn arrived(arrival: Arrival) -> Answer {
    match arrival {
        Arrival::Made { committed: true, after, .. } => Answer::Made(Some(after)),
        Arrival::Made { .. } => Answer::Not("tried".to_owned()),
        Arrival::Nothing(reason) => Answer::Not(reason),
        Arrival::Conflict(_) => Answer::Not("conflict".to_owned()),
    }
}
