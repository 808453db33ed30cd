//! The parts of values: each has a path of positions, from the list of arguments down.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lmlang_ir::Value;

/// Where a part is: the position of the argument, then of the part in what is around it.
pub(crate) type Path = Vec<u32>;

/// The most parts that are listed.
const MOST_LISTED: usize = 4096;

/// The parts that a value directly consists of.
pub(crate) fn children(value: &Value) -> &[Value] {
    match value {
        Value::Struct(_, parts)
        | Value::Array(_, parts)
        | Value::FixedArray(_, parts)
        | Value::Closure(_, _, parts) => parts,
        Value::Enum(_, Some(part)) | Value::Box(_, part) => std::slice::from_ref(part),
        Value::Const(_) | Value::Enum(_, None) | Value::Ptr(..) | Value::FuncRef(_) | Value::ExternRef => &[],
    }
}

pub(crate) fn children_mut(value: &mut Value) -> &mut [Value] {
    match value {
        Value::Struct(_, parts)
        | Value::Array(_, parts)
        | Value::FixedArray(_, parts)
        | Value::Closure(_, _, parts) => parts,
        Value::Enum(_, Some(part)) | Value::Box(_, part) => std::slice::from_mut(part),
        Value::Const(_) | Value::Enum(_, None) | Value::Ptr(..) | Value::FuncRef(_) | Value::ExternRef => {
            &mut []
        }
    }
}

/// The paths of all parts, each before its own; of very many, the first.
pub(crate) fn paths(args: &[Value]) -> Vec<Path> {
    let mut out = Vec::new();
    let mut open: Vec<(Path, &Value)> = Vec::new();
    for (index, arg) in args.iter().enumerate().rev() {
        open.push((vec![index as u32], arg));
    }
    while let Some((path, value)) = open.pop() {
        for (index, part) in children(value).iter().enumerate().rev() {
            let mut inner = path.clone();
            inner.push(index as u32);
            open.push((inner, part));
        }
        out.push(path);
        if out.len() >= MOST_LISTED {
            break;
        }
    }
    out
}

/// The part at a path.
pub(crate) fn part<'a>(args: &'a [Value], path: &[u32]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(args.get(*first as usize)?, |value, index| children(value).get(*index as usize))
}

/// The part at a path, to be changed.
pub(crate) fn part_mut<'a>(args: &'a mut [Value], path: &[u32]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let mut value = args.get_mut(*first as usize)?;
    for index in rest {
        value = children_mut(value).get_mut(*index as usize)?;
    }
    Some(value)
}

/// The arguments with another part at a path.
pub(crate) fn with(args: &[Value], path: &[u32], part: Value) -> Vec<Value> {
    let mut args = args.to_vec();
    if let Some(slot) = part_mut(&mut args, path) {
        *slot = part;
    }
    args
}

/// The number of parts of a value, itself included.
pub(crate) fn count(value: &Value) -> u64 {
    children(value).iter().map(count).sum::<u64>() + 1
}

/// How deep a value nests.
pub(crate) fn depth(value: &Value) -> usize {
    children(value).iter().map(depth).max().map_or(0, |inner| inner + 1)
}

/// A number that equal arguments share, and others hardly ever.
pub(crate) fn fingerprint(args: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    args.iter().for_each(|arg| feed(arg, &mut hasher));
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Const(of) => of.hash(hasher),
        Value::Enum(variant, payload) => (variant, payload.is_some()).hash(hasher),
        Value::Ptr(_, address) => address.hash(hasher),
        Value::FuncRef(of) => of.hash(hasher),
        Value::Closure(_, of, _) => of.hash(hasher),
        Value::Struct(..) | Value::Array(..) | Value::FixedArray(..) | Value::Box(..) | Value::ExternRef => {}
    }
    let parts = children(value);
    parts.len().hash(hasher);
    parts.iter().for_each(|part| feed(part, hasher));
}
