//! Connections that are encrypted, or not. A file has none; so this does nothing but on a server with TLS.

use std::error::Error;
use std::time::Duration;

use lmlang_store::{Location, OpenError, Options, Store};
use lmlang_testdb::TestDb;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use crate::fixture::author;

/// A database that can be reached over TCP.
struct Database {
    db: TestDb,
    url: String,
    /// Where the certificates are.
    folder: String,
}

impl Database {
    async fn new() -> Option<Self> {
        let db = TestDb::new().await;
        let url = db.tls_url()?.to_owned();
        let (_, file) = url.split_once("sslrootcert=").expect("it names an authority");
        let (folder, _) = file.split_once("/ca.pem").expect("the authority is in a folder");
        Some(Self { folder: folder.to_owned(), url: url.clone(), db })
    }

    /// Its address with other parameters of TLS, in which `FOLDER` has the certificates.
    fn url(&self, parameters: &str) -> String {
        let usual = format!("sslmode=verify-full&sslrootcert={}/ca.pem", self.folder);
        assert!(self.url.contains(&usual), "{}", self.url);
        self.url.replace(&usual, &parameters.replace("FOLDER", &self.folder))
    }

    /// Opens it, and answers how many connections there are then that are encrypted, and how many that are not.
    async fn connections(&self, url: &str) -> (i64, i64) {
        let name = format!("tls_{}", Uuid::now_v7().simple());
        let store = open(&format!("{url}&application_name={name}")).await.unwrap();
        // The one that writes is made when it is needed.
        author(&store).await;
        let from =
            format!("FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '{name}'");
        let count = async |which: &str| self.db.number(&format!("SELECT count(*) {from} AND {which}")).await;
        let counts = (count("ssl").await, count("NOT ssl").await);
        store.close().await.unwrap();
        counts
    }

    /// The same behind a door that speaks no TLS, as a server without it does.
    async fn without_tls(&self) -> String {
        let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = door.local_addr().unwrap().port();
        let (_, behind) = self.url.split_once('@').expect("it names a user");
        let (behind, _) = behind.split_once('/').expect("it names a database");
        let behind = behind.to_owned();
        let url = self.url("PARAMETERS").replace(&behind, &format!("localhost:{port}"));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = door.accept().await {
                let behind = behind.clone();
                tokio::spawn(async move {
                    let mut asked = [0; 8];
                    client.read_exact(&mut asked).await.unwrap();
                    assert_eq!(asked, [0, 0, 0, 8, 4, 210, 22, 47], "it asks for TLS");
                    client.write_all(b"N").await.unwrap();
                    let mut server = TcpStream::connect(behind).await.unwrap();
                    // Who ends it does not matter.
                    copy_bidirectional(&mut client, &mut server).await.ok();
                });
            }
        });
        url
    }
}

async fn open(url: &str) -> Result<Store, OpenError> {
    let busy_timeout = Duration::from_secs(60);
    Store::open(Options { busy_timeout, ..Options::new(Location::parse(url).unwrap()) }).await
}

/// Opens what cannot be opened, and compares with a part of what is said.
async fn refused(url: &str, expect: &str) {
    // A server that is not there is waited for, this one is not.
    let opened = tokio::time::timeout(Duration::from_secs(30), open(url)).await;
    let error = opened.expect("it is told at once").expect_err("it is refused");
    assert!(matches!(error, OpenError::Database { .. } | OpenError::Path { .. }), "{error:?}");
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        said = format!("{said}: {error}");
        source = error.source();
    }
    assert!(said.contains(expect), "{said}");
    assert!(!said.contains("secret"), "{said}");
}

#[tokio::test]
async fn all_connections_are_as_the_url_says() {
    let Some(database) = Database::new().await else { return };
    let plain = database.without_tls().await;
    let cases = [
        (database.url("sslmode=verify-full&sslrootcert=FOLDER/ca.pem"), true),
        (database.url("sslmode=require"), true),
        (database.url("sslmode=prefer"), true),
        (database.url(""), true),
        (database.url("sslmode=disable"), false),
        (plain.replace("PARAMETERS", "sslmode=prefer"), false),
    ];
    for (url, is_encrypted) in cases {
        let (encrypted, plain) = database.connections(&url).await;
        let (right, wrong) = if is_encrypted { (encrypted, plain) } else { (plain, encrypted) };
        assert!(right >= 2 && wrong == 0, "{url}: {encrypted} are encrypted, {plain} are not");
    }
}

#[tokio::test]
async fn a_connection_that_is_not_safe_is_refused_and_says_why() {
    let Some(database) = Database::new().await else { return };
    let unknown = "the issuer of the server's certificate is not known";
    refused(&database.url("sslmode=verify-full&sslrootcert=FOLDER/other.pem&password=secret"), unknown).await;
    refused(&database.url("sslmode=verify-full&password=secret"), unknown).await;
    refused(&database.url("sslmode=verify-full&sslrootcert=system&password=secret"), unknown).await;
    let elsewhere = database.url.replace("@localhost:", ":secret@127.0.0.1:");
    refused(
        &elsewhere,
        "not valid for name \"127.0.0.1\"; certificate is only valid for DnsName(\"localhost\")",
    )
    .await;
    let plain = database.without_tls().await;
    refused(&plain.replace("PARAMETERS", "sslmode=require&password=secret"), "server does not support TLS")
        .await;
    refused(&database.url("sslmode=verify-full&sslrootcert=FOLDER/none.pem"), "none.pem` cannot be used")
        .await;
    refused(&database.url("sslmode=verify-full&sslrootcert=FOLDER/client.key"), "no certificate in PEM form")
        .await;
    refused(
        &database.url("sslcert=FOLDER/client.pem&sslkey=FOLDER/client.pem"),
        "no private key in PEM form",
    )
    .await;
}

#[tokio::test]
async fn a_client_can_have_a_certificate() {
    let Some(database) = Database::new().await else { return };
    let role = "CREATE ROLE certified LOGIN SUPERUSER; EXCEPTION WHEN duplicate_object THEN NULL;";
    database.db.execute(&format!("DO $$ BEGIN {role} END $$")).await;
    let by_name = |url: String| url.replace("lmlang@", "certified@");
    let identity =
        "sslmode=verify-full&sslrootcert=FOLDER/ca.pem&sslcert=FOLDER/client.pem&sslkey=FOLDER/client.key";
    let (encrypted, plain) = database.connections(&by_name(database.url(identity))).await;
    assert!(encrypted >= 2 && plain == 0, "{encrypted} are encrypted, {plain} are not");
    refused(&by_name(database.url.clone()), "connection requires a valid client certificate").await;
    refused(&by_name(database.url("sslmode=disable")), "pg_hba.conf rejects connection").await;
}
