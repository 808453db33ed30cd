//! Programs in files: what a file's name says, reading and writing.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, print_program};

use crate::error::Error;
use crate::replacing::replace;

/// What a file holds, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text form.
    Text,
    /// A WebAssembly module.
    Wasm,
    /// A WebAssembly module as text.
    Wat,
}

/// What a binary module begins with.
const MAGIC: &[u8] = b"\0asm";

impl Kind {
    /// What a file holds; standard input and output carry the text form, and the first also a module: see [`Given`].
    pub(crate) fn of(path: &Path) -> Result<Kind, Error> {
        if path == Path::new("-") {
            return Ok(Kind::Text);
        }
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("lm") => Ok(Kind::Text),
            Some("wasm") => Ok(Kind::Wasm),
            Some("wat") => Ok(Kind::Wat),
            Some(_) | None => Err(Error::UnknownSuffix(path.to_owned(), "")),
        }
    }
}

/// What was read of a file, or of standard input.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// A program in the text form.
    Text(Source),
    /// A module.
    Wasm(Vec<u8>),
    /// A module as text.
    Wat(String),
}

impl Given {
    /// Reads a file, or standard input for `-`: what comes from there and begins as modules do is one.
    pub(crate) fn read(path: &Path) -> Result<Given, Error> {
        match Kind::of(path)? {
            Kind::Text if path == Path::new("-") => {
                let bytes = stdin()?;
                match bytes.starts_with(MAGIC) {
                    true => Ok(Given::Wasm(bytes)),
                    false => Ok(Given::Text(Source::of_text(path, text(path, bytes)?))),
                }
            }
            Kind::Text => Ok(Given::Text(Source::of_text(path, input(path)?))),
            Kind::Wasm => Ok(Given::Wasm(bytes(path)?)),
            Kind::Wat => Ok(Given::Wat(input(path)?)),
        }
    }
}

/// A program in the text form.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The path of its file, as it was given.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) text: String,
    /// Where the text is from.
    pub(crate) origin: Origin,
}

/// Where a text is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It was read as it is.
    Read,
    /// It is what a module says: nobody has seen its lines.
    Module,
}

impl Source {
    /// Reads a file, or standard input for `-`. A module is put into words.
    pub(crate) fn read(path: &Path) -> Result<Source, Error> {
        let import = |module: &[u8]| lmlang_wasm::import(module, &mut RefAllocator::starting_at(1));
        let program = match Given::read(path)? {
            Given::Text(source) => return Ok(source),
            Given::Wasm(module) => import(&module),
            Given::Wat(text) => lmlang_wasm::binary(&text)
                .and_then(|module| import(&module))
                .map_err(|error| error.in_text(&text)),
        };
        let program =
            program.map_err(|source| Error::Import { path: path.to_owned(), source: Box::new(source) })?;
        let text = print_program(&program, Detail::Full);
        Ok(Source { path: path.to_owned(), text, origin: Origin::Module })
    }

    /// Reads a file in the text form, or standard input for `-`.
    pub(crate) fn read_text(path: &Path) -> Result<Source, Error> {
        if Kind::of(path)? != Kind::Text {
            return Err(Error::NoText(path.to_owned()));
        }
        Ok(Source::of_text(path, input(path)?))
    }

    fn of_text(path: &Path, text: String) -> Source {
        Source { path: path.to_owned(), text, origin: Origin::Read }
    }

    /// The name that messages call it by.
    pub(crate) fn name(&self) -> String {
        if self.path == Path::new("-") { "stdin".to_owned() } else { self.path.display().to_string() }
    }
}

/// Reads all of a file, or of standard input for `-`.
pub(crate) fn input(path: &Path) -> Result<String, Error> {
    text(path, if path == Path::new("-") { stdin()? } else { bytes(path)? })
}

/// A text that the command line gives, or that stands on standard input for `-`.
pub(crate) fn argument(given: &str) -> Result<String, Error> {
    if given == "-" { input(Path::new(given)) } else { Ok(given.to_owned()) }
}

fn stdin() -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|source| Error::Read { path: "-".into(), source })?;
    Ok(bytes)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let why = format!("line {line} is not UTF-8");
        Error::Read {
            path: path.to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, why),
        }
    })?;
    // Some editors mark UTF-8 so; it is no part of the text.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Reads all of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// Writes a file, or replaces the one that is there.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    replace(path, content.as_ref()).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// The first paragraph of the comment that a text begins with, on one line; empty without.
pub(crate) fn leading_comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix(';'));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_comment_is_its_first_paragraph() {
        let text = "; One\n; two.\n;\n; three\nmodule a\n; four\n";
        assert_eq!(leading_comment(text), "One two.");
        assert_eq!(leading_comment("module a\n; no"), "");
    }
}
