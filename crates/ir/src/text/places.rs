//! Where the entities of a program stand in the text that it was read from.

use std::collections::HashMap;

use crate::program::Program;
use crate::refs::{RefAllocator, RefKind};
use crate::text::api::parse_items;
use crate::text::error::{TextError, code, locate};
use crate::text::lexer::mark;
use crate::text::lower::{Lowering, Policy};

/// Where the entities of a program stand in a text: so findings about a file can name lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(HashMap<u64, Place>);

/// Where one stands, and whether the text gives its ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: u32,
    column: u32,
    tagged: bool,
}

impl Places {
    /// The line and the column in characters, from 1, of the entity with a number.
    ///
    /// An operator's is that of its name, a definition's that of the name it defines.
    pub fn get(&self, number: u64) -> Option<(u32, u32)> {
        self.0.get(&number).map(|place| (place.line, place.column))
    }

    /// Tells whether the text gives the ref of an entity: then it writes down one that was there before.
    pub fn is_tagged(&self, number: u64) -> bool {
        self.0.get(&number).is_some_and(|place| place.tagged)
    }

    /// Turns byte offsets into lines and columns, in one pass over the text.
    pub(super) fn of(text: &str, offsets: HashMap<u64, u32>, given: &HashMap<u64, RefKind>) -> Places {
        let mut offsets: Vec<(u64, u32)> = offsets.into_iter().collect();
        offsets.sort_unstable_by_key(|(_, at)| *at);
        let mut chars = text.char_indices().peekable();
        chars.next_if(|_| mark(text) > 0);
        let (mut line, mut column) = (1, 1);
        let mut places = HashMap::with_capacity(offsets.len());
        for (number, at) in offsets {
            while let Some((_, passed)) = chars.next_if(|(offset, _)| *offset < at as usize) {
                (line, column) = if passed == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            places.insert(number, Place { line, column, tagged: given.contains_key(&number) });
        }
        Places(places)
    }
}

/// A text as far as it could be read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its program, where nothing is wrong but names in bodies that mean nothing: what uses these has holes there, and
    /// operators that hang on them are left out. Edges that are there join what the text joins.
    pub program: Option<(Program, Places)>,
    /// What is wrong with the text.
    pub mistakes: Vec<TextError>,
}

/// Reads a whole program like [`parse_program`](crate::text::parse_program), with the places of its entities, as far as it
/// can be read. The refs stay as they are unless nothing is wrong.
pub fn read_program(text: &str, refs: &mut RefAllocator) -> Reading {
    let empty = Program::new();
    let (tree, mut mistakes) = parse_items(text);
    let is_written = mistakes.is_empty();
    let mut lowering = Lowering::new(&empty, refs, &tree, Policy::Honour).with_places();
    lowering.modules(None);
    mistakes.append(&mut lowering.mistakes);
    let names_only = mistakes.iter().all(|mistake| mistake.code == code::UNKNOWN_NAME);
    let is_read = mistakes.is_empty() || is_written && names_only && !lowering.tainted_heads;
    let Lowering { program, refs: allocated, places, given, .. } = lowering;
    if mistakes.is_empty() {
        *refs = allocated;
    }
    let program = is_read.then(|| (program, Places::of(text, places.unwrap_or_default(), &given)));
    Reading { program, mistakes: locate(text, mistakes) }
}

/// Reads a whole program like [`parse_program`](crate::text::parse_program), with the places of its entities.
pub fn parse_program_with_places(
    text: &str,
    refs: &mut RefAllocator,
) -> Result<(Program, Places), Vec<TextError>> {
    let Reading { program, mistakes } = read_program(text, refs);
    program.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refs::FuncRef;

    fn is_read(text: &str) -> bool {
        let mut refs = RefAllocator::starting_at(1);
        let reading = read_program(text, &mut refs);
        assert!(!reading.mistakes.is_empty(), "{text}");
        assert_eq!(refs.watermark(), 1, "{text}");
        reading.program.is_some()
    }

    #[test]
    fn a_text_is_read_as_far_as_types_are_known() {
        assert!(is_read("module m\nfunc f (a: i32) -> (i32) {\n  return (add.i32 x, a)\n}\n"));
        assert!(!is_read("module m\nfunc f (a: Gone) -> (i32) {\n  return 1\n}\n"));
        assert!(!is_read("module m\nfunc f (a: i32) -> (i32) {\n  return (plus.i32 x, a)\n}\n"));
        assert!(!is_read("module m\nfunc f (a: i32) -> (i32) {\n  return true\n}\n"));
    }

    #[test]
    fn entities_stand_where_their_names_do() {
        let text = "module m\n; ä\nfunc f (a: i32) -> (i32) {\n  x = add.i32 a, 1\n  return x\n}\n";
        let mut refs = RefAllocator::starting_at(1);
        let (program, places) = parse_program_with_places(text, &mut refs).unwrap();
        let (of, function): (FuncRef, _) = program.functions().next().unwrap();
        assert_eq!(places.get(of.number()), Some((3, 6)));
        let nodes: Vec<_> = function.body().nodes().map(|(node, _)| places.get(node.number())).collect();
        assert_eq!(nodes.iter().flatten().map(|place| place.0).collect::<Vec<_>>(), [4, 4, 5]);
        assert!(nodes.contains(&Some((4, 7))), "{nodes:?}");
    }
}
