//! How connections to a PostgreSQL server are encrypted: the parameters that libpq has, and the files that they name.
//!
//! What would be less safe here than libpq makes it, or would do nothing, is refused.

use std::fs;
use std::io;
use std::path::PathBuf;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, Error};
use sea_orm::sqlx;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::fault::Fault;
use crate::open::OpenError;

/// Why connections cannot be encrypted as a URL, or a variable of its parameter's name (`PGSSLMODE`), asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsRequestError {
    /// The mode is none.
    #[error("`sslmode={0}` is not one of `disable`, `prefer`, `require` and `verify-full`")]
    Mode(String),
    /// The library never encrypts then, so it would do what `disable` does.
    #[error("`sslmode=allow` is not supported: `prefer` encrypts if the server can, `disable` never does")]
    Allow,
    /// The library trusts the authorities of the system as well, and they certify everybody.
    #[error(
        "`sslmode=verify-ca` is not supported: without looking at the name, anybody with a certificate from an \
         authority that the system trusts could be the server; use `verify-full`"
    )]
    VerifyCa,
    /// No certificate is looked at in any other mode, where libpq would do it for the file's sake.
    #[error(
        "`sslrootcert` needs `sslmode=verify-full`: in any other mode the server's certificate is not checked"
    )]
    Unchecked,
    /// One of the two is missing.
    #[error("`sslcert` and `sslkey` need each other")]
    Half,
}

/// What the parameters of a URL ask for.
#[derive(Debug, Default)]
pub(crate) struct Request {
    mode: Option<String>,
    roots: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

/// Files that are read anew for each connection, so that they can be renewed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    certificates: Vec<PathBuf>,
    key: Option<PathBuf>,
}

impl Request {
    /// What the variables say that the library goes by where a URL says nothing.
    pub(crate) fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok();
        Self {
            mode: set("PGSSLMODE"),
            roots: set("PGSSLROOTCERT"),
            certificate: set("PGSSLCERT"),
            key: set("PGSSLKEY"),
        }
    }

    /// Takes a parameter in, and tells whether it is one of these. The last one counts.
    pub(crate) fn take(&mut self, name: &str, value: &str) -> bool {
        let place = match name {
            "sslmode" | "ssl-mode" => &mut self.mode,
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => &mut self.roots,
            "sslcert" | "ssl-cert" => &mut self.certificate,
            "sslkey" | "ssl-key" => &mut self.key,
            _ => return false,
        };
        *place = Some(value.to_owned());
        true
    }

    /// The mode. The library would pass over a wrong variable.
    pub(crate) fn mode(&self) -> Result<PgSslMode, TlsRequestError> {
        let Some(mode) = &self.mode else { return Ok(PgSslMode::default()) };
        mode.parse().map_err(|_| TlsRequestError::Mode(mode.clone()))
    }

    /// Completes options that were read from the same parameters.
    pub(crate) fn apply(
        self,
        options: PgConnectOptions,
    ) -> Result<(PgConnectOptions, Files), TlsRequestError> {
        let mode = self.mode()?;
        if options.get_socket().is_some() || options.get_host().starts_with('/') {
            // No server encrypts a Unix socket, and libpq does not ask it to.
            return Ok((options.ssl_mode(PgSslMode::Disable), Files::default()));
        }
        match (mode, &self.roots) {
            (PgSslMode::Allow, _) => return Err(TlsRequestError::Allow),
            (PgSslMode::VerifyCa, _) => return Err(TlsRequestError::VerifyCa),
            (PgSslMode::Disable | PgSslMode::Prefer | PgSslMode::Require, Some(_)) => {
                return Err(TlsRequestError::Unchecked);
            }
            (PgSslMode::Disable | PgSslMode::Prefer | PgSslMode::Require, None)
            | (PgSslMode::VerifyFull, _) => {}
        }
        if self.certificate.is_some() != self.key.is_some() {
            return Err(TlsRequestError::Half);
        }
        let mut options = options.ssl_mode(mode);
        // As libpq says it: none but the authorities of the system, which are trusted in any case.
        let roots = self.roots.filter(|roots| roots != "system");
        if roots.is_none() {
            options = options.ssl_root_cert_from_pem(Vec::new());
        }
        // A variable can have the PEM itself, which is no path to look at or to name in a message.
        let file = |text: String| (!text.trim_start().starts_with("-----BEGIN")).then(|| PathBuf::from(text));
        let certificates = roots.into_iter().chain(self.certificate).filter_map(file).collect();
        Ok((options, Files { certificates, key: self.key.and_then(file) }))
    }
}

impl Files {
    /// Says which of them cannot be used: a connection would fail in a less obvious way.
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        for path in &self.certificates {
            let wrong = |source| OpenError::Path { path: path.clone(), source };
            let content = fs::read(path).map_err(wrong)?;
            CertificateDer::from_pem_slice(&content).map_err(|_| {
                wrong(io::Error::new(io::ErrorKind::InvalidData, "it has no certificate in PEM form"))
            })?;
        }
        if let Some(path) = &self.key {
            let wrong = |source| OpenError::Path { path: path.clone(), source };
            let content = fs::read(path).map_err(wrong)?;
            let none = "it has no private key in PEM form, or an encrypted one";
            PrivateKeyDer::from_pem_slice(&content)
                .map_err(|_| wrong(io::Error::new(io::ErrorKind::InvalidData, none)))?;
        }
        Ok(())
    }
}

/// Why no connection was made, if it is for TLS: it would be the same the next time.
///
/// To be asked about an attempt to connect only. Later the same error says nothing about what has been done.
pub(crate) fn refusal(error: &sqlx::Error) -> Option<Fault> {
    let sqlx::Error::Io(error) = error else { return None };
    let reason = match error.get_ref()?.downcast_ref()? {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the issuer of the server's certificate is not known".to_owned()
        }
        error => error.to_string(),
    };
    Some(Fault::Tls(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_a_variable_is_not_taken_for_a_path() {
        let text = |text: &str| Some(text.to_owned());
        let key = text("-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----");
        let request = Request { certificate: text("me.pem"), key, ..Request::default() };
        let (_, files) = request.apply(PgConnectOptions::new().host("h")).unwrap();
        assert_eq!((files.certificates, files.key), (vec![PathBuf::from("me.pem")], None));
    }
}
