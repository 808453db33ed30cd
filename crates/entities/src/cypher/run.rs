//! Rows on their way through the stages.
//!
//! A row is handed to the next stage as soon as it is there. Only groups and orders wait for all rows before them: they are
//! finished one after the other, from the first stage on, when nothing more can come.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde_json::Value as Json;

use super::Table;
use super::ast::{Expr, Sorting};
use super::error::Problem;
use super::evaluate::{Context, Outcome};
use super::functions::Tally;
use super::stage::{Grouping, Pattern, Project, Stage};
use super::value::Value;
use crate::graph::Graph;

/// Runs stages, and returns what the last one lists.
pub(crate) fn run<G: Graph>(
    context: &Context<'_, G>,
    stages: &[Stage],
    columns: Vec<String>,
) -> Outcome<Table, G> {
    let states = stages.iter().map(|stage| State::of(context, stage)).collect::<Result<_, _>>()?;
    let table = Table { columns, rows: Vec::new(), truncated: false };
    let mut run = Run { context, stages, states, table, bytes: 0 };
    match run.feed(0, &mut Vec::new())? {
        // What waits for the last row is finished either way.
        ControlFlow::Continue(()) | ControlFlow::Break(()) => {}
    }
    for (index, stage) in stages.iter().enumerate() {
        if let Stage::Project(project) = stage {
            run.finish(index, project)?;
        }
    }
    Ok(run.table)
}

struct Run<'a, 'c, G: Graph> {
    context: &'a Context<'c, G>,
    stages: &'a [Stage],
    states: Vec<State>,
    table: Table,
    bytes: usize,
}

/// What a projection has seen; empty for other stages.
#[derive(Default)]
struct State {
    skip: u64,
    limit: Option<u64>,
    seen: BTreeSet<Vec<Value>>,
    groups: BTreeMap<Vec<Value>, usize>,
    /// In the order of their first rows.
    tallies: Vec<(Vec<Value>, Vec<Tally>)>,
    /// Sort keys and columns.
    sorted: Vec<(Vec<Value>, Vec<Value>)>,
}

impl State {
    fn of<G: Graph>(context: &Context<'_, G>, stage: &Stage) -> Outcome<Self, G> {
        let Stage::Project(project) = stage else { return Ok(Self::default()) };
        let count = |expr: &Option<Expr>, operation| match expr {
            None => Ok(None),
            Some(expr) => match context.evaluate(expr, &[])? {
                Value::Int(count) if count >= 0 => Ok(Some(count as u64)),
                Value::Int(_) => {
                    let found = "a negative one";
                    Err(context.fail(expr.span, Problem::Type { operation, expected: "a count", found }))
                }
                other => {
                    let problem = Problem::Type { operation, expected: "an integer", found: other.kind() };
                    Err(context.fail(expr.span, problem))
                }
            },
        };
        let skip = count(&project.skip, "`SKIP`")?.unwrap_or(0);
        Ok(Self { skip, limit: count(&project.limit, "`LIMIT`")?, ..Self::default() })
    }
}

impl<G: Graph> Run<'_, '_, G> {
    fn feed(&mut self, index: usize, row: &mut Vec<Value>) -> Outcome<ControlFlow<()>, G> {
        let context = self.context;
        match &self.stages[index] {
            Stage::Match(pattern) => self.find(index, pattern, row),
            Stage::Unwind(list, slot) => {
                let items = match context.evaluate(list, row)? {
                    Value::List(items) => items,
                    Value::Null => return Ok(ControlFlow::Continue(())),
                    single => [single].into(),
                };
                if row.len() <= *slot {
                    row.resize(slot + 1, Value::Null);
                }
                for item in items.iter() {
                    context.spend(1, list.span)?;
                    row[*slot] = item.clone();
                    if self.feed(index + 1, row)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            Stage::Project(project) => match &project.grouping {
                Some(grouping) => self.tally(index, grouping, row),
                None => self.project(index, project, row),
            },
        }
    }

    fn find(&mut self, index: usize, pattern: &Pattern, row: &mut Vec<Value>) -> Outcome<ControlFlow<()>, G> {
        let context = self.context;
        let mut found = false;
        let flow = context.matches(pattern, row, &mut |row| {
            found = true;
            self.feed(index + 1, row)
        })?;
        if found || !pattern.optional {
            return Ok(flow);
        }
        for slot in &pattern.fresh {
            row[*slot] = Value::Null;
        }
        self.feed(index + 1, row)
    }

    fn tally(&mut self, index: usize, grouping: &Grouping, row: &[Value]) -> Outcome<ControlFlow<()>, G> {
        let context = self.context;
        let key =
            grouping.keys.iter().map(|key| context.evaluate(key, row)).collect::<Result<Vec<_>, _>>()?;
        let state = &mut self.states[index];
        let group = match state.groups.get(&key) {
            Some(group) => *group,
            None => {
                state.groups.insert(key.clone(), state.tallies.len());
                state.tallies.push((key, tallies(grouping)));
                state.tallies.len() - 1
            }
        };
        for (tally, (_, _, of)) in state.tallies[group].1.iter_mut().zip(&grouping.aggregates) {
            match of {
                None => tally.count_row(),
                Some(of) => {
                    let value = context.evaluate(of, row)?;
                    context.spend(value.weight(), of.span)?;
                    tally.add(value).map_err(|problem| context.fail(of.span, problem))?;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes the columns of a row, or of a group's keys and aggregates.
    fn project(&mut self, index: usize, project: &Project, row: &[Value]) -> Outcome<ControlFlow<()>, G> {
        let context = self.context;
        let columns =
            project.items.iter().map(|item| context.evaluate(item, row)).collect::<Result<Vec<_>, _>>()?;
        if project.distinct {
            context.spend(columns.iter().map(Value::weight).sum(), project.span)?;
            if !self.states[index].seen.insert(columns.clone()) {
                return Ok(ControlFlow::Continue(()));
            }
        }
        if project.order.is_empty() {
            return self.emit(index, project, columns);
        }
        let all: Vec<Value> = columns.iter().chain(row).cloned().collect();
        let keys =
            project.order.iter().map(|(key, _)| context.evaluate(key, &all)).collect::<Result<_, _>>()?;
        context.spend(2 + columns.len() as u64, project.span)?;
        self.states[index].sorted.push((keys, columns));
        Ok(ControlFlow::Continue(()))
    }

    /// Hands on columns within `SKIP` and `LIMIT`.
    fn emit(
        &mut self,
        index: usize,
        project: &Project,
        mut columns: Vec<Value>,
    ) -> Outcome<ControlFlow<()>, G> {
        let state = &mut self.states[index];
        if state.limit == Some(0) {
            return Ok(ControlFlow::Break(()));
        }
        if state.skip > 0 {
            state.skip -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        let full = match &mut state.limit {
            Some(left) => {
                *left -= 1;
                *left == 0
            }
            None => false,
        };
        let passed = match &project.filter {
            Some(filter) => self.context.holds(filter, &columns)?,
            None => true,
        };
        let flow = match (passed, project.last) {
            (false, _) => ControlFlow::Continue(()),
            (true, true) => self.list(project, &columns)?,
            (true, false) => self.feed(index + 1, &mut columns)?,
        };
        Ok(if full { ControlFlow::Break(()) } else { flow })
    }

    fn list(&mut self, project: &Project, columns: &[Value]) -> Outcome<ControlFlow<()>, G> {
        let limit = self.context.limits.depth;
        if !columns.iter().all(|value| value.is_within(limit)) {
            return Err(self.context.fail(project.span, Problem::TooDeep { limit }));
        }
        let row: Vec<Json> = columns.iter().map(Value::to_json).collect();
        let bytes = row.iter().map(|value| value.to_string().len() + 1).sum::<usize>() + 2;
        let limits = self.context.limits;
        if self.table.rows.len() >= limits.rows || self.bytes + bytes > limits.result_bytes {
            self.table.truncated = true;
            return Ok(ControlFlow::Break(()));
        }
        self.bytes += bytes;
        self.table.rows.push(row);
        Ok(ControlFlow::Continue(()))
    }

    /// Hands on what waited for the last row.
    fn finish(&mut self, index: usize, project: &Project) -> Outcome<(), G> {
        if let Some(grouping) = &project.grouping {
            self.states[index].groups.clear();
            let mut groups = std::mem::take(&mut self.states[index].tallies);
            if groups.is_empty() && grouping.keys.is_empty() {
                groups.push((Vec::new(), tallies(grouping)));
            }
            for (mut row, tallies) in groups {
                row.extend(tallies.into_iter().map(Tally::result));
                if self.project(index, project, &row)?.is_break() {
                    break;
                }
            }
        }
        let mut sorted = std::mem::take(&mut self.states[index].sorted);
        let order = |(a, _): &(Vec<Value>, Vec<Value>), (b, _): &(Vec<Value>, Vec<Value>)| {
            let keys = a.iter().zip(b).zip(&project.order);
            let by_key = |((a, b), (_, sorting)): ((&Value, &Value), &(Expr, Sorting))| match sorting {
                Sorting::Ascending => a.cmp(b),
                Sorting::Descending => b.cmp(a),
            };
            keys.map(by_key).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        sorted.sort_by(order);
        for (_, columns) in sorted {
            if self.emit(index, project, columns)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn tallies(grouping: &Grouping) -> Vec<Tally> {
    grouping.aggregates.iter().map(|(aggregate, distinct, _)| Tally::new(*aggregate, *distinct)).collect()
}
