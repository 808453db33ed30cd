//! How a text is hidden: all parts that are secret are found, replaced, and looked for again.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};

use crate::config::{Config, PolicyError};
use crate::exact::Exact;
use crate::fields::Fields;
use crate::mark::MARK;
use crate::names::Words;
use crate::scan;
use crate::views::View;

/// How often a text is looked at again after something in it was hidden. What comes together when a part between is
/// hidden can look like a secret; a text in which that goes on and on is hidden as a whole.
const PASSES: usize = 8;

/// Largest program of a pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// What is hidden. It is cheap to clone, and never shows the secrets that it knows.
#[derive(Clone)]
pub struct Policy(Arc<Inner>);

struct Inner {
    fields: Fields,
    exact: Option<Exact>,
    patterns: Vec<Regex>,
}

impl Policy {
    /// Makes a policy that hides what every policy hides and what is configured.
    pub fn new(config: &Config) -> Result<Policy, PolicyError> {
        let fields = Fields::new(&config.fields)?;
        let exact = Exact::new(&config.secrets)?;
        let patterns = config.patterns.iter().enumerate();
        let patterns = patterns.map(|(index, pattern)| compile(index, pattern)).collect::<Result<_, _>>()?;
        Ok(Policy(Arc::new(Inner { fields, exact, patterns })))
    }

    /// Hides what is secret in a text; one in which nothing is comes back as it is.
    ///
    /// The cost is linear in the length of the text. Only patterns of the configuration that look far ahead for nothing
    /// can cost more.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.find(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = replace(text, &spans);
        for _ in 0..PASSES {
            let spans = self.find(&out);
            if spans.is_empty() {
                return Cow::Owned(out);
            }
            out = replace(&out, &spans);
        }
        Cow::Owned(MARK.to_owned())
    }

    /// Says whether the value of a field with this name is hidden, whatever it is.
    #[must_use]
    pub fn hides_field(&self, name: &str) -> bool {
        self.0.fields.hides(&Words::of(name.as_bytes()))
    }

    /// Finds what is to be hidden: spans in order, apart from each other, on borders of characters, none of which is
    /// only what stands in place of secrets.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        View::each(text, |view| {
            let mut found = Vec::new();
            scan::find(&self.0.fields, view.bytes(), &mut found);
            for pattern in &self.0.patterns {
                found.extend(pattern.find_iter(view.bytes()).map(|hit| hit.range()));
            }
            spans.extend(found.into_iter().map(|span| view.origin(&span)));
            if let Some(exact) = &self.0.exact {
                exact.find(view.bytes(), |span| view.origin(&span), text.as_bytes(), &mut spans);
            }
        });
        if spans.is_empty() { spans } else { tidy(text, spans) }
    }
}

impl Default for Policy {
    /// Makes the policy that nothing is configured for.
    fn default() -> Policy {
        Policy(Arc::new(Inner { fields: Fields::default(), exact: None, patterns: Vec::new() }))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("fields", &self.0.fields)
            .field("patterns", &self.0.patterns)
            .finish_non_exhaustive()
    }
}

fn compile(index: usize, pattern: &str) -> Result<Regex, PolicyError> {
    let built = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build();
    let regex = built.map_err(|error| PolicyError::Pattern { index, why: error.to_string() })?;
    if regex.is_match(b"") {
        return Err(PolicyError::WidePattern { index, what: "the empty text" });
    }
    if regex.is_match(MARK.as_bytes()) {
        return Err(PolicyError::WidePattern { index, what: "`[redacted]`" });
    }
    Ok(regex)
}

/// Sorts and joins spans, widens them to whole characters and whole marks, and leaves out those that are only marks.
fn tidy(text: &str, mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    for span in &mut spans {
        span.start = text.floor_char_boundary(span.start);
        span.end = text.ceil_char_boundary(span.end);
    }
    spans.retain(|span| !span.is_empty());
    let marks: Vec<_> = text.match_indices(MARK).map(|(at, mark)| at..at + mark.len()).collect();
    if !marks.is_empty() {
        // A span within a mark hides nothing; one that begins or ends within a mark takes all of it.
        let around = |at: usize| {
            let next = marks.partition_point(|mark| mark.end <= at);
            marks.get(next).filter(|mark| mark.start < at).cloned()
        };
        for span in &mut spans {
            let (first, last) = (around(span.start), around(span.end));
            span.start = first.map_or(span.start, |mark| mark.start);
            span.end = last.map_or(span.end, |mark| mark.end);
        }
    }
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            Some(_) | None => out.push(span),
        }
    }
    out.retain(|span| !text[span.clone()].replace(MARK, "").is_empty());
    out
}

fn replace(text: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(&text[at..span.start]);
        out.push_str(MARK);
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}
