//! From the syntax of types and operators to the real ones, given what names mean.

use std::sync::Arc;

use crate::ops::{Attr, AttrKind, Case, Control, Exit, Match, MemArg, Op, Opcode, Raw};
use crate::refs::{FuncRef, MemberRef, NodeRef, ParseRefError, Ref, TypeRef, VarRef};
use crate::text::error::{Mistake, code};
use crate::text::syntax::{
    AttrSyntax, CaseSyntax, ExitSyntax, Head, Path, Segment, SignatureSyntax, TypeKind, TypeSyntax,
};
use crate::types::{Signature, Type, Variant};

pub(super) type Resolved<T> = Result<T, Mistake>;

/// What names mean. Two exist: refs alone, and names within a program.
pub(super) trait Names {
    /// A nominal type.
    fn named(&self, path: &Path) -> Resolved<TypeRef>;
    /// A function.
    fn function(&self, path: &Path) -> Resolved<FuncRef>;
    /// A variable of the function around.
    fn variable(&self, path: &Path) -> Resolved<VarRef>;
    /// Storage of the program; `kind` is the attribute that wants it.
    fn storage(&self, path: &Path, kind: AttrKind) -> Resolved<VarRef>;
    /// A field or variant of a nominal type.
    fn member(&self, owner: TypeRef, segment: &Segment) -> Resolved<MemberRef>;
    /// The node that an exit aims at.
    fn target(&self, segment: &Segment) -> Resolved<NodeRef>;
    /// The position of a capture of the function around.
    fn capture(&self, segment: &Segment) -> Resolved<u32>;
}

/// The ref that a segment is: after `#`, or bare in place of a name.
pub(super) fn given_ref(segment: &Segment) -> Option<(Ref, u32)> {
    if let Some(tag) = segment.tag {
        return Some((tag.of, tag.at));
    }
    if segment.quoted { None } else { segment.name.parse().ok().map(|of| (of, segment.at)) }
}

/// The ref of one kind that a segment is.
pub(super) fn given_ref_of<R>(segment: &Segment) -> Option<Resolved<R>>
where
    R: TryFrom<Ref, Error = ParseRefError>,
{
    let (of, at) = given_ref(segment)?;
    Some(
        R::try_from(of)
            .map_err(|error| Mistake::new(code::WRONG_KIND, at, error.to_string()).found(of.to_string())),
    )
}

/// Names are refs and nothing else.
pub(super) struct RefsOnly;

impl RefsOnly {
    fn only<R>(segment: &Segment) -> Resolved<R>
    where
        R: TryFrom<Ref, Error = ParseRefError>,
    {
        given_ref_of(segment).unwrap_or_else(|| {
            Err(Mistake::new(code::UNKNOWN_NAME, segment.at, format!("`{}` is no ref", segment.name))
                .expected("a ref")
                .found(&*segment.name))
        })
    }
}

impl Names for RefsOnly {
    fn named(&self, path: &Path) -> Resolved<TypeRef> {
        RefsOnly::only(path.last())
    }

    fn function(&self, path: &Path) -> Resolved<FuncRef> {
        RefsOnly::only(path.last())
    }

    fn variable(&self, path: &Path) -> Resolved<VarRef> {
        RefsOnly::only(path.last())
    }

    fn storage(&self, path: &Path, _: AttrKind) -> Resolved<VarRef> {
        RefsOnly::only(path.last())
    }

    fn member(&self, _: TypeRef, segment: &Segment) -> Resolved<MemberRef> {
        RefsOnly::only(segment)
    }

    fn target(&self, segment: &Segment) -> Resolved<NodeRef> {
        RefsOnly::only(segment)
    }

    fn capture(&self, segment: &Segment) -> Resolved<u32> {
        Err(Mistake::new(code::UNKNOWN_NAME, segment.at, "expected the position of a capture")
            .expected("a number")
            .found(&*segment.name))
    }
}

/// The type that a syntax stands for.
pub(super) fn resolve_type(of: &TypeSyntax, names: &impl Names) -> Resolved<Type> {
    let one = |part: &TypeSyntax| resolve_type(part, names).map(Arc::new);
    Ok(match &of.kind {
        TypeKind::Scalar(scalar) => (*scalar).into(),
        TypeKind::Unit => Type::Unit,
        TypeKind::Never => Type::Never,
        TypeKind::String => Type::String,
        TypeKind::Bytes => Type::Bytes,
        TypeKind::FuncRef => Type::FuncRef,
        TypeKind::ExternRef => Type::ExternRef,
        TypeKind::Named(path) => Type::Named(names.named(path)?),
        TypeKind::Ptr(part) => Type::Ptr(one(part)?),
        TypeKind::Option(part) => Type::Option(one(part)?),
        TypeKind::Box(part) => Type::Box(one(part)?),
        TypeKind::Result(parts) => {
            Type::Result(Arc::new((resolve_type(&parts.0, names)?, resolve_type(&parts.1, names)?)))
        }
        TypeKind::Array(part, None) => Type::Array(one(part)?),
        TypeKind::Array(part, Some(length)) => Type::FixedArray(one(part)?, *length),
        TypeKind::Closure(signature) => Type::Closure(Arc::new(resolve_signature(signature, names)?)),
    })
}

pub(super) fn resolve_types(of: &[TypeSyntax], names: &impl Names) -> Resolved<Vec<Type>> {
    of.iter().map(|part| resolve_type(part, names)).collect()
}

fn resolve_signature(of: &SignatureSyntax, names: &impl Names) -> Resolved<Signature> {
    Ok(Signature { params: resolve_types(&of.params, names)?, results: resolve_types(&of.results, names)? })
}

/// A variant of an enum, by its name or ref.
pub(super) fn resolve_variant(owner: &Type, segment: &Segment, names: &impl Names) -> Resolved<Variant> {
    let unknown = |known: &[&str]| {
        Mistake::new(code::UNKNOWN_NAME, segment.at, format!("`{owner}` has no variant `{}`", segment.name))
            .found(&*segment.name)
            .candidates(known.iter().map(|&name| name.to_owned()).collect())
    };
    match owner {
        Type::Named(of) => Ok(Variant::Member(*of, names.member(*of, segment)?)),
        Type::Option(of) => match &*segment.name {
            "none" => Ok(Variant::None(Arc::clone(of))),
            "some" => Ok(Variant::Some(Arc::clone(of))),
            _ => Err(unknown(&["none", "some"])),
        },
        Type::Result(of) => match &*segment.name {
            "ok" => Ok(Variant::Ok(Arc::clone(of))),
            "err" => Ok(Variant::Err(Arc::clone(of))),
            _ => Err(unknown(&["ok", "err"])),
        },
        Type::Scalar(_)
        | Type::Unit
        | Type::Never
        | Type::String
        | Type::Bytes
        | Type::Ptr(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => {
            Err(Mistake::new(code::TYPE_EXPECTED, segment.at, format!("`{owner}` is no enum"))
                .expected("an enum"))
        }
    }
}

/// A case; `scrutinee` is the enum that variants without one belong to.
pub(super) fn resolve_case(of: &CaseSyntax, scrutinee: Option<&Type>, names: &impl Names) -> Resolved<Case> {
    match of {
        CaseSyntax::Int(value) => Ok(Case::Int(*value)),
        CaseSyntax::Variant(Some(owner), segment) => {
            Ok(Case::Variant(resolve_variant(&resolve_type(owner, names)?, segment, names)?))
        }
        CaseSyntax::Variant(None, segment) => match scrutinee {
            Some(owner) => Ok(Case::Variant(resolve_variant(owner, segment, names)?)),
            None => Err(Mistake::new(
                code::TYPE_EXPECTED,
                segment.at,
                format!("the enum of `{}` is not known here", segment.name),
            )
            .expected(format!("Enum.{}", segment.name))),
        },
    }
}

/// The operator that a head stands for; `scrutinee` as for [`resolve_case`].
pub(super) fn resolve_op(head: &Head, scrutinee: Option<&Type>, names: &impl Names) -> Resolved<Op> {
    let code = head.code;
    let attr = match &head.attr {
        AttrSyntax::None => Attr::None,
        AttrSyntax::Scalar(scalar) => Attr::Scalar(*scalar),
        AttrSyntax::Convert(from, to) => Attr::Convert(*from, *to),
        AttrSyntax::Const(value) => Attr::Const(value.clone()),
        AttrSyntax::Type(ty) => Attr::Type(resolve_type(ty, names)?),
        AttrSyntax::Path(path) => match code.spec().attr {
            AttrKind::Struct => Attr::Named(names.named(path)?),
            AttrKind::Function => Attr::Function(names.function(path)?),
            AttrKind::Variable => Attr::Variable(names.variable(path)?),
            kind => Attr::Variable(names.storage(path, kind)?),
        },
        AttrSyntax::Member(owner, segment) => {
            let ty = resolve_type(owner, names)?;
            match (code.spec().attr, &ty) {
                (AttrKind::Variant, _) => Attr::Variant(Arc::new(resolve_variant(&ty, segment, names)?)),
                (_, Type::Named(of)) => Attr::Field(*of, names.member(*of, segment)?),
                (_, _) => {
                    let message = format!("`{ty}` is no struct");
                    return Err(Mistake::new(code::TYPE_EXPECTED, owner.at, message).expected("a struct"));
                }
            }
        }
        AttrSyntax::Index(index) => Attr::Index(*index),
        AttrSyntax::Capture(segment) => Attr::Index(names.capture(segment)?),
        AttrSyntax::Signature(of) => Attr::Signature(Arc::new(resolve_signature(of, names)?)),
        AttrSyntax::Indirect(path, of) => {
            Attr::Indirect(names.storage(path, AttrKind::Table)?, Arc::new(resolve_signature(of, names)?))
        }
        AttrSyntax::Entries(table, from) => {
            let kind = match code.spec().attr {
                AttrKind::TableInit => AttrKind::Elements,
                _ => AttrKind::Table,
            };
            Attr::Entries(names.storage(table, AttrKind::Table)?, names.storage(from, kind)?)
        }
        AttrSyntax::Memory(ty, offset, align_log2) => {
            Attr::Memory(MemArg { ty: *ty, offset: *offset, align_log2: *align_log2 })
        }
        AttrSyntax::Control(label, results) => {
            let results = resolve_types(results, names)?;
            Attr::Control(Arc::new(Control { label: label.clone(), results }))
        }
        AttrSyntax::Match(of) => Attr::Match(Arc::new(Match {
            label: of.label.clone(),
            cases: of
                .cases
                .iter()
                .map(|case| resolve_case(case, scrutinee, names))
                .collect::<Resolved<_>>()?,
            default: of.default,
            results: resolve_types(&of.results, names)?,
        })),
        AttrSyntax::Exit(segment) => Attr::Exit(names.target(segment)?),
        AttrSyntax::Switch(targets) => Attr::Switch(
            targets
                .iter()
                .map(|exit| {
                    Ok(match exit {
                        ExitSyntax::Break(segment) => Exit::Break(names.target(segment)?),
                        ExitSyntax::Continue(segment) => Exit::Continue(names.target(segment)?),
                        ExitSyntax::Return => Exit::Return,
                    })
                })
                .collect::<Resolved<Arc<[Exit]>>>()?,
        ),
        AttrSyntax::Unknown { .. } => {
            return Err(Mistake::new(code::UNKNOWN_OP, head.at, "there is no such operator"));
        }
        AttrSyntax::Raw(bytes, of) => {
            Attr::Raw(Arc::new(Raw { bytes: bytes.clone(), signature: resolve_signature(of, names)? }))
        }
    };
    make_op(code, attr, head.at)
}

fn make_op(code: Opcode, attr: Attr, at: u32) -> Resolved<Op> {
    Op::new(code, attr).ok_or_else(|| {
        let spec = code.spec();
        Mistake::new(code::TYPE_EXPECTED, at, format!("`{}` does not take this attribute", spec.mnemonic))
            .expected(spec.attr.describe().join(", "))
    })
}
