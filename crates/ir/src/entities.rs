//! Entities of a program other than nodes: records without behaviour.

use std::fmt;
use std::sync::Arc;

use crate::hash::{Content, Hasher};
use crate::node::{hash_type, hash_types};
use crate::refs::{ContractRef, MemberRef, ModuleRef, NodeRef, RegionRef};
use crate::types::Type;

/// A label: any text; names that are no identifier print in quotes.
pub type Name = Arc<str>;

/// Who may use an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Visibility {
    /// Every module.
    Public,
    /// The module that it stands in, and those below.
    #[default]
    Private,
}

/// A module: a scope of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Its name within the parent.
    pub name: Name,
    /// The module around.
    pub parent: Option<ModuleRef>,
    /// Who may use it.
    pub visibility: Visibility,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
    /// Comments at the end of the module's text, with nothing after them.
    pub trailer: Option<Arc<str>>,
}

/// A nominal type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDef {
    /// Its name within the module.
    pub name: Name,
    /// The module that it stands in.
    pub module: ModuleRef,
    /// Who may use it.
    pub visibility: Visibility,
    /// Struct or enum.
    pub shape: Shape,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

/// What a nominal type consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All fields together.
    Struct(Vec<Field>),
    /// One of the variants.
    Enum(Vec<VariantDef>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its ref.
    pub member: MemberRef,
    /// Its name within the struct.
    pub name: Name,
    /// The type of its value.
    pub ty: Type,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantDef {
    /// Its ref.
    pub member: MemberRef,
    /// Its name within the enum.
    pub name: Name,
    /// The type of what it carries, if it carries something.
    pub payload: Option<Type>,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

impl TypeDef {
    /// The fields; none for an enum.
    pub fn fields(&self) -> &[Field] {
        match &self.shape {
            Shape::Struct(fields) => fields,
            Shape::Enum(_) => &[],
        }
    }

    /// The variants; none for a struct.
    pub fn variants(&self) -> &[VariantDef] {
        match &self.shape {
            Shape::Struct(_) => &[],
            Shape::Enum(variants) => variants,
        }
    }

    /// The field with a ref, and its position.
    pub fn field(&self, of: MemberRef) -> Option<(usize, &Field)> {
        find(self.fields(), |field| field.member, of)
    }

    /// The variant with a ref, and its position.
    pub fn variant(&self, of: MemberRef) -> Option<(usize, &VariantDef)> {
        find(self.variants(), |variant| variant.member, of)
    }

    /// The name of a field or variant.
    pub fn member_name(&self, of: MemberRef) -> Option<&Name> {
        let field = self.field(of).map(|(_, field)| &field.name);
        field.or_else(|| self.variant(of).map(|(_, variant)| &variant.name))
    }

    /// The types of fields and payloads, in order.
    pub fn part_types(&self) -> Vec<&Type> {
        match &self.shape {
            Shape::Struct(fields) => fields.iter().map(|field| &field.ty).collect(),
            Shape::Enum(variants) => variants.iter().filter_map(|variant| variant.payload.as_ref()).collect(),
        }
    }
}

/// The member with a ref. Most types list theirs in the order in which refs were handed out: then it costs few looks.
fn find<T>(all: &[T], key: impl Fn(&T) -> MemberRef, of: MemberRef) -> Option<(usize, &T)> {
    let at = match all.binary_search_by_key(&of, &key) {
        Ok(at) => at,
        Err(_) => all.iter().position(|one| key(one) == of)?,
    };
    Some((at, &all[at]))
}

/// A named parameter or capture of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// The type of its value.
    pub ty: Type,
}

/// What a function may do at most; checked against its body, relied on by its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub enum EffectBound {
    /// Computes, may trap.
    Pure,
    /// May also read globals, memory and tables.
    Reads,
    /// Anything.
    #[default]
    Any,
}

/// The place in the host that an imported entity comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The host's module.
    pub module: Name,
    /// The name in it.
    pub name: Name,
}

/// The authored head of a function: everything but its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionHead {
    /// Its name within the module.
    pub name: Name,
    /// The module that it stands in.
    pub module: ModuleRef,
    /// Who may call it.
    pub visibility: Visibility,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it returns.
    pub results: Vec<Type>,
    /// What a closure made from it captures.
    pub captures: Vec<Param>,
    /// What it may do at most.
    pub effect_bound: EffectBound,
    /// Where it comes from, if the host provides it; then it has no body.
    pub import: Option<Import>,
    /// The names under which an exported module offers it.
    pub exports: Vec<Name>,
    /// Tells whether it runs when an exported module is instantiated.
    pub start: bool,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
    /// The `; run:` lines after it, without that prefix.
    pub runs: Vec<Arc<str>>,
}

impl FunctionHead {
    /// A private function without contracts, captures or doc.
    pub fn new(
        name: impl Into<Name>,
        module: ModuleRef,
        params: Vec<Param>,
        results: Vec<Type>,
    ) -> FunctionHead {
        FunctionHead {
            name: name.into(),
            module,
            visibility: Visibility::Private,
            params,
            results,
            captures: Vec::new(),
            effect_bound: EffectBound::Any,
            import: None,
            exports: Vec::new(),
            start: false,
            doc: None,
            runs: Vec::new(),
        }
    }
}

/// What a region is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionRole {
    /// The body of a function, a block or a loop.
    Body,
    /// The first region of an `if`.
    Then,
    /// The second region of an `if`.
    Else,
    /// A case of a `match`, by position.
    Case(u16),
    /// The rest of a `match`.
    Default,
    /// The condition of a contract.
    Contract,
}

impl fmt::Display for RegionRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegionRole::Body => f.write_str("body"),
            RegionRole::Then => f.write_str("then"),
            RegionRole::Else => f.write_str("else"),
            RegionRole::Case(index) => write!(f, "case{index}"),
            RegionRole::Default => f.write_str("default"),
            RegionRole::Contract => f.write_str("contract"),
        }
    }
}

/// What a region belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionOwner {
    /// The function whose body it is.
    Function,
    /// A node of the same function.
    Node(NodeRef),
    /// A contract of the same function.
    Contract(ContractRef),
}

/// A named parameter of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionParam {
    /// Its name.
    pub name: Option<Name>,
    /// The type of its value.
    pub ty: Type,
}

/// A body of nodes. Their order is kept by the function.
#[derive(Clone, Debug)]
pub struct Region {
    /// What it belongs to.
    pub owner: RegionOwner,
    /// What it is for.
    pub role: RegionRole,
    /// Its parameters.
    pub params: Vec<RegionParam>,
    /// Comments at the end of the region, with nothing after them.
    pub trailer: Option<Arc<str>>,
    /// The number of nodes in it. Derived.
    pub(crate) length: u32,
}

impl Region {
    /// An empty region.
    #[inline]
    pub fn new(owner: RegionOwner, role: RegionRole, params: Vec<RegionParam>) -> Region {
        Region { owner, role, params, trailer: None, length: 0 }
    }

    /// The number of nodes in it, those of inner regions not counted.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Tells whether there is no node in it.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// Equal when what was authored is equal.
impl PartialEq for Region {
    fn eq(&self, other: &Region) -> bool {
        self.owner == other.owner
            && self.role == other.role
            && self.params == other.params
            && self.trailer == other.trailer
    }
}

/// A mutable cell of one function, zero at its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Option<Name>,
    /// The type of its value.
    pub ty: Type,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

/// When a contract is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContractKind {
    /// At entry.
    Require,
    /// At return; its region's parameters are the results.
    Ensure,
    /// On each value of the type of the function's only parameter that enters or leaves a public or exported function, and
    /// when the function is called.
    Invariant,
}

impl ContractKind {
    /// What it is called in hashes, and where it is stored.
    pub fn number(self) -> u64 {
        match self {
            ContractKind::Require => 0,
            ContractKind::Ensure => 1,
            ContractKind::Invariant => 2,
        }
    }
}

/// A condition that a function demands or promises, or that it states of all values of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// When it is evaluated.
    pub kind: ContractKind,
    /// What it means, in words.
    pub message: Arc<str>,
    /// The region that computes the answer.
    pub region: RegionRef,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

impl Content for Module {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher
            .text(&self.name)
            .number(self.parent.map_or(0, |parent| parent.number()))
            .number(u64::from(self.visibility == Visibility::Public))
            .optional(self.doc.as_deref())
            .optional(self.trailer.as_deref());
    }
}

impl Content for TypeDef {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher
            .text(&self.name)
            .number(self.module.number())
            .number(u64::from(self.visibility == Visibility::Public))
            .optional(self.doc.as_deref());
        match &self.shape {
            Shape::Struct(fields) => {
                hasher.number(0).number(fields.len() as u64);
                for field in fields {
                    hasher.number(field.member.number()).text(&field.name).optional(field.doc.as_deref());
                    hash_type(&field.ty, hasher);
                }
            }
            Shape::Enum(variants) => {
                hasher.number(1).number(variants.len() as u64);
                for variant in variants {
                    hasher
                        .number(variant.member.number())
                        .text(&variant.name)
                        .optional(variant.doc.as_deref());
                    hash_types(variant.payload.as_slice(), hasher);
                }
            }
        }
    }
}

fn hash_params(params: &[Param], hasher: &mut Hasher) {
    hasher.number(params.len() as u64);
    for param in params {
        hasher.text(&param.name);
        hash_type(&param.ty, hasher);
    }
}

pub(crate) fn hash_names(names: &[Name], hasher: &mut Hasher) {
    hasher.number(names.len() as u64);
    names.iter().for_each(|name| {
        hasher.text(name);
    });
}

pub(crate) fn hash_import(import: Option<&Import>, hasher: &mut Hasher) {
    hasher.optional(import.map(|i| &*i.module)).optional(import.map(|i| &*i.name));
}

impl Content for FunctionHead {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher
            .text(&self.name)
            .number(self.module.number())
            .number(u64::from(self.visibility == Visibility::Public))
            .number(self.effect_bound as u64)
            .number(u64::from(self.start));
        hash_names(&self.exports, hasher);
        hasher.optional(self.doc.as_deref());
        hash_params(&self.params, hasher);
        hash_params(&self.captures, hasher);
        hash_types(&self.results, hasher);
        hash_import(self.import.as_ref(), hasher);
        hasher.number(self.runs.len() as u64);
        self.runs.iter().for_each(|run| {
            hasher.text(run);
        });
    }
}

impl Content for Region {
    fn hash_into(&self, hasher: &mut Hasher) {
        match self.owner {
            RegionOwner::Function => hasher.number(0),
            RegionOwner::Node(node) => hasher.number(1).number(node.number()),
            RegionOwner::Contract(contract) => hasher.number(2).number(contract.number()),
        };
        match self.role {
            RegionRole::Body => hasher.number(0),
            RegionRole::Then => hasher.number(1),
            RegionRole::Else => hasher.number(2),
            RegionRole::Default => hasher.number(3),
            RegionRole::Contract => hasher.number(4),
            RegionRole::Case(index) => hasher.number(5).number(u64::from(index)),
        };
        hasher.number(self.params.len() as u64);
        for param in &self.params {
            hasher.optional(param.name.as_deref());
            hash_type(&param.ty, hasher);
        }
        hasher.optional(self.trailer.as_deref());
    }
}

impl Content for Variable {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher.optional(self.name.as_deref()).optional(self.doc.as_deref());
        hash_type(&self.ty, hasher);
    }
}

impl Content for Contract {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher
            .number(self.kind.number())
            .text(&self.message)
            .number(self.region.number())
            .optional(self.doc.as_deref());
    }
}
