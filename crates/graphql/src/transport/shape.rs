//! What the checks need to know of the schema, read once from its own text.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, OperationType, ServiceDocument, Type, TypeKind,
    TypeSystemDefinition,
};
use async_graphql::parser::{self, Positioned};
use async_graphql::{Name, Value};

use super::values::{Argument, Inputs};

/// Page size assumed for a `first` without a default.
const DEFAULT_PAGE: u64 = 50;
/// Length assumed for a list without `first`.
const LIST_ESTIMATE: u64 = 10;

/// The schema's types, as far as cost and error data need them.
#[derive(Debug, Default)]
pub(super) struct Shape {
    query: Option<Name>,
    mutation: Option<Name>,
    subscription: Option<Name>,
    fields: HashMap<Name, HashMap<Name, Field>>,
    known: HashMap<Name, Vec<String>>,
    kinds: HashMap<Name, Kind>,
    directives: HashMap<Name, HashMap<Name, Argument>>,
    /// What is in no schema's own text: the types of introspection, and the fields of [`ROOT`].
    built_in: HashMap<Name, HashMap<Name, Field>>,
    /// The types of inputs.
    pub(super) inputs: Inputs,
}

/// What sort of type one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Leaf,
    Input,
    Object,
    Abstract,
}

/// One output field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) ty: Type,
    /// The named type at the bottom of the field's type.
    pub(super) of: Name,
    /// By how much the field multiplies what is below it.
    pub(super) factor: Factor,
    pub(super) arguments: HashMap<Name, Argument>,
}

/// How often what is below a field can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// As often as is known from the schema.
    Times(u64),
    /// As often as the argument `first` says, or this often without it.
    First(u64),
    /// As often as the argument `maxNodes` says, by itself or in an input object, or this often without it.
    MaxNodes(u64),
}

/// What a server has of itself; the library leaves it out of the schema's text.
const BUILT_IN: &str = include_str!("introspection.graphql");
/// The type in [`BUILT_IN`] whose fields can be selected beside those of a root.
const ROOT: &str = "__Root";

/// The argument that says how much of a graph is answered.
pub(super) const MAX_NODES: &str = "maxNodes";

impl Shape {
    /// Reads the shape from a schema's SDL.
    ///
    /// # Panics
    /// If the GraphQL library cannot parse what it printed itself.
    pub(super) fn read(sdl: &str) -> Shape {
        let mut shape = Shape::default();
        shape.take_in(BUILT_IN);
        shape.built_in = std::mem::take(&mut shape.fields);
        shape.take_in(sdl);
        shape
    }

    fn take_in(&mut self, sdl: &str) {
        let document = parser::parse_schema(sdl).expect("a schema's own text parses");
        let graphs = Graphs::read(&document);
        for definition in document.definitions {
            match definition {
                TypeSystemDefinition::Schema(schema) => {
                    self.query = schema.node.query.map(|name| name.node);
                    self.mutation = schema.node.mutation.map(|name| name.node);
                    self.subscription = schema.node.subscription.map(|name| name.node);
                }
                TypeSystemDefinition::Type(definition) => {
                    self.inputs.add(&definition.node);
                    self.add(definition.node.name.node, definition.node.kind, &graphs);
                }
                TypeSystemDefinition::Directive(directive) => {
                    let directive = directive.node;
                    let arguments = directive.arguments.iter().map(|one| &one.node);
                    let arguments = arguments.map(|one| (one.name.node.clone(), Argument::of(one))).collect();
                    self.directives.insert(directive.name.node, arguments);
                }
            }
        }
    }

    fn add(&mut self, name: Name, kind: TypeKind, graphs: &Graphs) {
        let sort = match &kind {
            TypeKind::Scalar | TypeKind::Enum(_) => Kind::Leaf,
            TypeKind::InputObject(_) => Kind::Input,
            TypeKind::Object(_) => Kind::Object,
            TypeKind::Interface(_) | TypeKind::Union(_) => Kind::Abstract,
        };
        self.kinds.insert(name.clone(), sort);
        match kind {
            TypeKind::Object(object) => self.add_fields(name, object.fields, graphs),
            TypeKind::Interface(interface) => self.add_fields(name, interface.fields, graphs),
            TypeKind::Enum(values) => {
                let values = values.values.iter().map(|value| value.node.value.node.to_string());
                self.known.insert(name, values.collect());
            }
            TypeKind::InputObject(input) => {
                let fields = input.fields.iter().map(|field| field.node.name.node.to_string());
                self.known.insert(name, fields.collect());
            }
            TypeKind::Scalar | TypeKind::Union(_) => {}
        }
    }

    fn add_fields(&mut self, owner: Name, fields: Vec<Positioned<FieldDefinition>>, graphs: &Graphs) {
        let counted = owner.ends_with("Connection") || graphs.answers.contains(&owner);
        let fields = fields.into_iter().map(|field| {
            let factor = factor(&field.node, counted, graphs);
            let of = bottom(&field.node.ty.node).clone();
            let arguments = field.node.arguments.iter().map(|one| &one.node);
            let arguments = arguments.map(|one| (one.name.node.clone(), Argument::of(one))).collect();
            let Positioned { node: field, .. } = field;
            (field.name.node, Field { ty: field.ty.node, of, factor, arguments })
        });
        let fields = fields.collect();
        self.fields.insert(owner, fields);
    }

    /// Returns the type whose fields an operation selects.
    pub(super) fn root(&self, operation: OperationType) -> Option<&Name> {
        match operation {
            OperationType::Query => self.query.as_ref(),
            OperationType::Mutation => self.mutation.as_ref(),
            OperationType::Subscription => self.subscription.as_ref(),
        }
    }

    /// Finds a field; none for introspection, and for what validation will refuse.
    pub(super) fn field(&self, owner: &Name, field: &Name) -> Option<&Field> {
        self.fields.get(owner)?.get(field)
    }

    /// Finds a field, one of introspection too; none for what validation will refuse.
    pub(super) fn any_field(&self, owner: &Name, field: &Name) -> Option<&Field> {
        if let Some(found) = self.field(owner, field) {
            return Some(found);
        }
        if let Some(found) = self.built_in.get(owner).and_then(|fields| fields.get(field)) {
            return Some(found);
        }
        let everywhere = field == "__typename";
        let found = || self.built_in.get(ROOT)?.get(field);
        found().filter(|_| everywhere || self.query.as_ref() == Some(owner))
    }

    /// The arguments of a directive that a request may have.
    pub(super) fn directive(&self, name: &Name) -> Option<&HashMap<Name, Argument>> {
        self.directives.get(name)
    }

    /// Whether values of a type can be given; none for a type that there is not.
    pub(super) fn is_input(&self, name: &Name) -> Option<bool> {
        self.kinds.get(name).map(|kind| matches!(kind, Kind::Leaf | Kind::Input))
    }

    /// Whether a type is that of objects, not of several.
    pub(super) fn is_object(&self, name: &Name) -> bool {
        self.kinds.get(name) == Some(&Kind::Object)
    }

    /// Whether something is selected of a type's values.
    pub(super) fn has_fields(&self, name: &Name) -> bool {
        matches!(self.kinds.get(name), Some(Kind::Object | Kind::Abstract))
    }

    /// Lists the values of an enum, or the fields of an input object.
    pub(super) fn known(&self, type_name: &str) -> Option<&[String]> {
        self.known.get(type_name).map(Vec::as_slice)
    }
}

/// Says whether a field of introspection lists types, fields or input fields, from which others of these can be selected.
pub(super) fn is_list_of_the_schema(field: &str) -> bool {
    matches!(field, "fields" | "interfaces" | "possibleTypes" | "inputFields")
}

/// By how much a field of introspection multiplies what is below it: it is not in the schema's own text.
pub(super) fn introspection_times(field: &str) -> u64 {
    let list =
        is_list_of_the_schema(field) || matches!(field, "types" | "directives" | "args" | "enumValues");
    if list { LIST_ESTIMATE } else { 1 }
}

/// Returns the named type under lists and non-null.
fn bottom(ty: &Type) -> &Name {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(of) => bottom(of),
    }
}

/// Reads the factor of a field; the lists of a connection, or of part of a graph, are as long as its field's argument
/// said already.
fn factor(field: &FieldDefinition, counted: bool, graphs: &Graphs) -> Factor {
    let first = field.arguments.iter().find(|argument| argument.node.name.node == "first");
    match (first, graphs.most(field), &field.ty.node.base) {
        (Some(first), _, _) => Factor::First(default(&first.node)),
        (None, Some(most), _) => Factor::MaxNodes(most),
        (None, None, BaseType::List(_)) if !counted => Factor::Times(LIST_ESTIMATE),
        (None, None, BaseType::List(_) | BaseType::Named(_)) => Factor::Times(1),
    }
}

/// The number that stands for an argument which is not given.
fn default(argument: &InputValueDefinition) -> u64 {
    match argument.default_value.as_ref().map(|value| &value.node) {
        Some(Value::Number(number)) => number.as_u64().unwrap_or(DEFAULT_PAGE),
        _ => DEFAULT_PAGE,
    }
}

/// Fields that answer part of a graph, as large as `maxNodes` says.
#[derive(Debug, Default)]
struct Graphs {
    /// The input objects that have `maxNodes`, with its default.
    inputs: HashMap<Name, u64>,
    /// What such fields answer.
    answers: HashSet<Name>,
}

impl Graphs {
    fn read(document: &ServiceDocument) -> Graphs {
        let types = || {
            document.definitions.iter().filter_map(|definition| match definition {
                TypeSystemDefinition::Type(definition) => Some(&definition.node),
                TypeSystemDefinition::Schema(_) | TypeSystemDefinition::Directive(_) => None,
            })
        };
        let mut graphs = Graphs::default();
        for definition in types() {
            if let TypeKind::InputObject(input) = &definition.kind
                && let Some(most) = input.fields.iter().find(|field| field.node.name.node == MAX_NODES)
            {
                graphs.inputs.insert(definition.name.node.clone(), default(&most.node));
            }
        }
        for definition in types() {
            if let TypeKind::Object(object) = &definition.kind {
                let fields = object.fields.iter().filter(|field| graphs.most(&field.node).is_some());
                let answers: Vec<Name> = fields.map(|field| bottom(&field.node.ty.node).clone()).collect();
                graphs.answers.extend(answers);
            }
        }
        graphs
    }

    /// How much a field answers without being told, if it can be told.
    fn most(&self, field: &FieldDefinition) -> Option<u64> {
        let mut arguments = field.arguments.iter().map(|argument| &argument.node);
        arguments.find_map(|argument| match argument.name.node == MAX_NODES {
            true => Some(default(argument)),
            false => self.inputs.get(bottom(&argument.ty.node)).copied(),
        })
    }
}
