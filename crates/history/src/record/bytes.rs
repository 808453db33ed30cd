//! Reading and writing the binary form: numbers, refs and a table of texts.

use std::collections::HashMap;
use std::sync::Arc;

use lmlang_ir::{Op, Type};

use super::RecordError;
use super::shown::{Canonical, Shown};

/// Collects the table of texts and what refers to it.
#[derive(Default)]
pub(super) struct Writer {
    texts: Vec<u8>,
    count: u64,
    places: HashMap<Arc<str>, u64>,
    ops: HashMap<Op, u64>,
    types: HashMap<Type, u64>,
    body: Vec<u8>,
    last: u64,
}

impl Writer {
    /// The header, the table and what was written.
    pub(super) fn finish(self, header: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.texts.len() + self.body.len() + 16);
        bytes.extend(header);
        put(&mut bytes, self.count);
        bytes.extend(self.texts);
        bytes.extend(self.body);
        bytes
    }

    pub(super) fn number(&mut self, number: u64) {
        put(&mut self.body, number);
    }

    /// An optional number, zero for none.
    pub(super) fn optional_number(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number + 1));
    }

    /// A ref as the distance from the one written before, zig-zag, so that neighbours are short.
    pub(super) fn reference(&mut self, number: u64) {
        let distance = number.wrapping_sub(self.last).cast_signed();
        self.last = number;
        put(&mut self.body, (distance << 1 ^ distance >> 63).cast_unsigned());
    }

    pub(super) fn text(&mut self, text: &str) {
        let place = self.place(text);
        self.number(place);
    }

    /// An optional text, zero for none.
    pub(super) fn optional(&mut self, text: Option<&Arc<str>>) {
        let place = text.map(|text| self.place(text));
        self.optional_number(place);
    }

    pub(super) fn op(&mut self, op: &Op) {
        let place = match self.ops.get(op) {
            Some(place) => *place,
            None => {
                let place = self.place(&Shown(op.clone()).to_string());
                self.ops.insert(op.clone(), place);
                place
            }
        };
        self.number(place);
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        let place = match self.types.get(ty) {
            Some(place) => *place,
            None => {
                let place = self.place(&ty.to_string());
                self.types.insert(ty.clone(), place);
                place
            }
        };
        self.number(place);
    }

    pub(super) fn list<T>(&mut self, items: &[T], item: impl Fn(&mut Writer, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|one| item(self, one));
    }

    fn place(&mut self, text: &str) -> u64 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        put(&mut self.texts, text.len() as u64);
        self.texts.extend(text.as_bytes());
        self.places.insert(text.into(), self.count);
        self.count += 1;
        self.count - 1
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads what a [`Writer`] wrote; never panics, whatever the bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    texts: Vec<Entry>,
    last: u64,
}

/// A text of the table, with what it was read as before.
struct Entry {
    text: Arc<str>,
    op: Option<Op>,
    ty: Option<Type>,
}

impl<'a> Reader<'a> {
    /// Reads the table behind a header of a length.
    pub(super) fn open(bytes: &'a [u8], header: usize) -> Result<Reader<'a>, RecordError> {
        let mut reader = Reader { bytes, at: header, texts: Vec::new(), last: 0 };
        for _ in 0..reader.number()? {
            let length = reader.length()?;
            let text = reader.bytes.get(reader.at..reader.at + length);
            let text = text.and_then(|text| std::str::from_utf8(text).ok());
            let text = text.ok_or_else(|| reader.damaged("a text"))?.into();
            reader.at += length;
            reader.texts.push(Entry { text, op: None, ty: None });
        }
        Ok(reader)
    }

    pub(super) fn damaged(&self, what: &'static str) -> RecordError {
        RecordError::Damaged { at: self.at, what }
    }

    /// Fails unless everything was read.
    pub(super) fn end(&self) -> Result<(), RecordError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.damaged("the end")) }
    }

    pub(super) fn number(&mut self) -> Result<u64, RecordError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.damaged("a number"))?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number"))
    }

    /// A number of things, each of which takes a byte at least: so a damaged one reserves no memory.
    pub(super) fn length(&mut self) -> Result<usize, RecordError> {
        let length = self.number()?;
        let left = self.bytes.len() - self.at;
        usize::try_from(length).ok().filter(|length| *length <= left).ok_or_else(|| self.damaged("a length"))
    }

    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, RecordError> {
        T::try_from(self.number()?).map_err(|_| self.damaged("a smaller number"))
    }

    pub(super) fn optional_number(&mut self) -> Result<Option<u64>, RecordError> {
        Ok(self.number()?.checked_sub(1))
    }

    pub(super) fn flag(&mut self) -> Result<bool, RecordError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged("a flag")),
        }
    }

    pub(super) fn reference<T>(&mut self, make: impl Fn(u64) -> Option<T>) -> Result<T, RecordError> {
        let coded = self.number()?;
        let distance = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
        self.last = self.last.wrapping_add(distance.cast_unsigned());
        make(self.last).ok_or_else(|| self.damaged("a ref"))
    }

    pub(super) fn text(&mut self) -> Result<Arc<str>, RecordError> {
        let place = self.number()?;
        Ok(Arc::clone(&self.entry(place)?.text))
    }

    pub(super) fn optional(&mut self) -> Result<Option<Arc<str>>, RecordError> {
        match self.optional_number()? {
            None => Ok(None),
            Some(place) => Ok(Some(Arc::clone(&self.entry(place)?.text))),
        }
    }

    pub(super) fn op(&mut self) -> Result<Op, RecordError> {
        let place = self.number()?;
        let damaged = self.damaged("an operator");
        let entry = self.entry(place)?;
        if entry.op.is_none() {
            entry.op = Some(Op::read(&entry.text).map_err(|_| damaged)?);
        }
        entry.op.clone().ok_or_else(|| self.damaged("an operator"))
    }

    pub(super) fn ty(&mut self) -> Result<Type, RecordError> {
        let place = self.number()?;
        let damaged = self.damaged("a type");
        let entry = self.entry(place)?;
        if entry.ty.is_none() {
            entry.ty = Some(Type::read(&entry.text).map_err(|_| damaged)?);
        }
        entry.ty.clone().ok_or_else(|| self.damaged("a type"))
    }

    pub(super) fn list<T>(
        &mut self,
        item: impl Fn(&mut Reader<'a>) -> Result<T, RecordError>,
    ) -> Result<Vec<T>, RecordError> {
        (0..self.length()?).map(|_| item(self)).collect()
    }

    fn entry(&mut self, place: u64) -> Result<&mut Entry, RecordError> {
        let damaged = self.damaged("a text of the table");
        usize::try_from(place).ok().and_then(|place| self.texts.get_mut(place)).ok_or(damaged)
    }
}
