//! What a draft names: streams, columns, functions and constructs of the language.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, Visit, Visitor,
};

/// Functions that open a window, and the constructs that they are.
pub(super) const WINDOWS: [(&str, &str); 5] = [
    ("tumblingwindow", "window.tumbling"),
    ("slidingwindow", "window.sliding"),
    ("countwindow", "window.count"),
    ("statewindow", "window.state.over_partition_by"),
    ("sessionwindow", "window.session"),
];

/// What a draft names.
#[derive(Default)]
pub(super) struct Found {
    pub(super) relations: Vec<(String, String)>,
    /// How a stream is called in the draft, and which one it is.
    pub(super) sources: Vec<(String, String)>,
    pub(super) functions: Vec<(String, String)>,
    pub(super) columns: Vec<Vec<Ident>>,
    /// Those of them that the result is made of.
    pub(super) results: Vec<Vec<Ident>>,
    pub(super) aliases: BTreeSet<String>,
    pub(super) constructs: BTreeSet<&'static str>,
    pub(super) named_queries: BTreeSet<String>,
    pub(super) has_derived: bool,
    depth: usize,
}

impl Found {
    fn calls(&mut self, function: &str) {
        self.functions.push((function.to_owned(), String::new()));
    }

    pub(super) fn look_at(&mut self, statements: &Vec<Statement>) {
        let looked = statements.visit(self);
        debug_assert!(looked.is_continue(), "nothing breaks it off");
    }
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.depth += 1;
        if self.depth > 1 {
            self.constructs.insert("expr.subquery");
            self.has_derived = true;
        }
        if let Some(with) = &query.with {
            self.constructs.insert("statement.with");
            self.named_queries.extend(with.cte_tables.iter().map(|table| table.alias.name.value.clone()));
        }
        if query.order_by.is_some() {
            self.constructs.insert("select.order_by");
        }
        if query.limit_clause.is_some() || query.fetch.is_some() {
            self.constructs.insert("select.limit");
        }
        match &*query.body {
            SetExpr::Select(_) | SetExpr::Query(_) => {}
            SetExpr::SetOperation { .. } => drop(self.constructs.insert("statement.union")),
            _ => drop(self.constructs.insert("statement.values")),
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.constructs.insert("statement.select");
        if select.distinct.is_some() {
            self.constructs.insert("select.distinct");
        }
        if select.selection.is_some() {
            self.constructs.insert("select.where");
        }
        if select.having.is_some() {
            self.constructs.insert("select.having");
        }
        let groups = match &select.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(groups, _) => !groups.is_empty(),
        };
        if groups {
            self.constructs.insert("select.group_by");
        }
        if select.from.iter().any(|from| !from.joins.is_empty()) || select.from.len() > 1 {
            self.constructs.insert("from.join");
        }
        for item in &select.projection {
            let mut result = Found::default();
            let looked = item.visit(&mut result);
            debug_assert!(looked.is_continue(), "nothing breaks it off");
            self.results.append(&mut result.columns);
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                self.aliases.insert(alias.value.clone());
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                self.constructs.insert("from.source");
                let stream = plain(name);
                let called = alias.as_ref().map_or_else(|| stream.clone(), |alias| alias.name.value.clone());
                self.sources.push((called, stream));
            }
            _ => self.has_derived = true,
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.relations.push((plain(relation), at(relation)));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => self.columns.push(vec![name.clone()]),
            Expr::CompoundIdentifier(path) => self.columns.push(path.clone()),
            Expr::CompoundFieldAccess { .. } | Expr::JsonAccess { .. } => {
                self.constructs.insert("expr.struct_field_access");
            }
            // The parser knows these by words of their own.
            Expr::Ceil { .. } => self.calls("ceil"),
            Expr::Floor { .. } => self.calls("floor"),
            Expr::Substring { .. } => self.calls("substring"),
            Expr::Trim { .. } => self.calls("trim"),
            Expr::Position { .. } => self.calls("position"),
            Expr::Overlay { .. } => self.calls("overlay"),
            Expr::Extract { .. } => self.calls("extract"),
            Expr::Convert { .. } => self.calls("convert"),
            Expr::Cast { .. } => self.calls("cast"),
            Expr::Case { .. } => drop(self.constructs.insert("expr.case")),
            Expr::BinaryOp { op, .. } => match op {
                BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo => drop(self.constructs.insert("expr.binary.arithmetic")),
                BinaryOperator::Arrow => drop(self.constructs.insert("expr.struct_field_access")),
                _ => {}
            },
            Expr::Function(function) => {
                let name = plain(&function.name).to_ascii_lowercase();
                if let Some((_, window)) = WINDOWS.iter().find(|(window, _)| *window == name) {
                    self.constructs.insert(window);
                }
                if function.over.is_some() {
                    self.constructs.insert("window.state.over_partition_by");
                }
                self.functions.push((name, at(&function.name)));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn plain(name: &ObjectName) -> String {
    let parts = name.0.iter().filter_map(|part| part.as_ident());
    parts.map(|part| part.value.as_str()).collect::<Vec<_>>().join(".")
}

fn at(name: &ObjectName) -> String {
    name.0.first().and_then(|part| part.as_ident()).map(place).unwrap_or_default()
}

/// Where a name stands: line and column.
pub(super) fn place(ident: &Ident) -> String {
    let start = ident.span.start;
    if start.line == 0 { String::new() } else { format!("line {} column {}", start.line, start.column) }
}
