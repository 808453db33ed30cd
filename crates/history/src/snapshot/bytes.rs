//! Reading and writing the binary form: numbers, refs and a table of texts.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use lmlang_ir::{Op, Type, text};

use super::SnapshotError;

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
    /// Appends the table and what was written.
    pub(super) fn finish(self, bytes: &mut Vec<u8>) {
        put(bytes, self.count);
        bytes.extend(self.texts);
        bytes.extend(self.body);
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
                let place = self.place(&text::print_op(op));
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

    /// Ascending numbers, as runs of neighbours: the distance to the start of each, and how many follow.
    pub(super) fn ascending(&mut self, ranges: impl Iterator<Item = RangeInclusive<u64>>) {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for range in ranges {
            let (first, end) = range.into_inner();
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == first => *last = end,
                Some(_) | None => runs.push((first, end)),
            }
        }
        let mut before = 0;
        self.number(runs.len() as u64);
        for (first, last) in runs {
            self.number(first - before);
            self.number(last - first);
            before = last;
        }
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

pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
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
    /// Reads from a place on, without a table.
    pub(super) fn bare(bytes: &'a [u8], at: usize) -> Reader<'a> {
        Reader { bytes, at, texts: Vec::new(), last: 0 }
    }

    /// Where the next number is read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads the table behind a header of a length.
    pub(super) fn open(bytes: &'a [u8], header: usize) -> Result<Reader<'a>, SnapshotError> {
        let mut reader = Reader::bare(bytes, header);
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

    pub(super) fn damaged(&self, what: &'static str) -> SnapshotError {
        SnapshotError::Damaged { at: self.at, what }
    }

    /// Fails unless everything was read.
    pub(super) fn end(&self) -> Result<(), SnapshotError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.damaged("the end")) }
    }

    pub(super) fn number(&mut self) -> Result<u64, SnapshotError> {
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
    pub(super) fn length(&mut self) -> Result<usize, SnapshotError> {
        let length = self.number()?;
        let left = self.bytes.len() - self.at;
        usize::try_from(length).ok().filter(|length| *length <= left).ok_or_else(|| self.damaged("a length"))
    }

    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, SnapshotError> {
        T::try_from(self.number()?).map_err(|_| self.damaged("a smaller number"))
    }

    pub(super) fn optional_number(&mut self) -> Result<Option<u64>, SnapshotError> {
        Ok(self.number()?.checked_sub(1))
    }

    pub(super) fn flag(&mut self) -> Result<bool, SnapshotError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged("a flag")),
        }
    }

    pub(super) fn reference<T>(&mut self, make: impl Fn(u64) -> Option<T>) -> Result<T, SnapshotError> {
        let coded = self.number()?;
        let distance = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
        self.last = self.last.wrapping_add(distance.cast_unsigned());
        make(self.last).ok_or_else(|| self.damaged("a ref"))
    }

    pub(super) fn text(&mut self) -> Result<Arc<str>, SnapshotError> {
        let place = self.number()?;
        Ok(Arc::clone(&self.entry(place)?.text))
    }

    pub(super) fn optional(&mut self) -> Result<Option<Arc<str>>, SnapshotError> {
        match self.optional_number()? {
            None => Ok(None),
            Some(place) => Ok(Some(Arc::clone(&self.entry(place)?.text))),
        }
    }

    pub(super) fn op(&mut self) -> Result<Op, SnapshotError> {
        let place = self.number()?;
        let damaged = self.damaged("an operator");
        let entry = self.entry(place)?;
        if entry.op.is_none() {
            entry.op = Some(text::parse_op(&*entry.text).map_err(|_| damaged)?);
        }
        entry.op.clone().ok_or_else(|| self.damaged("an operator"))
    }

    pub(super) fn ty(&mut self) -> Result<Type, SnapshotError> {
        let place = self.number()?;
        let damaged = self.damaged("a type");
        let entry = self.entry(place)?;
        if entry.ty.is_none() {
            entry.ty = Some(text::parse_type_refs(&entry.text).map_err(|_| damaged)?);
        }
        entry.ty.clone().ok_or_else(|| self.damaged("a type"))
    }

    /// Ascending numbers, none above `most`.
    pub(super) fn ascending(&mut self, most: u64) -> Result<Vec<RangeInclusive<u64>>, SnapshotError> {
        let mut ranges = Vec::new();
        let mut before = 0u64;
        for _ in 0..self.length()? {
            let (distance, more) = (self.number()?, self.number()?);
            let first = before.checked_add(distance).filter(|first| distance > 0 && *first <= most);
            let last = first.and_then(|first| first.checked_add(more)).filter(|last| *last <= most);
            let (Some(first), Some(last)) = (first, last) else {
                return Err(self.damaged("ascending numbers"));
            };
            ranges.push(first..=last);
            before = last;
        }
        Ok(ranges)
    }

    pub(super) fn list<T>(
        &mut self,
        item: impl Fn(&mut Reader<'a>) -> Result<T, SnapshotError>,
    ) -> Result<Vec<T>, SnapshotError> {
        (0..self.length()?).map(|_| item(self)).collect()
    }

    fn entry(&mut self, place: u64) -> Result<&mut Entry, SnapshotError> {
        let damaged = self.damaged("a text of the table");
        usize::try_from(place).ok().and_then(|place| self.texts.get_mut(place)).ok_or(damaged)
    }
}
