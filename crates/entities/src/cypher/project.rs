//! What `WITH` and `RETURN` make of a scope: columns, groups, and an order.

use super::ast::{Expr, Item, Kind, Projection};
use super::error::{Fault, Problem};
use super::resolve::{Holds, Resolver, Scope, unknown};
use super::stage::{Grouping, Project};
use crate::validation::shown;

impl Resolver<'_> {
    /// Resolves a projection, and returns the scope after it, in which the slots are the columns.
    pub(super) fn project(
        &mut self,
        mut clause: Projection,
        scope: &Scope,
    ) -> Result<(Project, Scope), Fault> {
        if clause.star {
            clause.items = everything(scope, &clause)?;
        }
        let mut next = Scope::default();
        for item in &mut clause.items {
            let variable = matches!(item.expr.kind, Kind::Variable(..));
            if !clause.last && !item.named && !variable {
                let problem = "after `WITH` a name must be given with `AS` to";
                return Err(Fault::new(item.expr.span, Problem::Column { problem, name: item.name.clone() }));
            }
            self.expression(&mut item.expr, scope)?;
            let name = match &item.expr.kind {
                Kind::Variable(name, _) if !item.named => name.clone(),
                _ => item.name.clone(),
            };
            if next.find(&name).is_some() {
                let problem = "there are two columns";
                return Err(Fault::new(item.expr.span, Problem::Column { problem, name: shown(&name) }));
            }
            let holds = match &item.expr.kind {
                Kind::Variable(name, _) => scope.find(name).map_or(Holds::Anything, |(_, holds)| holds),
                _ => Holds::Anything,
            };
            next.add(name, holds);
        }
        let originals: Vec<Expr> = clause.items.iter().map(|item| item.expr.clone()).collect();
        let aggregates = originals.iter().any(Expr::has_aggregate);
        let mut grouping = aggregates.then(|| Grouping {
            keys: originals.iter().filter(|expr| !expr.has_aggregate()).cloned().collect(),
            aggregates: Vec::new(),
        });
        let mut items = originals.clone();
        if let Some(grouping) = &mut grouping {
            for item in &mut items {
                of_group(item, grouping, 0)?;
            }
        }
        let mut order = Vec::new();
        for (mut expr, sorting) in clause.order {
            let mut place = Place { originals: &originals, next: &next, scope, distinct: clause.distinct };
            self.sort_key(&mut expr, &mut place, &mut grouping)?;
            order.push((expr, sorting));
        }
        for bound in [&mut clause.skip, &mut clause.limit].into_iter().flatten() {
            self.plain(bound, &Scope::default())?;
        }
        if let Some(filter) = &mut clause.filter {
            self.plain(filter, &next)?;
        }
        let project = Project {
            last: clause.last,
            distinct: clause.distinct,
            items,
            grouping,
            order,
            skip: clause.skip,
            limit: clause.limit,
            filter: clause.filter,
            span: clause.span,
        };
        Ok((project, next))
    }

    /// Resolves an expression of `ORDER BY` over the columns followed by what they are made of.
    fn sort_key(
        &mut self,
        expr: &mut Expr,
        place: &mut Place<'_>,
        grouping: &mut Option<Grouping>,
    ) -> Result<(), Fault> {
        if let Kind::Variable(name, slot) = &mut expr.kind
            && let Some((column, _)) = place.next.find(name)
        {
            *slot = column;
            return Ok(());
        }
        if matches!(expr.kind, Kind::Exists(_)) {
            return Err(Fault::new(expr.span, Problem::Unsupported { what: "a pattern in `ORDER BY`" }));
        }
        let mut resolved = expr.clone();
        if self.expression(&mut resolved, place.scope).is_ok()
            && let Some(column) = place.originals.iter().position(|original| *original == resolved)
        {
            expr.kind = Kind::Variable(String::new(), column);
            return Ok(());
        }
        let columns = place.originals.len();
        match (&mut expr.kind, grouping.as_mut()) {
            (Kind::Aggregate(..), Some(grouping)) => {
                self.expression(expr, place.scope)?;
                of_group(expr, grouping, columns)
            }
            (Kind::Aggregate(..), None) => {
                let problem = "`ORDER BY` aggregates only where what is listed does";
                Err(Fault::new(expr.span, Problem::Aggregate { problem }))
            }
            (Kind::Variable(name, slot), None) if !place.distinct => match place.scope.find(name) {
                Some((found, _)) => {
                    *slot = columns + found;
                    Ok(())
                }
                None => Err(unknown(name, expr.span, place.scope)),
            },
            (Kind::Variable(name, _), _) => Err(unknown(name, expr.span, place.next)),
            (Kind::Parameter(_), _) => self.expression(expr, place.scope),
            (kind, _) => {
                kind.children_mut().into_iter().try_for_each(|child| self.sort_key(child, place, grouping))
            }
        }
    }
}

/// What `ORDER BY` may speak of.
struct Place<'a> {
    originals: &'a [Expr],
    next: &'a Scope,
    scope: &'a Scope,
    distinct: bool,
}

fn everything(scope: &Scope, clause: &Projection) -> Result<Vec<Item>, Fault> {
    let item = |(name, slot, _): &(String, usize, Holds)| Item {
        expr: Expr::new(Kind::Variable(name.clone(), *slot), clause.span),
        name: name.clone(),
        named: true,
    };
    let mut items: Vec<Item> = scope.names.iter().map(item).collect();
    items.extend(clause.items.iter().cloned());
    match items.is_empty() {
        true => {
            let problem = "no variable is bound that could be listed for";
            Err(Fault::new(clause.span, Problem::Column { problem, name: "*".to_owned() }))
        }
        false => Ok(items),
    }
}

/// Rewrites an expression to one over a group: its keys, followed by its aggregates, `offset` slots further on.
fn of_group(expr: &mut Expr, grouping: &mut Grouping, offset: usize) -> Result<(), Fault> {
    if let Some(key) = grouping.keys.iter().position(|key| key == expr) {
        expr.kind = Kind::Variable(String::new(), offset + key);
        return Ok(());
    }
    match &mut expr.kind {
        Kind::Aggregate(aggregate, distinct, of) => {
            let wanted = (*aggregate, *distinct, of.take().map(|of| *of));
            let known = grouping.aggregates.iter().position(|known| *known == wanted);
            let number = known.unwrap_or_else(|| {
                grouping.aggregates.push(wanted);
                grouping.aggregates.len() - 1
            });
            expr.kind = Kind::Variable(String::new(), offset + grouping.keys.len() + number);
            Ok(())
        }
        Kind::Variable(..) | Kind::Found(_) => {
            let problem =
                "a value beside an aggregate is not listed by itself, so that a group can have several";
            Err(Fault::new(expr.span, Problem::Aggregate { problem }))
        }
        kind => kind.children_mut().into_iter().try_for_each(|child| of_group(child, grouping, offset)),
    }
}
