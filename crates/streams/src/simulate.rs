//! Runs of a planned query over sample rows.
//!
//! The interpreter executes the functions of the program; which rows belong to which window is told here. A simulation is a
//! function of the plan and the sample, and bounded by fuel.

mod values;
mod window;

use std::collections::HashMap;
use std::fmt;

use lmlang_interp::{Cache, Limits, Options as RunOptions, Outcome, Run};
use lmlang_ir::{Const, FuncRef, Value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::pipeline::EventTimeOptions;
use crate::plan::typed::Shape;
use crate::planned::Planned;
use crate::types::Field;
use values::{RowReader, key_text, object};
use window::{Closed, Waiting};

/// Rows of a sample at most.
pub const MOST_SAMPLE_ROWS: usize = 100_000;

/// Times lie between this and its negative, in milliseconds: what a JSON number holds exactly.
pub const LATEST_MS: i64 = 1 << 53;

/// Errors that are listed at most.
const MOST_ERRORS: usize = 20;

/// Fuel that a call costs besides the nodes that it executes.
const CALL: u64 = 200;

/// What a query is run on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The rows in the order of arrival.
    pub rows: Vec<SampleRow>,
    /// How rows get their times.
    #[serde(default)]
    pub eventtime: EventTimeOptions,
    /// What happens behind the last row.
    #[serde(default)]
    pub end: End,
}

/// A row of a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleRow {
    /// When it arrives, in milliseconds since 1970. Tumbling and sliding windows need it where the event time is not enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// The columns; those that are left out are NULL.
    pub row: Map<String, Json>,
}

/// What happens behind the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Time goes on, so that windows by time are closed.
    #[default]
    Close,
    /// Nothing.
    Leave,
}

/// Bounds of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Nodes that all calls may execute together; a call costs 200 besides. Ten million take about a second.
    pub fuel: u64,
    /// Bytes that one call may hold.
    pub memory_bytes: u64,
    /// Rows of the result.
    pub rows: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { fuel: 50_000_000, memory_bytes: 64 << 20, rows: 10_000 }
    }
}

/// What came of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulated {
    /// The rows of the result, in the order in which they come.
    pub rows: Vec<OutputRow>,
    /// How many rows `WHERE` took away.
    pub filtered: usize,
    /// Which rows came too late, by their positions in the sample.
    pub late: Vec<usize>,
    /// How many rows wait in windows that were not closed.
    pub open_rows: usize,
    /// Fuel that was used.
    pub fuel_used: u64,
}

/// A row of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputRow {
    /// The position of the row of the sample with which it comes; none behind the last one.
    pub after: Option<usize>,
    /// The columns.
    pub row: Map<String, Json>,
}

macro_rules! codes {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// The stable code of a [`SimulateError`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SimulateCode { $(#[doc = $doc] $variant),* }

        impl SimulateCode {
            /// All codes.
            pub const ALL: &[SimulateCode] = &[$(SimulateCode::$variant),*];

            /// The code as it is written.
            pub const fn name(self) -> &'static str {
                match self { $(SimulateCode::$variant => $name),* }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(SimulateCode::$variant => $doc),* }
            }
        }
    };
}

codes! {
    TooManyRows "TOO_MANY_ROWS" "The sample or the result has more rows than there may be.";
    UnknownColumn "UNKNOWN_COLUMN" "A row has a column that the stream does not have.";
    WrongType "WRONG_TYPE" "A value does not fit the data type of its column.";
    MissingTime "MISSING_TIME" "A window by time needs the time of each row: `at_ms`, or the event time.";
    TimeBackwards "TIME_BACKWARDS" "A row arrives before the one before it.";
    TimeOutOfRange "TIME_OUT_OF_RANGE" "A time lies beyond 2^53 milliseconds.";
    NoEventTime "NO_EVENT_TIME" "The event time is enabled, and the stream has none.";
    NotFinite "NOT_FINITE" "A result is infinite or no number, which JSON cannot hold.";
    Limit "LIMIT" "A bound of the simulation was met.";
    Fault "FAULT" "The program did what it should not: a mistake of the planner.";
}

impl fmt::Display for SimulateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for SimulateCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Why a simulation did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Error)]
#[error("{code}: {}{}{message}", row.map_or(String::new(), |row| format!("row {row}: ")),
    column.as_ref().map_or(String::new(), |column| format!("column `{column}`: ")))]
pub struct SimulateError {
    /// What kind it is of.
    pub code: SimulateCode,
    /// The position of the row in the sample, from 0.
    pub row: Option<usize>,
    /// The column, with the fields and elements inside of it.
    pub column: Option<String>,
    /// The problem in words.
    pub message: String,
}

fn error(code: SimulateCode, row: Option<usize>, message: impl Into<String>) -> SimulateError {
    SimulateError { code, row, column: None, message: message.into() }
}

/// A row that was read, with its time.
#[derive(Clone)]
struct Arrived {
    time: i64,
    row: Value,
}

/// Runs a planned query on sample rows.
///
/// Rows that do not fit are found all at once, up to 20; whatever goes wrong later ends the simulation.
pub fn simulate(
    planned: &Planned,
    sample: &Sample,
    bounds: &Bounds,
) -> Result<Simulated, Vec<SimulateError>> {
    let arrived = read(planned, sample)?;
    let mut runner = Runner::new(planned, bounds);
    runner.all(&arrived, sample).map_err(|error| vec![error])?;
    runner.done.fuel_used = runner.fuel_used;
    Ok(runner.done)
}

/// Reads the rows and their times.
fn read(planned: &Planned, sample: &Sample) -> Result<Vec<Arrived>, Vec<SimulateError>> {
    if sample.rows.len() > MOST_SAMPLE_ROWS {
        let message = format!("{} rows, more than {MOST_SAMPLE_ROWS}", sample.rows.len());
        return Err(vec![error(SimulateCode::TooManyRows, None, message)]);
    }
    let eventtime = planned.stream.spec.eventtime.as_ref();
    let clock = match (sample.eventtime.enabled, eventtime) {
        (false, _) => None,
        (true, Some(eventtime)) => Some(eventtime.column.as_str()),
        (true, None) => {
            let message = format!("the stream `{}` has no event time", planned.stream.stream);
            return Err(vec![error(SimulateCode::NoEventTime, None, message)]);
        }
    };
    let columns = &planned.stream.spec.schema.columns;
    let timed = planned.window().is_some_and(|window| window.is_timed());
    let program = planned.lowered.checked.program();
    let mut reader = RowReader { program, row: 0, errors: Vec::new() };
    let mut arrived = Vec::with_capacity(sample.rows.len());
    let mut before = i64::MIN;
    for (index, row) in sample.rows.iter().enumerate() {
        reader.row = index;
        let value = reader.record(&row.row, columns, planned.lowered.row, "");
        let time = match clock {
            Some(column) => row.row.get(column).and_then(Json::as_i64),
            None => row.at_ms,
        };
        if let Some(time) = time {
            if !(-LATEST_MS..=LATEST_MS).contains(&time) {
                let message = format!("{time} ms is no time");
                reader.errors.push(error(SimulateCode::TimeOutOfRange, Some(index), message));
            } else if clock.is_none() && time < before {
                let message = format!("it arrives at {time} ms, the one before at {before} ms");
                reader.errors.push(error(SimulateCode::TimeBackwards, Some(index), message));
            }
            before = before.max(time);
        } else if timed {
            let column = clock.map(str::to_owned);
            let message = "the window needs its time".to_owned();
            let missing = error(SimulateCode::MissingTime, Some(index), message);
            reader.errors.push(SimulateError { column, ..missing });
        }
        if reader.errors.len() >= MOST_ERRORS {
            reader.errors.truncate(MOST_ERRORS);
            break;
        }
        arrived.extend(value.map(|row| Arrived { time: time.unwrap_or(0), row }));
    }
    if reader.errors.is_empty() { Ok(arrived) } else { Err(reader.errors) }
}

/// A simulation under way.
struct Runner<'p> {
    planned: &'p Planned,
    cache: Cache,
    bounds: &'p Bounds,
    fuel_used: u64,
    fields: Vec<Field>,
    /// The row with which results come.
    after: Option<usize>,
    done: Simulated,
}

impl<'p> Runner<'p> {
    fn new(planned: &'p Planned, bounds: &'p Bounds) -> Runner<'p> {
        let field =
            |item: &crate::plan::typed::Item| Field { name: item.name.clone(), ty: item.expr.ty.clone() };
        Runner {
            planned,
            cache: Cache::new(),
            bounds,
            fuel_used: 0,
            fields: planned.query.items.iter().map(field).collect(),
            after: None,
            done: Simulated::default(),
        }
    }

    fn all(&mut self, arrived: &[Arrived], sample: &Sample) -> Result<(), SimulateError> {
        let mut waiting = match &self.planned.query.shape {
            Shape::Rows { .. } => None,
            Shape::Groups { window, .. } => Some(Waiting::new(*window)),
        };
        let timed = self.planned.window().is_some_and(|window| window.is_timed());
        let tolerance = match sample.eventtime.enabled {
            true => i64::try_from(sample.eventtime.late_tolerance_ms).unwrap_or(i64::MAX),
            false => 0,
        };
        let mut memory = match self.planned.lowered.first {
            Some(first) => Some(self.call_one(first, &[])?),
            None => None,
        };
        let mut watermark = i64::MIN;
        for (index, Arrived { time, row }) in arrived.iter().enumerate() {
            self.after = Some(index);
            if timed && *time < watermark {
                self.done.late.push(index);
                continue;
            }
            watermark = watermark.max(time.saturating_sub(tolerance));
            let kept = match self.planned.lowered.keep {
                Some(keep) => self.holds(keep, std::slice::from_ref(row))?,
                None => true,
            };
            match (&mut waiting, kept) {
                (_, false) => self.done.filtered += 1,
                (Some(waiting), true) => waiting.push(*time, index as u64, row.clone()),
                (None, true) => self.project(row, &mut memory)?,
            }
            if let Some(waiting) = &mut waiting {
                self.close(waiting, watermark)?;
            }
        }
        self.after = None;
        if let Some(mut waiting) = waiting {
            if sample.end == End::Close {
                self.close(&mut waiting, i64::MAX)?;
            }
            self.done.open_rows = waiting.open_rows();
        }
        Ok(())
    }

    fn close(&mut self, waiting: &mut Waiting<Value>, watermark: i64) -> Result<(), SimulateError> {
        while let Some(closed) = waiting.pop(watermark) {
            self.groups(closed)?;
        }
        Ok(())
    }

    fn project(&mut self, row: &Value, memory: &mut Option<Value>) -> Result<(), SimulateError> {
        let Some(project) = self.planned.lowered.project else {
            return Err(self.fault("there is no `project`"));
        };
        let mut args = Vec::with_capacity(2);
        args.extend(memory.take());
        args.push(row.clone());
        let remembers = args.len() == 2;
        let mut results = self.call(project, &args)?.into_iter();
        if remembers {
            *memory = results.next();
        }
        match results.next() {
            Some(output) => self.emit(&output),
            None => Err(self.fault("`project` gave nothing")),
        }
    }

    /// Makes the rows of a window: one for each group, in the order of their first rows.
    fn groups(&mut self, closed: Closed<Value>) -> Result<(), SimulateError> {
        let lowered = &self.planned.lowered;
        let (Some(start), Some(step), Some(finish)) = (lowered.start, lowered.step, lowered.finish) else {
            return Err(self.fault("there is no `step`"));
        };
        let (key, having) = (lowered.key, lowered.having);
        let mut groups: Vec<(Option<Value>, Value)> = Vec::new();
        let mut found: HashMap<String, usize> = HashMap::new();
        let empty = self.call_one(start, &[])?;
        for row in closed.rows {
            let key = match key {
                Some(key) => Some(self.call_one(key, std::slice::from_ref(&row))?),
                None => None,
            };
            let text = key.as_ref().map(key_text).unwrap_or_default();
            let at = *found.entry(text).or_insert(groups.len());
            if at == groups.len() {
                groups.push((key, empty.clone()));
            }
            let state = std::mem::replace(&mut groups[at].1, Value::ExternRef);
            groups[at].1 = self.call_one(step, &[state, row])?;
        }
        for (key, state) in groups {
            let mut args = vec![state];
            args.extend(key);
            if self.planned.window().is_some_and(|window| window.is_timed()) {
                args.extend([closed.opens, closed.closes].map(|bound| Value::Const(Const::I64(bound))));
            }
            if let Some(having) = having
                && !self.holds(having, &args)?
            {
                continue;
            }
            let output = self.call_one(finish, &args)?;
            self.emit(&output)?;
        }
        Ok(())
    }

    fn emit(&mut self, output: &Value) -> Result<(), SimulateError> {
        if self.done.rows.len() >= self.bounds.rows {
            let message = format!("the result has more than {} rows", self.bounds.rows);
            return Err(error(SimulateCode::TooManyRows, self.after, message));
        }
        match object(output, &self.fields) {
            Ok(row) => self.done.rows.push(OutputRow { after: self.after, row }),
            Err(column) => {
                let message = "the result is infinite or no number".to_owned();
                let wrong = error(SimulateCode::NotFinite, self.after, message);
                return Err(SimulateError { column: Some(column), ..wrong });
            }
        }
        Ok(())
    }

    fn holds(&mut self, of: FuncRef, args: &[Value]) -> Result<bool, SimulateError> {
        match self.call_one(of, args)? {
            Value::Const(Const::Bool(holds)) => Ok(holds),
            _ => Err(self.fault("a condition gave no truth value")),
        }
    }

    fn call_one(&mut self, of: FuncRef, args: &[Value]) -> Result<Value, SimulateError> {
        match self.call(of, args)?.pop() {
            Some(value) => Ok(value),
            None => Err(self.fault("a function gave nothing")),
        }
    }

    fn call(&mut self, of: FuncRef, args: &[Value]) -> Result<Vec<Value>, SimulateError> {
        let left = self.bounds.fuel.saturating_sub(self.fuel_used).saturating_sub(CALL);
        if left == 0 {
            let message = format!("the limit of fuel was reached: {}", self.bounds.fuel);
            return Err(error(SimulateCode::Limit, self.after, message));
        }
        let limits =
            Limits { fuel: left, memory_bytes: self.bounds.memory_bytes, call_depth: 100, output_bytes: 0 };
        let options = RunOptions { limits, inspect: false, ..RunOptions::default() };
        let run = Run::new(&self.planned.lowered.checked, of, args, &options, &self.cache);
        let mut run = run.map_err(|problem| self.fault(&problem.to_string()))?;
        run.resume(u64::MAX);
        let result = run.into_result();
        self.fuel_used += result.fuel_used + CALL;
        match result.outcome {
            Outcome::Returned { values } => Ok(values),
            Outcome::LimitReached { limit, bound, .. } => {
                let message = lmlang_interp::limit_message(limit, bound);
                Err(error(SimulateCode::Limit, self.after, message))
            }
            other => Err(self.fault(&format!("{other:?}"))),
        }
    }

    fn fault(&self, message: &str) -> SimulateError {
        error(SimulateCode::Fault, self.after, message)
    }
}
