//! Which functions of a program are listed.

use lmlang_ir::{FuncRef, ModuleRef};

use crate::schema::view::View;

/// What functions have to be to be listed.
#[derive(Clone)]
pub(super) struct FunctionFilter {
    pub(super) module: Option<ModuleRef>,
    pub(super) search: Option<String>,
    pub(super) complete: Option<bool>,
}

impl FunctionFilter {
    pub(super) fn is_empty(&self) -> bool {
        self.module.is_none() && self.search.is_none() && self.complete.is_none()
    }

    pub(super) fn fits(&self, view: &View, of: FuncRef) -> bool {
        let Some(function) = view.program().function(of) else { return false };
        let in_module = self.module.is_none_or(|module| function.head().module == module);
        let found = || match &self.search {
            Some(search) => view.program().path(of.into()).to_lowercase().contains(search),
            None => true,
        };
        let complete = || match self.complete {
            Some(complete) => view.revision().checked.complete(of).is_some() == complete,
            None => true,
        };
        in_module && found() && complete()
    }
}
