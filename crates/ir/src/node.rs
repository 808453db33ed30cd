//! Nodes and their inputs.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::hash::{Content, Hasher};
use crate::ops::{Attr, Case, Exit, Op};
use crate::refs::{FuncRef, MAX_NUMBER, NodeRef, RegionRef};
use crate::types::{Const, Type, Variant};

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// An output of a node.
    Node(NodeRef, u16),
    /// A parameter of a region: of a loop's body, of a case, of an `ensure`.
    RegionParam(RegionRef, u16),
    /// A parameter of a function.
    Param(FuncRef, u16),
}

impl Source {
    /// The number of the ref that the source hangs on: of a node, a region or a function.
    pub fn number(self) -> u64 {
        match self {
            Source::Node(node, _) => node.number(),
            Source::RegionParam(region, _) => region.number(),
            Source::Param(function, _) => function.number(),
        }
    }

    /// Which output or parameter.
    pub fn port(self) -> u16 {
        match self {
            Source::Node(_, port) | Source::RegionParam(_, port) | Source::Param(_, port) => port,
        }
    }
}

/// `n12`, `n12.1`; parameters always with their index: `g5.0`, `f7.0`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Node(node, 0) => write!(f, "{node}"),
            Source::Node(node, port) => write!(f, "{node}.{port}"),
            Source::RegionParam(region, port) => write!(f, "{region}.{port}"),
            Source::Param(function, port) => write!(f, "{function}.{port}"),
        }
    }
}

/// The most inputs, outputs or parameters that one thing may have.
pub const MAX_PORTS: usize = 1 << 14;

/// An input packed into one word: two bits of kind, 14 of port, 48 of ref. Zero is a hole.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Packed(u64);

impl Packed {
    #[inline]
    fn of(source: Option<Source>) -> Packed {
        let (kind, number, port) = match source {
            None => return Packed(0),
            Some(Source::Node(node, port)) => (0u64, node.number(), port),
            Some(Source::RegionParam(region, port)) => (1, region.number(), port),
            Some(Source::Param(function, port)) => (2, function.number(), port),
        };
        Packed(kind << 62 | u64::from(port) << 48 | number)
    }

    fn source(self) -> Option<Source> {
        let number = self.0 & MAX_NUMBER;
        let port = (self.0 >> 48) as u16 & (MAX_PORTS as u16 - 1);
        match (self.0 >> 62, number) {
            (_, 0) => None,
            (0, _) => Some(Source::Node(NodeRef::of_key(number), port)),
            (1, _) => Some(Source::RegionParam(RegionRef::of_key(number), port)),
            (_, _) => Some(Source::Param(FuncRef::of_key(number), port)),
        }
    }
}

/// The inputs of a node in order; `None` is a hole.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Inputs(SmallVec<[Packed; 2]>);

impl Inputs {
    /// No other input than this.
    #[inline]
    pub fn one(source: Source) -> Inputs {
        Inputs(SmallVec::from_buf_and_len([Packed::of(Some(source)), Packed(0)], 1))
    }

    /// These two.
    #[inline]
    pub fn two(first: Source, second: Source) -> Inputs {
        Inputs(SmallVec::from_buf([Packed::of(Some(first)), Packed::of(Some(second))]))
    }

    /// The number of inputs, holes included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is no input.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The source of an input; `None` for a hole and outside of the list.
    pub fn get(&self, index: usize) -> Option<Source> {
        self.0.get(index)?.source()
    }

    /// All inputs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<Source>> + '_ {
        self.0.iter().map(|packed| packed.source())
    }

    /// How many of them are holes.
    pub(crate) fn holes(&self) -> usize {
        self.0.iter().filter(|packed| packed.0 & MAX_NUMBER == 0).count()
    }

    pub(crate) fn set(&mut self, index: usize, source: Option<Source>) {
        if let Some(slot) = self.0.get_mut(index) {
            *slot = Packed::of(source);
        }
    }
}

impl FromIterator<Option<Source>> for Inputs {
    fn from_iter<I: IntoIterator<Item = Option<Source>>>(sources: I) -> Inputs {
        let sources = sources.into_iter();
        // One after another: most are one or two, which need no more than that.
        let mut inputs: SmallVec<[Packed; 2]> = SmallVec::with_capacity(sources.size_hint().0);
        sources.for_each(|source| inputs.push(Packed::of(source)));
        Inputs(inputs)
    }
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// How one node refers to an entity of its function or of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Use {
    /// The node that refers to it.
    pub node: NodeRef,
    /// Which of its inputs takes a value from there; `None`: its operator names the entity.
    pub input: Option<u16>,
}

impl Use {
    const NAMED: u16 = u16::MAX;

    pub(crate) fn pack(self) -> u64 {
        self.node.number() << 16 | u64::from(self.input.unwrap_or(Use::NAMED))
    }

    pub(crate) fn unpack(packed: u64) -> Use {
        let input = packed as u16;
        Use { node: NodeRef::of_key(packed >> 16), input: (input != Use::NAMED).then_some(input) }
    }
}

/// The authored content of a node, its place apart.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeContent {
    /// What it computes.
    pub op: Op,
    /// Where its inputs come from.
    pub inputs: Inputs,
    /// The regions that it owns, in the order of its operator.
    pub regions: Vec<RegionRef>,
    /// Its label.
    pub name: Option<Arc<str>>,
    /// What someone wrote about it.
    pub doc: Option<Arc<str>>,
}

impl NodeContent {
    /// A node without regions, name or doc.
    pub fn new(op: Op, inputs: impl IntoIterator<Item = Option<Source>>) -> NodeContent {
        NodeContent { op, inputs: inputs.into_iter().collect(), regions: Vec::new(), name: None, doc: None }
    }
}

/// The rarer parts of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Extra {
    /// One or two, most often: an `if` has two.
    regions: SmallVec<[RegionRef; 2]>,
    name: Option<Arc<str>>,
    doc: Option<Arc<str>>,
}

impl Extra {
    /// Nothing for most nodes, which have none of them.
    fn of(regions: Vec<RegionRef>, name: Option<Arc<str>>, doc: Option<Arc<str>>) -> Option<Arc<Extra>> {
        if regions.is_empty() && name.is_none() && doc.is_none() {
            return None;
        }
        Some(Arc::new(Extra { regions: SmallVec::from_vec(regions), name, doc }))
    }
}

/// A node in its place.
#[derive(Clone, Debug)]
pub struct Node {
    op: Op,
    region: RegionRef,
    inputs: Inputs,
    extra: Option<Arc<Extra>>,
    /// Head of the chunk of the region's order. Derived.
    pub(crate) chunk: u64,
}

/// Equal when what was authored is equal.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.op == other.op
            && self.region == other.region
            && self.inputs == other.inputs
            && self.extra == other.extra
    }
}

impl Node {
    /// A node that has nothing beside its operator and its inputs.
    #[inline(always)]
    pub(crate) fn plain(op: Op, inputs: Inputs, region: RegionRef, chunk: u64) -> Node {
        Node { op, region, inputs, extra: None, chunk }
    }

    /// A node that owns regions beside that.
    #[inline]
    pub(crate) fn owner(op: Op, inputs: Inputs, region: RegionRef, regions: &[RegionRef]) -> Node {
        let extra = Extra { regions: SmallVec::from_slice(regions), name: None, doc: None };
        Node { op, region, inputs, extra: Some(Arc::new(extra)), chunk: 0 }
    }

    pub(crate) fn new(content: NodeContent, region: RegionRef) -> Node {
        let NodeContent { op, inputs, regions, name, doc } = content;
        Node { op, region, inputs, extra: Extra::of(regions, name, doc), chunk: 0 }
    }

    /// Replaces everything but the place and what is derived.
    pub(crate) fn set_content(&mut self, content: NodeContent) {
        let NodeContent { op, inputs, regions, name, doc } = content;
        self.op = op;
        self.inputs = inputs;
        self.extra = Extra::of(regions, name, doc);
    }

    pub(crate) fn set_region(&mut self, region: RegionRef) {
        self.region = region;
    }

    pub(crate) fn set_input(&mut self, index: usize, source: Option<Source>) {
        self.inputs.set(index, source);
    }

    /// What it computes.
    pub fn op(&self) -> &Op {
        &self.op
    }

    /// The region that it stands in.
    pub fn region(&self) -> RegionRef {
        self.region
    }

    /// Where its inputs come from.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The regions that it owns, in the order of its operator.
    pub fn regions(&self) -> &[RegionRef] {
        self.extra.as_ref().map_or(&[], |extra| &extra.regions)
    }

    /// Its label.
    pub fn name(&self) -> Option<&Arc<str>> {
        self.extra.as_ref()?.name.as_ref()
    }

    /// What someone wrote about it.
    pub fn doc(&self) -> Option<&Arc<str>> {
        self.extra.as_ref()?.doc.as_ref()
    }

    /// The authored content, the place apart.
    pub fn content(&self) -> NodeContent {
        NodeContent {
            op: self.op.clone(),
            inputs: self.inputs.clone(),
            regions: self.regions().to_vec(),
            name: self.name().cloned(),
            doc: self.doc().cloned(),
        }
    }
}

impl Node {
    /// Feeds the inputs and the regions.
    pub(crate) fn hash_edges(&self, hasher: &mut Hasher) {
        hasher.number(self.inputs.len() as u64);
        for packed in &self.inputs.0 {
            hasher.bytes(&packed.0.to_le_bytes());
        }
        hasher.number(self.regions().len() as u64);
        for region in self.regions() {
            hasher.number(region.number());
        }
    }
}

impl Content for Node {
    fn hash_into(&self, hasher: &mut Hasher) {
        hash_op(&self.op, hasher);
        hasher.number(self.region.number());
        self.hash_edges(hasher);
        hasher.optional(self.name().map(AsRef::as_ref)).optional(self.doc().map(AsRef::as_ref));
    }
}

/// Feeds the canonical form of an operator: mnemonics, not positions in the table, so that the table may grow.
pub fn hash_op(op: &Op, hasher: &mut Hasher) {
    hash_labelled(op, op.label().map(AsRef::as_ref), hasher);
}

/// As [`hash_op`], without the label: what a run depends on.
pub(crate) fn hash_code(op: &Op, hasher: &mut Hasher) {
    hash_labelled(op, None, hasher);
}

fn hash_labelled(op: &Op, label: Option<&str>, hasher: &mut Hasher) {
    hasher.text(op.code().mnemonic());
    match op.attr() {
        Attr::None => {}
        Attr::Scalar(of) => {
            hasher.text(of.name());
        }
        Attr::Convert(from, to) => {
            hasher.text(from.name()).text(to.name());
        }
        Attr::Const(value) => hash_const(value, hasher),
        Attr::Type(of) => hash_type(of, hasher),
        Attr::Named(of) => {
            hasher.number(of.number());
        }
        Attr::Field(of, member) => {
            hasher.number(of.number()).number(member.number());
        }
        Attr::Variant(variant) => hash_variant(variant, hasher),
        Attr::Function(of) => {
            hasher.number(of.number());
        }
        Attr::Variable(of) => {
            hasher.number(of.number());
        }
        Attr::Index(index) => {
            hasher.number(u64::from(*index));
        }
        Attr::Signature(signature) => {
            hash_types(&signature.params, hasher);
            hash_types(&signature.results, hasher);
        }
        Attr::Indirect(table, signature) => {
            hasher.number(table.number());
            hash_types(&signature.params, hasher);
            hash_types(&signature.results, hasher);
        }
        Attr::Entries(table, from) => {
            hasher.number(table.number()).number(from.number());
        }
        Attr::Memory(arg) => {
            hasher.text(arg.ty.name()).number(u64::from(arg.offset)).number(u64::from(arg.align_log2));
        }
        Attr::Control(control) => {
            hasher.optional(label);
            hash_types(&control.results, hasher);
        }
        Attr::Match(of) => {
            hasher.optional(label).number(u64::from(of.default)).number(of.cases.len() as u64);
            for case in &of.cases {
                match case {
                    Case::Int(value) => {
                        hasher.number(0).bytes(&value.to_le_bytes());
                    }
                    Case::Variant(variant) => hash_variant(variant, hasher.number(1)),
                }
            }
            hash_types(&of.results, hasher);
        }
        Attr::Exit(target) => {
            hasher.number(target.number());
        }
        Attr::Switch(targets) => {
            hasher.number(targets.len() as u64);
            for exit in targets.iter() {
                match exit {
                    Exit::Break(node) => hasher.number(0).number(node.number()),
                    Exit::Continue(node) => hasher.number(1).number(node.number()),
                    Exit::Return => hasher.number(2),
                };
            }
        }
        Attr::Raw(raw) => {
            hasher.number(raw.bytes.len() as u64).bytes(&raw.bytes);
            hash_types(&raw.signature.params, hasher);
            hash_types(&raw.signature.results, hasher);
        }
    }
}

/// Feeds a type; its printed form is canonical.
pub(crate) fn hash_type(of: &Type, hasher: &mut Hasher) {
    match of {
        Type::Scalar(scalar) => hasher.text(scalar.name()),
        other => hasher.text(&other.to_string()),
    };
}

pub(crate) fn hash_types(of: &[Type], hasher: &mut Hasher) {
    hasher.number(of.len() as u64);
    of.iter().for_each(|part| hash_type(part, hasher));
}

fn hash_variant(variant: &Variant, hasher: &mut Hasher) {
    hash_type(&variant.owner(), hasher);
    match variant {
        Variant::Member(_, member) => hasher.number(member.number()),
        Variant::None(_) | Variant::Ok(_) => hasher.number(0),
        Variant::Some(_) | Variant::Err(_) => hasher.number(1),
    };
}

pub(crate) fn hash_const(value: &Const, hasher: &mut Hasher) {
    hash_type(&value.ty(), hasher);
    match value {
        Const::Bool(v) => hasher.number(u64::from(*v)),
        Const::I8(v) => hasher.bytes(&v.to_le_bytes()),
        Const::I16(v) => hasher.bytes(&v.to_le_bytes()),
        Const::I32(v) => hasher.bytes(&v.to_le_bytes()),
        Const::I64(v) => hasher.bytes(&v.to_le_bytes()),
        Const::F32(v) => hasher.bytes(&v.to_le_bytes()),
        Const::F64(v) => hasher.bytes(&v.to_le_bytes()),
        Const::Unit => hasher,
        Const::String(v) => hasher.text(v),
        Const::Bytes(v) => hasher.number(v.len() as u64).bytes(v),
    };
}
