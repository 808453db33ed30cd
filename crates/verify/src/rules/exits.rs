//! V4: exits name an enclosing node; and of V3, which terminators end which regions.

use lmlang_ir::ops::signature::exit_types;
use lmlang_ir::{Attr, Exit, Opcode, RegionOwner};

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::view::{Site, View};

/// The targets of an exit.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let node = site.node;
    let code = node.op().code();
    if let Attr::Exit(target) = node.op().attr() {
        let continues = matches!(code, Opcode::Continue | Opcode::ContinueIf);
        let exit = if continues { Exit::Continue(*target) } else { Exit::Break(*target) };
        check_exit(view, site, exit, out);
    }
    if let Attr::Switch(targets) = node.op().attr() {
        targets.iter().for_each(|exit| check_exit(view, site, *exit, out));
        let mut taken = targets.iter().filter_map(|exit| exit_types(view.function, *exit));
        let last = targets.last().and_then(|exit| exit_types(view.function, *exit));
        if let Some(last) = last
            && let Some(other) = taken.find(|types| *types != last)
        {
            let finding = view.node_finding(Code::SwitchTargetsDiffer, site, None);
            out.push(finding.expecting(&last[..]).finding(&other[..]));
        }
    }
    if code == Opcode::Return {
        check_exit(view, site, Exit::Return, out);
    }
    if code == Opcode::Yield
        && view.body.region(node.region()).is_some_and(|region| region.owner == RegionOwner::Function)
    {
        let finding = view.node_finding(Code::YieldOutsideNode, site, None);
        out.push(finding.expecting("return").finding("yield"));
    }
}

fn check_exit(view: &View<'_>, site: Site<'_>, exit: Exit, out: &mut Vec<Diagnostic>) {
    let Some(target) = exit.target() else {
        if view.in_contract(site) {
            let finding = view.node_finding(Code::ReturnInContract, site, None);
            out.push(finding.expecting("yield").finding(site.node.op().code().mnemonic()));
        }
        return;
    };
    let finding = |code| view.node_finding(code, site, None).finding(lmlang_ir::Ref::from(target));
    let owner = view.body.node(target).filter(|owner| owner.op().owns_regions());
    match owner {
        Some(owner) if view.encloses(target, site) => {
            if matches!(exit, Exit::Continue(_)) && owner.op().code() != Opcode::Loop {
                out.push(finding(Code::ContinueNotLoop));
            }
        }
        Some(_) | None => out.push(finding(Code::UnknownLabel)),
    }
}
