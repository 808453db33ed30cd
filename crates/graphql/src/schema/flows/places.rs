//! Cursors of lists whose items are counted over all programs.

use std::fmt::Display;

use lmlang_engine::{Engine, Numbering};

use crate::error::ApiError;
use crate::schema::connection::PageRequest;
use crate::schema::cursor::number;
use crate::schema::failure::fail;

/// What a sealed place begins with.
const SEALED: char = '~';

/// How places in such lists are written for a caller, and read: who may know of some programs only is told nothing by them of
/// what is in others.
#[derive(Debug)]
pub(crate) struct Places(Numbering);

impl Places {
    pub(crate) async fn of(engine: &Engine) -> Result<Places, ApiError> {
        engine.numbering().await.map(Places).map_err(fail)
    }

    /// A place, `plain` as it is written for those who may know of all programs.
    pub(crate) fn write(&self, plain: impl Display, place: [u64; 2]) -> String {
        match self.0.seal(place) {
            None => plain.to_string(),
            Some(sealed) => format!("{SEALED}{sealed}"),
        }
    }

    /// The place that a text names, by what reads those that are not sealed.
    pub(crate) fn read(&self, text: &str, plain: impl FnOnce(&str) -> Option<[u64; 2]>) -> Option<[u64; 2]> {
        if !self.0.seals() {
            return plain(text);
        }
        self.0.open(&text.strip_prefix(SEALED)?.parse().ok()?)
    }

    /// A place that is a number.
    pub(crate) fn write_number(&self, place: u64) -> String {
        self.write(place, [place, 0])
    }

    /// The number after which a page begins.
    pub(crate) fn after_number(&self, page: &PageRequest) -> Result<Option<u64>, ApiError> {
        let plain = |text: &str| number(text).map(|place| [place, 0]);
        let place = page.after(|text| self.read(text, plain))?;
        Ok(place.map(|[place, _]| place))
    }
}
