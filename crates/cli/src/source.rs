//! Programs in files: what a file's name says, reading and writing.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, print_program};
use lmlang_wasm::ImportError;

use crate::error::Error;

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

impl Kind {
    /// What a file holds; standard input and output carry the text form.
    pub(crate) fn of(path: &Path) -> Result<Kind, Error> {
        if path == Path::new("-") {
            return Ok(Kind::Text);
        }
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("lm") => Ok(Kind::Text),
            Some("wasm") => Ok(Kind::Wasm),
            Some("wat") => Ok(Kind::Wat),
            Some(_) | None => Err(Error::UnknownSuffix(path.to_owned())),
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
}

impl Source {
    /// Reads a file, or standard input for `-`. A module is put into words.
    pub(crate) fn read(path: &Path) -> Result<Source, Error> {
        match Kind::of(path)? {
            Kind::Text => Source::read_text(path),
            Kind::Wasm => Source::of_module(path, Ok(bytes(path)?)),
            Kind::Wat => Source::of_module(path, lmlang_wasm::binary(&input(path)?)),
        }
    }

    fn of_module(path: &Path, module: Result<Vec<u8>, ImportError>) -> Result<Source, Error> {
        let import = |module: Vec<u8>| lmlang_wasm::import(&module, &mut RefAllocator::starting_at(1));
        let program = module
            .and_then(import)
            .map_err(|source| Error::Import { path: path.to_owned(), source: Box::new(source) })?;
        Ok(Source { path: path.to_owned(), text: print_program(&program, Detail::Full) })
    }

    /// Reads a file in the text form, or standard input for `-`.
    pub(crate) fn read_text(path: &Path) -> Result<Source, Error> {
        if Kind::of(path)? != Kind::Text {
            return Err(Error::NoText(path.to_owned()));
        }
        let mut text = input(path)?;
        // Some editors mark UTF-8 so; it is no part of the text.
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(Source { path: path.to_owned(), text })
    }

    /// The name that messages call it by.
    pub(crate) fn name(&self) -> String {
        if self.path == Path::new("-") { "stdin".to_owned() } else { self.path.display().to_string() }
    }
}

/// Reads all of a file, or of standard input for `-`.
pub(crate) fn input(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().read_to_string(&mut text),
        false => fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(text)
}

/// Reads all of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// Writes a file.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(path, content).map_err(|source| Error::Write { path: path.to_owned(), source })
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
