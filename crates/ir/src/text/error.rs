//! What is wrong with a text, and where.

use std::collections::BTreeSet;
use std::fmt;

use crate::text::lexer::mark;

/// A mistake in a text. All mistakes of a text are found in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// One of [`code::ALL`].
    pub code: &'static str,
    /// What is wrong, in words.
    pub message: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What could stand there.
    pub expected: Vec<String>,
    /// What stands there.
    pub found: Option<String>,
    /// Known names that come nearest.
    pub candidates: Vec<String>,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.code, self.message)
    }
}

impl std::error::Error for TextError {}

/// The stable codes of [`TextError`].
pub mod code {
    macro_rules! codes {
        ($($(#[$doc:meta])* $name:ident;)*) => {
            $($(#[$doc])* pub const $name: &str = stringify!($name);)*
            /// All codes.
            pub const ALL: &[&str] = &[$($name),*];
        };
    }

    codes! {
        /// Something else was expected here.
        SYNTAX;
        /// No entity or value of that name is in scope.
        UNKNOWN_NAME;
        /// More than one entity has that name; a ref tells them apart.
        AMBIGUOUS_NAME;
        /// No operator has that name, or not for that type.
        UNKNOWN_OP;
        /// No entity has that ref, or it may not be given here.
        UNKNOWN_REF;
        /// A name that could be mistaken for a ref.
        NAME_LIKE_REF;
        /// Two entities of the text, or one of it and one of the program, have the same ref.
        DUPLICATE_REF;
        /// The ref is that of another kind of entity.
        WRONG_KIND;
        /// The number of a given ref is 2^40 or more.
        REF_TOO_LARGE;
        /// The literal is malformed or has no value in the type that is wanted.
        BAD_LITERAL;
        /// A literal where no type is known from the place that it stands in.
        LITERAL_WITHOUT_TYPE;
        /// A type was expected, or is malformed.
        TYPE_EXPECTED;
        /// The number of regions, cases or parts does not fit.
        ARITY;
        /// Types or values are nested too deeply.
        TOO_DEEP;
        /// A thing is larger than can be held: a text, a list of inputs.
        TOO_LARGE;
        /// Something that may be given once is given again.
        DUPLICATE;
        /// A region that must be there is missing, such as the `else` of an `if` with results.
        MISSING_REGION;
        /// A `; run:` line without a function before it.
        MISPLACED_RUN;
        /// More mistakes follow from here on than are told.
        TOO_MANY_ERRORS;
        /// Something of the language that is not carried out yet.
        UNSUPPORTED;
        /// All refs of the program are used up.
        REFS_EXHAUSTED;
    }
}

/// At most this many mistakes of one text are told; one more says where the others begin.
pub(super) const MAX_ERRORS: usize = 100;

/// A mistake whose place is still a byte range.
#[derive(Clone, Debug)]
pub(super) struct Mistake {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) at: u32,
    pub(super) expected: Vec<String>,
    pub(super) found: Option<String>,
    pub(super) candidates: Vec<String>,
}

impl Mistake {
    pub(super) fn new(code: &'static str, at: u32, message: impl Into<String>) -> Mistake {
        Mistake {
            code,
            message: message.into(),
            at,
            expected: Vec::new(),
            found: None,
            candidates: Vec::new(),
        }
    }

    pub(super) fn expected(mut self, what: impl Into<String>) -> Mistake {
        self.expected.push(what.into());
        self
    }

    pub(super) fn found(mut self, what: impl Into<String>) -> Mistake {
        self.found = Some(what.into());
        self
    }

    pub(super) fn candidates(mut self, candidates: Vec<String>) -> Mistake {
        self.candidates = candidates;
        self
    }
}

/// Turns byte offsets into lines and columns, in order of place.
pub(super) fn locate(text: &str, mut mistakes: Vec<Mistake>) -> Vec<TextError> {
    mistakes.sort_by_key(|mistake| mistake.at);
    if let Some(more) = mistakes.get(MAX_ERRORS).map(|first| first.at) {
        mistakes.truncate(MAX_ERRORS);
        let message = format!("more than {MAX_ERRORS} mistakes: those from here on are not told");
        mistakes.push(Mistake::new(code::TOO_MANY_ERRORS, more, message));
    }
    let (mut line, mut line_start, mut seen) = (1u32, mark(text), 0usize);
    mistakes
        .into_iter()
        .map(|mistake| {
            let at = (mistake.at as usize).clamp(mark(text), text.len());
            for (offset, byte) in text.as_bytes()[seen..at].iter().enumerate() {
                if *byte == b'\n' {
                    line += 1;
                    line_start = seen + offset + 1;
                }
            }
            seen = at;
            let column = String::from_utf8_lossy(&text.as_bytes()[line_start..at]).chars().count() as u32 + 1;
            TextError {
                code: mistake.code,
                message: mistake.message,
                line,
                column,
                expected: mistake.expected,
                found: mistake.found,
                candidates: mistake.candidates,
            }
        })
        .collect()
}

/// The names nearest to a given one: those within a third of its length in edits, at most three.
pub fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    const LONGEST: usize = 64;
    let given: Vec<char> = given.chars().take(LONGEST).collect();
    let limit = (given.len() / 3).max(usize::from(given.len() > 1));
    let mut found: Vec<(usize, &str)> = names
        .filter(|name| name.len().abs_diff(given.len()) <= limit + 2)
        .filter_map(|name| Some((distance(&given, name, limit)?, name)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// The most names that one mistake lists.
const MOST_NAMES: usize = 10;

/// The names that are there instead of a given one: near ones first, then some of the others by name.
pub fn in_scope<'n>(given: &str, names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut found = nearest(given, names.clone());
    let mut others: BTreeSet<&str> = BTreeSet::new();
    for name in names.filter(|name| !found.iter().any(|near| near == name)) {
        others.insert(name);
        if others.len() > MOST_NAMES {
            others.pop_last();
        }
    }
    let rest = MOST_NAMES.saturating_sub(found.len());
    found.extend(others.into_iter().take(rest).map(str::to_owned));
    found
}

/// The edit distance (Wagner and Fischer, 1974), with swaps of neighbours, if it is within the limit.
fn distance(given: &[char], name: &str, limit: usize) -> Option<usize> {
    let name: Vec<char> = name.chars().collect();
    let mut before: Vec<usize> = vec![0; given.len() + 1];
    let mut row: Vec<usize> = (0..=given.len()).collect();
    for index in 0..name.len() {
        let mut next = vec![index + 1];
        for column in 0..given.len() {
            let substituted = row[column] + usize::from(given[column] != name[index]);
            let mut best = substituted.min(row[column + 1] + 1).min(next[column] + 1);
            if index > 0 && column > 0 && given[column] == name[index - 1] && given[column - 1] == name[index]
            {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|distance| *distance <= limit)
}
