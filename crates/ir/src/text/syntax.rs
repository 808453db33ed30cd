//! The syntax tree: what a text says, before its names mean anything.
//!
//! Statements, regions and expressions lie in arenas, so that neither building nor dropping a deep tree recurses. Places
//! are byte offsets.

use std::sync::Arc;

use crate::entities::{ContractKind, EffectBound, Visibility};
use crate::ops::Opcode;
use crate::refs::Ref;
use crate::section::SectionPlace;
use crate::text::literal::Literal;
use crate::types::Scalar;

/// A ref given after `#`, or in place of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) of: Ref,
    pub(super) at: u32,
}

/// A name that is given to something.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// `None` where only a ref is given: `n12 = ...`, `var v3: i32`.
    pub(super) name: Option<Arc<str>>,
    pub(super) tag: Option<Tag>,
    pub(super) at: u32,
}

/// A part of a path.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) name: Arc<str>,
    /// In quotes: never a ref or a built-in word.
    pub(super) quoted: bool,
    pub(super) tag: Option<Tag>,
    pub(super) at: u32,
}

/// The name of an entity of the program: `fib`, `demo::fib`, `fib#f7`, `f7`. Not empty.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) segments: Vec<Segment>,
}

impl Path {
    pub(super) fn at(&self) -> u32 {
        self.segments.first().map_or(0, |segment| segment.at)
    }

    pub(super) fn last(&self) -> &Segment {
        self.segments.last().expect("a path has a segment")
    }

    pub(super) fn display(&self) -> String {
        let names: Vec<&str> = self.segments.iter().map(|segment| &*segment.name).collect();
        names.join("::")
    }
}

/// A type; its nesting is bounded by the parser.
#[derive(Clone, Debug)]
pub(super) struct TypeSyntax {
    pub(super) kind: TypeKind,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) enum TypeKind {
    Scalar(Scalar),
    Unit,
    Never,
    String,
    Bytes,
    FuncRef,
    ExternRef,
    Named(Path),
    Ptr(Box<TypeSyntax>),
    Option(Box<TypeSyntax>),
    Box(Box<TypeSyntax>),
    Result(Box<(TypeSyntax, TypeSyntax)>),
    Array(Box<TypeSyntax>, Option<u32>),
    Closure(Box<SignatureSyntax>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct SignatureSyntax {
    pub(super) params: Vec<TypeSyntax>,
    pub(super) results: Vec<TypeSyntax>,
}

#[derive(Clone, Debug)]
pub(super) struct ParamSyntax {
    pub(super) name: Option<Segment>,
    /// `None` where it follows from the place: the payload of a case.
    pub(super) ty: Option<TypeSyntax>,
}

/// A case in the list of a `match`.
#[derive(Clone, Debug)]
pub(super) enum CaseSyntax {
    Int(i64),
    /// The variant, with its enum where that is written.
    Variant(Option<TypeSyntax>, Segment),
}

#[derive(Clone, Debug)]
pub(super) enum ExitSyntax {
    Break(Segment),
    Continue(Segment),
    Return,
}

/// An operator.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) code: Opcode,
    pub(super) attr: AttrSyntax,
    pub(super) tag: Option<Tag>,
    pub(super) at: u32,
}

impl Head {
    /// The fields and variants of nominal types, and variants of others, that the operator names.
    pub(super) fn members(&self) -> impl Iterator<Item = &Segment> {
        let (one, cases) = match &self.attr {
            AttrSyntax::Member(_, segment) => (Some(segment), &[][..]),
            AttrSyntax::Match(of) => (None, &of.cases[..]),
            _ => (None, &[][..]),
        };
        let variants = cases.iter().filter_map(|case| match case {
            CaseSyntax::Variant(_, segment) => Some(segment),
            CaseSyntax::Int(_) => None,
        });
        one.into_iter().chain(variants)
    }
}

#[derive(Clone, Debug)]
pub(super) enum AttrSyntax {
    None,
    Scalar(Scalar),
    Convert(Scalar, Scalar),
    Const(crate::types::Const),
    Type(TypeSyntax),
    Path(Path),
    Member(TypeSyntax, Segment),
    Index(u32),
    /// A capture, by name.
    Capture(Segment),
    Signature(SignatureSyntax),
    Indirect(Path, SignatureSyntax),
    Entries(Path, Path),
    Memory(Scalar, u32, u8),
    Control(Option<Arc<str>>, Vec<TypeSyntax>),
    Match(MatchSyntax),
    Exit(Segment),
    Switch(Vec<ExitSyntax>),
    Raw(Vec<u8>, SignatureSyntax),
    /// That of an operator that there is not, which is told; whether what was likely meant names something first.
    Unknown {
        names: bool,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct MatchSyntax {
    pub(super) label: Option<Arc<str>>,
    pub(super) cases: Vec<CaseSyntax>,
    pub(super) default: bool,
    pub(super) results: Vec<TypeSyntax>,
    /// Whether the cases are those of the regions, for want of a list.
    pub(super) derived: bool,
    /// Whether a case could not be read, so that its region is missing.
    pub(super) broken: bool,
}

/// Index of an expression.
pub(super) type ExprId = u32;
/// Index of a statement.
pub(super) type StmtId = u32;
/// Index of a region.
pub(super) type RegionId = u32;

#[derive(Clone, Debug)]
pub(super) enum Expr {
    /// `_`.
    Hole,
    /// A value by name, by name and ref, or by ref, with a port.
    Value { segment: Segment, port: Option<u16>, at: u32 },
    /// A literal: a constant of the port's type.
    Literal { value: Literal, tag: Option<Tag>, at: u32 },
    /// An operator with its operands.
    Application { head: Head, operands: Vec<ExprId> },
}

#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub(super) doc: Option<Arc<str>>,
    pub(super) label: Label,
    pub(super) head: Head,
    pub(super) operands: Vec<ExprId>,
    pub(super) regions: Vec<RegionId>,
}

/// What a region of a statement is for.
#[derive(Clone, Debug)]
pub(super) enum RoleSyntax {
    Body,
    Then,
    Else,
    Case(CaseSyntax),
    Default,
}

#[derive(Clone, Debug)]
pub(super) struct RegionSyntax {
    pub(super) role: RoleSyntax,
    pub(super) tag: Option<Tag>,
    /// `None`: those that follow from the place.
    pub(super) params: Option<Vec<ParamSyntax>>,
    pub(super) stmts: Vec<StmtId>,
    pub(super) trailer: Option<Arc<str>>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct VarSyntax {
    pub(super) label: Label,
    pub(super) ty: TypeSyntax,
    pub(super) doc: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct ContractSyntax {
    pub(super) kind: ContractKind,
    pub(super) tag: Option<Tag>,
    pub(super) message: Arc<str>,
    pub(super) region: RegionId,
    pub(super) doc: Option<Arc<str>>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct BodySyntax {
    pub(super) region: RegionId,
    pub(super) vars: Vec<VarSyntax>,
    pub(super) contracts: Vec<ContractSyntax>,
}

/// What stands before the keyword of an item.
#[derive(Clone, Debug, Default)]
pub(super) struct Modifiers {
    pub(super) doc: Option<Arc<str>>,
    pub(super) visibility: Visibility,
    pub(super) import: Option<(Arc<str>, Arc<str>)>,
    pub(super) exports: Vec<Arc<str>>,
    pub(super) start: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ModuleSyntax {
    pub(super) modifiers: Modifiers,
    pub(super) path: Path,
    pub(super) trailer: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct MemberSyntax {
    pub(super) label: Segment,
    pub(super) ty: Option<TypeSyntax>,
    pub(super) doc: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct TypeItem {
    pub(super) modifiers: Modifiers,
    pub(super) label: Segment,
    pub(super) is_enum: bool,
    pub(super) members: Vec<MemberSyntax>,
}

#[derive(Clone, Debug)]
pub(super) struct FunctionItem {
    pub(super) modifiers: Modifiers,
    pub(super) label: Segment,
    pub(super) captures: Vec<ParamSyntax>,
    pub(super) params: Vec<ParamSyntax>,
    pub(super) results: Vec<TypeSyntax>,
    pub(super) bound: EffectBound,
    pub(super) body: Option<BodySyntax>,
    pub(super) runs: Vec<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct StorageItem {
    pub(super) modifiers: Modifiers,
    pub(super) label: Segment,
    pub(super) kind: StorageSyntax,
}

#[derive(Clone, Debug)]
pub(super) enum StorageSyntax {
    Global {
        ty: TypeSyntax,
        mutable: bool,
        initial: Option<InitialSyntax>,
    },
    Memory {
        pages: u32,
        max_pages: Option<u32>,
    },
    Data {
        offset: Option<OffsetSyntax>,
        bytes: Arc<[u8]>,
    },
    Table {
        ty: Option<TypeSyntax>,
        entries: Vec<Option<EntrySyntax>>,
        max: Option<u32>,
    },
    Elements {
        ty: Option<TypeSyntax>,
        target: Option<(Path, OffsetSyntax)>,
        entries: Vec<Option<EntrySyntax>>,
    },
    Custom {
        section: Option<Arc<str>>,
        place: SectionPlace,
        bytes: Arc<[u8]>,
    },
}

#[derive(Clone, Debug)]
pub(super) enum InitialSyntax {
    Const(Literal, u32),
    Global(Path),
    Function(Path),
}

#[derive(Clone, Debug)]
pub(super) enum EntrySyntax {
    Function(Path),
    Global(Path),
}

#[derive(Clone, Debug)]
pub(super) enum OffsetSyntax {
    At(u32),
    Global(Path),
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    Type(TypeItem),
    Storage(StorageItem),
    Function(FunctionItem),
}

/// A whole text.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// Headers with what follows them; items before any header come first, without one.
    pub(super) modules: Vec<(Option<ModuleSyntax>, Vec<Item>)>,
    pub(super) exprs: Vec<Expr>,
    pub(super) stmts: Vec<Stmt>,
    pub(super) regions: Vec<RegionSyntax>,
    /// Words of lines that could not be read: a name among them is not told to be unknown.
    pub(super) broken: std::collections::HashSet<Arc<str>>,
    /// Names that look like refs: they were told where they are given, and are not told again where they are used.
    pub(super) like_refs: std::collections::HashSet<Arc<str>>,
}
