//! What recorded edits are about, seen without building them: reading the nodes of a large function takes long.

use std::fmt;

use lmlang_ir::{ContractRef, FuncRef, ModuleRef, NodeRef, Ref, RegionRef, TypeRef, VarRef};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::shown::Shown;
use super::{EDITS_VERSION, RecordError};

/// What stands in the record of every edit that [touches](crate::Edit::touches) an entity, or adds something that it is in;
/// others may say it too.
pub fn mention(of: Ref) -> String {
    format!("\"{of}\"")
}

/// What stands in the record of every edit that adds or removes a function, and in no other's.
pub fn mention_whole(function: FuncRef) -> String {
    format!("Function\":{{\"f\":\"{function}\"")
}

/// What recorded edits do to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Nothing.
    Nothing,
    /// One of them [touches](crate::Edit::touches) it, or adds the function that it is in, with it.
    Touched,
    /// They remove the function that it may have been in.
    OwnerRemoved,
}

/// Tells what some recorded edits do to an entity, which is or was in a function.
///
/// Only the refs at the top of each edit are read, and those of what is in that function where it is added; what else stands
/// there is taken on trust.
pub fn glance(bytes: &[u8], of: Ref, owner: Option<FuncRef>) -> Result<Glance, RecordError> {
    let (mut glance, mention) = (Glance::Nothing, mention(of));
    for Tagged { kind, refs } in edits(bytes)? {
        if refs.touch(of) || owner.is_some() && refs.function() == owner && refs.adds(kind, of, &mention)? {
            return Ok(Glance::Touched);
        }
        if owner.is_some() && kind == REMOVE && refs.function() == owner {
            glance = Glance::OwnerRemoved;
        }
    }
    Ok(glance)
}

/// The function in which one of some recorded edits touches an entity, or with which it adds it.
pub fn function_of(bytes: &[u8], of: Ref) -> Result<Option<FuncRef>, RecordError> {
    let mention = mention(of);
    for Tagged { kind, refs } in edits(bytes)? {
        if refs.touch(of) || refs.adds(kind, of, &mention)? {
            return Ok(refs.function());
        }
    }
    Ok(None)
}

fn edits(bytes: &[u8]) -> Result<Vec<Tagged<'_>>, RecordError> {
    let list: List<'_> = serde_json::from_slice(bytes)?;
    if list.v != EDITS_VERSION {
        return Err(RecordError::Version(list.v));
    }
    Ok(list.edits)
}

const ADD: &str = "addFunction";
const REMOVE: &str = "removeFunction";

#[derive(Deserialize)]
struct List<'a> {
    v: u32,
    #[serde(borrow)]
    edits: Vec<Tagged<'a>>,
}

/// The refs of an edit, below what its kind is called.
struct Tagged<'a> {
    kind: &'a str,
    refs: Refs<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Tagged<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tagged<'a>, D::Error> {
        struct Kind;
        impl<'de> Visitor<'de> for Kind {
            type Value = Tagged<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an edit under its kind")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tagged<'de>, A::Error> {
                match map.next_entry()? {
                    Some((kind, refs)) if map.next_key::<IgnoredAny>()?.is_none() => {
                        Ok(Tagged { kind, refs })
                    }
                    Some(_) | None => Err(de::Error::custom("an edit has one kind")),
                }
            }
        }
        deserializer.deserialize_map(Kind)
    }
}

/// The refs that stand in an edit itself; what becomes of an entity is below `is`.
#[derive(Deserialize)]
struct Refs<'a> {
    f: Option<Shown<FuncRef>>,
    m: Option<Shown<ModuleRef>>,
    t: Option<Shown<TypeRef>>,
    v: Option<Shown<VarRef>>,
    k: Option<Shown<ContractRef>>,
    g: Option<Shown<RegionRef>>,
    n: Option<Shown<NodeRef>>,
    #[serde(borrow)]
    is: Option<&'a RawValue>,
}

/// The refs of what is in a function that is added.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    vars: Vec<(Shown<VarRef>, IgnoredAny)>,
    #[serde(default)]
    contracts: Vec<(Shown<ContractRef>, IgnoredAny)>,
    #[serde(default)]
    regions: Vec<RegionParts>,
}

#[derive(Deserialize)]
struct RegionParts {
    g: Shown<RegionRef>,
    #[serde(default)]
    nodes: Vec<(Shown<NodeRef>, IgnoredAny)>,
}

impl Parts {
    fn hold(&self, of: Ref) -> bool {
        self.vars.iter().any(|(part, _)| Ref::from(part.0) == of)
            || self.contracts.iter().any(|(part, _)| Ref::from(part.0) == of)
            || self.regions.iter().any(|region| {
                Ref::from(region.g.0) == of || region.nodes.iter().any(|(part, _)| Ref::from(part.0) == of)
            })
    }
}

impl Refs<'_> {
    fn function(&self) -> Option<FuncRef> {
        self.f.as_ref().map(|function| function.0)
    }

    /// Whether an edit of a kind adds a function with an entity in it.
    fn adds(&self, kind: &str, of: Ref, mention: &str) -> Result<bool, RecordError> {
        match self.is.filter(|is| kind == ADD && is.get().contains(mention)) {
            Some(is) => Ok(serde_json::from_str::<Parts>(is.get())?.hold(of)),
            None => Ok(false),
        }
    }

    fn touch(&self, of: Ref) -> bool {
        fn is<T: Copy + Into<Ref>>(shown: Option<&Shown<T>>, of: Ref) -> bool {
            shown.is_some_and(|shown| shown.0.into() == of)
        }
        // Beside a node stands the region that it goes to.
        let region = self.g.as_ref().filter(|_| self.n.is_none());
        is(self.f.as_ref(), of)
            || is(self.m.as_ref(), of)
            || is(self.t.as_ref(), of)
            || is(self.v.as_ref(), of)
            || is(self.k.as_ref(), of)
            || is(region, of)
            || is(self.n.as_ref(), of)
    }
}
