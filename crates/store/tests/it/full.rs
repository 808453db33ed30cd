//! A server that has all the connections that it takes. A file is no server; so this does nothing but on one that is reached
//! over TCP.

use std::time::Duration;

use lmlang_store::{Fault, Location, OpenError, Options, Store};
use lmlang_testdb::TestDb;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::author;

/// What such a server says to whoever comes.
const FULL: &[u8] = b"SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0";

/// The address of a database, if it has one, as it is without TLS.
fn address(db: &TestDb) -> Option<String> {
    let url = db.tls_url()?;
    let (before, rest) = url.split_once("sslmode=verify-full&sslrootcert=").expect("it names an authority");
    let (_, after) = rest.split_once("/ca.pem").expect("the authority is in a folder");
    Some(format!("{before}sslmode=disable{after}"))
}

/// The same behind a door, where the server is full for the first who come.
async fn full_for(url: &str, mut first: usize) -> String {
    let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = door.local_addr().unwrap().port();
    let (_, behind) = url.split_once('@').expect("it names a user");
    let (behind, _) = behind.split_once('/').expect("it names a database");
    let behind = behind.to_owned();
    let before = url.replace(&behind, &format!("localhost:{port}"));
    tokio::spawn(async move {
        while let Ok((mut client, _)) = door.accept().await {
            if first > 0 {
                first -= 1;
                refuse(&mut client).await;
                continue;
            }
            let behind = behind.clone();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(behind).await.unwrap();
                // Who ends it does not matter.
                copy_bidirectional(&mut client, &mut server).await.ok();
            });
        }
    });
    before
}

/// Reads who comes, and says that there is no room.
async fn refuse(client: &mut TcpStream) {
    let length = client.read_u32().await.unwrap();
    let mut asked = vec![0; usize::try_from(length).unwrap() - 4];
    client.read_exact(&mut asked).await.unwrap();
    client.write_u8(b'E').await.unwrap();
    client.write_u32(u32::try_from(FULL.len() + 4).unwrap()).await.unwrap();
    client.write_all(FULL).await.unwrap();
}

async fn open(url: &str, busy_timeout: Duration) -> Result<Store, OpenError> {
    Store::open(Options { busy_timeout, ..Options::new(Location::parse(url).unwrap()) }).await
}

#[tokio::test]
async fn a_server_that_is_full_for_a_while_is_waited_for() {
    let db = TestDb::new().await;
    let Some(url) = address(&db) else { return };
    let url = full_for(&url, 3).await;
    let store = open(&url, Duration::from_secs(60)).await.unwrap();
    author(&store).await;
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_stays_full_is_told_as_such() {
    let db = TestDb::new().await;
    let Some(url) = address(&db) else { return };
    let url = full_for(&url, usize::MAX).await;
    let error = open(&url, Duration::from_millis(300)).await.expect_err("it is refused");
    assert!(matches!(error, OpenError::Database { source: Fault::NoConnection, .. }), "{error:?}");
}
