//! JSON under construction.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use crate::transport::budget::Tab;

/// A list, or an event, that is being written.
#[derive(Debug)]
pub struct Out<'a> {
    json: Vec<u8>,
    tab: Tab<'a>,
    given_up: bool,
}

impl<'a> Out<'a> {
    /// Has room for so many bytes before it grows.
    pub(super) fn new(tab: Tab<'a>, room: usize) -> Out<'a> {
        Out { json: Vec::with_capacity(room), tab, given_up: false }
    }

    /// Begins a list or an object.
    pub(super) fn open(&mut self, bracket: u8) {
        self.json.push(bracket);
    }

    /// Separates what has an index from what stands before it.
    pub(super) fn next(&mut self, index: usize) {
        if index > 0 {
            self.json.push(b',');
        }
    }

    /// Ends a list or an object.
    pub(super) fn close(&mut self, bracket: u8) {
        self.json.push(bracket);
    }

    /// Writes what is JSON already.
    pub(super) fn json(&mut self, json: &str) {
        self.json.extend_from_slice(json.as_bytes());
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        serde_json::to_writer(&mut self.json, text).expect("memory takes text");
    }

    /// Writes a text that counts among those of the answer.
    pub(crate) fn counted(&mut self, text: &str) {
        self.tab.text(text.len() as u64);
        self.text(text);
    }

    /// Writes what has only letters, digits and signs that need no escape, as a text.
    pub(crate) fn plain(&mut self, of: impl Display) {
        write!(self.json, "\"{of}\"").expect("memory takes text");
    }

    /// Writes a number, or another word of JSON.
    pub(crate) fn number(&mut self, of: impl Display) {
        write!(self.json, "{of}").expect("memory takes text");
    }

    /// Writes that there is nothing.
    pub(crate) fn null(&mut self) {
        self.json("null");
    }

    /// Writes a list of what has a JSON form.
    pub(crate) fn list<T: Serialize>(&mut self, items: impl IntoIterator<Item = T>) {
        self.open(b'[');
        for (at, item) in items.into_iter().enumerate() {
            self.next(at);
            serde_json::to_writer(&mut self.json, &item).expect("memory takes text");
        }
        self.close(b']');
    }

    /// Writes a list of texts that count among those of the answer, as the items do among its fields.
    pub(crate) fn texts(&mut self, texts: &[String]) {
        self.count(texts.len() as u64);
        self.open(b'[');
        for (at, text) in texts.iter().enumerate() {
            self.next(at);
            self.counted(text);
        }
        self.close(b']');
    }

    /// Counts so many fields that a list inside of an item brings.
    pub(super) fn count(&mut self, fields: u64) {
        self.tab.fields(fields);
    }

    /// Leaves all of it to the library: something would be an error, or takes long.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Whether the library has to answer.
    pub(super) fn is_spoilt(&self) -> bool {
        self.given_up || self.tab.is_over()
    }

    /// What was written, once it is paid for.
    pub(super) fn finish(self) -> Option<String> {
        self.tab.pay().ok()?;
        String::from_utf8(self.json).ok()
    }
}
