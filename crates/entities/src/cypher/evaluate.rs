//! What an expression is for a row, with the three values of logic; and what that costs.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::Limits;
use super::ast::{Comparison, Expr, Kind, Operator, TextTest};
use super::error::{Failure, Fault, Problem};
use super::functions::{finite, printed};
use super::span::Span;
use super::stage::Pattern;
use super::value::{Value, all, compare, equal};
use crate::graph::Graph;

/// What all parts of a run share.
pub(crate) struct Context<'a, G: Graph> {
    pub(crate) graph: &'a G,
    pub(crate) text: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) nested: &'a [Pattern],
    pub(crate) left: Cell<u64>,
}

/// The outcome of a part of a run.
pub(crate) type Outcome<T, G> = Result<T, Failure<<G as Graph>::Error>>;

impl<G: Graph> Context<'_, G> {
    pub(crate) fn fail(&self, span: Span, problem: Problem) -> Failure<G::Error> {
        Failure::Query(Fault::new(span, problem).placed(self.text))
    }

    /// Takes steps from those that are left.
    pub(crate) fn spend(&self, steps: u64, span: Span) -> Outcome<(), G> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.fail(span, Problem::Steps { limit: self.limits.steps })),
        }
    }

    /// Says whether a predicate is true; null is not.
    pub(crate) fn holds(&self, expr: &Expr, row: &[Value]) -> Outcome<bool, G> {
        Ok(self.truth(expr, row)? == Some(true))
    }

    fn truth(&self, expr: &Expr, row: &[Value]) -> Outcome<Option<bool>, G> {
        match self.evaluate(expr, row)? {
            Value::Bool(value) => Ok(Some(value)),
            Value::Null => Ok(None),
            other => Err(self.wrong_type(expr, "a condition", "a boolean", &other)),
        }
    }

    fn wrong_type(
        &self,
        expr: &Expr,
        operation: &'static str,
        expected: &'static str,
        found: &Value,
    ) -> Failure<G::Error> {
        self.fail(expr.span, Problem::Type { operation, expected, found: found.kind() })
    }

    pub(crate) fn evaluate(&self, expr: &Expr, row: &[Value]) -> Outcome<Value, G> {
        self.spend(1, expr.span)?;
        let bool_of = |value: Option<bool>| value.map_or(Value::Null, Value::Bool);
        Ok(match &expr.kind {
            Kind::Literal(value) => value.clone(),
            Kind::Variable(_, slot) => row.get(*slot).cloned().unwrap_or(Value::Null),
            Kind::Property(of, name) => {
                // Without a copy of what only lends its property.
                match &of.kind {
                    Kind::Variable(_, slot) => {
                        self.property(of, row.get(*slot).unwrap_or(&Value::Null), name)?
                    }
                    _ => self.property(of, &self.evaluate(of, row)?, name)?,
                }
            }
            Kind::HasLabels(of, labels) => match self.evaluate(of, row)? {
                Value::Node(node) => Value::Bool(labels.iter().all(|label| node.has_label(label))),
                Value::Null => Value::Null,
                other => return Err(self.wrong_type(of, "a test of labels", "a node", &other)),
            },
            Kind::Index(of, at) => self.index(of, at, row)?,
            Kind::Slice(of, from, to) => self.slice(of, from.as_deref(), to.as_deref(), row)?,
            Kind::List(items) => {
                Value::List(items.iter().map(|item| self.evaluate(item, row)).collect::<Result<_, _>>()?)
            }
            Kind::Map(fields) => {
                let field = |(name, value): &(String, Expr)| {
                    Ok((Arc::from(name.as_str()), self.evaluate(value, row)?))
                };
                Value::Map(Arc::new(fields.iter().map(field).collect::<Outcome<_, G>>()?))
            }
            Kind::Not(of) => bool_of(self.truth(of, row)?.map(|value| !value)),
            Kind::Minus(of) => match self.evaluate(of, row)? {
                Value::Null => Value::Null,
                Value::Float(value) => Value::Float(-value),
                Value::Int(value) => match value.checked_neg() {
                    Some(value) => Value::Int(value),
                    None => return Err(self.fail(expr.span, Problem::Arithmetic { operation: "`-`" })),
                },
                other => return Err(self.wrong_type(of, "`-`", "a number", &other)),
            },
            Kind::And(operands) => bool_of(self.junction(operands, row, false)?),
            Kind::Or(operands) => bool_of(self.junction(operands, row, true)?),
            Kind::Xor(a, b) => {
                let (a, b) = (self.truth(a, row)?, self.truth(b, row)?);
                bool_of(a.zip(b).map(|(a, b)| a != b))
            }
            Kind::Compare(comparison, a, b) => {
                let (a, b) = (self.evaluate(a, row)?, self.evaluate(b, row)?);
                self.spend(a.weight().min(b.weight()) - 1, expr.span)?;
                bool_of(match comparison {
                    Comparison::Equal => equal(&a, &b),
                    Comparison::Unequal => equal(&a, &b).map(|value| !value),
                    Comparison::Less => compare(&a, &b).map(|order| order.is_lt()),
                    Comparison::AtMost => compare(&a, &b).map(|order| order.is_le()),
                    Comparison::Greater => compare(&a, &b).map(|order| order.is_gt()),
                    Comparison::AtLeast => compare(&a, &b).map(|order| order.is_ge()),
                })
            }
            Kind::Arithmetic(operator, a, b) => {
                let (a, b) = (self.evaluate(a, row)?, self.evaluate(b, row)?);
                self.arithmetic(expr.span, *operator, &a, &b)?
            }
            Kind::In(of, list) => {
                let (of, list_value) = (self.evaluate(of, row)?, self.evaluate(list, row)?);
                match &list_value {
                    Value::Null => Value::Null,
                    Value::List(items) => {
                        self.spend(items.len() as u64, expr.span)?;
                        bool_of(
                            all(items.iter().map(|item| equal(&of, item).map(|same| !same)))
                                .map(|none| !none),
                        )
                    }
                    other => return Err(self.wrong_type(list, "`IN`", "a list", other)),
                }
            }
            Kind::TextTest(test, a, b) => match (self.evaluate(a, row)?, self.evaluate(b, row)?) {
                (Value::Text(a), Value::Text(b)) => {
                    self.spend(a.len() as u64 / 16, expr.span)?;
                    Value::Bool(match test {
                        TextTest::StartsWith => a.starts_with(b.as_ref()),
                        TextTest::EndsWith => a.ends_with(b.as_ref()),
                        TextTest::Contains => a.contains(b.as_ref()),
                    })
                }
                // As in openCypher, a test of what is no text has no answer.
                _ => Value::Null,
            },
            Kind::IsNull(of) => Value::Bool(matches!(self.evaluate(of, row)?, Value::Null)),
            Kind::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.evaluate(argument, row))
                    .collect::<Result<Vec<_>, _>>()?;
                self.spend(arguments.iter().map(Value::weight).sum(), expr.span)?;
                function.apply(&arguments).map_err(|problem| self.fail(expr.span, problem))?
            }
            Kind::Case(subject, whens, otherwise) => {
                let subject = subject.as_ref().map(|subject| self.evaluate(subject, row)).transpose()?;
                for (when, then) in whens {
                    let chosen = match &subject {
                        Some(subject) => equal(subject, &self.evaluate(when, row)?) == Some(true),
                        None => self.holds(when, row)?,
                    };
                    if chosen {
                        return self.evaluate(then, row);
                    }
                }
                otherwise.as_ref().map_or(Ok(Value::Null), |otherwise| self.evaluate(otherwise, row))?
            }
            Kind::Found(number) => Value::Bool(self.finds(&self.nested[*number], row)?),
            Kind::Parameter(_) | Kind::Exists(_) | Kind::Aggregate(..) => {
                unreachable!("these are replaced when names are resolved")
            }
        })
    }

    fn property(&self, of: &Expr, value: &Value, name: &str) -> Outcome<Value, G> {
        Ok(match value {
            Value::Node(node) => Value::of_node(node, name),
            Value::Edge(link) => Value::of_edge(&link.edge, name),
            Value::Map(fields) => fields.get(name).cloned().unwrap_or(Value::Null),
            Value::Null => Value::Null,
            other => {
                return Err(self.wrong_type(of, "a property", "a node, a relationship or a map", other));
            }
        })
    }

    fn index(&self, of: &Expr, at: &Expr, row: &[Value]) -> Outcome<Value, G> {
        Ok(match (self.evaluate(of, row)?, self.evaluate(at, row)?) {
            (Value::Null, _) | (_, Value::Null) => Value::Null,
            (Value::List(items), Value::Int(index)) => {
                let index = if index < 0 { index.saturating_add(items.len() as i64) } else { index };
                usize::try_from(index).ok().and_then(|index| items.get(index)).cloned().unwrap_or(Value::Null)
            }
            (Value::List(_), other) => {
                return Err(self.wrong_type(at, "an index of a list", "an integer", &other));
            }
            (value, Value::Text(name)) => self.property(of, &value, &name)?,
            (_, other) => return Err(self.wrong_type(at, "an index", "a text", &other)),
        })
    }

    fn slice(&self, of: &Expr, from: Option<&Expr>, to: Option<&Expr>, row: &[Value]) -> Outcome<Value, G> {
        let items = match self.evaluate(of, row)? {
            Value::List(items) => items,
            Value::Null => return Ok(Value::Null),
            other => return Err(self.wrong_type(of, "a slice", "a list", &other)),
        };
        self.spend(items.len() as u64, of.span)?;
        let length = items.len() as i64;
        let bound =
            |expr: Option<&Expr>, open: i64| match expr.map(|expr| Ok((expr, self.evaluate(expr, row)?))) {
                None => Ok(Some(open)),
                Some(Ok((_, Value::Int(at)))) => {
                    let at = if at < 0 { at.saturating_add(length) } else { at };
                    Ok(Some(at.clamp(0, length)))
                }
                Some(Ok((_, Value::Null))) => Ok(None),
                Some(Ok((expr, other))) => Err(self.wrong_type(expr, "a slice", "an integer", &other)),
                Some(Err(error)) => Err(error),
            };
        Ok(match (bound(from, 0)?, bound(to, length)?) {
            (Some(from), Some(to)) if from < to => Value::List(items[from as usize..to as usize].into()),
            (Some(_), Some(_)) => Value::List([].into()),
            _ => Value::Null,
        })
    }

    /// Judges `OR` when `wins` is true and `AND` when it is false: what wins ends it, null is kept in mind.
    fn junction(&self, operands: &[Expr], row: &[Value], wins: bool) -> Outcome<Option<bool>, G> {
        let mut result = Some(!wins);
        for operand in operands {
            match self.truth(operand, row)? {
                Some(value) if value == wins => return Ok(Some(wins)),
                Some(_) => {}
                None => result = None,
            }
        }
        Ok(result)
    }

    fn arithmetic(&self, span: Span, operator: Operator, a: &Value, b: &Value) -> Outcome<Value, G> {
        self.spend(a.weight() + b.weight() - 2, span)?;
        let operation = match operator {
            Operator::Add => "`+`",
            Operator::Subtract => "`-`",
            Operator::Multiply => "`*`",
            Operator::Divide => "`/`",
            Operator::Remainder => "`%`",
            Operator::Power => "`^`",
        };
        let result = match (operator, a, b) {
            (_, Value::Null, _) | (_, _, Value::Null) => Some(Value::Null),
            (Operator::Add, Value::List(a), Value::List(b)) => {
                Some(Value::List(a.iter().chain(b.iter()).cloned().collect()))
            }
            (Operator::Add, Value::List(a), b) => Some(Value::List(a.iter().chain([b]).cloned().collect())),
            (Operator::Add, a, Value::List(b)) => {
                Some(Value::List([a].into_iter().chain(b.iter()).cloned().collect()))
            }
            (Operator::Add, Value::Text(_), _) | (Operator::Add, _, Value::Text(_)) => {
                let text = |value: &Value| {
                    let problem =
                        Problem::Type { operation, expected: "a text or a number", found: value.kind() };
                    printed(value).ok_or_else(|| self.fail(span, problem))
                };
                Some(Value::Text([text(a)?, text(b)?].concat().into()))
            }
            (_, Value::Int(a), Value::Int(b)) => match operator {
                Operator::Add => a.checked_add(*b).map(Value::Int),
                Operator::Subtract => a.checked_sub(*b).map(Value::Int),
                Operator::Multiply => a.checked_mul(*b).map(Value::Int),
                Operator::Divide => a.checked_div(*b).map(Value::Int),
                Operator::Remainder => a.checked_rem(*b).map(Value::Int),
                Operator::Power => finite((*a as f64).powf(*b as f64)),
            },
            (_, Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
                let float = |value: &Value| match value {
                    Value::Int(value) => *value as f64,
                    Value::Float(value) => *value,
                    _ => f64::NAN,
                };
                let (a, b) = (float(a), float(b));
                finite(match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Remainder => a % b,
                    Operator::Power => a.powf(b),
                })
            }
            (_, Value::Int(_) | Value::Float(_), other) | (_, other, _) => {
                let problem = Problem::Type { operation, expected: "numbers", found: other.kind() };
                return Err(self.fail(span, problem));
            }
        };
        result.ok_or_else(|| self.fail(span, Problem::Arithmetic { operation }))
    }

    /// Says whether a pattern is found from a row.
    fn finds(&self, pattern: &Pattern, row: &[Value]) -> Outcome<bool, G> {
        let mut row = row.to_vec();
        let found = self.matches(pattern, &mut row, &mut |_| Ok(ControlFlow::Break(())))?;
        Ok(found.is_break())
    }
}
