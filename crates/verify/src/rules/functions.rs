//! V7, V10, V11 and V12 for the head of a function.

use lmlang_ir::{EffectBound, NodeRef, Ref};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::findings::Index;
use crate::rules::{effects, modules, types};
use crate::view::View;

/// The head of a function; `reader` is a node because of which it is not `pure`, if there is one.
pub(crate) fn check(view: &View<'_>, index: &Index, reader: Option<NodeRef>, out: &mut Vec<Diagnostic>) {
    let head = view.function.head();
    let finding = |code| view.part_finding(code, view.of);
    let of = Ref::from(view.of);
    if view.program.module(head.module).is_none() {
        out.push(finding(Code::UnknownModule).finding(Ref::from(head.module)));
    }
    if let Some(first) = modules::taken_by(view.program, Some(head.module), &head.name, of) {
        out.push(finding(Code::DuplicateName).finding(&*head.name).beside(first));
    }
    let params = head.params.iter().chain(&head.captures).map(|param| &param.ty);
    for (position, ty) in params.chain(&head.results).enumerate() {
        let at = |code| {
            let mut found = finding(code);
            found.at.port = Some(position as u16);
            found
        };
        types::check_use(view.program, head.module, ty, &at, out);
    }
    if head.import.is_none() && view.body.root().is_none() {
        out.push(finding(Code::BodyMissing));
    }
    if head.import.is_some() && view.body.root().is_some() {
        out.push(finding(Code::ImportWithBody));
    }
    modules::check_exports(view.program, index, of, &head.exports, finding(Code::DuplicateExport), out);
    if (!head.exports.is_empty() || head.start) && !head.captures.is_empty() {
        out.push(finding(Code::CallNeedsClosure).finding(of));
    }
    if head.start {
        if !head.params.is_empty() || !head.results.is_empty() {
            out.push(finding(Code::StartSignature).expecting("() -> ()"));
        }
        if index.starts.get_min().is_some_and(|first| *first < of.number) {
            out.push(finding(Code::DuplicateStart));
        }
    }
    // What states invariants may read whatever the next of them needs.
    let is_wider = head.effect_bound == EffectBound::Reads && head.import.is_none() && reader.is_none();
    if is_wider && view.function.states_invariants_of().is_none() {
        out.push(finding(Code::EffectBoundWider).expecting(EffectBound::Pure).finding(EffectBound::Reads));
    }
}

/// Some node because of which a function that is declared `reads` is not `pure`.
pub(crate) fn find_reader(view: &View<'_>) -> Option<NodeRef> {
    if view.function.head().effect_bound != EffectBound::Reads {
        return None;
    }
    view.body.nodes().find(|(of, node)| effects::is_reader(view, view.site(*of, node))).map(|(of, _)| of)
}
