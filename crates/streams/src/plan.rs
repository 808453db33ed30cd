//! From what a query says to what it means: names are resolved, types fit, groups are right.
//!
//! Everything that can be seen at once is found at once: what depends on something wrong is passed over.

mod calls;
mod clause;
mod expr;
pub(crate) mod typed;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::{Code, Place, PlanError};
use crate::sql::syntax::{self, Literal, WindowCall};
use crate::types::{Field, Ty};
use clause::Clause;
use expr::Scope;
use typed::{Expr, Item, Kind, Query, Shape, Window};

/// Rows of a count window at most.
pub const MOST_ROWS: i64 = 100_000;

/// The length of a window at most: about ten years.
pub const LONGEST_WINDOW_MS: i64 = 10 * 366 * 86_400_000;

/// Columns of a result at most.
pub const MOST_ITEMS: usize = 1_000;

/// Types a query; the errors are added to those given.
pub(crate) fn plan(
    said: &syntax::Query,
    catalog: &Catalog,
    mut errors: Vec<PlanError>,
) -> Result<Query, Vec<PlanError>> {
    let stream = said.source.as_ref().and_then(|source| {
        let found = catalog.get(&source.stream.text);
        if found.is_none() {
            let message = format!("there is no stream `{}`", source.stream.text);
            let error = PlanError::new(Code::UnknownStream, source.stream.place, message);
            errors.push(error.near(&source.stream.text, catalog.names()));
        }
        found
    });
    let refused = said.refused_window.then_some(None);
    let window = window(&said.windows, &mut errors).or(refused);
    let qualifiers = said.source.as_ref().map(|source| match &source.alias {
        Some(alias) => alias.clone(),
        None => source.stream.text.clone(),
    });
    let columns = stream.map(|stream| Ty::fields(&stream.spec.schema.columns));
    let mut scope = Scope {
        columns: columns.clone(),
        qualifiers: qualifiers.into_iter().collect(),
        // Windows that are wrong are windows all the same.
        window: window.map(|window| window.is_none_or(Window::is_timed)),
        aggregates: Vec::new(),
        stateful: Vec::new(),
        errors,
    };
    let filter = said.filter.as_ref().and_then(|filter| scope.condition(filter, Clause::Where));
    let keys = keys(&said.keys, &mut scope);
    let mut items = items(said, &columns, &mut scope);
    let mut having = said.having.as_ref().and_then(|having| scope.condition(having, Clause::Having));
    if window.is_none() {
        require_window(said, &mut scope);
    } else {
        for expr in items.iter_mut().map(|item| &mut item.expr).chain(&mut having) {
            group(expr, &keys, columns.as_deref(), &mut scope.errors);
        }
    }
    unique(&items, &mut scope.errors);
    let Scope { aggregates, stateful, mut errors, .. } = scope;
    errors.sort_by(|a, b| a.place.cmp(&b.place).then(a.code.cmp(&b.code)));
    errors.dedup();
    match (stream, columns, errors.is_empty()) {
        (Some(stream), Some(columns), true) => {
            let shape = match window {
                None => Shape::Rows { stateful },
                Some(None) => return Err(errors),
                Some(Some(window)) => Shape::Groups { window, keys, aggregates, having },
            };
            Ok(Query { stream: stream.stream.clone(), columns, filter, shape, items })
        }
        _ => Err(errors),
    }
}

fn keys(said: &[syntax::Expr], scope: &mut Scope) -> Vec<Expr> {
    let mut keys = Vec::new();
    for key in said {
        let Some(key) = scope.expr(key, Clause::GroupBy) else { continue };
        if scope.comparable(&key, true, "GROUP BY").is_some() && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn items(said: &syntax::Query, columns: &Option<Arc<[Field]>>, scope: &mut Scope) -> Vec<Item> {
    let mut items = Vec::new();
    let mut names: BTreeSet<String> = said.items.iter().filter_map(given_name).collect();
    names.extend(
        columns.iter().filter(|_| has_wildcard(said)).flat_map(|of| of.iter().map(|one| one.name.clone())),
    );
    for item in &said.items {
        match item {
            syntax::Item::Expr { expr, name, derived } => {
                let name = if *derived { unused(name, &mut names) } else { name.clone() };
                if let Some(expr) = scope.expr(expr, Clause::Select) {
                    items.push(Item { name, expr });
                }
            }
            syntax::Item::All { of, place } => {
                if let Some(of) = of
                    && !scope.qualifiers.contains(&of.text)
                {
                    let message = format!("`{}` is not what the query reads", of.text);
                    let known = scope.qualifiers.clone();
                    let error = PlanError::new(Code::UnknownStream, of.place, message);
                    scope.errors.push(error.expecting(known));
                    continue;
                }
                for (index, column) in columns.iter().flat_map(|columns| columns.iter().enumerate()) {
                    let expr = Expr { kind: Kind::Column(index), ty: column.ty.clone(), place: *place };
                    items.push(Item { name: column.name.clone(), expr });
                }
            }
        }
    }
    if items.len() > MOST_ITEMS {
        let message = format!("the result has more than {MOST_ITEMS} columns");
        scope.errors.push(PlanError::new(Code::TooLarge, Place { line: 1, column: 1 }, message));
    }
    items
}

/// The name that a column of the result was given.
fn given_name(item: &syntax::Item) -> Option<String> {
    match item {
        syntax::Item::Expr { name, derived: false, .. } => Some(name.clone()),
        syntax::Item::Expr { .. } | syntax::Item::All { .. } => None,
    }
}

fn has_wildcard(said: &syntax::Query) -> bool {
    said.items.iter().any(|item| matches!(item, syntax::Item::All { .. }))
}

/// A name that a column is called after, with a number behind it if there is such a name.
fn unused(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    let found = std::iter::once(name.to_owned()).chain(numbered).find(|one| !names.contains(one));
    let found = found.unwrap_or_else(|| name.to_owned());
    names.insert(found.clone());
    found
}

fn require_window(said: &syntax::Query, scope: &mut Scope) {
    let wanted = ["tumblingwindow(unit, length)", "slidingwindow(unit, length)", "countwindow(rows)"];
    let mut wrong = |place: Place, what: &str| {
        let error = PlanError::new(Code::WindowRequired, place, format!("`{what}` needs a window"));
        scope.errors.push(error.expecting(wanted));
    };
    match (said.group_by, &said.having) {
        (Some(place), _) if !said.keys.is_empty() => wrong(place, "GROUP BY"),
        (_, Some(having)) => wrong(having.place, "HAVING"),
        _ => {}
    }
}

/// Replaces what is grouped by; other columns are mistakes.
fn group(expr: &mut Expr, keys: &[Expr], columns: Option<&[Field]>, errors: &mut Vec<PlanError>) {
    if let Some(key) = keys.iter().position(|key| key == expr) {
        expr.kind = Kind::Key(key);
        return;
    }
    if let Kind::Column(column) = expr.kind {
        let name = columns.and_then(|columns| columns.get(column)).map_or("", |column| &column.name);
        let message = format!("`{name}` is neither grouped by nor inside of an aggregate");
        errors.push(PlanError::new(Code::NotGrouped, expr.place, message));
        return;
    }
    expr.parts().into_iter().for_each(|part| group(part, keys, columns, errors));
}

fn unique(items: &[Item], errors: &mut Vec<PlanError>) {
    let mut seen = BTreeSet::new();
    for item in items {
        if !seen.insert(item.name.as_str()) {
            let message = format!("there are two columns of the name `{}`", item.name);
            errors.push(PlanError::new(Code::DuplicateName, item.expr.place, message));
        }
    }
}

/// The window of a query: nothing where there is none, an empty answer where it is wrong.
fn window(calls: &[WindowCall], errors: &mut Vec<PlanError>) -> Option<Option<Window>> {
    let (first, more) = calls.split_first()?;
    for call in more {
        let message = "there is more than one window";
        errors.push(PlanError::new(Code::WindowMisplaced, call.name.place, message));
    }
    let mut wrong = |expected: &[&str], found: Option<String>| {
        let message = format!("`{}` has other arguments", first.name.text);
        let error = PlanError::new(Code::WindowArguments, first.name.place, message);
        let error = error.expecting(expected.iter().copied());
        errors.push(PlanError { found, ..error });
    };
    let arg = |index: usize| match first.args.get(index).map(|arg| &arg.kind) {
        Some(syntax::Kind::Literal(literal)) => Some(literal),
        _ => None,
    };
    if first.name.text == "countwindow" {
        return Some(match (arg(0), first.args.len()) {
            (Some(Literal::Int(rows)), 1) if (1..=MOST_ROWS).contains(rows) => {
                u32::try_from(*rows).ok().map(|rows| Window::Count { rows })
            }
            _ => {
                wrong(&[&format!("countwindow(n) with a constant n from 1 to {MOST_ROWS}")], None);
                None
            }
        });
    }
    let usage = format!("{}('ss', 10)", first.name.text);
    let (Some(Literal::Text(unit)), Some(Literal::Int(length)), 2) = (arg(0), arg(1), first.args.len())
    else {
        wrong(&[&usage], None);
        return Some(None);
    };
    let unit_ms = match unit.to_ascii_lowercase().as_str() {
        "dd" => 86_400_000,
        "hh" => 3_600_000,
        "mi" => 60_000,
        "ss" => 1_000,
        "ms" => 1,
        _ => {
            wrong(&["'dd'", "'hh'", "'mi'", "'ss'", "'ms'"], Some(format!("'{unit}'")));
            return Some(None);
        }
    };
    let length_ms = length.checked_mul(unit_ms).filter(|length| (1..=LONGEST_WINDOW_MS).contains(length));
    let Some(length_ms) = length_ms else {
        wrong(&[&format!("a length above 0 and up to {LONGEST_WINDOW_MS} ms")], Some(length.to_string()));
        return Some(None);
    };
    Some(Some(match first.name.text.as_str() {
        "slidingwindow" => Window::Sliding { length_ms },
        _ => Window::Tumbling { length_ms },
    }))
}
