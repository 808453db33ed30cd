//! Names and types of the program that a query becomes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lmlang_ir::text::is_bare;

use crate::types::{Field, Ty};

/// Names that are in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
}

impl Names {
    pub(super) fn with(used: &[&str]) -> Names {
        Names { used: used.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// A name of its own that is like the one wanted.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let mut name: String = wanted
            .chars()
            .take(40)
            .map(|char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '_' })
            .collect();
        if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
            name.insert(0, '_');
        }
        if !is_bare(&name) {
            name.push('_');
        }
        let mut number = 1;
        let mut tried = name.clone();
        while !is_bare(&tried) || !self.used.insert(tried.clone()) {
            number += 1;
            tried = format!("{name}_{number}");
        }
        tried
    }
}

/// A struct of the program.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    /// The names of its fields.
    pub(super) fields: Vec<String>,
}

/// Names of structs that each program has, or may have.
const RESERVED: [&str; 5] = ["Row", "Output", "Memory", "Key", "State"];

/// The structs of the program, as text and by what they are.
#[derive(Debug)]
pub(super) struct Types {
    names: Names,
    text: String,
    nested: BTreeMap<Arc<[Field]>, Record>,
}

impl Types {
    pub(super) fn new() -> Types {
        Types { names: Names::with(&RESERVED), text: String::new(), nested: BTreeMap::new() }
    }

    /// The text of all.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Makes a struct of fields that have their types as text. The name is a reserved one, or was taken.
    pub(super) fn record(&mut self, doc: &str, name: &str, fields: &[(&str, String)]) -> Record {
        let mut names = Names::default();
        let fields: Vec<(String, &String)> = fields.iter().map(|(name, ty)| (names.take(name), ty)).collect();
        let text: Vec<String> = fields.iter().map(|(name, ty)| format!("  {name}: {ty}")).collect();
        let fields_text = text.join(",\n");
        self.text.push_str(&format!("; {doc}\ntype {name} = struct {{\n{fields_text}\n}}\n\n"));
        Record { name: name.to_owned(), fields: fields.into_iter().map(|(name, _)| name).collect() }
    }

    /// Makes a struct of values that may be NULL.
    pub(super) fn nullable(&mut self, doc: &str, name: &str, fields: &[Field]) -> Record {
        let types: Vec<String> = fields.iter().map(|field| self.option(&field.ty, &field.name)).collect();
        let fields: Vec<(&str, String)> = fields.iter().map(|field| field.name.as_str()).zip(types).collect();
        self.record(doc, name, &fields)
    }

    /// The struct of a struct type; `hint` is what it may be called.
    pub(super) fn nested(&mut self, fields: &Arc<[Field]>, hint: &str) -> Record {
        if let Some(record) = self.nested.get(fields) {
            return record.clone();
        }
        let mut wanted: String = hint.chars().take(1).flat_map(char::to_uppercase).collect();
        wanted.extend(hint.chars().skip(1));
        let name = self.names.take(&wanted);
        let record = self.nullable("A struct of the stream.", &name, fields);
        self.nested.insert(Arc::clone(fields), record.clone());
        record
    }

    /// A type as text.
    pub(super) fn plain(&mut self, ty: &Ty, hint: &str) -> String {
        match ty {
            Ty::Null | Ty::Int | Ty::Time => "i64".to_owned(),
            Ty::Float => "f64".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Text => "string".to_owned(),
            Ty::Struct(fields) => self.nested(fields, hint).name,
            Ty::Array(element) => format!("array<{}>", self.option(element, hint)),
        }
    }

    /// The type of a value that may be NULL, as text.
    pub(super) fn option(&mut self, ty: &Ty, hint: &str) -> String {
        format!("option<{}>", self.plain(ty, hint))
    }

    /// A value of a type, as an operand; which one makes no difference.
    pub(super) fn zero(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Null | Ty::Int | Ty::Time => "0".to_owned(),
            Ty::Float => "0.0".to_owned(),
            Ty::Bool => "false".to_owned(),
            Ty::Text => "\"\"".to_owned(),
            Ty::Struct(fields) => {
                let record = self.nested(fields, "Struct");
                let nothing: Vec<String> = fields
                    .iter()
                    .map(|field| format!("(enum.new {}.none)", self.option(&field.ty, &field.name)))
                    .collect();
                format!("(struct.new {} {})", record.name, nothing.join(", "))
            }
            Ty::Array(element) => format!("(array.new<{}>)", self.option(element, "Element")),
        }
    }
}
