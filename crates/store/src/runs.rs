//! Runs of flows: who began them, with what, and how they stand.

use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    Select,
};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::{flow_definitions, runs};
use crate::entry::{Idempotency, Timestamp};
use crate::fault::Fault;
use crate::programs::sought;
use crate::sql::Sql;
use crate::store::Store;

/// A run of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its place among all runs, by age.
    pub key: u64,
    /// Its id.
    pub id: Uuid,
    /// The name of its flow.
    pub flow: String,
    /// What tells the definition of its flow from others.
    pub definition: Vec<u8>,
    /// The session that it belongs to.
    pub session: Uuid,
    /// The run that waits for it, and the branch of that one.
    pub parent: Option<(Uuid, String)>,
    /// The program that it is about.
    pub program: Option<Uuid>,
    /// The branch of it that it works on, if that is known.
    pub branch: Option<String>,
    /// Who began it.
    pub actor: ActorKey,
    /// What it was begun with, encoded.
    pub input: Vec<u8>,
    /// When it began.
    pub made: Timestamp,
    /// The request that began it, if that had a key.
    pub making: Option<Idempotency>,
    /// The run that it goes on from, and the entry of that one's journal up to which it is the same.
    pub forked: Option<(Uuid, u64)>,
    /// How it stands.
    pub standing: RunStanding,
}

/// How a run stands after an entry of its journal: what lists show and what is gone on with. While one process executes it and
/// nobody else can, the row of the run may be behind in its node and its newest entry, and in nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStanding {
    /// Its status.
    pub status: RunStatus,
    /// The node at which it stands.
    pub node: Option<String>,
    /// The number of its newest entry.
    pub last: u64,
    /// When something is to be done about it; none if not before somebody has answered. One that was cancelled may have
    /// something to take away.
    pub wake: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// When it ends by itself if it has not by then; none: never.
    pub deadline: Option<Timestamp>,
}

/// The status of a run.
///
/// The discriminants are stored: they never change, and new ones are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RunStatus {
    /// Something is being done, or will be at a known time.
    Running = 0,
    /// Nothing can be done before somebody has answered or another run has ended.
    Waiting = 1,
    /// It has come to its end.
    Completed = 2,
    /// It cannot go on.
    Failed = 3,
    /// Somebody stopped it.
    Cancelled = 4,
}

impl RunStatus {
    const ALL: [Self; 5] = [Self::Running, Self::Waiting, Self::Completed, Self::Failed, Self::Cancelled];

    fn from_code(code: i16) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code).copied())
    }
}

/// The definition of a flow, as it is kept for its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowDefinition {
    /// What tells it from others.
    pub hash: Vec<u8>,
    /// The flow's name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// The definition, encoded.
    pub definition: Vec<u8>,
}

/// Which runs are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Those of a flow.
    pub flow: Option<String>,
    /// Those that stand so.
    pub status: Option<RunStatus>,
    /// Those of a session.
    pub session: Option<Uuid>,
    /// Those about one of these programs.
    pub programs: Option<Vec<Uuid>>,
    /// Those about this program.
    pub program: Option<Uuid>,
    /// Those begun by one of these actors.
    pub by: Option<Vec<ActorKey>>,
    /// Those that had not ended by a time, and had begun before another one.
    pub during: Option<(Timestamp, Timestamp)>,
    /// Those that no other one waits for, or has waited for.
    pub roots: bool,
    /// Those that have ended.
    pub ended: bool,
}

impl Store {
    /// The run with an id.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn run(&self, id: Uuid) -> Result<Option<Run>, Fault> {
        let found = runs::Entity::find().filter(runs::Column::Id.eq(id));
        found.one(&self.reader).await?.map(Run::try_from).transpose()
    }

    /// When these runs end by themselves, each with the run that waits for it; of those that are there and have either.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn run_deadlines(
        &self,
        of: &[Uuid],
    ) -> Result<Vec<(Uuid, Option<Timestamp>, Option<Uuid>)>, Fault> {
        let mut all = Vec::new();
        for some in of.chunks(128) {
            let either = Condition::any()
                .add(runs::Column::Deadline.is_not_null())
                .add(runs::Column::Parent.is_not_null());
            let found = runs::Entity::find()
                .filter(runs::Column::Id.is_in(some.iter().copied()))
                .filter(either)
                .select_only()
                .column(runs::Column::Id)
                .column(runs::Column::Deadline)
                .column(runs::Column::Parent);
            let rows: Vec<(Uuid, Option<i64>, Option<Uuid>)> = found.into_tuple().all(&self.reader).await?;
            all.extend(rows.into_iter().map(|(run, at, parent)| (run, at.map(Timestamp), parent)));
        }
        Ok(all)
    }

    /// The run that was begun under an idempotency key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn run_made_under(&self, key: &[u8]) -> Result<Option<Run>, Fault> {
        let found = runs::Entity::find().filter(runs::Column::MadeKey.eq(key));
        found.one(&self.reader).await?.map(Run::try_from).transpose()
    }

    /// Runs, the newest first, at most so many before a key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn runs(&self, filter: &RunFilter, before: Option<u64>, limit: u64) -> Result<Vec<Run>, Fault> {
        let mut found = listed(filter);
        if let Some(before) = before {
            found = found.filter(runs::Column::Key.lt(before.cast_signed()));
        }
        let found = found.order_by_desc(runs::Column::Key).limit(limit);
        found.all(&self.reader).await?.into_iter().map(Run::try_from).collect()
    }

    /// Whether there is a run of a flow with this name, of whatever version.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn knows_flow(&self, name: &str) -> Result<bool, Fault> {
        let found = flow_definitions::Entity::find().filter(flow_definitions::Column::Name.eq(sought(name)));
        Ok(found.one(&self.reader).await?.is_some())
    }

    /// Runs from a place on, the oldest first, at most so many.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn runs_from(&self, filter: &RunFilter, key: u64, limit: u64) -> Result<Vec<Run>, Fault> {
        let found = listed(filter)
            .filter(runs::Column::Key.gte(key.cast_signed()))
            .order_by_asc(runs::Column::Key)
            .limit(limit);
        found.all(&self.reader).await?.into_iter().map(Run::try_from).collect()
    }

    /// How many runs there are.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<u64, Fault> {
        Ok(listed(filter).count(&self.reader).await?)
    }

    /// The runs that a run waits for or has waited for.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn child_runs(&self, parent: Uuid) -> Result<Vec<Run>, Fault> {
        let found = runs::Entity::find().filter(runs::Column::Parent.eq(parent));
        let rows = found.order_by_asc(runs::Column::Key).all(&self.reader).await?;
        rows.into_iter().map(Run::try_from).collect()
    }

    /// The runs that have not ended and that nobody waits for any more: those that did have ended.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn orphaned_runs(&self) -> Result<Vec<Run>, Fault> {
        let ended = Query::select()
            .column(runs::Column::Id)
            .from(runs::Entity)
            .and_where(Expr::col(runs::Column::Ended).is_not_null())
            .to_owned();
        let found = runs::Entity::find()
            .filter(runs::Column::Ended.is_null())
            .filter(runs::Column::Parent.in_subquery(ended));
        let rows = found.order_by_asc(runs::Column::Key).all(&self.reader).await?;
        rows.into_iter().map(Run::try_from).collect()
    }

    /// The definition that a hash tells from others.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn flow_definition(&self, hash: &[u8]) -> Result<Option<FlowDefinition>, Fault> {
        let row = flow_definitions::Entity::find_by_id(hash.to_vec()).one(&self.reader).await?;
        let Some(row) = row else { return Ok(None) };
        let version = u32::try_from(row.version);
        let version = version.map_err(|_| Fault::Row { table: "flow_definitions", column: "version" })?;
        Ok(Some(FlowDefinition { hash: row.hash, name: row.name, version, definition: row.definition }))
    }
}

/// The statement that keeps a definition, if it is not kept already.
pub(crate) fn keep_definition(definition: FlowDefinition) -> Sql {
    let row = flow_definitions::ActiveModel {
        hash: Set(definition.hash),
        name: Set(definition.name),
        version: Set(i64::from(definition.version)),
        definition: Set(definition.definition),
    };
    let mut insert = flow_definitions::Entity::insert(row).into_query();
    insert.on_conflict(OnConflict::column(flow_definitions::Column::Hash).do_nothing().to_owned());
    insert.into()
}

fn listed(filter: &RunFilter) -> Select<runs::Entity> {
    let mut found = runs::Entity::find();
    if let Some(flow) = &filter.flow {
        found = found.filter(runs::Column::Flow.eq(flow.as_str()));
    }
    if let Some(status) = filter.status {
        found = found.filter(runs::Column::Status.eq(status as i16));
    }
    if let Some(session) = filter.session {
        found = found.filter(runs::Column::Session.eq(session));
    }
    if let Some(programs) = &filter.programs {
        found = found.filter(runs::Column::Program.is_in(programs.iter().copied()));
    }
    if let Some(program) = filter.program {
        found = found.filter(runs::Column::Program.eq(program));
    }
    if filter.roots {
        found = found.filter(runs::Column::Parent.is_null());
    }
    if filter.ended {
        found = found.filter(runs::Column::Ended.is_not_null());
    }
    if let Some((from, until)) = filter.during {
        let lasted = runs::Column::Ended.is_null().or(runs::Column::Ended.gte(from.0));
        found = found.filter(runs::Column::Made.lt(until.0)).filter(lasted);
    }
    if let Some(actors) = &filter.by {
        found = found.filter(runs::Column::Actor.is_in(actors.iter().map(|actor| actor.0)));
    }
    found
}

pub(crate) fn to_row(run: Run) -> runs::ActiveModel {
    let (parent, parent_place) = run.parent.unzip();
    let (forked_from, forked_at) = run.forked.unzip();
    let (made_key, made_digest) = run.making.map(|making| (making.key, making.digest)).unzip();
    runs::ActiveModel {
        key: NotSet,
        id: Set(run.id),
        flow: Set(run.flow),
        definition: Set(run.definition),
        session: Set(run.session),
        parent: Set(parent),
        parent_place: Set(parent_place),
        program: Set(run.program),
        branch: Set(run.branch),
        actor: Set(run.actor.0),
        input: Set(run.input),
        made: Set(run.made.0),
        status: Set(run.standing.status as i16),
        node: Set(run.standing.node),
        last: Set(run.standing.last.cast_signed()),
        wake: Set(run.standing.wake.map(|wake| wake.0)),
        ended: Set(run.standing.ended.map(|ended| ended.0)),
        made_key: Set(made_key),
        made_digest: Set(made_digest),
        forked_from: Set(forked_from),
        forked_at: Set(forked_at.map(u64::cast_signed)),
        owner: Set(None),
        lease: Set(None),
        deadline: Set(run.standing.deadline.map(|deadline| deadline.0)),
    }
}

impl TryFrom<runs::Model> for Run {
    type Error = Fault;

    fn try_from(row: runs::Model) -> Result<Self, Fault> {
        let broken = |column| Fault::Row { table: "runs", column };
        Ok(Self {
            key: row.key.cast_unsigned(),
            id: row.id,
            flow: row.flow,
            definition: row.definition,
            session: row.session,
            parent: row.parent.zip(row.parent_place),
            program: row.program,
            branch: row.branch,
            actor: ActorKey(row.actor),
            input: row.input,
            made: Timestamp(row.made),
            making: row.made_key.zip(row.made_digest).map(|(key, digest)| Idempotency { key, digest }),
            forked: row.forked_from.zip(row.forked_at.map(i64::cast_unsigned)),
            standing: RunStanding {
                status: RunStatus::from_code(row.status).ok_or(broken("status"))?,
                node: row.node,
                last: u64::try_from(row.last).map_err(|_| broken("last"))?,
                wake: row.wake.map(Timestamp),
                ended: row.ended.map(Timestamp),
                deadline: row.deadline.map(Timestamp),
            },
        })
    }
}
