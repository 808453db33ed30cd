//! Footprints: what an edit reads and writes, and so which edits commute.
//!
//! A footprint says what an edit changes of the state before it, field by field: an edit that replaces a whole record
//! writes the fields in which the new one differs. It is exact about places, and careful about what users rely on: where
//! it cannot tell that this stayed the same, it says that it changed. Two edits whose footprints do not collide may be
//! taken in either order with the same result, if each is [laid over](crate::merge::onto) what is there, and the order of
//! nodes that both put into one gap apart: those only compute, or they would collide.

mod of_edit;
mod positions;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use of_edit::{arms, changed_cases};
pub(crate) use positions::permuted;

use lmlang_ir::{Case, Effect, FuncRef, ModuleRef, Name, NodeRef, Op, Place, Program, Ref, RegionRef};

use crate::edit::Edit;

/// The smallest thing that an edit reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touch {
    /// That an entity exists.
    Existence(Ref),
    /// One field of the record of an entity.
    Part(Ref, Part),
    /// What users rely on: parameters and results, the parts of a type, the outputs of a node, the type of a variable.
    Signature(Ref),
    /// One parameter of a function or a region, as it is used inside of it, and as it is given a value by its position.
    Param(Ref, u16),
    /// One capture of a function, as it is read inside of it, and as it is given a value by its position.
    Capture(FuncRef, u32),
    /// One case of a `match`.
    Case(NodeRef, Case),
    /// The source of one input.
    Input(NodeRef, u16),
    /// How many inputs a node has.
    Inputs(NodeRef),
    /// Where a node stands.
    Position(NodeRef),
    /// In which region a node stands.
    Nesting(NodeRef),
    /// Who has a name in a module or a type, or at the top.
    Name(Option<Ref>, Name),
}

/// A field of a record, or a few that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The operator and the regions of a node.
    Operator,
    /// The name.
    Name,
    /// What is written about it.
    Doc,
    /// The module around.
    Place,
    /// Who may use it.
    Visibility,
    /// How many parameters there are, and in which order.
    Params,
    /// The name of one parameter.
    ParamName(u16),
    /// The type of one parameter.
    ParamType(u16),
    /// The types of the results.
    Results,
    /// What a closure captures.
    Captures,
    /// What a function may do at most.
    Bound,
    /// Where it comes from in the host.
    Import,
    /// The name under which an exported module offers it.
    Export,
    /// Whether it runs at the start.
    Start,
    /// The `; run:` lines.
    Runs,
    /// Whether there is a body.
    Body,
    /// Which fields or variants a type has, as a whole.
    Shape,
    /// The type of the value of a variable, a field or a variant.
    Type,
    /// What a piece of storage is.
    Kind,
    /// Whether a global may be written.
    Mutability,
    /// The value of a global at the start.
    Initial,
    /// What a region is for.
    Role,
    /// Comments at the end.
    Trailer,
    /// When a contract is evaluated.
    When,
    /// What a contract means, in words.
    Message,
}

impl Part {
    /// The part in words, as in "both sides change the doc of `f7`".
    pub fn words(self) -> &'static str {
        match self {
            Part::Operator => "the operator",
            Part::Name => "the name",
            Part::Doc => "the doc",
            Part::Place => "the module",
            Part::Visibility => "the visibility",
            Part::Params => "the parameters",
            Part::ParamName(_) => "the name of a parameter",
            Part::ParamType(_) => "the type of a parameter",
            Part::Results => "the results",
            Part::Captures => "the captures",
            Part::Bound => "the effect bound",
            Part::Import => "the import",
            Part::Export => "the export",
            Part::Start => "whether it runs at the start",
            Part::Runs => "the runs",
            Part::Body => "the body",
            Part::Shape => "the members",
            Part::Type => "the type",
            Part::Kind => "what it holds",
            Part::Mutability => "whether it may be written",
            Part::Initial => "the initial value",
            Part::Role => "the role",
            Part::Trailer => "the comments at the end",
            Part::When => "the kind",
            Part::Message => "the message",
        }
    }
}

impl Touch {
    /// Tells whether two may write it: that users have to look again is the same, however often it is said. What a
    /// signature consists of are parts, and those are written by one alone.
    pub fn is_shared(&self) -> bool {
        matches!(self, Touch::Signature(_) | Touch::Param(..) | Touch::Capture(..))
    }

    /// The entity that is touched; `None` for a name.
    pub fn of(&self) -> Option<Ref> {
        match self {
            Touch::Existence(of) | Touch::Part(of, _) | Touch::Signature(of) | Touch::Param(of, _) => {
                Some(*of)
            }
            Touch::Capture(function, _) => Some((*function).into()),
            Touch::Case(node, _)
            | Touch::Input(node, _)
            | Touch::Inputs(node)
            | Touch::Position(node)
            | Touch::Nesting(node) => Some((*node).into()),
            Touch::Name(..) => None,
        }
    }
}

/// The place right after a node, or at the front of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gap {
    /// The region.
    pub region: RegionRef,
    /// The node before it; `None`: the front.
    pub after: Option<NodeRef>,
}

/// What others can observe of a node, beside its outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conduct {
    /// It computes, and may trap.
    #[default]
    Computes,
    /// It reads what others write.
    Reads,
    /// It writes, calls, talks to the world or decides what runs next.
    Acts,
}

impl Conduct {
    /// What an operator does by itself; one that owns regions decides what runs next.
    pub fn of(op: &Op) -> Conduct {
        match op.spec().effect {
            Effect::Pure | Effect::Traps => Conduct::Computes,
            Effect::Reads => Conduct::Reads,
            Effect::Writes | Effect::Calls | Effect::Io | Effect::Control => Conduct::Acts,
        }
    }

    /// Tells whether it makes a difference which of two comes first.
    pub fn disturbs(self, other: Conduct) -> bool {
        self.max(other) == Conduct::Acts && self.min(other) != Conduct::Computes
    }
}

/// What an edit, or a list of them, reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What has to be as it was.
    pub reads: BTreeSet<Touch>,
    /// What becomes different.
    pub writes: BTreeSet<Touch>,
    /// Where something comes or goes, and what it does.
    pub gaps: BTreeMap<Gap, Conduct>,
}

/// Where two footprints collide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collision {
    /// Both write it, or one reads what the other writes.
    Touch(Touch),
    /// Both put something there whose order others can observe.
    Gap(Gap),
    /// One made something else of the entity, which the other changes. No footprint has that: see [`Rest`](crate::Rest).
    Rest(Ref),
}

impl Footprint {
    /// What two footprints collide in; empty: the edits commute.
    pub fn collisions(&self, other: &Footprint) -> Vec<Collision> {
        let mut found: BTreeSet<Collision> = BTreeSet::new();
        let both = self.writes.intersection(&other.writes).filter(|touch| !touch.is_shared());
        let (ours, theirs) = (self.writes.intersection(&other.reads), self.reads.intersection(&other.writes));
        found.extend(both.chain(ours).chain(theirs).cloned().map(Collision::Touch));
        let both = |gap: &Gap, conduct: Conduct| other.gaps.get(gap).is_some_and(|one| one.disturbs(conduct));
        found.extend(
            self.gaps
                .iter()
                .filter(|(gap, conduct)| both(gap, **conduct))
                .map(|(gap, _)| Collision::Gap(*gap)),
        );
        found.into_iter().collect()
    }

    /// The footprint of both.
    pub fn merge(&mut self, other: Footprint) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        for (gap, conduct) in other.gaps {
            let known = self.gaps.entry(gap).or_default();
            *known = conduct.max(*known);
        }
    }

    /// The entities that are written, with the functions they are in, by ref.
    pub fn written(&self, program: &Program) -> BTreeSet<Ref> {
        let mut refs = BTreeSet::new();
        for of in self.writes.iter().filter_map(Touch::of) {
            refs.insert(of);
            match program.place(of) {
                Some(
                    Place::Function(function)
                    | Place::Region(function, _)
                    | Place::Variable(function, _)
                    | Place::Contract(function, _)
                    | Place::Node(function, _),
                ) => {
                    refs.insert(function.into());
                }
                Some(Place::Module(_) | Place::Type(_) | Place::Member(..) | Place::Storage(_)) | None => {}
            }
        }
        refs
    }

    fn reads(&mut self, touch: Touch) {
        self.reads.insert(touch);
    }

    fn writes(&mut self, touch: Touch) {
        self.writes.insert(touch);
    }

    fn part(&mut self, of: Ref, part: Part) {
        self.writes(Touch::Part(of, part));
    }

    /// Takes a name in a module, or at the top. Giving one up needs no touch: nobody can rely on a name being taken.
    fn takes_name(&mut self, scope: Option<ModuleRef>, name: &Name) {
        self.writes(Touch::Name(scope.map(Ref::from), name.clone()));
        if let Some(scope) = scope {
            self.reads(Touch::Existence(scope.into()));
        }
    }
}

/// The footprint of a list of edits, each seen from the state before the list.
pub fn footprint(edits: &[Edit], before: &Program) -> Footprint {
    let mut all = Footprint::default();
    edits.iter().for_each(|edit| all.merge(edit.footprint(before)));
    all
}

#[cfg(test)]
mod tests;
