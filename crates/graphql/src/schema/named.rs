//! Entities that a caller names, to look only at what concerns them.

use std::collections::HashSet;

use lmlang_ir::{FuncRef, ModuleRef, Ref, RefKind};
use lmlang_verify as verify;

use crate::error::{ApiError, Code};
use crate::schema::view::View;

/// Functions, and other entities.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    functions: HashSet<FuncRef>,
    others: HashSet<Ref>,
}

impl Named {
    /// What refs, paths and names stand for; a module stands for its functions too. What was removed is known by its ref.
    pub(crate) fn all(view: &View, given: &[String]) -> Result<Named, ApiError> {
        let mut named = Named::default();
        for given in given {
            let refs: Vec<Ref> = match given.parse::<Ref>() {
                Ok(of) if of.number < view.revision().entry.next_ref => vec![of],
                Ok(of) => return Err(view.missing("entity", of)),
                Err(_) => view.program().resolve(given),
            };
            if refs.is_empty() {
                return Err(view.no_entity(given));
            }
            refs.into_iter().for_each(|of| named.add(view, of));
        }
        Ok(named)
    }

    /// The functions that refs, paths and names stand for, as [`Named::all`]; nothing else can be meant but a module.
    pub(crate) fn functions(view: &View, given: &[String]) -> Result<HashSet<FuncRef>, ApiError> {
        let named = Named::all(view, given)?;
        match named.others.iter().filter(|of| of.kind != RefKind::Module).min() {
            Some(other) => Err(ApiError::new(Code::BadRequest, format!("`{other}` is no function"))),
            None => Ok(named.functions),
        }
    }

    fn add(&mut self, view: &View, of: Ref) {
        if let Ok(function) = FuncRef::try_from(of) {
            self.functions.insert(function);
            return;
        }
        if let Ok(module) = ModuleRef::try_from(of) {
            let inside = view.program().functions().filter(|(_, found)| found.head().module == module);
            self.functions.extend(inside.map(|(function, _)| function));
        }
        self.others.insert(of);
    }

    /// Whether a finding in a program is about one of them, or in one; functions that came to a module since count too.
    pub(crate) fn holds(&self, view: &View, found: &verify::Diagnostic) -> bool {
        let module = |of: FuncRef| view.program().function(of).map(|found| Ref::from(found.head().module));
        let inside = |of: FuncRef| {
            self.functions.contains(&of) || module(of).is_some_and(|of| self.others.contains(&of))
        };
        found.at.function.is_some_and(inside) || self.others.contains(&found.at.entity)
    }
}
