//! Commands on a database whose connections are to be encrypted.

use std::io::{Read, Write};
use std::net::TcpListener;

use lmlang_testdb::TestDb;

use crate::tool::Place;

#[test]
fn a_server_without_tls_is_refused_and_no_password_is_shown() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = format!("postgres://ada:secret@{}/d", server.local_addr().expect("it has an address"));
    let answering = std::thread::spawn(move || {
        let (mut client, _) = server.accept().expect("somebody comes");
        let mut asked = [0; 8];
        client.read_exact(&mut asked).expect("it asks for TLS first");
        client.write_all(b"N").expect("it listens");
    });
    let place = Place::new();
    let list = |parameters: &str, exit: i32, code: &str| {
        let told =
            place.fails(&["program", "list", "--database-url", &format!("{at}?{parameters}")], exit, code);
        assert!(!told.contains("secret"), "{told}");
        told
    };
    let told = list("sslmode=require", 1, "STORAGE_UNAVAILABLE");
    assert!(told.contains("server does not support TLS"), "{told}");
    answering.join().expect("it was asked once");
    let told = list("sslmode=verify-full&sslrootcert=ca.pem", 1, "STORAGE_UNAVAILABLE");
    assert!(told.contains("`ca.pem` cannot be used"), "{told}");
    let told = list("sslmode=verify-ca", 2, "BAD_SETTINGS");
    assert!(told.contains("use `verify-full`"), "{told}");
    let told = list("sslmode=require&sslcrl=revoked.pem", 2, "BAD_SETTINGS");
    assert!(told.contains("`sslcrl`"), "{told}");
}

/// Does nothing but on a server with TLS.
#[test]
fn the_authorities_of_the_system_are_trusted() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let db = runtime.block_on(TestDb::new());
    let Some(url) = db.tls_url() else { return };
    let (_, file) = url.split_once("sslrootcert=").expect("it names an authority");
    let (authority, _) = file.split_once('&').expect("another parameter comes after it");
    let url = url.replace(authority, "system");
    let place = Place::with_example("fib.lm");
    place.fails(&["import", "fib.lm", "--database-url", &url], 1, "STORAGE_UNAVAILABLE");
    let mut import = place.command();
    // It stands for the files of the system.
    import.args(["import", "fib.lm"]).env("LMLANG_DATABASE_URL", &url).env("SSL_CERT_FILE", authority);
    let imported = import.output().expect("the binary runs");
    assert_eq!(String::from_utf8_lossy(&imported.stdout), "fib\n", "{imported:?}");
}
