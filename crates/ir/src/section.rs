//! Where a custom section stands among the sections of a module.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident $name:literal,)*) => {
        /// A standard section of a WebAssembly module, in the order in which they stand.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Section { $($(#[$doc])* $section),* }

        impl Section {
            /// All of them, in order.
            pub const ALL: &'static [Section] = &[$(Section::$section),*];

            /// The word for it in the text form of WebAssembly.
            pub const fn name(self) -> &'static str {
                match self { $(Section::$section => $name),* }
            }
        }
    };
}

sections! {
    /// Signatures.
    Type "type",
    /// What the host provides.
    Import "import",
    /// Which function has which signature.
    Func "func",
    /// Tables.
    Table "table",
    /// Memories.
    Memory "memory",
    /// Globals.
    Global "global",
    /// What the host is offered.
    Export "export",
    /// The start function.
    Start "start",
    /// Element segments.
    Elem "elem",
    /// How many data segments there are.
    DataCount "datacount",
    /// Bodies of functions.
    Code "code",
    /// Data segments.
    Data "data",
}

/// Where a custom section stands. Several at one place stand in the order of their refs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPlace {
    /// Before all other sections.
    First,
    /// Behind a standard section, or where that would stand.
    After(Section),
    /// Behind all other sections, the names included.
    Last,
}

impl SectionPlace {
    /// A number for it, which stays.
    pub fn number(self) -> u64 {
        match self {
            SectionPlace::First => 0,
            SectionPlace::Last => 1,
            SectionPlace::After(section) => 2 + section as u64,
        }
    }

    /// The place with a number.
    pub fn of_number(number: u64) -> Option<SectionPlace> {
        match number {
            0 => Some(SectionPlace::First),
            1 => Some(SectionPlace::Last),
            _ => Section::ALL.get(usize::try_from(number - 2).ok()?).copied().map(SectionPlace::After),
        }
    }
}

impl fmt::Display for SectionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SectionPlace::First => f.write_str("first"),
            SectionPlace::After(section) => write!(f, "after {}", section.name()),
            SectionPlace::Last => f.write_str("last"),
        }
    }
}

/// A text that names no place of a section.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no place of a section")]
pub struct ParseSectionPlaceError(pub String);

impl FromStr for SectionPlace {
    type Err = ParseSectionPlaceError;

    fn from_str(text: &str) -> Result<SectionPlace, ParseSectionPlaceError> {
        let after = |name: &str| Section::ALL.iter().find(|section| section.name() == name);
        match text {
            "first" => Some(SectionPlace::First),
            "last" => Some(SectionPlace::Last),
            _ => text.strip_prefix("after ").and_then(after).copied().map(SectionPlace::After),
        }
        .ok_or_else(|| ParseSectionPlaceError(text.to_owned()))
    }
}
