//! Inputs that have a default: null says the same as leaving them out.

use std::borrow::Cow;
use std::fmt;

use async_graphql::registry::Registry;
use async_graphql::{InputType, InputValueError, InputValueResult, Value};
use lmlang_context::Tokenizer;
use lmlang_history::revision::MAIN;

use crate::schema::detail::Detail;
use crate::schema::edit_input::{EffectBound, Visibility};
use crate::schema::flows::interrupt::InterruptStatus;
use crate::schema::neighbourhood::EdgeDirection;
use crate::schema::provenance::ActorKind;
use crate::schema::scalars::Count;

/// What holds when nothing else is said.
pub trait Fallback: Send + Sync + 'static {
    /// The type of the input.
    type Value: InputType + Clone + fmt::Debug;

    /// Returns what holds.
    fn value() -> Self::Value;
}

/// Questions that nobody has answered yet.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Fallback for Open {
    type Value = InterruptStatus;

    fn value() -> InterruptStatus {
        InterruptStatus::Open
    }
}

/// An input that may be null or left out, and then is what `F` says.
///
/// In the schema its type is nullable and has a default, when the field or argument is marked `#[graphql(default)]`.
#[derive(Clone, Debug)]
pub struct Or<F: Fallback>(pub F::Value);

impl<F: Fallback> Default for Or<F> {
    fn default() -> Self {
        Or(F::value())
    }
}

impl<F: Fallback> InputType for Or<F> {
    type RawValueType = <F::Value as InputType>::RawValueType;

    fn type_name() -> Cow<'static, str> {
        F::Value::type_name()
    }

    fn qualified_type_name() -> String {
        F::Value::type_name().into_owned()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        F::Value::create_type_info(registry);
        Self::qualified_type_name()
    }

    fn parse(value: Option<Value>) -> InputValueResult<Self> {
        match value {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(value) => F::Value::parse(Some(value)).map(Or).map_err(InputValueError::propagate),
        }
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        self.0.as_raw_value()
    }
}

/// A number.
#[derive(Clone, Copy, Debug)]
pub struct Int<const N: i32>;

impl<const N: i32> Fallback for Int<N> {
    type Value = i32;

    fn value() -> i32 {
        N
    }
}

impl<const N: i32> From<Or<Int<N>>> for i32 {
    fn from(or: Or<Int<N>>) -> i32 {
        or.0
    }
}

macro_rules! fallbacks {
    ($($(#[$doc:meta])* $name:ident: $of:ty = $value:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Fallback for $name {
                type Value = $of;

                fn value() -> $of {
                    $value
                }
            }
        )*
    };
}

fallbacks! {
    /// No.
    No: bool = false;
    /// Yes.
    Yes: bool = true;
    /// The beginning.
    Zero: Count = Count(0);
    /// Once.
    One: Count = Count(1);
    /// The main branch.
    Main: String = MAIN.to_owned();
    /// The tokenizer of recent models.
    O200k: String = Tokenizer::O200kBase.name().to_owned();
    /// A text with everything.
    Full: Detail = Detail::Full;
    /// A text with refs.
    Standard: Detail = Detail::Standard;
    /// Seen in its module alone.
    Private: Visibility = Visibility::Private;
    /// Every effect.
    Any: EffectBound = EffectBound::Any;
    /// Edges of either direction.
    Both: EdgeDirection = EdgeDirection::Both;
    /// A model.
    Agent: ActorKind = ActorKind::Agent;
}
