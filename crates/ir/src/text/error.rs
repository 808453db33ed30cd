//! What is wrong with a text, and where.

use std::collections::BTreeSet;
use std::fmt;

use crate::text::lexer::{lex, mark};

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
    crate::code_pages! {
        SYNTAX "Something else was expected here."
            "The text does not follow its form; `expected` names what could stand there."
            "func f () -> () { return"
            "Write what is expected."
            Some("func f () -> () { return }");
        UNKNOWN_NAME "No entity or value of that name is in scope."
            "A name stands for a value, a label or an entity that can be seen from where it is used."
            "func f (a: i64) -> (i64) { return (add.i64 a, aa) }"
            "Take one of the candidates, or make what is meant before."
            Some("func f (a: i64) -> (i64) { return (add.i64 a, a) }");
        AMBIGUOUS_NAME "More than one entity has that name."
            "The name alone does not tell which one is meant."
            "module a\nfunc g () -> () { return }\nfunc g () -> () { return }\nfunc f () -> () {\n  call g()\n  return\n}"
            "Give the ref as well, `g#f7`, or other names."
            Some("module a\nfunc g () -> () { return }\nfunc h () -> () { return }\nfunc f () -> () {\n  call g()\n  return\n}");
        UNKNOWN_OP "No operator has that name, or not for that type."
            "Operators are those that `ops` lists, with the types that they are for."
            "func f (a: i64) -> (i64) { return (ad.i64 a, 1) }"
            "Take one of the candidates, or look into `ops`."
            Some("func f (a: i64) -> (i64) { return (add.i64 a, 1) }");
        UNKNOWN_REF "No entity has that ref, or it may not be given here."
            "A ref in a new program is one that the text gives to something; in an edit one that is there."
            "func f (a: i64) -> (i64) { return (add.i64 a, n99) }"
            "Name the value, or leave the ref out where something is new."
            Some("func f (a: i64) -> (i64) { return (add.i64 a, a) }");
        NAME_LIKE_REF "A name that could be mistaken for a ref."
            "Names do not look like refs: a letter of `mtdfgvkn` and a number."
            "func f (n5: i64) -> (i64) { return 1 }"
            "Choose another name, such as `n5_`."
            Some("func f (n5_: i64) -> (i64) { return 1 }");
        BAD_NAME "This cannot be the name of a module."
            "A path has `::` between the names of modules, so none of them has it in its name."
            "module \"a::b\"\nfunc f () -> () { return }"
            "Write the path of a module in another one, or choose another name."
            Some("module a::b\nfunc f () -> () { return }");
        DUPLICATE_REF "Two entities have the same ref."
            "Each entity of the text has a ref of its own, and none of the program."
            "func f (a: i64) -> (i64) {\n  x#n9 = add.i64 a, 1\n  y#n9 = add.i64 x, 1\n  return y\n}"
            "Leave one of the two refs out."
            Some("func f (a: i64) -> (i64) {\n  x#n9 = add.i64 a, 1\n  y = add.i64 x, 1\n  return y\n}");
        WRONG_KIND "The ref is that of another kind of entity."
            "The letter of a ref is the kind: `f` a function, `n` a node, `v` a variable."
            "func f (a: i64) -> (i64) {\n  x#f9 = add.i64 a, 1\n  return x\n}"
            "Give a ref of the kind that is wanted, or none."
            Some("func f (a: i64) -> (i64) {\n  x#n9 = add.i64 a, 1\n  return x\n}");
        REF_TOO_LARGE "The number of a given ref is 2^40 or more."
            "A text gives refs below 2^40, so that there are always new ones."
            "func f#f2000000000000 () -> () { return }"
            "Leave the ref out."
            Some("func f () -> () { return }");
        BAD_LITERAL "The literal is malformed or has no value in the type that is wanted."
            "A literal is read as a value of the type that its place takes."
            "func f (a: i32) -> (i32) { return (add.i32 a, 3000000000) }"
            "Write a literal of the type, or convert the value."
            Some("func f (a: i32) -> (i32) { return (add.i32 a, 30) }");
        LITERAL_WITHOUT_TYPE "A literal where no type is known from the place that it stands in."
            "What the operator takes is not known, so that no type follows: here an exit that aims at what has no end."
            "func f () -> (i32) { size#n7 = memory.size\n  break n7 (1) }"
            "Mend what the type would follow from, or write a `const`: `(const.i64 2)`."
            Some("func f () -> (i32) { one = block L -> (i32) { break L (1) }\n  return one }");
        TYPE_EXPECTED "A type was expected, or is malformed."
            "Types are written as `i64`, `array<i64>`, `option<T>`, or as the name of a type of the program."
            "func f (a: 5) -> () { return }"
            "Write a type."
            Some("func f (a: i64) -> () { return }");
        ARITY "The number of regions, cases or parts does not fit."
            "Each region of a `match` is one of the cases in its list, and stands there once."
            "func f (a: i32) -> () {\n  match a (0, default) {\n    case 1 { yield }\n    default { yield }\n  }\n  return\n}"
            "Give each case of the list a region, or leave the list out."
            Some("func f (a: i32) -> () {\n  match a (1, default) {\n    case 1 { yield }\n    default { yield }\n  }\n  return\n}");
        TOO_DEEP "Types or values are nested too deeply."
            "Types nest at most 64 levels deep."
            "a parameter of the type `box<box<..>>`, 65 levels deep"
            "Give the inner part a type of its own."
            None;
        TOO_LARGE "A thing is larger than can be held: a text, a list of inputs."
            "An operator has at most 16,384 operands."
            "an operator with 20,000 operands"
            "Split it."
            None;
        DUPLICATE "Something that may be given once is given again."
            "A `match` has one `default`, a node one ref."
            "func f (a: i32) -> () {\n  match a {\n    default { yield }\n    default { yield }\n  }\n  return\n}"
            "Remove one of the two."
            Some("func f (a: i32) -> () {\n  match a {\n    default { yield }\n  }\n  return\n}");
        MISSING_REGION "A region that must be there is missing, such as the `else` of an `if` with results."
            "What has results gives them in each of its cases."
            "func f (c: bool) -> (i64) {\n  x = if c -> (i64) { yield 1 }\n  return x\n}"
            "Add the region."
            Some("func f (c: bool) -> (i64) {\n  x = if c -> (i64) { yield 1 } else { yield 2 }\n  return x\n}");
        MISPLACED_RUN "A `; run:` line without a function before it."
            "A `; run:` line says what a run of the function before it does."
            "; run: f() == 1\nfunc f () -> (i64) { return 1 }"
            "Put the line after the function."
            Some("func f () -> (i64) { return 1 }\n; run: f() == 1");
        TOO_MANY_ERRORS "More mistakes follow from here on than are told."
            "The first hundred mistakes of a text are told."
            "a text in which every line is wrong"
            "Mend those that are told, and ask again."
            None;
        UNSUPPORTED "Something of the language that is not carried out yet."
            "The form is reserved for a later version."
            "a value of the type `never` among arguments"
            "Write a value of another type."
            None;
        REFS_EXHAUSTED "All refs of the program are used up."
            "A program hands out 2^48 refs at most."
            "a text for a program that has handed them all out"
            "Export the program and make a new one from its text."
            None;
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
    tell_hidden(text, &mut mistakes);
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

/// Says of names that are not known where a comment hides what gives them a value: `x = add.i64 a, 1; y = add.i64 x, 1`.
fn tell_hidden(text: &str, mistakes: &mut [Mistake]) {
    let mut unknown = mistakes.iter_mut().filter(|mistake| mistake.code == code::UNKNOWN_NAME).peekable();
    if unknown.peek().is_none() {
        return;
    }
    let lexed = lex(text);
    let behind = lexed.comments.iter().filter(|comment| comment.trailing);
    let hidden: BTreeSet<&str> =
        behind.flat_map(|comment| named_in(&text[comment.start as usize..comment.end as usize])).collect();
    for mistake in unknown {
        if let Some(name) = mistake.found.as_deref().filter(|name| hidden.contains(name)) {
            let hint = format!("; `{name} = ..` stands in a comment, behind a `;`");
            mistake.message.push_str(&hint);
        }
    }
}

/// The names that are given values in a comment.
fn named_in(comment: &str) -> impl Iterator<Item = &str> {
    comment.split(';').filter_map(|statement| {
        let (name, value) = statement.split_once('=')?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let name = name.trim();
        (!name.is_empty() && name.bytes().all(is_word) && !value.starts_with('=')).then_some(name)
    })
}

/// The names nearest to a given one: those within a third of its length in edits, at most three.
pub fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    const LONGEST: usize = 64;
    let given: Vec<char> = given.chars().take(LONGEST).collect();
    let limit = (given.len() / 3).max(usize::from(given.len() > 1));
    let letters = letters_of(given.iter().copied());
    let mut rows = Rows::default();
    let mut found: Vec<(usize, &str)> = names
        .filter(|name| name.chars().take(given.len() + limit + 1).count().abs_diff(given.len()) <= limit)
        .filter(|name| may_be_near(letters, letters_of(name.chars()), limit))
        .filter_map(|name| Some((rows.distance(&given, name, limit)?, name)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// The letters of a name, as bits; several letters share one.
fn letters_of(of: impl Iterator<Item = char>) -> u64 {
    of.fold(0, |bits, letter| bits | (1u64 << (u32::from(letter) % u64::BITS)))
}

/// Whether two names can be within so many edits by the letters that only one of them has: each takes an edit.
fn may_be_near(one: u64, other: u64, limit: usize) -> bool {
    let only = (one & !other).count_ones().max((other & !one).count_ones());
    only as usize <= limit
}

/// The most names that one mistake lists.
const MOST_NAMES: usize = 10;

/// Bytes of a name that is listed for none of its likeness.
const SHORT: usize = 200;

/// The names that are there instead of a given one: near ones first, then some of the others by name.
pub fn in_scope<'n>(given: &str, names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut found = nearest(given, names.clone());
    let mut others: BTreeSet<&str> = BTreeSet::new();
    for name in names.filter(|name| name.len() <= SHORT && !found.iter().any(|near| near == name)) {
        if others.len() == MOST_NAMES && others.last().is_some_and(|last| *last <= name) {
            continue;
        }
        others.insert(name);
        if others.len() > MOST_NAMES {
            others.pop_last();
        }
    }
    let rest = MOST_NAMES.saturating_sub(found.len());
    found.extend(others.into_iter().take(rest).map(str::to_owned));
    found
}

/// The last rows of a table of distances, kept from one name to the next.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    row: Vec<usize>,
    next: Vec<usize>,
}

impl Rows {
    /// The edit distance (Wagner and Fischer, 1974), with swaps of neighbours, if it is within the limit.
    fn distance(&mut self, given: &[char], name: &str, limit: usize) -> Option<usize> {
        let Rows { before, row, next } = self;
        row.clear();
        row.extend(0..=given.len());
        let mut last = None;
        for (index, letter) in name.chars().enumerate() {
            next.clear();
            next.push(index + 1);
            for column in 0..given.len() {
                let substituted = row[column] + usize::from(given[column] != letter);
                let mut best = substituted.min(row[column + 1] + 1).min(next[column] + 1);
                if column > 0 && given[column - 1] == letter && last == Some(given[column]) {
                    best = best.min(before[column - 1] + 1);
                }
                next.push(best);
            }
            // Each row follows from the two before it, and is nowhere less than both.
            if row.iter().chain(&*next).all(|distance| *distance > limit) {
                return None;
            }
            std::mem::swap(before, row);
            std::mem::swap(row, next);
            last = Some(letter);
        }
        row.last().copied().filter(|distance| *distance <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn check(given: &str, names: &[&str], expect: &[&str]) {
        assert_eq!(nearest(given, names.iter().copied()), expect, "{given}");
    }

    #[test]
    fn the_nearest_names_come_first() {
        check("lenght", &["length", "width", "len"], &["length"]);
        check("cat", &["cart", "at", "cut", "rat", "dog"], &["at", "cart", "cut"]);
        check("x", &["y"], &[]);
        check("", &["y"], &[]);
        check(&"a".repeat(10_000), &["a", "b"], &[]);
    }

    /// A name has as many letters in any script, whatever bytes they take.
    #[test]
    fn letters_are_counted_not_bytes() {
        check("数据流表", &["数据流图", "数据库"], &["数据流图"]);
        check("größe", &["grösse", "größer"], &["größer"]);
        check("naive", &["naïve"], &["naïve"]);
    }
}
