//! Where a store is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sea_orm::sqlx::postgres::PgConnectOptions;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite database file; it and its folder are made if they do not exist.
    File(PathBuf),
    /// A PostgreSQL database.
    Postgres(PostgresUrl),
}

/// The URL of a PostgreSQL database. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

impl PostgresUrl {
    /// What the URL says.
    pub(crate) fn options(&self) -> Result<PgConnectOptions, sea_orm::sqlx::Error> {
        PgConnectOptions::from_str(&self.0)
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.options() {
            Ok(options) => {
                let database = options.get_database().unwrap_or(options.get_username());
                match options.get_socket() {
                    Some(socket) => write!(f, "postgres:///{database}?host={}", socket.display()),
                    None => write!(f, "postgres://{}:{}/{database}", options.get_host(), options.get_port()),
                }
            }
            Err(_) => f.write_str("postgres://"),
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

/// Why a text names no place of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownLocation {
    /// A URL has a scheme that is not that of a database.
    #[error("`{0}` is not the scheme of a supported database: `postgres` and `sqlite` are")]
    Scheme(String),
    /// A URL cannot be read. It is not repeated: it may have a password.
    #[error("the URL of the database cannot be read: {0}")]
    Url(String),
}

impl Location {
    /// The name of the database system.
    pub fn system(&self) -> &'static str {
        match self {
            Self::File(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        }
    }

    /// Reads a path, a `sqlite:` URL or a `postgres:` URL.
    ///
    /// # Errors
    ///
    /// A URL of another scheme.
    pub fn parse(text: &str) -> Result<Self, UnknownLocation> {
        if let Some(path) = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")) {
            return Ok(Self::File(PathBuf::from(path)));
        }
        match text.split_once("://") {
            None => Ok(Self::File(PathBuf::from(text))),
            Some(("postgres" | "postgresql", _)) => {
                let url = PostgresUrl(text.to_owned());
                match url.options() {
                    Ok(_) => Ok(Self::Postgres(url)),
                    Err(error) => Err(UnknownLocation::Url(error.to_string())),
                }
            }
            Some((scheme, _)) => Err(UnknownLocation::Scheme(scheme.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls() {
        let file = |path: &str| Ok(Location::File(PathBuf::from(path)));
        assert_eq!(Location::parse("data/lmlang.db"), file("data/lmlang.db"));
        assert_eq!(Location::parse("sqlite:data/x.db"), file("data/x.db"));
        assert_eq!(Location::parse("sqlite:///var/x.db"), file("/var/x.db"));
        assert_eq!(Location::parse("mysql://h/d"), Err(UnknownLocation::Scheme("mysql".to_owned())));
    }

    #[test]
    fn passwords_are_not_shown() {
        let location = Location::parse("postgres://ada:secret@h:7/d?password=hidden").unwrap();
        assert_eq!((location.to_string().as_str(), location.system()), ("postgres://h:7/d", "postgresql"));
        assert_eq!(format!("{location:?}"), "Postgres(PostgresUrl(postgres://h:7/d))");
        let error = Location::parse("postgres://ada:secret@h:port/d").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
