//! Shorter words for long ones, with a legend.

use std::collections::HashMap;

use crate::tokenizer::Tokenizer;

/// A dictionary of words that may be written shorter, each with its short form.
///
/// A word counts only as a whole, outside of quotes and comments. A short form is used when that saves more tokens than
/// the legend takes for it, and when it occurs nowhere in the text itself, so that the text stays unambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abbreviations(Vec<(String, String)>);

/// The words of the text form that take several tokens, the most frequent first.
const WORDS: &[(&str, &str)] = &[
    ("struct.get", "sg"),
    ("struct.set", "ss"),
    ("struct.new", "sn"),
    ("array.get", "ag"),
    ("array.set", "aset"),
    ("array.len", "al"),
    ("array.push", "ap"),
    ("array.new", "an"),
    ("array.slice", "asl"),
    ("enum.new", "en"),
    ("enum.payload", "ep"),
    ("enum.tag", "et"),
    ("string.concat", "sc"),
    ("string.format", "sf"),
    ("string.slice", "ssl"),
    ("string.byte", "sb"),
    ("string.len", "sl"),
    ("bytes.get", "bg"),
    ("bytes.set", "bs"),
    ("bytes.len", "bl"),
    ("bytes.push", "bp"),
    ("box.new", "bn"),
    ("box.get", "bx"),
    ("closure.call", "cc"),
    ("closure.new", "cn"),
    ("call_indirect", "cali"),
    ("continue_if", "cif"),
    ("break_if", "bif"),
    ("continue", "cont"),
    ("unreachable", "unr"),
    ("global.get", "gg"),
    ("global.set", "gs"),
    ("var.get", "vg"),
    ("var.set", "vs"),
    ("memory.copy", "mc"),
    ("memory.fill", "mf"),
    ("select", "sel"),
    ("func", "fn"),
    ("require", "req"),
    ("ensure", "ens"),
];

impl Default for Abbreviations {
    fn default() -> Abbreviations {
        Abbreviations::new(WORDS.iter().copied())
    }
}

impl Abbreviations {
    /// A dictionary of one's own; an empty one abbreviates nothing.
    pub fn new<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Abbreviations {
        Abbreviations(words.into_iter().map(|(long, short)| (long.to_owned(), short.to_owned())).collect())
    }

    /// The words whose short forms are worth their place in the legend over some texts.
    pub(crate) fn worth<'t>(
        &self,
        texts: impl Iterator<Item = &'t str> + Clone,
        tokenizer: Tokenizer,
    ) -> Abbreviations {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for text in texts {
            for (word, abbreviable) in pieces(text) {
                // What stands in quotes or comments must not be taken for a short form either.
                *seen.entry(word).or_default() += usize::from(abbreviable);
                if !abbreviable {
                    word.split(|c: char| !is_part(c)).for_each(|part| *seen.entry(part).or_default() += 0);
                }
            }
        }
        let worth = |(long, short): &&(String, String)| {
            let times = seen.get(long.as_str()).copied().unwrap_or_default();
            if times == 0 || seen.contains_key(short.as_str()) {
                return false;
            }
            // Words mostly stand behind a blank.
            let tokens = |word: &str| tokenizer.count(&format!(" {word}"));
            let saved = times * tokens(long).saturating_sub(tokens(short));
            saved > tokenizer.count(&format!(" {short}={long}"))
        };
        Abbreviations(self.0.iter().filter(worth).cloned().collect())
    }

    /// What tells a reader the short forms: a comment line; nothing when there are none.
    pub fn legend(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let words: Vec<String> = self.0.iter().map(|(long, short)| format!("{short}={long}")).collect();
        format!("; abbreviated: {}\n", words.join(" "))
    }

    /// A text with short forms for the words of the dictionary.
    pub fn shorten(&self, text: &str) -> String {
        self.replace(text, |(long, short)| (long, short))
    }

    /// The text that was shortened with this dictionary.
    pub fn lengthen(&self, text: &str) -> String {
        self.replace(text, |(long, short)| (short, long))
    }

    fn replace<'a>(
        &'a self,
        text: &str,
        way: impl Fn(&'a (String, String)) -> (&'a String, &'a String),
    ) -> String {
        let with: HashMap<&str, &str> =
            self.0.iter().map(&way).map(|(from, to)| (from.as_str(), to.as_str())).collect();
        let mut out = String::with_capacity(text.len());
        for (piece, abbreviable) in pieces(text) {
            let found = abbreviable.then(|| with.get(piece)).flatten();
            out.push_str(found.copied().unwrap_or(piece));
        }
        out
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Cuts a text into words that may be abbreviated, and all else: quoted texts, comments, marks, refs and labels.
///
/// An operator's word ends where its type begins: of `add.i32` nothing is abbreviated, of `struct.get` all.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (length, is_word) = match first {
            '"' => (quoted(rest), false),
            ';' => (rest.find('\n').unwrap_or(rest.len()), false),
            '#' | '@' | '$' => {
                let mark = first.len_utf8();
                (mark + rest[mark..].find(|c| !is_part(c)).unwrap_or(rest.len() - mark), false)
            }
            c if is_part(c) => (rest.find(|c| !is_part(c)).unwrap_or(rest.len()), true),
            c => (c.len_utf8(), false),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some((piece, is_word))
    })
}

/// The bytes of a quoted text at the beginning of another one, with its quotes.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            // A text that does not end would hide all that follows.
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}
