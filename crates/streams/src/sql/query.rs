//! Statements, clauses and sources.

use sqlparser::ast::{
    self, GroupByExpr, ObjectName, ObjectNamePart, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, Spanned, Statement, TableFactor, WildcardAdditionalOptions,
};

use super::syntax::{Item, Kind, Name, Query, Source, WindowCall};
use super::{Reader, reference};
use crate::error::Place;

impl Reader {
    /// Reads a statement; nothing where it is no query at all.
    pub(super) fn statement(&mut self, statement: &Statement) -> Option<Query> {
        self.near = Place { line: 1, column: 1 };
        let Statement::Query(query) = statement else {
            self.refuse("statement.other", self.near, "a statement other than `SELECT`");
            return None;
        };
        self.query(query)
    }

    fn query(&mut self, query: &ast::Query) -> Option<Query> {
        let ast::Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let place = self.place(query.span());
        if with.is_some() {
            self.refuse("statement.with", place, "`WITH`");
        }
        let read = match body.as_ref() {
            SetExpr::Select(select) => Some(self.select(select)),
            SetExpr::Query(inner) => self.query(inner),
            SetExpr::SetOperation { .. } => {
                self.refuse("statement.union", place, "`UNION`, `EXCEPT` or `INTERSECT`");
                None
            }
            SetExpr::Values(_)
            | SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_)
            | SetExpr::Table(_) => {
                self.refuse("statement.other", place, "a statement other than `SELECT`");
                None
            }
        };
        if let Some(order_by) = order_by {
            let place = self.place(order_by.span());
            self.refuse("select.order_by", place, "`ORDER BY`");
        }
        if limit_clause.is_some() || fetch.is_some() {
            let place = limit_clause.as_ref().map_or(self.near, |limit| self.place(limit.span()));
            self.refuse("select.limit", place, "`LIMIT`");
        }
        if !locks.is_empty()
            || for_clause.is_some()
            || settings.is_some()
            || format_clause.is_some()
            || !pipe_operators.is_empty()
        {
            self.refuse("select.other", self.near, "what stands behind the query");
        }
        read
    }

    fn select(&mut self, select: &Select) -> Query {
        let Select {
            select_token,
            optimizer_hints: _,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor: _,
        } = select;
        let start = self.place(select_token.0.span);
        self.uses("statement.select");
        self.uses("select.projection");
        if distinct.is_some() {
            self.refuse("select.distinct", start, "`DISTINCT`");
        }
        let other = [
            (select_modifiers.is_some(), "a modifier of `SELECT`"),
            (top.is_some(), "`TOP`"),
            (exclude.is_some(), "`EXCLUDE`"),
            (into.is_some(), "`INTO`"),
            (!lateral_views.is_empty(), "`LATERAL VIEW`"),
            (prewhere.is_some(), "`PREWHERE`"),
            (!connect_by.is_empty(), "`CONNECT BY`"),
            (!cluster_by.is_empty(), "`CLUSTER BY`"),
            (!distribute_by.is_empty(), "`DISTRIBUTE BY`"),
            (!sort_by.is_empty(), "`SORT BY`"),
            (!named_window.is_empty(), "`WINDOW`"),
            (qualify.is_some(), "`QUALIFY`"),
            (value_table_mode.is_some(), "`AS VALUE` or `AS STRUCT`"),
        ];
        for (_, what) in other.into_iter().filter(|(is_there, _)| *is_there) {
            self.refuse("select.other", start, what);
        }
        let items: Vec<Item> = projection.iter().filter_map(|item| self.item(item)).collect();
        if projection.is_empty() {
            self.refuse("select.other", start, "a `SELECT` of nothing");
        }
        let source = self.from(from, start);
        let filter = selection.as_ref().map(|filter| {
            self.uses("select.where");
            self.expr(filter)
        });
        let mut query = Query {
            items,
            source,
            filter,
            keys: Vec::new(),
            windows: Vec::new(),
            refused_window: false,
            group_by: None,
            having: None,
        };
        self.group_by(group_by, &mut query);
        query.having = having.as_ref().map(|having| {
            self.uses("select.having");
            self.expr(having)
        });
        query
    }

    fn item(&mut self, item: &SelectItem) -> Option<Item> {
        let place = self.place(item.span());
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let read = self.expr(expr);
                let name = match &read.kind {
                    Kind::Path(path) => path.last().map(|last| last.text.clone()),
                    Kind::Field(_, field) => Some(field.text.clone()),
                    Kind::Call { name, .. } => Some(name.text.to_ascii_lowercase()),
                    _ => None,
                };
                let derived = !matches!(read.kind, Kind::Path(_) | Kind::Field(..));
                Some(Item::Expr {
                    name: name.unwrap_or_else(|| short(&expr.to_string())),
                    expr: read,
                    derived,
                })
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                self.uses("select.alias");
                Some(Item::Expr { expr: self.expr(expr), name: alias.value.clone(), derived: false })
            }
            SelectItem::ExprWithAliases { .. } => {
                self.refuse("select.other", place, "several names for one expression");
                None
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                let of = self.object(name, "select.other")?;
                self.wildcard(options, place);
                Some(Item::All { of: Some(of), place })
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _) => {
                self.refuse("select.wildcard_options", place, "`.*` of an expression");
                None
            }
            SelectItem::Wildcard(options) => {
                self.wildcard(options, place);
                Some(Item::All { of: None, place })
            }
        }
    }

    fn wildcard(&mut self, options: &WildcardAdditionalOptions, place: Place) {
        self.uses("select.wildcard");
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        if opt_ilike.is_some()
            || opt_exclude.is_some()
            || opt_except.is_some()
            || opt_replace.is_some()
            || opt_rename.is_some()
            || opt_alias.is_some()
        {
            self.refuse("select.wildcard_options", place, "an option of `*`");
        }
    }

    fn from(&mut self, from: &[ast::TableWithJoins], start: Place) -> Option<Source> {
        let Some(first) = from.first() else {
            self.refuse("select.other", start, "a `SELECT` without `FROM`");
            return None;
        };
        let source = self.source(&first.relation);
        for join in &first.joins {
            let place = self.place(join.span());
            self.refuse("from.join", place, "`JOIN`");
            self.source(&join.relation);
        }
        for more in &from[1..] {
            let place = self.place(more.span());
            self.refuse("from.multiple", place, "more than one stream");
            self.source(&more.relation);
        }
        source
    }

    fn source(&mut self, factor: &TableFactor) -> Option<Source> {
        let place = self.place(factor.span());
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_directives,
                inheritance,
            } => {
                self.uses("from.source");
                if args.is_some()
                    || !with_hints.is_empty()
                    || version.is_some()
                    || *with_ordinality
                    || !partitions.is_empty()
                    || json_path.is_some()
                    || sample.is_some()
                    || !index_directives.is_empty()
                    || inheritance.is_some()
                {
                    self.refuse("from.other", place, "more than the name of a stream");
                }
                let stream = self.object(name, "from.other")?;
                self.references.streams.push(reference(&stream.text, stream.place));
                let alias = alias.as_ref().map(|alias| {
                    self.uses("from.alias");
                    if !alias.columns.is_empty() || alias.at.is_some() {
                        self.refuse("from.other", place, "names for the columns of a source");
                    }
                    alias.name.value.clone()
                });
                Some(Source { stream, alias })
            }
            TableFactor::Derived { .. } => {
                self.refuse("from.subquery", place, "a query in `FROM`");
                None
            }
            TableFactor::NestedJoin { .. } => {
                self.refuse("from.join", place, "`JOIN`");
                None
            }
            _ => {
                self.refuse("from.other", place, "a source other than a stream");
                None
            }
        }
    }

    /// A name of one part.
    fn object(&mut self, name: &ObjectName, construct: &'static str) -> Option<Name> {
        match name.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] => {
                let place = self.place(ident.span);
                Some(Name { text: ident.value.clone(), place })
            }
            _ => {
                let place = self.place(name.span());
                self.refuse(construct, place, "a name of several parts");
                None
            }
        }
    }

    fn group_by(&mut self, group_by: &GroupByExpr, query: &mut Query) {
        let (exprs, modifiers) = match group_by {
            GroupByExpr::All(_) => {
                self.refuse("select.group_by_sets", self.near, "`GROUP BY ALL`");
                return;
            }
            GroupByExpr::Expressions(exprs, modifiers) => (exprs, modifiers),
        };
        let Some(first) = exprs.first() else { return };
        query.group_by = Some(self.place(first.span()));
        if !modifiers.is_empty() {
            self.refuse("select.group_by_sets", self.near, "a modifier of `GROUP BY`");
        }
        for expr in exprs {
            let place = self.place(expr.span());
            match expr {
                ast::Expr::GroupingSets(_) | ast::Expr::Cube(_) | ast::Expr::Rollup(_) => {
                    self.refuse("select.group_by_sets", place, "a set of groupings");
                }
                ast::Expr::Tuple(parts) if parts.is_empty() => {
                    self.refuse("select.group_by_sets", place, "an empty group");
                }
                ast::Expr::Value(_) => {
                    self.refuse("select.group_by_sets", place, "the position of a column in `GROUP BY`");
                }
                ast::Expr::Function(function) => match self.window(function) {
                    Some(Some(window)) => query.windows.push(window),
                    // It is a window all the same, so that nobody asks for one.
                    Some(None) => query.refused_window = true,
                    None => self.key(expr, query),
                },
                _ => self.key(expr, query),
            }
        }
    }

    fn key(&mut self, expr: &ast::Expr, query: &mut Query) {
        self.uses("select.group_by");
        let key = self.expr(expr);
        query.keys.push(key);
    }

    /// Reads a function in `GROUP BY` that is a window: nothing where it is none, an empty answer where it is refused.
    fn window(&mut self, function: &ast::Function) -> Option<Option<WindowCall>> {
        let [ObjectNamePart::Identifier(ident)] = function.name.0.as_slice() else { return None };
        let place = self.place(ident.span);
        let lower = ident.value.to_ascii_lowercase();
        let (supported, construct) = super::expr::window(&lower)?;
        let over = function.over.is_some();
        match (supported, construct, over) {
            (false, "window.state", true) => {
                self.refuse("window.state.over_partition_by", place, "a state window over partitions");
                return Some(None);
            }
            (false, _, _) => {
                self.refuse(construct, place, &format!("the window `{lower}`"));
                return Some(None);
            }
            (true, _, true) => {
                self.refuse("function.over", place, "`OVER`");
                return Some(None);
            }
            (true, _, false) => self.uses(construct),
        }
        let (args, _) = self.call_args(function, place)?;
        Some(Some(WindowCall { name: Name { text: lower, place }, args }))
    }
}

/// A name for a column from the text of its expression.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
