//! Conflicts: what collides, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, iter};

use lmlang_ir::text::{
    Detail, print_contract, print_function, print_node, print_storage, print_type, print_type_name,
};
use lmlang_ir::{ModuleRef, NodeRef, Place, Program, Ref, RefKind, RegionOwner};

use super::Side;
use super::change::Change;
use super::settle::{Clash, entity, fills};
use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{Collision, Part, Touch};

/// What both sides did to one entity that cannot both be.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The entity: what a resolution names. There may be several conflicts of different kinds about one entity; a
    /// resolution settles all of them.
    pub of: Ref,
    /// What kind of conflict it is.
    pub kind: ConflictKind,
    /// What collides, each once.
    pub over: Vec<Collision>,
    /// What is the matter, in words.
    pub message: String,
    /// What stands there in the base; `None` where there is nothing.
    pub base: Option<String>,
    /// What ours made of it.
    pub ours: Option<String>,
    /// What theirs made of it.
    pub theirs: Option<String>,
    /// The entities to which each side gives the name, if it is one that is in conflict.
    takers: [BTreeSet<Ref>; 2],
}

impl Conflict {
    /// The entities to which a side gives the name that is in conflict.
    pub fn takers(&self, side: Side) -> &BTreeSet<Ref> {
        &self.takers[side.index()]
    }
}

/// How two sides can be in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// Both changed one field, one input or one case, each to something else.
    BothEdited,
    /// Both brought an entity with one ref back, each with another content or at another place.
    BothAdded,
    /// Both moved one node, each elsewhere, or one moved a node into what the other moved.
    BothMoved,
    /// One removed what the other changed, moved, or put something into.
    EditedAndRemoved,
    /// One removed what the other newly uses.
    UsedAndRemoved,
    /// One changed what users rely on, the other added a use: a call, a value taken from a node, a field of a type, or a value
    /// for what is told by its position.
    SignatureAndUse,
    /// Both gave one name in a module or a type to different entities.
    NameTaken,
    /// Both put something with effects at one place of a region: nobody said which comes first.
    SamePlace,
    /// One made something else of what the other changed: a copy of a function in the place of a call, values of a variable.
    CopiedAndEdited,
}

impl ConflictKind {
    /// All kinds.
    pub const ALL: [ConflictKind; 9] = [
        ConflictKind::BothEdited,
        ConflictKind::BothAdded,
        ConflictKind::BothMoved,
        ConflictKind::EditedAndRemoved,
        ConflictKind::UsedAndRemoved,
        ConflictKind::SignatureAndUse,
        ConflictKind::NameTaken,
        ConflictKind::SamePlace,
        ConflictKind::CopiedAndEdited,
    ];

    /// The name that does not change.
    pub const fn name(self) -> &'static str {
        match self {
            ConflictKind::BothEdited => "BOTH_EDITED",
            ConflictKind::BothAdded => "BOTH_ADDED",
            ConflictKind::BothMoved => "BOTH_MOVED",
            ConflictKind::EditedAndRemoved => "EDITED_AND_REMOVED",
            ConflictKind::UsedAndRemoved => "USED_AND_REMOVED",
            ConflictKind::SignatureAndUse => "SIGNATURE_AND_USE",
            ConflictKind::NameTaken => "NAME_TAKEN",
            ConflictKind::SamePlace => "SAME_PLACE",
            ConflictKind::CopiedAndEdited => "COPIED_AND_EDITED",
        }
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The conflicts that collisions amount to, by entity and kind.
pub(super) fn conflicts(
    base: &Program,
    programs: [&Program; 2],
    changes: [&[Change]; 2],
    clashes: &[Clash],
) -> Vec<Conflict> {
    let mut groups: BTreeMap<(Ref, ConflictKind), Vec<&Clash>> = BTreeMap::new();
    for clash in clashes {
        let (of, kind) = (entity(clash, changes), kind(clash, changes));
        groups.entry((of, kind)).or_default().push(clash);
    }
    let one = |((of, kind), clashes): ((Ref, ConflictKind), Vec<&Clash>)| {
        let edits = [0, 1].map(|side| {
            let positions: BTreeSet<usize> = clashes.iter().map(|clash| clash.changes[side]).collect();
            positions.into_iter().map(|at| &changes[side][at]).collect::<Vec<_>>()
        });
        let over: BTreeSet<&Collision> = clashes.iter().map(|clash| &clash.over).collect();
        let over: Vec<Collision> = over.into_iter().cloned().collect();
        let is_doc = |touch: &Touch| matches!(touch, Touch::Part(_, Part::Doc));
        let docs = edits.iter().flatten().any(|change| change.print.writes.iter().any(is_doc));
        let text = |program: &Program, of: Ref| match docs {
            true => documented(program, of),
            false => text(program, of),
        };
        let parts: Vec<Ref> = match kind {
            ConflictKind::EditedAndRemoved | ConflictKind::CopiedAndEdited => {
                subjects(edits.iter().flatten()).into_iter().filter(|subject| *subject != of).collect()
            }
            ConflictKind::BothAdded => differing(programs, of).into_iter().collect(),
            ConflictKind::SamePlace => standing(base, of),
            ConflictKind::BothEdited
            | ConflictKind::BothMoved
            | ConflictKind::UsedAndRemoved
            | ConflictKind::SignatureAndUse
            | ConflictKind::NameTaken => Vec::new(),
        };
        let whole = |program: &Program| text(program, of).map(|head| with_parts(program, of, head, &parts));
        let stands = |program: &Program, edits: &[&Change]| match kind {
            // The entities are different ones.
            ConflictKind::NameTaken | ConflictKind::SamePlace => {
                let texts = texts(program, subjects(edits.iter()));
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
            ConflictKind::BothEdited
            | ConflictKind::BothAdded
            | ConflictKind::BothMoved
            | ConflictKind::EditedAndRemoved
            | ConflictKind::UsedAndRemoved
            | ConflictKind::SignatureAndUse
            | ConflictKind::CopiedAndEdited => whole(program),
        };
        let [ours, theirs] = [0, 1].map(|side| stands(programs[side], &edits[side]));
        let message = match kind == ConflictKind::BothAdded && alike(programs, of) {
            true => placed_apart(of, &edits),
            false => filled(base, programs, of, kind).unwrap_or_else(|| message(of, kind, &over, &edits)),
        };
        let takers = match kind {
            ConflictKind::NameTaken => edits.each_ref().map(|edits| takers(edits)),
            _ => Default::default(),
        };
        Conflict { of, kind, message, over, base: whole(base), ours, theirs, takers }
    };
    groups.into_iter().map(one).collect()
}

fn kind(clash: &Clash, changes: [&[Change]; 2]) -> ConflictKind {
    let [ours, theirs] = [0, 1].map(|side| &changes[side][clash.changes[side]]);
    match &clash.over {
        Collision::Gap(_) => ConflictKind::SamePlace,
        Collision::Rest(_) => ConflictKind::CopiedAndEdited,
        Collision::Touch(touch) => match touch {
            Touch::Name(..) => ConflictKind::NameTaken,
            Touch::Signature(_) | Touch::Param(..) | Touch::Capture(..) => ConflictKind::SignatureAndUse,
            Touch::Position(_) | Touch::Nesting(_) => ConflictKind::BothMoved,
            Touch::Part(..) if ours.gives_fields(touch) || theirs.gives_fields(touch) => {
                ConflictKind::SignatureAndUse
            }
            Touch::Part(..) | Touch::Case(..) | Touch::Input(..) | Touch::Inputs(_) => {
                ConflictKind::BothEdited
            }
            Touch::Existence(of) => {
                let writes = |change: &Change| change.print.writes.contains(touch);
                let other = match (writes(ours), writes(theirs)) {
                    (true, true) if ours.edit.adds() && theirs.edit.adds() => {
                        return ConflictKind::BothAdded;
                    }
                    (true, true) => return ConflictKind::EditedAndRemoved,
                    (true, false) => theirs,
                    (false, _) => ours,
                };
                if is_inside(&other.edit, *of) {
                    ConflictKind::EditedAndRemoved
                } else {
                    ConflictKind::UsedAndRemoved
                }
            }
        },
    }
}

/// Tells whether an edit changes an entity, or puts something into it, rather than using it.
fn is_inside(edit: &Edit, of: Ref) -> bool {
    if let Edit::Within { edit, .. } = edit
        && let FunctionEdit::InsertNode { region, .. } | FunctionEdit::MoveNode { region, .. } = edit
        && Ref::from(*region) == of
    {
        return true;
    }
    if let Edit::Within { edit: FunctionEdit::AddRegion { content, .. }, .. } = edit {
        let owner = match content.owner {
            RegionOwner::Function => None,
            RegionOwner::Node(node) => Some(node.into()),
            RegionOwner::Contract(contract) => Some(contract.into()),
        };
        if owner == Some(of) {
            return true;
        }
    }
    edit.touches(of)
}

/// The field that a change gives another content, if the words for the edit do not say what becomes of it.
fn part(change: &Change) -> Option<&'static str> {
    let edit = &change.edit;
    let part = change.print.writes.iter().find_map(|touch| match touch {
        Touch::Part(_, part) => Some(part.words()),
        Touch::Existence(_)
        | Touch::Signature(_)
        | Touch::Param(..)
        | Touch::Capture(..)
        | Touch::Case(..)
        | Touch::Input(..)
        | Touch::Inputs(_)
        | Touch::Position(_)
        | Touch::Nesting(_)
        | Touch::Name(..) => None,
    });
    part.filter(|_| !edit.adds() && !edit.removes() && !is_operator(edit))
}

/// What a change does, in words.
fn phrase(change: &Change) -> String {
    match part(change) {
        Some(part) => format!("change {part} of {}", change.edit.subject()),
        None => change.edit.to_string(),
    }
}

/// Tells whether the words for an edit say what becomes of it.
fn is_operator(edit: &Edit) -> bool {
    matches!(edit, Edit::Within { edit: FunctionEdit::SetNode { .. }, .. })
}

/// What one side did, the first of it in words.
fn phrases(changes: &[&Change]) -> String {
    let Some(first) = changes.first() else { return String::new() };
    match changes.len() - 1 {
        0 => phrase(first),
        more => format!("{}, and {more} more", phrase(first)),
    }
}

fn message(of: Ref, kind: ConflictKind, over: &[Collision], edits: &[Vec<&Change>; 2]) -> String {
    let [ours, theirs] = [phrases(&edits[0]), phrases(&edits[1])];
    let one = |first: bool| if first { (Side::Ours, &theirs) } else { (Side::Theirs, &ours) };
    let touches = |touched: &dyn Fn(&Touch) -> bool| {
        edits[0].iter().any(|change| change.print.writes.iter().any(touched))
    };
    match kind {
        ConflictKind::BothEdited => {
            let all = over.contains(&Collision::Touch(Touch::Part(of, Part::Params)));
            let single = |one: &&Collision| {
                matches!(one, Collision::Touch(Touch::Part(_, Part::ParamName(_) | Part::ParamType(_))))
            };
            let told = over.iter().filter(|one| !(all && single(one)));
            let what: BTreeSet<String> = told.filter_map(place).collect();
            let what: Vec<String> = what.into_iter().collect();
            format!("both sides change {} of `{of}`", what.join(", "))
        }
        ConflictKind::BothAdded => format!("both sides add `{of}`, with different contents"),
        ConflictKind::BothMoved => {
            let moves = |side: &Vec<&Change>| side.iter().any(|change| change.edit.subject() == of);
            let what = match edits.iter().all(moves) {
                true => format!("both sides move `{of}`"),
                false => format!("one side moves `{of}`, the other moves something into it"),
            };
            format!("{what}; ours: {ours}; theirs: {theirs}")
        }
        ConflictKind::EditedAndRemoved | ConflictKind::UsedAndRemoved => {
            let (remover, edit) = one(touches(&|touch| *touch == Touch::Existence(of)));
            if let [change] = edits[remover.other().index()][..]
                && change.edit.subject() == of
                && let Some(part) = part(change)
            {
                return format!(
                    "{} removes `{of}` and {} changes {part} of it",
                    remover.name(),
                    remover.other().name()
                );
            }
            let verb = if kind == ConflictKind::UsedAndRemoved { "uses" } else { "changes" };
            format!("{} removes `{of}` and {} {verb} it: {edit}", remover.name(), remover.other().name())
        }
        ConflictKind::SignatureAndUse => {
            let relied = |touch: &Touch| over.contains(&Collision::Touch(touch.clone()));
            let (changer, edit) = one(touches(&relied));
            format!(
                "{} changes what users of `{of}` rely on, and {} adds a use: {edit}",
                changer.name(),
                changer.other().name()
            )
        }
        ConflictKind::NameTaken => {
            let names: BTreeSet<String> = over
                .iter()
                .filter_map(|one| match one {
                    Collision::Touch(Touch::Name(_, name)) => Some(format!("`{name}`")),
                    Collision::Touch(_) | Collision::Gap(_) | Collision::Rest(_) => None,
                })
                .collect();
            let takers = edits.each_ref().map(|edits| {
                let takers: Vec<String> = takers(edits).iter().map(|of| format!("`{of}`")).collect();
                takers.join(", ")
            });
            let names: Vec<String> = names.into_iter().collect();
            format!(
                "both sides give the name {}; ours to {}, theirs to {}",
                names.join(", "),
                takers[0],
                takers[1]
            )
        }
        ConflictKind::SamePlace => {
            format!("both sides put something with effects at one place; ours: {ours}; theirs: {theirs}")
        }
        ConflictKind::CopiedAndEdited => {
            let copies = of.kind == RefKind::Function;
            let what =
                if copies { "puts a copy of its code in the place of a call" } else { "makes values of it" };
            format!("one side changes `{of}`, the other {what}; ours: {ours}; theirs: {theirs}")
        }
    }
}

/// What is the matter where both sides have filled a region anew.
fn filled(base: &Program, programs: [&Program; 2], of: Ref, kind: ConflictKind) -> Option<String> {
    let (ConflictKind::SamePlace, Place::Region(function, region)) = (kind, base.place(of)?) else {
        return None;
    };
    let before = base.function(function)?.body();
    let what = match before.region(region)?.owner {
        RegionOwner::Function => format!("the body of `{function}`"),
        RegionOwner::Node(_) | RegionOwner::Contract(_) => format!("what stands in `{region}`"),
    };
    let verb = if before.nodes_in(region).next().is_some() { "replace" } else { "write" };
    programs
        .into_iter()
        .all(|program| fills(base, program, function, region))
        .then(|| format!("both sides {verb} {what}"))
}

/// The nodes of a region.
pub(super) fn standing(program: &Program, of: Ref) -> Vec<Ref> {
    let Some(Place::Region(function, region)) = program.place(of) else { return Vec::new() };
    let nodes = program.function(function).into_iter().flat_map(|found| found.body().nodes_in(region));
    nodes.take(2 * MOST_PARTS + 1).map(Ref::from).collect()
}

/// What changes are of, each once and in their order.
fn subjects<'c>(changes: impl Iterator<Item = &'c &'c Change>) -> Vec<Ref> {
    let mut known = BTreeSet::new();
    changes.map(|change| change.edit.subject()).filter(|of| known.insert(*of)).collect()
}

/// What is the matter with something that both sides add alike, and put elsewhere.
fn placed_apart(of: Ref, edits: &[Vec<&Change>; 2]) -> String {
    let [ours, theirs] = [phrases(&edits[0]), phrases(&edits[1])];
    format!("both sides add `{of}`, at different places; ours: {ours}; theirs: {theirs}")
}

/// The entity to which a change gives a name: the subject of the edit, or a member of it.
fn taker(change: &Change) -> Ref {
    let member = change.print.writes.iter().find_map(|touch| match touch {
        Touch::Existence(of) | Touch::Part(of, Part::Name) => Some(*of),
        Touch::Part(..)
        | Touch::Signature(_)
        | Touch::Param(..)
        | Touch::Capture(..)
        | Touch::Case(..)
        | Touch::Input(..)
        | Touch::Inputs(_)
        | Touch::Position(_)
        | Touch::Nesting(_)
        | Touch::Name(..) => None,
    });
    member.filter(|of| of.kind == RefKind::Member).unwrap_or_else(|| change.edit.subject())
}

fn takers(changes: &[&Change]) -> BTreeSet<Ref> {
    changes.iter().map(|change| taker(change)).collect()
}

/// What collides of an entity, in words.
fn place(over: &Collision) -> Option<String> {
    match over {
        Collision::Touch(Touch::Part(_, part)) => Some(part.words().to_owned()),
        Collision::Touch(Touch::Case(_, case)) => Some(match case {
            lmlang_ir::Case::Int(value) => format!("case {value}"),
            lmlang_ir::Case::Variant(lmlang_ir::Variant::Member(_, member)) => format!("case `{member}`"),
            lmlang_ir::Case::Variant(_) => "a case".to_owned(),
        }),
        Collision::Touch(Touch::Input(_, input)) => Some(format!("input {input}")),
        Collision::Touch(Touch::Inputs(_)) => Some("the number of inputs".to_owned()),
        Collision::Touch(
            Touch::Existence(_)
            | Touch::Signature(_)
            | Touch::Param(..)
            | Touch::Capture(..)
            | Touch::Position(_)
            | Touch::Nesting(_)
            | Touch::Name(..),
        )
        | Collision::Gap(_)
        | Collision::Rest(_) => None,
    }
}

/// An entity as it stands, below its doc.
pub(super) fn documented(program: &Program, of: Ref) -> Option<String> {
    let text = text(program, of)?;
    let lines = doc(program, of).into_iter().flat_map(|doc| {
        let lines = doc.lines().map(|line| format!("; {line}"));
        lines.collect::<Vec<_>>()
    });
    Some(lines.chain([text]).collect::<Vec<_>>().join("\n"))
}

pub(super) fn doc(program: &Program, of: Ref) -> Option<&str> {
    let function = |of| program.function(of);
    let found = match program.place(of)? {
        Place::Module(module) => &program.module(module)?.doc,
        Place::Type(ty) => &program.type_def(ty)?.doc,
        Place::Member(ty, member) => {
            let def = program.type_def(ty)?;
            match def.field(member) {
                Some((_, field)) => &field.doc,
                None => &def.variant(member)?.1.doc,
            }
        }
        Place::Storage(storage) => &program.storage(storage)?.doc,
        Place::Function(function) => &program.function(function)?.head().doc,
        Place::Region(..) => return None,
        Place::Variable(of, variable) => &function(of)?.body().variable(variable)?.doc,
        Place::Contract(of, contract) => &function(of)?.body().contract(contract)?.doc,
        Place::Node(of, node) => return function(of)?.body().node(node)?.doc().map(|doc| &**doc),
    };
    found.as_deref()
}

/// The parts of a function in which two programs differ.
pub(super) fn differing(programs: [&Program; 2], of: Ref) -> BTreeSet<Ref> {
    let body = |program: &Program| Some(program.function(of.try_into().ok()?)?.body().clone());
    let [Some(ours), Some(theirs)] = programs.map(body) else { return BTreeSet::new() };
    let (variables, contracts) = (ours.changed_variables(&theirs), ours.changed_contracts(&theirs));
    let nodes = ours.changed_nodes(&theirs).into_iter().map(|(number, ..)| number);
    let variables = variables.into_iter().map(|(number, ..)| number);
    let numbers = nodes.chain(variables).chain(contracts.into_iter().map(|(number, ..)| number));
    numbers.filter_map(|number| programs.iter().find_map(|program| program.ref_of(number))).collect()
}

/// Tells whether both have one node with one content.
fn alike(programs: [&Program; 2], of: Ref) -> bool {
    let content = |program: &Program| {
        let (function, node) = (program.function_of(of)?, NodeRef::try_from(of).ok()?);
        Some(program.function(function)?.body().node(node)?.content())
    };
    let [ours, theirs] = programs.map(content);
    ours.is_some() && ours == theirs
}

/// The most parts of an entity that are shown below it.
pub(super) const MOST_PARTS: usize = 10;

/// Tells whether an entity is right in another one.
fn is_in(program: &Program, part: Ref, of: Ref) -> bool {
    let module = |module: ModuleRef| Ref::from(module) == of;
    let body = |function| program.function(function).map(|function| function.body());
    match program.place(part) {
        Some(Place::Module(part)) => {
            program.module(part).and_then(|record| record.parent).is_some_and(module)
        }
        Some(Place::Type(part)) => program.type_def(part).is_some_and(|def| module(def.module)),
        Some(Place::Storage(part)) => program.storage(part).is_some_and(|storage| module(storage.module)),
        Some(Place::Function(part)) => program.function(part).is_some_and(|part| module(part.head().module)),
        Some(Place::Node(function, node)) if of.kind == RefKind::Region => {
            body(function).and_then(|body| body.node(node)).is_some_and(|node| Ref::from(node.region()) == of)
        }
        Some(
            Place::Region(function, _)
            | Place::Variable(function, _)
            | Place::Contract(function, _)
            | Place::Node(function, _),
        ) => Ref::from(function) == of,
        Some(Place::Member(..)) | None => false,
    }
}

/// The text of an entity with those of some parts that are in it.
pub(super) fn with_parts(program: &Program, of: Ref, head: String, parts: &[Ref]) -> String {
    let there = parts.iter().copied().filter(|part| is_in(program, *part, of));
    let texts = texts(program, there);
    let lines = texts.iter().flat_map(|text| text.lines()).map(|line| format!("  {line}"));
    iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// The texts of the first of some entities.
fn texts(program: &Program, parts: impl IntoIterator<Item = Ref>) -> Vec<String> {
    let mut there = parts.into_iter();
    let first = there.by_ref().take(2 * MOST_PARTS);
    let texts: Vec<(Ref, String)> = first.filter_map(|part| Some((part, text(program, part)?))).collect();
    // A constant stands where it is used.
    let inside = |part: Ref| texts.iter().any(|(of, text)| *of != part && makes(text, part));
    let own = texts.iter().filter(|(part, _)| !inside(*part)).map(|(_, text)| text.clone());
    let mut shown: Vec<String> = own.collect();
    let rest = shown.len() > MOST_PARTS || there.next().is_some();
    shown.truncate(MOST_PARTS);
    shown.extend(rest.then(|| "...".to_owned()));
    shown
}

/// Tells whether an entity is made in a text: its ref stands there behind `#`.
fn makes(text: &str, of: Ref) -> bool {
    let of = of.to_string();
    let rest =
        |after: &str| after.strip_prefix(&of).map(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    text.split('#').skip(1).any(|after| rest(after) == Some(false))
}

/// An entity as it stands, in a line if it has one; `None` where it does not exist.
pub fn text(program: &Program, of: Ref) -> Option<String> {
    let detail = Detail::Standard;
    let first = |text: String| text.lines().next().unwrap_or_default().trim().to_owned();
    Some(match program.place(of)? {
        Place::Module(module) => format!("module {}#{module}", program.module(module)?.name),
        Place::Type(ty) => print_type(program, ty, detail).trim_end().to_owned(),
        Place::Member(ty, member) => {
            let def = program.type_def(ty)?;
            let name = def.member_name(member)?;
            let payload = def.variant(member).and_then(|(_, variant)| variant.payload.as_ref());
            match def.field(member).map(|(_, field)| &field.ty).or(payload) {
                Some(of) => format!("{name}: {}", print_type_name(program, Some(def.module), of)),
                None => name.to_string(),
            }
        }
        Place::Storage(storage) => print_storage(program, storage, detail).trim_end().to_owned(),
        Place::Function(function) => {
            let text = print_function(program, function, detail);
            let head = text.lines().find(|line| !line.trim_start().starts_with(';'));
            // Without the brace of the body, and the ref of its region.
            let head = head.unwrap_or_default().trim().trim_end_matches('{').trim_end();
            let bare = head.rsplit_once(' ').filter(|(_, last)| last.starts_with("#g"));
            bare.map_or(head, |(head, _)| head).to_owned()
        }
        Place::Region(function, region) => {
            let record = program.function(function)?.body().region(region)?;
            match record.owner {
                RegionOwner::Node(node) => {
                    format!("{} of `{}`", record.role, first(print_node(program, node, detail)))
                }
                RegionOwner::Function | RegionOwner::Contract(_) => {
                    format!("{} of `{function}`", record.role)
                }
            }
        }
        Place::Variable(function, variable) => {
            let record = program.function(function)?.body().variable(variable)?;
            let module = program.function(function)?.head().module;
            let ty = print_type_name(program, Some(module), &record.ty);
            format!("var {}: {ty}", record.name.as_deref().unwrap_or("_"))
        }
        Place::Contract(function, contract) => {
            print_contract(program, function, contract, detail).trim().to_owned()
        }
        Place::Node(_, node) => first(print_node(program, node, detail)),
    })
}
