//! Layout in linear memory, by the rules of C.

use crate::entities::Shape;
use crate::program::Program;
use crate::refs::{MemberRef, TypeRef};
use crate::types::Type;

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// A multiple of the alignment.
    pub size: u32,
    /// A power of two.
    pub align: u32,
}

/// How deep structs may contain structs.
const DEPTH: usize = 64;

/// The layout of a type; `None` for one whose values cannot lie in memory.
pub fn layout(program: &Program, ty: &Type) -> Option<Layout> {
    layout_at(program, ty, 0)
}

/// The offset of a field of a struct in memory.
pub fn field_offset(program: &Program, of: TypeRef, member: MemberRef) -> Option<u32> {
    walk(program, of, Some(member), 0).map(|(_, offset)| offset)
}

fn layout_at(program: &Program, ty: &Type, depth: usize) -> Option<Layout> {
    if depth > DEPTH {
        return None;
    }
    match ty {
        Type::Scalar(scalar) => Some(Layout { size: scalar.size(), align: scalar.size() }),
        Type::Ptr(_) => Some(Layout { size: 4, align: 4 }),
        Type::Unit => Some(Layout { size: 0, align: 1 }),
        Type::FixedArray(of, length) => {
            let of = layout_at(program, of, depth + 1)?;
            Some(Layout { size: of.size.checked_mul(*length)?, align: of.align })
        }
        Type::Named(of) => walk(program, *of, None, depth).map(|(layout, _)| layout),
        Type::Never
        | Type::String
        | Type::Bytes
        | Type::Option(_)
        | Type::Result(_)
        | Type::Array(_)
        | Type::Box(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => None,
    }
}

/// Lays out a struct; also gives the offset of one member.
fn walk(program: &Program, of: TypeRef, member: Option<MemberRef>, depth: usize) -> Option<(Layout, u32)> {
    let def = program.type_def(of)?;
    let Shape::Struct(fields) = &def.shape else { return None };
    let (mut size, mut align, mut found) = (0u32, 1, None);
    for field in fields {
        let part = layout_at(program, &field.ty, depth + 1)?;
        size = size.checked_next_multiple_of(part.align)?;
        if Some(field.member) == member {
            found = Some(size);
        }
        size = size.checked_add(part.size)?;
        align = align.max(part.align);
    }
    if member.is_some() && found.is_none() {
        return None;
    }
    Some((Layout { size: size.checked_next_multiple_of(align)?, align }, found.unwrap_or(0)))
}
