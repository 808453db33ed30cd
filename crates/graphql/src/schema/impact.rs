//! What a change of something could affect.

use std::sync::Arc;

use async_graphql::{Context, Object, Result};
use lmlang_ir::graph::impact as affected;
use lmlang_ir::{ContractRef, TypeRef, VarRef};

use crate::error::ApiError;
use crate::schema::connection::{Connection, PageRequest};
use crate::schema::function::{Contract, Function};
use crate::schema::scalars::Text;
use crate::schema::storage::Storage;
use crate::schema::types::TypeDef;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// What a change could affect.
#[derive(Clone)]
pub struct Impact {
    view: View,
    page: PageRequest,
    found: Arc<affected::Impact>,
}

/// The most types, storage and contracts listed in one answer.
const LISTED: usize = 1_000;

/// What a change of some entities could affect.
#[Object]
impl Impact {
    /// Functions that reach them, the nearest first.
    async fn functions(&self) -> Option<Result<Connection<Function>>> {
        let functions =
            self.found.functions.iter().filter_map(|of| Function::new(&self.view, *of).ok()).collect();
        nullable(Connection::by_name(&self.page, functions, |one: &Function| one.of.to_string()))
    }

    /// Types that contain them.
    async fn types(&self, context: &Context<'_>) -> Vec<TypeDef> {
        let types = self.found.types.iter().take(LISTED);
        budget::list(context, types.filter_map(|of: &TypeRef| TypeDef::new(&self.view, *of).ok()).collect())
            .await
    }

    /// Storage that contains them: globals of a type, tables with a function, segments of a memory.
    async fn storage(&self, context: &Context<'_>) -> Vec<Storage> {
        let storage = self.found.storage.iter().take(LISTED);
        budget::list(context, storage.filter_map(|of: &VarRef| Storage::new(&self.view, *of).ok()).collect())
            .await
    }

    /// The contracts of these functions.
    async fn contracts(&self, context: &Context<'_>) -> Vec<Contract> {
        let contract = |of: &ContractRef| {
            let function = self.view.program().function_of((*of).into())?;
            Some(Contract::new(Function::new(&self.view, function).ok()?, *of))
        };
        budget::list(context, self.found.contracts.iter().take(LISTED).filter_map(contract).collect()).await
    }

    /// Names under which what is affected is exported.
    async fn exports(&self, context: &Context<'_>) -> Vec<Text> {
        let names = self.found.exports.iter().map(|name| Text::from(name.to_string()));
        budget::list(context, names.collect()).await
    }

    /// How many functions, types, storage and contracts there are.
    async fn total_count(&self) -> i32 {
        let found = &self.found;
        (found.functions.len() + found.types.len() + found.storage.len() + found.contracts.len()) as i32
    }

    /// Whether types, storage or contracts were left out.
    async fn truncated(&self) -> bool {
        let found = &self.found;
        [found.types.len(), found.storage.len(), found.contracts.len()].into_iter().any(|all| all > LISTED)
    }
}

/// What a change of some entities could affect.
pub(crate) fn impact(
    view: &View,
    of: &[String],
    page: &PageRequest,
) -> std::result::Result<Impact, ApiError> {
    let of = of.iter().map(|given| view.entity_named(given)).collect::<std::result::Result<Vec<_>, _>>()?;
    let found = Arc::new(affected::impact(view.program(), &of));
    Ok(Impact { view: view.clone(), page: page.clone(), found })
}
