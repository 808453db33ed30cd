//! Values for a place: what is in scope there, or what is made of parts.

use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Attr, Const, FuncRef, FunctionHead, Opcode, Shape, Source, Type, Variant};

use super::BodyWriter;
use crate::generate::values::constant;
use crate::generate::world::{closure_of, makes_closure};

impl BodyWriter<'_, '_> {
    /// A value of a type: one in scope, or a new one. `None` when the world has none.
    pub fn source(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        let fresh = self.choices.chance(25);
        let found = if fresh { None } else { self.in_scope(ty) };
        if found.is_some() {
            return found;
        }
        let made = self.make(ty, depth).or_else(|| self.in_scope(ty))?;
        if self.choices.chance(40) {
            self.scope.push((ty.clone(), made));
        }
        Some(made)
    }

    fn in_scope(&mut self, ty: &Type) -> Option<Source> {
        let recent = self.scope.iter().rev().take(64);
        let found: Vec<Source> = recent.filter(|(of, _)| of == ty).map(|(_, s)| *s).take(6).collect();
        self.choices.pick(&found).copied()
    }

    pub(super) fn sources(&mut self, types: &[Type]) -> Option<Vec<Source>> {
        types.iter().map(|ty| self.source(ty, 0)).collect()
    }

    /// A new value of a type.
    fn make(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        if let Some(value) = constant(self.choices, ty) {
            return Some(self.constant(value));
        }
        if depth > 12 {
            return None;
        }
        let deep = depth > 3;
        match ty {
            Type::Named(of) => {
                let def = Arc::clone(self.world.program.type_def(*of)?);
                match &def.shape {
                    Shape::Struct(fields) => {
                        let parts: Option<Vec<Source>> =
                            fields.iter().map(|field| self.source(&field.ty, depth + 1)).collect();
                        self.value(Opcode::StructNew, Attr::Named(*of), parts?)
                    }
                    Shape::Enum(variants) => {
                        let chosen = if deep { variants.first() } else { self.choices.pick(variants) }?;
                        self.variant(Variant::Member(*of, chosen.member), depth)
                    }
                }
            }
            Type::Option(of) => {
                let some = !deep && self.choices.chance(60);
                let of = Arc::clone(of);
                self.variant(if some { Variant::Some(of) } else { Variant::None(of) }, depth)
            }
            Type::Result(of) => {
                let error = self.choices.chance(40);
                let of = Arc::clone(of);
                self.variant(if error { Variant::Err(of) } else { Variant::Ok(of) }, depth)
            }
            Type::Array(of) => {
                let length = if deep { 0 } else { self.choices.below(4) };
                self.array(ty, of, length, depth)
            }
            Type::FixedArray(of, length) => self.array(ty, of, *length as usize, depth),
            Type::Box(of) => {
                let inner = self.source(of, depth + 1)?;
                self.value(Opcode::BoxNew, Attr::Type((**of).clone()), vec![inner])
            }
            Type::Ptr(of) => {
                let address = self.choices.below(100) as i32 * 8;
                let address = self.constant(Const::I32(address));
                self.value(Opcode::PtrFromI32, Attr::Type((**of).clone()), vec![address])
            }
            Type::FuncRef => match self.function_to_refer_to() {
                Some(of) => self.value(Opcode::FuncRef, Attr::Function(of), Vec::new()),
                None => self.value(Opcode::RefNull, Attr::None, Vec::new()),
            },
            Type::Closure(_) => self.closure(ty, depth),
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes | Type::Never | Type::ExternRef => None,
        }
    }

    pub(super) fn array(&mut self, ty: &Type, of: &Type, length: usize, depth: u32) -> Option<Source> {
        let parts: Option<Vec<Source>> = (0..length).map(|_| self.source(of, depth + 1)).collect();
        self.value(Opcode::ArrayNew, Attr::Type(ty.clone()), parts?)
    }

    pub(super) fn variant(&mut self, variant: Variant, depth: u32) -> Option<Source> {
        let payload = match payload_type(&self.world.program, &variant)? {
            None => Vec::new(),
            Some(ty) => vec![self.source(&ty, depth + 1)?],
        };
        self.value(Opcode::EnumNew, Attr::Variant(Arc::new(variant)), payload)
    }

    fn closure(&mut self, ty: &Type, depth: u32) -> Option<Source> {
        let fitting: Vec<FuncRef> = self
            .world
            .functions
            .iter()
            .filter(|(of, head)| makes_closure(head) && closure_of(head) == *ty && self.may_reach(*of))
            .map(|(of, _)| *of)
            .collect();
        let of = *self.choices.pick(&fitting)?;
        let captures: Vec<Type> =
            self.world.head(of)?.captures.iter().map(|param| param.ty.clone()).collect();
        let captures: Option<Vec<Source>> = captures.iter().map(|ty| self.source(ty, depth + 1)).collect();
        self.value(Opcode::ClosureNew, Attr::Function(of), captures?)
    }

    fn function_to_refer_to(&mut self) -> Option<FuncRef> {
        let fitting: Vec<FuncRef> = self
            .world
            .functions
            .iter()
            .filter(|(of, head)| !makes_closure(head) && self.may_refer_to(*of))
            .map(|(of, _)| *of)
            .collect();
        self.choices.pick(&fitting).copied()
    }

    /// Tells whether a function may be named here: it is visible, and lies below where calls only go downwards.
    pub(super) fn may_reach(&self, of: FuncRef) -> bool {
        let below = self.options.recursion || of < self.builder.function();
        let visible =
            |head: &FunctionHead| self.world.visible(head.visibility, head.module, self.head.module);
        below && self.world.head(of).is_some_and(visible)
    }

    /// The last function that stands in a table at the start.
    pub(super) fn table_top(&self) -> Option<FuncRef> {
        self.world.tables.iter().flat_map(|(_, entries)| entries.iter().flatten()).max().copied()
    }

    /// As [`Self::may_reach`]; references may end up in a table, so they stay below those that are there.
    pub(super) fn may_refer_to(&self, of: FuncRef) -> bool {
        let bounded = self.world.tables.is_empty() || self.table_top().is_some_and(|top| of <= top);
        self.may_reach(of) && (self.options.recursion || bounded)
    }
}
