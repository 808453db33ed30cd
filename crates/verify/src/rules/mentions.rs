//! V5, V6 and V7: what an operator names exists, is of the right kind, and may be used from here.

use lmlang_ir::ops::AttrKind;
use lmlang_ir::{
    Attr, Case, FuncRef, MemberRef, Opcode, Shape, Storage, StorageKind, Type, TypeDef, TypeRef, VarRef,
    Variant,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};
use crate::rules::{modules, types};
use crate::view::{Site, View};

/// What a node's operator names.
pub(crate) fn check(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let named = Named { view, site };
    match site.node.op().attr() {
        Attr::None
        | Attr::Scalar(_)
        | Attr::Convert(..)
        | Attr::Const(_)
        | Attr::Memory(_)
        | Attr::Exit(_)
        | Attr::Switch(_) => {}
        Attr::Type(ty) => named.ty(ty, out),
        Attr::Named(ty) => named.shape(*ty, ShapeKind::Struct, out),
        Attr::Field(ty, field) => named.field(*ty, *field, out),
        Attr::Variant(variant) => named.variant(variant, out),
        Attr::Function(function) => named.function(*function, out),
        Attr::Variable(variable) => named.variable(*variable, out),
        Attr::Index(index) => {
            let captures = view.function.head().captures.len();
            if *index as usize >= captures {
                let expected = captures.checked_sub(1).map(|last| Fact::AtMost(last as u64));
                let finding = named.finding(Code::UnknownCapture).finding(*index as usize);
                out.push(Diagnostic { expected, ..finding });
            }
        }
        Attr::Signature(signature) => named.types(signature.params.iter().chain(&signature.results), out),
        Attr::Indirect(table, signature) => {
            named.storage(*table, "table", out);
            named.entries(*table, &Type::FuncRef, out);
            named.types(signature.params.iter().chain(&signature.results), out);
        }
        Attr::Entries(table, from) => {
            named.storage(*table, "table", out);
            let wanted = if site.node.op().code() == Opcode::TableInit { "elem" } else { "table" };
            named.storage(*from, wanted, out);
            if let Some(ty) = view.program.storage(*from).and_then(|from| from.kind.holds()) {
                named.entries(*table, ty, out);
            }
        }
        Attr::Control(control) => named.types(&control.results, out),
        Attr::Match(cases) => {
            named.types(&cases.results, out);
            for case in &cases.cases {
                match case {
                    Case::Int(_) => {}
                    Case::Variant(variant) => named.variant(variant, out),
                }
            }
        }
        Attr::Raw(raw) => named.types(raw.signature.params.iter().chain(&raw.signature.results), out),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ShapeKind {
    Struct,
    Enum,
}

impl ShapeKind {
    fn of(def: &TypeDef) -> ShapeKind {
        match def.shape {
            Shape::Struct(_) => ShapeKind::Struct,
            Shape::Enum(_) => ShapeKind::Enum,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ShapeKind::Struct => "struct",
            ShapeKind::Enum => "enum",
        }
    }
}

struct Named<'v> {
    view: &'v View<'v>,
    site: Site<'v>,
}

impl Named<'_> {
    fn finding(&self, code: Code) -> Diagnostic {
        self.view.node_finding(code, self.site, None)
    }

    fn types<'t>(&self, all: impl IntoIterator<Item = &'t Type>, out: &mut Vec<Diagnostic>) {
        for ty in all {
            types::check_use(self.view.program, self.view.module(), ty, &|code| self.finding(code), out);
        }
    }

    fn ty(&self, ty: &Type, out: &mut Vec<Diagnostic>) {
        self.types([ty], out);
        let op = self.site.node.op();
        match (op.code(), ty) {
            (Opcode::EnumTag, Type::Named(named)) => self.shape(*named, ShapeKind::Enum, out),
            (Opcode::ArrayPush | Opcode::ArraySlice, Type::FixedArray(..)) => {
                out.push(self.finding(Code::FixedLength).finding(ty.clone()));
            }
            (Opcode::ElemAddr | Opcode::PtrFromI32 | Opcode::PtrToI32, _)
                if !types::is_plain(self.view.program, ty) =>
            {
                out.push(self.finding(Code::NoPlainLayout).finding(ty.clone()));
            }
            (_, _) => {}
        }
    }

    /// Tells whether the type exists with that shape, besides reporting it when not.
    fn shape(&self, of: TypeRef, wanted: ShapeKind, out: &mut Vec<Diagnostic>) {
        let found = out.len();
        self.types([&Type::Named(of)], out);
        if found == out.len()
            && let Some(def) = self.view.program.type_def(of)
            && ShapeKind::of(def) != wanted
        {
            let finding = self.finding(Code::WrongTypeShape).expecting(wanted.name());
            out.push(finding.finding(Type::Named(of)));
        }
    }

    fn field(&self, of: TypeRef, field: MemberRef, out: &mut Vec<Diagnostic>) {
        self.shape(of, ShapeKind::Struct, out);
        let Some(def) = self.view.program.type_def(of) else { return };
        if ShapeKind::of(def) == ShapeKind::Struct && def.field(field).is_none() {
            out.push(self.missing(of, field));
        }
        let pointed = self.site.node.op().code() == Opcode::FieldAddr;
        if pointed && !types::is_plain(self.view.program, &Type::Named(of)) {
            out.push(self.finding(Code::NoPlainLayout).finding(Type::Named(of)));
        }
    }

    fn variant(&self, variant: &Variant, out: &mut Vec<Diagnostic>) {
        match variant {
            Variant::Member(of, member) => {
                self.shape(*of, ShapeKind::Enum, out);
                let Some(def) = self.view.program.type_def(*of) else { return };
                let known = def.variant(*member).is_some();
                if ShapeKind::of(def) == ShapeKind::Enum && !known {
                    out.push(self.missing(*of, *member));
                }
            }
            Variant::None(of) | Variant::Some(of) => self.types([&**of], out),
            Variant::Ok(of) | Variant::Err(of) => self.types([&of.0, &of.1], out),
        }
    }

    fn missing(&self, of: TypeRef, member: MemberRef) -> Diagnostic {
        let finding = self.finding(Code::UnknownMember);
        finding.expecting(Fact::MemberOf(of)).finding(lmlang_ir::Ref::from(member))
    }

    fn function(&self, of: FuncRef, out: &mut Vec<Diagnostic>) {
        let found = lmlang_ir::Ref::from(of);
        let Some(function) = self.view.program.function(of) else {
            return out.push(self.finding(Code::UnknownFunction).finding(found));
        };
        let head = function.head();
        if !modules::sees(self.view.program, self.view.module(), head.module, head.visibility) {
            out.push(self.finding(Code::NotVisible).finding(found));
        }
        if !head.captures.is_empty() && self.site.node.op().code() != Opcode::ClosureNew {
            out.push(self.finding(Code::CallNeedsClosure).finding(found));
        }
    }

    fn variable(&self, of: VarRef, out: &mut Vec<Diagnostic>) {
        let wanted = match self.site.node.op().spec().attr {
            AttrKind::Variable => {
                if self.view.body.variable(of).is_none() {
                    out.push(self.finding(Code::UnknownVariable).finding(lmlang_ir::Ref::from(of)));
                }
                return;
            }
            AttrKind::Data => "data",
            AttrKind::Table => "table",
            AttrKind::Elements => "elem",
            _ => "global",
        };
        self.storage(of, wanted, out);
    }

    fn storage(&self, of: VarRef, wanted: &'static str, out: &mut Vec<Diagnostic>) {
        let found = lmlang_ir::Ref::from(of);
        let Some(storage) = self.view.program.storage(of) else {
            return out.push(self.finding(Code::UnknownStorage).finding(found));
        };
        let Storage { module, visibility, kind, .. } = storage;
        if !modules::sees(self.view.program, self.view.module(), *module, *visibility) {
            out.push(self.finding(Code::NotVisible).finding(found));
        }
        if storage_word(kind) != wanted {
            out.push(self.finding(Code::WrongStorage).expecting(wanted).finding(storage_word(kind)));
        }
        let op = self.site.node.op();
        if op.code() == Opcode::GlobalSet && matches!(kind, StorageKind::Global { mutable: false, .. }) {
            out.push(self.finding(Code::GlobalImmutable).finding(found));
        }
    }

    /// A table that is to hold references of a type.
    fn entries(&self, table: VarRef, ty: &Type, out: &mut Vec<Diagnostic>) {
        if let Some(StorageKind::Table { ty: held, .. }) =
            self.view.program.storage(table).map(|table| &table.kind)
            && held != ty
        {
            out.push(self.finding(Code::NoReference).expecting(ty.clone()).finding(held.clone()));
        }
    }
}

pub(crate) fn storage_word(kind: &StorageKind) -> &'static str {
    match kind {
        StorageKind::Global { .. } => "global",
        StorageKind::Memory { .. } => "memory",
        StorageKind::Data { .. } => "data",
        StorageKind::Table { .. } => "table",
        StorageKind::Elements { .. } => "elem",
        StorageKind::Custom { .. } => "custom",
    }
}
