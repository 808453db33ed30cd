//! Expressions.

use sqlparser::ast::{
    self, AccessExpr, BinaryOperator, CastKind, CeilFloorKind, DataType, DuplicateTreatment, FunctionArg,
    FunctionArgExpr, FunctionArguments, InTarget, ObjectNamePart, Spanned, Subscript, UnaryOperator, Value,
};

use super::syntax::{Arithmetic, CastTo, Compare, Expr, Kind, Literal, Name};
use super::{DEEPEST, Reader, reference};
use crate::error::{Code, Place, PlanError};
use crate::functions::Function;

/// Whether a function is a window that the planner has, and the construct that it is.
pub(super) fn window(lower: &str) -> Option<(bool, &'static str)> {
    Some(match lower {
        "tumblingwindow" => (true, "window.tumbling"),
        "slidingwindow" => (true, "window.sliding"),
        "countwindow" => (true, "window.count"),
        "hoppingwindow" => (false, "window.hopping"),
        "sessionwindow" => (false, "window.session"),
        "statewindow" => (false, "window.state"),
        _ => return None,
    })
}

impl Reader {
    /// Reads an expression; what is refused is marked.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let place = self.place(expr.span());
        if self.depth >= DEEPEST {
            return Expr { kind: self.too_deep(place), place };
        }
        self.depth += 1;
        let kind = self.kind(expr, place);
        self.depth -= 1;
        Expr { kind, place }
    }

    /// Says once that expressions nest too deep.
    fn too_deep(&mut self, place: Place) -> Kind {
        if !self.errors.iter().any(|error| error.code == Code::TooLarge) {
            let message = format!("expressions nest deeper than {DEEPEST}");
            self.errors.push(PlanError::new(Code::TooLarge, place, message));
        }
        Kind::Refused
    }

    fn boxed(&mut self, expr: &ast::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn refused(&mut self, construct: &'static str, place: Place, what: &str) -> Kind {
        self.refuse(construct, place, what);
        Kind::Refused
    }

    fn kind(&mut self, expr: &ast::Expr, place: Place) -> Kind {
        use ast::Expr as Sql;
        match expr {
            Sql::Identifier(ident) => self.path(std::slice::from_ref(ident)),
            Sql::CompoundIdentifier(parts) => self.path(parts),
            Sql::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, place),
            Sql::Nested(inner) => self.expr(inner).kind,
            Sql::Value(value) => self.value(&value.value, place),
            Sql::UnaryOp { op, expr } => self.unary(*op, expr, place),
            Sql::BinaryOp { left, op, right } => self.binary(left, op, right, place),
            Sql::IsNull(of) => self.is_null(of, false),
            Sql::IsNotNull(of) => self.is_null(of, true),
            Sql::IsUnknown(of) => self.is_null(of, false),
            Sql::IsNotUnknown(of) => self.is_null(of, true),
            Sql::IsTrue(of) => self.is_truth(of, true, false),
            Sql::IsNotTrue(of) => self.is_truth(of, true, true),
            Sql::IsFalse(of) => self.is_truth(of, false, false),
            Sql::IsNotFalse(of) => self.is_truth(of, false, true),
            Sql::Between { expr, negated, low, high } => {
                self.uses("expr.between");
                Kind::Between(Box::new([self.expr(expr), self.expr(low), self.expr(high)]), *negated)
            }
            Sql::In { expr, target, negated, global: _ } => match target {
                InTarget::List(list) => {
                    self.uses("expr.in_list");
                    let value = self.boxed(expr);
                    Kind::In(value, list.iter().map(|one| self.expr(one)).collect(), *negated)
                }
                InTarget::Subquery(_) | InTarget::Unnest(_) | InTarget::Table { .. } => {
                    self.boxed(expr);
                    self.refused("expr.in_subquery", place, "`IN` with something else than a list")
                }
            },
            Sql::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.uses("expr.case");
                let operand = operand.as_ref().map(|operand| self.boxed(operand));
                let branch =
                    |branch: &ast::CaseWhen| (self.expr(&branch.condition), self.expr(&branch.result));
                let branches = conditions.iter().map(branch).collect();
                Kind::Case { operand, branches, otherwise: else_result.as_ref().map(|expr| self.boxed(expr)) }
            }
            Sql::Cast { kind, expr, data_type, format } => {
                let of = self.boxed(expr);
                let to = cast_to(data_type);
                match (kind, to) {
                    (CastKind::Cast | CastKind::DoubleColon, Some(to)) if format.is_none() => {
                        self.uses("expr.cast");
                        Kind::Cast(of, to)
                    }
                    _ => self.refused("expr.cast_other", place, &format!("a cast to `{data_type}`")),
                }
            }
            Sql::Function(function) => self.function(function, place),
            Sql::Ceil { expr, field } => self.rounding("ceil", expr, field, place),
            Sql::Floor { expr, field } => self.rounding("floor", expr, field, place),
            Sql::IsDistinctFrom(..) | Sql::IsNotDistinctFrom(..) => {
                self.refused("expr.is_distinct_from", place, "`IS DISTINCT FROM`")
            }
            Sql::Like { .. }
            | Sql::ILike { .. }
            | Sql::SimilarTo { .. }
            | Sql::RLike { .. }
            | Sql::MatchAgainst { .. } => self.refused("expr.like", place, "matching with a pattern"),
            Sql::Subquery(_) | Sql::Exists { .. } | Sql::AnyOp { .. } | Sql::AllOp { .. } => {
                self.refused("expr.subquery", place, "a query inside of an expression")
            }
            Sql::Interval(_) | Sql::TypedString(_) | Sql::Prefixed { .. } => {
                self.refused("expr.literal_other", place, "a constant of this type")
            }
            Sql::Array(_) | Sql::Struct { .. } | Sql::Tuple(_) | Sql::Dictionary(_) | Sql::Map(_) => {
                self.refused("expr.constructor", place, "making a struct or array")
            }
            _ => self.refused("expr.other", place, "this expression"),
        }
    }

    fn path(&mut self, parts: &[ast::Ident]) -> Kind {
        self.uses("expr.column");
        let mut names = Vec::with_capacity(parts.len());
        for part in parts {
            names.push(Name { text: part.value.clone(), place: self.place(part.span) });
        }
        if let Some(first) = names.first() {
            let whole: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
            self.references.columns.push(reference(whole.join("."), first.place));
        }
        Kind::Path(names)
    }

    fn access(&mut self, root: &ast::Expr, chain: &[AccessExpr], place: Place) -> Kind {
        // Each access is one more level of the tree.
        if self.depth + chain.len() > DEEPEST {
            return self.too_deep(place);
        }
        let mut value = self.expr(root);
        for access in chain {
            let kind = match access {
                AccessExpr::Dot(ast::Expr::Identifier(field)) => {
                    self.uses("expr.struct_field_access");
                    let name = Name { text: field.value.clone(), place: self.place(field.span) };
                    Kind::Field(Box::new(value), name)
                }
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    self.uses("expr.array_index");
                    Kind::Index(Box::new(value), self.boxed(index))
                }
                AccessExpr::Subscript(Subscript::Slice { .. }) => {
                    self.refused("expr.array_slice", place, "a slice of an array")
                }
                AccessExpr::Dot(_) => self.refused("expr.other", place, "this access"),
            };
            value = Expr { kind, place };
        }
        value.kind
    }

    fn value(&mut self, value: &Value, place: Place) -> Kind {
        let literal = match value {
            Value::Number(text, _) => match number(text) {
                Some(literal) => literal,
                None => {
                    let message = format!("`{text}` does not fit into 64 bits");
                    self.errors.push(PlanError::new(Code::TypeMismatch, place, message));
                    return Kind::Refused;
                }
            },
            Value::SingleQuotedString(text) => Literal::Text(text.clone()),
            Value::Boolean(value) => Literal::Bool(*value),
            Value::Null => Literal::Null,
            _ => return self.refused("expr.literal_other", place, "a constant of this form"),
        };
        self.uses("expr.literal");
        Kind::Literal(literal)
    }

    fn unary(&mut self, op: UnaryOperator, of: &ast::Expr, place: Place) -> Kind {
        match op {
            UnaryOperator::Minus => {
                // The least integer is one that has no positive counterpart.
                if let ast::Expr::Value(value) = of
                    && let Value::Number(text, _) = &value.value
                    && let Some(literal) = number(&format!("-{text}"))
                {
                    self.uses("expr.literal");
                    return Kind::Literal(literal);
                }
                self.uses("expr.unary.minus");
                Kind::Negate(self.boxed(of))
            }
            UnaryOperator::Plus => self.expr(of).kind,
            UnaryOperator::Not => {
                self.uses("expr.unary.not");
                Kind::Not(self.boxed(of))
            }
            other => self.refused("expr.unary.other", place, &format!("the operator `{other}`")),
        }
    }

    fn binary(&mut self, left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr, place: Place) -> Kind {
        if let (BinaryOperator::Arrow, ast::Expr::Identifier(field)) = (op, right) {
            self.uses("expr.struct_field_access");
            let value = self.boxed(left);
            return Kind::Field(value, Name { text: field.value.clone(), place: self.place(field.span) });
        }
        let (a, b) = (self.boxed(left), self.boxed(right));
        let arithmetic = match op {
            BinaryOperator::Plus => Some(Arithmetic::Add),
            BinaryOperator::Minus => Some(Arithmetic::Sub),
            BinaryOperator::Multiply => Some(Arithmetic::Mul),
            BinaryOperator::Divide => Some(Arithmetic::Div),
            BinaryOperator::Modulo => Some(Arithmetic::Rem),
            _ => None,
        };
        if let Some(arithmetic) = arithmetic {
            self.uses("expr.binary.arithmetic");
            return Kind::Arithmetic(arithmetic, a, b);
        }
        let compare = match op {
            BinaryOperator::Eq => Some(Compare::Eq),
            BinaryOperator::NotEq => Some(Compare::Ne),
            BinaryOperator::Lt => Some(Compare::Lt),
            BinaryOperator::LtEq => Some(Compare::Le),
            BinaryOperator::Gt => Some(Compare::Gt),
            BinaryOperator::GtEq => Some(Compare::Ge),
            _ => None,
        };
        if let Some(compare) = compare {
            self.uses("expr.binary.comparison");
            return Kind::Compare(compare, a, b);
        }
        match op {
            BinaryOperator::And | BinaryOperator::Or => {
                self.uses("expr.binary.logical");
                if *op == BinaryOperator::And { Kind::And(a, b) } else { Kind::Or(a, b) }
            }
            BinaryOperator::StringConcat => {
                self.uses("expr.binary.concat");
                Kind::Concat(a, b)
            }
            BinaryOperator::BitwiseOr
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::BitwiseXor
            | BinaryOperator::PGBitwiseXor
            | BinaryOperator::PGBitwiseShiftLeft
            | BinaryOperator::PGBitwiseShiftRight => {
                self.refused("expr.binary.bitwise", place, &format!("the operator `{op}`"))
            }
            other => self.refused("expr.binary.other", place, &format!("the operator `{other}`")),
        }
    }

    fn is_null(&mut self, of: &ast::Expr, negated: bool) -> Kind {
        self.uses("expr.is_null");
        Kind::IsNull(self.boxed(of), negated)
    }

    fn is_truth(&mut self, of: &ast::Expr, truth: bool, negated: bool) -> Kind {
        self.uses("expr.is_truth");
        Kind::IsTruth(self.boxed(of), truth, negated)
    }

    /// `CEIL` and `FLOOR`, for which the parser has nodes of their own.
    fn rounding(&mut self, name: &str, of: &ast::Expr, field: &CeilFloorKind, place: Place) -> Kind {
        let mut args = vec![self.expr(of)];
        match field {
            CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => {}
            CeilFloorKind::DateTimeField(_) => {
                return self.refused("expr.other", place, "rounding to a unit of time");
            }
            CeilFloorKind::Scale(scale) => {
                let kind = self.value(&scale.value, place);
                args.push(Expr { kind, place });
            }
        }
        self.references.functions.push(reference(name, place));
        self.uses("function.scalar");
        Kind::Call { name: Name { text: name.to_owned(), place }, args, all: false }
    }

    fn function(&mut self, function: &ast::Function, place: Place) -> Kind {
        let [ObjectNamePart::Identifier(ident)] = function.name.0.as_slice() else {
            return self.refused("expr.other", place, "a function with a name of several parts");
        };
        let place = self.place(ident.span);
        let lower = ident.value.to_ascii_lowercase();
        if let Some((_, construct)) = window(&lower) {
            let message = format!("the window `{lower}` stands outside of `GROUP BY`");
            self.errors.push(PlanError::new(Code::WindowMisplaced, place, message));
            self.uses(construct);
            return Kind::Refused;
        }
        self.references.functions.push(reference(&lower, place));
        if let Some(def) = crate::functions::function(&lower) {
            self.uses(match def.function {
                Function::Scalar(_) => "function.scalar",
                Function::Aggregate(_) => "function.aggregate",
                Function::Stateful(_) => "function.stateful",
            });
        }
        if let Some(filter) = &function.filter {
            self.expr(filter);
            return self.refused("function.aggregate.filter", place, "`FILTER`");
        }
        if function.over.is_some() {
            return self.refused("function.over", place, "`OVER`");
        }
        match self.call_args(function, place) {
            Some((args, all)) => Kind::Call { name: Name { text: lower, place }, args, all },
            None => Kind::Refused,
        }
    }

    /// The arguments of a call, and whether they are `*`.
    pub(super) fn call_args(&mut self, function: &ast::Function, place: Place) -> Option<(Vec<Expr>, bool)> {
        let ast::Function {
            name: _,
            uses_odbc_syntax: _,
            parameters,
            args,
            within_group,
            filter: _,
            null_treatment,
            over: _,
        } = function;
        let plain = matches!(parameters, FunctionArguments::None);
        if !plain || !within_group.is_empty() || null_treatment.is_some() {
            self.refuse("function.modifiers", place, "a modifier of a call");
            return None;
        }
        let list = match args {
            FunctionArguments::None => return Some((Vec::new(), false)),
            FunctionArguments::Subquery(_) => {
                self.refuse("expr.subquery", place, "a query inside of an expression");
                return None;
            }
            FunctionArguments::List(list) => list,
        };
        let mut ok = true;
        if matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct)) {
            self.refuse("function.aggregate.distinct", place, "`DISTINCT` in a call");
            ok = false;
        }
        if !list.clauses.is_empty() {
            self.refuse("function.modifiers", place, "a modifier of a call");
            ok = false;
        }
        let (mut args, mut all) = (Vec::new(), false);
        for arg in &list.args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => args.push(self.expr(arg)),
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => all = true,
                _ => {
                    self.refuse("function.modifiers", place, "an argument of this form");
                    ok = false;
                }
            }
        }
        ok.then_some((args, all))
    }
}

fn number(text: &str) -> Option<Literal> {
    if text.contains(['.', 'e', 'E']) {
        let value: f64 = text.parse().ok()?;
        return value.is_finite().then_some(Literal::Float(value));
    }
    text.parse().ok().map(Literal::Int)
}

fn cast_to(data_type: &DataType) -> Option<CastTo> {
    Some(match data_type {
        DataType::BigInt(None) | DataType::Int64 => CastTo::Int,
        DataType::Double(ast::ExactNumberInfo::None)
        | DataType::DoublePrecision
        | DataType::Float64
        | DataType::Float(ast::ExactNumberInfo::None) => CastTo::Float,
        DataType::Boolean | DataType::Bool => CastTo::Bool,
        DataType::String(None) | DataType::Text | DataType::Varchar(None) => CastTo::Text,
        DataType::Timestamp(None, ast::TimezoneInfo::None) | DataType::Datetime(None) => CastTo::Time,
        _ => return None,
    })
}
