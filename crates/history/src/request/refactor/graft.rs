//! Copying code from one body into another, or to another place of the same.

use std::collections::HashMap;
use std::sync::Arc;

use lmlang_ir::ops::AttrKind;
use lmlang_ir::{
    Attr, Exit, Function, NodeContent, NodeRef, Op, Opcode, Region, RegionOwner, RegionRef, Source, VarRef,
};

use crate::request::error::Done;
use crate::request::removal::subtree;
use crate::request::session::Session;
use crate::request::sources::Scope;

/// What code is sewn to where it comes to.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// What stands for values from outside of the code; `None` is a hole. Others stay as they are.
    pub(super) sources: HashMap<Source, Option<Source>>,
    /// What stands for its variables.
    pub(super) variables: HashMap<VarRef, VarRef>,
    /// The node that a `return` leaves now, instead of the function.
    pub(super) leaves: Option<NodeRef>,
}

/// What became of code that was copied.
#[derive(Debug, Default)]
pub(super) struct Grafted {
    nodes: HashMap<NodeRef, NodeRef>,
    regions: HashMap<RegionRef, RegionRef>,
}

impl Session<'_> {
    /// Copies nodes of a function, with all in them, to a place; they stand there in the order in which they are given.
    pub(super) fn graft(
        &mut self,
        from: &Function,
        nodes: &[NodeRef],
        to: Scope,
        seams: &Seams,
    ) -> Done<Grafted> {
        let body = from.body();
        let mut grafted = Grafted::default();
        for node in nodes {
            let (nodes, regions) = subtree(body, *node);
            for node in nodes {
                grafted.nodes.insert(node, self.allocate_in(to.function, NodeRef::new)?);
            }
            for region in regions {
                grafted.regions.insert(region, self.allocate_in(to.function, RegionRef::new)?);
            }
        }
        let mut pending: Vec<(Vec<NodeRef>, RegionRef, Option<NodeRef>)> =
            vec![(nodes.to_vec(), to.region, to.after)];
        while let Some((nodes, region, mut after)) = pending.pop() {
            for node in nodes {
                let (Some(found), Some(copy)) = (body.node(node), grafted.nodes.get(&node)) else { continue };
                let content = grafted.content(found.content(), seams);
                let mut open = self.open(to.function)?;
                open.insert_node(*copy, region, after, content)?;
                for inner in found.regions() {
                    let (Some(record), Some(new)) = (body.region(*inner), grafted.regions.get(inner)) else {
                        continue;
                    };
                    let mut made = Region::new(RegionOwner::Node(*copy), record.role, record.params.clone());
                    made.trailer = record.trailer.clone();
                    open.add_region(*new, made)?;
                    pending.push((body.nodes_in(*inner).collect(), *new, None));
                }
                after = Some(*copy);
            }
        }
        Ok(grafted)
    }
}

impl Grafted {
    /// Whether a node was made.
    pub(super) fn made(&self, node: NodeRef) -> bool {
        self.nodes.values().any(|made| *made == node)
    }

    /// What became of a value; `None` is a hole.
    pub(super) fn source(&self, source: Source, seams: &Seams) -> Option<Source> {
        if let Some(given) = seams.sources.get(&source) {
            return *given;
        }
        Some(match source {
            Source::Node(node, port) => Source::Node(self.nodes.get(&node).copied().unwrap_or(node), port),
            Source::RegionParam(region, port) => {
                Source::RegionParam(self.regions.get(&region).copied().unwrap_or(region), port)
            }
            Source::Param(..) => source,
        })
    }

    fn content(&self, content: NodeContent, seams: &Seams) -> NodeContent {
        NodeContent {
            op: self.op(&content.op, seams),
            inputs: content.inputs.iter().map(|source| self.source(source?, seams)).collect(),
            regions: content.regions.iter().filter_map(|region| self.regions.get(region).copied()).collect(),
            ..content
        }
    }

    fn op(&self, op: &Op, seams: &Seams) -> Op {
        let node = |of: &NodeRef| self.nodes.get(of).copied().unwrap_or(*of);
        let exit = |exit: &Exit| match (exit, seams.leaves) {
            (Exit::Break(of), _) => Exit::Break(node(of)),
            (Exit::Continue(of), _) => Exit::Continue(node(of)),
            (Exit::Return, Some(block)) => Exit::Break(block),
            (Exit::Return, None) => Exit::Return,
        };
        let other = match (op.attr(), op.code(), seams.leaves) {
            (_, Opcode::Return, Some(block)) => Op::new(Opcode::Break, Attr::Exit(block)),
            (Attr::Exit(of), code, _) => Op::new(code, Attr::Exit(node(of))),
            (Attr::Switch(targets), code, _) => {
                let targets: Arc<[Exit]> = targets.iter().map(exit).collect();
                Op::new(code, Attr::Switch(targets))
            }
            (Attr::Variable(of), code, _) if op.spec().attr == AttrKind::Variable => {
                let of = seams.variables.get(of).copied().unwrap_or(*of);
                Op::new(code, Attr::Variable(of))
            }
            (_, _, _) => None,
        };
        other.unwrap_or_else(|| op.clone())
    }
}
