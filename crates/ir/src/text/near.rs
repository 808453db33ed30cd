//! What an entity may have been meant to be called.

use crate::program::Program;
use crate::refs::FuncRef;
use crate::text::error::nearest;

/// The names nearest to that of an entity which there is not: of modules, types, functions and storage by the last part of a
/// path, behind the path of a function of what is named in it.
pub fn near_entities(program: &Program, given: &str) -> Vec<String> {
    let names = program.modules().map(|(_, module)| &*module.name);
    let names = names.chain(program.types().map(|(_, def)| &*def.name));
    let names = names.chain(program.functions().map(|(_, function)| &*function.head().name));
    let names = names.chain(program.all_storage().map(|(_, storage)| &*storage.name));
    let (path, last) = given.rsplit_once("::").unwrap_or(("", given));
    let around = program.resolve(path);
    let function = around.first().and_then(|of| program.function(FuncRef::try_from(*of).ok()?));
    let inner = function.into_iter().flat_map(|function| function.body().nodes());
    nearest(last, names.chain(inner.filter_map(|(_, node)| node.name().map(AsRef::as_ref))))
}
