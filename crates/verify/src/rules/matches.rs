//! V8: `match` is exhaustive and disjoint.

use std::collections::BTreeSet;

use lmlang_ir::{Attr, Case, Program, Type, Variant};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// The cases of a `match`.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let Attr::Match(cases) = site.node.op().attr() else { return };
    let mut seen = BTreeSet::new();
    if cases.cases.iter().any(|case| !seen.insert(case)) {
        out.push(view.node_finding(Code::DuplicateCase, site, None));
    }
    let subject = |case: &Case| match case {
        Case::Int(_) => None,
        Case::Variant(variant) => Some(variant.owner()),
    };
    let mut subjects = cases.cases.iter().map(subject);
    let first = subjects.next();
    if subjects.any(|other| Some(other) != first) {
        out.push(view.node_finding(Code::MixedCases, site, None));
    } else if !cases.default
        && let Some(missing) = missing_case(view.program, &seen, first.flatten().as_ref())
    {
        out.push(view.node_finding(Code::MatchNotExhaustive, site, None).expecting(&*missing));
    }
}

/// Something that no case fits, `default` when it has no name of its own.
fn missing_case(program: &Program, cases: &BTreeSet<&Case>, subject: Option<&Type>) -> Option<String> {
    let given = |variant: &Variant| cases.contains(&Case::Variant(variant.clone()));
    match subject {
        Some(Type::Named(of)) => {
            // A type that does not exist, or is no enum, is reported as that.
            let variants = program.type_def(*of)?.variants();
            let missing = variants.iter().find(|variant| !given(&Variant::Member(*of, variant.member)))?;
            Some(missing.name.to_string())
        }
        Some(Type::Option(of)) => {
            let all = [Variant::None(of.clone()), Variant::Some(of.clone())];
            all.iter().find(|one| !given(one)).and_then(Variant::built_in_name).map(str::to_owned)
        }
        Some(Type::Result(of)) => {
            let all = [Variant::Ok(of.clone()), Variant::Err(of.clone())];
            all.iter().find(|one| !given(one)).and_then(Variant::built_in_name).map(str::to_owned)
        }
        Some(_) | None => Some("default".to_owned()),
    }
}
