//! What names mean and which types expressions have.

use std::sync::Arc;

use super::clause::Clause;
use super::typed::{AggregateCall, Expr, Kind};
use crate::error::{Code, Place, PlanError};
use crate::sql::syntax::{self, Arithmetic, CastTo, Compare, Literal, Name};
use crate::types::{Field, Ty};

/// What expressions of a query may speak of, and what was found in them.
pub(super) struct Scope {
    /// The columns; nothing when the stream is not known, so that they are not complained about one by one.
    pub(super) columns: Option<Arc<[Field]>>,
    /// The names that stand for the stream before a dot.
    pub(super) qualifiers: Vec<String>,
    /// Whether there is a window, and whether it has bounds.
    pub(super) window: Option<bool>,
    pub(super) aggregates: Vec<AggregateCall>,
    pub(super) stateful: Vec<Expr>,
    pub(super) errors: Vec<PlanError>,
}

fn made(kind: Kind, ty: Ty, place: Place) -> Option<Expr> {
    Some(Expr { kind, ty, place })
}

impl Scope {
    pub(super) fn wrong(&mut self, error: PlanError) -> Option<Expr> {
        self.errors.push(error);
        None
    }

    /// Types an expression; nothing when something in it is wrong, which was noted then.
    pub(super) fn expr(&mut self, expr: &syntax::Expr, clause: Clause) -> Option<Expr> {
        use syntax::Kind as Said;
        let place = expr.place;
        match &expr.kind {
            Said::Refused => None,
            Said::Path(path) => self.path(path),
            Said::Field(of, field) => {
                let of = self.expr(of, clause)?;
                self.field(of, field)
            }
            Said::Index(of, index) => {
                let (of, index) = (self.expr(of, clause), self.expr(index, clause));
                let (of, index) = (of?, self.coerce(index?, &Ty::Int)?);
                match of.ty.clone() {
                    Ty::Array(element) => {
                        made(Kind::Index(Box::new(of), Box::new(index)), (*element).clone(), place)
                    }
                    other => self.mismatch(place, "only an array has elements", ["array"], &other),
                }
            }
            Said::Literal(literal) => {
                let ty = match literal {
                    Literal::Null => Ty::Null,
                    Literal::Bool(_) => Ty::Bool,
                    Literal::Int(_) => Ty::Int,
                    Literal::Float(_) => Ty::Float,
                    Literal::Text(_) => Ty::Text,
                };
                made(Kind::Literal(literal.clone()), ty, place)
            }
            Said::Negate(of) => {
                let of = self.expr(of, clause)?;
                let of = self.number(of, "`-` takes a number")?;
                let ty = of.ty.clone();
                made(Kind::Negate(Box::new(of)), ty, place)
            }
            Said::Not(of) => {
                let of = self.condition(of, clause)?;
                made(Kind::Not(Box::new(of)), Ty::Bool, place)
            }
            Said::Arithmetic(op, a, b) => {
                let (a, b) = (self.expr(a, clause), self.expr(b, clause));
                self.arithmetic(*op, a?, b?)
            }
            Said::Concat(a, b) => {
                let (a, b) = (self.expr(a, clause), self.expr(b, clause));
                let (a, b) = (self.coerce(a?, &Ty::Text), self.coerce(b?, &Ty::Text));
                made(Kind::Concat(Box::new(a?), Box::new(b?)), Ty::Text, place)
            }
            Said::Compare(op, a, b) => {
                let (a, b) = (self.expr(a, clause), self.expr(b, clause));
                let (a, b) = self.unify(a?, b?)?;
                self.comparable(&a, matches!(op, Compare::Eq | Compare::Ne), op.symbol())?;
                made(Kind::Compare(*op, Box::new(a), Box::new(b)), Ty::Bool, place)
            }
            Said::And(a, b) => {
                let (a, b) = (self.condition(a, clause), self.condition(b, clause));
                made(Kind::And(Box::new(a?), Box::new(b?)), Ty::Bool, place)
            }
            Said::Or(a, b) => {
                let (a, b) = (self.condition(a, clause), self.condition(b, clause));
                made(Kind::Or(Box::new(a?), Box::new(b?)), Ty::Bool, place)
            }
            Said::IsNull(of, negated) => {
                let of = self.expr(of, clause)?;
                negate(made(Kind::IsNull(Box::new(of)), Ty::Bool, place)?, *negated)
            }
            Said::IsTruth(of, truth, negated) => {
                let of = self.condition(of, clause)?;
                negate(made(Kind::IsTruth(Box::new(of), *truth), Ty::Bool, place)?, *negated)
            }
            Said::Between(parts, negated) => {
                let parts: Vec<_> = parts.iter().map(|part| self.expr(part, clause)).collect();
                let parts: Option<Vec<Expr>> = parts.into_iter().collect();
                let parts = self.unify_all(parts?)?;
                self.comparable(&parts[0], false, "BETWEEN")?;
                let parts: [Expr; 3] = parts.try_into().ok()?;
                negate(made(Kind::Between(Box::new(parts)), Ty::Bool, place)?, *negated)
            }
            Said::In(value, list, negated) => {
                let parts: Vec<_> =
                    std::iter::once(&**value).chain(list).map(|part| self.expr(part, clause)).collect();
                let parts: Option<Vec<Expr>> = parts.into_iter().collect();
                let mut parts = self.unify_all(parts?)?.into_iter();
                let value = parts.next()?;
                self.comparable(&value, true, "IN")?;
                negate(made(Kind::In(Box::new(value), parts.collect()), Ty::Bool, place)?, *negated)
            }
            Said::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), clause, place)
            }
            Said::Cast(of, to) => {
                let of = self.expr(of, clause)?;
                self.cast(of, *to, place)
            }
            Said::Call { name, args, all } => self.call(name, args, *all, clause),
        }
    }

    /// Types an expression that is a truth value.
    pub(super) fn condition(&mut self, expr: &syntax::Expr, clause: Clause) -> Option<Expr> {
        let expr = self.expr(expr, clause)?;
        self.coerce(expr, &Ty::Bool)
    }

    fn path(&mut self, path: &[Name]) -> Option<Expr> {
        let columns = self.columns.clone()?;
        let find = |name: &Name| columns.iter().position(|column| column.name == name.text);
        let (first, rest) = path.split_first()?;
        let (column, fields) = match (find(first), rest.split_first()) {
            // The name of the stream before a dot; a column of the same name would be a struct with that field.
            (found, Some((second, rest)))
                if self.qualifiers.contains(&first.text)
                    && (found.is_none() || find(second).is_some() && !has_field(&columns, found, second)) =>
            {
                (second, rest)
            }
            _ => (first, rest),
        };
        let Some(index) = find(column) else {
            let message = format!("there is no column `{}`", column.text);
            let error = PlanError::new(Code::UnknownColumn, column.place, message);
            // Before a dot it may have been meant as the stream.
            let qualifiers: &[String] = if path.len() > 1 { &self.qualifiers } else { &[] };
            let names = columns.iter().map(|column| &column.name).chain(qualifiers);
            let error = error.near(&column.text, names.map(String::as_str));
            return self.wrong(PlanError { expected: qualifiers.to_vec(), ..error });
        };
        let mut value =
            Expr { kind: Kind::Column(index), ty: columns[index].ty.clone(), place: column.place };
        for field in fields {
            value = self.field(value, field)?;
        }
        Some(value)
    }

    fn field(&mut self, of: Expr, field: &Name) -> Option<Expr> {
        let Ty::Struct(fields) = of.ty.clone() else {
            return self.mismatch(
                field.place,
                &format!("`{}` is asked of what has no fields", field.text),
                ["struct"],
                &of.ty,
            );
        };
        match fields.iter().position(|one| one.name == field.text) {
            Some(index) => made(Kind::Field(Box::new(of), index), fields[index].ty.clone(), field.place),
            None => {
                let message = format!("the struct has no field `{}`", field.text);
                let error = PlanError::new(Code::UnknownColumn, field.place, message);
                self.wrong(error.near(&field.text, fields.iter().map(|one| one.name.as_str())))
            }
        }
    }

    fn arithmetic(&mut self, op: Arithmetic, a: Expr, b: Expr) -> Option<Expr> {
        let message = format!("`{}` takes numbers", op.symbol());
        let place = a.place;
        let (a, b) = (self.number(a, &message), self.number(b, &message));
        let (a, b) = if op == Arithmetic::Rem {
            (self.coerce(a?, &Ty::Int), self.coerce(b?, &Ty::Int))
        } else {
            let (a, b) = self.unify(a?, b?)?;
            (Some(a), Some(b))
        };
        let (a, b) = (a?, b?);
        let ty = a.ty.clone();
        made(Kind::Arithmetic(op, Box::new(a), Box::new(b)), ty, place)
    }

    fn case(
        &mut self,
        operand: Option<&syntax::Expr>,
        branches: &[(syntax::Expr, syntax::Expr)],
        otherwise: Option<&syntax::Expr>,
        clause: Clause,
        place: Place,
    ) -> Option<Expr> {
        let mut whens = Vec::new();
        let mut values = Vec::new();
        let mut ok = true;
        if let Some(operand) = operand {
            let operand = self.expr(operand, clause);
            ok &= operand.is_some();
            whens.extend(operand);
        }
        for (when, then) in branches {
            let when = if operand.is_some() { self.expr(when, clause) } else { self.condition(when, clause) };
            let then = self.expr(then, clause);
            ok &= when.is_some() && then.is_some();
            whens.extend(when);
            values.extend(then);
        }
        if let Some(otherwise) = otherwise {
            let otherwise = self.expr(otherwise, clause);
            ok &= otherwise.is_some();
            values.extend(otherwise);
        }
        if !ok {
            return None;
        }
        let mut values = self.unify_all(values)?;
        let ty = values.first()?.ty.clone();
        let otherwise = otherwise.and_then(|_| values.pop()).map(Box::new);
        let kind = if operand.is_some() {
            let mut whens = self.unify_all(whens)?.into_iter();
            let operand = whens.next()?;
            self.comparable(&operand, true, "CASE")?;
            Kind::Match { operand: Box::new(operand), branches: whens.zip(values).collect(), otherwise }
        } else {
            Kind::Case { branches: whens.into_iter().zip(values).collect(), otherwise }
        };
        made(kind, ty, place)
    }

    fn cast(&mut self, of: Expr, to: CastTo, place: Place) -> Option<Expr> {
        let ty = match to {
            CastTo::Int => Ty::Int,
            CastTo::Float => Ty::Float,
            CastTo::Bool => Ty::Bool,
            CastTo::Text => Ty::Text,
            CastTo::Time => Ty::Time,
        };
        if of.ty == Ty::Null || of.ty == ty {
            return self.coerce(of, &ty);
        }
        let fits = match ty {
            Ty::Int => matches!(of.ty, Ty::Float | Ty::Bool | Ty::Text | Ty::Time),
            Ty::Float => matches!(of.ty, Ty::Int | Ty::Text),
            Ty::Bool => matches!(of.ty, Ty::Int),
            Ty::Text => matches!(of.ty, Ty::Int | Ty::Float | Ty::Bool),
            Ty::Time => matches!(of.ty, Ty::Int),
            Ty::Null | Ty::Struct(_) | Ty::Array(_) => false,
        };
        if !fits {
            let message = format!("there is no cast from {} to {ty}", of.ty);
            return self.wrong(PlanError::new(Code::TypeMismatch, place, message).finding(of.ty.to_string()));
        }
        made(Kind::Cast(Box::new(of)), ty, place)
    }

    pub(super) fn mismatch<const N: usize>(
        &mut self,
        place: Place,
        message: &str,
        expected: [&str; N],
        found: &Ty,
    ) -> Option<Expr> {
        let error = PlanError::new(Code::TypeMismatch, place, message);
        self.wrong(error.expecting(expected).finding(found.to_string()))
    }

    pub(super) fn number(&mut self, expr: Expr, message: &str) -> Option<Expr> {
        match expr.ty {
            Ty::Int | Ty::Float => Some(expr),
            Ty::Null => self.coerce(expr, &Ty::Int),
            _ => self.mismatch(expr.place, message, ["bigint", "double"], &expr.ty),
        }
    }

    /// Notes it when values of the type cannot be compared.
    pub(super) fn comparable(&mut self, expr: &Expr, equality: bool, what: &str) -> Option<()> {
        let fits = if equality { expr.ty.is_comparable() } else { expr.ty.is_ordered() };
        if fits {
            return Some(());
        }
        let message = format!("`{what}` does not compare such values");
        let expected: &[&str] = if equality {
            &["bigint", "double", "boolean", "string", "timestamp"]
        } else {
            &["bigint", "double", "string", "timestamp"]
        };
        let error = PlanError::new(Code::TypeMismatch, expr.place, message);
        self.wrong(error.expecting(expected.iter().copied()).finding(expr.ty.to_string()));
        None
    }

    /// The value as one of a type: `NULL` fits everywhere, and an integer becomes a float.
    pub(super) fn coerce(&mut self, expr: Expr, ty: &Ty) -> Option<Expr> {
        let place = expr.place;
        match (&expr.ty, ty) {
            (found, ty) if found == ty => Some(expr),
            // Whatever has the type of NULL is NULL.
            (Ty::Null, _) => made(Kind::Literal(Literal::Null), ty.clone(), place),
            (Ty::Int, Ty::Float) => match expr.kind {
                Kind::Literal(Literal::Int(value)) => {
                    made(Kind::Literal(Literal::Float(value as f64)), Ty::Float, place)
                }
                _ => made(Kind::ToFloat(Box::new(expr)), Ty::Float, place),
            },
            (found, _) => {
                self.mismatch(place, "the value has another type", [&ty.to_string()], &found.clone())
            }
        }
    }

    /// The two as values of one type.
    pub(super) fn unify(&mut self, a: Expr, b: Expr) -> Option<(Expr, Expr)> {
        let ty = common(&a.ty, &b.ty);
        match ty {
            Some(ty) => Some((self.coerce(a, &ty)?, self.coerce(b, &ty)?)),
            None => {
                self.mismatch(b.place, "the two values have different types", [&a.ty.to_string()], &b.ty);
                None
            }
        }
    }

    /// All as values of one type.
    pub(super) fn unify_all(&mut self, exprs: Vec<Expr>) -> Option<Vec<Expr>> {
        let mut ty = Ty::Null;
        for expr in &exprs {
            match common(&ty, &expr.ty) {
                Some(both) => ty = both,
                None => {
                    let place = expr.place;
                    self.mismatch(place, "the values have different types", [&ty.to_string()], &expr.ty);
                    return None;
                }
            }
        }
        exprs.into_iter().map(|expr| self.coerce(expr, &ty)).collect()
    }
}

fn has_field(columns: &[Field], column: Option<usize>, field: &Name) -> bool {
    match column.map(|column| &columns[column].ty) {
        Some(Ty::Struct(fields)) => fields.iter().any(|one| one.name == field.text),
        _ => false,
    }
}

fn negate(expr: Expr, negated: bool) -> Option<Expr> {
    let place = expr.place;
    if negated { made(Kind::Not(Box::new(expr)), Ty::Bool, place) } else { Some(expr) }
}

/// The type that values of both types can have.
fn common(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Null, other) | (other, Ty::Null) => Some(other.clone()),
        (Ty::Int, Ty::Float) | (Ty::Float, Ty::Int) => Some(Ty::Float),
        (a, b) => (a == b).then(|| a.clone()),
    }
}
