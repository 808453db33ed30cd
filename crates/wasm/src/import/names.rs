//! Labels from the name section, and names that are each given once.

use std::collections::{BTreeMap, HashMap, HashSet};

use lmlang_ir::Name;
use lmlang_ir::refs::looks_like_ref;
use wasmparser::{IndirectNameMap, NameMap, NameSectionReader};

/// What the name section says.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) module: Option<Name>,
    pub(super) functions: BTreeMap<u32, Name>,
    pub(super) locals: HashMap<u32, BTreeMap<u32, Name>>,
    pub(super) labels: HashMap<u32, BTreeMap<u32, Name>>,
    pub(super) globals: BTreeMap<u32, Name>,
    pub(super) tables: BTreeMap<u32, Name>,
    pub(super) memories: BTreeMap<u32, Name>,
    pub(super) elements: BTreeMap<u32, Name>,
    pub(super) data: BTreeMap<u32, Name>,
}

impl Names {
    /// Reads as much as is well-formed: a damaged name section does not make a module invalid.
    pub(super) fn read(section: NameSectionReader<'_>) -> Names {
        let mut names = Names::default();
        for part in section {
            use wasmparser::Name;
            match part {
                Ok(Name::Module { name, .. }) if !name.is_empty() => names.module = Some(name.into()),
                Ok(Name::Function(of)) => names.functions = read_map(of),
                Ok(Name::Local(of)) => names.locals = read_maps(of),
                Ok(Name::Label(of)) => names.labels = read_maps(of),
                Ok(Name::Global(of)) => names.globals = read_map(of),
                Ok(Name::Table(of)) => names.tables = read_map(of),
                Ok(Name::Memory(of)) => names.memories = read_map(of),
                Ok(Name::Element(of)) => names.elements = read_map(of),
                Ok(Name::Data(of)) => names.data = read_map(of),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        names
    }
}

fn read_map(of: NameMap<'_>) -> BTreeMap<u32, Name> {
    let found = of.into_iter().map_while(Result::ok).filter(|naming| !naming.name.is_empty());
    found.map(|naming| (naming.index, naming.name.into())).collect()
}

fn read_maps(of: IndirectNameMap<'_>) -> HashMap<u32, BTreeMap<u32, Name>> {
    let found = of.into_iter().map_while(Result::ok);
    found.map(|naming| (naming.index, read_map(naming.names))).collect()
}

/// The labels of a function's blocks, in the order in which these begin.
#[derive(Debug, Default)]
pub(super) struct Labels<'m> {
    names: Option<&'m BTreeMap<u32, Name>>,
    begun: u32,
}

impl<'m> Labels<'m> {
    pub(super) fn new(names: Option<&'m BTreeMap<u32, Name>>) -> Labels<'m> {
        Labels { names, begun: 0 }
    }

    /// A block begins: its label. Others around may have the same.
    pub(super) fn next(&mut self) -> Option<Name> {
        let label = self.names.and_then(|names| names.get(&self.begun));
        self.begun += 1;
        label.map(|label| unlike_refs(label.clone()))
    }
}

/// The name, with something behind it if it looks like a ref.
fn unlike_refs(name: Name) -> Name {
    if looks_like_ref(&name) { format!("{name}_").into() } else { name }
}

/// Names of one scope. Whoever comes later with a name that is taken gets a number behind it.
#[derive(Debug, Default)]
pub(super) struct Unique {
    taken: HashSet<Name>,
    next: HashMap<Name, u32>,
}

impl Unique {
    pub(super) fn name(&mut self, wanted: Name) -> Name {
        let wanted = unlike_refs(wanted);
        if self.taken.insert(Name::clone(&wanted)) {
            return wanted;
        }
        let next = self.next.entry(Name::clone(&wanted)).or_insert(1);
        loop {
            *next += 1;
            let name = Name::from(format!("{wanted}_{next}"));
            if self.taken.insert(Name::clone(&name)) {
                return name;
            }
        }
    }
}
