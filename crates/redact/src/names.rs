//! Which names say that what they name is secret.
//!
//! A name is read as words: `clientSecret`, `CLIENT_SECRET` and `Client-Secret` are the same two. What a name ends with
//! says what it names: `token_count` is a count, `api_key_env` the name of a variable.

use std::ops::Range;

/// What makes a name secret wherever it stands in it, without separators.
const ANYWHERE: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "apikey",
    "privatekey",
    "accesskey",
    "secretkey",
    "credential",
];

/// What makes a name secret at its end, without separators.
const AT_THE_END: [&str; 17] = [
    "secret",
    "secrets",
    "authorization",
    "cookie",
    "cookies",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "sshkey",
    "authkey",
    "authtokens",
    "accesstokens",
    "refreshtokens",
    "apitokens",
    "bearertokens",
];

/// Names that are secret as a whole.
const WHOLE: [&str; 10] = [
    "pwd",
    "auth",
    "jwt",
    "bearer",
    "otp",
    "secretid",
    "authorizationcode",
    "xamzsignature",
    "xamzcredential",
    "sessionkey",
];

/// Words that name something about a secret and not the secret, at the end of a name.
const ABOUT: [&str; 67] = [
    "age",
    "alg",
    "algorithm",
    "at",
    "attempts",
    "budget",
    "changed",
    "cost",
    "count",
    "counts",
    "created",
    "date",
    "days",
    "description",
    "enabled",
    "endpoint",
    "env",
    "error",
    "errors",
    "expiration",
    "expires",
    "expiry",
    "field",
    "file",
    "format",
    "header",
    "hours",
    "id",
    "ids",
    "in",
    "index",
    "kind",
    "label",
    "len",
    "length",
    "limit",
    "limits",
    "max",
    "message",
    "min",
    "ms",
    "name",
    "names",
    "out",
    "path",
    "per",
    "policy",
    "position",
    "prefix",
    "present",
    "price",
    "ref",
    "required",
    "rotation",
    "scope",
    "seconds",
    "size",
    "status",
    "strength",
    "total",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "used",
    "valid",
];

/// Words at the beginning of a name that make it a count or an answer to a question.
const QUESTIONS: [&str; 15] = [
    "count", "forgot", "has", "is", "max", "maximum", "min", "minimum", "missing", "needs", "num", "number",
    "requires", "supports", "total",
];

/// Words before `token` that make it a piece of a text or a place in a list.
const PIECES: [&str; 29] = [
    "begin",
    "bos",
    "by",
    "completion",
    "continuation",
    "cursor",
    "each",
    "end",
    "eos",
    "expected",
    "first",
    "input",
    "last",
    "mask",
    "max",
    "min",
    "next",
    "output",
    "pad",
    "page",
    "per",
    "previous",
    "prompt",
    "since",
    "special",
    "start",
    "stop",
    "unexpected",
    "unk",
];

/// Whose password a name that ends with `pass` is.
const OWNERS: [&str; 16] = [
    "admin", "basic", "db", "email", "ftp", "http", "login", "mail", "mysql", "pg", "proxy", "redis", "root",
    "smtp", "ssh", "user",
];

/// What may follow `token` in the name of one.
const VALUES: [&str; 5] = ["value", "secret", "string", "hash", "text"];

/// The words of a name, in lower case.
pub(crate) struct Words {
    compact: String,
    words: Vec<Range<usize>>,
}

impl Words {
    /// Reads a name: words end at separators, before a capital letter, and where letters and digits meet.
    pub(crate) fn of(name: &[u8]) -> Words {
        let mut compact = String::new();
        let mut words = Vec::new();
        let mut start = 0;
        let mut end = |compact: &String| {
            if start < compact.len() {
                words.push(start..compact.len());
                start = compact.len();
            }
        };
        for (at, byte) in name.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| name[before]);
            if !byte.is_ascii_alphanumeric() {
                // Letters of other scripts keep names apart that a configuration gives.
                if byte.is_ascii() {
                    end(&compact);
                    continue;
                }
                compact.push(char::from(*byte));
                continue;
            }
            let begins = before.is_some_and(|before| {
                before.is_ascii_digit() != byte.is_ascii_digit()
                    || (byte.is_ascii_uppercase()
                        && (before.is_ascii_lowercase()
                            || name.get(at + 1).is_some_and(u8::is_ascii_lowercase)))
            });
            if begins {
                end(&compact);
            }
            compact.push(char::from(byte.to_ascii_lowercase()));
        }
        end(&compact);
        Words { compact, words }
    }

    /// The name without separators, in lower case.
    pub(crate) fn compact(&self) -> &str {
        &self.compact
    }

    /// A word, counted from the end.
    fn last(&self, back: usize) -> Option<&str> {
        let at = self.words.len().checked_sub(back + 1)?;
        Some(&self.compact[self.words[at].clone()])
    }
}

/// Says whether a name says that its value is secret.
pub(crate) fn say_secret(words: &Words) -> bool {
    let compact = words.compact.as_str();
    if WHOLE.contains(&compact) {
        return true;
    }
    // `api_key_2`, `secret1`
    let numbers = (0..words.words.len())
        .take_while(|back| {
            words.last(*back).is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .count();
    let Some(last) = words.last(numbers) else { return false };
    let first = &compact[words.words[0].clone()];
    if ABOUT.contains(&last) || (words.words.len() > 1 && QUESTIONS.contains(&first)) {
        return false;
    }
    let end = words.words[words.words.len() - 1 - numbers].end;
    let named = &compact[..end];
    let anywhere = ANYWHERE
        .iter()
        .any(|word| compact.find(word).is_some_and(|at| !ABOUT.contains(&&compact[at + word.len()..])));
    anywhere
        || AT_THE_END.iter().any(|word| named.ends_with(word))
        || says_secret_within(words)
        || is_token(words, named, numbers)
        || is_password(words, last, numbers)
}

/// `secret` as a word of its own, with other words behind it: `secret_text`.
fn says_secret_within(words: &Words) -> bool {
    words.words.iter().any(|word| matches!(&words.compact[word.clone()], "secret" | "secrets"))
}

/// A token that opens something, not one that a text is made of.
fn is_token(words: &Words, named: &str, numbers: usize) -> bool {
    let value = usize::from(words.last(numbers).is_some_and(|last| VALUES.contains(&last)));
    let last = words.last(numbers + value);
    if last == Some("token") {
        let before = words.last(numbers + value + 1);
        return !before.is_some_and(|before| PIECES.contains(&before));
    }
    named.strip_suffix("token").is_some_and(|before| !PIECES.contains(&before))
}

fn is_password(words: &Words, last: &str, numbers: usize) -> bool {
    match last {
        "pwd" | "passw" => true,
        "pass" => words.last(numbers + 1).is_some_and(|before| OWNERS.contains(&before)),
        _ => false,
    }
}
