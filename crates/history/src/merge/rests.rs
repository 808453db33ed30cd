//! What one side made of something that the other one changes: code that was copied, a variable that became values.

use std::collections::{BTreeSet, HashMap};

use lmlang_ir::ops::AttrKind;
use lmlang_ir::{Attr, Body, NodeRef, Op, Program, Ref};

use super::Side;
use super::change::Change;
use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{Conduct, Part, Touch};
use crate::rest::Rest;

/// Has all that came and went for one thing taken or left together.
pub(super) fn tie(changes: &mut [Change], rests: &[Rest]) {
    let mut groups: HashMap<Ref, Vec<Ref>> = HashMap::new();
    for rest in rests {
        for of in &rest.by {
            groups.entry(*of).or_default().extend(rest.by.first());
        }
    }
    if groups.is_empty() {
        return;
    }
    for change in changes {
        if let Some(with) = groups.get(&change.edit.subject()).filter(|_| is_part(&change.edit)) {
            change.groups.extend(with);
        }
    }
}

fn is_part(edit: &Edit) -> bool {
    let Edit::Within { edit: inner, .. } = edit else { return false };
    let reshapes = matches!(inner, FunctionEdit::SetNode { .. } | FunctionEdit::SetRegion { .. });
    edit.adds() || edit.removes() || reshapes
}

/// Where one side has made something of what the other one changes: what it is, and the two changes, ours first.
/// `is_alike` tells changes that both sides have made.
pub(super) fn met(
    base: &Program,
    changes: [&[Change]; 2],
    rests: [&[Rest]; 2],
    is_alike: impl Fn(Side, usize) -> bool,
) -> Vec<(Ref, [usize; 2])> {
    let mut found = Vec::new();
    for side in [Side::Ours, Side::Theirs] {
        let (own, other) = (side.index(), side.other());
        if rests[own].is_empty() {
            continue;
        }
        // What is there no more, or was never here, tells nothing.
        let mut marks: HashMap<Ref, usize> = HashMap::new();
        for (at, change) in changes[own].iter().enumerate() {
            if (change.edit.adds() || change.edit.removes()) && !is_alike(side, at) {
                marks.insert(change.edit.subject(), at);
            }
        }
        let mut about: HashMap<Ref, Vec<usize>> = HashMap::new();
        for (at, change) in changes[other.index()].iter().enumerate() {
            for of in changed(base, change, is_alike(other, at)) {
                about.entry(of).or_default().push(at);
            }
        }
        for rest in rests[own] {
            let Some(mark) = rest.by.iter().find_map(|of| marks.get(of)) else { continue };
            for at in about.get(&rest.on).into_iter().flatten() {
                let pair = if side == Side::Ours { [*mark, *at] } else { [*at, *mark] };
                found.push((rest.on, pair));
            }
        }
    }
    found
}

/// What is another thing to whoever has read all of it: the function whose code a change is of, the variables that are
/// written no more there, or elsewhere.
fn changed(base: &Program, change: &Change, is_alike: bool) -> BTreeSet<Ref> {
    let mut found = BTreeSet::new();
    let Edit::Within { function, edit } = &change.edit else { return found };
    // Who made the copy has that change, too.
    if !is_alike && change.print.writes.iter().any(is_meant) {
        found.insert((*function).into());
    }
    let Some(body) = base.function(*function).map(|found| found.body()) else { return found };
    if let FunctionEdit::RemoveNode { node } = edit
        && let Some(node) = body.node(*node)
        && Conduct::of(node.op()) == Conduct::Acts
    {
        found.extend(cell(node.op()));
    }
    if let FunctionEdit::MoveNode { node, .. } = edit {
        cells_in(body, *node, &mut found);
    }
    found
}

/// Tells whether a touch can be of what code does, rather than of what it is called and what is written about it.
fn is_meant(touch: &Touch) -> bool {
    !matches!(
        touch,
        Touch::Name(..)
            | Touch::Part(
                _,
                Part::Name
                    | Part::Doc
                    | Part::Trailer
                    | Part::Place
                    | Part::Visibility
                    | Part::ParamName(_)
                    | Part::Export
                    | Part::Start
                    | Part::Runs
                    | Part::Message
            )
    )
}

/// The variable of its function that an operator reads or writes.
fn cell(op: &Op) -> Option<Ref> {
    let Attr::Variable(of) = op.attr() else { return None };
    (op.spec().attr == AttrKind::Variable).then(|| (*of).into())
}

/// The variables that a node, or anything in it, reads or writes.
fn cells_in(body: &Body, node: NodeRef, found: &mut BTreeSet<Ref>) {
    let mut open = vec![node];
    while let Some(node) = open.pop().and_then(|node| body.node(node)) {
        found.extend(cell(node.op()));
        open.extend(node.regions().iter().flat_map(|region| body.nodes_in(*region)));
    }
}
