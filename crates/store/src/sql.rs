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
    /// One without values that all who run it read alike.
    Plain(&'static str),
}

impl<S: Into<QueryStatement>> From<S> for Sql {
    fn from(statement: S) -> Self {
        Self::Query(Box::new(statement.into()))
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
