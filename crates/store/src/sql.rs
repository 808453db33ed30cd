//! Statements for whichever database runs them.

use sea_orm::sea_query::{
    PostgresQueryBuilder, QueryStatement, QueryStatementWriter, SqliteQueryBuilder, Values,
};

/// A statement and its values; its text is written when it is known who reads it.
///
/// Cloned to run again after a lost connection.
#[derive(Debug, Clone)]
pub(crate) enum Sql {
    Query(Box<QueryStatement>),
    /// One whose text was written before, with its values.
    Known(&'static Known, Values),
    /// One without values that all who run it read alike.
    Plain(&'static str),
}

impl<S: Into<QueryStatement>> From<S> for Sql {
    fn from(statement: S) -> Self {
        Self::Query(Box::new(statement.into()))
    }
}

/// The texts of a statement that runs again and again, each time with other values: to write one takes longer than to run it.
#[derive(Debug)]
pub(crate) struct Known {
    sqlite: String,
    postgres: String,
}

impl Known {
    /// Those of a statement, whatever its values are.
    pub(crate) fn of(statement: &Sql) -> Self {
        let text = |dialect| statement.build(dialect).0;
        Self { sqlite: text(Dialect::Sqlite), postgres: text(Dialect::Postgres) }
    }

    /// Its text.
    pub(crate) fn text(&self, dialect: Dialect) -> &str {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        }
    }
}

/// The language of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Sql {
    /// The statement's text and the values of its parameters.
    pub(crate) fn build(&self, dialect: Dialect) -> (String, Values) {
        match self {
            Self::Query(statement) => match &**statement {
                QueryStatement::Select(statement) => dialect.build(statement),
                QueryStatement::Insert(statement) => dialect.build(statement),
                QueryStatement::Update(statement) => dialect.build(statement),
                QueryStatement::Delete(statement) => dialect.build(statement),
            },
            Self::Known(known, values) => (known.text(dialect).to_owned(), values.clone()),
            Self::Plain(text) => ((*text).to_owned(), Values(Vec::new())),
        }
    }
}

impl Dialect {
    fn build(self, statement: &impl QueryStatementWriter) -> (String, Values) {
        match self {
            Self::Sqlite => statement.build(SqliteQueryBuilder),
            Self::Postgres => statement.build(PostgresQueryBuilder),
        }
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{Alias, Query};

    use super::*;

    #[test]
    fn a_known_text_is_that_of_its_statement() {
        let insert = |one: i64, other: &str| {
            let columns = [Alias::new("one"), Alias::new("other")];
            let mut insert = Query::insert();
            insert.into_table(Alias::new("table")).columns(columns).values_panic([one.into(), other.into()]);
            Sql::from(insert)
        };
        let known: &'static Known = Box::leak(Box::new(Known::of(&insert(1, "one"))));
        let again = Sql::Known(known, Values(vec![2_i64.into(), "two".into()]));
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            assert_eq!(again.build(dialect), insert(2, "two").build(dialect));
        }
    }
}
