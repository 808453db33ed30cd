//! The JSON forms of entities, version 1.
//!
//! Keys are the letters of refs where a ref stands, otherwise short words; what is absent, empty or usual is left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use lmlang_ir::draft::Draft;
use lmlang_ir::{
    Contract, ContractKind, ContractRef, EffectBound, Field, Function, FunctionHead, Import, MemberRef,
    Module, ModuleRef, Name, NodeContent, NodeRef, Op, Param, Region, RegionOwner, RegionParam, RegionRef,
    RegionRole, Shape, Source, StructureError, Type, TypeDef, VarRef, Variable, VariantDef, Visibility,
};
use serde::{Deserialize, Serialize};

use super::shown::Shown;

pub(super) type Text = Option<Arc<str>>;

/// Names under which something is exported: one stands without a list.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Exports {
    #[default]
    None,
    One(Name),
    Several(Vec<Name>),
}

impl Exports {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Exports::None)
    }
}

impl From<&[Name]> for Exports {
    fn from(of: &[Name]) -> Exports {
        match of {
            [] => Exports::None,
            [one] => Exports::One(one.clone()),
            several => Exports::Several(several.to_vec()),
        }
    }
}

impl From<Exports> for Vec<Name> {
    fn from(of: Exports) -> Vec<Name> {
        match of {
            Exports::None => Vec::new(),
            Exports::One(one) => vec![one],
            Exports::Several(several) => several,
        }
    }
}

pub(super) fn is_false(value: &bool) -> bool {
    !value
}

pub(super) fn visibility(public: bool) -> Visibility {
    if public { Visibility::Public } else { Visibility::Private }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModuleForm {
    name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Shown<ModuleRef>>,
    #[serde(default, skip_serializing_if = "is_false")]
    public: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trailer: Text,
}

impl From<&Module> for ModuleForm {
    fn from(of: &Module) -> ModuleForm {
        ModuleForm {
            name: of.name.clone(),
            parent: of.parent.map(Shown),
            public: of.visibility == Visibility::Public,
            doc: of.doc.clone(),
            trailer: of.trailer.clone(),
        }
    }
}

impl From<ModuleForm> for Module {
    fn from(of: ModuleForm) -> Module {
        let ModuleForm { name, parent, public, doc, trailer } = of;
        Module { name, parent: parent.map(|parent| parent.0), visibility: visibility(public), doc, trailer }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberForm {
    d: Shown<MemberRef>,
    name: Name,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<Shown<Type>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

/// Either `struct` or `enum` is there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeForm {
    name: Name,
    m: Shown<ModuleRef>,
    #[serde(default, skip_serializing_if = "is_false")]
    public: bool,
    #[serde(default, rename = "struct", skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<MemberForm>>,
    #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<MemberForm>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

impl From<&TypeDef> for TypeForm {
    fn from(of: &TypeDef) -> TypeForm {
        let (fields, variants) = match &of.shape {
            Shape::Struct(fields) => (Some(fields.iter().map(MemberForm::field).collect()), None),
            Shape::Enum(variants) => (None, Some(variants.iter().map(MemberForm::variant).collect())),
        };
        TypeForm {
            name: of.name.clone(),
            m: Shown(of.module),
            public: of.visibility == Visibility::Public,
            fields,
            variants,
            doc: of.doc.clone(),
        }
    }
}

impl From<TypeForm> for TypeDef {
    fn from(of: TypeForm) -> TypeDef {
        let field = |MemberForm { d, name, ty, doc }| Field {
            member: d.0,
            name,
            ty: ty.map_or(Type::Unit, |ty: Shown<Type>| ty.0),
            doc,
        };
        let variant = |MemberForm { d, name, ty, doc }| VariantDef {
            member: d.0,
            name,
            payload: ty.map(|ty: Shown<Type>| ty.0),
            doc,
        };
        let shape = match of.fields {
            Some(fields) => Shape::Struct(fields.into_iter().map(field).collect()),
            None => Shape::Enum(of.variants.into_iter().flatten().map(variant).collect()),
        };
        let (name, module, visibility) = (of.name, of.m.0, visibility(of.public));
        TypeDef { name, module, visibility, shape, doc: of.doc }
    }
}

impl MemberForm {
    fn field(of: &Field) -> MemberForm {
        let Field { member, name, ty, doc } = of.clone();
        MemberForm { d: Shown(member), name, ty: Some(Shown(ty)), doc }
    }

    fn variant(of: &VariantDef) -> MemberForm {
        let VariantDef { member, name, payload, doc } = of.clone();
        MemberForm { d: Shown(member), name, ty: payload.map(Shown), doc }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BoundForm {
    Pure,
    Reads,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeadForm {
    name: Name,
    m: Shown<ModuleRef>,
    #[serde(default, skip_serializing_if = "is_false")]
    public: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    params: Vec<(Name, Shown<Type>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    results: Vec<Shown<Type>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    captures: Vec<(Name, Shown<Type>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<BoundForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    import: Option<(Name, Name)>,
    #[serde(default, skip_serializing_if = "Exports::is_empty")]
    export: Exports,
    #[serde(default, skip_serializing_if = "is_false")]
    start: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Arc<str>>,
}

impl From<&FunctionHead> for HeadForm {
    fn from(of: &FunctionHead) -> HeadForm {
        let params = |of: &[Param]| of.iter().map(|p| (p.name.clone(), Shown(p.ty.clone()))).collect();
        HeadForm {
            name: of.name.clone(),
            m: Shown(of.module),
            public: of.visibility == Visibility::Public,
            params: params(&of.params),
            results: of.results.iter().cloned().map(Shown).collect(),
            captures: params(&of.captures),
            bound: match of.effect_bound {
                EffectBound::Pure => Some(BoundForm::Pure),
                EffectBound::Reads => Some(BoundForm::Reads),
                EffectBound::Any => None,
            },
            import: of.import.clone().map(|import| (import.module, import.name)),
            export: of.exports.as_slice().into(),
            start: of.start,
            doc: of.doc.clone(),
            runs: of.runs.clone(),
        }
    }
}

impl From<HeadForm> for FunctionHead {
    fn from(of: HeadForm) -> FunctionHead {
        let params = |of: Vec<(Name, Shown<Type>)>| {
            of.into_iter().map(|(name, ty)| Param { name, ty: ty.0 }).collect::<Vec<_>>()
        };
        FunctionHead {
            name: of.name,
            module: of.m.0,
            visibility: visibility(of.public),
            params: params(of.params),
            results: of.results.into_iter().map(|ty| ty.0).collect(),
            captures: params(of.captures),
            effect_bound: match of.bound {
                Some(BoundForm::Pure) => EffectBound::Pure,
                Some(BoundForm::Reads) => EffectBound::Reads,
                None => EffectBound::Any,
            },
            import: of.import.map(|(module, name)| Import { module, name }),
            exports: of.export.into(),
            start: of.start,
            doc: of.doc,
            runs: of.runs,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariableForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Name>,
    #[serde(rename = "type")]
    ty: Shown<Type>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

impl From<&Variable> for VariableForm {
    fn from(of: &Variable) -> VariableForm {
        VariableForm { name: of.name.clone(), ty: Shown(of.ty.clone()), doc: of.doc.clone() }
    }
}

impl From<VariableForm> for Variable {
    fn from(of: VariableForm) -> Variable {
        Variable { name: of.name, ty: of.ty.0, doc: of.doc }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ContractKindForm {
    Require,
    Ensure,
    Invariant,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractForm {
    kind: ContractKindForm,
    message: Arc<str>,
    g: Shown<RegionRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

impl From<&Contract> for ContractForm {
    fn from(of: &Contract) -> ContractForm {
        let kind = match of.kind {
            ContractKind::Require => ContractKindForm::Require,
            ContractKind::Ensure => ContractKindForm::Ensure,
            ContractKind::Invariant => ContractKindForm::Invariant,
        };
        ContractForm { kind, message: of.message.clone(), g: Shown(of.region), doc: of.doc.clone() }
    }
}

impl From<ContractForm> for Contract {
    fn from(of: ContractForm) -> Contract {
        let kind = match of.kind {
            ContractKindForm::Require => ContractKind::Require,
            ContractKindForm::Ensure => ContractKind::Ensure,
            ContractKindForm::Invariant => ContractKind::Invariant,
        };
        Contract { kind, message: of.message, region: of.g.0, doc: of.doc }
    }
}

/// A region's record; the function's own has neither `n` nor `k`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegionForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<Shown<NodeRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<Shown<ContractRef>>,
    role: Shown<RegionRole>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    params: Vec<(Option<Name>, Shown<Type>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trailer: Text,
}

impl From<&Region> for RegionForm {
    fn from(of: &Region) -> RegionForm {
        let (n, k) = match of.owner {
            RegionOwner::Function => (None, None),
            RegionOwner::Node(node) => (Some(Shown(node)), None),
            RegionOwner::Contract(contract) => (None, Some(Shown(contract))),
        };
        RegionForm {
            n,
            k,
            role: Shown(of.role),
            params: of.params.iter().map(|param| (param.name.clone(), Shown(param.ty.clone()))).collect(),
            trailer: of.trailer.clone(),
        }
    }
}

impl From<RegionForm> for Region {
    fn from(of: RegionForm) -> Region {
        let owner = match (of.n, of.k) {
            (Some(node), _) => RegionOwner::Node(node.0),
            (None, Some(contract)) => RegionOwner::Contract(contract.0),
            (None, None) => RegionOwner::Function,
        };
        let params = of.params.into_iter().map(|(name, ty)| RegionParam { name, ty: ty.0 }).collect();
        let mut region = Region::new(owner, of.role.0, params);
        region.trailer = of.trailer;
        region
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContentForm {
    op: Shown<Op>,
    #[serde(default, rename = "in", skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Option<Shown<Source>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<Shown<RegionRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doc: Text,
}

impl From<&NodeContent> for ContentForm {
    fn from(of: &NodeContent) -> ContentForm {
        ContentForm {
            op: Shown(of.op.clone()),
            inputs: of.inputs.iter().map(|source| source.map(Shown)).collect(),
            regions: of.regions.iter().copied().map(Shown).collect(),
            name: of.name.clone(),
            doc: of.doc.clone(),
        }
    }
}

impl From<ContentForm> for NodeContent {
    fn from(of: ContentForm) -> NodeContent {
        NodeContent {
            op: of.op.0,
            inputs: of.inputs.into_iter().map(|source| source.map(|source| source.0)).collect(),
            regions: of.regions.into_iter().map(|region| region.0).collect(),
            name: of.name,
            doc: of.doc,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegionNodes {
    g: Shown<RegionRef>,
    is: RegionForm,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<(Shown<NodeRef>, ContentForm)>,
}

/// A function with its body: regions from the outside in, each with its nodes in order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FunctionForm {
    head: HeadForm,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    vars: Vec<(Shown<VarRef>, VariableForm)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contracts: Vec<(Shown<ContractRef>, ContractForm)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionNodes>,
}

/// The regions of a function, owners before what they own, in a defined order.
pub(crate) fn regions_outside_in(function: &Function) -> Vec<RegionRef> {
    let body = function.body();
    let (mut regions, mut owned) = (Vec::new(), BTreeMap::<NodeRef, Vec<RegionRef>>::new());
    for (region, record) in body.regions() {
        match record.owner {
            RegionOwner::Function | RegionOwner::Contract(_) => regions.push(region),
            RegionOwner::Node(node) => owned.entry(node).or_default().push(region),
        }
    }
    let mut at = 0;
    while let Some(region) = regions.get(at).copied() {
        at += 1;
        if owned.is_empty() {
            break;
        }
        regions.extend(body.nodes_in(region).filter_map(|node| owned.remove(&node)).flatten());
    }
    regions
}

impl From<&Function> for FunctionForm {
    fn from(of: &Function) -> FunctionForm {
        let body = of.body();
        let node = |node: NodeRef| Some((Shown(node), ContentForm::from(&body.node(node)?.content())));
        let region = |region: RegionRef| {
            let nodes = body.nodes_in(region).filter_map(node).collect();
            Some(RegionNodes { g: Shown(region), is: body.region(region)?.into(), nodes })
        };
        FunctionForm {
            head: of.head().into(),
            vars: body.variables().map(|(of, variable)| (Shown(of), variable.into())).collect(),
            contracts: body.contracts().map(|(of, contract)| (Shown(of), contract.into())).collect(),
            regions: regions_outside_in(of).into_iter().filter_map(region).collect(),
        }
    }
}

impl FunctionForm {
    /// Puts the function together.
    pub(super) fn build(self) -> Result<Function, StructureError> {
        let mut draft = Draft::new();
        self.vars.into_iter().for_each(|(of, form)| draft.add_variable(of.0, form.into()));
        self.contracts.into_iter().for_each(|(of, form)| draft.add_contract(of.0, form.into()));
        for RegionNodes { g, is, nodes } in self.regions {
            draft.add_region(g.0, is.into())?;
            for (node, content) in nodes {
                draft.append(node.0, g.0, content.into())?;
            }
        }
        draft.finish(self.head.into())
    }
}
