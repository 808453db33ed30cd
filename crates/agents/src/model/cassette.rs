//! Answers that were recorded, and are given again without calling anybody.
//!
//! A cassette is a file with one JSON value on each line: a request, its digest, and the answer. A request is found by its
//! digest, so one that differs in anything is another. One that was recorded several times gets its answers in the order
//! of the file, and the last one again after that. Keys are never part of a request, so none is recorded; what a prompt
//! says is.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::Digest;
use super::reply::Reply;
use super::transcript::{difference, transcript};
use super::{Completion, Delta, Model, ModelError, Request, Tell};

/// The name of what a cassette answers, on spans and views.
pub const PROVIDER: &str = "cassette";

/// Largest cassette, in bytes.
const LARGEST: u64 = 256 << 20;

/// One line of a cassette.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    digest: Digest,
    request: Request,
    reply: Reply,
}

/// Why a cassette cannot be used.
#[derive(Debug, Error)]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("the cassette `{name}` cannot be opened: {error}")]
    Open {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is too large.
    #[error("the cassette `{name}` is larger than {LARGEST} bytes")]
    TooLarge {
        /// The file.
        name: String,
    },
    /// A line is none.
    #[error("line {line} of the cassette `{name}` cannot be understood: {error}")]
    Line {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// A request was changed, and would never be found.
    #[error(
        "line {line} of the cassette `{name}` has another request than its digest says: `{digest}` it would be"
    )]
    Digest {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The digest of the request that stands there.
        digest: Digest,
    },
}

/// Answers with what a file has, and calls nobody.
pub struct Replaying {
    name: String,
    lines: Vec<Line>,
    /// For each request the lines with its answers, and how many have been given.
    found: Mutex<BTreeMap<Digest, (Vec<usize>, usize)>>,
}

impl Replaying {
    /// Reads a cassette.
    pub fn open(path: &Path) -> Result<Replaying, CassetteError> {
        let name = path.display().to_string();
        let failed = |error| CassetteError::Open { name: name.clone(), error };
        if fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Err(CassetteError::TooLarge { name });
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        Replaying::parse(&name, &text)
    }

    /// Reads the text of a cassette; the name stands in errors.
    pub fn parse(name: &str, text: &str) -> Result<Replaying, CassetteError> {
        let mut lines = Vec::new();
        let mut found = BTreeMap::<Digest, (Vec<usize>, usize)>::new();
        for (number, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line: Line = serde_json::from_str(text).map_err(|error| CassetteError::Line {
                name: name.to_owned(),
                line: number + 1,
                error,
            })?;
            let digest = line.request.digest();
            if digest != line.digest {
                return Err(CassetteError::Digest { name: name.to_owned(), line: number + 1, digest });
            }
            found.entry(digest).or_default().0.push(lines.len());
            lines.push(line);
        }
        Ok(Replaying { name: name.to_owned(), lines, found: Mutex::new(found) })
    }

    fn answer(&self, request: &Request) -> Result<Reply, ModelError> {
        let digest = request.digest();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((lines, given)) = found.get_mut(&digest) else {
            let nearest = self.nearest(request);
            return Err(ModelError::Unrecorded { cassette: self.name.clone(), digest, nearest });
        };
        let line = lines[(*given).min(lines.len() - 1)];
        *given = given.saturating_add(1);
        Ok(Reply { provider: PROVIDER.to_owned(), ..self.lines[line].reply.clone() })
    }

    /// The request that has most lines in common with the one that is asked, and where they begin to differ.
    fn nearest(&self, request: &Request) -> Box<str> {
        let asked = transcript(request);
        let nearest = self
            .lines
            .iter()
            .map(|line| (apart(&transcript(&line.request), &asked), line))
            .min_by_key(|(apart, _)| *apart)
            .and_then(|(_, line)| Some((line, difference(&transcript(&line.request), &asked)?)));
        let Some((line, difference)) = nearest else {
            return "; it has none at all".into();
        };
        let side = |side: Option<String>| side.map_or("nothing".to_owned(), |text| format!("`{text}`"));
        format!(
            "; the nearest that it has, {}, differs in line {}: {} is recorded, and {} is asked",
            line.digest,
            difference.line,
            side(difference.first),
            side(difference.second)
        )
        .into()
    }
}

/// How many lines one of two texts has and the other does not.
fn apart(first: &str, second: &str) -> usize {
    let mut lines = BTreeMap::<&str, isize>::new();
    first.lines().for_each(|line| *lines.entry(line).or_default() += 1);
    second.lines().for_each(|line| *lines.entry(line).or_default() -= 1);
    lines.values().map(|count| count.unsigned_abs()).sum()
}

impl Model for Replaying {
    fn provider(&self) -> &str {
        PROVIDER
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(async move {
            let reply = self.answer(request)?;
            if !reply.text.is_empty() {
                tell(Delta::Text(reply.text.clone()));
            }
            for (index, call) in reply.tool_calls.iter().enumerate() {
                let (name, arguments) = (Some(call.name.clone()), call.arguments.clone());
                tell(Delta::ToolCall { index, name, arguments });
            }
            Ok(reply)
        })
    }
}

/// A file to which answers are written; several models may write to one.
pub struct Tape {
    path: PathBuf,
    file: Mutex<File>,
}

impl Tape {
    /// Opens a file, behind what it has.
    pub fn open(path: &Path) -> Result<Tape, CassetteError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| CassetteError::Open { name: path.display().to_string(), error })?;
        Ok(Tape { path: path.to_owned(), file: Mutex::new(file) })
    }

    fn write(&self, request: &Request, reply: &Reply) -> Result<(), ModelError> {
        let line = Line { digest: request.digest(), request: request.clone(), reply: reply.clone() };
        let mut text = serde_json::to_string(&line).expect("it is made of texts, numbers and JSON");
        text.push('\n');
        // One write, so that a line is whole whoever else writes.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(|error| ModelError::Cassette {
            cassette: self.path.display().to_string(),
            why: error.to_string(),
        })
    }
}

/// Records what another model answers. Errors are not recorded.
pub struct Recording {
    inner: Arc<dyn Model>,
    tape: Arc<Tape>,
}

impl Recording {
    /// A layer around a model.
    pub fn new(inner: Arc<dyn Model>, tape: Arc<Tape>) -> Recording {
        Recording { inner, tape }
    }
}

impl Model for Recording {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(async move {
            let reply = self.inner.complete(request, tell).await?;
            self.tape.write(request, &reply)?;
            Ok(reply)
        })
    }
}

#[cfg(test)]
mod tests;
