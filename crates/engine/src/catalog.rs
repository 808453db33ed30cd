//! The programs of a database: making, finding, renaming and deleting them.

use std::future::Future;
use std::sync::Arc;

use lmlang_history::Provenance;
use lmlang_history::line::Line;
use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_ir::text::{self, Places, TextError, parse_program_with_places, read_program};
use lmlang_ir::{Program, RefAllocator};
use lmlang_store::{
    CarriedOut, CreateProgramError, FIRST_SEQ, Idempotency, NewProgram, ProgramRequest, Timestamp,
    UpdateProgramError,
};
use lmlang_verify::{Checked, Class, Code, Diagnostic};
use lmlang_wasm::ImportError;
use uuid::Uuid;

use crate::branches::{Branches, MAIN_BRANCH, Tip};
use crate::checkpoints::Checkpoints;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::events::{Change, Event};
use crate::opening::threads;
use crate::records;
use crate::request::Call;
use crate::snapshots::Snapshots;
use crate::timeline::{Head, Revision, Timeline};
use crate::window::Window;

/// A program's row in the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInfo {
    pub(crate) key: lmlang_store::ProgramKey,
    /// Its id.
    pub id: Uuid,
    /// Its name, unique among programs that are not deleted.
    pub name: String,
    /// What it is for; empty if nobody said.
    pub doc: String,
    /// When it was made, in microseconds of UTC.
    pub created: i64,
}

impl From<lmlang_store::Program> for ProgramInfo {
    fn from(row: lmlang_store::Program) -> ProgramInfo {
        ProgramInfo { key: row.key, id: row.id, name: row.name, doc: row.doc, created: row.created.0 }
    }
}

/// How a caller names a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By id.
    Id(Uuid),
    /// By name.
    Name(String),
}

/// Programs by name.
#[derive(Clone, Debug)]
pub struct ProgramPage {
    /// The programs of this page.
    pub programs: Vec<Arc<ProgramInfo>>,
    /// Whether more follow.
    pub more: bool,
    /// How many match altogether.
    pub total: u64,
}

/// What a new program begins with.
#[derive(Clone, Debug)]
pub struct NewProgramRequest {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// Its first content.
    pub content: Content,
}

/// The first content of a program.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing.
    Empty,
    /// What a text says. Refs in it are kept.
    Text(String),
    /// A WebAssembly module.
    Wasm(Vec<u8>),
    /// A WebAssembly module as text.
    Wat(String),
    /// That of another program. Refs are kept.
    Fork(Arc<Revision>),
}

impl From<Option<String>> for Content {
    fn from(text: Option<String>) -> Content {
        text.map_or(Content::Empty, Content::Text)
    }
}

/// What became of a request to make a program.
#[derive(Debug)]
pub enum Creation {
    /// It is there.
    Created(OpenProgram),
    /// The text has errors; nothing is stored.
    Rejected {
        /// Errors of the text form.
        text: Vec<TextError>,
        /// The program with what the verifier found in it, as far as the text could be read; see [`is_of_text`].
        checked: Option<Box<Checked>>,
        /// Where the entities of that program stand in the text.
        places: Places,
    },
}

/// A program that was given another name or doc.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The program.
    pub open: OpenProgram,
    /// Its row since then, though it may have changed again.
    pub info: Arc<ProgramInfo>,
    /// The newest revision of its content then.
    pub revision: Arc<Revision>,
}

/// How many programs are looked at for a name like a given one.
const LOOKED_AT: u64 = 1_000;

impl Engine {
    /// A live program.
    pub async fn find(&self, selector: &Selector) -> Result<OpenProgram, Error> {
        if let Selector::Id(id) = selector {
            if !self.sees(*id) {
                return Err(Error::not_found("program", id.to_string()));
            }
            if let Some(open) = self.opened(*id) {
                return Ok(open);
            }
        }
        if let Selector::Name(name) = selector
            && let Some(open) = self.opened_as(name)
        {
            return Ok(open);
        }
        let (row, given) = match selector {
            Selector::Id(id) => (self.store().program_by_id(*id).await?, id.to_string()),
            Selector::Name(name) => (self.store().program_by_name(name).await?, name.clone()),
        };
        match row.filter(|row| self.sees(row.id)) {
            Some(row) if row.deleted.is_none() => self.open(&Arc::new(row.into())).await,
            Some(_) => Err(Error::NotFound { what: "program", given, candidates: Vec::new(), retired: true }),
            None => {
                let (candidates, retired) = match selector {
                    Selector::Id(_) => (Vec::new(), false),
                    Selector::Name(name) => {
                        let retired = self.store().was_deleted(name, self.only()).await?;
                        (self.near_programs(name).await?, retired)
                    }
                };
                Err(Error::NotFound { what: "program", given, candidates, retired })
            }
        }
    }

    /// A program that was there once, deleted or not: what happened to it can still be looked at.
    pub async fn find_recorded(&self, id: Uuid) -> Result<OpenProgram, Error> {
        match self.find(&Selector::Id(id)).await {
            Err(Error::NotFound { retired: true, given, .. }) => {
                let mut last = self.0.deleted.lock().await;
                if let Some(open) = last.as_ref().filter(|open| open.timeline.id() == id) {
                    return Ok(open.clone());
                }
                let row = self.store().program_by_id(id).await?;
                let row = row.ok_or_else(|| Error::not_found("program", given))?;
                let open = Box::pin(self.load(&Arc::new(row.into()))).await?;
                Ok(last.insert(open).clone())
            }
            found => found,
        }
    }

    /// Names of live programs that look like a given one, among the first thousand.
    pub(crate) async fn near_programs(&self, name: &str) -> Result<Vec<String>, Error> {
        let page = self.store().programs(None, None, self.only(), LOOKED_AT).await?;
        Ok(text::nearest(name, page.programs.iter().map(|program| program.name.as_str())))
    }

    /// Live programs by name, after a name, containing a text.
    pub async fn programs(
        &self,
        after: Option<&str>,
        search: Option<&str>,
        first: usize,
    ) -> Result<ProgramPage, Error> {
        let page = self.store().programs(after, search, self.only(), first as u64 + 1).await?;
        let more = page.programs.len() > first;
        let programs = page.programs.into_iter().take(first).map(|row| Arc::new(row.into())).collect();
        Ok(ProgramPage { programs, more, total: page.total })
    }

    /// Makes a program. Nothing is stored when a text has an error.
    pub async fn create_program(
        &self,
        mut request: NewProgramRequest,
        call: &Call,
    ) -> Result<Creation, Error> {
        check_name("name", &request.name, self.limits().name_length)?;
        let bytes = match &request.content {
            Content::Empty | Content::Fork(_) => 0,
            Content::Text(text) | Content::Wat(text) => text.len(),
            Content::Wasm(module) => module.len(),
        };
        if bytes > self.limits().text_bytes {
            let limit = self.limits().text_bytes as u64;
            return Err(Error::Limit { which: "textBytes", limit, actual: bytes as u64 });
        }
        let room = match &request.content {
            Content::Wasm(_) | Content::Wat(_) => self.import_room(bytes).await?,
            Content::Empty | Content::Text(_) | Content::Fork(_) => None,
        };
        let content = std::mem::replace(&mut request.content, Content::Empty);
        // Reading and checking much takes long: not on the runtime's threads.
        let built = self.compute(move || build(&content)).await?;
        let (checked, refs) = match built {
            Ok(built) => built,
            Err(Mistakes::Text(text, checked, places)) => {
                return Ok(Creation::Rejected { text, checked, places });
            }
            Err(Mistakes::Module(error)) => return Err(error.into()),
        };
        let (engine, call) = (self.clone(), call.clone());
        let store = async move {
            let stored = engine.store_program(request, checked, refs, &call).await;
            drop(room);
            stored
        };
        self.to_end(store).await
    }

    /// Stores a program and takes it in.
    async fn store_program(
        &self,
        request: NewProgramRequest,
        checked: Checked,
        refs: RefAllocator,
        call: &Call,
    ) -> Result<Creation, Error> {
        let (id, now) = (self.0.clock.id(), self.0.clock.now());
        let difference = lmlang_history::diff(&Program::new(), checked.program());
        let header = Header {
            number: FIRST_SEQ,
            id: self.0.clock.entry_id().into_bytes(),
            parents: Vec::new(),
            branch: MAIN_BRANCH,
            branch_name: None,
            kind: RevisionKind::Create,
            actor: call.actor.clone(),
            on_behalf_of: call.on_behalf_of.clone(),
            message: call.message.clone(),
            time: now.0,
            counts: difference.counts(),
            root_hash: checked.program().root_hash(),
            next_ref: refs.watermark(),
            target: None,
            reverts: Vec::new(),
            also_reverts: Vec::new(),
            resolved: Vec::new(),
            rests: Vec::new(),
            name: None,
            names: Vec::new(),
            idempotency: call.idempotency.clone(),
            origin: call.origin,
        };
        let entry = Entry::new(header, difference.edits);
        let stored = records::to_row(self, &entry).await?;
        let bytes = stored.edits.len();
        let program = NewProgram { id, name: request.name.clone(), doc: request.doc.clone(), created: now };
        let _catalog = self.0.catalog.lock().await;
        let key = match self.store().create_program(program, vec![stored]).await {
            Ok(key) => key,
            Err(CreateProgramError::NameTaken { name }) => {
                return Err(Error::NameTaken { what: "program", name });
            }
            Err(CreateProgramError::KeyTaken { program }) => return self.created_before(program, call).await,
            Err(CreateProgramError::IdTaken) => return Err(Error::bad_request("the program's id is in use")),
            Err(CreateProgramError::Entries(error)) => return Err(Error::bad_request(error.to_string())),
            Err(CreateProgramError::Storage(fault)) => return Err(fault.into()),
        };
        let info = Arc::new(ProgramInfo { key, id, name: request.name, doc: request.doc, created: now.0 });
        let revision = Arc::new(Revision { entry: entry.header, checked });
        let line = Line::replay([revision.entry.step()]).map_err(|_| Error::Closed)?;
        let head = Head {
            last: FIRST_SEQ,
            last_id: Uuid::from_bytes(revision.entry.id),
            main: Tip {
                branch: MAIN_BRANCH,
                name: None,
                revision: Arc::clone(&revision),
                line,
                provenance: Provenance::default(),
            },
            branches: Branches::default(),
            checkpoints: Checkpoints::default(),
        };
        let mut window = Window::of(self.limits());
        window.push(revision, bytes);
        let snapshots = Snapshots::default();
        let timeline = Timeline::start(self, info, head, window, refs, snapshots);
        let open = self.remember(OpenProgram { timeline }).await;
        if let Err(error) = self.catch_up(&open).await {
            // It is made; what others have done to it since is heard of with what they do next.
            tracing::warn!(program = %open.timeline.id(), %error, "a new program could not be brought up to date");
        }
        self.snapshot_if_due(&open, MAIN_BRANCH, bytes);
        self.tell_program(&open, Change::Added, now);
        Ok(Creation::Created(open))
    }

    /// Answers a repeated creation with the program that the first one made.
    async fn created_before(&self, key: lmlang_store::ProgramKey, call: &Call) -> Result<Creation, Error> {
        let first = self.store().header(key, FIRST_SEQ).await?;
        let same = match first {
            Some(row) => records::header(self, row).await?.idempotency == call.idempotency,
            None => false,
        };
        if !same {
            return Err(Error::IdempotencyMismatch);
        }
        match self.store().program(key).await? {
            Some(row) if row.deleted.is_none() => {
                Ok(Creation::Created(self.open(&Arc::new(row.into())).await?))
            }
            Some(row) => {
                let given = row.id.to_string();
                Err(Error::NotFound { what: "program", given, candidates: Vec::new(), retired: true })
            }
            None => Err(Error::not_found("program", key.to_string())),
        }
    }

    /// Gives a program another name or doc; what is `None` stays. A repeated request is answered as the first one.
    pub async fn update_program(
        &self,
        selector: &Selector,
        name: Option<&str>,
        doc: Option<&str>,
        call: &Call,
    ) -> Result<Updated, Error> {
        if let Some(name) = name {
            check_name("name", name, self.limits().name_length)?;
        }
        let first = match self.once(call, self.update(selector, name, doc, call)).await? {
            Once::Now(updated) => return Ok(updated),
            Once::Before(first) => first,
        };
        let row = self.store().program(first.program).await?.filter(|row| self.sees(row.id));
        let row = row.ok_or_else(|| Error::not_found("program", first.program.to_string()))?;
        let open = self.find_recorded(row.id).await?;
        let revision = self.state(&open, first.seq).await?;
        let revision = revision.ok_or_else(|| Error::not_found("revision", format!("r{}", first.seq)))?;
        let info = ProgramInfo { name: first.name, doc: first.doc, ..(*open.info()).clone() };
        Ok(Updated { open, info: Arc::new(info), revision })
    }

    async fn update(
        &self,
        selector: &Selector,
        name: Option<&str>,
        doc: Option<&str>,
        call: &Call,
    ) -> Result<Updated, Error> {
        let open = self.find(selector).await?;
        let (engine, call) = (self.clone(), call.clone());
        let (name, doc) = (name.map(str::to_owned), doc.map(str::to_owned));
        self.to_end(async move { engine.rename(open, name, doc, &call).await }).await
    }

    /// Carries out a request that changes a program as a whole, unless one with its key was.
    async fn once<T>(
        &self,
        call: &Call,
        carry_out: impl Future<Output = Result<T, Error>>,
    ) -> Result<Once<T>, Error> {
        // Before the program is looked for: its name may be another one's by now.
        if let Some(first) = self.carried_out(call).await? {
            return Ok(Once::Before(first));
        }
        match carry_out.await {
            Ok(done) => Ok(Once::Now(done)),
            // Perhaps because the same request was carried out meanwhile.
            Err(error) => self.carried_out(call).await?.map(Once::Before).ok_or(error),
        }
    }

    /// What the request with the key of a call left behind.
    async fn carried_out(&self, call: &Call) -> Result<Option<CarriedOut>, Error> {
        let Some(idempotency) = &call.idempotency else { return Ok(None) };
        match self.store().carried_out(&idempotency.key).await? {
            Some(first) if first.digest != idempotency.digest => Err(Error::IdempotencyMismatch),
            first => Ok(first),
        }
    }

    async fn rename(
        &self,
        open: OpenProgram,
        name: Option<String>,
        doc: Option<String>,
        call: &Call,
    ) -> Result<Updated, Error> {
        let _catalog = self.0.catalog.lock().await;
        let before = open.info();
        let (now, revision) = (self.0.clock.now(), open.timeline.head().main.revision.clone());
        let request = request(call, now, revision.entry.number);
        match self.store().update_program(before.key, name.as_deref(), doc.as_deref(), request).await {
            Ok(()) => {}
            Err(UpdateProgramError::NameTaken { name }) => {
                return Err(Error::NameTaken { what: "program", name });
            }
            Err(UpdateProgramError::NoProgram) => {
                return Err(Error::not_found("program", before.id.to_string()));
            }
            Err(UpdateProgramError::Storage(fault)) => return Err(fault.into()),
        }
        let after = ProgramInfo {
            name: name.unwrap_or_else(|| before.name.clone()),
            doc: doc.unwrap_or_else(|| before.doc.clone()),
            ..(*before).clone()
        };
        if after != *before {
            let change = if after.name == before.name { Change::Modified } else { Change::Renamed };
            open.timeline.set_info(after.clone());
            self.tell_program(&open, change, now);
        }
        Ok(Updated { open, info: Arc::new(after), revision })
    }

    /// Deletes a program: it takes no more entries and no list shows it. Others are not touched.
    ///
    /// Answers whether it was there; a repeated request is answered as the first one.
    pub async fn delete_program(&self, selector: &Selector, call: &Call) -> Result<bool, Error> {
        match self.once(call, self.delete(selector, call)).await? {
            Once::Now(true) | Once::Before(_) => Ok(true),
            // It is gone, perhaps because the same request was carried out meanwhile.
            Once::Now(false) => Ok(self.carried_out(call).await?.is_some()),
        }
    }

    async fn delete(&self, selector: &Selector, call: &Call) -> Result<bool, Error> {
        let open = self.find(selector).await?;
        let (engine, call) = (self.clone(), call.clone());
        let delete = async move {
            let _catalog = engine.0.catalog.lock().await;
            // What keeps other processes from the log while something is planned would keep this from it, and be behind it in line.
            let _writer = match engine.store().is_alone() {
                true => None,
                false => Some(open.timeline.unheld().await),
            };
            let info = open.info();
            let now = engine.0.clock.now();
            let request = request(&call, now, open.timeline.head().main.revision.entry.number);
            let deleted = engine.store().delete_program(info.key, request).await?;
            engine.forget(info.id);
            if deleted {
                engine.tell_program(&open, Change::Removed, now);
            }
            Ok(deleted)
        };
        self.to_end(delete).await
    }

    /// Tells subscribers what became of a program.
    pub(crate) fn tell_program(&self, open: &OpenProgram, change: Change, now: Timestamp) {
        let name = open.info().name.clone();
        let bytes = name.len();
        open.tell(Event::Program { name, change, time: now.0 }, bytes);
        if change == Change::Removed {
            open.timeline.gone().cancel();
        }
    }
}

/// A request that is carried out once.
enum Once<T> {
    /// It was carried out.
    Now(T),
    /// It had been before.
    Before(CarriedOut),
}

/// A call as the store keeps it.
fn request(call: &Call, time: Timestamp, seq: u64) -> ProgramRequest {
    let idempotency = call.idempotency.clone();
    let idempotency = idempotency.map(|given| Idempotency { key: given.key, digest: given.digest.to_vec() });
    ProgramRequest { time, idempotency, seq }
}

/// Why a program is not made.
enum Mistakes {
    Text(Vec<TextError>, Option<Box<Checked>>, Places),
    Module(ImportError),
}

fn build(content: &Content) -> Result<(Checked, RefAllocator), Mistakes> {
    let mut refs = RefAllocator::starting_at(1);
    let program = match content {
        Content::Empty => Program::new(),
        Content::Text(text) => {
            text::parse_program(text, &mut refs).map_err(|mistakes| in_parts(text, mistakes))?
        }
        Content::Wasm(module) => lmlang_wasm::import(module, &mut refs).map_err(Mistakes::Module)?,
        Content::Wat(text) => lmlang_wasm::binary(text)
            .and_then(|module| lmlang_wasm::import(&module, &mut refs))
            .map_err(|error| Mistakes::Module(error.in_text(text)))?,
        Content::Fork(revision) => {
            let mut refs = RefAllocator::starting_at(revision.entry.next_ref);
            refs.reserve(revision.checked.program().largest_number());
            return Ok((revision.checked.clone(), refs));
        }
    };
    let text = match content {
        Content::Text(text) => Some(text),
        Content::Empty | Content::Wasm(_) | Content::Wat(_) | Content::Fork(_) => None,
    };
    let checked = Checked::full(program, threads());
    let tally = checked.findings().tally();
    if tally.errors + tally.stale > 0 {
        // The same refs again, now with places.
        let again = text.map(|text| parse_program_with_places(text, &mut RefAllocator::starting_at(1)));
        let places = again.and_then(Result::ok).map_or_else(Places::default, |(_, places)| places);
        if checked.findings().iter().any(|(_, found)| refuses(found, &places)) {
            return Err(Mistakes::Text(Vec::new(), Some(Box::new(checked)), places));
        }
    }
    Ok((checked, refs))
}

/// The mistakes of a text with what the verifier finds in that of it which can be read.
fn in_parts(text: &str, mistakes: Vec<TextError>) -> Mistakes {
    match read_program(text, &mut RefAllocator::starting_at(1)).program {
        Some((program, places)) => {
            Mistakes::Text(mistakes, Some(Box::new(Checked::full(program, threads()))), places)
        }
        None => Mistakes::Text(mistakes, None, Places::default()),
    }
}

/// Tells whether a finding about what can be read of a text with mistakes is about the text: what is left out makes findings
/// of other kinds.
pub fn is_of_text(found: &Diagnostic) -> bool {
    found.code == Code::TypeMismatch
}

/// Tells whether a program is not made from a text because of a finding about it.
///
/// What a change elsewhere has left behind is no error in a text that was exported: it gives the refs of what was there. In
/// one that is new nothing can have been left behind.
pub fn refuses(found: &Diagnostic, places: &Places) -> bool {
    match found.class() {
        Class::Error => true,
        Class::Stale => !places.is_tagged(found.at.entity.number),
        Class::Incomplete | Class::Warning => false,
    }
}

/// Refuses names of more than `limit` characters.
pub(crate) fn check_length(name: &str, limit: usize) -> Result<(), Error> {
    let length = name.chars().count();
    if length > limit {
        return Err(Error::Limit { which: "nameLength", limit: limit as u64, actual: length as u64 });
    }
    Ok(())
}

/// Refuses names that could be taken for something else.
pub(crate) fn check_name(argument: &str, name: &str, limit: usize) -> Result<(), Error> {
    check_length(name, limit)?;
    if name.trim().is_empty() {
        return Err(Error::bad_request(format!("`{argument}` must not be empty")));
    }
    if name.chars().any(|c| matches!(c, '@' | '/') || text::is_unseen(c)) {
        return Err(Error::bad_request(format!(
            "`{argument}` must not contain `@`, `/` or control characters"
        )));
    }
    if Uuid::try_parse(name).is_ok() {
        // Wherever a program is named by id or name, it would be taken for the id.
        return Err(Error::bad_request(format!("`{argument}` must not look like an id, found `{name}`")));
    }
    Ok(())
}
