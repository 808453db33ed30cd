//! Nominal types with their members.

use std::sync::Arc;

use async_graphql::{ComplexObject, Context, Enum, ID, Object, Result, SimpleObject};
use lmlang_ir::{Shape, TypeRef, text};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::function::{self, Contract, Function};
use crate::schema::provenance::Provenance;
use crate::schema::scalars::Text;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// A nominal type at one revision.
#[derive(Clone)]
pub struct TypeDef {
    view: View,
    of: TypeRef,
    def: Arc<lmlang_ir::TypeDef>,
}

impl Direct for TypeDef {}

impl Listed for TypeDef {
    const CONNECTION: &'static str = "TypeDefConnection";
    const EDGE: &'static str = "TypeDefEdge";
}

/// What a nominal type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum TypeKind {
    /// All fields together.
    Struct,
    /// One of the variants.
    Enum,
}

/// A field of a struct.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub struct FieldDef {
    /// Short name within the program: `d3`.
    #[graphql(name = "ref")]
    reference: String,
    /// Its name within the struct.
    name: Text,
    /// The type of its value.
    #[graphql(name = "type")]
    ty: Text,
    #[graphql(skip)]
    written: Option<Arc<str>>,
}

#[ComplexObject]
impl FieldDef {
    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.written.as_deref())
    }
}

/// A variant of an enum.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub struct VariantDef {
    /// Short name within the program: `d4`.
    #[graphql(name = "ref")]
    reference: String,
    /// Its name within the enum.
    name: Text,
    /// The type of what it carries, if it carries something.
    payload: Option<Text>,
    #[graphql(skip)]
    written: Option<Arc<str>>,
}

#[ComplexObject]
impl VariantDef {
    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.written.as_deref())
    }
}

impl TypeDef {
    /// The type with a ref, in a view.
    pub fn new(view: &View, of: TypeRef) -> std::result::Result<TypeDef, ApiError> {
        let def = view.program().type_def(of).ok_or_else(|| view.missing("type", of.into()))?;
        Ok(TypeDef { view: view.clone(), of, def: Arc::clone(def) })
    }
}

/// A nominal type: a struct or an enum.
#[Object]
impl TypeDef {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.view.entity_id(self.of)
    }

    /// Short name within the program: `t2`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// Its label within the module.
    async fn name(&self) -> Text {
        self.def.name.to_string().into()
    }

    /// `module::name`.
    async fn path(&self) -> Text {
        self.view.program().path(self.of.into()).into()
    }

    /// Struct or enum.
    async fn kind(&self) -> TypeKind {
        match &self.def.shape {
            Shape::Struct(_) => TypeKind::Struct,
            Shape::Enum(_) => TypeKind::Enum,
        }
    }

    /// Its text form.
    async fn text(&self, context: &Context<'_>) -> Option<Result<String>> {
        let print = || text::print_type(self.view.program(), self.of, text::Detail::Full);
        nullable(budget::text(context, print).await)
    }

    /// Its fields in order; none for an enum.
    async fn fields(&self, context: &Context<'_>) -> Vec<FieldDef> {
        let field = |field: &lmlang_ir::Field| FieldDef {
            reference: field.member.to_string(),
            name: field.name.to_string().into(),
            ty: text::print_type_name(self.view.program(), None, &field.ty).into(),
            written: field.doc.clone(),
        };
        budget::list(context, self.def.fields().iter().map(field).collect()).await
    }

    /// Its variants in order; none for a struct.
    async fn variants(&self, context: &Context<'_>) -> Vec<VariantDef> {
        let variant = |variant: &lmlang_ir::VariantDef| VariantDef {
            reference: variant.member.to_string(),
            name: variant.name.to_string().into(),
            payload: variant
                .payload
                .as_ref()
                .map(|ty| text::print_type_name(self.view.program(), None, ty).into()),
            written: variant.doc.clone(),
        };
        budget::list(context, self.def.variants().iter().map(variant).collect()).await
    }

    /// Functions that mention it, by ref.
    async fn used_by(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(
            PageRequest::new(List::TypeUsers, first, after)
                .and_then(|page| function::users(&self.view, self.of.into(), &page)),
        )
    }

    /// Its invariants, by ref: conditions on each value that enters or leaves a public or exported function, alone or as a
    /// part. They stand in functions of the value.
    async fn contracts(&self, context: &Context<'_>) -> Vec<Contract> {
        let invariants = self.view.program().invariants(self.of);
        let invariants = invariants.filter_map(|(function, contract, _)| {
            Some(Contract::new(Function::new(&self.view, function).ok()?, contract))
        });
        budget::list(context, invariants.collect()).await
    }

    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.def.doc.as_deref())
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.view, self.of.into()).await
    }
}
