//! What one operation may cost.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// The bounds that hold for every operation on every transport.
///
/// Each is named in `serverInfo` as [`Limits::named`] spells it, and exceeding one is a `LIMIT_EXCEEDED` with that name,
/// except for the two that depend on load: the deadline gives `TIMEOUT`, operations in flight give `OVERLOADED`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lexical tokens of a document; a string counts as one. Counted before the parse.
    pub tokens: u64,
    /// Open brackets of any kind at one place of a document. Counted before the parse.
    pub brackets: u64,
    /// Operations and fragments of a document.
    pub definitions: u64,
    /// Levels of selection, where a spread and an inline fragment count as one like a field does.
    ///
    /// At most 32, which the GraphQL library enforces without a typed error; the introspection query of the reference
    /// implementation needs 19.
    pub depth: u64,
    /// Levels of `fields`, `interfaces`, `possibleTypes` and `inputFields` of introspection in each other.
    ///
    /// Each level multiplies the answer; the reference implementation allows as many.
    pub introspection: u64,
    /// Selections of all operations, fragments expanded.
    pub selections: u64,
    /// Fields that the operation can answer at most: a field with `first` or `maxNodes` multiplies what is below it by
    /// that number, another list by ten. How long lists really are is counted while the answer is made, for each event of
    /// a subscription by itself.
    pub complexity: u64,
    /// Aliased fields, fragments expanded.
    pub aliases: u64,
    /// Directives at one place.
    pub directives: u64,
    /// Variables that one operation declares.
    pub variables: u64,
    /// Errors that one answer lists; the rest is counted.
    pub errors: u64,
    /// Bytes of programs' text that one answer holds, or one event of a subscription.
    pub text_of_answer: u64,
    /// How long a query or mutation may take until it is answered; a mutation is carried out all the same.
    pub deadline: Duration,
    /// Queries and mutations that run at a time.
    pub in_flight: u64,
    /// Limits of whoever carries requests, which are only listed here.
    pub carrier: Map<String, Value>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tokens: 20_000,
            brackets: 60,
            definitions: 100,
            depth: 25,
            introspection: 2,
            selections: 5_000,
            complexity: 500_000,
            aliases: 100,
            directives: 10,
            variables: 100,
            errors: 50,
            text_of_answer: 16 << 20,
            deadline: Duration::from_secs(30),
            in_flight: 512,
            carrier: Map::new(),
        }
    }
}

impl Limits {
    /// Returns the limits as `serverInfo` shows them.
    #[must_use]
    pub fn named(&self) -> Map<String, Value> {
        let named = json!({
            "tokens": self.tokens,
            "brackets": self.brackets,
            "definitions": self.definitions,
            "depth": self.depth,
            "introspection": self.introspection,
            "selections": self.selections,
            "complexity": self.complexity,
            "aliases": self.aliases,
            "directives": self.directives,
            "variables": self.variables,
            "errors": self.errors,
            "textOfAnswer": self.text_of_answer,
            "deadlineMs": u64::try_from(self.deadline.as_millis()).unwrap_or(u64::MAX),
            "operationsInFlight": self.in_flight,
        });
        match named {
            Value::Object(named) => self.carrier.clone().into_iter().chain(named).collect(),
            other => unreachable!("an object literal is an object, not {other}"),
        }
    }
}
