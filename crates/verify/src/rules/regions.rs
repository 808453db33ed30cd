//! V10, and of V3 and V5 what concerns regions: they form a tree, fit their owners and end in a terminator.

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Attr, Case, ContractKind, Node, Opcode, Region, RegionOwner, RegionRef, RegionRole, Type};
use smallvec::SmallVec;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::rules::types;
use crate::view::{Site, View};

/// The regions that a node lists.
pub(crate) fn check_owner(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let Site { of, node, .. } = site;
    let listed = node.regions();
    let wanted = wanted_regions(node);
    if listed.is_empty() && wanted == 0 {
        return;
    }
    if listed.len() != wanted {
        let finding = view.node_finding(Code::RegionCount, site, None);
        out.push(finding.expecting(wanted).finding(listed.len()));
    }
    let mut sorted: SmallVec<[RegionRef; 4]> = listed.into();
    sorted.sort_unstable();
    for (at, region) in sorted.iter().enumerate() {
        let finding = |code| view.node_finding(code, site, None).finding(lmlang_ir::Ref::from(*region));
        if at > 0 && sorted[at - 1] == *region {
            out.push(finding(Code::DuplicateRegion));
        }
        match view.body.region(*region).map(|region| region.owner) {
            None => out.push(finding(Code::UnknownRegion)),
            Some(owner) if owner != RegionOwner::Node(of) => out.push(finding(Code::RegionNotOwned)),
            Some(_) => {}
        }
    }
}

/// How many regions a node owns.
fn wanted_regions(node: &Node) -> usize {
    if let Attr::Match(of) = node.op().attr() {
        return of.cases.len() + usize::from(of.default);
    }
    node.op().spec().regions.len()
}

/// A region: its place in the tree, its role and parameters, its end.
pub(crate) fn check(view: &View<'_>, of: RegionRef, region: &Region, out: &mut Vec<Diagnostic>) {
    for (position, param) in region.params.iter().enumerate() {
        let finding = |code| {
            let mut found = view.region_finding(code, of);
            found.at.port = Some(position as u16);
            found
        };
        types::check_use(view.program, view.module(), &param.ty, &finding, out);
    }
    if view.body.terminator(of).is_none() {
        out.push(view.region_finding(Code::MissingTerminator, of));
    }
    match fitting(view, of, region).filter(|_| view.is_rooted(of)) {
        None => out.push(view.region_finding(Code::StrayRegion, of)),
        Some(Fitting { role, params }) => {
            if region.role != role {
                let finding = view.region_finding(Code::RegionRoleWrong, of);
                out.push(finding.expecting(&*role.to_string()).finding(&*region.role.to_string()));
            }
            let found = region.params.iter().map(|param| &param.ty);
            if let Some(wanted) = params
                && !wanted.iter().eq(found.clone())
            {
                let found: Vec<Type> = found.cloned().collect();
                let finding = view.region_finding(Code::RegionParams, of);
                out.push(finding.expecting(Fact::Types(wanted.into())).finding(&found[..]));
            }
        }
    }
}

/// What a region must be to fit its owner.
struct Fitting {
    role: RegionRole,
    /// `None`: any.
    params: Option<Vec<Type>>,
}

/// What a region must be; `None` when no owner lists it.
fn fitting(view: &View<'_>, of: RegionRef, region: &Region) -> Option<Fitting> {
    match region.owner {
        RegionOwner::Function => (view.body.root() == Some(of))
            .then(|| Fitting { role: RegionRole::Body, params: Some(Vec::new()) }),
        RegionOwner::Contract(contract) => {
            let contract = view.body.contract(contract).filter(|contract| contract.region == of)?;
            let params = match contract.kind {
                ContractKind::Require | ContractKind::Invariant => Vec::new(),
                ContractKind::Ensure => view.function.head().results.clone(),
            };
            Some(Fitting { role: RegionRole::Contract, params: Some(params) })
        }
        RegionOwner::Node(owner) => {
            let owner = view.body.node(owner)?;
            let position = position(owner, of, region.role)?;
            Some(fitting_in(view, owner, position, region.role))
        }
    }
}

/// The position of a region among those that a node lists; its role mostly tells.
fn position(owner: &Node, of: RegionRef, role: RegionRole) -> Option<usize> {
    let listed = owner.regions();
    let likely = match role {
        RegionRole::Case(index) => usize::from(index),
        RegionRole::Body | RegionRole::Then | RegionRole::Contract => 0,
        RegionRole::Else => 1,
        RegionRole::Default => listed.len().saturating_sub(1),
    };
    if listed.get(likely) == Some(&of) {
        return Some(likely);
    }
    listed.iter().position(|other| *other == of)
}

/// What the region of a node must be at a position. Surplus regions are reported at the node.
fn fitting_in(view: &View<'_>, owner: &Node, position: usize, role: RegionRole) -> Fitting {
    let none = Some(Vec::new());
    match (owner.op().code(), position) {
        (Opcode::Block, 0) => Fitting { role: RegionRole::Body, params: none },
        (Opcode::Loop, 0) => Fitting { role: RegionRole::Body, params: None },
        (Opcode::If, 0) => Fitting { role: RegionRole::Then, params: none },
        (Opcode::If, 1) => Fitting { role: RegionRole::Else, params: none },
        (Opcode::Match, _) => {
            let Attr::Match(of) = owner.op().attr() else { return Fitting { role, params: None } };
            match of.cases.get(position) {
                None if position == of.cases.len() && of.default => {
                    Fitting { role: RegionRole::Default, params: none }
                }
                None => Fitting { role, params: None },
                Some(case) => {
                    let params = match case {
                        Case::Int(_) => none,
                        Case::Variant(variant) => {
                            payload_type(view.program, variant).map(|payload| payload.into_iter().collect())
                        }
                    };
                    Fitting { role: RegionRole::Case(position as u16), params }
                }
            }
        }
        (_, _) => Fitting { role, params: None },
    }
}
