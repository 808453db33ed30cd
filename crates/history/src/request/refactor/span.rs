//! A run of nodes that one edit is about.

use std::collections::{BTreeSet, HashSet};

use lmlang_ir::{Attr, Body, Effect, Exit, FuncRef, NodeRef, Opcode, RegionRef, Source};

use crate::request::error::{Done, EditError, Fail, code};
use crate::request::removal::subtree;
use crate::request::session::Session;
use crate::request::sources::Scope;

/// Nodes of one region that stand one after the other, with all that is in them.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) function: FuncRef,
    pub(super) region: RegionRef,
    /// In the order of the region; never empty, no terminator among them.
    pub(super) nodes: Vec<NodeRef>,
    /// These and all nodes inside of them.
    pub(super) inside: BTreeSet<NodeRef>,
    /// The regions inside of them.
    regions: HashSet<RegionRef>,
}

fn apart(field: &[&str], node: NodeRef, why: &str) -> Fail {
    let error = EditError::new(code::NOT_TOGETHER, field, format!("`{node}` {why}"));
    error.found(node.to_string()).candidates([node.to_string()]).into()
}

impl Session<'_> {
    /// The nodes that a caller lists under `refs`, with what the text form shows in their lines: operands without a name
    /// that nothing else takes, as far as these only compute. What stands between them and only computes moves out of the
    /// way: to the front when it takes nothing of them, behind them when they take nothing of it.
    pub(super) fn span(&mut self, refs: &[String]) -> Done<Span> {
        let mut home = refs.iter().find_map(|text| self.home_of(text));
        let mut found: Vec<NodeRef> = Vec::new();
        let mut place: Option<(FuncRef, RegionRef)> = None;
        for (index, text) in refs.iter().enumerate() {
            let index = index.to_string();
            let field = ["refs", &*index];
            let (function, node) = self.node(&field, text, home)?;
            let Some(record) = self.body(function)?.node(node) else { continue };
            match place {
                Some((other, _)) if other != function => {
                    return Err(apart(&field, node, &format!("stands in `{function}`, others in `{other}`")));
                }
                Some((_, region)) if region != record.region() => {
                    let why = format!("stands in `{}`, others in `{region}`", record.region());
                    return Err(apart(&field, node, &why));
                }
                Some(_) | None => place = Some((function, record.region())),
            }
            if record.op().is_terminator() {
                return Err(apart(&field, node, "ends its region, and stays there"));
            }
            home = Some(function);
            found.push(node);
        }
        let Some((function, region)) = place else {
            return Err(EditError::new(code::NOT_TOGETHER, &["refs"], "no node is given").into());
        };
        let wanted = self.with_operands(function, region, found)?;
        let nodes = self.gather(function, region, &wanted)?;
        let (mut inside, mut regions) = (BTreeSet::new(), HashSet::new());
        let body = self.body(function)?;
        for node in &nodes {
            let (inner, around) = subtree(body, *node);
            inside.extend(inner);
            regions.extend(around);
        }
        Ok(Span { function, region, nodes, inside, regions })
    }

    /// Nodes with their operands, each of which moves to the front of what takes it.
    fn with_operands(
        &mut self,
        function: FuncRef,
        region: RegionRef,
        mut pending: Vec<NodeRef>,
    ) -> Done<HashSet<NodeRef>> {
        let mut wanted: HashSet<NodeRef> = pending.iter().copied().collect();
        while let Some(node) = pending.pop() {
            let body = self.body(function)?;
            let inner: HashSet<NodeRef> = subtree(body, node).0.into_iter().collect();
            let sources =
                inner.iter().filter_map(|of| body.node(*of)).flat_map(|of| of.inputs().iter().flatten());
            let mut operands: Vec<NodeRef> = sources
                .filter_map(|source| match source {
                    Source::Node(of, _) => Some(of),
                    Source::RegionParam(..) | Source::Param(..) => None,
                })
                .filter(|of| !wanted.contains(of) && is_operand(body, *of, region, &inner))
                .collect();
            operands.sort_unstable();
            operands.dedup();
            for operand in operands {
                let before = self.body(function)?.previous(node).filter(|before| *before != operand);
                if before.is_some() {
                    self.open(function)?.move_node(operand, region, before)?;
                }
                wanted.insert(operand);
                pending.push(operand);
            }
        }
        Ok(wanted)
    }

    /// Lets nodes of a region stand one after the other.
    fn gather(
        &mut self,
        function: FuncRef,
        region: RegionRef,
        wanted: &HashSet<NodeRef>,
    ) -> Done<Vec<NodeRef>> {
        let body = self.body(function)?;
        let (mut nodes, mut before, mut behind) = (Vec::new(), Vec::new(), Vec::new());
        // What the nodes make, and what is made of that.
        let (mut made, mut follows) = (HashSet::new(), HashSet::new());
        for node in body.nodes_in(region) {
            if nodes.len() == wanted.len() {
                break;
            }
            let (inner, _) = subtree(body, node);
            let takes = |of: &HashSet<NodeRef>| inner.iter().any(|inner| takes_from(body, *inner, of));
            if wanted.contains(&node) {
                if takes(&follows) {
                    return Err(apart(
                        &["refs"],
                        node,
                        "takes what is made between the nodes, of their values",
                    ));
                }
                made.extend(inner);
                nodes.push(node);
            } else if nodes.is_empty() {
                continue;
            } else if body.node(node).is_none_or(|found| found.op().spec().effect != Effect::Pure) {
                return Err(apart(&["refs"], node, "stands between the nodes, and does more than compute"));
            } else if takes(&made) || takes(&follows) {
                follows.insert(node);
                behind.push(node);
            } else {
                before.push(node);
            }
        }
        let (Some(first), Some(last)) = (nodes.first().copied(), nodes.last().copied()) else {
            return Err(EditError::new(code::NOT_TOGETHER, &["refs"], "no node is given").into());
        };
        let mut anchor = body.previous(first);
        let mut open = self.open(function)?;
        for node in before {
            open.move_node(node, region, anchor)?;
            anchor = Some(node);
        }
        let mut anchor = last;
        for node in behind {
            open.move_node(node, region, Some(anchor))?;
            anchor = node;
        }
        Ok(nodes)
    }

    /// The place in front of a span.
    pub(super) fn front_of(&self, span: &Span) -> Done<Scope> {
        let after = span.nodes.first().and_then(|first| self.body(span.function).ok()?.previous(*first));
        Ok(Scope { function: span.function, region: span.region, after })
    }

    /// Removes the nodes of a span, whose values nothing takes any more.
    pub(super) fn cut_span(&mut self, span: &Span) -> Done<()> {
        span.nodes.iter().rev().try_for_each(|node| self.cut(span.function, *node))
    }

    /// Lets what stands outside of a span take other values than those that it gives; `None` leaves a hole.
    pub(super) fn redirect(&mut self, span: &Span, values: &[(Source, Option<Source>)]) -> Done<()> {
        for (value, with) in values {
            let body = self.body(span.function)?;
            let uses = body.uses_of(value.number()).filter(|one| body.source_of(*one) == Some(*value));
            let uses: Vec<_> = uses.filter(|one| !span.inside.contains(&one.node)).collect();
            let mut open = self.open(span.function)?;
            for one in uses {
                if let Some(input) = one.input {
                    open.set_input(one.node, usize::from(input), *with)?;
                }
            }
        }
        Ok(())
    }
}

impl Span {
    /// The values that the nodes take from outside, in the order in which they are first taken.
    pub(super) fn taken(&self, body: &Body) -> Vec<Source> {
        let mut known = HashSet::new();
        let mut taken = Vec::new();
        for node in self.nodes.iter().flat_map(|node| subtree(body, *node).0) {
            for source in body.node(node).into_iter().flat_map(|node| node.inputs().iter().flatten()) {
                let own = match source {
                    Source::Node(of, _) => self.inside.contains(&of),
                    Source::RegionParam(region, _) => self.regions.contains(&region),
                    Source::Param(..) => false,
                };
                if !own && known.insert(source) {
                    taken.push(source);
                }
            }
        }
        taken
    }

    /// The values of the nodes that are taken outside, in the order in which they are made.
    pub(super) fn given(&self, body: &Body) -> Vec<Source> {
        let mut given = Vec::new();
        for node in &self.nodes {
            let uses = body.uses_of(node.number()).filter(|one| !self.inside.contains(&one.node));
            let mut ports: Vec<u16> =
                uses.filter_map(|one| body.source_of(one)).map(|source| source.port()).collect();
            ports.sort_unstable();
            ports.dedup();
            given.extend(ports.into_iter().map(|port| Source::Node(*node, port)));
        }
        given
    }

    /// A node that leaves the span for another place than the next node.
    pub(super) fn leaving(&self, body: &Body) -> Option<NodeRef> {
        let outside = |target: NodeRef| !self.inside.contains(&target);
        let leaves = |node: &&NodeRef| {
            body.node(**node).is_some_and(|found| match (found.op().code(), found.op().attr()) {
                (Opcode::Return, _) => true,
                (_, Attr::Exit(target)) => outside(*target),
                (_, Attr::Switch(targets)) => targets.iter().any(|exit| exit.target().is_none_or(outside)),
                _ => false,
            })
        };
        self.inside.iter().find(leaves).copied()
    }
}

/// Whether a node without a name only computes what one other takes.
fn is_operand(body: &Body, node: NodeRef, region: RegionRef, taker: &HashSet<NodeRef>) -> bool {
    body.node(node).is_some_and(|found| {
        found.region() == region && found.name().is_none() && found.op().spec().effect == Effect::Pure
    }) && body.users_of(node.number()).all(|one| taker.contains(&one.node))
}

/// Whether a node takes a value of one of others.
fn takes_from(body: &Body, node: NodeRef, others: &HashSet<NodeRef>) -> bool {
    let inputs = body.node(node).into_iter().flat_map(|node| node.inputs().iter().flatten());
    inputs.into_iter().any(|source| matches!(source, Source::Node(of, _) if others.contains(&of)))
}

/// Where a node goes to, and with how many inputs before the values; `None` for one that stays in its region.
pub(super) fn exits_of(body: &Body, node: NodeRef) -> Option<(Vec<Exit>, usize)> {
    let op = body.node(node)?.op();
    Some(match (op.code(), op.attr()) {
        (Opcode::Break, Attr::Exit(target)) => (vec![Exit::Break(*target)], 0),
        (Opcode::BreakIf, Attr::Exit(target)) => (vec![Exit::Break(*target)], 1),
        (Opcode::Continue, Attr::Exit(target)) => (vec![Exit::Continue(*target)], 0),
        (Opcode::ContinueIf, Attr::Exit(target)) => (vec![Exit::Continue(*target)], 1),
        (Opcode::BrSwitch, Attr::Switch(targets)) => (targets.to_vec(), 1),
        (Opcode::Return, _) => (vec![Exit::Return], 0),
        _ => return None,
    })
}
