//! Questions of runs, for whoever looks for those that stand. What they ask is in the journals.

use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use uuid::Uuid;

use crate::entity::{interrupts, runs};
use crate::entry::Timestamp;
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupt {
    /// Its place among all questions, by age.
    pub key: u64,
    /// The run that asks.
    pub run: Uuid,
    /// The number of the entry that asked it.
    pub asked: u64,
    /// When.
    pub time: Timestamp,
    /// What became of it.
    pub standing: InterruptStanding,
}

/// What became of a question.
///
/// The discriminants are stored: they never change, and new ones are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InterruptStanding {
    /// Nobody has answered yet.
    Open = 0,
    /// It was answered.
    Answered = 1,
    /// Nobody has answered in time.
    Expired = 2,
    /// Its run does not wait for it any more.
    Cancelled = 3,
}

impl InterruptStanding {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Expired, Self::Cancelled];
}

/// What an entry of a journal changes about the questions of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterruptChange {
    /// The entry asks one.
    Asked,
    /// The one that an entry asked is over.
    Over(u64, InterruptStanding),
    /// All that stand are over.
    AllOver(InterruptStanding),
    /// Those after an entry never were, and these stand as they stood then.
    Rewound(u64, Vec<u64>),
}

/// Which questions are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterruptFilter {
    /// Those that stand so.
    pub standing: Option<InterruptStanding>,
    /// Those of a run.
    pub run: Option<Uuid>,
    /// Those of the runs of a session.
    pub session: Option<Uuid>,
    /// Those of runs about one of these programs.
    pub programs: Option<Vec<Uuid>>,
}

impl Store {
    /// Questions, the oldest first, at most so many after a key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<u64>,
        limit: u64,
    ) -> Result<Vec<Interrupt>, Fault> {
        let mut found = listed(filter);
        if let Some(after) = after {
            found = found.filter(interrupts::Column::Key.gt(after.cast_signed()));
        }
        let found = found.order_by(interrupts::Column::Key, Order::Asc).limit(limit);
        found.all(&self.reader).await?.into_iter().map(Interrupt::try_from).collect()
    }

    /// How many questions there are.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_interrupts(&self, filter: &InterruptFilter) -> Result<u64, Fault> {
        Ok(listed(filter).count(&self.reader).await?)
    }
}

/// The statements of a change.
pub(crate) fn change(
    run: Uuid,
    number: u64,
    time: Timestamp,
    program: Option<Uuid>,
    change: InterruptChange,
) -> Vec<Sql> {
    let of_run = || Expr::col(interrupts::Column::Run).eq(run);
    let set = |standing: InterruptStanding| {
        let mut update = Query::update();
        update
            .table(interrupts::Entity)
            .value(interrupts::Column::Standing, standing as i16)
            .and_where(of_run());
        update
    };
    match change {
        InterruptChange::Asked => {
            let insert = interrupts::Entity::insert(open_row(run, number, time, program));
            vec![sea_orm::QueryTrait::into_query(insert).into()]
        }
        InterruptChange::Over(asked, standing) => {
            let one = Expr::col(interrupts::Column::Asked).eq(asked.cast_signed());
            vec![set(standing).and_where(one).to_owned().into()]
        }
        InterruptChange::AllOver(standing) => {
            let open = Expr::col(interrupts::Column::Standing).eq(InterruptStanding::Open as i16);
            vec![set(standing).and_where(open).to_owned().into()]
        }
        InterruptChange::Rewound(to, open) => {
            let later = Expr::col(interrupts::Column::Asked).gt(to.cast_signed());
            let standing = Expr::col(interrupts::Column::Asked).is_in(open.into_iter().map(u64::cast_signed));
            vec![
                set(InterruptStanding::Cancelled).and_where(later).to_owned().into(),
                set(InterruptStanding::Open).and_where(standing).to_owned().into(),
            ]
        }
    }
}

pub(crate) fn open_row(
    run: Uuid,
    asked: u64,
    time: Timestamp,
    program: Option<Uuid>,
) -> interrupts::ActiveModel {
    interrupts::ActiveModel {
        key: NotSet,
        run: Set(run),
        asked: Set(asked.cast_signed()),
        time: Set(time.0),
        standing: Set(InterruptStanding::Open as i16),
        program: Set(program),
    }
}

fn listed(filter: &InterruptFilter) -> Select<interrupts::Entity> {
    let mut found = interrupts::Entity::find();
    if let Some(standing) = filter.standing {
        found = found.filter(interrupts::Column::Standing.eq(standing as i16));
    }
    if let Some(run) = filter.run {
        found = found.filter(interrupts::Column::Run.eq(run));
    }
    if let Some(session) = filter.session {
        let of = Query::select()
            .column(runs::Column::Id)
            .from(runs::Entity)
            .and_where(runs::Column::Session.eq(session))
            .to_owned();
        found = found.filter(interrupts::Column::Run.in_subquery(of));
    }
    if let Some(programs) = &filter.programs {
        found = found.filter(interrupts::Column::Program.is_in(programs.iter().copied()));
    }
    found
}

impl TryFrom<interrupts::Model> for Interrupt {
    type Error = Fault;

    fn try_from(row: interrupts::Model) -> Result<Self, Fault> {
        let broken = |column| Fault::Row { table: "interrupts", column };
        let standing = usize::try_from(row.standing).ok();
        let standing = standing.and_then(|code| InterruptStanding::ALL.get(code).copied());
        Ok(Self {
            key: row.key.cast_unsigned(),
            run: row.run,
            asked: u64::try_from(row.asked).map_err(|_| broken("asked"))?,
            time: Timestamp(row.time),
            standing: standing.ok_or(broken("standing"))?,
        })
    }
}
