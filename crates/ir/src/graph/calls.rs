//! Who mentions whom, as a graph for `petgraph` that copies nothing.
//!
//! Its nodes are functions, types and storage. A function mentions what it calls, refers to and makes closures of: any
//! of these may make it run. A table mentions its entries and the segments that are put into it at the start, so that what is
//! called through one is reached too.

use std::collections::{HashMap, HashSet};

use petgraph::Direction as Way;
use petgraph::visit::{
    GraphBase, GraphRef, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, Visitable,
};

use crate::program::Program;
use crate::refs::{FuncRef, Ref, RefKind, VarRef};
use crate::storage::StorageKind;

/// The graph of mentions over a program, or over its functions only.
#[derive(Clone, Copy, Debug)]
pub struct Mentions<'a> {
    program: &'a Program,
    kept: Kept,
}

/// Which mentions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    All,
    /// Not those of a type of what states its invariants.
    WithoutInvariants,
    Functions,
}

impl<'a> Mentions<'a> {
    /// Functions, types and storage.
    pub fn all(program: &'a Program) -> Mentions<'a> {
        Mentions { program, kept: Kept::All }
    }

    /// The same where invariants of types are not checked: what states them is reached by calls alone.
    pub fn without_invariants(program: &'a Program) -> Mentions<'a> {
        Mentions { program, kept: Kept::WithoutInvariants }
    }

    /// Functions only: the call graph, with references and closures counted as calls.
    pub fn of_functions(program: &'a Program) -> Mentions<'a> {
        Mentions { program, kept: Kept::Functions }
    }
}

/// Neighbours in order of their refs.
#[expect(missing_debug_implementations, reason = "holds an iterator that has no printed form")]
pub struct Neighbours<'a>(Box<dyn Iterator<Item = Ref> + 'a>);

impl Iterator for Neighbours<'_> {
    type Item = Ref;

    fn next(&mut self) -> Option<Ref> {
        self.0.next()
    }
}

/// The other ends of an edge that runs against what is named: a table has the segments that name it.
fn put_into(program: &Program, of: Ref, way: Way) -> Option<Box<dyn Iterator<Item = Ref> + '_>> {
    let kind = &program.storage(VarRef::try_from(of).ok()?)?.kind;
    match (kind, way) {
        (StorageKind::Table { .. }, Way::Outgoing) => {
            let is_segment = |of: &Ref| {
                let of = VarRef::try_from(*of).ok().and_then(|of| program.storage(of));
                of.is_some_and(|of| matches!(of.kind, StorageKind::Elements { .. }))
            };
            Some(Box::new(program.users_of(of).map(|(user, _)| user).filter(is_segment)))
        }
        (StorageKind::Elements { target: Some((table, _)), .. }, Way::Incoming) => {
            Some(Box::new(std::iter::once((*table).into())))
        }
        (_, _) => None,
    }
}

impl GraphBase for Mentions<'_> {
    type NodeId = Ref;
    type EdgeId = (Ref, Ref);
}

impl GraphRef for Mentions<'_> {}

impl<'a> IntoNeighbors for Mentions<'a> {
    type Neighbors = Neighbours<'a>;

    fn neighbors(self, of: Ref) -> Neighbours<'a> {
        self.neighbors_directed(of, Way::Outgoing)
    }
}

impl<'a> IntoNeighborsDirected for Mentions<'a> {
    type NeighborsDirected = Neighbours<'a>;

    fn neighbors_directed(self, of: Ref, way: Way) -> Neighbours<'a> {
        let states = move |user: RefKind, used: RefKind| user == RefKind::Type && used == RefKind::Function;
        let kept = move |other: &Ref| match self.kept {
            Kept::All => true,
            Kept::WithoutInvariants if way == Way::Outgoing => !states(of.kind, other.kind),
            Kept::WithoutInvariants => !states(other.kind, of.kind),
            Kept::Functions => other.kind == RefKind::Function,
        };
        let put = put_into(self.program, of, way).into_iter().flatten();
        match way {
            Way::Outgoing => Neighbours(Box::new(self.program.uses_of(of).chain(put).filter(kept))),
            Way::Incoming => {
                let users = self.program.users_of(of).map(|(user, _)| user);
                Neighbours(Box::new(users.chain(put).filter(kept)))
            }
        }
    }
}

impl<'a> IntoNodeIdentifiers for Mentions<'a> {
    type NodeIdentifiers = Neighbours<'a>;

    fn node_identifiers(self) -> Neighbours<'a> {
        let program = self.program;
        let functions = program.functions().map(|(of, _)| Ref::from(of));
        match self.kept {
            Kept::Functions => Neighbours(Box::new(functions)),
            Kept::All | Kept::WithoutInvariants => {
                let types = program.types().map(|(of, _)| of.into());
                let storage = program.all_storage().map(|(of, _)| of.into());
                Neighbours(Box::new(types.chain(storage).chain(functions)))
            }
        }
    }
}

impl Visitable for Mentions<'_> {
    type Map = HashSet<Ref>;

    fn visit_map(&self) -> HashSet<Ref> {
        HashSet::new()
    }

    fn reset_map(&self, map: &mut HashSet<Ref>) {
        map.clear();
    }
}

/// The functions that others reach by mentions, themselves included, the nearest first, or that reach them.
pub fn reachable(program: &Program, from: impl IntoIterator<Item = FuncRef>, way: Way) -> Vec<FuncRef> {
    let graph = Mentions::of_functions(program);
    let mut found: Vec<Ref> = Vec::new();
    let mut seen = HashSet::new();
    found.extend(from.into_iter().map(Ref::from).filter(|of| program.ref_of(of.number) == Some(*of)));
    found.retain(|of| seen.insert(*of));
    let mut at = 0;
    while let Some(of) = found.get(at).copied() {
        found.extend(graph.neighbors_directed(of, way).filter(|next| seen.insert(*next)));
        at += 1;
    }
    found.into_iter().filter_map(|of| FuncRef::try_from(of).ok()).collect()
}

/// The functions that reach some entities by what they mention, themselves included: those whose closure hash may change
/// with these.
pub fn reaching(program: &Program, of: impl IntoIterator<Item = Ref>) -> HashSet<FuncRef> {
    let graph = Mentions::all(program);
    let mut open: Vec<Ref> = of.into_iter().filter(|of| program.ref_of(of.number) == Some(*of)).collect();
    let mut seen: HashSet<Ref> = open.iter().copied().collect();
    while let Some(of) = open.pop() {
        open.extend(graph.neighbors_directed(of, Way::Incoming).filter(|next| seen.insert(*next)));
    }
    seen.into_iter().filter_map(|of| FuncRef::try_from(of).ok()).collect()
}

/// The strongly connected components of the functions: sets that may call each other without an end, callees before
/// callers, each sorted by ref.
pub fn components(program: &Program) -> Vec<Vec<FuncRef>> {
    let graph = Mentions::of_functions(program);
    let found = components_from(graph, graph.node_identifiers());
    let functions = |part: Vec<Ref>| part.into_iter().filter_map(|of| FuncRef::try_from(of).ok()).collect();
    found.into_iter().map(functions).collect()
}

/// The strongly connected components that can be reached from some entities, dependencies first, each sorted by ref.
///
/// Tarjan's algorithm (1972) with a stack of its own: call chains are as long as a program makes them. Not
/// `petgraph`'s, which recurses, or walks edges backwards to users that were never asked for.
pub fn components_from(graph: Mentions<'_>, roots: impl IntoIterator<Item = Ref>) -> Vec<Vec<Ref>> {
    struct Frame<'a> {
        of: Ref,
        low: usize,
        rest: Neighbours<'a>,
    }
    // Position in order of discovery; `None` once the component is known.
    let mut found: HashMap<Ref, Option<usize>> = HashMap::new();
    let (mut open, mut done, mut frames): (Vec<Ref>, Vec<Vec<Ref>>, Vec<Frame<'_>>) = Default::default();
    let mut count = 0;
    for root in roots {
        if found.contains_key(&root) {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(of) = enter.take() {
                found.insert(of, Some(count));
                open.push(of);
                frames.push(Frame { of, low: count, rest: graph.neighbors(of) });
                count += 1;
            }
            let Some(frame) = frames.last_mut() else { break };
            match frame.rest.next() {
                Some(next) => match found.get(&next) {
                    None => enter = Some(next),
                    Some(Some(index)) => frame.low = frame.low.min(*index),
                    Some(None) => {}
                },
                None => {
                    let Some(Frame { of, low, .. }) = frames.pop() else { break };
                    if found.get(&of) == Some(&Some(low)) {
                        let start = open.iter().rposition(|other| *other == of).unwrap_or(0);
                        let mut part = open.split_off(start);
                        found.extend(part.iter().map(|member| (*member, None)));
                        part.sort_unstable();
                        done.push(part);
                    }
                    if let Some(outer) = frames.last_mut() {
                        outer.low = outer.low.min(low);
                    }
                }
            }
        }
    }
    done
}
