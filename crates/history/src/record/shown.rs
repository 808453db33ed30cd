//! Values that records show as text.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use lmlang_ir::types::Const;
use lmlang_ir::{
    Attr, FuncRef, NodeRef, Op, Ref, RefKind, RegionRef, RegionRole, SectionPlace, Source, Type, text,
};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// A value with a canonical text.
pub(super) trait Canonical: Sized {
    /// Writes the text.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Reads it back; says what is wrong with a text that is none.
    fn read(text: &str) -> Result<Self, String>;
}

/// A value that stands in a record as its canonical text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown<T>(pub(super) T);

impl<T: Canonical> fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

impl<T: Canonical> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: Canonical> Deserialize<'de> for Shown<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shown<T>, D::Error> {
        struct Text<T>(PhantomData<T>);
        impl<T: Canonical> Visitor<'_> for Text<T> {
            type Value = Shown<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Shown<T>, E> {
                T::read(text).map(Shown).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text(PhantomData))
    }
}

macro_rules! canonical_refs {
    ($($name:ident),*) => {$(
        impl Canonical for lmlang_ir::$name {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: lmlang_ir::refs::ParseRefError| error.to_string())
            }
        }
    )*};
}

canonical_refs!(ModuleRef, TypeRef, MemberRef, FuncRef, RegionRef, VarRef, ContractRef, NodeRef);

impl Canonical for SectionPlace {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn read(text: &str) -> Result<SectionPlace, String> {
        text.parse().map_err(|error: lmlang_ir::ParseSectionPlaceError| error.to_string())
    }
}

impl Canonical for Source {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn read(text: &str) -> Result<Source, String> {
        let malformed = || format!("`{text}` is no source");
        let (of, port) = text.split_once('.').unwrap_or((text, "0"));
        let of = Ref::from_str(of).map_err(|error| error.to_string())?;
        let port: u16 = port.parse().map_err(|_| malformed())?;
        if usize::from(port) >= lmlang_ir::node::MAX_PORTS {
            return Err(malformed());
        }
        match of.kind {
            RefKind::Node => NodeRef::try_from(of).map(|node| Source::Node(node, port)),
            RefKind::Region => RegionRef::try_from(of).map(|region| Source::RegionParam(region, port)),
            RefKind::Function => FuncRef::try_from(of).map(|function| Source::Param(function, port)),
            RefKind::Module | RefKind::Type | RefKind::Member | RefKind::Variable | RefKind::Contract => {
                return Err(malformed());
            }
        }
        .map_err(|error| error.to_string())
    }
}

impl Canonical for Op {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::print_op(self))
    }

    fn read(text: &str) -> Result<Op, String> {
        text::parse_op(text).map_err(|error| error.to_string())
    }
}

impl Canonical for Type {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn read(text: &str) -> Result<Type, String> {
        text::parse_type_refs(text).map_err(|error| error.to_string())
    }
}

/// A constant stands as the operator that gives it: one form of literals.
impl Canonical for Const {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Op::constant(self.clone()).write(f)
    }

    fn read(text: &str) -> Result<Const, String> {
        match Op::read(text)?.attr() {
            Attr::Const(value) => Ok(value.clone()),
            _ => Err(format!("`{text}` is no constant")),
        }
    }
}

impl Canonical for RegionRole {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn read(text: &str) -> Result<RegionRole, String> {
        let role = match text {
            "body" => Some(RegionRole::Body),
            "then" => Some(RegionRole::Then),
            "else" => Some(RegionRole::Else),
            "default" => Some(RegionRole::Default),
            "contract" => Some(RegionRole::Contract),
            other => other.strip_prefix("case").and_then(|index| index.parse().ok()).map(RegionRole::Case),
        };
        role.ok_or_else(|| format!("`{text}` is no role of a region"))
    }
}

impl Canonical for lmlang_ir::Hash {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn read(text: &str) -> Result<lmlang_ir::Hash, String> {
        lmlang_ir::Hash::from_hex(text).ok_or_else(|| format!("`{text}` is no hash"))
    }
}
