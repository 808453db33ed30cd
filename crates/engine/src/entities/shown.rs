//! What queries are told of a part of a program: its properties.

use std::sync::Arc;

use lmlang_entities::Props;
use lmlang_entities::props::PropValue;
use lmlang_ir::{EffectBound, FuncRef, ModuleRef, Name, Shape, TypeDef, TypeRef, Visibility, text};
use lmlang_store::Program as Row;
use lmlang_verify::Checked;

use crate::entities::part::Place;

type Field = (&'static str, PropValue);

/// The properties of a program of which a revision is the newest one.
pub(crate) fn program(row: &Row, revision: u64) -> Props {
    Props::shown([("name", said(&row.name)), ("doc", shared(row_doc(row))), ("revision", count(revision))])
}

/// The properties of a place inside of a program; nothing if it is not there.
pub(crate) fn inside(row: &Row, checked: &Checked, place: Place) -> Option<Props> {
    let own = match place {
        Place::Program => return None,
        Place::Function(of) => function(checked, of)?,
        Place::Module(of) => module(checked, of)?,
        Place::Type(of) => type_def(checked, of)?,
    };
    let doc = [("doc", shared(doc(row, Some(checked), place)))];
    Some(Props::shown(whose(row).into_iter().chain(named(row, Some(checked), place)).chain(doc).chain(own)))
}

/// The properties of what is written about a place; nothing if nothing is.
pub(crate) fn document(row: &Row, checked: Option<&Checked>, place: Place) -> Option<Props> {
    let text = PropValue::Text(doc(row, checked, place)?);
    let own = [("text", text), ("about", said(place.sort().name()))];
    Some(Props::shown(whose(row).into_iter().chain(named(row, checked, place)).chain(own)))
}

/// What is written about a place; in a program it is shared with that, since it may be long. The program itself needs no
/// content.
pub(crate) fn doc(row: &Row, checked: Option<&Checked>, place: Place) -> Option<Arc<str>> {
    let program = checked.map(Checked::program);
    match place {
        Place::Program => row_doc(row),
        Place::Function(of) => program?.function(of)?.head().doc.clone(),
        Place::Module(of) => program?.module(of)?.doc.clone(),
        Place::Type(of) => program?.type_def(of)?.doc.clone(),
    }
}

fn row_doc(row: &Row) -> Option<Arc<str>> {
    Some(row.doc.as_str()).filter(|doc| !doc.is_empty()).map(Arc::from)
}

/// Which program it is in.
fn whose(row: &Row) -> [Field; 2] {
    [("program", said(&row.name)), ("program_id", said(&row.id.to_string()))]
}

/// What it is called.
fn named(row: &Row, checked: Option<&Checked>, place: Place) -> Vec<Field> {
    let Some((of, checked)) = place.entity().zip(checked) else { return vec![("name", said(&row.name))] };
    let program = checked.program();
    let path = program.path(of);
    let name = match place {
        Place::Program => None,
        Place::Function(of) => program.function(of).map(|function| &function.head().name),
        Place::Module(of) => program.module(of).map(|module| &module.name),
        Place::Type(of) => program.type_def(of).map(|def| &def.name),
    };
    vec![("name", shared(name.cloned())), ("path", said(&path)), ("ref", said(&of.to_string()))]
}

fn function(checked: &Checked, of: FuncRef) -> Option<Vec<Field>> {
    let program = checked.program();
    let function = program.function(of)?;
    let (head, counts) = (function.head(), function.body().counts());
    let effects = match head.effect_bound {
        EffectBound::Pure => "pure",
        EffectBound::Reads => "reads",
        EffectBound::Any => "any",
    };
    Some(vec![
        ("module", module_path(checked, head.module)),
        ("visibility", visibility(head.visibility)),
        ("signature", said(&text::print_signature(program, of))),
        ("effects", said(effects)),
        ("nodes", count(counts.nodes)),
        ("holes", count(counts.holes)),
        ("complete", PropValue::Bool(checked.complete(of).is_some())),
        ("imported", PropValue::Bool(head.import.is_some())),
        ("exports", names(head.exports.iter())),
    ])
}

fn module(checked: &Checked, of: ModuleRef) -> Option<Vec<Field>> {
    let module = checked.program().module(of)?;
    let parent = module.parent.map_or(PropValue::Null, |parent| module_path(checked, parent));
    Some(vec![("module", parent), ("visibility", visibility(module.visibility))])
}

fn type_def(checked: &Checked, of: TypeRef) -> Option<Vec<Field>> {
    let def = checked.program().type_def(of)?;
    let TypeDef { module, visibility: seen, shape, .. } = &**def;
    let (shape, members) = match shape {
        Shape::Struct(fields) => ("struct", names(fields.iter().map(|field| &field.name))),
        Shape::Enum(variants) => ("enum", names(variants.iter().map(|variant| &variant.name))),
    };
    Some(vec![
        ("module", module_path(checked, *module)),
        ("visibility", visibility(*seen)),
        ("shape", said(shape)),
        ("members", members),
    ])
}

fn module_path(checked: &Checked, of: ModuleRef) -> PropValue {
    said(&checked.program().path(of.into()))
}

fn visibility(of: Visibility) -> PropValue {
    said(match of {
        Visibility::Public => "public",
        Visibility::Private => "private",
    })
}

fn said(text: &str) -> PropValue {
    PropValue::Text(text.into())
}

fn shared(text: Option<Arc<str>>) -> PropValue {
    text.map_or(PropValue::Null, PropValue::Text)
}

fn count(number: u64) -> PropValue {
    PropValue::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn names<'a>(names: impl Iterator<Item = &'a Name>) -> PropValue {
    PropValue::List(names.map(|name| PropValue::Text(Arc::clone(name))).collect())
}
