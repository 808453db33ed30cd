//! Where a store is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sea_orm::sqlx::postgres::PgConnectOptions;
use url::Url;

use crate::tls::{Files, Request, TlsRequestError};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite database file; it and its folder are made if they do not exist.
    File(PathBuf),
    /// A PostgreSQL database.
    Postgres(PostgresUrl),
}

/// The URL of a PostgreSQL database. Shown without its password.
#[derive(Clone)]
pub struct PostgresUrl {
    text: String,
    options: Box<PgConnectOptions>,
    files: Files,
}

impl PostgresUrl {
    fn parse(text: &str) -> Result<Self, UnknownLocation> {
        let url = Url::parse(text).map_err(|error| UnknownLocation::Url(error.to_string()))?;
        let mut tls = Request::from_environment();
        for (name, value) in url.query_pairs() {
            if tls.take(&name, &value) || is_known(&name) {
                continue;
            }
            // What is taken for a parameter may be the rest of a password, which nobody should read.
            return Err(match url.query() {
                Some(query) if query.contains('@') => UnknownLocation::QuestionMark,
                Some(_) | None => UnknownLocation::Parameter(name.into_owned()),
            });
        }
        // Before the library sees it, which says less about it.
        tls.mode()?;
        let mut options =
            PgConnectOptions::from_str(text).map_err(|error| UnknownLocation::Url(error.to_string()))?;
        // The library takes the brackets off to connect, but not to compare certificates.
        if let Some(address) = options.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            options = options.clone().host(address);
        }
        let (options, files) = tls.apply(options)?;
        Ok(Self { text: text.to_owned(), options: Box::new(options), files })
    }

    /// What the URL says.
    pub(crate) fn options(&self) -> PgConnectOptions {
        (*self.options).clone()
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }
}

/// Tells whether the library knows a parameter, which passes over and logs others.
fn is_known(name: &str) -> bool {
    match name {
        "host" | "hostaddr" | "port" | "dbname" | "user" | "password" => true,
        "application_name" | "options" | "statement-cache-capacity" => true,
        _ => name.starts_with("options[") && name.ends_with(']'),
    }
}

impl PartialEq for PostgresUrl {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PostgresUrl {}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.options;
        let database = options.get_database().unwrap_or(options.get_username());
        match (options.get_socket(), options.get_host()) {
            (Some(socket), _) => write!(f, "postgres:///{database}?host={}", socket.display()),
            (None, address) if address.contains(':') => {
                write!(f, "postgres://[{address}]:{}/{database}", options.get_port())
            }
            (None, host) => write!(f, "postgres://{host}:{}/{database}", options.get_port()),
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
    /// A parameter of a URL would do nothing.
    #[error("`{0}` is not a parameter that the URL of a PostgreSQL database can have")]
    Parameter(String),
    /// What should be the parameters of a URL does not look like them. It is not repeated either.
    #[error("the URL of the database cannot be read: a `?` in a user's name or password is written `%3F`")]
    QuestionMark,
    /// A URL asks for TLS in a way that is not supported.
    #[error(transparent)]
    Tls(#[from] TlsRequestError),
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
    /// A URL of another scheme, or one that asks for what is not supported.
    pub fn parse(text: &str) -> Result<Self, UnknownLocation> {
        if let Some(path) = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")) {
            return Ok(Self::File(PathBuf::from(path)));
        }
        match text.split_once("://") {
            None => Ok(Self::File(PathBuf::from(text))),
            Some(("postgres" | "postgresql", _)) => PostgresUrl::parse(text).map(Self::Postgres),
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
        for url in [
            "postgres://ada:secret@h:port/d",
            "postgres://ada:a?secret@h/d",
            "postgres://ada:a?b&secret=@h/d",
        ] {
            let error = Location::parse(url).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_would_do_nothing_is_refused() {
        let check = |parameters: &str, expect: UnknownLocation| {
            assert_eq!(Location::parse(&format!("postgres://h/d?{parameters}")), Err(expect), "{parameters}");
        };
        check("channel_binding=require", UnknownLocation::Parameter("channel_binding".to_owned()));
        check("sslmode=require&sslcrl=f", UnknownLocation::Parameter("sslcrl".to_owned()));
        check("sslmode=verify_full", TlsRequestError::Mode("verify_full".to_owned()).into());
        check("sslmode=allow", TlsRequestError::Allow.into());
        check("sslmode=verify-ca&sslrootcert=ca.pem", TlsRequestError::VerifyCa.into());
        check("sslrootcert=ca.pem", TlsRequestError::Unchecked.into());
        check("sslmode=require&sslrootcert=system", TlsRequestError::Unchecked.into());
        check("sslmode=verify-full&sslcert=me.pem", TlsRequestError::Half.into());
        check("sslkey=me.key", TlsRequestError::Half.into());
    }

    #[test]
    fn modes_are_those_of_the_url() {
        let check = |url: &str, expect: &str| {
            let Ok(Location::Postgres(url)) = Location::parse(url) else { panic!("{url}") };
            assert_eq!(format!("{:?}", url.options.get_ssl_mode()), expect, "{url}");
        };
        check("postgres://h/d", "Prefer");
        check("postgres://h/d?sslmode=disable", "Disable");
        check("postgres://h/d?sslmode=prefer", "Prefer");
        check("postgres://h/d?sslmode=disable&sslmode=require", "Require");
        check("postgres://h/d?sslmode=verify-full&sslrootcert=system", "VerifyFull");
        check(
            "postgres://h/d?sslmode=verify-full&sslrootcert=ca.pem&sslcert=me.pem&sslkey=me.key",
            "VerifyFull",
        );
        // As with libpq, a socket is not encrypted, whatever the mode.
        check("postgres:///d?host=/run/postgresql&sslmode=require", "Disable");
        check("postgres://%2Frun%2Fpostgresql/d", "Disable");
    }

    #[test]
    fn an_address_is_compared_without_its_brackets() {
        let Ok(Location::Postgres(url)) = Location::parse("postgres://[::1]:7/d") else {
            panic!("it is a URL")
        };
        assert_eq!((url.options.get_host(), url.to_string().as_str()), ("::1", "postgres://[::1]:7/d"));
    }
}
