//! The root of mutations: each one takes an input object with an optional idempotency key.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use lmlang_engine::{Distance, Engine, Proposal, RevertRequest, Selector, Travel, Way, Which};

use crate::error::{ApiError, Code};
use crate::schema::across::{self, BisectInput, BisectReport, CompareRunsInput, RunComparison};
use crate::schema::branching::{
    self, BranchPayload, CreateBranchInput, DeleteBranchInput, MergeInput, MergePayload,
};
use crate::schema::call::{call, note};
use crate::schema::cases::{self, AddCaseInput, CasePayload, RemoveCaseInput};
use crate::schema::cataloguing::{
    self, CreateProgramInput, CreateProgramPayload, DeleteProgramInput, UpdateProgramInput,
};
use crate::schema::checking::{self, CheckContractsInput, ContractReport};
use crate::schema::checkpointing::{
    self, CheckpointPayload, CreateCheckpointInput, DeleteCheckpointInput, RestoreCheckpointInput,
};
use crate::schema::defaults::{Int, Main, No, Or};
use crate::schema::edit_input::EditInput;
use crate::schema::edit_request;
use crate::schema::entities::{
    self, ApplyEntityPatchInput, DeleteEdgeInput, DeleteNodeInput, EntityPatchPayload, EntityPayload,
    UpdatePropsInput, UpsertEdgeInput, UpsertNodeInput,
};
use crate::schema::failure::fail;
use crate::schema::flows::interrupt::{self, AnswerInterruptInput, AnswerPayload};
use crate::schema::flows::registering::{self, RegisterFlowInput, RegisterFlowPayload, RemoveFlowInput};
use crate::schema::flows::steering::{
    self, CancelRunInput, CreateSessionInput, ForkRunInput, MoveRunInput, RewindRunInput, RunPayload,
    SessionPayload, StartRunInput,
};
use crate::schema::flows::turn::{self, TurnInput, TurnPayload};
use crate::schema::ids::ViewId;
use crate::schema::interactive::{self, ControlSimulationInput, SimulationPayload, StartSimulationInput};
use crate::schema::natural::natural;
use crate::schema::outcome::{ProposeEditOutcome, RevisionOutcome};
use crate::schema::reverting::{self, RevertInput, RevertPayload};
use crate::schema::token::{
    self, CreateTokenInput, CreateTokenPayload, RevokeTokenInput, RevokeTokenPayload,
};
use crate::schema::tournament::{self, ProposeManyInput, TournamentPayload};
use crate::schema::verification::VerifyScope;
use crate::schema::view::nullable;

/// What became of a deletion.
#[derive(Clone, Debug, SimpleObject)]
pub struct DeletePayload {
    /// Whether it was there.
    pub(crate) deleted: bool,
}

/// Proposes a change set.
#[derive(Clone, Debug, InputObject)]
pub struct ProposeEditInput {
    /// The program, by id or name.
    program_id: ID,
    /// The branch whose head is to move.
    #[graphql(default)]
    branch: Or<Main>,
    /// The revision that the caller saw, as for `program(at:)`: `r7`; without it, the head.
    base_revision: Option<String>,
    /// The edits: all or nothing, in order.
    edits: Vec<EditInput>,
    /// Same path and same answer, nothing stored; refs are provisional.
    #[graphql(default)]
    dry_run: Or<No>,
    /// How much is verified: what the edits can have touched, or everything.
    #[graphql(default_with = "Some(VerifyScope::Local)")]
    verify: Option<VerifyScope>,
    /// Refuse when a touched function is left incomplete, or when anything else becomes so: the callers of a changed
    /// signature too.
    #[graphql(default)]
    require_complete: Or<No>,
    /// Why, for the log.
    message: Option<String>,
    /// For whom; recorded beside the caller, never instead.
    on_behalf_of: Option<String>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// What became of a change set.
#[derive(Clone, SimpleObject)]
pub struct ProposeEditPayload {
    /// Applied, rejected or in conflict.
    outcome: ProposeEditOutcome,
}

/// Goes back or forward along the line of a branch.
#[derive(Clone, Debug, InputObject)]
pub struct UndoInput {
    /// The program, by id or name.
    program_id: ID,
    /// The branch.
    #[graphql(default)]
    branch: Or<Main>,
    /// How many states.
    #[graphql(default)]
    steps: Or<Int<1>>,
    /// The revision to go to, as for `program(at:)`: `r7`; instead of a number of steps.
    to: Option<String>,
    /// Only what this author has done last, with later work by others kept: as `revert` does it.
    author: Option<String>,
    /// The head that the caller saw, as for `program(at:)`: `r7`; another one now is a conflict.
    expected_head: Option<String>,
    /// Same path and same answer, nothing stored.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer; so that a retry does not undo twice.
    idempotency_key: Option<String>,
}

/// What became of going somewhere.
#[derive(Clone, SimpleObject)]
pub struct RevisionPayload {
    /// Made, nothing to do, or in conflict.
    pub(crate) outcome: RevisionOutcome,
}

/// What can be changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutation;

// The futures of mutations are boxed: what polls the fields has a place for each.
/// What can be changed. Every change of what is in a program is a revision, which can be undone; what is kept beside programs
/// (entities, test cases, runs, tokens) has none. What was rejected, or is in conflict, is no error but a member of `outcome`. A
/// request that is repeated under its `idempotencyKey` is answered as the first one.
#[Object]
impl Mutation {
    /// Makes a program, from a text or empty.
    async fn create_program(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program's name and first content.")] input: CreateProgramInput,
    ) -> Option<Result<CreateProgramPayload>> {
        nullable(Box::pin(cataloguing::create(context, input)).await)
    }

    /// Gives a program another name or doc.
    async fn update_program(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program, and what it is called from now on.")] input: UpdateProgramInput,
    ) -> Option<Result<CreateProgramPayload>> {
        nullable(Box::pin(cataloguing::update(context, input)).await)
    }

    /// Deletes a program: no list shows it, its name is free. Others are not touched.
    async fn delete_program(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program that goes.")] input: DeleteProgramInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(cataloguing::delete(context, input)).await)
    }

    /// Applies a change set, all or nothing, verifies what it touches and appends a revision. One that leaves everything as it
    /// is appends none, and is answered `unchanged`; except under an `idempotencyKey`, whose record the revision is.
    async fn propose_edit(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The edits, and the revision that they are based on.")] input: ProposeEditInput,
    ) -> Option<Result<ProposeEditPayload>> {
        nullable(Box::pin(propose_edit(context, input)).await)
    }

    /// Takes a turn in a session: answers what it asks, or begins its next run, and waits until that asks or ends.
    async fn turn(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "What is said, and in which session.")] input: TurnInput,
    ) -> Option<Result<TurnPayload>> {
        nullable(Box::pin(turn::take(context, input)).await)
    }

    /// Begins a session, to which runs of a flow belong.
    async fn create_session(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The flow, and what the session is about.")] input: CreateSessionInput,
    ) -> Option<Result<SessionPayload>> {
        nullable(Box::pin(steering::create_session(context, input)).await)
    }

    /// Begins a run of a flow. It goes on by itself, also after the server was stopped, until it ends or asks.
    async fn start_run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The flow, and what the run is started with.")] input: StartRunInput,
    ) -> Option<Result<RunPayload>> {
        nullable(Box::pin(steering::start(context, input)).await)
    }

    /// Answers a question of a run, once. The answer is durable when it is told here.
    async fn answer_interrupt(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The question, and the answer.")] input: AnswerInterruptInput,
    ) -> Option<Result<AnswerPayload>> {
        nullable(Box::pin(interrupt::answer(context, input)).await)
    }

    /// Stops a run, with the runs that it waits for. One that has ended stays as it is.
    async fn cancel_run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The run, and why.")] input: CancelRunInput,
    ) -> Option<Result<RunPayload>> {
        nullable(Box::pin(steering::cancel(context, input)).await)
    }

    /// Begins a run that is the same as another one up to a step and goes on from there; on a branch of its own, if it is about
    /// a program. Nothing that happened up to there happens again.
    async fn fork_run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The run, and the step.")] input: ForkRunInput,
    ) -> Option<Result<RunPayload>> {
        nullable(Box::pin(steering::fork(context, input)).await)
    }

    /// Takes a run back to a step: what came after does not count any more, revisions that it made are taken back by new ones,
    /// and it goes on from there. What happened outside the database stays, and is listed.
    async fn rewind_run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The run, and the step.")] input: RewindRunInput,
    ) -> Option<Result<RunPayload>> {
        nullable(Box::pin(steering::rewind(context, input)).await)
    }

    /// Has a run go on as one of the newer version that its flow has by now. It carries the same and stands where it stood; what keeps it
    /// from that is told, and it is not moved then. A dry run tells and changes nothing.
    async fn move_run(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The run.")] input: MoveRunInput,
    ) -> Option<Result<RunPayload>> {
        nullable(Box::pin(steering::move_run(context, input)).await)
    }

    /// Declares a flow of one's own, which can be run at once: its nodes call tools, ask models and people, branch, and start runs of
    /// other flows. What is wrong with it is told with its place. Declared anew it is another version; runs that have begun go on as they
    /// began.
    async fn register_flow(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The flow, with what its nodes do.")] input: RegisterFlowInput,
    ) -> Option<Result<RegisterFlowPayload>> {
        nullable(Box::pin(registering::register(context, input)).await)
    }

    /// Takes a declared flow away: none of its runs begins any more, and those that have begun go on. One whose runs other flows
    /// begin stays.
    async fn remove_flow(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The flow that goes.")] input: RemoveFlowInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(registering::remove(context, input)).await)
    }

    /// Tries many change sets for one place, each on a copy, and ranks them by what test cases and contracts say. Stores
    /// nothing: the one that is wanted is proposed with `proposeEdit`.
    async fn propose_many(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The candidates, and what they are measured by.")] input: ProposeManyInput,
    ) -> Option<Result<TournamentPayload>> {
        nullable(Box::pin(tournament::propose_many(context, input)).await)
    }

    /// Looks for inputs that break functions: on which they trap, violate what they promise or what their callees demand, or
    /// call without end. Inputs are made from the types of the parameters, guided by the branches that are reached, and made
    /// smaller where one is found. What is found becomes test cases.
    async fn check_contracts(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The functions, and how long they are searched.")] input: CheckContractsInput,
    ) -> Option<Result<ContractReport>> {
        nullable(Box::pin(checking::check_contracts(context, input)).await)
    }

    /// Begins a simulation that stops where it is told to, and goes on and back with `controlSimulation`. Answers when it
    /// stands still, or after `controlWaitMs`: then it runs on.
    async fn start_simulation(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The function, its arguments, and where it stops.")] input: StartSimulationInput,
    ) -> Option<Result<SimulationPayload>> {
        nullable(Box::pin(interactive::start(context, input)).await)
    }

    /// Moves a simulation that `startSimulation` began. Answers when it stands still again, or after `controlWaitMs`: then it
    /// runs on, and only `PAUSE` and `CANCEL` are possible. What takes longer than `timeoutMs` stops where it has come. One that
    /// streams (`Subscription.simulate`) can be cancelled, whoever began it: that ends all of its streams.
    async fn control_simulation(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The simulation, and what is done with it.")] input: ControlSimulationInput,
    ) -> Option<Result<SimulationPayload>> {
        nullable(Box::pin(interactive::control(context, input)).await)
    }

    /// Goes back along the line of a branch, by appending a revision whose content is the older one's.
    async fn undo(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The branch, and how far it goes back.")] input: UndoInput,
    ) -> Option<Result<RevisionPayload>> {
        nullable(Box::pin(undo(context, input, Way::Undo, Which::Newest)).await)
    }

    /// Goes forward again along what was undone.
    async fn redo(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The branch, and how far it goes forward.")] input: UndoInput,
    ) -> Option<Result<RevisionPayload>> {
        nullable(Box::pin(undo(context, input, Way::Redo, Which::TakenBack)).await)
    }

    /// Takes chosen revisions back and keeps later work, by appending a revision. Later revisions that rest on them go too:
    /// a dry run says which, and what the verifier finds then; nothing comes of it that the plan did not say.
    async fn revert(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "What is taken back, and on which branch.")] input: RevertInput,
    ) -> Option<Result<RevertPayload>> {
        nullable(Box::pin(reverting::revert(context, input)).await)
    }

    /// Names a revision.
    async fn create_checkpoint(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The name and the revision that gets it.")] input: CreateCheckpointInput,
    ) -> Option<Result<CheckpointPayload>> {
        nullable(Box::pin(checkpointing::create(context, input)).await)
    }

    /// Goes back to a checkpoint, by appending a revision whose content is that one's.
    async fn restore_checkpoint(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The checkpoint, and the branch that goes back to it.")]
        input: RestoreCheckpointInput,
    ) -> Option<Result<RevisionPayload>> {
        nullable(Box::pin(checkpointing::restore(context, input)).await)
    }

    /// Makes a token with which a caller shows who it is. From the first one on, every request needs one.
    async fn create_token(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The token's name, and what it is good for.")] input: CreateTokenInput,
    ) -> Option<Result<CreateTokenPayload>> {
        nullable(Box::pin(token::create(context, input)).await)
    }

    /// Revokes a token: it is good for nothing any more, and what is subscribed to with it ends.
    async fn revoke_token(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The token that ends.")] input: RevokeTokenInput,
    ) -> Option<Result<RevokeTokenPayload>> {
        nullable(Box::pin(token::revoke(context, input)).await)
    }

    /// Forgets a checkpoint; the revision stays.
    async fn delete_checkpoint(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The checkpoint that goes.")] input: DeleteCheckpointInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(checkpointing::delete(context, input)).await)
    }

    /// Makes a branch: a line of work beside `main`, of one row however large the program is.
    async fn create_branch(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The branch and where it begins.")] input: CreateBranchInput,
    ) -> Option<Result<BranchPayload>> {
        nullable(Box::pin(branching::create(context, input)).await)
    }

    /// Removes a branch; its revisions stay and can be looked at by number.
    async fn delete_branch(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The branch that goes.")] input: DeleteBranchInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(branching::delete(context, input)).await)
    }

    /// Brings the changes of a branch into another one, by appending a revision with both as its parents: what only one of
    /// them changed, what both changed alike, and what the resolutions say. Two branches give the same content whichever
    /// is merged into the other. What cannot be both, or does not type-check together, is a conflict, and nothing is done.
    async fn merge(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The two branches, and how conflicts are settled.")] input: MergeInput,
    ) -> Option<Result<MergePayload>> {
        nullable(Box::pin(branching::merge(context, input)).await)
    }

    /// Adds a test case to a function. It is run after every change of what the function reaches, and whenever somebody asks
    /// how it stands at a view where that is not known.
    async fn add_case(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The function, what it is given, and what it must return.")] input: AddCaseInput,
    ) -> Option<Result<CasePayload>> {
        nullable(Box::pin(cases::add(context, input)).await)
    }

    /// Removes a test case.
    async fn remove_case(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The case that goes.")] input: RemoveCaseInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(cases::remove(context, input)).await)
    }

    /// Finds the revision at which a test case broke, by halving; nothing of the program changes. An error where the case is
    /// not green at `good`, is green at `bad`, or `good` is not on the way to `bad`: `data.reason` says which.
    async fn bisect(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The case, and the two ends of the search.")] input: BisectInput,
    ) -> Option<Result<BisectReport>> {
        nullable(Box::pin(across::bisect(context, input)).await)
    }

    /// Runs a function at two revisions and finds the first step at which the runs part; nothing of the program changes.
    async fn compare_runs(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The two revisions, the function, and what it is given.")] input: CompareRunsInput,
    ) -> Option<Result<RunComparison>> {
        nullable(Box::pin(across::compare(context, input)).await)
    }

    /// Makes an entity, or merges properties into the one that has its label and key. The same again changes nothing.
    async fn upsert_node(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The entity, by label and key, and its properties.")] input: UpsertNodeInput,
    ) -> Option<Result<EntityPayload>> {
        nullable(Box::pin(entities::upsert_node(context, input)).await)
    }

    /// Makes a relation between two entities, or merges properties into the one that has its ends and type. The same again
    /// changes nothing.
    async fn upsert_edge(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The ends, the type, and the properties.")] input: UpsertEdgeInput,
    ) -> Option<Result<EntityPayload>> {
        nullable(Box::pin(entities::upsert_edge(context, input)).await)
    }

    /// Merges properties into an entity that is there.
    async fn update_props(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The entity, and what is to be said of its properties.")] input: UpdatePropsInput,
    ) -> Option<Result<EntityPayload>> {
        nullable(Box::pin(entities::update_props(context, input)).await)
    }

    /// Deletes an entity, with its relations only if told to.
    async fn delete_node(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The entity that goes.")] input: DeleteNodeInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(entities::delete_node(context, input)).await)
    }

    /// Deletes a relation between two entities.
    async fn delete_edge(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The relation that goes.")] input: DeleteEdgeInput,
    ) -> Option<Result<DeletePayload>> {
        nullable(Box::pin(entities::delete_edge(context, input)).await)
    }

    /// Changes many entities and relations, all of it or nothing. The same again changes nothing.
    async fn apply_patch(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The operations, in order.")] input: ApplyEntityPatchInput,
    ) -> Option<Result<EntityPatchPayload>> {
        nullable(Box::pin(entities::apply_patch(context, input)).await)
    }
}

/// A program named by the id of any view, or by its name.
pub(crate) fn selector(given: &str) -> Selector {
    match given.parse::<ViewId>() {
        Ok(id) => Selector::Id(id.program),
        Err(_) => Selector::Name(given.to_owned()),
    }
}

async fn propose_edit(
    context: &Context<'_>,
    input: ProposeEditInput,
) -> Result<ProposeEditPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let mut call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    note("onBehalfOf", input.on_behalf_of.as_deref())?;
    call.on_behalf_of = input.on_behalf_of.or(call.on_behalf_of);
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let proposal = Proposal {
        program: selector(&input.program_id),
        branch: input.branch.0,
        base: input.base_revision,
        edits: edit_request::requests(input.edits)?,
        dry_run: input.dry_run.0,
        require_complete: input.require_complete.0,
        verify_all: input.verify == Some(VerifyScope::Full),
    };
    let outcome = engine.propose(proposal, &call).await.map_err(fail)?;
    Ok(ProposeEditPayload { outcome: ProposeEditOutcome::new(engine, &open, outcome).noted(context) })
}

async fn undo(
    context: &Context<'_>,
    input: UndoInput,
    way: impl Fn(Distance) -> Way,
    by_author: impl Fn(String, usize) -> Which,
) -> Result<RevisionPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let open = engine.find(&selector(&input.program_id)).await.map_err(fail)?;
    let steps: u64 = natural("steps", input.steps.0)?;
    if steps != 1 && input.to.is_some() {
        return Err(ApiError::new(Code::BadRequest, "`steps` does not go with `to`"));
    }
    let UndoInput { branch: Or(branch), expected_head, dry_run: Or(dry_run), .. } = input;
    let arrival = match (input.author, input.to) {
        (Some(_), Some(_)) => {
            return Err(ApiError::new(Code::BadRequest, "`to` does not go with `author`"));
        }
        (Some(author), None) => {
            let which = by_author(author, usize::try_from(steps).unwrap_or(usize::MAX));
            let request = RevertRequest { branch, which, expected_head, dry_run };
            engine.revert(&open, &request, &call).await.map_err(fail)?.arrival
        }
        (None, to) => {
            let way = way(to.map_or(Distance::Steps(steps), Distance::To));
            let travel = Travel { branch, way, expected_head, dry_run };
            engine.travel(&open, &travel, &call).await.map_err(fail)?
        }
    };
    Ok(RevisionPayload { outcome: RevisionOutcome::new(engine, open, arrival).noted(context) })
}
