//! V7, V10 and V11 for the tree of modules: visibility, standing in a module, and names.

use std::collections::HashSet;

use lmlang_ir::{Module, ModuleRef, Name, Program, Ref, Visibility};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, outside};
use crate::findings::Index;

/// The modules around one, itself included. Ends after as many as there are, should they run in a circle.
fn around(program: &Program, from: ModuleRef) -> impl Iterator<Item = (ModuleRef, &Module)> {
    let start = program.module(from).map(|module| (from, module));
    std::iter::successors(start, |(_, module)| {
        let parent = module.parent?;
        Some((parent, program.module(parent)?))
    })
    .take(program.totals().modules as usize)
}

/// Tells whether something private to a module may be used from another one.
fn is_inside(program: &Program, from: ModuleRef, scope: ModuleRef) -> bool {
    from == scope || around(program, from).any(|(module, _)| module == scope)
}

/// Tells whether something that stands in a module may be used from another one.
///
/// What is private may be used in its module and below. What is public may be used wherever its module may, so each
/// private module on the way up must have been entered.
pub(crate) fn sees(program: &Program, from: ModuleRef, module: ModuleRef, visibility: Visibility) -> bool {
    if from == module {
        return true;
    }
    if visibility == Visibility::Private && !is_inside(program, from, module) {
        return false;
    }
    around(program, module).all(|(_, outer)| match (outer.visibility, outer.parent) {
        (Visibility::Private, Some(parent)) => is_inside(program, from, parent),
        (Visibility::Private, None) | (Visibility::Public, _) => true,
    })
}

/// A module.
pub(crate) fn check(program: &Program, of: ModuleRef, module: &Module, out: &mut Vec<Diagnostic>) {
    check_standing(program, of, module.parent, &module.name, out);
    if module.parent.is_some_and(|parent| is_inside(program, parent, of)) {
        out.push(outside(Code::ModuleCycle, of, None));
    }
}

/// The module that something outside of functions stands in, and its name there.
pub(crate) fn check_standing(
    program: &Program,
    of: impl Into<Ref>,
    module: Option<ModuleRef>,
    name: &Name,
    out: &mut Vec<Diagnostic>,
) {
    let of = of.into();
    if let Some(module) = module
        && program.module(module).is_none()
    {
        out.push(outside(Code::UnknownModule, of, None).finding(Ref::from(module)));
    }
    if let Some(first) = taken_by(program, module, name, of) {
        out.push(outside(Code::DuplicateName, of, None).finding(&**name).beside(first));
    }
}

/// The names under which something is exported: each is given once.
pub(crate) fn check_exports(
    program: &Program,
    index: &Index,
    of: Ref,
    exports: &[Name],
    taken: Diagnostic,
    out: &mut Vec<Diagnostic>,
) {
    // A module from elsewhere may export one thing a hundred thousand times.
    let mut before = HashSet::with_capacity(exports.len());
    for (position, export) in exports.iter().enumerate() {
        let first = match before.insert(&**export) {
            false => Some(of.number),
            true => index.exported_before(export, of.number),
        };
        if let Some(first) = first {
            let mut finding = taken.clone().finding(&**export);
            // The first one is as it was when there was one at most.
            finding.at.port = (position > 0).then_some(position as u16);
            finding.beside = program.ref_of(first);
            out.push(finding);
        }
    }
}

/// Who has a name of a module, if it is another with a lower ref: the later one is reported.
pub(crate) fn taken_by(program: &Program, module: Option<ModuleRef>, name: &str, of: Ref) -> Option<Ref> {
    // Those of one name come in the order of their numbers.
    program.lookup(module, name).next().filter(|other| other.number < of.number)
}
