//! Labels from the name section, and names that are each given once.

use std::collections::{BTreeMap, HashMap, HashSet};

use lmlang_ir::Name;
use lmlang_ir::refs::looks_like_ref;
use wasmparser::{NameMap, NameSectionReader};

/// What the name section says.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) module: Option<Name>,
    pub(super) functions: BTreeMap<u32, Name>,
    pub(super) locals: HashMap<u32, BTreeMap<u32, Name>>,
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
                Ok(Name::Local(of)) => {
                    for naming in of.into_iter().map_while(Result::ok) {
                        names.locals.insert(naming.index, read_map(naming.names));
                    }
                }
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

/// Names of one scope. Whoever comes later with a name that is taken gets a number behind it.
#[derive(Debug, Default)]
pub(super) struct Unique {
    taken: HashSet<Name>,
    next: HashMap<Name, u32>,
}

impl Unique {
    pub(super) fn name(&mut self, wanted: Name) -> Name {
        let wanted = if looks_like_ref(&wanted) { format!("{wanted}_").into() } else { wanted };
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
