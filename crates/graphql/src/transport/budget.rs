//! Bounds what one answer holds.
//!
//! A text repeats what is inside of it: a thousand blocks, each in the one before, are printed a thousand times by one
//! page of nodes. A list without pages is as long as somebody made it, however often it is selected. Neither is known
//! from the document, so both are counted over the whole answer while it is made.
//!
//! The counting is also where an operation stops now and then, because resolvers that only read have no other await and
//! nothing else would notice the deadline.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;

use async_graphql::{Context, ContextBase, Error, Pos, Result};

use super::limits::Limits;
use crate::error::ApiError;

/// Fields that are answered before others get their turn.
const TURN: u64 = 128;

/// What an answer may still hold. Each event of a subscription is an answer of its own.
#[derive(Debug)]
pub(crate) struct Budget {
    text: Account,
    fields: Account,
    /// Whether it was told that a field which is not nullable was left empty.
    told: AtomicBool,
}

#[derive(Debug)]
struct Account {
    which: &'static str,
    limit: u64,
    spent: AtomicU64,
}

impl Account {
    fn new(which: &'static str, limit: u64) -> Account {
        Account { which, limit, spent: AtomicU64::new(0) }
    }

    /// Counts in, or refuses; says how much was spent before.
    fn spend(&self, more: u64) -> Result<u64, ApiError> {
        let before = self.spent.fetch_add(more, Ordering::Relaxed);
        match before.saturating_add(more) {
            spent if spent > self.limit => Err(ApiError::limit(self.which, self.limit, spent)),
            _ => Ok(before),
        }
    }

    /// Whether so much more would be within the limit.
    fn holds(&self, more: u64) -> bool {
        self.spent.load(Ordering::Relaxed).saturating_add(more) <= self.limit
    }
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Arc<Budget> {
        Arc::new(Budget {
            text: Account::new("textOfAnswer", limits.text_of_answer),
            fields: Account::new("complexity", limits.complexity),
            told: AtomicBool::new(false),
        })
    }

    /// Begins the next answer.
    pub(super) fn renew(&self) {
        self.text.spent.store(0, Ordering::Relaxed);
        self.fields.spent.store(0, Ordering::Relaxed);
        self.told.store(false, Ordering::Relaxed);
    }

    fn of<'a, T>(context: &ContextBase<'a, T>) -> Option<&'a Budget> {
        context.data_opt::<Arc<Budget>>().map(Arc::as_ref)
    }
}

/// What a list takes that is written in one piece. It is counted aside and paid when the list is done, so that one
/// which is left to the library after all is not counted twice.
#[derive(Debug, Default)]
pub(crate) struct Tab<'a> {
    budget: Option<&'a Budget>,
    text: u64,
    fields: u64,
}

impl<'a> Tab<'a> {
    /// A tab of the answer that is being made.
    pub(crate) fn of<T>(context: &ContextBase<'a, T>) -> Tab<'a> {
        Tab { budget: Budget::of(context), text: 0, fields: 0 }
    }

    /// Counts bytes of text.
    pub(crate) fn text(&mut self, bytes: u64) {
        self.text = self.text.saturating_add(bytes);
    }

    /// Counts fields.
    pub(crate) fn fields(&mut self, more: u64) {
        self.fields = self.fields.saturating_add(more);
    }

    /// Whether the answer cannot hold this much.
    pub(crate) fn is_over(&self) -> bool {
        self.budget.is_some_and(|budget| !budget.text.holds(self.text) || !budget.fields.holds(self.fields))
    }

    /// Counts it in.
    pub(crate) fn pay(self) -> Result<(), ApiError> {
        let Some(budget) = self.budget else { return Ok(()) };
        budget.text.spend(self.text)?;
        budget.fields.spend(self.fields)?;
        Ok(())
    }
}

/// Bytes of text that an answer holds at most.
pub(crate) fn most_text(context: &Context<'_>) -> u64 {
    Budget::of(context).map_or(u64::MAX, |budget| budget.text.limit)
}

/// Says whether an answer may hold more text.
pub(crate) fn open(context: &Context<'_>) -> Result<(), ApiError> {
    count(context, 0)
}

/// Counts text that an answer holds.
pub(crate) fn count(context: &Context<'_>, bytes: u64) -> Result<(), ApiError> {
    Budget::of(context).map_or(Ok(()), |budget| budget.text.spend(bytes).map(|_| ()))
}

/// Prints a text, unless the answer holds too much already.
pub(crate) async fn text(context: &Context<'_>, print: impl FnOnce() -> String) -> Result<String, ApiError> {
    open(context)?;
    breathe().await;
    // The nodes of a page all get here before the first of them is printed: who comes when it is too much prints nothing.
    open(context)?;
    let printed = print();
    count(context, printed.len() as u64)?;
    Ok(printed)
}

/// The answer of a nullable field whose text somebody wrote, unless the answer holds too much already.
pub(crate) fn words<'a>(context: &Context<'_>, written: Option<&'a str>) -> Option<Result<&'a str>> {
    let written = written?;
    Some(count(context, written.len() as u64).map(|()| written).map_err(Error::from))
}

/// The answer of a field that is not nullable: empty, with an error, when the answer holds too much already.
pub(crate) fn whole(context: &Context<'_>, printed: String) -> String {
    if holds(context, context.item.pos, printed.len() as u64) { printed } else { String::new() }
}

/// Counts text of a field that is not nullable. Tells an error when the answer holds too much already.
pub(crate) fn holds<T>(context: &ContextBase<'_, T>, pos: Pos, bytes: u64) -> bool {
    let counted = Budget::of(context).map_or(Ok(0), |budget| budget.text.spend(bytes));
    counted.map_err(|error| tell(context, pos, error)).is_ok()
}

/// The answer of a field that lists something: empty, with an error, when the answer has too many fields already.
pub(crate) async fn list<T>(context: &Context<'_>, items: Vec<T>) -> Vec<T> {
    let each = context.field().selection_set().count().max(1) as u64;
    if lists(context, context.item.pos, each.saturating_mul(items.len() as u64)).await {
        items
    } else {
        Vec::new()
    }
}

/// Counts the fields of a list. Tells an error when the answer has too many already.
pub(crate) async fn lists<T>(context: &ContextBase<'_, T>, pos: Pos, fields: u64) -> bool {
    let Some(budget) = Budget::of(context) else { return true };
    match budget.fields.spend(fields) {
        Ok(before) => {
            if before / TURN != before.saturating_add(fields) / TURN {
                breathe().await;
            }
            true
        }
        Err(error) => {
            tell(context, pos, error);
            false
        }
    }
}

/// Adds an error beside the answer of a field, once for all of them: the first says what all the others would.
fn tell<T>(context: &ContextBase<'_, T>, pos: Pos, error: ApiError) {
    let again = Budget::of(context).is_none_or(|budget| budget.told.swap(true, Ordering::Relaxed));
    if !again {
        context.add_error(context.set_error_path(Error::from(error).into_server_error(pos)));
    }
}

/// Lets others have their turn, and the deadline its look.
///
/// It wakes itself at once instead of through the runtime: only so do the library's joins hand it on to their caller
/// before they have gone through all their members.
pub(crate) async fn breathe() {
    let mut breathed = false;
    poll_fn(|context| {
        if breathed {
            return Poll::Ready(());
        }
        breathed = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
