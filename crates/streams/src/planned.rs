//! A query that is right: its meaning, its program and what it speaks of.

use lmlang_ir::FuncRef;
use lmlang_verify::Checked;

use crate::catalog::{Catalog, Column, Stream};
use crate::error::PlanError;
use crate::lower::{Lowered, lower};
use crate::plan::plan;
use crate::plan::typed::{Query, Shape, Window};
use crate::sql;
use crate::sql::references::References;

/// A planned query.
///
/// Invariant: its program is complete, and of the stream as the catalog had it.
#[derive(Clone, Debug)]
pub struct Planned {
    pub(crate) sql: String,
    pub(crate) stream: Stream,
    pub(crate) query: Query,
    pub(crate) lowered: Lowered,
    pub(crate) references: References,
}

/// Plans a query over the streams of a catalog, or finds all that is wrong with it.
///
/// Planning is type checking: what the query becomes is a program that the verifier calls complete. Nothing that the
/// catalog does not have gets through.
pub fn check(sql: &str, catalog: &Catalog) -> Result<Planned, Vec<PlanError>> {
    let read = sql::read(sql)?;
    let query = plan(&read.query, catalog, read.errors)?;
    let lowered = lower(&query)?;
    // A plan has the stream that it was made of.
    let Some(stream) = catalog.get(&query.stream).cloned() else { return Err(Vec::new()) };
    Ok(Planned { sql: sql.to_owned(), stream, query, lowered, references: read.references })
}

impl Planned {
    /// The text of the query.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The stream that it reads.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// What it speaks of.
    pub fn references(&self) -> &References {
        &self.references
    }

    /// The window, if it has one.
    pub fn window(&self) -> Option<Window> {
        match &self.query.shape {
            Shape::Rows { .. } => None,
            Shape::Groups { window, .. } => Some(*window),
        }
    }

    /// The columns of the result.
    pub fn output(&self) -> Vec<Column> {
        let column = |item: &crate::plan::typed::Item| Column {
            name: item.name.clone(),
            data_type: item.expr.ty.data_type(),
        };
        self.query.items.iter().map(column).collect()
    }

    /// The program that it became, verified.
    pub fn program(&self) -> &Checked {
        &self.lowered.checked
    }

    /// The text form of the program, with comments.
    pub fn program_text(&self) -> &str {
        &self.lowered.text
    }

    /// The functions of the program that a run of the query calls, in the order of the data, with their names.
    pub fn functions(&self) -> Vec<(&'static str, FuncRef)> {
        let lowered = &self.lowered;
        let all = [
            ("keep", lowered.keep),
            ("first", lowered.first),
            ("project", lowered.project),
            ("key", lowered.key),
            ("start", lowered.start),
            ("step", lowered.step),
            ("having", lowered.having),
            ("finish", lowered.finish),
        ];
        all.into_iter().filter_map(|(name, of)| Some((name, of?))).collect()
    }
}
