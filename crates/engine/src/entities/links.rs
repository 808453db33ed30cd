//! What joins the parts of programs: what contains, calls, uses and describes what.

use lmlang_entities::props::PropValue;
use lmlang_entities::{Edge, Props, RelationId, RelationType, Way};
use lmlang_ir::{FuncRef, ModuleRef, Opcode, Program, Ref};
use uuid::Uuid;

use crate::entities::part::{Digits, Part, Place, Sort, first};

/// What a link says: its type. In the order of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A function calls a function.
    Calls,
    /// A program or module has something directly in it.
    Contains,
    /// A document is about something.
    Describes,
    /// A function or type mentions something in another way than by a call.
    Uses,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Calls, Kind::Contains, Kind::Describes, Kind::Uses];

    const fn name(self) -> &'static str {
        match self {
            Kind::Calls => "CALLS",
            Kind::Contains => "CONTAINS",
            Kind::Describes => "DESCRIBES",
            Kind::Uses => "USES",
        }
    }

    fn of_type(relation_type: &RelationType) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == relation_type.as_str())
    }

    /// The kinds of links of a part of some sort that are asked for, by types, of which none means all.
    pub(crate) fn wanted(sort: Sort, way: Way, types: &[RelationType]) -> Vec<Kind> {
        let possible: &[Kind] = match (sort, way) {
            (Sort::Document, Way::Out) | (Sort::Program, Way::In) => &[Kind::Describes],
            (Sort::Document, Way::In) => &[],
            (Sort::Function, Way::Out) => &[Kind::Calls, Kind::Uses],
            (Sort::Function, Way::In) => &Kind::ALL,
            (Sort::Module | Sort::Program, Way::Out) => &[Kind::Contains],
            (Sort::Module, Way::In) => &[Kind::Contains, Kind::Describes],
            (Sort::Type, Way::Out) => &[Kind::Uses],
            (Sort::Type, Way::In) => &[Kind::Contains, Kind::Describes, Kind::Uses],
        };
        let named = |kind: &Kind| types.iter().any(|of| Kind::of_type(of) == Some(*kind));
        possible.iter().copied().filter(|kind| types.is_empty() || named(kind)).collect()
    }
}

/// A link of a part, to the part at its other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) kind: Kind,
    pub(crate) other: Part,
    /// How many nodes say so, where that is known.
    times: Option<u64>,
}

impl Link {
    pub(crate) fn new(kind: Kind, other: Part) -> Link {
        Link { kind, other, times: None }
    }

    /// The order of types and of what is at the other end.
    pub(crate) fn order(&self) -> Order {
        place(self.kind, self.other)
    }

    /// The edge that it is, seen from a part in a direction.
    pub(crate) fn edge(&self, of: Part, way: Way) -> Edge {
        let (from, to) = match way {
            Way::Out => (of, self.other),
            Way::In => (self.other, of),
        };
        let mut hasher = blake3::Hasher::new();
        for text in
            [from.sort().name(), &from.to_string(), self.kind.name(), to.sort().name(), &to.to_string()]
        {
            hasher.update(text.as_bytes()).update(b":");
        }
        let times = self.times.map(|times| i64::try_from(times).unwrap_or(i64::MAX));
        Edge {
            id: RelationId(first(hasher.finalize())),
            relation_type: RelationType::new(self.kind.name()).expect("it is a type"),
            props: Props::shown(times.map(|times| ("times", PropValue::Int(times)))),
            created_at: None,
            updated_at: None,
        }
    }
}

/// The order of types and of what is at the other end.
pub(crate) type Order = (Kind, (Sort, Uuid, Option<(char, Digits)>));

fn place(kind: Kind, other: Part) -> Order {
    (kind, other.order())
}

/// The place in the order of links of an edge to a part.
pub(crate) fn place_of(relation_type: &RelationType, other: Part) -> Option<Order> {
    Some(place(Kind::of_type(relation_type)?, other))
}

/// The links between a part and others inside of its program, in no order. What is written about the program itself is none
/// of them.
pub(crate) fn within(program: &Program, part: Part, way: Way, wanted: &[Kind]) -> Vec<Link> {
    let mut search = Search { program, part, wanted, found: Vec::new() };
    match (part.doc, part.place, way) {
        (true, ..) => {}
        (false, Place::Program, Way::Out) => search.members(None),
        (false, Place::Program, Way::In) => {}
        (false, Place::Module(of), Way::Out) => search.members(Some(of)),
        (false, Place::Module(of), Way::In) => {
            let Some(module) = program.module(of) else { return Vec::new() };
            search.contained(module.parent.map_or(Place::Program, Place::Module));
            search.described(module.doc.is_some());
        }
        (false, Place::Function(of), Way::Out) => search.uses(of.into()),
        (false, Place::Function(of), Way::In) => {
            let Some(function) = program.function(of) else { return Vec::new() };
            search.contained(Place::Module(function.head().module));
            search.described(function.head().doc.is_some());
            search.users(of.into());
        }
        (false, Place::Type(of), Way::Out) => search.uses(of.into()),
        (false, Place::Type(of), Way::In) => {
            let Some(def) = program.type_def(of) else { return Vec::new() };
            search.contained(Place::Module(def.module));
            search.described(def.doc.is_some());
            search.users(of.into());
        }
    }
    search.found
}

struct Search<'a> {
    program: &'a Program,
    part: Part,
    wanted: &'a [Kind],
    found: Vec<Link>,
}

impl Search<'_> {
    fn add(&mut self, kind: Kind, place: Place) {
        if self.wanted.contains(&kind) {
            self.found.push(Link::new(kind, Part::of(self.part.program, place)));
        }
    }

    fn members(&mut self, module: Option<ModuleRef>) {
        let program = self.program;
        let places = program.members(module).filter_map(|(_, of)| Place::of(of));
        places.for_each(|place| self.add(Kind::Contains, place));
    }

    fn contained(&mut self, by: Place) {
        self.add(Kind::Contains, by);
    }

    fn described(&mut self, is_so: bool) {
        if is_so && self.wanted.contains(&Kind::Describes) {
            self.found.push(Link::new(Kind::Describes, Part { doc: true, ..self.part }));
        }
    }

    fn uses(&mut self, user: Ref) {
        if self.mentions() {
            let program = self.program;
            program.uses_of(user).for_each(|of| self.mention(user, of, of));
        }
    }

    fn users(&mut self, of: Ref) {
        if self.mentions() {
            let program = self.program;
            program.users_of(of).for_each(|(user, _)| self.mention(user, of, user));
        }
    }

    fn mentions(&self) -> bool {
        self.wanted.iter().any(|kind| matches!(kind, Kind::Calls | Kind::Uses))
    }

    /// Takes in that something mentions something, one of which is the other end.
    fn mention(&mut self, user: Ref, of: Ref, other: Ref) {
        // Storage is no node, and what is in it belongs to no function.
        let Some(place) = Place::of(other) else { return };
        let Some((caller, callee)) = FuncRef::try_from(user).ok().zip(FuncRef::try_from(of).ok()) else {
            return self.add(Kind::Uses, place);
        };
        let (times, otherwise) = mentions(self.program, caller, callee);
        if times > 0 && self.wanted.contains(&Kind::Calls) {
            let other = Part::of(self.part.program, place);
            self.found.push(Link { kind: Kind::Calls, other, times: Some(times) });
        }
        if otherwise {
            self.add(Kind::Uses, place);
        }
    }
}

/// How often a function calls another one, and whether it mentions it in another way. Costs the mentions.
fn mentions(program: &Program, caller: FuncRef, callee: FuncRef) -> (u64, bool) {
    let Some(function) = program.function(caller) else { return (0, false) };
    let body = function.body();
    let (mut times, mut otherwise) = (0, false);
    let named = body.users_of(callee.number()).filter(|one| one.input.is_none());
    for node in named.filter_map(|one| body.node(one.node)) {
        match node.op().code() {
            Opcode::Call => times += 1,
            _ => otherwise = true,
        }
    }
    (times, otherwise)
}
