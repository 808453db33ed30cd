//! What a caller needs for a field: the one place where scopes are asked for.
//!
//! Fields of the roots are asked about here before their resolvers run; what lies below is as free as the way to it, but
//! for the few fields that do more than show something. Which programs there are for a caller is the engine's affair: the
//! handle that resolvers find in their context knows no others.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::resolver_utils::{ContainerType, resolve_container};
use async_graphql::{
    Context, ContextSelectionSet, Error, ObjectType, OutputType, Positioned, Response, ServerError,
    ServerResult, SubscriptionType, Value,
};
use futures_util::{Stream, future, stream};
use lmlang_engine::{Grant, Scope};

use crate::error::{ApiError, Code};
use crate::transport::Caller;

/// What a caller needs for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing but to be let in: it shows nothing of programs.
    Nothing,
    /// A scope.
    Scope(Scope),
    /// A scope, and not to be limited to some programs: it makes or shows what belongs to none of them.
    OfAll(Scope),
}

use Need::{Nothing, OfAll};

const READ: Need = Need::Scope(Scope::Read);
const EDIT: Need = Need::Scope(Scope::Edit);
const SIMULATE: Need = Need::Scope(Scope::Simulate);
const ADMIN: Need = Need::Scope(Scope::Admin);

/// What is needed for each field of the roots, and for those below that do more than show something.
pub const NEEDS: &[(&str, Need)] = &[
    ("Query.caller", Nothing),
    // Who is limited to programs is answered about these, as if there were no entities.
    ("Query.cypher", READ),
    ("Query.diagnosticCode", Nothing),
    // Entities belong to no program.
    ("Query.entities", OfAll(Scope::Read)),
    ("Query.entitySubgraph", OfAll(Scope::Read)),
    ("Query.eventCursor", READ),
    ("Query.findText", READ),
    // What can be run tells nothing of programs.
    ("Query.flow", Nothing),
    ("Query.flows", Nothing),
    ("Query.interrupts", READ),
    ("Query.metrics", READ),
    ("Query.node", READ),
    ("Query.nodes", READ),
    ("Query.ops", Nothing),
    ("Query.program", READ),
    ("Query.programs", READ),
    ("Query.run", READ),
    ("Query.runState", READ),
    ("Query.runs", READ),
    ("Query.serverInfo", Nothing),
    ("Query.session", READ),
    // Sessions belong to no program.
    ("Query.sessions", OfAll(Scope::Read)),
    ("Query.simulation", READ),
    ("Query.tokens", OfAll(Scope::Admin)),
    ("Mutation.addCase", EDIT),
    ("Mutation.answerInterrupt", EDIT),
    ("Mutation.applyPatch", OfAll(Scope::Edit)),
    ("Mutation.bisect", SIMULATE),
    ("Mutation.cancelRun", EDIT),
    ("Mutation.checkContracts", SIMULATE),
    ("Mutation.compareRuns", SIMULATE),
    ("Mutation.controlSimulation", SIMULATE),
    ("Mutation.createBranch", EDIT),
    ("Mutation.createCheckpoint", EDIT),
    // A program that is made is none of those that a token is limited to, and its name may be that of another one.
    ("Mutation.createProgram", OfAll(Scope::Edit)),
    ("Mutation.createSession", OfAll(Scope::Edit)),
    // What it is about follows from its flow, which finds no other programs for the caller.
    ("Mutation.turn", EDIT),
    ("Mutation.createToken", OfAll(Scope::Admin)),
    ("Mutation.deleteBranch", EDIT),
    ("Mutation.deleteCheckpoint", EDIT),
    // The one change that cannot be undone.
    ("Mutation.deleteProgram", ADMIN),
    ("Mutation.deleteEdge", OfAll(Scope::Edit)),
    ("Mutation.deleteNode", OfAll(Scope::Edit)),
    ("Mutation.forkRun", EDIT),
    ("Mutation.merge", EDIT),
    ("Mutation.moveRun", EDIT),
    ("Mutation.proposeEdit", EDIT),
    ("Mutation.proposeMany", SIMULATE),
    ("Mutation.redo", EDIT),
    // What it calls, it calls for whoever begins a run of it.
    ("Mutation.registerFlow", OfAll(Scope::Admin)),
    ("Mutation.removeCase", EDIT),
    ("Mutation.removeFlow", OfAll(Scope::Admin)),
    ("Mutation.restoreCheckpoint", EDIT),
    ("Mutation.revert", EDIT),
    ("Mutation.revokeToken", OfAll(Scope::Admin)),
    ("Mutation.rewindRun", EDIT),
    ("Mutation.startRun", EDIT),
    ("Mutation.startSimulation", SIMULATE),
    ("Mutation.undo", EDIT),
    ("Mutation.updateProgram", EDIT),
    ("Mutation.updateProps", OfAll(Scope::Edit)),
    ("Mutation.upsertEdge", OfAll(Scope::Edit)),
    ("Mutation.upsertNode", OfAll(Scope::Edit)),
    ("Subscription.contractAttempts", SIMULATE),
    ("Subscription.diagnostics", READ),
    ("Subscription.programEvents", READ),
    ("Subscription.runEvents", READ),
    ("Subscription.simulate", SIMULATE),
    // It goes on with a run that was left.
    ("Subscription.simulation", SIMULATE),
    ("Subscription.tournament", READ),
    // It may name any program.
    ("Flow.declaration", OfAll(Scope::Read)),
    ("Function.simulate", SIMULATE),
    ("Program.behaviourDiff", SIMULATE),
    ("Program.mutationScore", SIMULATE),
    ("Program.mutations", SIMULATE),
    ("Program.simulateNodes", SIMULATE),
    ("Program.uncovered", SIMULATE),
];

/// Refuses a caller who may not have a field, named as `Type.field`. One that nobody has decided about is refused to
/// everyone with a token.
pub(crate) fn allow(context: &Context<'_>, field: &str) -> Result<(), ApiError> {
    let need = || NEEDS.iter().find(|(of, _)| *of == field).map_or(OfAll(Scope::Admin), |(_, need)| *need);
    match caller(context) {
        Some(caller) if caller.grant.token().is_none() => Ok(()),
        Some(caller) => meets(&caller.grant, need(), field.rsplit('.').next().unwrap_or(field)),
        None => Err(ApiError::new(Code::Unauthenticated, "nobody is known to call")),
    }
}

/// Refuses a caller who is limited to some programs something that concerns all, named as in `what`.
pub(crate) fn allow_of_all(context: &Context<'_>, what: &str) -> Result<(), ApiError> {
    match caller(context).and_then(|caller| caller.grant.only()) {
        None => Ok(()),
        Some(_) => Err(limited(what)),
    }
}

/// Whether a caller has a scope.
pub(crate) fn may(context: &Context<'_>, scope: Scope) -> bool {
    caller(context).is_some_and(|caller| caller.grant.token().is_none() || caller.grant.includes(scope))
}

/// Who calls.
pub(crate) fn caller<'a>(context: &Context<'a>) -> Option<&'a Caller> {
    context.data_opt::<Arc<Caller>>().map(|caller| &**caller)
}

/// Refuses backups to those who may not have them: they hold all of everything.
///
/// # Errors
///
/// What is missing.
pub fn may_back_up(grant: &Grant) -> Result<(), ApiError> {
    if grant.token().is_none() { Ok(()) } else { meets(grant, OfAll(Scope::Admin), "backup") }
}

/// Refuses what shows programs, named as in `what`, to those who may not read them.
///
/// # Errors
///
/// What is missing.
pub(crate) fn may_read(grant: &Grant, what: &str) -> Result<(), ApiError> {
    if grant.token().is_none() { Ok(()) } else { meets(grant, READ, what) }
}

/// Refuses the import of a module to those who may not change programs.
///
/// # Errors
///
/// What is missing.
pub fn may_import(grant: &Grant) -> Result<(), ApiError> {
    if grant.token().is_none() { Ok(()) } else { meets(grant, EDIT, "wasm") }
}

/// Refuses what is asked of the built-in Manager, whose streams and pipelines belong to no program, to those who may not do it.
///
/// # Errors
///
/// What is missing.
pub fn may_manage(grant: &Grant, scope: Scope) -> Result<(), ApiError> {
    let need = OfAll(scope);
    if grant.token().is_none() { Ok(()) } else { meets(grant, need, "manager") }
}

fn meets(grant: &Grant, need: Need, field: &str) -> Result<(), ApiError> {
    let scope = match need {
        Nothing => return Ok(()),
        Need::Scope(scope) | OfAll(scope) => scope,
    };
    if !grant.includes(scope) {
        let message = format!("`{field}` needs the scope `{}`", scope.name());
        return Err(
            ApiError::new(Code::Forbidden, message).data(serde_json::json!({ "scope": scope.name() }))
        );
    }
    match need {
        OfAll(_) if grant.only().is_some() => Err(limited(&format!("`{field}`"))),
        Nothing | Need::Scope(_) | OfAll(_) => Ok(()),
    }
}

fn limited(what: &str) -> ApiError {
    let message = format!("{what} needs a token that is not limited to programs");
    ApiError::new(Code::Forbidden, message).data(serde_json::json!({ "limited": true }))
}

/// A root whose fields are refused to those who may not have them.
#[derive(Clone, Copy, Debug)]
pub struct Guarded<T>(pub T);

fn refused(context: &Context<'_>, root: &str) -> Option<ServerError> {
    if caller(context).is_some_and(|caller| caller.grant.token().is_none()) {
        return None;
    }
    let field = &context.item.node.name.node;
    let error = allow(context, &format!("{root}.{field}")).err()?;
    Some(context.set_error_path(Error::from(error).into_server_error(context.item.pos)))
}

impl<T: ObjectType> ContainerType for Guarded<T> {
    async fn resolve_field(&self, context: &Context<'_>) -> ServerResult<Option<Value>> {
        match refused(context, &T::type_name()) {
            None => self.0.resolve_field(context).await,
            // Every field of a root is nullable: its siblings are answered.
            Some(error) => {
                context.add_error(error);
                Ok(Some(Value::Null))
            }
        }
    }
}

impl<T: ObjectType> OutputType for Guarded<T> {
    fn type_name() -> Cow<'static, str> {
        T::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        T::create_type_info(registry)
    }

    async fn resolve(
        &self,
        context: &ContextSelectionSet<'_>,
        _field: &Positioned<Field>,
    ) -> ServerResult<Value> {
        resolve_container(context, self).await
    }
}

impl<T: ObjectType> ObjectType for Guarded<T> {}

impl<T: SubscriptionType> SubscriptionType for Guarded<T> {
    fn type_name() -> Cow<'static, str> {
        T::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        T::create_type_info(registry)
    }

    fn create_field_stream<'a>(
        &'a self,
        context: &'a Context<'_>,
    ) -> Option<Pin<Box<dyn Stream<Item = Response> + Send + 'a>>> {
        match refused(context, &T::type_name()) {
            None => self.0.create_field_stream(context),
            Some(error) => Some(Box::pin(stream::once(future::ready(Response::from_errors(vec![error]))))),
        }
    }
}
