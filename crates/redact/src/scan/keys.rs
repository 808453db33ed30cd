//! Keys of well-known providers, and JSON Web Tokens.

use std::ops::Range;

use super::{of_key, run, short_run};

/// How far a word is looked at to say whether it is a key.
const LOOK: usize = 256;

/// What stands behind a prefix.
enum Tail {
    /// Letters, digits, `-` and `_`, so many at least, in an order that no words have.
    Random(usize),
    /// Letters, digits, `-` and `_`, so many at least.
    Any(usize),
    /// Letters and digits, so many at least.
    Word(usize),
    /// Capital letters and digits, exactly so many.
    Capitals(usize),
    /// As `Any`, with dots.
    Dotted(usize),
}

/// How keys begin: OpenAI, Anthropic, OpenRouter and Langfuse; Groq; xAI; Stripe; GitHub; GitLab; AWS; Google; Slack;
/// Hugging Face; npm; PyPI; Docker; SendGrid; Shopify; DigitalOcean; Replicate; age; and the tokens of this project.
const PREFIXES: [(&str, Tail); 41] = [
    ("sk-", Tail::Random(16)),
    ("gsk_", Tail::Word(20)),
    ("xai-", Tail::Random(24)),
    ("sk_live_", Tail::Any(8)),
    ("sk_test_", Tail::Any(8)),
    ("rk_live_", Tail::Any(8)),
    ("rk_test_", Tail::Any(8)),
    ("whsec_", Tail::Any(16)),
    ("ghp_", Tail::Word(16)),
    ("gho_", Tail::Word(16)),
    ("ghu_", Tail::Word(16)),
    ("ghs_", Tail::Word(16)),
    ("ghr_", Tail::Word(16)),
    ("github_pat_", Tail::Any(16)),
    ("glpat-", Tail::Random(16)),
    ("gldt-", Tail::Random(16)),
    ("glrt-", Tail::Random(16)),
    ("AKIA", Tail::Capitals(16)),
    ("ASIA", Tail::Capitals(16)),
    ("AIza", Tail::Any(30)),
    ("ya29.", Tail::Dotted(20)),
    ("xoxa-", Tail::Any(10)),
    ("xoxb-", Tail::Any(10)),
    ("xoxp-", Tail::Any(10)),
    ("xoxr-", Tail::Any(10)),
    ("xoxs-", Tail::Any(10)),
    ("xoxe-", Tail::Any(10)),
    ("xoxe.", Tail::Dotted(10)),
    ("xoxc-", Tail::Any(10)),
    ("xoxd-", Tail::Any(10)),
    ("xapp-", Tail::Any(10)),
    ("hf_", Tail::Word(20)),
    ("npm_", Tail::Word(20)),
    ("pypi-", Tail::Random(30)),
    ("dckr_pat_", Tail::Any(16)),
    ("SG.", Tail::Dotted(40)),
    ("shpat_", Tail::Word(16)),
    ("dop_v1_", Tail::Word(16)),
    ("r8_", Tail::Word(24)),
    ("AGE-SECRET-KEY-", Tail::Any(16)),
    ("lml_", Tail::Any(24)),
];

/// Finds a key that begins here.
pub(super) fn key(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text[at..].starts_with(b"eyJ") {
        return web_token(text, at);
    }
    let (prefix, tail) = PREFIXES.iter().find(|(prefix, _)| text[at..].starts_with(prefix.as_bytes()))?;
    let from = at + prefix.len();
    let end = match tail {
        Tail::Random(least) => {
            let look = &text[from..short_run(text, from, LOOK, of_key)];
            (look.len() >= *least && random(look)).then(|| run(text, from, of_key))
        }
        Tail::Any(least) => long(text, from, *least, of_key),
        Tail::Word(least) => long(text, from, *least, |byte| byte.is_ascii_alphanumeric()),
        Tail::Capitals(exactly) => {
            let end = short_run(text, from, LOOK, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let over = text.get(end).is_some_and(|byte| of_key(*byte));
            (end - from == *exactly && !over).then_some(end)
        }
        Tail::Dotted(least) => long(text, from, *least, |byte| of_key(byte) || byte == b'.'),
    };
    end.map(|end| at..end)
}

fn long(text: &[u8], from: usize, least: usize, part: impl Fn(u8) -> bool) -> Option<usize> {
    (short_run(text, from, least, &part) == from + least).then(|| run(text, from, part))
}

/// Says whether a word is no chain of words such as `sk-learn-contrib-package`: it has a digit, letters of both cases, or
/// a part that is longer than words are.
fn random(word: &[u8]) -> bool {
    let any = |kind: fn(&u8) -> bool| word.iter().any(kind);
    any(u8::is_ascii_digit)
        || (any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase))
        || word.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| part.len() >= 16)
}

/// A JSON Web Token: three parts or five, the first of which begins as an object does.
fn web_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    if at > 0 && of_key(text[at - 1]) {
        return None;
    }
    let header = run(text, at, of_key);
    if header - at < 10 || text.get(header) != Some(&b'.') {
        return None;
    }
    let payload = run(text, header + 1, of_key);
    let more = text.get(payload) == Some(&b'.') || text[header + 1..].starts_with(b"eyJ");
    (more && payload > header + 1).then(|| at..run(text, payload, |byte| of_key(byte) || byte == b'.'))
}
