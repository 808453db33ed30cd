//! From the tree to the regions of a node.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entities::{ContractKind, RegionParam, RegionRole};
use crate::ops::signature::payload_type;
use crate::ops::{Attr, Case, Op, Opcode};
use crate::refs::{NodeRef, RegionRef};
use crate::text::error::{Mistake, code};
use crate::text::lower_body::Body;
use crate::text::resolve::{resolve_case, resolve_type};
use crate::text::syntax::{AttrSyntax, ContractSyntax, RegionId, RoleSyntax, Stmt};
use crate::types::Type;

impl Body<'_, '_> {
    /// The regions that a node will own.
    pub(super) fn plan_regions(
        &mut self,
        stmt: &Stmt,
        node: NodeRef,
        op: &Op,
        scrutinee: Option<&Type>,
    ) -> Vec<Planned> {
        let mut planned = Vec::new();
        match op.attr() {
            Attr::Match(of) => {
                let by_case = self.case_regions(stmt, &of.cases, scrutinee);
                let wanted = of.cases.len() + usize::from(of.default);
                for (index, syntax) in by_case.into_iter().enumerate().take(wanted) {
                    let (role, payload) = match of.cases.get(index) {
                        Some(Case::Variant(variant)) => {
                            (RegionRole::Case(index as u16), payload_type(self.program(), variant).flatten())
                        }
                        Some(Case::Int(_)) => (RegionRole::Case(index as u16), None),
                        None => (RegionRole::Default, None),
                    };
                    let Some(syntax) = syntax else {
                        if matches!(&stmt.head.attr, AttrSyntax::Match(of) if of.broken) {
                            continue;
                        }
                        let message = format!("the region of `{role}` is missing");
                        self.note(Mistake::new(code::MISSING_REGION, stmt.head.at, message));
                        continue;
                    };
                    let params = self.region_params(syntax, payload.as_slice());
                    planned.push((role, params, Some(syntax)));
                }
            }
            Attr::Control(control) => {
                for (index, syntax) in stmt.regions.iter().enumerate() {
                    let role = match (op.code(), index) {
                        (Opcode::If, 0) => RegionRole::Then,
                        (Opcode::If, _) => RegionRole::Else,
                        (_, _) => RegionRole::Body,
                    };
                    let params = self.region_params(*syntax, &[]);
                    planned.push((role, params, Some(*syntax)));
                }
                if op.code() == Opcode::If && stmt.regions.len() == 1 {
                    if !control.results.is_empty() {
                        let message = "an `if` with results needs an `else`";
                        self.note(
                            Mistake::new(code::MISSING_REGION, stmt.head.at, message).expected("`else`"),
                        );
                    }
                    planned.push((RegionRole::Else, Vec::new(), None));
                }
            }
            Attr::None
            | Attr::Scalar(_)
            | Attr::Convert(..)
            | Attr::Const(_)
            | Attr::Type(_)
            | Attr::Named(_)
            | Attr::Field(..)
            | Attr::Variant(_)
            | Attr::Function(_)
            | Attr::Variable(_)
            | Attr::Index(_)
            | Attr::Signature(_)
            | Attr::Indirect(..)
            | Attr::Entries(..)
            | Attr::Memory(_)
            | Attr::Exit(_)
            | Attr::Switch(_)
            | Attr::Raw(_) => {}
        }
        let old = self.lowering.reuse.regions.remove(&node).unwrap_or_default();
        planned
            .into_iter()
            .enumerate()
            .map(|(index, (role, params, syntax))| {
                let tag = syntax.and_then(|syntax| self.lowering.tree.regions[syntax as usize].tag);
                let number = match self.reused(tag, old.get(index).copied()) {
                    Some(number) => number,
                    None => self.number(tag, stmt.head.at),
                };
                Planned { of: RegionRef::of_key(number), role, params, syntax }
            })
            .collect()
    }

    /// The region of each case, in the order of the operator's cases, the default last.
    fn case_regions(
        &mut self,
        stmt: &Stmt,
        cases: &[Case],
        scrutinee: Option<&Type>,
    ) -> Vec<Option<RegionId>> {
        let tree = self.lowering.tree;
        let mut found: Vec<Option<RegionId>> = vec![None; cases.len() + 1];
        let mut by_case: HashMap<&Case, Vec<usize>> = HashMap::new();
        for (index, case) in cases.iter().enumerate().rev() {
            by_case.entry(case).or_default().push(index);
        }
        let has_default = matches!(&stmt.head.attr, AttrSyntax::Match(of) if of.default);
        for syntax in &stmt.regions {
            let region = &tree.regions[*syntax as usize];
            let slot = match &region.role {
                RoleSyntax::Case(case) => {
                    // A bare variant of a typed list belongs to the list's enum.
                    let owner = cases.iter().find_map(|case| match case {
                        Case::Variant(variant) => Some(variant.owner()),
                        Case::Int(_) => None,
                    });
                    let resolved = resolve_case(case, scrutinee.or(owner.as_ref()), &self.names());
                    let Some(case) = self.named(resolved) else { continue };
                    by_case.get_mut(&case).and_then(Vec::pop)
                }
                RoleSyntax::Default => has_default.then_some(cases.len()),
                RoleSyntax::Body | RoleSyntax::Then | RoleSyntax::Else => None,
            };
            match slot {
                Some(index) if found[index].is_none() => {
                    found[index] = Some(*syntax);
                }
                Some(_) | None => {
                    let message = "the list of the `match` has no such case, or it stands here twice";
                    self.note(Mistake::new(code::ARITY, region.at, message));
                }
            }
        }
        found
    }

    /// The parameters of a contract's region: as written, else the results of the function for `ensure`.
    pub(super) fn contract_params(&mut self, syntax: &ContractSyntax) -> Vec<RegionParam> {
        let tree = self.lowering.tree;
        let results = self.program().function(self.function).map(|function| function.head().results.clone());
        let default = default_contract_params(syntax.kind, &results.unwrap_or_default());
        match &tree.regions[syntax.region as usize].params {
            Some(_) => {
                let types: Vec<Type> = default.into_iter().map(|param| param.ty).collect();
                self.region_params(syntax.region, &types)
            }
            None => default,
        }
    }

    /// The parameters written at a region; without a list, and for types left out, those of `default`.
    pub(super) fn region_params(&mut self, region: RegionId, default: &[Type]) -> Vec<RegionParam> {
        let tree = self.lowering.tree;
        let Some(params) = &tree.regions[region as usize].params else {
            return default.iter().map(|ty| RegionParam { name: None, ty: ty.clone() }).collect();
        };
        let mut resolved = Vec::new();
        for (index, param) in params.iter().enumerate() {
            let at = param.name.as_ref().map_or(tree.regions[region as usize].at, |name| name.at);
            let ty = match (&param.ty, default.get(index)) {
                (Some(ty), _) => resolve_type(ty, &self.names()),
                (None, Some(ty)) => Ok(ty.clone()),
                (None, None) => {
                    Err(Mistake::new(code::TYPE_EXPECTED, at, "the type of this parameter is not known")
                        .expected("`:` and a type"))
                }
            };
            let name = param.name.as_ref().map(|segment| Arc::clone(&segment.name));
            match ty {
                Ok(ty) => resolved.push(RegionParam { name, ty }),
                Err(mistake) => {
                    self.note_name(mistake);
                    resolved.push(RegionParam { name, ty: Type::Never });
                }
            }
        }
        resolved
    }
}

/// A region that is about to be made.
pub(super) struct Planned {
    pub(super) of: RegionRef,
    pub(super) role: RegionRole,
    pub(super) params: Vec<RegionParam>,
    /// `None` for the `else` that was left out.
    pub(super) syntax: Option<RegionId>,
}

/// The parameters of a contract's region when none are written: for `ensure` the results of the function, as `result`,
/// or `result0`, `result1` and so on.
pub(super) fn default_contract_params(kind: ContractKind, results: &[Type]) -> Vec<RegionParam> {
    match (kind, results) {
        (ContractKind::Require | ContractKind::Invariant, _) => Vec::new(),
        (ContractKind::Ensure, [only]) => vec![RegionParam { name: Some("result".into()), ty: only.clone() }],
        (ContractKind::Ensure, several) => several
            .iter()
            .enumerate()
            .map(|(index, ty)| RegionParam { name: Some(format!("result{index}").into()), ty: ty.clone() })
            .collect(),
    }
}
