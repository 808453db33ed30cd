//! The values where a run stands: of its calls, of globals, and in linear memory.

use lmlang_interp::{ExpressionError, Shown, SourceValue, VariableValue};
use lmlang_ir::hash::hex;
use lmlang_ir::text::print_value;
use lmlang_ir::{Program, Source as From};
use serde_json::{Value as Json, json};

use super::{Answer, Session, whole_number};

/// Bytes of memory that are shown unless it is said how many.
const BYTES: u64 = 64;

/// Bytes of memory that one command shows at most.
const MOST_BYTES: u64 = 4_096;

/// Bytes of memory on a line.
const LINE: usize = 16;

/// A value: of what, by which name, and which.
type Row = (String, Option<String>, String);

impl Session {
    /// The values of the innermost call, or of the one that the run ended in.
    pub(super) fn locals(&self) -> Answer {
        self.rows("locals", &self.debugger.values(), &self.debugger.variables())
    }

    /// The values of a call, by its number; `None` where there is none.
    pub(super) fn locals_of(&self, frame: u64) -> Option<Answer> {
        let frame = u32::try_from(frame).ok()?;
        let (values, variables) = (self.debugger.values_at(frame)?, self.debugger.variables_at(frame)?);
        Some(self.rows("locals", &values, &variables))
    }

    pub(super) fn globals(&self) -> Answer {
        self.rows("globals", &[], &self.debugger.globals())
    }

    /// The value of an expression in the innermost call.
    ///
    /// # Errors
    ///
    /// Why there is none, and near names.
    pub(super) fn evaluated(&mut self, text: &str) -> Result<Answer, (String, Vec<String>)> {
        let plain = |reason: &str| (reason.to_owned(), Vec::new());
        if text.is_empty() {
            return Err(plain("expected an expression"));
        }
        let nowhere = || plain("the run is in no call");
        let innermost = self.debugger.stack().len().checked_sub(1).ok_or_else(nowhere)? as u32;
        let found = self.debugger.evaluate(innermost, text).ok_or_else(nowhere)?;
        let shown = found.map_err(|error| {
            let near = match &error {
                ExpressionError::Text(errors) => errors.first().map(|error| error.candidates.clone()),
                _ => None,
            };
            (error.to_string(), near.unwrap_or_default())
        })?;
        let value = print_value(self.program(), &shown.value);
        let rest = if shown.cut { " ..." } else { "" };
        Ok(Answer { text: format!("{value}{rest}\n"), json: json!({ "value": value, "cut": shown.cut }) })
    }

    fn rows(&self, what: &str, values: &[SourceValue], variables: &[VariableValue]) -> Answer {
        let program = self.program();
        let shown = |shown: &Shown| {
            let rest = if shown.cut { " ..." } else { "" };
            format!("{}{rest}", print_value(program, &shown.value))
        };
        let values = values
            .iter()
            .map(|one| (one.source.to_string(), name_of(program, one.source), shown(&one.shown)));
        let variables = variables.iter().map(|one| {
            let name = name_of_variable(program, one);
            (one.variable.to_string(), name, shown(&one.shown))
        });
        let rows: Vec<Row> = values.chain(variables).collect();
        let line = |(source, name, value): &Row| match name {
            Some(name) => format!("{name} ({source}) = {value}\n"),
            None => format!("{source} = {value}\n"),
        };
        let json = rows
            .iter()
            .map(|(source, name, value)| json!({ "source": source, "name": name, "value": value }));
        Answer { json: json!({ what: json.collect::<Vec<Json>>() }), text: rows.iter().map(line).collect() }
    }

    /// Bytes of linear memory: `ADDRESS [BYTES]`.
    pub(super) fn memory(&self, given: &str) -> Result<Answer, String> {
        let size = self.debugger.memory_size().ok_or("the program has no memory")?;
        let mut words = given.split_whitespace();
        let address = whole_number(words.next().ok_or("expected an address")?)?;
        let bytes = words.next().map(whole_number).transpose()?.unwrap_or(BYTES);
        if let Some(more) = words.next() {
            return Err(format!("expected an address and a number of bytes, found `{more}`"));
        }
        if !(1..=MOST_BYTES).contains(&bytes) {
            return Err(format!("expected 1 to {MOST_BYTES} bytes, found {bytes}"));
        }
        if address >= size {
            return Err(format!("the memory ends at {size}"));
        }
        let bytes = self.debugger.memory(address..address.saturating_add(bytes)).unwrap_or_default();
        let lines = bytes.chunks(LINE).zip((address..).step_by(LINE));
        Ok(Answer {
            text: lines.map(|(bytes, address)| line_of(address, bytes)).collect(),
            json: json!({ "address": address, "hex": hex(bytes), "size": size }),
        })
    }
}

/// Some bytes as numbers and as letters.
fn line_of(address: u64, bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let letter = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
    let letters: String = bytes.iter().map(letter).collect();
    format!("{address:>8}  {:<width$}  {letters}\n", numbers.join(" "), width = 3 * LINE - 1)
}

/// What a variable or global is called.
fn name_of_variable(program: &Program, one: &VariableValue) -> Option<String> {
    let of = one.variable;
    let name = match program.storage(of) {
        Some(storage) => Some(&storage.name),
        None => {
            let function = program.function(program.function_of(of.into())?)?;
            function.body().variable(of)?.name.as_ref()
        }
    };
    name.map(ToString::to_string)
}

/// What a value is called.
fn name_of(program: &Program, source: From) -> Option<String> {
    let of = match source {
        From::Node(node, _) => program.function_of(node.into())?,
        From::RegionParam(region, _) => program.function_of(region.into())?,
        From::Param(function, _) => function,
    };
    let function = program.function(of)?;
    match source {
        From::Node(node, _) => function.body().node(node)?.name().map(ToString::to_string),
        From::RegionParam(region, port) => {
            let param = function.body().region(region)?.params.get(usize::from(port))?;
            param.name.as_ref().map(ToString::to_string)
        }
        From::Param(_, port) => {
            let head = function.head();
            let mut params = head.params.iter().chain(&head.captures);
            params.nth(usize::from(port)).map(|param| param.name.to_string())
        }
    }
}
