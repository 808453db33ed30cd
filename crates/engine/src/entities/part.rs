//! What programs are made of, as nodes: which there are, what they are called, and in which order they come.

use std::fmt;

use lmlang_entities::{EntityId, Key, Label, Node};
use lmlang_ir::{FuncRef, ModuleRef, Ref, RefKind, TypeRef};
use uuid::Uuid;

/// What a part is: its label. In the order of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    Document,
    Function,
    Module,
    Program,
    Type,
}

impl Sort {
    pub(crate) const ALL: [Sort; 5] =
        [Sort::Document, Sort::Function, Sort::Module, Sort::Program, Sort::Type];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Sort::Document => "Document",
            Sort::Function => "Function",
            Sort::Module => "Module",
            Sort::Program => "Program",
            Sort::Type => "Type",
        }
    }

    pub(crate) fn of_label(label: &Label) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.name() == label.as_str())
    }

    /// What the first label of a node says; none of an entity.
    pub(crate) fn of_node(node: &Node) -> Option<Sort> {
        node.labels.first().and_then(Sort::of_label)
    }

    pub(crate) fn label(self) -> Label {
        Label::new(self.name()).expect("it is a label")
    }
}

/// Something in a program that has a name and a doc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The program itself.
    Program,
    /// A function.
    Function(FuncRef),
    /// A module.
    Module(ModuleRef),
    /// A struct or enum.
    Type(TypeRef),
}

impl Place {
    /// The place of a ref, if it is of a kind that is shown.
    pub(crate) fn of(of: Ref) -> Option<Place> {
        match of.kind {
            RefKind::Function => of.try_into().ok().map(Place::Function),
            RefKind::Module => of.try_into().ok().map(Place::Module),
            RefKind::Type => of.try_into().ok().map(Place::Type),
            RefKind::Member | RefKind::Region | RefKind::Variable | RefKind::Contract | RefKind::Node => None,
        }
    }

    pub(crate) fn entity(self) -> Option<Ref> {
        match self {
            Place::Program => None,
            Place::Function(of) => Some(of.into()),
            Place::Module(of) => Some(of.into()),
            Place::Type(of) => Some(of.into()),
        }
    }

    pub(crate) fn sort(self) -> Sort {
        match self {
            Place::Program => Sort::Program,
            Place::Function(_) => Sort::Function,
            Place::Module(_) => Sort::Module,
            Place::Type(_) => Sort::Type,
        }
    }
}

/// A node that stands for something in a program: a place, or what is written about one.
///
/// Its key is the program's id, and behind a slash the ref of what is meant in it, and `doc` for what is written about that:
/// none of it ever changes, whatever is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) program: Uuid,
    pub(crate) place: Place,
    /// Whether it is what is written about the place.
    pub(crate) doc: bool,
}

impl Part {
    pub(crate) fn of(program: Uuid, place: Place) -> Part {
        Part { program, place, doc: false }
    }

    pub(crate) fn sort(self) -> Sort {
        if self.doc { Sort::Document } else { self.place.sort() }
    }

    pub(crate) fn key(self) -> Key {
        Key::new(&self.to_string()).expect("it is short, and has no spaces")
    }

    /// The part that a sort and a key name, if they name one of a program that could be there.
    pub(crate) fn named(sort: Sort, key: &Key) -> Option<Part> {
        let mut words = key.as_str().split('/');
        let program = Uuid::try_parse(words.next()?).ok()?;
        let mut rest: Vec<&str> = words.collect();
        let doc = rest.pop_if(|last| *last == "doc").is_some();
        let place = match rest.as_slice() {
            [] => Place::Program,
            [of] => Place::of(of.parse().ok()?)?,
            _ => return None,
        };
        let part = Part { program, place, doc };
        // An id can be written in more than one way.
        (part.sort() == sort && part.to_string() == key.as_str()).then_some(part)
    }

    /// The part that a node of a program stands for.
    pub(crate) fn of_node(node: &Node) -> Option<Part> {
        Part::named(Sort::of_node(node)?, &node.key)
    }

    /// What is equal for equal nodes.
    pub(crate) fn id(self) -> EntityId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.sort().name().as_bytes()).update(b":").update(self.to_string().as_bytes());
        EntityId(first(hasher.finalize()))
    }

    /// The order of labels and keys.
    pub(crate) fn order(self) -> (Sort, Uuid, Option<(char, Digits)>) {
        let of = self.place.entity();
        (self.sort(), self.program, of.map(|of| (of.kind.letter(), Digits::of(of.number))))
    }
}

/// Prints the key.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program)?;
        if let Some(of) = self.place.entity() {
            write!(f, "/{of}")?;
        }
        if self.doc { f.write_str("/doc") } else { Ok(()) }
    }
}

/// Half of a hash: as many bytes as an id has.
pub(crate) fn first(hash: blake3::Hash) -> [u8; 16] {
    std::array::from_fn(|at| hash.as_bytes()[at])
}

/// A number in the order of its digits as text: 10 comes before 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digits {
    /// The digits with zeros behind them, up to one length.
    filled: u128,
    length: u32,
}

impl Digits {
    fn of(number: u64) -> Digits {
        const MOST: u32 = 20;
        let length = number.checked_ilog10().unwrap_or(0) + 1;
        Digits { filled: u128::from(number) * 10_u128.pow(MOST - length), length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(text).expect("a key")
    }

    #[test]
    fn parts_are_found_by_their_keys_alone() {
        const ID: &str = "0190b3c4-0000-7000-8000-0000000000ab";
        let program = Uuid::try_parse(ID).expect("an id");
        let function = Place::of("f12".parse().expect("a ref")).expect("a place");
        for (place, doc, text) in [
            (Place::Program, false, ID.to_owned()),
            (Place::Program, true, format!("{ID}/doc")),
            (function, false, format!("{ID}/f12")),
            (function, true, format!("{ID}/f12/doc")),
        ] {
            let part = Part { program, place, doc };
            assert_eq!(part.to_string(), text);
            for sort in Sort::ALL {
                let found = Part::named(sort, &key(&text));
                assert_eq!(found, (sort == part.sort()).then_some(part), "{text} as {sort:?}");
            }
        }
        for text in ["x", &ID.to_uppercase(), &format!("{ID}/"), &format!("{ID}/f012"), &format!("{ID}/n3")] {
            assert!(Sort::ALL.into_iter().all(|sort| Part::named(sort, &key(text)).is_none()), "{text}");
        }
    }

    #[test]
    fn parts_are_in_the_order_of_labels_and_keys() {
        let mut parts = Vec::new();
        for program in [1, 2] {
            let program = Uuid::from_u128(program);
            let refs = ["m1", "m20", "t3", "t30", "f2", "f10", "f19", "f9", "f100"];
            let places = refs.map(|of| Place::of(of.parse().expect("a ref")).expect("a place"));
            for place in places.into_iter().chain([Place::Program]) {
                parts.extend([false, true].map(|doc| Part { program, place, doc }));
            }
        }
        let mut texts = parts.clone();
        texts.sort_by_key(|part| (part.sort().name(), part.key()));
        parts.sort_by_key(|part| part.order());
        assert_eq!(parts, texts);
    }
}
