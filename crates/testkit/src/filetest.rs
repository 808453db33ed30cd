//! Runs tests that are text: `.lm` files with expectations in their comments, and Markdown files whose headings are
//! tests.
//!
//! In a `.lm` file a line ends with `;! CODE` (or several) where an error is expected on it, of the parser or of the
//! verifier; every error and everything stale must be expected, holes and warnings may be. `; run:` lines after a
//! function say what a run of it does, see [`case`]. A file that parses must print and parse back to the same program.
//! [`markdown`] describes the other kind.

pub mod case;
mod lines;
pub mod markdown;
mod merges;
mod program;
mod requests;

use std::fmt;
use std::path::{Path, PathBuf};

/// An expectation that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// What was expected there.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { file, line, expected, found } = self;
        write!(f, "{}:{line}: expected {expected}, found {found}", file.display())
    }
}

/// What a run of test files came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read.
    pub files: usize,
    /// Expectations that were looked at.
    pub expectations: usize,
    /// Those that did not hold, in the order of the files and lines.
    pub failures: Vec<Failure>,
}

impl Report {
    fn fail(&mut self, file: &Path, line: u32, expected: impl Into<String>, found: impl Into<String>) {
        let (file, expected, found) = (file.to_owned(), expected.into(), found.into());
        self.failures.push(Failure { file, line, expected, found });
    }

    /// Fails a test with all failures, or when nothing was tested.
    ///
    /// # Panics
    /// When an expectation did not hold, and when there was none.
    pub fn assert(&self) {
        assert!(self.expectations > 0, "no expectation in {} files", self.files);
        let lines: Vec<String> = self.failures.iter().map(Failure::to_string).collect();
        assert!(lines.is_empty(), "{} of {} failed:\n{}", lines.len(), self.expectations, lines.join("\n"));
    }
}

/// Checks a file, or all `.lm` and `.md` files of a folder and those below it, in the order of their paths.
///
/// Files called `README.md` are no tests.
pub fn check(path: &Path) -> std::io::Result<Report> {
    let mut report = Report::default();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path)?.collect::<std::io::Result<Vec<_>>>()?;
            let mut inner: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
            inner.sort_unstable_by(|a, b| b.cmp(a));
            open.extend(inner);
            continue;
        }
        let readme = path.file_name().is_some_and(|name| name == "README.md");
        let wanted = path.extension().is_some_and(|ending| ending == "lm" || (ending == "md" && !readme));
        if wanted {
            let one = check_text(&path, &std::fs::read_to_string(&path)?);
            report.files += one.files;
            report.expectations += one.expectations;
            report.failures.extend(one.failures);
        }
    }
    Ok(report)
}

/// Checks the text of a file; its kind follows from the ending of the path.
pub fn check_text(path: &Path, text: &str) -> Report {
    let mut report = Report { files: 1, ..Report::default() };
    if path.extension().is_some_and(|ending| ending == "md") {
        markdown::check(path, text, &mut report);
    } else {
        program::check(path, 0, text, &mut report);
    }
    report
}
