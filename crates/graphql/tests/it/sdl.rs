//! The schema as data, read from its own text.

use std::collections::BTreeMap;

use async_graphql::parser::types::{BaseType, FieldDefinition, Type, TypeKind, TypeSystemDefinition};
use async_graphql::parser::{Positioned, parse_schema};

/// What of the schema the tests look at.
#[derive(Debug, Default)]
pub(crate) struct Sdl {
    /// The fields of objects.
    pub(crate) objects: BTreeMap<String, BTreeMap<String, FieldDefinition>>,
    /// The fields of interfaces.
    pub(crate) interfaces: BTreeMap<String, BTreeMap<String, FieldDefinition>>,
    /// Interfaces and unions with their members.
    pub(crate) members: BTreeMap<String, Vec<String>>,
    /// Scalars and enums.
    pub(crate) leaves: Vec<String>,
}

impl Sdl {
    pub(crate) fn read() -> Sdl {
        let document = parse_schema(lmlang_graphql::schema::sdl()).expect("the schema's text parses");
        let mut sdl = Sdl {
            leaves: ["Int", "Float", "String", "Boolean", "ID"].map(str::to_owned).into(),
            ..Sdl::default()
        };
        for definition in document.definitions {
            let TypeSystemDefinition::Type(definition) = definition else { continue };
            let name = definition.node.name.node.to_string();
            match definition.node.kind {
                TypeKind::Object(object) => {
                    for interface in object.implements {
                        sdl.members.entry(interface.node.to_string()).or_default().push(name.clone());
                    }
                    sdl.objects.insert(name, fields(object.fields));
                }
                TypeKind::Interface(interface) => {
                    sdl.interfaces.insert(name, fields(interface.fields));
                }
                TypeKind::Union(union) => {
                    let members = union.members.iter().map(|member| member.node.to_string()).collect();
                    sdl.members.insert(name, members);
                }
                TypeKind::Scalar | TypeKind::Enum(_) => sdl.leaves.push(name),
                TypeKind::InputObject(_) => {}
            }
        }
        sdl
    }

    /// Fields that can be null or hold nulls, as `Type.field`, of objects and interfaces.
    pub(crate) fn nullable(&self) -> Vec<String> {
        let types = self.objects.iter().chain(&self.interfaces);
        let fields =
            types.flat_map(|(owner, fields)| fields.iter().map(move |(name, field)| (owner, name, field)));
        fields
            .filter(|(_, _, field)| holds_null(&field.ty.node))
            .map(|(owner, name, _)| format!("{owner}.{name}"))
            .collect()
    }

    pub(crate) fn is_leaf(&self, name: &str) -> bool {
        self.leaves.iter().any(|leaf| leaf == name)
    }

    /// Fields of an object that always have a value and need nothing to be asked for.
    pub(crate) fn plain(&self, object: &str) -> Vec<&str> {
        let fields = self.objects.get(object).into_iter().flatten();
        fields
            .filter(|(_, field)| {
                !holds_null(&field.ty.node)
                    && self.is_leaf(bottom(&field.ty.node))
                    && field
                        .arguments
                        .iter()
                        .all(|one| one.node.default_value.is_some() || one.node.ty.node.nullable)
            })
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

fn fields(fields: Vec<Positioned<FieldDefinition>>) -> BTreeMap<String, FieldDefinition> {
    fields.into_iter().map(|field| (field.node.name.node.to_string(), field.node)).collect()
}

fn holds_null(ty: &Type) -> bool {
    ty.nullable
        || match &ty.base {
            BaseType::List(of) => holds_null(of),
            BaseType::Named(_) => false,
        }
}

/// The named type under lists.
pub(crate) fn bottom(ty: &Type) -> &str {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(of) => bottom(of),
    }
}
