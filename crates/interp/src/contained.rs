//! The values with invariants that a value contains.

use std::collections::{BTreeSet, HashMap, HashSet};

use lmlang_ir::{Program, Shape, Type, TypeRef};

use crate::heap::{Chunks, Heap, Obj, Word};
use crate::value::{Class, class};

/// The way from values of a type to those of others that they contain.
#[derive(Debug)]
pub(crate) struct Finder {
    /// That of the values to start at is the first.
    shapes: Box<[Found]>,
    /// How many types are looked for.
    wanted: usize,
}

/// What is known of the values of a type.
#[derive(Debug, Default)]
struct Found {
    /// Which of the types that are looked for it is.
    wanted: Option<usize>,
    /// The parts in which there may be more, by position: of a field, of a variant, zero of an element or of what is in a box;
    /// and their shapes.
    parts: Vec<(usize, usize)>,
}

impl Finder {
    /// The way from values of a type to those of nominal ones.
    pub(crate) fn new(program: &Program, from: &Type, wanted: &BTreeSet<TypeRef>) -> Finder {
        let numbers: HashMap<Type, usize> = wanted.iter().map(|of| Type::Named(*of)).zip(0..).collect();
        let mut known = HashMap::from([(from.clone(), 0)]);
        let (mut shapes, mut types) = (Vec::new(), vec![from.clone()]);
        while let Some(ty) = types.get(shapes.len()).cloned() {
            let mut found = Found { wanted: numbers.get(&ty).copied(), parts: Vec::new() };
            for (position, part) in parts_of(program, &ty) {
                if class(&part) == Class::Ref {
                    let shape = *known.entry(part.clone()).or_insert_with(|| {
                        types.push(part);
                        types.len() - 1
                    });
                    found.parts.push((position, shape));
                }
            }
            shapes.push(found);
        }
        prune(&mut shapes);
        Finder { shapes: shapes.into(), wanted: wanted.len() }
    }

    /// Nothing of each type.
    pub(crate) fn nothing(&self) -> Vec<Chunks<Obj>> {
        vec![Chunks::new(); self.wanted]
    }

    /// The values of each type that there are in a value, each once, and to how many places it came for them; `None` when
    /// those would be more than `most`.
    ///
    /// What stands in several places is gone into once: a value of few parts may be a tree of any size.
    pub(crate) fn find(&self, value: &Obj, most: u64) -> Option<(Vec<Chunks<Obj>>, u64)> {
        let (mut found, mut seen) = (self.nothing(), HashSet::new());
        let (mut open, mut places) = (vec![(value, 0)], 1);
        while let Some((value, shape)) = open.pop() {
            let Some(heap) = value.get() else { continue };
            if value.is_shared() && !seen.insert((std::ptr::from_ref(heap).addr(), shape)) {
                continue;
            }
            let shape = &self.shapes[shape];
            if let Some(wanted) = shape.wanted {
                found[wanted].push(value.clone());
            }
            let start = open.len();
            for (position, inner) in &shape.parts {
                let part = match heap {
                    Heap::Struct(parts) => parts.get(*position),
                    Heap::Enum(tag, payload) if *tag as usize == *position => Some(payload),
                    Heap::Box(part) => Some(part),
                    Heap::Objs(items) => {
                        // Asked before there is room for them.
                        if places + items.len() as u64 > most {
                            return None;
                        }
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
            places += (open.len() - start) as u64;
            if places > most {
                return None;
            }
            // The last of them is looked at first.
            open[start..].reverse();
        }
        Some((found, places))
    }
}

/// The types of the parts of values of a type, with their positions.
fn parts_of(program: &Program, ty: &Type) -> Vec<(usize, Type)> {
    if let Type::Named(of) = ty {
        return match program.type_def(*of).map(|def| &def.shape) {
            Some(Shape::Struct(fields)) => fields.iter().map(|field| field.ty.clone()).enumerate().collect(),
            Some(Shape::Enum(variants)) => {
                let payloads = variants.iter().enumerate();
                payloads.filter_map(|(tag, variant)| Some((tag, variant.payload.clone()?))).collect()
            }
            None => Vec::new(),
        };
    }
    // That of `none` is the first variant.
    let first = usize::from(matches!(ty, Type::Option(_)));
    (first..).zip(ty.contained().into_iter().cloned()).collect()
}

/// Leaves the parts in which there may be values that are looked for.
fn prune(shapes: &mut [Found]) {
    let mut containing: Vec<Vec<usize>> = vec![Vec::new(); shapes.len()];
    for (at, shape) in shapes.iter().enumerate() {
        shape.parts.iter().for_each(|(_, part)| containing[*part].push(at));
    }
    let mut open: Vec<usize> = (0..shapes.len()).filter(|at| shapes[*at].wanted.is_some()).collect();
    let mut leads = vec![false; shapes.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            open.extend(&containing[at]);
        }
    }
    shapes.iter_mut().for_each(|shape| shape.parts.retain(|(_, part)| leads[*part]));
}
