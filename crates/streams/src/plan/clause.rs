//! The clauses of a query, as far as they say what an expression may have.

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    Select,
    Where,
    GroupBy,
    Having,
    /// Inside of an aggregate or of a stateful function, of that name.
    Inside(&'static str),
}

impl Clause {
    /// It in words.
    pub(super) fn words(self) -> String {
        match self {
            Clause::Select => "`SELECT`".to_owned(),
            Clause::Where => "`WHERE`".to_owned(),
            Clause::GroupBy => "`GROUP BY`".to_owned(),
            Clause::Having => "`HAVING`".to_owned(),
            Clause::Inside(name) => format!("`{name}`"),
        }
    }
}
