//! The heads of functions. They are made where the functions are put together: whoever reads has enough to do.

use lmlang_ir::{FunctionHead, ModuleRef, Name, Param, Type};

use super::indices::{Indices, unnamed_param};
use super::names::{Unique, unlike_refs};
use super::read::Read;

/// What the heads of a module's functions are made of.
pub(super) struct Heads<'r, 'a> {
    pub(super) read: &'r Read<'a>,
    pub(super) indices: &'r Indices,
    /// The module that the functions stand in.
    pub(super) home: ModuleRef,
    /// What they are called.
    pub(super) names: Vec<Name>,
}

impl Heads<'_, '_> {
    /// The head of a function.
    pub(super) fn head(&self, index: u32) -> FunctionHead {
        let function = &self.read.functions[index as usize];
        let signature = self.indices.signature(function.of);
        let locals = self.read.names.locals.get(index);
        // Nobody else has the name of a parameter that is the only one.
        let mut names = (signature.params.len() > 1).then(Unique::default);
        let param = |(at, ty): (u32, &Type)| {
            let name = match (locals, &mut names) {
                (None, _) => unnamed_param(at),
                (Some(of), names) => {
                    let wanted = of.get(at).cloned().unwrap_or_else(|| unnamed_param(at));
                    match names {
                        Some(names) => names.name(wanted),
                        None => unlike_refs(wanted),
                    }
                }
            };
            Param { name, ty: ty.clone() }
        };
        let params = (0u32..).zip(&signature.params).map(param).collect();
        let name = Name::clone(&self.names[index as usize]);
        FunctionHead {
            import: function.import.clone(),
            exports: function.exports.clone(),
            start: self.read.start == Some(index),
            ..FunctionHead::new(name, self.home, params, signature.results.clone())
        }
    }
}
