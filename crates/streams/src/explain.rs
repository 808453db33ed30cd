//! What a planned query does, as a tree for readers, and the request that makes a pipeline of it.

use crate::functions::{Aggregate, Scalar, Stateful};
use crate::pipeline::{Options, PipelineRequest};
use crate::plan::typed::{AggregateCall, Expr, Kind, Query, Shape, Window};
use crate::planned::Planned;
use crate::sql::syntax::Literal;
use crate::types::Field;

/// The id that stands in a request which nobody has given one yet.
pub const REPLACE_ME: &str = "REPLACE_ME";

/// The plan as text: one line for each step, the sink first, the source last, with types and the functions of the program
/// that do it. Equal plans have equal texts.
pub fn pretty(planned: &Planned) -> String {
    let query = &planned.query;
    let scope = Scope::of(query);
    let mut steps = vec!["Sink".to_owned()];
    let items: Vec<String> = query
        .items
        .iter()
        .map(|item| {
            let text = scope.text(&item.expr);
            let is = if text == item.name { String::new() } else { format!(" = {text}") };
            format!("{} {}{is}", item.name, item.expr.ty)
        })
        .collect();
    let items = items.join(", ");
    match &query.shape {
        Shape::Rows { stateful } => {
            let by = if stateful.is_empty() { "project" } else { "first, project" };
            steps.push(format!("Project: {items} [{by}]"));
        }
        Shape::Groups { window, keys, aggregates: _, having } => {
            steps.push(format!("Project: {items} [finish]"));
            if let Some(having) = having {
                steps.push(format!("Filter: {} [having]", scope.text(having)));
            }
            let keys: Vec<String> =
                keys.iter().map(|key| format!("{} {}", scope.text(key), key.ty)).collect();
            let by = if keys.is_empty() { String::new() } else { format!(", group by {}", keys.join(", ")) };
            let of = if keys.is_empty() { "start, step" } else { "key, start, step" };
            steps.push(format!("Window: {}{by} [{of}]", window_text(*window)));
        }
    }
    if let Some(filter) = &query.filter {
        steps.push(format!("Filter: {} [keep]", scope.text(filter)));
    }
    let columns: Vec<String> =
        query.columns.iter().map(|column| format!("{} {}", column.name, column.ty)).collect();
    steps.push(format!("Source: {} ({})", query.stream, columns.join(", ")));
    let mut text = String::new();
    for (depth, step) in steps.iter().enumerate() {
        let branch = if depth == 0 { "" } else { "└─ " };
        let indent = "   ".repeat(depth.saturating_sub(1));
        text.push_str(&format!("{indent}{branch}{step}\n"));
    }
    text
}

/// The request that makes a pipeline of a planned query.
pub fn pipeline_request(
    planned: &Planned,
    id: &str,
    sinks: Vec<serde_json::Value>,
    options: Options,
) -> PipelineRequest {
    let source = serde_json::json!({ "stream": planned.query.stream });
    PipelineRequest {
        id: id.to_owned(),
        flow_instance_id: None,
        sql: planned.sql.clone(),
        sources: vec![source],
        sinks,
        options,
    }
}

fn window_text(window: Window) -> String {
    match window {
        Window::Tumbling { length_ms } => format!("tumbling {length_ms} ms"),
        Window::Sliding { length_ms } => format!("sliding {length_ms} ms"),
        Window::Count { rows } => format!("count {rows} rows"),
    }
}

/// What the parts of expressions are called.
struct Scope<'q> {
    columns: &'q [Field],
    keys: &'q [Expr],
    aggregates: &'q [AggregateCall],
    stateful: &'q [Expr],
}

impl<'q> Scope<'q> {
    fn of(query: &'q Query) -> Scope<'q> {
        let columns = &query.columns;
        match &query.shape {
            Shape::Rows { stateful } => Scope { columns, keys: &[], aggregates: &[], stateful },
            Shape::Groups { keys, aggregates, .. } => Scope { columns, keys, aggregates, stateful: &[] },
        }
    }

    fn list(&self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.text(expr)).collect();
        texts.join(", ")
    }

    fn infix(&self, a: &Expr, op: &str, b: &Expr) -> String {
        format!("({} {op} {})", self.text(a), self.text(b))
    }

    fn text(&self, expr: &Expr) -> String {
        match &expr.kind {
            Kind::Column(index) => self.columns[*index].name.clone(),
            Kind::Key(index) => self.text(&self.keys[*index]),
            Kind::Aggregate(index) => {
                let call = &self.aggregates[*index];
                let name = match call.function {
                    Aggregate::Avg => "avg",
                    Aggregate::Count => "count",
                    Aggregate::First => "first",
                    Aggregate::Last => "last",
                    Aggregate::Max => "max",
                    Aggregate::Min => "min",
                    Aggregate::Sum => "sum",
                };
                format!("{name}({})", call.arg.as_ref().map_or("*".to_owned(), |arg| self.text(arg)))
            }
            Kind::Previous(function, index) => {
                let name = match function {
                    Stateful::Changed => "changed",
                    Stateful::Lag => "lag",
                };
                format!("{name}({})", self.text(&self.stateful[*index]))
            }
            Kind::Literal(literal) => match literal {
                Literal::Null => "NULL".to_owned(),
                Literal::Bool(value) => value.to_string(),
                Literal::Int(value) => value.to_string(),
                Literal::Float(value) => format!("{value:?}"),
                Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
            },
            Kind::ToFloat(of) => format!("CAST({} AS double)", self.text(of)),
            Kind::Field(of, index) => match &of.ty {
                crate::types::Ty::Struct(fields) => format!("{}.{}", self.text(of), fields[*index].name),
                _ => self.text(of),
            },
            Kind::Index(of, index) => format!("{}[{}]", self.text(of), self.text(index)),
            Kind::Negate(of) => format!("(-{})", self.text(of)),
            Kind::Not(of) => format!("NOT {}", self.text(of)),
            Kind::Arithmetic(op, a, b) => self.infix(a, op.symbol(), b),
            Kind::Concat(a, b) => self.infix(a, "||", b),
            Kind::Compare(op, a, b) => self.infix(a, op.symbol(), b),
            Kind::And(a, b) => self.infix(a, "AND", b),
            Kind::Or(a, b) => self.infix(a, "OR", b),
            Kind::IsNull(of) => format!("({} IS NULL)", self.text(of)),
            Kind::IsTruth(of, true) => format!("({} IS TRUE)", self.text(of)),
            Kind::IsTruth(of, false) => format!("({} IS FALSE)", self.text(of)),
            Kind::Between(parts) => {
                let [of, low, high] = parts.as_ref();
                format!("({} BETWEEN {} AND {})", self.text(of), self.text(low), self.text(high))
            }
            Kind::In(of, list) => format!("({} IN ({}))", self.text(of), self.list(list)),
            Kind::Case { branches, otherwise } => self.case(None, branches, otherwise.as_deref()),
            Kind::Match { operand, branches, otherwise } => {
                self.case(Some(operand), branches, otherwise.as_deref())
            }
            Kind::Cast(of) => format!("CAST({} AS {})", self.text(of), expr.ty),
            Kind::Call(scalar, args) => {
                let name = match scalar {
                    Scalar::Abs => "abs",
                    Scalar::Ceil => "ceil",
                    Scalar::Coalesce => "coalesce",
                    Scalar::Concat => "concat",
                    Scalar::Floor => "floor",
                    Scalar::Length => "length",
                    Scalar::Mod => "mod",
                    Scalar::NullIf => "nullif",
                    Scalar::Power => "power",
                    Scalar::Round => "round",
                    Scalar::Sqrt => "sqrt",
                    Scalar::WindowEnd => "window_end",
                    Scalar::WindowStart => "window_start",
                };
                format!("{name}({})", self.list(args))
            }
        }
    }

    fn case(&self, operand: Option<&Expr>, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> String {
        let mut text = "CASE".to_owned();
        if let Some(operand) = operand {
            text.push_str(&format!(" {}", self.text(operand)));
        }
        for (when, then) in branches {
            text.push_str(&format!(" WHEN {} THEN {}", self.text(when), self.text(then)));
        }
        if let Some(otherwise) = otherwise {
            text.push_str(&format!(" ELSE {}", self.text(otherwise)));
        }
        text + " END"
    }
}
