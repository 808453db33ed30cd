//! Who calls whom.

use async_graphql::SimpleObject;
use lmlang_ir::{FuncRef, Ref};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::function::Function;
use crate::schema::view::View;

/// That one function calls another, or takes a reference to it.
#[derive(Clone, SimpleObject)]
pub struct Call {
    /// The function that calls.
    caller: Function,
    /// The function that is called.
    callee: Function,
    /// At how many nodes.
    sites: i32,
}

impl Direct for Call {}

impl Listed for Call {
    const CONNECTION: &'static str = "CallConnection";
    const EDGE: &'static str = "CallEdge";
}

/// Who calls whom, by caller and callee; places are `f7-f8`.
pub(crate) fn call_graph(view: &View, page: &PageRequest) -> Result<Connection<Call>, ApiError> {
    let after = page.after(|place| {
        let (caller, callee) = place.split_once('-')?;
        Some((caller.parse::<FuncRef>().ok()?, callee.parse::<FuncRef>().ok()?))
    })?;
    let function = |of: Ref| FuncRef::try_from(of).ok();
    let mentions = view.program().all_users();
    let mut calls: Vec<(FuncRef, FuncRef, u32)> = mentions
        .filter_map(|(callee, caller, sites)| Some((function(caller)?, function(callee)?, sites)))
        .collect();
    calls.sort_unstable();
    let total = calls.len();
    let rest = calls.into_iter().filter(|(caller, callee, _)| Some((*caller, *callee)) > after);
    let items = rest.filter_map(|(caller, callee, sites)| {
        let call = Call {
            caller: Function::new(view, caller).ok()?,
            callee: Function::new(view, callee).ok()?,
            sites: i32::try_from(sites).unwrap_or(i32::MAX),
        };
        Some((format!("{caller}-{callee}"), call))
    });
    Ok(Connection::collect(page, total, items))
}
