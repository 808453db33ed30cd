//! Modules.

use async_graphql::{Context, ID, Object, Result, SimpleObject};
use lmlang_ir::{FuncRef, ModuleRef, Ref};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::edit_input::Visibility;
use crate::schema::function::Function;
use crate::schema::provenance::Provenance;
use crate::schema::scalars::Text;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// A module at one revision.
#[derive(Clone)]
pub struct Module {
    view: View,
    of: ModuleRef,
    record: lmlang_ir::Module,
}

impl Direct for Module {}

impl Listed for Module {
    const CONNECTION: &'static str = "ModuleConnection";
    const EDGE: &'static str = "ModuleEdge";
}

impl Module {
    /// The module with a ref, in a view.
    pub fn new(view: &View, of: ModuleRef) -> std::result::Result<Module, ApiError> {
        let record = view.program().module(of).ok_or_else(|| view.missing("module", of.into()))?;
        Ok(Module { view: view.clone(), of, record: record.clone() })
    }
}

/// How many functions of a module the verifier finds something in.
#[derive(Clone, Copy, Debug, Default, SimpleObject)]
pub struct ModuleFindings {
    /// Those with a finding of any kind.
    functions: i32,
    /// Those of them that are not `complete`.
    incomplete: i32,
}

impl ModuleFindings {
    fn of(view: &View, module: ModuleRef) -> ModuleFindings {
        let mut found = ModuleFindings::default();
        for (_, member) in view.program().members(Some(module)) {
            let Ok(function) = FuncRef::try_from(member) else { continue };
            let tally = view.findings().tally_of(function);
            found.functions += i32::from(tally.total() > 0);
            found.incomplete += i32::from(!tally.is_complete());
        }
        found
    }
}

/// A scope of names: functions, types, globals and modules.
#[Object]
impl Module {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.view.entity_id(self.of)
    }

    /// Short name within the program: `m2`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// Its label within the parent.
    async fn name(&self) -> Text {
        self.record.name.to_string().into()
    }

    /// `parent::name`.
    async fn path(&self) -> Text {
        self.view.program().path(self.of.into()).into()
    }

    /// The module around; null at the top.
    async fn parent(&self) -> Option<Result<Module>> {
        self.record.parent.map(|parent| Module::new(&self.view, parent).map_err(Into::into))
    }

    /// The modules in it, by name.
    async fn children(&self, context: &Context<'_>) -> Vec<Module> {
        let members = self.view.program().members(Some(self.of));
        let modules = members.filter_map(|(_, of)| ModuleRef::try_from(of).ok());
        budget::list(context, modules.filter_map(|of| Module::new(&self.view, of).ok()).collect()).await
    }

    /// The functions in it, by name; those of inner modules not included.
    async fn functions(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Function>>> {
        nullable(PageRequest::new(List::ModuleFunctions, first, after).and_then(|page| {
            let members = self.view.program().members(Some(self.of));
            let functions = members.filter_map(|(_, of)| FuncRef::try_from(of).ok());
            let functions = functions.filter_map(|of| Function::new(&self.view, of).ok()).collect();
            Connection::sorted(&page, functions, |one| &one.function.head().name)
        }))
    }

    /// How many of its functions the verifier finds something in; those of inner modules not included.
    async fn findings(&self) -> ModuleFindings {
        // One is found for each of the modules of a list, and each goes through its functions.
        budget::breathe().await;
        ModuleFindings::of(&self.view, self.of)
    }

    /// Who may use it.
    async fn visibility(&self) -> Visibility {
        self.record.visibility.into()
    }

    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.record.doc.as_deref())
    }

    /// Hash of all that was authored in it, refs included: of the module, and of its types, globals and functions, those
    /// of inner modules not included. `replaceModuleText` takes it as `ifHash`.
    async fn content_hash(&self) -> Option<String> {
        lmlang_ir::text::module_hash(self.view.program(), self.of).map(|hash| hash.to_string())
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.view, Ref::from(self.of)).await
    }
}
