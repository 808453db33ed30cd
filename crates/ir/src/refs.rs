//! Refs: stable names of entities, never reused.
//!
//! A ref is a letter for the kind and a number from one counter per program, shared by all kinds and branches, so the
//! number alone identifies an entity. Names are labels on refs; renaming rewrites nothing.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

use crate::trie::Trie;

/// The largest number a ref may have: 48 bits, so that a ref and a port pack into one word.
pub const MAX_NUMBER: u64 = (1 << 48) - 1;

/// Refs written in a text are honoured below this number when a program is created; counters may run past it.
pub const MAX_GIVEN: u64 = 1 << 40;

/// A text that is not a ref, or not one of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseRefError {
    /// The text has no known letter followed by a number.
    #[error("`{0}` is not a ref: expected one of the letters m t d f g v k n and a number")]
    Malformed(String),
    /// The number is zero or above [`MAX_NUMBER`].
    #[error("the number of ref `{0}` is out of range")]
    OutOfRange(String),
    /// A well-formed ref of another kind.
    #[error("expected a ref with the letter `{expected}`, found `{found}`")]
    WrongKind {
        /// Letter of the kind that was asked for.
        expected: char,
        /// The text that was given.
        found: String,
    },
}

/// The kind of an entity: the letter of its ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefKind {
    /// `m`: a module.
    Module,
    /// `t`: a nominal type.
    Type,
    /// `d`: a field of a struct or a variant of an enum.
    Member,
    /// `f`: a function.
    Function,
    /// `g`: a region.
    Region,
    /// `v`: a variable: a cell of one function, a global, or other program-wide storage.
    Variable,
    /// `k`: a contract.
    Contract,
    /// `n`: a node.
    Node,
}

impl RefKind {
    /// All kinds, in the order of the declaration.
    pub const ALL: [RefKind; 8] = [
        RefKind::Module,
        RefKind::Type,
        RefKind::Member,
        RefKind::Function,
        RefKind::Region,
        RefKind::Variable,
        RefKind::Contract,
        RefKind::Node,
    ];

    /// The letter that starts refs of this kind.
    pub const fn letter(self) -> char {
        match self {
            RefKind::Module => 'm',
            RefKind::Type => 't',
            RefKind::Member => 'd',
            RefKind::Function => 'f',
            RefKind::Region => 'g',
            RefKind::Variable => 'v',
            RefKind::Contract => 'k',
            RefKind::Node => 'n',
        }
    }

    /// The kind that a letter stands for.
    pub fn of_letter(letter: char) -> Option<RefKind> {
        RefKind::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// A ref of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref {
    /// Kind of the entity.
    pub kind: RefKind,
    /// Number within the program; unique across kinds.
    pub number: u64,
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.number)
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Ref {
    type Err = ParseRefError;

    fn from_str(text: &str) -> Result<Ref, ParseRefError> {
        let malformed = || ParseRefError::Malformed(text.chars().take(40).collect());
        let mut chars = text.chars();
        let kind = chars.next().and_then(RefKind::of_letter).ok_or_else(malformed)?;
        let digits = chars.as_str();
        let canonical = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'));
        if !canonical {
            return Err(malformed());
        }
        match digits.parse::<u64>() {
            Ok(number) if (1..=MAX_NUMBER).contains(&number) => Ok(Ref { kind, number }),
            Ok(_) | Err(_) => Err(ParseRefError::OutOfRange(text.chars().take(40).collect())),
        }
    }
}

/// What names are like, for those who chose one that looks like a ref.
pub const NAME_RULE: &str = "a name other than one of the letters `mtdfgvkn` with digits behind it";

/// What the names of modules are like, for those who chose one that would be mistaken for a path.
pub const MODULE_NAME_RULE: &str = "a name without `::`, which stands between the names of a path";

/// Tells whether an identifier could be mistaken for a ref: such names are refused everywhere.
pub fn looks_like_ref(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().and_then(RefKind::of_letter).is_some()
        && !chars.as_str().is_empty()
        && chars.as_str().bytes().all(|b| b.is_ascii_digit())
}

macro_rules! ref_newtype {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// The kind of entity this newtype names.
            pub const KIND: RefKind = RefKind::$kind;

            /// Makes the ref with a number in `1..=MAX_NUMBER`; `None` outside of it.
            pub const fn new(number: u64) -> Option<$name> {
                if number >= 1 && number <= MAX_NUMBER { Some($name(number)) } else { None }
            }

            /// The number within the program.
            pub const fn number(self) -> u64 {
                self.0
            }

            /// Makes a ref from a number that is known to be one, such as a key of a trie.
            pub(crate) const fn of_key(number: u64) -> $name {
                $name(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", RefKind::$kind.letter(), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl From<$name> for Ref {
            fn from(of: $name) -> Ref {
                Ref { kind: RefKind::$kind, number: of.0 }
            }
        }

        impl TryFrom<Ref> for $name {
            type Error = ParseRefError;

            fn try_from(of: Ref) -> Result<$name, ParseRefError> {
                if of.kind == RefKind::$kind {
                    Ok($name(of.number))
                } else {
                    Err(ParseRefError::WrongKind { expected: RefKind::$kind.letter(), found: of.to_string() })
                }
            }
        }

        impl FromStr for $name {
            type Err = ParseRefError;

            fn from_str(text: &str) -> Result<$name, ParseRefError> {
                text.parse::<Ref>()?.try_into()
            }
        }
    )*};
}

ref_newtype! {
    /// Names a module.
    ModuleRef = Module;
    /// Names a nominal type.
    TypeRef = Type;
    /// Names a field of a struct or a variant of an enum.
    MemberRef = Member;
    /// Names a function.
    FuncRef = Function;
    /// Names a region.
    RegionRef = Region;
    /// Names a variable: a cell of a function, a global, or other storage of the program.
    VarRef = Variable;
    /// Names a contract.
    ContractRef = Contract;
    /// Names a node.
    NodeRef = Node;
}

/// How many consecutive numbers a function is given at a time.
///
/// Single nodes added to many functions would otherwise each get a trie leaf of their own (450 instead of 215 bytes).
const BLOCK: u64 = 16;

/// The counter that refs of one program come from.
///
/// Numbers only grow, over all branches and over undone changes: what was handed out once is never handed out again.
/// Unused rests of blocks are lost when the allocator is dropped; holes are allowed.
#[derive(Clone, Debug)]
pub struct RefAllocator {
    next: u64,
    /// The block of the function that was asked for last: most ask many times in a row.
    recent: (u64, Range<u64>),
    /// What is left of the blocks of the others: the first number, behind which the others of its block follow.
    blocks: Trie<u64>,
}

impl RefAllocator {
    /// Starts at a number that no entity of the program has ever had, nor any above it.
    pub fn starting_at(next: u64) -> RefAllocator {
        RefAllocator { next: next.max(1), recent: (0, 0..0), blocks: Trie::new() }
    }

    /// The lowest number that was never handed out; store it with each revision.
    pub fn watermark(&self) -> u64 {
        self.next
    }

    /// Makes sure that a number given from outside is never handed out again.
    pub fn reserve(&mut self, number: u64) {
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Makes sure that a number which a copy of this one handed out for a part of a function is not handed out again.
    pub(crate) fn spend_in(&mut self, owner: FuncRef, number: u64) {
        self.reserve(number);
        let behind = |block: &Range<u64>| if block.contains(&number) { number + 1 } else { block.start };
        if self.recent.0 == owner.number() {
            self.recent.1.start = behind(&self.recent.1);
        } else if let Some(first) = self.blocks.remove(owner.number()) {
            let block = first..first.next_multiple_of(BLOCK);
            let left = behind(&block);
            if left < block.end {
                self.blocks.insert(owner.number(), left);
            }
        }
    }

    /// Hands out a number for an entity of the program: a module, a type, a function, a global.
    ///
    /// Fails with `None` when all 2^48 are used.
    pub fn allocate(&mut self) -> Option<u64> {
        let number = self.next;
        if number > MAX_NUMBER {
            return None;
        }
        self.next += 1;
        Some(number)
    }

    /// Hands out a number for an entity inside a function, from the function's own aligned block.
    #[inline]
    pub fn allocate_in(&mut self, owner: FuncRef) -> Option<u64> {
        if self.recent.0 == owner.number()
            && let Some(number) = self.recent.1.next()
        {
            return Some(number);
        }
        self.begin_block(owner)
    }

    /// Hands out what is left of a function's block, or the first number of a new one. It is kept apart from what happens
    /// sixteen times as often, and is large.
    #[inline(never)]
    fn begin_block(&mut self, owner: FuncRef) -> Option<u64> {
        if self.recent.0 != owner.number() {
            let left = self.blocks.remove(owner.number());
            let block = left.map_or(0..0, |first| first..first.next_multiple_of(BLOCK));
            let (before, rest) = std::mem::replace(&mut self.recent, (owner.number(), block));
            if !rest.is_empty() {
                // Whose first number has been handed out, so that it does not begin there.
                self.blocks.insert(before, rest.start);
            }
        }
        if self.recent.1.is_empty() {
            let start = self.next.next_multiple_of(BLOCK);
            if start + BLOCK > MAX_NUMBER {
                return None;
            }
            self.next = start + BLOCK;
            self.recent.1 = start..start + BLOCK;
        }
        self.recent.1.next()
    }
}

#[cfg(test)]
mod tests {
    use super::{FuncRef, RefAllocator};

    #[test]
    fn who_comes_back_gets_the_rest_of_its_block() {
        let mut refs = RefAllocator::starting_at(5);
        let mut next = |of: u64| refs.allocate_in(FuncRef::of_key(of)).expect("refs are left");
        let asked = [1, 1, 2, 1, 2, 3, 1];
        assert_eq!(asked.map(&mut next), [16, 17, 32, 18, 33, 48, 19]);
        // The last of a block, then the first of a new one, and nothing is left of the first.
        let rest: Vec<u64> = (0..12).map(|_| next(1)).collect();
        assert_eq!(rest, (20..32).collect::<Vec<u64>>());
        assert_eq!([2, 1, 2].map(&mut next), [34, 64, 35]);
        assert_eq!(refs.watermark(), 80);
    }

    #[test]
    fn what_a_copy_handed_out_can_be_spent() {
        let of = FuncRef::of_key;
        let mut refs = RefAllocator::starting_at(5);
        assert_eq!(refs.allocate_in(of(1)), Some(16));
        // In the block that was asked for last.
        refs.spend_in(of(1), 18);
        refs.spend_in(of(1), 17);
        assert_eq!(refs.allocate_in(of(1)), Some(19));
        // In what is left of another one: a part of it, then all.
        assert_eq!(refs.allocate_in(of(2)), Some(32));
        refs.spend_in(of(1), 20);
        assert_eq!([1, 2].map(|owner| refs.allocate_in(of(owner))), [Some(21), Some(33)]);
        refs.spend_in(of(1), 31);
        assert_eq!(refs.allocate_in(of(1)), Some(48));
        // In a block that only the copy has begun.
        refs.spend_in(of(2), 66);
        assert_eq!(refs.watermark(), 67);
        assert_eq!(
            [refs.allocate(), refs.allocate_in(of(3)), refs.allocate_in(of(2))],
            [Some(67), Some(80), Some(34)]
        );
    }
}
