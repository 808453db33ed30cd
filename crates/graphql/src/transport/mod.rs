//! From a request's parameters to an answer, the same on every transport.
//!
//! Read [`executor`] first: it checks, runs and answers. [`limits`] holds what is bounded, [`tokens`] and [`precheck`]
//! do the bounding in time linear in the document, [`escapes`], [`literals`], [`rules`] and [`omitted`] do what the
//! library leaves undone, [`shape`] is what they know of the schema, [`values`] tells who need not be validated again,
//! [`answer`] turns what came out into what a client may see, and [`observed`] tells operators of it. Nothing in here knows
//! HTTP or WebSockets.

mod answer;
pub(crate) mod budget;
mod caller;
mod carried;
mod documents;
mod escapes;
mod executor;
mod given;
mod limits;
mod literals;
mod observed;
mod omitted;
mod precheck;
mod request_id;
mod rules;
mod shape;
mod tokens;
mod values;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Outcome};
pub use caller::Caller;
pub use executor::{Executor, OperationKind, Params, Prepared};
pub use limits::Limits;
pub use lmlang_engine::{Denied, Grant, Scope};
pub use lmlang_history::log::{Actor, ActorKind};
pub use request_id::RequestId;
