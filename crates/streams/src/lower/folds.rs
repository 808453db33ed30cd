//! Aggregates: what a group remembers, and what it makes of it.

use super::emit::{Body, Leaves, Present, Val};
use super::names::{Record, Types};
use crate::functions::Aggregate;
use crate::plan::typed::{AggregateCall, Expr, Kind};
use crate::sql::syntax::Compare;
use crate::types::Ty;

/// What a group remembers: a count of its rows, and for each aggregate one field or two.
pub(super) struct State {
    pub(super) record: Record,
    /// For each aggregate the position of its first field.
    at: Vec<usize>,
}

/// The name of an aggregate in names.
fn word(function: Aggregate) -> &'static str {
    match function {
        Aggregate::Avg => "avg",
        Aggregate::Count => "count",
        Aggregate::First => "first",
        Aggregate::Last => "last",
        Aggregate::Max => "max",
        Aggregate::Min => "min",
        Aggregate::Sum => "sum",
    }
}

impl State {
    pub(super) fn new(types: &mut Types, aggregates: &[AggregateCall]) -> State {
        let mut fields = vec![("rows".to_owned(), "i64".to_owned())];
        let mut at = Vec::with_capacity(aggregates.len());
        for call in aggregates {
            at.push(fields.len());
            match (call.function, &call.arg) {
                (Aggregate::Count, None) => {}
                (Aggregate::Count, Some(_)) => fields.push(("count".to_owned(), "i64".to_owned())),
                (Aggregate::Avg, _) => {
                    fields.push(("total".to_owned(), "f64".to_owned()));
                    fields.push(("count".to_owned(), "i64".to_owned()));
                }
                (function, _) => fields.push((word(function).to_owned(), types.option(&call.ty, "Struct"))),
            }
        }
        let fields: Vec<(&str, String)> =
            fields.iter().map(|(name, ty)| (name.as_str(), ty.clone())).collect();
        State { record: types.record("What a group remembers of its rows.", "State", &fields), at }
    }

    /// Reads a field.
    pub(super) fn get(&self, field: usize) -> String {
        format!("(struct.get {}.{} state)", self.record.name, self.record.fields[field])
    }

    /// A group without rows.
    pub(super) fn start(&self, types: &mut Types, aggregates: &[AggregateCall]) -> String {
        let mut fields = vec!["0".to_owned()];
        for call in aggregates {
            match (call.function, &call.arg) {
                (Aggregate::Count, None) => {}
                (Aggregate::Count, Some(_)) => fields.push("0".to_owned()),
                (Aggregate::Avg, _) => fields.extend(["0.0".to_owned(), "0".to_owned()]),
                _ => fields.push(format!("(enum.new {}.none)", types.option(&call.ty, "Struct"))),
            }
        }
        format!("struct.new {} {}", self.record.name, fields.join(", "))
    }

    /// A group with one row more.
    pub(super) fn step(
        &self,
        body: &mut Body<'_>,
        aggregates: &[AggregateCall],
        leaves: &dyn Leaves,
    ) -> String {
        let rows = self.get(0);
        let mut fields = vec![body.line("rows", &format!("add.i64 {rows}, 1"))];
        for (call, &at) in aggregates.iter().zip(&self.at) {
            let Some(arg) = &call.arg else { continue };
            match call.function {
                Aggregate::Count => {
                    let arg = body.expr(arg, leaves);
                    fields.push(self.counted(body, at, &arg));
                }
                Aggregate::Avg => {
                    let arg = body.expr(arg, leaves);
                    let before = body.line("total", &strip(&self.get(at)));
                    let added = body.line("added", &format!("add.f64 {before}, {}", arg.value));
                    fields.push(match &arg.present {
                        Present::Always => added,
                        Present::Never => before,
                        Present::If(flag) => {
                            body.line("total", &format!("select<f64> {flag}, {added}, {before}"))
                        }
                    });
                    fields.push(self.counted(body, at + 1, &arg));
                }
                Aggregate::Sum | Aggregate::Min | Aggregate::Max => {
                    let arg = body.expr(arg, leaves);
                    let before = body.open(&self.get(at), &call.ty, word(call.function));
                    let next = merged(body, call, &before, &arg);
                    fields.push(body.close(&next, &call.ty));
                }
                Aggregate::First => {
                    let option = body.types.option(&call.ty, "Struct");
                    let arg = body.nullable(arg, leaves);
                    let fresh = body.line("is_first", &format!("eqz.i64 {rows}"));
                    fields.push(
                        body.line("first", &format!("select<{option}> {fresh}, {arg}, {}", self.get(at))),
                    );
                }
                Aggregate::Last => fields.push(body.nullable(arg, leaves)),
            }
        }
        format!("struct.new {} {}", self.record.name, fields.join(", "))
    }

    fn counted(&self, body: &mut Body<'_>, at: usize, arg: &Val) -> String {
        match &arg.present {
            Present::Never => self.get(at),
            Present::Always => body.line("count", &format!("add.i64 {}, 1", self.get(at))),
            Present::If(flag) => {
                body.line("count", &format!("add.i64 {}, (extend_u.bool.i64 {flag})", self.get(at)))
            }
        }
    }
}

/// What there was and one value more.
fn merged(body: &mut Body<'_>, call: &AggregateCall, before: &Val, arg: &Val) -> Val {
    if arg.present == Present::Never {
        return before.clone();
    }
    let had = Body::flag(&before.present);
    let ty = body.types.plain(&call.ty, "Struct");
    let takes = match call.function {
        // Zero stands for a sum that is not there.
        Aggregate::Sum => Body::flag(&arg.present),
        function => {
            let op = if function == Aggregate::Min { Compare::Lt } else { Compare::Gt };
            let better = body.compared(op, &call.ty, &arg.value, &before.value);
            let fresh = body.not(&had);
            let better = body.line("is_better", &format!("or.bool {fresh}, {better}"));
            match &arg.present {
                Present::If(flag) => body.line("takes", &format!("and.bool {flag}, {better}")),
                Present::Always | Present::Never => better,
            }
        }
    };
    let new = match call.function {
        Aggregate::Sum => body.line("added", &format!("add.{ty} {}, {}", before.value, arg.value)),
        _ => arg.value.clone(),
    };
    let value = if takes == "true" {
        new
    } else {
        body.line("chosen", &format!("select<{ty}> {takes}, {new}, {}", before.value))
    };
    let present = match &arg.present {
        Present::Always => Present::Always,
        Present::Never => before.present.clone(),
        Present::If(flag) => Present::If(body.line("is_there", &format!("or.bool {had}, {flag}"))),
    };
    Val { value, present }
}

/// What the expressions of a group begin with.
pub(super) struct Group<'s> {
    pub(super) state: &'s State,
    pub(super) aggregates: &'s [AggregateCall],
    pub(super) key: Option<&'s Record>,
    /// The averages, computed before.
    pub(super) averages: Vec<Option<String>>,
}

impl Group<'_> {
    /// Computes the averages that a function uses.
    pub(super) fn prepare(&mut self, body: &mut Body<'_>, exprs: &mut dyn Iterator<Item = Expr>) {
        let mut used = vec![false; self.aggregates.len()];
        for mut expr in exprs {
            mark(&mut expr, &mut used);
        }
        self.averages = vec![None; self.aggregates.len()];
        for (index, call) in self.aggregates.iter().enumerate() {
            if !used[index] || call.function != Aggregate::Avg {
                continue;
            }
            let at = self.state.at[index];
            let count = body.line("count", &strip(&self.state.get(at + 1)));
            let mean =
                body.line("mean", &format!("div.f64 {}, (convert_s.i64.f64 {count})", self.state.get(at)));
            let some = body.line("has_values", &format!("ne.i64 {count}, 0"));
            let option = body.close(&Val { value: mean, present: Present::If(some) }, &Ty::Float);
            let average = body.line("average", &strip(&option));
            self.averages[index] = Some(average);
        }
    }
}

fn mark(expr: &mut Expr, used: &mut [bool]) {
    if let Kind::Aggregate(index) = expr.kind {
        used[index] = true;
    }
    expr.parts().into_iter().for_each(|part| mark(part, used));
}

/// An operand in parentheses as what a line makes.
fn strip(operand: &str) -> String {
    match operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => inner.to_owned(),
        None => operand.to_owned(),
    }
}

impl Leaves for Group<'_> {
    fn option(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Key(index) => {
                let key = self.key?;
                Some(format!("(struct.get {}.{} key)", key.name, key.fields[*index]))
            }
            Kind::Aggregate(index) => match self.aggregates[*index].function {
                Aggregate::Count => None,
                Aggregate::Avg => self.averages.get(*index).cloned().flatten(),
                _ => Some(self.state.get(self.state.at[*index])),
            },
            _ => None,
        }
    }

    fn plain(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Aggregate(index) => {
                let call = &self.aggregates[*index];
                let field = if call.arg.is_some() { self.state.at[*index] } else { 0 };
                (call.function == Aggregate::Count).then(|| self.state.get(field))
            }
            Kind::Call(crate::functions::Scalar::WindowStart, _) => Some("opens".to_owned()),
            Kind::Call(crate::functions::Scalar::WindowEnd, _) => Some("closes".to_owned()),
            _ => None,
        }
    }
}
