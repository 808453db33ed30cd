//! Which edit of a change set brought a finding, and which of its arguments.

use lmlang_history::request::{EditRequest, Touched};
use lmlang_ir::{NodeRef, Opcode, Program, Ref, RegionOwner, Source};
use lmlang_verify::{Code, Diagnostic, Fact};

/// The edit that brought a finding about a program, and the path of the argument that tells it.
pub(crate) fn blame(
    program: &Program,
    edits: &[EditRequest],
    touched: &Touched,
    found: &Diagnostic,
) -> Option<(usize, Vec<String>)> {
    let at = found.at;
    // Which of the two that have a name is new, or has it anew, is not told by the finding.
    if let (Code::DuplicateName, Some(Fact::Text(name))) = (found.code, &found.found)
        && let Some(edit) = edits.iter().rposition(|edit| edit.named() == Some(name))
    {
        return Some((edit, vec![edits.get(edit)?.field().to_owned(), "name".to_owned()]));
    }
    if let Some(edit) = touched.edit_of(at.entity, at.port) {
        let (given, placed) = (edits.get(edit)?, touched.place_in(edit, at.entity).is_some());
        let path = match given {
            // The loop itself takes the first value, each of its `continue` the next one.
            EditRequest::AddLoopParam(_) if is_loop(program, found) => {
                vec![given.field().to_owned(), "initial".to_owned()]
            }
            _ => given.path(at.port, placed),
        };
        return Some((edit, path));
    }
    let beside = || related(program, found).find_map(|of| touched.edit_of(of, None));
    // What is new has come with the only edit, wherever it hangs.
    let edit = beside().or((edits.len() == 1).then_some(0))?;
    let given = edits.get(edit)?;
    // What it is told beside may stand in the text of the edit.
    let path = match found.beside.is_some_and(|of| touched.place_in(edit, of).is_some()) {
        true => given.path(None, true),
        false => vec![given.field().to_owned()],
    };
    Some((edit, path))
}

/// Whether a finding hangs on a loop.
fn is_loop(program: &Program, found: &Diagnostic) -> bool {
    let function = found.at.function.and_then(|of| program.function(of));
    let node = function.zip(found.at.node()).and_then(|(function, of)| function.body().node(of));
    node.is_some_and(|node| node.op().code() == Opcode::Loop)
}

/// What a finding is about besides its entity, the nearest first: what has the name, what the entity stands in, where the
/// value comes from, what the operator names, and the function.
fn related(program: &Program, found: &Diagnostic) -> impl Iterator<Item = Ref> {
    let at = found.at;
    let body = at.function.and_then(|of| program.function(of)).map(|function| function.body());
    let node = at.node().zip(body).and_then(|(of, body)| body.node(of));
    let around = move |of: NodeRef| {
        let regions = body.into_iter().filter_map(move |body| Some(body.chain(body.node(of)?.region())));
        regions.flatten().filter_map(move |region| match body?.region(region)?.owner {
            RegionOwner::Node(owner) => Some(Ref::from(owner)),
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        })
    };
    let source = node.zip(at.port).and_then(|(node, port)| node.inputs().get(usize::from(port)));
    let source_of = match source {
        Some(Source::Node(of, _)) => Some(of),
        Some(Source::RegionParam(..) | Source::Param(..)) | None => None,
    };
    let value = source.and_then(|source| program.ref_of(source.number()));
    let mut named = Vec::new();
    if let Some(node) = node {
        node.op().each_mention(&mut |of| named.push(of));
    }
    let outer = at.node().into_iter().flat_map(around);
    let value = value.into_iter().chain(source_of.into_iter().flat_map(around));
    found.beside.into_iter().chain(outer).chain(value).chain(named).chain(at.function.map(Ref::from))
}
