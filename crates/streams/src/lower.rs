//! From a query to a program, so that planning ends in type checking and explaining is showing a graph.
//!
//! The program has one module, `query`, and in it some of these functions, all of them pure:
//!
//! * `keep (row: Row) -> (bool)`: whether `WHERE` holds;
//! * `project (row: Row) -> (Output)`: a row of the result; with functions that look at the row before, `first () ->
//!   (Memory)` and `project (memory: Memory, row: Row) -> (Memory, Output)`;
//! * of a window `key (row: Row) -> (Key)`, `start () -> (State)`, `step (state: State, row: Row) -> (State)`, `having
//!   (..) -> (bool)` and `finish (..) -> (Output)`. The last two take the state, the key, if there is one, and the bounds
//!   of a timed window.
//!
//! **NULL.** Every column, field, element, key and result is an `option`: `none` is NULL. Inside of functions a value is two
//! values, what it is and whether it is there; what stands for a value that is not there is never seen.

mod calls;
mod emit;
mod folds;
mod names;

use std::num::NonZeroUsize;

use lmlang_ir::text;
use lmlang_ir::{FuncRef, Ref, RefAllocator, TypeRef};
use lmlang_verify::Checked;

use crate::error::{Code, Place, PlanError};
use crate::plan::typed::{AggregateCall, Expr, Item, Kind, Query, Shape, Window};
use crate::types::Field;
use emit::{Body, Leaves};
use folds::{Group, State};
use names::{Record, Types};

/// The program of a query.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) checked: Checked,
    pub(crate) text: String,
    pub(crate) keep: Option<FuncRef>,
    pub(crate) project: Option<FuncRef>,
    pub(crate) first: Option<FuncRef>,
    pub(crate) key: Option<FuncRef>,
    pub(crate) start: Option<FuncRef>,
    pub(crate) step: Option<FuncRef>,
    pub(crate) having: Option<FuncRef>,
    pub(crate) finish: Option<FuncRef>,
    /// The struct of a row.
    pub(crate) row: TypeRef,
}

/// What the expressions of a row begin with.
struct Row<'r> {
    record: &'r Record,
    /// The struct of what is remembered, with what is said of changes.
    memory: Option<(&'r Record, Vec<String>)>,
}

impl Leaves for Row<'_> {
    fn option(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Column(index) => {
                Some(format!("(struct.get {}.{} row)", self.record.name, self.record.fields[*index]))
            }
            Kind::Previous(crate::functions::Stateful::Lag, index) => {
                let (memory, _) = self.memory.as_ref()?;
                Some(format!("(struct.get {}.{} memory)", memory.name, memory.fields[index + 1]))
            }
            _ => None,
        }
    }

    fn plain(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Previous(crate::functions::Stateful::Changed, index) => {
                self.memory.as_ref().and_then(|(_, changed)| changed.get(*index).cloned())
            }
            _ => None,
        }
    }
}

/// The parts of a text while it is written.
struct Writer {
    types: Types,
    functions: String,
    power: bool,
}

impl Writer {
    /// Writes a function: a comment, its head, and what makes the text of its `return`.
    fn function(
        &mut self,
        doc: &str,
        head: &str,
        params: &[&str],
        body: impl FnOnce(&mut Body<'_>) -> String,
    ) {
        let mut inner = Body::new(&mut self.types, &mut self.power, params);
        let result = body(&mut inner);
        let lines = inner.lines;
        self.functions.push_str(&format!("; {doc}\nfunc {head} pure {{\n{lines}  return {result}\n}}\n\n"));
    }
}

/// Makes the program of a query.
pub(crate) fn lower(query: &Query) -> Result<Lowered, Vec<PlanError>> {
    let mut writer = Writer { types: Types::new(), functions: String::new(), power: false };
    let row = writer.types.nullable("A row of the stream.", "Row", &query.columns);
    let fields: Vec<Field> =
        query.items.iter().map(|item| Field { name: item.name.clone(), ty: item.expr.ty.clone() }).collect();
    let output = writer.types.nullable("A row of the result.", "Output", &fields);
    if let Some(filter) = &query.filter {
        let head = format!("keep (row: {}) -> (bool)", row.name);
        writer.function("Tells whether a row is kept.", &head, &["row"], |body| {
            let val = body.expr(filter, &Row { record: &row, memory: None });
            body.holds(&val)
        });
    }
    match &query.shape {
        Shape::Rows { stateful } if stateful.is_empty() => {
            let head = format!("project (row: {}) -> ({})", row.name, output.name);
            writer.function("The row of the result that a row makes.", &head, &["row"], |body| {
                items(body, &output, &query.items, &Row { record: &row, memory: None })
            });
        }
        Shape::Rows { stateful } => remembering(&mut writer, &row, &output, &query.items, stateful),
        Shape::Groups { window, keys, aggregates, having } => {
            let grouped = Grouped { window: *window, keys, aggregates, having: having.as_ref() };
            groups(&mut writer, &row, &output, &query.items, &grouped);
        }
    }
    let power = if writer.power { calls::POWER } else { "" };
    let text = format!("module query\n\n{}{power}{}", writer.types.text(), writer.functions);
    checked(&text)
}

fn items(body: &mut Body<'_>, output: &Record, items: &[Item], leaves: &dyn Leaves) -> String {
    let mut fields = Vec::with_capacity(items.len());
    for item in items {
        fields.push(body.nullable(&item.expr, leaves));
    }
    format!("(struct.new {} {})", output.name, fields.join(", "))
}

/// A projection with functions that look at the row before.
fn remembering(writer: &mut Writer, row: &Record, output: &Record, items_: &[Item], stateful: &[Expr]) {
    let mut fields = vec![("begun", "bool".to_owned())];
    for expr in stateful {
        fields.push(("before", writer.types.option(&expr.ty, "Struct")));
    }
    let memory = writer.types.record("What is remembered of the row before.", "Memory", &fields);
    let nothing: Vec<String> = fields[1..].iter().map(|(_, ty)| format!("(enum.new {ty}.none)")).collect();
    let head = format!("first () -> ({})", memory.name);
    let name = memory.name.clone();
    writer.function("What is remembered before the first row.", &head, &[], |_| {
        format!("(struct.new {name} false, {})", nothing.join(", "))
    });
    let head = format!("project (memory: {0}, row: {1}) -> ({0}, {2})", memory.name, row.name, output.name);
    let doc = "What is remembered, and the row of the result that a row makes.";
    writer.function(doc, &head, &["memory", "row"], |body| {
        let plain = Row { record: row, memory: None };
        let mut next = vec!["true".to_owned()];
        let mut changed = Vec::new();
        for (index, expr) in stateful.iter().enumerate() {
            next.push(body.nullable(expr, &plain));
            if !uses_changed(items_, index) {
                changed.push("_".to_owned());
                continue;
            }
            let now = body.expr(expr, &plain);
            let get = format!("(struct.get {}.{} memory)", memory.name, memory.fields[index + 1]);
            let before = body.open(&get, &expr.ty, "before");
            // Both NULL is the same, one NULL is not; two values compare.
            let (has, had) = (Body::flag(&now.present), Body::flag(&before.present));
            let differ = body.compared(crate::sql::syntax::Compare::Ne, &expr.ty, &now.value, &before.value);
            let value = body.line("differ", &format!("and.bool (and.bool {has}, {had}), {differ}"));
            let null = body.line("came_or_went", &format!("xor.bool {has}, {had}"));
            let fresh = format!("not.bool (struct.get {}.begun memory)", memory.name);
            changed.push(body.line("changed", &format!("or.bool ({fresh}), (or.bool {value}, {null})")));
        }
        let leaves = Row { record: row, memory: Some((&memory, changed)) };
        let output = items(body, output, items_, &leaves);
        format!("(struct.new {} {}), {output}", memory.name, next.join(", "))
    });
}

fn uses_changed(items: &[Item], index: usize) -> bool {
    fn uses(expr: &mut Expr, index: usize) -> bool {
        expr.kind == Kind::Previous(crate::functions::Stateful::Changed, index)
            || expr.parts().into_iter().any(|part| uses(part, index))
    }
    items.iter().any(|item| uses(&mut item.expr.clone(), index))
}

struct Grouped<'q> {
    window: Window,
    keys: &'q [Expr],
    aggregates: &'q [AggregateCall],
    having: Option<&'q Expr>,
}

fn groups(writer: &mut Writer, row: &Record, output: &Record, items_: &[Item], grouped: &Grouped<'_>) {
    let leaves = Row { record: row, memory: None };
    let key = (!grouped.keys.is_empty()).then(|| {
        let fields: Vec<Field> = grouped
            .keys
            .iter()
            .map(|key| {
                let name = match &key.kind {
                    Kind::Column(index) => row.fields[*index].clone(),
                    _ => "key".to_owned(),
                };
                Field { name, ty: key.ty.clone() }
            })
            .collect();
        writer.types.nullable("What rows are grouped by.", "Key", &fields)
    });
    if let Some(key) = &key {
        let head = format!("key (row: {}) -> ({})", row.name, key.name);
        writer.function("What a row is grouped by.", &head, &["row"], |body| {
            let mut fields = Vec::new();
            for key in grouped.keys {
                fields.push(body.nullable(key, &leaves));
            }
            format!("(struct.new {} {})", key.name, fields.join(", "))
        });
    }
    let state = State::new(&mut writer.types, grouped.aggregates);
    let name = state.record.name.clone();
    let start = state.start(&mut writer.types, grouped.aggregates);
    writer.function("A group without rows.", &format!("start () -> ({name})"), &[], |_| format!("({start})"));
    let head = format!("step (state: {name}, row: {}) -> ({name})", row.name);
    writer.function("The group with one row more.", &head, &["state", "row"], |body| {
        format!("({})", state.step(body, grouped.aggregates, &leaves))
    });
    let mut params = vec![("state", name.clone())];
    params.extend(key.as_ref().map(|key| ("key", key.name.clone())));
    if grouped.window.is_timed() {
        params.extend([("opens", "i64".to_owned()), ("closes", "i64".to_owned())]);
    }
    let typed: Vec<String> = params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
    let group =
        || Group { state: &state, aggregates: grouped.aggregates, key: key.as_ref(), averages: Vec::new() };
    if let Some(having) = grouped.having {
        let head = format!("having ({}) -> (bool)", typed.join(", "));
        writer.function("Tells whether a group is kept.", &head, &names, |body| {
            let mut leaves = group();
            leaves.prepare(body, &mut std::iter::once(having.clone()));
            let val = body.expr(having, &leaves);
            body.holds(&val)
        });
    }
    let head = format!("finish ({}) -> ({})", typed.join(", "), output.name);
    writer.function("The row of the result that a group makes.", &head, &names, |body| {
        let mut leaves = group();
        leaves.prepare(body, &mut items_.iter().map(|item| item.expr.clone()));
        items(body, output, items_, &leaves)
    });
}

/// Reads and verifies a text. What is wrong with it is a mistake of this module.
fn checked(text: &str) -> Result<Lowered, Vec<PlanError>> {
    let place = Place { line: 1, column: 1 };
    let wrong = |message: String| vec![PlanError::new(Code::Lowering, place, message)];
    let mut refs = RefAllocator::starting_at(1);
    let program = text::parse_program(text, &mut refs).map_err(|errors| {
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        wrong(said.join("; "))
    })?;
    let checked = Checked::full(program, NonZeroUsize::MIN);
    let incomplete = checked.program().functions().find(|(of, _)| checked.complete(*of).is_none());
    if let Some((of, function)) = incomplete {
        let found: Vec<String> =
            checked.findings().of_function(of).map(|found| format!("{:?}", found.code)).collect();
        return Err(wrong(format!("`{:?}` is not complete: {}", function.head().name, found.join(", "))));
    }
    let find = |name: &str| checked.functions_named(name).first().copied();
    let row = checked.program().resolve_path("query::Row").into_iter();
    let row = row.filter_map(|found: Ref| TypeRef::try_from(found).ok()).next();
    let Some(row) = row else { return Err(wrong("there is no `Row`".to_owned())) };
    Ok(Lowered {
        text: text.to_owned(),
        keep: find("keep"),
        project: find("project"),
        first: find("first"),
        key: find("key"),
        start: find("start"),
        step: find("step"),
        having: find("having"),
        finish: find("finish"),
        row,
        checked,
    })
}
