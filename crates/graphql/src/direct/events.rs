//! Events of subscriptions that are written straight into their answers.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{Context, ContextSelectionSet, OutputType, Positioned, ServerResult, Value};
use futures_util::{Stream, StreamExt};

use super::out::Out;
use super::selected::Selected;
use super::{Direct, Writer, raw};
use crate::transport::budget::Tab;

/// Bytes that the text of an event has room for at first.
const ROOM: usize = 512;

/// An event that is written as it was selected where that is possible. In the schema it is what it holds.
pub struct Planned<T> {
    event: T,
    writer: Option<Arc<Writer<T>>>,
}

/// Plans once how all events of a stream are written: what is selected below the field that is resolved.
pub(crate) fn planned<T, E, S>(
    context: &Context<'_>,
    events: S,
) -> impl Stream<Item = Result<Planned<T>, E>> + use<T, E, S>
where
    T: Direct,
    S: Stream<Item = Result<T, E>>,
{
    let writer = T::writer(Selected::below(context)).map(Arc::new);
    events.map(move |event| event.map(|event| Planned { event, writer: writer.clone() }))
}

impl<T: Direct> Planned<T> {
    /// The event as JSON; `None` when the library has to answer.
    fn written(&self, context: &ContextSelectionSet<'_>) -> Option<String> {
        let writer = self.writer.as_deref()?;
        let mut out = Out::new(Tab::of(context), ROOM);
        writer(&self.event, &mut out);
        if out.is_spoilt() { None } else { out.finish() }
    }
}

impl<T: Direct> OutputType for Planned<T> {
    fn type_name() -> Cow<'static, str> {
        T::type_name()
    }

    fn qualified_type_name() -> String {
        T::qualified_type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        T::create_type_info(registry)
    }

    async fn resolve(
        &self,
        context: &ContextSelectionSet<'_>,
        field: &Positioned<Field>,
    ) -> ServerResult<Value> {
        match self.written(context) {
            Some(json) => Ok(raw(json)),
            None => self.event.resolve(context, field).await,
        }
    }
}
