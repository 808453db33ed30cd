//! Which nodes of a region stand on a line of their own, and which are written inside of the one that uses them.
//!
//! A node folds into its use when all of this holds, and so the parser, which puts the nodes of operands right before
//! their use in the order of the operands, gives back the same order:
//! * it is pure or reads a variable, has one output, no name, no comment and no regions;
//! * it is used once, by an operand of a node of the same region;
//! * between it and its use stand only nodes that fold into later operands of that use, and what these are made of;
//! * the expression does not become deeper than [`MAX_FOLD`].

use std::collections::HashSet;

use crate::function::Function;
use crate::node::Source;
use crate::ops::signature::outputs;
use crate::ops::{Effect, Opcode};
use crate::program::Program;
use crate::refs::{NodeRef, RegionRef};

/// Deeper expressions are cut into lines, for their readers.
const MAX_FOLD: u32 = 6;

/// Finds the lines of a region, and adds the nodes that fold into them to `folded`. Linear.
pub(super) fn lines(
    program: &Program,
    function: &Function,
    region: RegionRef,
    folded: &mut HashSet<NodeRef>,
) -> Vec<NodeRef> {
    let body = function.body();
    // Lines so far, with the height of the expression if it may fold.
    let mut lines: Vec<(NodeRef, Option<u32>)> = Vec::new();
    for of in body.nodes_in(region) {
        let Some(node) = body.node(of) else { continue };
        let mut height = 0;
        let operands = match node.op().code() {
            // Initial values stand at the parameters.
            Opcode::Loop => {
                let inner = node.regions().first().and_then(|region| body.region(*region));
                if inner.is_some_and(|inner| inner.params.len() == node.inputs().len()) {
                    node.inputs().len()
                } else {
                    0
                }
            }
            _ => node.inputs().len(),
        };
        for index in (0..operands).rev() {
            let Some(Source::Node(source, 0)) = node.inputs().get(index) else { continue };
            if let Some((_, Some(below))) =
                lines.pop_if(|(last, foldable)| *last == source && foldable.is_some())
            {
                height = height.max(below + 1);
                folded.insert(source);
            }
        }
        let may_fold = height < MAX_FOLD && is_foldable(program, function, of);
        lines.push((of, may_fold.then_some(height)));
    }
    lines.into_iter().map(|(of, _)| of).collect()
}

fn is_foldable(program: &Program, function: &Function, of: NodeRef) -> bool {
    let body = function.body();
    let Some(node) = body.node(of) else { return false };
    if (node.op().spec().effect != Effect::Pure && node.op().code() != Opcode::VarGet)
        || node.name().is_some()
        || node.doc().is_some()
        || !node.regions().is_empty()
    {
        return false;
    }
    let mut users = body.users_of(of.number());
    let (Some(only), None) = (users.next(), users.next()) else { return false };
    let used = only.input.is_some()
        && matches!(body.source_of(only), Some(Source::Node(_, 0)))
        && body.node(only.node).is_some_and(|user| user.region() == node.region());
    used && outputs(program, function, node).is_some_and(|outputs| outputs.len() == 1)
}
