//! Where a store is.

use std::path::PathBuf;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite database file; it and its folder are made if they do not exist.
    File(PathBuf),
    /// A PostgreSQL database by its URL.
    Postgres(String),
}

/// A URL has a scheme that is not that of a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{scheme}` is not the scheme of a supported database")]
pub struct UnknownLocation {
    /// The scheme.
    pub scheme: String,
}

impl Location {
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
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.to_owned())),
            Some((scheme, _)) => Err(UnknownLocation { scheme: scheme.to_owned() }),
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
        assert_eq!(Location::parse("postgres://h/d"), Ok(Location::Postgres("postgres://h/d".to_owned())));
        assert_eq!(Location::parse("mysql://h/d"), Err(UnknownLocation { scheme: "mysql".to_owned() }));
    }
}
