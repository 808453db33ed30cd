//! Says of variables that they surely fit their types, so that a document which has passed validation need not pass it
//! again: walking all of its rules is a quarter of what a small mutation costs.
//!
//! It may say no of what fits. Such a request takes the long way, where validation finds the words for what is wrong.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::types::{
    BaseType, InputValueDefinition, OperationDefinition, Type, TypeDefinition, TypeKind,
};
use async_graphql::{Name, Value, Variables};

/// An argument, or a field of an input object.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) ty: Type,
    pub(super) has_default: bool,
}

impl Argument {
    pub(super) fn of(definition: &InputValueDefinition) -> Argument {
        Argument { ty: definition.ty.node.clone(), has_default: definition.default_value.is_some() }
    }
}

/// The types of inputs by name.
#[derive(Debug, Default)]
pub(super) struct Inputs(HashMap<Name, Input>);

#[derive(Debug)]
enum Input {
    /// One of these names.
    Enum(HashSet<Name>),
    /// Fields by name, those that must be given, and whether exactly one must be.
    Object { fields: HashMap<Name, Argument>, required: Vec<Name>, one_of: bool },
}

impl Inputs {
    /// Takes in a type of the schema.
    pub(super) fn add(&mut self, definition: &TypeDefinition) {
        let input = match &definition.kind {
            TypeKind::Enum(values) => {
                Input::Enum(values.values.iter().map(|value| value.node.value.node.clone()).collect())
            }
            TypeKind::InputObject(object) => {
                let fields = || object.fields.iter().map(|field| &field.node);
                let name = |field: &InputValueDefinition| field.name.node.clone();
                let required =
                    |field: &&InputValueDefinition| !field.ty.node.nullable && field.default_value.is_none();
                Input::Object {
                    fields: fields().map(|field| (name(field), Argument::of(field))).collect(),
                    required: fields().filter(required).map(name).collect(),
                    one_of: definition.directives.iter().any(|directive| directive.node.name.node == "oneOf"),
                }
            }
            TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Scalar | TypeKind::Union(_) => return,
        };
        self.0.insert(definition.name.node.clone(), input);
    }

    /// The types of an input object's fields.
    pub(super) fn fields(&self, of: &Name) -> Option<&HashMap<Name, Argument>> {
        match self.0.get(of)? {
            Input::Object { fields, .. } => Some(fields),
            Input::Enum(_) => None,
        }
    }

    /// Whether exactly one field of an input object is given.
    pub(super) fn is_one_of(&self, of: &Name) -> bool {
        matches!(self.0.get(of), Some(Input::Object { one_of: true, .. }))
    }

    /// The names of an enum, in order.
    pub(super) fn names(&self, of: &Name) -> Option<Vec<&str>> {
        match self.0.get(of)? {
            Input::Enum(names) => {
                let mut names: Vec<&str> = names.iter().map(Name::as_str).collect();
                names.sort_unstable();
                Some(names)
            }
            Input::Object { .. } => None,
        }
    }

    /// Whether every variable of an operation is given, is not null, and surely fits its type.
    pub(super) fn surely_fit(&self, operation: &OperationDefinition, given: &Variables) -> bool {
        operation.variable_definitions.iter().all(|definition| {
            let value = given.get(&definition.node.name.node).filter(|value| **value != Value::Null);
            value.is_some_and(|value| self.fits(&definition.node.var_type.node, value))
        })
    }

    fn fits(&self, ty: &Type, value: &Value) -> bool {
        match (&ty.base, value) {
            (_, Value::Null) => ty.nullable,
            (BaseType::List(of), Value::List(items)) => items.iter().all(|item| self.fits(of, item)),
            (BaseType::List(_), _) => false,
            (BaseType::Named(name), value) => self.is_of(name, value),
        }
    }

    fn is_of(&self, name: &Name, value: &Value) -> bool {
        match (name.as_str(), value) {
            ("String" | "ID", Value::String(_)) | ("Boolean", Value::Boolean(_)) => return true,
            ("Int", Value::Number(number)) => {
                return number.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
            }
            _ => {}
        }
        match (self.0.get(name), value) {
            (Some(Input::Enum(values)), Value::String(value)) => values.contains(value.as_str()),
            (Some(Input::Object { fields, required, one_of }), Value::Object(given)) => {
                let known = |(name, value): (&Name, &Value)| {
                    fields.get(name).is_some_and(|one| self.fits(&one.ty, value))
                };
                let one = || given.len() == 1 && given.values().all(|value| *value != Value::Null);
                given.iter().all(known)
                    && required.iter().all(|name| given.contains_key(name))
                    && (!one_of || one())
            }
            // Scalars of our own judge their values themselves.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::types::{DocumentOperations, TypeSystemDefinition};
    use async_graphql::parser::{parse_query, parse_schema};
    use serde_json::{Value, json};

    use super::*;

    const SCHEMA: &str = "
        scalar Value
        enum Colour { RED GREEN }
        input Paint { colour: Colour!, coats: Int, names: [String!], by: ID! = \"me\", sub: Paint, of: Value }
        input Either @oneOf { one: Paint, other: Boolean }";

    fn check(ty: &str, variables: Value, expect: bool) {
        let mut inputs = Inputs::default();
        for definition in parse_schema(SCHEMA).unwrap().definitions {
            let TypeSystemDefinition::Type(definition) = definition else { unreachable!("only types") };
            inputs.add(&definition.node);
        }
        let document = parse_query(format!("query($x: {ty}) {{ a(x: $x) }}")).unwrap();
        let DocumentOperations::Single(operation) = document.operations else { unreachable!("one") };
        let given = Variables::from_json(variables.clone());
        assert_eq!(inputs.surely_fit(&operation.node, &given), expect, "{ty}: {variables}");
    }

    #[test]
    fn only_what_surely_fits_is_let_through() {
        check("Int", json!({ "x": 1 }), true);
        check("Int", json!({ "x": 1u64 << 31 }), false);
        check("Int", json!({ "x": 1.5 }), false);
        check("Int", json!({ "x": "1" }), false);
        check("Int", json!({ "x": null }), false);
        check("Int", json!({}), false);
        check("ID!", json!({ "x": "a" }), true);
        check("[Int!]", json!({ "x": [1, 2] }), true);
        check("[Int!]", json!({ "x": [1, null] }), false);
        check("[Int]", json!({ "x": [1, null] }), true);
        check("[Int]", json!({ "x": 1 }), false);
        check("Value", json!({ "x": 1 }), false);
        check("Colour", json!({ "x": "RED" }), true);
        check("Colour", json!({ "x": "BLUE" }), false);
        check("Paint!", json!({ "x": { "colour": "RED" } }), true);
        check("Paint!", json!({ "x": { "colour": "RED", "coats": null, "names": ["a"] } }), true);
        check("Paint!", json!({ "x": { "colour": "RED", "sub": { "colour": "GREEN" } } }), true);
        check("Paint!", json!({ "x": { "colour": "RED", "sub": {} } }), false);
        check("Paint!", json!({ "x": { "colour": null } }), false);
        check("Paint!", json!({ "x": { "colour": "RED", "more": 1 } }), false);
        check("Paint!", json!({ "x": { "colour": "RED", "of": 1 } }), false);
        check("Paint!", json!({ "x": { "colour": "RED", "by": null } }), false);
        check("Paint!", json!({ "x": [] }), false);
        check("Either", json!({ "x": { "other": true } }), true);
        check("Either", json!({ "x": { "other": null } }), false);
        check("Either", json!({ "x": { "other": true, "one": null } }), false);
        check("Either", json!({ "x": {} }), false);
    }
}
