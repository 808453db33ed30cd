//! Labels from the name section, and names that are each given once.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::vec::IntoIter;

use foldhash::fast::RandomState;
use lmlang_ir::Name;
use lmlang_ir::refs::looks_like_ref;
use wasmparser::{IndirectNameMap, NameMap, NameSectionReader};

/// Bytes of a label at most: what is longer names nothing for anybody, and would stand in each answer.
const LONGEST: usize = 4_096;

/// Whether a name that a module gives is short enough for a label.
pub(super) fn is_short(name: &str) -> bool {
    name.len() <= LONGEST
}

fn is_label(name: &str) -> bool {
    !name.is_empty() && is_short(name)
}

/// What the name section says.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) module: Option<Name>,
    pub(super) functions: Indexed<Name>,
    pub(super) locals: Indexed<Indexed<Name>>,
    pub(super) labels: Indexed<Indexed<Name>>,
    pub(super) globals: Indexed<Name>,
    pub(super) tables: Indexed<Name>,
    pub(super) memories: Indexed<Name>,
    pub(super) elements: Indexed<Name>,
    pub(super) data: Indexed<Name>,
}

/// What a name section says of some indices, which ascend in it and here.
#[derive(Debug, Default)]
pub(super) struct Indexed<T>(Vec<(u32, T)>);

impl<T> FromIterator<(u32, T)> for Indexed<T> {
    fn from_iter<I: IntoIterator<Item = (u32, T)>>(found: I) -> Indexed<T> {
        let mut found: Vec<(u32, T)> = found.into_iter().collect();
        if !found.is_sorted_by(|(index, _), (next, _)| index < next) {
            // It is damaged: what it says last of an index counts.
            found.reverse();
            found.sort_by_key(|(index, _)| *index);
            found.dedup_by_key(|(index, _)| *index);
        }
        Indexed(found)
    }
}

impl<T> Indexed<T> {
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        Some(&self.0[self.position(index)?].1)
    }

    /// What is said of an index, which nobody asks for again.
    pub(super) fn take(&mut self, index: u32) -> T
    where
        T: Default,
    {
        self.position(index).map(|at| std::mem::take(&mut self.0[at].1)).unwrap_or_default()
    }

    fn position(&self, index: u32) -> Option<usize> {
        self.0.binary_search_by_key(&index, |(index, _)| *index).ok()
    }
}

impl Names {
    /// Reads as much as is well-formed: a damaged name section does not make a module invalid.
    pub(super) fn read(section: NameSectionReader<'_>) -> Names {
        let mut names = Names::default();
        for part in section {
            use wasmparser::Name;
            match part {
                Ok(Name::Module { name, .. }) if is_label(name) => names.module = Some(of_module(name)),
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

fn read_map(of: NameMap<'_>) -> Indexed<Name> {
    let found = of.into_iter().map_while(Result::ok).filter(|naming| is_label(naming.name));
    found.map(|naming| (naming.index, naming.name.into())).collect()
}

fn read_maps(of: IndirectNameMap<'_>) -> Indexed<Indexed<Name>> {
    let found = of.into_iter().map_while(Result::ok);
    found.map(|naming| (naming.index, read_map(naming.names))).collect()
}

/// The labels of a function's blocks, in the order in which these begin.
#[derive(Debug)]
pub(super) struct Labels {
    names: Peekable<IntoIter<(u32, Name)>>,
    begun: u32,
}

impl Labels {
    pub(super) fn new(names: Indexed<Name>) -> Labels {
        Labels { names: names.0.into_iter().peekable(), begun: 0 }
    }

    /// A block begins: its label. Others around may have the same.
    pub(super) fn next(&mut self) -> Option<Name> {
        let block = self.begun;
        self.begun += 1;
        // The indices ascend, as the blocks do.
        let label = self.names.next_if(|(index, _)| *index == block);
        label.map(|(_, label)| unlike_refs(label))
    }
}

/// The name, with something behind it if it looks like a ref.
pub(super) fn unlike_refs(name: Name) -> Name {
    if looks_like_ref(&name) { format!("{name}_").into() } else { name }
}

/// What a module is called that a name section calls so: its name has nothing in it that stands between those of a path.
fn of_module(name: &str) -> Name {
    unlike_refs(name.replace("::", "_").into())
}

/// Names of one scope. Whoever comes later with a name that is taken gets a number behind it.
#[derive(Debug, Default)]
pub(super) struct Unique {
    taken: HashSet<Name, RandomState>,
    next: HashMap<Name, u32, RandomState>,
}

impl Unique {
    /// With room for so many names.
    pub(super) fn with_room(number: usize) -> Unique {
        let taken = HashSet::with_capacity_and_hasher(number, RandomState::default());
        Unique { taken, next: HashMap::default() }
    }

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

#[cfg(test)]
mod tests {
    use super::Indexed;

    #[test]
    fn what_is_said_last_of_an_index_counts() {
        let check = |said: &[(u32, char)], expect: [Option<char>; 4]| {
            let indexed: Indexed<char> = said.iter().copied().collect();
            assert_eq!([0, 1, 2, 3].map(|index| indexed.get(index).copied()), expect);
        };
        check(&[], [None; 4]);
        check(&[(0, 'a'), (2, 'b')], [Some('a'), None, Some('b'), None]);
        check(&[(2, 'b'), (0, 'a'), (2, 'c'), (1, 'd')], [Some('a'), Some('d'), Some('c'), None]);
    }
}
