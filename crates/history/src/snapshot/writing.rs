//! Writing a snapshot: the objects that an earlier one does not have.

use std::sync::Arc;

use lmlang_ir::hash::Content;
use lmlang_ir::order::Chunk;
use lmlang_ir::trie::{Part, Trie};
use lmlang_ir::{Function, Node, NodeRef, Program};

use super::entities::{
    write_contract, write_function, write_head, write_module, write_node, write_region, write_storage,
    write_type, write_variable,
};
use super::object::{Kind, Object, ObjectKey, Piece, inner, leaf};
use super::{State, VERSION, WHOLE};
use crate::provenance::Touched;

pub(super) const MAGIC: &[u8; 3] = b"lms";

/// A snapshot to be kept.
#[derive(Clone, Debug)]
pub struct Written {
    /// Names the objects, and holds what is small.
    pub root: Vec<u8>,
    /// The objects that the earlier snapshot does not have.
    pub objects: Vec<Object>,
}

/// Writes a state. Costs what it does not share with the earlier one.
pub fn write(state: &State, earlier: Option<&State>) -> Written {
    let mut objects = Vec::new();
    let no_program = Program::new();
    let no_provenance = Trie::new();
    let (program, before) =
        (state.program.maps(), earlier.map_or(&no_program, |earlier| &earlier.program).maps());
    let mut piece = Piece::new();
    piece.name(collect(&mut objects, Kind::Modules, program.modules, before.modules, |_, piece, _, it| {
        write_module(&mut piece.content, it);
    }));
    piece.name(collect(&mut objects, Kind::Types, program.types, before.types, |_, piece, _, it| {
        write_type(&mut piece.content, it);
    }));
    piece.name(collect(&mut objects, Kind::Storage, program.storage, before.storage, |_, piece, _, it| {
        write_storage(&mut piece.content, it);
    }));
    piece.name(collect(
        &mut objects,
        Kind::Functions,
        program.functions,
        before.functions,
        |objects, piece, number, it| write_entry(objects, piece, it, before.functions.get(number)),
    ));
    piece.name(collect(
        &mut objects,
        Kind::Provenance,
        state.provenance.map(),
        earlier.map_or(&no_provenance, |earlier| earlier.provenance.map()),
        |_, piece, _, Touched { created, modified }| {
            piece.content.number(*created);
            piece.content.number(modified.wrapping_sub(*created));
        },
    ));
    piece.content.number(state.next_ref);
    let (states, undone) = state.line.stacks();
    piece.content.ascending(states);
    piece.content.ascending(undone.rev().map(|state| state..=state));
    if let Some(marks) = &state.marks {
        piece.content.ascending(marks.iter().map(|mark| *mark..=*mark));
    }
    let [a, b, c] = *MAGIC;
    let header = [&[a, b, c, VERSION], state.program.root_hash().0.as_slice()].concat();
    Written { root: piece.finish(&header), objects }
}

/// Collects the parts of a map that an earlier one does not have, and answers the name of the whole.
fn collect<T: Content>(
    objects: &mut Vec<Object>,
    kind: Kind,
    map: &Trie<T>,
    earlier: &Trie<T>,
    mut write: impl FnMut(&mut Vec<Object>, &mut Piece, u64, &T),
) -> Option<ObjectKey> {
    map.parts_since(earlier, &mut |hash, part| {
        let object = match part {
            Part::Inner(below) => inner(kind, hash, &below),
            Part::Entries(entries) => {
                let entries: Vec<(u64, &T)> = entries.collect();
                let mut piece = Piece::new();
                piece.content.number(entries.len() as u64);
                for (number, entry) in entries {
                    piece.content.reference(number);
                    write(objects, &mut piece, number, entry);
                }
                leaf(kind, hash, piece)
            }
        };
        objects.push(object);
    });
    (!map.is_empty()).then(|| kind.key(map.hash()))
}

fn is_whole(function: &Function) -> bool {
    function.body().counts().nodes <= WHOLE
}

/// Writes a function in one piece, or its head and the names of its parts.
fn write_entry(
    objects: &mut Vec<Object>,
    piece: &mut Piece,
    function: &Function,
    earlier: Option<&Arc<Function>>,
) {
    piece.content.number(u64::from(!is_whole(function)));
    if is_whole(function) {
        return write_function(&mut piece.content, function);
    }
    write_head(&mut piece.content, function.head());
    // One that was kept in one piece has no parts.
    let nothing = Function::new(function.head().clone());
    let earlier = earlier.map_or(&nothing, |earlier| if is_whole(earlier) { &nothing } else { earlier });
    let (body, before) = (function.body().maps(), earlier.body().maps());
    piece.name(collect(objects, Kind::Nodes, body.nodes, before.nodes, |_, piece, number, node: &Node| {
        // Keys of this map are refs of nodes.
        if let Some(of) = NodeRef::new(number) {
            write_node(&mut piece.content, of, node);
        }
    }));
    piece.name(collect(objects, Kind::Regions, body.regions, before.regions, |_, piece, _, it| {
        write_region(&mut piece.content, it);
    }));
    piece.name(collect(objects, Kind::Variables, body.variables, before.variables, |_, piece, _, it| {
        write_variable(&mut piece.content, it);
    }));
    piece.name(collect(objects, Kind::Contracts, body.contracts, before.contracts, |_, piece, _, it| {
        write_contract(&mut piece.content, it);
    }));
    let none = Trie::new();
    let levels = body.order.levels();
    piece.content.number(levels.len() as u64);
    for (level, chunks) in levels.iter().enumerate() {
        let before = before.order.levels().get(level).unwrap_or(&none);
        piece.name(collect(objects, Kind::Order, chunks, before, |_, piece, _, chunk: &Chunk| {
            // The first element is the key.
            let following = chunk.elements().get(1..).unwrap_or_default();
            piece.content.list(following, |w, element| w.reference(*element));
        }));
    }
}
