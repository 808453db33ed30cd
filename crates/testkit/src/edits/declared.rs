//! Changes of what is declared: signatures, types and storage. What uses it is left as it was.

use std::sync::Arc;

use lmlang_ir::builder::params;
use lmlang_ir::{
    EffectBound, Field, FuncRef, FunctionHead, MemberRef, Program, RefAllocator, Shape, StorageKind, Type,
    TypeDef, TypeRef, VarRef, VariantDef, Visibility,
};

use crate::choices::Choices;

/// Makes one change; `None` where what was chosen does not fit, and nothing has changed.
pub fn declared(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) -> Option<()> {
    match choices.below(8) {
        0..=3 => change_head(program, choices),
        4 | 5 => change_type(program, refs, choices),
        _ => change_storage(program, choices),
    }
}

fn some_type(program: &Program, choices: &mut Choices) -> Type {
    let named = program.types().map(|(of, _)| Type::Named(of));
    let all: Vec<Type> = [Type::I32, Type::I64, Type::F64, Type::String].into_iter().chain(named).collect();
    choices.pick(&all).cloned().unwrap_or(Type::I64)
}

fn change_head(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let all: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
    let of = *choices.pick(&all)?;
    let ty = some_type(program, choices);
    let mut function = program.function_mut(of).ok()?;
    let mut head = function.head().clone();
    change_one(&mut head, ty, choices);
    function.set_head(head);
    Some(())
}

fn change_one(head: &mut FunctionHead, ty: Type, choices: &mut Choices) {
    match choices.below(8) {
        0 => head.params.extend(params([("another", ty)])),
        1 => drop(head.params.pop()),
        2 => head.params.reverse(),
        3 => head.results.push(ty),
        4 => drop(head.results.pop()),
        5 => drop(head.captures.pop()),
        6 => head.effect_bound = EffectBound::Pure,
        _ => head.visibility = Visibility::Private,
    }
}

fn change_type(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices) -> Option<()> {
    let all: Vec<TypeRef> = program.types().map(|(of, _)| of).collect();
    let of = *choices.pick(&all)?;
    let def = program.type_def(of)?.as_ref().clone();
    let member = MemberRef::new(refs.allocate()?)?;
    let name = format!("member{}", member.number()).into();
    let ty = some_type(program, choices);
    let mut shape = def.shape.clone();
    match (choices.below(3), &mut shape) {
        (0, Shape::Struct(fields)) => drop(fields.pop()?),
        (0, Shape::Enum(variants)) => drop(variants.pop()?),
        (1, Shape::Struct(fields)) => fields.push(Field { member, name, ty, doc: None }),
        (1, Shape::Enum(variants)) => {
            variants.push(VariantDef { member, name, payload: Some(ty), doc: None });
        }
        (_, Shape::Struct(_)) => {
            shape = Shape::Enum(vec![VariantDef { member, name, payload: None, doc: None }]);
        }
        (_, Shape::Enum(_)) => shape = Shape::Struct(Vec::new()),
    }
    program.set_type(of, TypeDef { shape, ..def }).ok().map(drop)
}

fn change_storage(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let all: Vec<VarRef> = program.all_storage().map(|(of, _)| of).collect();
    let of = *choices.pick(&all)?;
    let mut storage = program.storage(of)?.clone();
    match &mut storage.kind {
        StorageKind::Global { mutable, .. } => *mutable = false,
        StorageKind::Memory { .. } => return program.remove_storage(of).ok().map(drop),
        StorageKind::Data { .. } | StorageKind::Table { .. } | StorageKind::Elements { .. } => {
            storage.visibility = Visibility::Private
        }
        StorageKind::Custom { bytes, .. } => *bytes = Arc::from(&b"other"[..]),
    }
    program.set_storage(of, storage).ok().map(drop)
}
