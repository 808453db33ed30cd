//! Lists that are written straight into the answer.
//!
//! The library answers a list field by field: for each a boxed future, an entry in a map, and a second walk when the
//! answer is sent. Most lists ask many items for a few plain fields. Such a list is planned once for its selection, and
//! its items are written as JSON one after the other, which costs a fraction. What the plan does not know leaves the
//! whole list to the library: an argument, a directive, a field that no [`Direct`] type writes. So does whatever would
//! be an error. The answer is the same.
//!
//! The events of a subscription are written the same way, one by one: they are planned once for all of them.
//!
//! A type takes part by [`Direct::writer`], beside its resolvers. Read [`selected`] for what a plan is made from,
//! [`plan`] for how, [`out`] for what it writes to, and [`events`] for those.

mod events;
mod out;
mod plan;
mod selected;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{ContextSelectionSet, Name, OutputType, Positioned, ServerResult, Value};
use async_graphql_value::RAW_VALUE_TOKEN;

pub use self::events::Planned;
pub(crate) use self::events::planned;
pub use self::out::Out;
pub(crate) use self::plan::{leaf, list, maybe, object, one, rows, word};
pub use self::selected::Selected;
use crate::transport::budget::{self, Tab};

/// Writes an item as it was selected.
pub type Writer<T> = Box<dyn Fn(&T, &mut Out<'_>) + Send + Sync>;

/// An output type whose items may be written without the library.
pub trait Direct: OutputType {
    /// Plans what is written of each item; `None` leaves them to the library.
    fn writer(_selected: Selected<'_>) -> Option<Writer<Self>>
    where
        Self: Sized,
    {
        None
    }
}

impl<T: Direct + 'static> Direct for &T {
    fn writer(selected: Selected<'_>) -> Option<Writer<Self>> {
        let writer = T::writer(selected)?;
        Some(Box::new(move |item, out| writer(item, out)))
    }
}

/// A list whose items count among the fields of the answer, written straight into it where that is possible. In the schema
/// it is a list as any other.
#[derive(Clone, Debug)]
pub struct Rows<T>(pub Vec<T>);

impl<T, U: Into<T>> FromIterator<U> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = U>>(items: I) -> Rows<T> {
        Rows(items.into_iter().map(Into::into).collect())
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows(Vec::new())
    }
}

impl<T: Direct> OutputType for Rows<T> {
    fn type_name() -> Cow<'static, str> {
        <Vec<T> as OutputType>::type_name()
    }

    fn qualified_type_name() -> String {
        <Vec<T> as OutputType>::qualified_type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        <Vec<T> as OutputType>::create_type_info(registry)
    }

    async fn resolve(
        &self,
        context: &ContextSelectionSet<'_>,
        field: &Positioned<Field>,
    ) -> ServerResult<Value> {
        let fields = Selected::of(context).width().saturating_mul(self.0.len() as u64);
        if !budget::lists(context, field.pos, fields).await {
            return Ok(Value::List(Vec::new()));
        }
        match written(&self.0, context).await {
            Some(json) => Ok(raw(json)),
            None => self.0.resolve(context, field).await,
        }
    }
}

/// What is JSON already, as a value.
fn raw(json: String) -> Value {
    Value::Object(IndexMap::from_iter([(Name::new(RAW_VALUE_TOKEN), Value::String(json))]))
}

/// Items that are written before others get their turn.
const TURN: usize = 64;
/// Bytes that the text of a list has room for at first.
const ROOM: usize = 4 << 10;

/// The items as JSON; `None` when the library has to answer.
async fn written<T: Direct>(items: &[T], context: &ContextSelectionSet<'_>) -> Option<String> {
    let writer = T::writer(Selected::of(context))?;
    let mut out = Out::new(Tab::of(context), ROOM);
    out.open(b'[');
    for (at, item) in items.iter().enumerate() {
        if at % TURN == TURN - 1 {
            budget::breathe().await;
        }
        out.next(at);
        writer(item, &mut out);
        if out.is_spoilt() {
            return None;
        }
    }
    out.close(b']');
    out.finish()
}
