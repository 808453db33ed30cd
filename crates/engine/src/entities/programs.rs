//! Programs as a graph: the newest states of `main` at the moment that a question is about.
//!
//! Which programs there are, and which revision of each is the newest, is read in the transaction that entities are read in;
//! revisions never change, so that it does not matter when one is built. A program is opened when something is asked of what
//! is in it, and a few are kept at hand.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use lmlang_entities::props::PropValue;
use lmlang_entities::{Hop, Label, Node, Page, RelationType, Stamp, Way};
use lmlang_ir::{ModuleRef, Program, Ref};
use lmlang_store::Program as Row;
use lmlang_verify::Checked;
use uuid::Uuid;

use crate::engine::Engine;
use crate::entities::links::{self, Kind, Link};
use crate::entities::part::{Part, Place, Sort};
use crate::entities::shown;
use crate::entities::stored::{PAGE, Stored};
use crate::error::Error;
use crate::opening::damaged;
use crate::timeline::Revision;

/// Programs read at a time.
const BATCH: u64 = 64;
/// Programs kept at hand.
const AT_HAND: usize = 16;

/// A program as it was at the moment.
struct Seen {
    row: Row,
    newest: OnceCell<u64>,
    revision: OnceCell<Arc<Revision>>,
    /// Its parts, in order.
    parts: RefCell<BTreeMap<Sort, Rc<[Part]>>>,
}

/// The programs of one moment that a handle of the engine may know of.
pub(crate) struct Programs<'a> {
    engine: &'a Engine,
    stored: &'a Stored,
    /// The one that was used last is the last.
    seen: RefCell<Vec<Rc<Seen>>>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(engine: &'a Engine, stored: &'a Stored) -> Programs<'a> {
        Programs { engine, stored, seen: RefCell::default() }
    }

    /// The node of a part, if that is there.
    pub(crate) fn node(&self, part: Part) -> Result<Option<Arc<Node>>, Error> {
        match self.seen(part.program)? {
            Some(seen) => self.shown(&seen, part),
            None => Ok(None),
        }
    }

    /// The next nodes of a sort after a part, or the first.
    pub(crate) fn page(&self, sort: Sort, after: Option<Part>) -> Result<Page<Arc<Node>>, Error> {
        let mut items = Vec::new();
        let begun = match after {
            Some(after) => self.seen(after.program)?,
            None => None,
        };
        let mut add = |seen: &Rc<Seen>| {
            let parts = self.parts(seen, sort)?;
            let from = after.map_or(0, |after| parts.partition_point(|part| part.order() <= after.order()));
            for part in &parts[from..] {
                if items.len() == PAGE {
                    return Ok(ControlFlow::Break(()));
                }
                items.extend(self.shown(seen, *part)?);
            }
            Ok(ControlFlow::Continue(()))
        };
        let flow = match begun.map(|seen| add(&seen)).transpose()? {
            Some(ControlFlow::Break(())) => ControlFlow::Break(()),
            Some(ControlFlow::Continue(())) | None => self.each(after.map(|after| after.program), add)?,
        };
        Ok(Page { items, more: flow.is_break() })
    }

    /// The next links of a part, in their order.
    pub(crate) fn hops(
        &self,
        part: Part,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Error> {
        self.stored.check()?;
        let mut page = Page { items: Vec::new(), more: false };
        let wanted = Kind::wanted(part.sort(), way, types);
        if wanted.is_empty() {
            return Ok(page);
        }
        let Some(seen) = self.seen(part.program)? else { return Ok(page) };
        let mut links = match (part.sort(), way) {
            (Sort::Document, _) => vec![Link::new(Kind::Describes, Part { doc: false, ..part })],
            (Sort::Program, Way::In) => {
                let doc = shown::doc(&seen.row, None, Place::Program);
                doc.map(|_| Link::new(Kind::Describes, Part { doc: true, ..part })).into_iter().collect()
            }
            (Sort::Function | Sort::Module | Sort::Program | Sort::Type, _) => {
                links::within(self.checked(&seen)?.program(), part, way, &wanted)
            }
        };
        links.sort_unstable_by_key(Link::order);
        let last = after.and_then(|hop| links::place_of(&hop.edge.relation_type, Part::of_node(&hop.other)?));
        let from = last.map_or(0, |last| links.partition_point(|link| link.order() <= last));
        for link in &links[from..] {
            if page.items.len() == PAGE {
                page.more = true;
                break;
            }
            let other = self.shown(&seen, link.other)?;
            page.items.extend(other.map(|other| Hop { edge: Arc::new(link.edge(part, way)), other }));
        }
        Ok(page)
    }

    /// Whether [`Programs::equal`] knows of a property.
    pub(crate) fn is_indexed(sort: Sort, prop: &str) -> bool {
        match sort {
            Sort::Program => prop == "name",
            Sort::Document | Sort::Function | Sort::Module | Sort::Type => {
                matches!(prop, "name" | "path" | "program" | "program_id")
            }
        }
    }

    /// The nodes of a sort whose properties may equal these values. Where the program is among them, only that is opened; a
    /// name or path is looked up in each.
    pub(crate) fn equal(&self, sort: Sort, props: &[(&str, PropValue)]) -> Result<Vec<Arc<Node>>, Error> {
        self.stored.check()?;
        let mut wanted = BTreeMap::new();
        for (prop, value) in props {
            match value {
                // Of two values one alone is enough to look for.
                PropValue::Text(text) => wanted.insert(*prop, &**text),
                // All that is indexed are texts.
                _ => return Ok(Vec::new()),
            };
        }
        let mut nodes = Vec::new();
        let mut add = |seen: &Rc<Seen>| {
            for part in self.parts_equal(seen, sort, &wanted)? {
                nodes.extend(self.shown(seen, part)?);
            }
            Ok(ControlFlow::Continue(()))
        };
        let named = if sort == Sort::Program { "name" } else { "program" };
        let one = match (wanted.get("program_id"), wanted.get(named)) {
            (Some(id), _) => Uuid::try_parse(id).map_or(Ok(None), |id| self.seen(id)).map(Some)?,
            (None, Some(name)) => Some(self.seen_as(name)?),
            (None, None) => None,
        };
        match one {
            Some(one) => one.map(|seen| add(&seen)).transpose()?,
            None => Some(self.each(None, add)?),
        };
        Ok(nodes)
    }

    /// About how many nodes of a sort there are: the programs are counted, and what is in them is guessed.
    pub(crate) fn estimate(&self, sort: Sort) -> Result<u64, Error> {
        let programs = self.stored.ask(self.stored.view.count_programs(self.engine.only()))?;
        let each = match sort {
            Sort::Program => 1,
            Sort::Module => 2,
            Sort::Type => 8,
            Sort::Document => 16,
            Sort::Function => 32,
        };
        Ok(programs.saturating_mul(each))
    }

    /// Goes through the programs after one, in the order of ids.
    fn each(
        &self,
        mut after: Option<Uuid>,
        mut visit: impl FnMut(&Rc<Seen>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut rows = VecDeque::new();
        loop {
            let Some(row) = rows.pop_front() else {
                rows.extend(self.stored.ask(self.stored.view.programs(after, self.engine.only(), BATCH))?);
                match rows.back() {
                    Some(last) => after = Some(last.id),
                    None => return Ok(ControlFlow::Continue(())),
                }
                continue;
            };
            if visit(&self.take_in(row))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// A program at the moment, if it was there then and may be known.
    fn seen(&self, id: Uuid) -> Result<Option<Rc<Seen>>, Error> {
        self.stored.check()?;
        if !self.engine.sees(id) {
            return Ok(None);
        }
        if let Some(seen) = self.at_hand(id) {
            return Ok(Some(seen));
        }
        Ok(self.stored.ask(self.stored.view.program(id))?.map(|row| self.take_in(row)))
    }

    fn seen_as(&self, name: &str) -> Result<Option<Rc<Seen>>, Error> {
        let row = self.stored.ask(self.stored.view.program_named(name))?;
        Ok(row.filter(|row| self.engine.sees(row.id)).map(|row| self.take_in(row)))
    }

    fn at_hand(&self, id: Uuid) -> Option<Rc<Seen>> {
        let mut all = self.seen.borrow_mut();
        let at = all.iter().position(|seen| seen.row.id == id)?;
        let seen = all.remove(at);
        all.push(Rc::clone(&seen));
        Some(seen)
    }

    fn take_in(&self, row: Row) -> Rc<Seen> {
        if let Some(seen) = self.at_hand(row.id) {
            return seen;
        }
        let (newest, revision) = (OnceCell::new(), OnceCell::new());
        let seen = Rc::new(Seen { row, newest, revision, parts: RefCell::default() });
        let mut all = self.seen.borrow_mut();
        if all.len() == AT_HAND {
            all.remove(0);
        }
        all.push(Rc::clone(&seen));
        seen
    }

    /// The number of its newest revision.
    fn newest(&self, seen: &Seen) -> Result<u64, Error> {
        if let Some(newest) = seen.newest.get() {
            return Ok(*newest);
        }
        let newest = self.stored.ask(self.stored.view.newest_on_main(seen.row.key))?;
        let newest = newest.ok_or_else(|| damaged(seen.row.id, 0, "no content"))?;
        Ok(*seen.newest.get_or_init(|| newest))
    }

    /// Its content. Opens it, if nobody has.
    fn checked<'s>(&self, seen: &'s Seen) -> Result<&'s Checked, Error> {
        self.stored.check()?;
        let revision = match seen.revision.get() {
            Some(revision) => revision,
            None => {
                let newest = self.newest(seen)?;
                let revision = self.stored.ask(state_then(self.engine, seen.row.id, newest))?;
                seen.revision.get_or_init(|| revision)
            }
        };
        Ok(&revision.checked)
    }

    /// All parts of a sort, in their order.
    fn parts(&self, seen: &Rc<Seen>, sort: Sort) -> Result<Rc<[Part]>, Error> {
        let program = seen.row.id;
        if sort == Sort::Program {
            return Ok(Rc::new([Part::of(program, Place::Program)]));
        }
        if let Some(parts) = seen.parts.borrow().get(&sort) {
            return Ok(Rc::clone(parts));
        }
        let checked = self.checked(seen)?;
        let content = checked.program();
        let functions = || content.functions().map(|(of, _)| Place::Function(of));
        let modules = || content.modules().map(|(of, _)| Place::Module(of));
        let types = || content.types().map(|(of, _)| Place::Type(of));
        let places: Vec<Place> = match sort {
            Sort::Program => Vec::new(),
            Sort::Function => functions().collect(),
            Sort::Module => modules().collect(),
            Sort::Type => types().collect(),
            Sort::Document => {
                let all = functions().chain(modules()).chain(types()).chain([Place::Program]);
                all.filter(|place| shown::doc(&seen.row, Some(checked), *place).is_some()).collect()
            }
        };
        let doc = sort == Sort::Document;
        let mut parts: Vec<Part> = places.into_iter().map(|place| Part { program, place, doc }).collect();
        parts.sort_unstable_by_key(|part| part.order());
        let parts: Rc<[Part]> = parts.into();
        seen.parts.borrow_mut().insert(sort, Rc::clone(&parts));
        Ok(parts)
    }

    /// The parts of a sort that may have these properties, in their order.
    fn parts_equal(
        &self,
        seen: &Rc<Seen>,
        sort: Sort,
        wanted: &BTreeMap<&str, &str>,
    ) -> Result<Vec<Part>, Error> {
        let (name, path) = (wanted.get("name"), wanted.get("path"));
        if sort == Sort::Program || (name, path) == (None, None) {
            return Ok(self.parts(seen, sort)?.to_vec());
        }
        let program = seen.row.id;
        let content = self.checked(seen)?.program();
        let found = match (path, name) {
            (Some(path), _) => at_path(content, path),
            (None, Some(name)) => {
                let modules = content.modules().map(|(of, _)| Some(of)).chain([None]);
                modules.flat_map(|module| content.lookup(module, name)).collect()
            }
            (None, None) => Vec::new(),
        };
        let doc = sort == Sort::Document;
        let places = found.into_iter().filter_map(Place::of).chain(doc.then_some(Place::Program));
        let parts = places.map(|place| Part { program, place, doc }).filter(|part| part.sort() == sort);
        let mut parts: Vec<Part> = parts.collect();
        parts.sort_unstable_by_key(|part| part.order());
        Ok(parts)
    }

    /// The node of a part, if that is there.
    fn shown(&self, seen: &Seen, part: Part) -> Result<Option<Arc<Node>>, Error> {
        let row = &seen.row;
        let props = match (part.place, part.doc) {
            (Place::Program, false) => Some(shown::program(row, self.newest(seen)?)),
            (Place::Program, true) => shown::document(row, None, part.place),
            (place, true) => shown::document(row, Some(self.checked(seen)?), place),
            (place, false) => shown::inside(row, self.checked(seen)?, place),
        };
        let created = (part.sort() == Sort::Program).then_some(Stamp { time_micros: row.created.0 });
        let node = |props| {
            let labels: Arc<[Label]> = [part.sort().label()].into();
            let (id, key) = (part.id(), part.key());
            Arc::new(Node { id, labels, key, props, created_at: created, updated_at: None })
        };
        Ok(props.map(node))
    }
}

/// The state of a program after an entry that was there at the moment, whatever became of the program since.
async fn state_then(engine: &Engine, id: Uuid, number: u64) -> Result<Arc<Revision>, Error> {
    let open = engine.find_recorded(id).await?;
    engine.come_to(&open, number).await?;
    let state = engine.state(&open, number).await?;
    state.ok_or_else(|| Error::not_found("revision", format!("r{number}")))
}

/// What has a path. Names may have `::` in them, as those of imported modules do, so that a path can be read in several ways.
fn at_path(program: &Program, path: &str) -> Vec<Ref> {
    let mut found = Vec::new();
    let mut open: Vec<(Option<ModuleRef>, usize)> = vec![(None, 0)];
    let mut known = BTreeSet::from([(0, 0)]);
    while let Some((module, at)) = open.pop() {
        let rest = &path[at..];
        found.extend(program.lookup(module, rest));
        for (end, _) in rest.match_indices("::") {
            let inner = program.lookup(module, &rest[..end]).filter_map(|of| ModuleRef::try_from(of).ok());
            for inner in inner {
                let next = at + end + 2;
                if known.insert((inner.number(), next)) {
                    open.push((Some(inner), next));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
