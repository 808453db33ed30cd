//! A finding about a program: where, what kind, and the facts.

use std::cmp::Ordering;
use std::sync::Arc;

use lmlang_ir::ops::Expected;
use lmlang_ir::{EffectBound, FuncRef, NodeRef, Program, Ref, RegionRef, Source, Type, TypeRef, VarRef};

use crate::code::{Class, Code, Severity};

/// A finding about a program.
///
/// It holds facts and no text: a rename changes no finding. [`Diagnostic::message`] puts them into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of finding it is.
    pub code: Code,
    /// Where it is.
    pub at: Location,
    /// What the place takes.
    pub expected: Option<Fact>,
    /// What was found there.
    pub found: Option<Fact>,
    /// Another entity that it is about: who has the name, what stands before.
    pub beside: Option<Ref>,
}

/// The place that a finding hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The function that the entity is part of, or is; `None` for entities of the program.
    pub function: Option<FuncRef>,
    /// The entity.
    pub entity: Ref,
    /// The region that a node stands in, or the region itself.
    pub region: Option<RegionRef>,
    /// The input port of a node, or the position of a parameter, field or entry.
    pub port: Option<u16>,
}

impl Location {
    /// The node that the finding hangs on, if it is one.
    pub fn node(&self) -> Option<NodeRef> {
        NodeRef::try_from(self.entity).ok()
    }

    /// The variable or storage that the finding hangs on, if it is one.
    pub fn variable(&self) -> Option<VarRef> {
        VarRef::try_from(self.entity).ok()
    }
}

/// One fact of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A type.
    Type(Type),
    /// A list of types.
    Types(Arc<[Type]>),
    /// `i32` or any `ptr`.
    Address,
    /// `i32` or `i64`.
    Integer,
    /// `funcref` or `externref`.
    Reference,
    /// How many, how large.
    Count(u64),
    /// The most that may be.
    AtMost(u64),
    /// A field or variant of a type.
    MemberOf(TypeRef),
    /// An entity.
    Entity(Ref),
    /// Where a value comes from.
    Source(Source),
    /// An effect bound.
    Bound(EffectBound),
    /// A word of the text form or a name.
    Text(Arc<str>),
}

impl From<&Expected> for Fact {
    fn from(of: &Expected) -> Fact {
        match of {
            Expected::Is(ty) => Fact::Type(ty.clone()),
            Expected::Address => Fact::Address,
            Expected::Integer => Fact::Integer,
            Expected::Reference => Fact::Reference,
        }
    }
}

/// What makes two findings the same: code, entity and port, never the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The entity that it hangs on.
    pub entity: Ref,
    /// What kind of finding it is.
    pub code: Code,
    /// The port or position.
    pub port: Option<u16>,
}

impl Diagnostic {
    /// A finding without facts.
    pub fn new(code: Code, at: Location) -> Diagnostic {
        Diagnostic { code, at, expected: None, found: None, beside: None }
    }

    /// The finding with what the place takes.
    pub fn expecting(self, fact: impl Into<Fact>) -> Diagnostic {
        Diagnostic { expected: Some(fact.into()), ..self }
    }

    /// The finding with what was found.
    pub fn finding(self, fact: impl Into<Fact>) -> Diagnostic {
        Diagnostic { found: Some(fact.into()), ..self }
    }

    /// The finding with another entity that it is about.
    pub fn beside(self, of: Ref) -> Diagnostic {
        Diagnostic { beside: Some(of), ..self }
    }

    /// What it is about, where a text has a place of its own for that: of a type with two members of one name, the later
    /// of these; else the entity that it hangs on.
    pub fn spot(&self, program: &Program) -> Ref {
        self.member(program).unwrap_or(self.at.entity)
    }

    fn member(&self, program: &Program) -> Option<Ref> {
        let index = self.at.port.filter(|_| self.code == Code::DuplicateName)?;
        let def = program.type_def(TypeRef::try_from(self.at.entity).ok()?)?;
        let fields = def.fields().iter().map(|field| field.member);
        let mut members = fields.chain(def.variants().iter().map(|variant| variant.member));
        members.nth(usize::from(index)).map(Ref::from)
    }

    /// The class of its code.
    pub fn class(&self) -> Class {
        self.code.class()
    }

    /// How much it weighs in a stored state.
    pub fn severity(&self) -> Severity {
        self.class().severity()
    }

    /// Tells whether a run cannot pass the place and an export cannot hold it.
    pub fn is_incomplete(&self) -> bool {
        self.class().is_incomplete()
    }

    /// What makes it the same finding as another.
    pub fn identity(&self) -> Identity {
        Identity { entity: self.at.entity, code: self.code, port: self.at.port }
    }

    /// The order of findings within a function: by entity, code and port.
    pub(crate) fn rank(&self, other: &Diagnostic) -> Ordering {
        let key = |of: &Diagnostic| (of.at.entity.number, of.code, of.at.port);
        key(self).cmp(&key(other))
    }
}

/// A finding about an entity outside of functions.
pub(crate) fn outside(code: Code, of: impl Into<Ref>, port: Option<usize>) -> Diagnostic {
    let port = port.map(|port| port as u16);
    Diagnostic::new(code, Location { function: None, entity: of.into(), region: None, port })
}

impl From<Type> for Fact {
    fn from(of: Type) -> Fact {
        Fact::Type(of)
    }
}

impl From<&[Type]> for Fact {
    fn from(of: &[Type]) -> Fact {
        Fact::Types(of.into())
    }
}

impl From<usize> for Fact {
    fn from(of: usize) -> Fact {
        Fact::Count(of as u64)
    }
}

impl From<Source> for Fact {
    fn from(of: Source) -> Fact {
        Fact::Source(of)
    }
}

impl From<EffectBound> for Fact {
    fn from(of: EffectBound) -> Fact {
        Fact::Bound(of)
    }
}

impl From<&str> for Fact {
    fn from(of: &str) -> Fact {
        Fact::Text(of.into())
    }
}

impl From<Ref> for Fact {
    fn from(of: Ref) -> Fact {
        Fact::Entity(of)
    }
}
