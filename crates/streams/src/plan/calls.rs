//! Calls of functions.

use super::clause::Clause;
use super::expr::Scope;
use super::typed::{AggregateCall, Expr, Kind};
use crate::error::{Code, Place, PlanError};
use crate::functions::{self, Aggregate, Function, FunctionDef, Scalar, Stateful};
use crate::sql::syntax::{self, Name};
use crate::types::Ty;

impl Scope {
    pub(super) fn call(
        &mut self,
        name: &Name,
        args: &[syntax::Expr],
        all: bool,
        clause: Clause,
    ) -> Option<Expr> {
        let Some(def) = functions::function(&name.text) else {
            let message = format!("there is no function `{}`", name.text);
            let error = PlanError::new(Code::UnknownFunction, name.place, message);
            self.wrong(error.near(&name.text, functions::names()));
            // What is wrong inside is found as well.
            args.iter().for_each(|arg| drop(self.expr(arg, clause)));
            return None;
        };
        let inner = match def.function {
            Function::Scalar(_) => clause,
            Function::Aggregate(_) | Function::Stateful(_) => Clause::Inside(def.name),
        };
        let misplaced = self.misplaced(def, clause);
        if let Some(message) = &misplaced {
            self.wrong(PlanError::new(Code::AggregateMisplaced, name.place, message.as_str()));
        }
        let given = args.len();
        let args: Vec<Option<Expr>> = args.iter().map(|arg| self.expr(arg, inner)).collect();
        let (least, most) = def.arity();
        let star = def.function == Function::Aggregate(Aggregate::Count);
        let fits = match (all, star) {
            (true, _) => star && given == 0,
            (false, true) => given == 1,
            (false, false) => (least..=most).contains(&given),
        };
        if !fits {
            let message = format!("`{}` has other arguments", def.name);
            let expected = if star { "count(*) or count(x)".to_owned() } else { def.usage() };
            let found = if all { "*".to_owned() } else { format!("{given} arguments") };
            let error = PlanError::new(Code::WrongArguments, name.place, message);
            return self.wrong(error.expecting([expected]).finding(found));
        }
        let args: Option<Vec<Expr>> = args.into_iter().collect();
        let args = args?;
        if misplaced.is_some() {
            return None;
        }
        match def.function {
            Function::Scalar(scalar) => self.scalar(scalar, def, args, name.place, clause),
            Function::Aggregate(aggregate) => self.aggregate(aggregate, def, args, name.place),
            Function::Stateful(stateful) => self.stateful(stateful, args, name.place),
        }
    }

    /// What is wrong with the clause that an aggregate or a stateful function stands in.
    fn misplaced(&self, def: &FunctionDef, clause: Clause) -> Option<String> {
        let name = def.name;
        match (def.function, clause) {
            (Function::Scalar(_), _) => None,
            (Function::Aggregate(_), Clause::Select | Clause::Having) => None,
            (Function::Stateful(_), Clause::Select) if self.window.is_none() => None,
            (Function::Stateful(_), Clause::Select) => {
                Some(format!("`{name}` looks at the row before, and stands in a query with a window"))
            }
            (Function::Aggregate(_), _) => {
                Some(format!("`{name}` is an aggregate, and stands in {}", clause.words()))
            }
            (Function::Stateful(_), _) => {
                Some(format!("`{name}` looks at the row before, and stands in {}", clause.words()))
            }
        }
    }

    fn scalar(
        &mut self,
        scalar: Scalar,
        def: &FunctionDef,
        mut args: Vec<Expr>,
        place: Place,
        clause: Clause,
    ) -> Option<Expr> {
        let message = format!("`{}` takes numbers", def.name);
        let ty = match scalar {
            Scalar::Abs | Scalar::Ceil | Scalar::Floor | Scalar::Round => {
                let arg = self.number(args.pop()?, &message)?;
                let ty = arg.ty.clone();
                args.push(arg);
                ty
            }
            Scalar::Sqrt => {
                let arg = self.number(args.pop()?, &message)?;
                args.push(self.coerce(arg, &Ty::Float)?);
                Ty::Float
            }
            Scalar::Power => {
                let (exponent, base) = (args.pop()?, args.pop()?);
                let base = self.number(base, &message);
                let exponent = self.coerce(exponent, &Ty::Int);
                args = vec![self.coerce(base?, &Ty::Float)?, exponent?];
                Ty::Float
            }
            Scalar::Mod => {
                let args_: Vec<Option<Expr>> =
                    args.into_iter().map(|arg| self.coerce(arg, &Ty::Int)).collect();
                args = args_.into_iter().collect::<Option<_>>()?;
                Ty::Int
            }
            Scalar::Coalesce => {
                args = self.unify_all(args)?;
                args.first()?.ty.clone()
            }
            Scalar::NullIf => {
                args = self.unify_all(args)?;
                self.comparable(args.first()?, true, def.name)?;
                args.first()?.ty.clone()
            }
            Scalar::Concat | Scalar::Length => {
                let texts: Vec<Option<Expr>> =
                    args.into_iter().map(|arg| self.coerce(arg, &Ty::Text)).collect();
                args = texts.into_iter().collect::<Option<_>>()?;
                if scalar == Scalar::Length { Ty::Int } else { Ty::Text }
            }
            Scalar::WindowStart | Scalar::WindowEnd => {
                let message = match (self.window, clause) {
                    (Some(true), Clause::Select | Clause::Having) => None,
                    (Some(true), _) => Some(format!("`{}` stands in {}", def.name, clause.words())),
                    (Some(false), _) => Some(format!("`{}`: a count window has no bounds", def.name)),
                    (None, _) => Some(format!("`{}`: there is no window", def.name)),
                };
                if let Some(message) = message {
                    return self.wrong(PlanError::new(Code::WindowMisplaced, place, message));
                }
                Ty::Time
            }
        };
        Some(Expr { kind: Kind::Call(scalar, args), ty, place })
    }

    fn aggregate(
        &mut self,
        function: Aggregate,
        def: &FunctionDef,
        mut args: Vec<Expr>,
        place: Place,
    ) -> Option<Expr> {
        if self.window.is_none() {
            let message = format!("`{}` needs a window", def.name);
            let error = PlanError::new(Code::WindowRequired, place, message);
            return self.wrong(error.expecting(["a window in GROUP BY"]));
        }
        let message = format!("`{}` takes numbers", def.name);
        let arg = args.pop();
        let (arg, ty) = match function {
            Aggregate::Count => (arg, Ty::Int),
            Aggregate::Avg => {
                let arg = self.number(arg?, &message)?;
                (Some(self.coerce(arg, &Ty::Float)?), Ty::Float)
            }
            Aggregate::Sum => {
                let arg = self.number(arg?, &message)?;
                let ty = arg.ty.clone();
                (Some(arg), ty)
            }
            Aggregate::Min | Aggregate::Max => {
                let arg = arg?;
                self.comparable(&arg, false, def.name)?;
                let ty = arg.ty.clone();
                (Some(arg), ty)
            }
            Aggregate::First | Aggregate::Last => {
                let arg = arg?;
                let ty = arg.ty.clone();
                (Some(arg), ty)
            }
        };
        let call = AggregateCall { function, arg, ty: ty.clone() };
        let index = match self.aggregates.iter().position(|known| *known == call) {
            Some(index) => index,
            None => {
                self.aggregates.push(call);
                self.aggregates.len() - 1
            }
        };
        Some(Expr { kind: Kind::Aggregate(index), ty, place })
    }

    fn stateful(&mut self, function: Stateful, mut args: Vec<Expr>, place: Place) -> Option<Expr> {
        let arg = args.pop()?;
        let ty = match function {
            Stateful::Changed => {
                self.comparable(&arg, true, "changed")?;
                Ty::Bool
            }
            Stateful::Lag => arg.ty.clone(),
        };
        let index = match self.stateful.iter().position(|known| *known == arg) {
            Some(index) => index,
            None => {
                self.stateful.push(arg);
                self.stateful.len() - 1
            }
        };
        Some(Expr { kind: Kind::Previous(function, index), ty, place })
    }
}
