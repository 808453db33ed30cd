//! The values of one type that a value contains: what its invariants are checked on.

use std::collections::{HashMap, HashSet};

use lmlang_ir::{Program, Shape, Type, TypeRef};

use crate::heap::{Chunks, Heap, Obj, Word};
use crate::value::{Class, class};

/// The way from values of a type to those of another one that they contain.
#[derive(Debug)]
pub(crate) struct Finder {
    /// That of the values to start at is the first.
    shapes: Box<[Found]>,
}

/// What is known of the values of a type.
#[derive(Debug, Default)]
struct Found {
    /// Whether they are what is looked for.
    is_wanted: bool,
    /// The parts in which there may be more, by position: of a field, of a variant, zero of an element or of what is in a box;
    /// and their shapes.
    parts: Vec<(usize, usize)>,
}

impl Finder {
    /// The way from values of a type to those of a nominal one.
    pub(crate) fn new(program: &Program, from: &Type, wanted: TypeRef) -> Finder {
        let mut numbers = HashMap::from([(from.clone(), 0)]);
        let (mut shapes, mut types) = (Vec::new(), vec![from.clone()]);
        while let Some(ty) = types.get(shapes.len()).cloned() {
            let mut found = Found { is_wanted: ty == Type::Named(wanted), parts: Vec::new() };
            for (position, part) in parts_of(program, &ty) {
                if class(&part) == Class::Ref {
                    let shape = *numbers.entry(part.clone()).or_insert_with(|| {
                        types.push(part);
                        types.len() - 1
                    });
                    found.parts.push((position, shape));
                }
            }
            shapes.push(found);
        }
        prune(&mut shapes);
        Finder { shapes: shapes.into() }
    }

    /// The values that there are in a value, each once, with how many were looked at; `None` when those would be more than
    /// `most`.
    ///
    /// What stands in several places is looked at once: a value of few parts may be a tree of any size.
    pub(crate) fn find(&self, value: &Obj, most: u64) -> Option<(Chunks<Obj>, u64)> {
        let (mut found, mut seen) = (Chunks::new(), HashSet::new());
        let mut open = vec![(value, 0)];
        while let Some((value, shape)) = open.pop() {
            let Some(heap) = value.get() else { continue };
            let number = seen.len() as u64;
            if !seen.insert((std::ptr::from_ref(heap).addr(), shape)) {
                continue;
            }
            if number >= most {
                return None;
            }
            let shape = &self.shapes[shape];
            if shape.is_wanted {
                found.push(value.clone());
            }
            let start = open.len();
            for (position, inner) in &shape.parts {
                let part = match heap {
                    Heap::Struct(parts) => parts.get(*position),
                    Heap::Enum(tag, payload) if *tag as usize == *position => Some(payload),
                    Heap::Box(part) => Some(part),
                    Heap::Objs(items) => {
                        open.extend(items.iter().map(|item| (item, *inner)));
                        None
                    }
                    Heap::Enum(..) | Heap::Text(_) | Heap::Bytes(_) | Heap::Nums(_) | Heap::Closure(..) => {
                        None
                    }
                };
                if let Some(Word::Ref(part)) = part {
                    open.push((part, *inner));
                }
            }
            // The last of them is looked at first.
            open[start..].reverse();
        }
        Some((found, seen.len() as u64))
    }
}

/// The types of the parts of values of a type, with their positions.
fn parts_of(program: &Program, ty: &Type) -> Vec<(usize, Type)> {
    match ty {
        Type::Named(of) => match program.type_def(*of).map(|def| &def.shape) {
            Some(Shape::Struct(fields)) => fields.iter().map(|field| field.ty.clone()).enumerate().collect(),
            Some(Shape::Enum(variants)) => {
                let payloads = variants.iter().enumerate();
                payloads.filter_map(|(tag, variant)| Some((tag, variant.payload.clone()?))).collect()
            }
            None => Vec::new(),
        },
        Type::Option(of) => vec![(1, (**of).clone())],
        Type::Result(of) => vec![(0, of.0.clone()), (1, of.1.clone())],
        Type::Array(of) | Type::FixedArray(of, _) | Type::Box(of) => vec![(0, (**of).clone())],
        Type::Scalar(_)
        | Type::Unit
        | Type::Never
        | Type::String
        | Type::Bytes
        | Type::Ptr(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => Vec::new(),
    }
}

/// Leaves the parts in which there may be values that are looked for.
fn prune(shapes: &mut [Found]) {
    let mut leads: Vec<bool> = shapes.iter().map(|shape| shape.is_wanted).collect();
    loop {
        let more = |at: &usize| !leads[*at] && shapes[*at].parts.iter().any(|(_, part)| leads[*part]);
        let more: Vec<usize> = (0..shapes.len()).filter(more).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|at| leads[at] = true);
    }
    shapes.iter_mut().for_each(|shape| shape.parts.retain(|(_, part)| leads[*part]));
}
