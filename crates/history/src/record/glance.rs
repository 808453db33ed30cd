//! What recorded edits are about, seen without building them: reading the nodes of a large function takes long.

use std::fmt;

use lmlang_ir::{ContractRef, FuncRef, ModuleRef, NodeRef, Ref, RegionRef, TypeRef, VarRef};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::shown::Shown;
use super::{EDITS_VERSION, RecordError};

/// What stands in the record of every edit that [touches](crate::Edit::touches) an entity; others may say it too.
pub fn mention(of: Ref) -> String {
    format!("\"{of}\"")
}

/// Tells whether one of some recorded edits [touches](crate::Edit::touches) an entity.
///
/// Only the refs at the top of each edit are read; what else stands there is taken on trust.
pub fn touches(bytes: &[u8], of: Ref) -> Result<bool, RecordError> {
    let list: List = serde_json::from_slice(bytes)?;
    if list.v != EDITS_VERSION {
        return Err(RecordError::Version(list.v));
    }
    Ok(list.edits.iter().any(|Tagged(refs)| refs.touch(of)))
}

#[derive(Deserialize)]
struct List {
    v: u32,
    edits: Vec<Tagged>,
}

/// The refs of an edit, whatever its kind is called.
struct Tagged(Refs);

impl<'de> Deserialize<'de> for Tagged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tagged, D::Error> {
        struct Kind;
        impl<'de> Visitor<'de> for Kind {
            type Value = Tagged;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an edit under its kind")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tagged, A::Error> {
                match map.next_entry::<IgnoredAny, Refs>()? {
                    Some((_, refs)) if map.next_key::<IgnoredAny>()?.is_none() => Ok(Tagged(refs)),
                    Some(_) | None => Err(de::Error::custom("an edit has one kind")),
                }
            }
        }
        deserializer.deserialize_map(Kind)
    }
}

/// The refs that stand in an edit itself; what becomes of an entity is below `is`.
#[derive(Deserialize)]
struct Refs {
    f: Option<Shown<FuncRef>>,
    m: Option<Shown<ModuleRef>>,
    t: Option<Shown<TypeRef>>,
    v: Option<Shown<VarRef>>,
    k: Option<Shown<ContractRef>>,
    g: Option<Shown<RegionRef>>,
    n: Option<Shown<NodeRef>>,
}

impl Refs {
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
