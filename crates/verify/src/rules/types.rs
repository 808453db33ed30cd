//! V13 and the uses of types: they exist, may be used, and have a layout where they need one.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{ModuleRef, Program, Ref, Shape, Type, TypeDef, TypeRef};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, outside};
use crate::rules::modules;

/// A use of a type from a module: its nominal parts exist and are visible, its pointers point to plain types.
pub(crate) fn check_use(
    program: &Program,
    from: ModuleRef,
    ty: &Type,
    finding: &dyn Fn(Code) -> Diagnostic,
    out: &mut Vec<Diagnostic>,
) {
    if is_simple(ty) {
        return;
    }
    let mut stack = vec![ty];
    while let Some(part) = stack.pop() {
        if let Type::Named(of) = part {
            let found = Ref::from(*of);
            match program.type_def(*of) {
                None => out.push(finding(Code::UnknownType).finding(found)),
                Some(def) if !modules::sees(program, from, def.module, def.visibility) => {
                    out.push(finding(Code::NotVisible).finding(found));
                }
                Some(_) => {}
            }
        }
        if let Type::Ptr(to) = part
            && !is_plain(program, to)
        {
            out.push(finding(Code::NoPlainLayout).finding((**to).clone()));
        }
        stack.extend(part.parts());
    }
}

/// The type of a place that begins with the zero of its type: there is one.
pub(crate) fn check_zero(ty: &Type, finding: &dyn Fn(Code) -> Diagnostic, out: &mut Vec<Diagnostic>) {
    if zero_has_never(ty) {
        out.push(finding(Code::TypeWithoutValues).finding(ty.clone()));
    }
}

/// Tells whether the zero of a type would be, or contain, a value of `never`. Fields of nominal types have their own finding.
fn zero_has_never(ty: &Type) -> bool {
    let mut stack = vec![ty];
    while let Some(part) = stack.pop() {
        match part {
            Type::Never => return true,
            Type::FixedArray(of, length) if *length > 0 => stack.push(of),
            Type::Box(of) => stack.push(of),
            Type::Result(of) => stack.push(&of.0),
            Type::FixedArray(..)
            | Type::Scalar(_)
            | Type::Unit
            | Type::String
            | Type::Bytes
            | Type::Named(_)
            | Type::Ptr(_)
            | Type::Option(_)
            | Type::Array(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => {}
        }
    }
    false
}

/// Tells whether there is nothing in a type that could be wrong.
fn is_simple(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_)
        | Type::Unit
        | Type::Never
        | Type::String
        | Type::Bytes
        | Type::FuncRef
        | Type::ExternRef => true,
        Type::Named(_)
        | Type::Ptr(_)
        | Type::Option(_)
        | Type::Result(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_) => false,
    }
}

/// Tells whether values of a type can lie in linear memory. Types that do not exist are reported as that.
pub(crate) fn is_plain(program: &Program, ty: &Type) -> bool {
    let (mut stack, mut seen) = (vec![ty], BTreeSet::new());
    while let Some(part) = stack.pop() {
        match part {
            Type::Scalar(_) | Type::Ptr(_) => {}
            Type::FixedArray(of, _) => stack.push(of),
            Type::Named(of) if seen.insert(*of) => match program.type_def(*of).map(|def| &def.shape) {
                None => {}
                Some(Shape::Struct(fields)) => stack.extend(fields.iter().map(|field| &field.ty)),
                Some(Shape::Enum(_)) => return false,
            },
            Type::Named(_) => {}
            Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => return false,
        }
    }
    true
}

/// A nominal type; `circular` says whether it contains itself.
pub(crate) fn check(
    program: &Program,
    of: TypeRef,
    def: &TypeDef,
    circular: bool,
    out: &mut Vec<Diagnostic>,
) {
    modules::check_standing(program, of, Some(def.module), &def.name, out);
    for (index, ty) in def.part_types().into_iter().enumerate() {
        check_use(program, def.module, ty, &|code| outside(code, of, Some(index)), out);
        check_zero(ty, &|code| outside(code, of, Some(index)), out);
    }
    let fields = def.fields().iter().map(|field| &field.name);
    let mut names = BTreeSet::new();
    for (index, name) in fields.chain(def.variants().iter().map(|variant| &variant.name)).enumerate() {
        if !names.insert(name) {
            out.push(outside(Code::DuplicateName, of, Some(index)).finding(&**name));
        }
    }
    if circular {
        out.push(outside(Code::TypeContainsItself, of, None));
    }
}

/// The nominal types of which a value lies in a value of this one.
fn each_inner(def: &TypeDef, visit: &mut impl FnMut(TypeRef)) {
    let mut stack = def.part_types();
    while let Some(part) = stack.pop() {
        match part {
            Type::Named(of) => visit(*of),
            Type::Option(of) | Type::FixedArray(of, _) => stack.push(of),
            Type::Result(of) => stack.extend([&of.0, &of.1]),
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Ptr(_)
            | Type::Array(_)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => {}
        }
    }
}

/// Which of the types reachable from the given ones contain themselves.
///
/// Strongly connected components after Tarjan (1972), with a stack of its own: types may be nested deeply.
pub(crate) fn circular(program: &Program, from: impl IntoIterator<Item = TypeRef>) -> BTreeSet<TypeRef> {
    struct Visit {
        of: TypeRef,
        inner: Vec<TypeRef>,
    }
    struct Mark {
        order: usize,
        low: usize,
        open: bool,
    }
    let inner = |of: TypeRef| {
        let mut found = Vec::new();
        if let Some(def) = program.type_def(of) {
            each_inner(def, &mut |one| found.push(one));
        }
        found
    };
    let (mut marks, mut open): (BTreeMap<TypeRef, Mark>, Vec<TypeRef>) = (BTreeMap::new(), Vec::new());
    let mut circular = BTreeSet::new();
    for start in from {
        if marks.contains_key(&start) {
            continue;
        }
        let mut visits: Vec<Visit> = Vec::new();
        let mut enter = Some(start);
        loop {
            if let Some(of) = enter.take() {
                let order = marks.len();
                marks.insert(of, Mark { order, low: order, open: true });
                open.push(of);
                visits.push(Visit { of, inner: inner(of) });
            }
            let Some(visit) = visits.last_mut() else { break };
            if let Some(next) = visit.inner.pop() {
                let of = visit.of;
                if next == of {
                    circular.insert(of);
                }
                match marks.get(&next).map(|mark| (mark.open, mark.order)) {
                    None => enter = Some(next),
                    Some((true, order)) => {
                        if let Some(mark) = marks.get_mut(&of) {
                            mark.low = mark.low.min(order);
                        }
                    }
                    Some((false, _)) => {}
                }
                continue;
            }
            let of = visit.of;
            visits.pop();
            let Some((order, low)) = marks.get(&of).map(|mark| (mark.order, mark.low)) else { break };
            if let Some(mark) = visits.last().and_then(|outer| marks.get_mut(&outer.of)) {
                mark.low = mark.low.min(low);
            }
            if order == low {
                let at = open.iter().rposition(|one| *one == of).unwrap_or_default();
                let component = open.split_off(at);
                for one in &component {
                    if let Some(mark) = marks.get_mut(one) {
                        mark.open = false;
                    }
                }
                if component.len() > 1 {
                    circular.extend(component);
                }
            }
        }
    }
    circular
}
