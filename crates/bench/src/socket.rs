//! A WebSocket to a server that speaks `graphql-transport-ws`: what a client needs, and nothing that costs more.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http::find;

/// Where servers take WebSockets.
pub const PATH: &str = "/graphql/ws";

/// Bytes that are read at a time, at least.
const READ: usize = 64 << 10;

/// An open connection, whose client is introduced.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    sent: Vec<u8>,
    read: Vec<u8>,
    /// How much of that has been taken.
    taken: usize,
}

/// A frame at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    /// Whether its message ends with it.
    last: bool,
    /// Where its body begins, and where it ends.
    body: usize,
    end: usize,
}

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

impl Socket {
    /// Connects and introduces itself.
    ///
    /// # Errors
    ///
    /// When nobody listens there, or does not take WebSockets.
    pub async fn open(address: SocketAddr) -> io::Result<Socket> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut socket =
            Socket { stream, sent: Vec::with_capacity(1_024), read: Vec::with_capacity(READ), taken: 0 };
        // Any key will do: what the server makes of it is not looked at.
        let asked = format!(
            "GET {PATH} HTTP/1.1\r\nhost: {address}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
             sec-websocket-protocol: graphql-transport-ws\r\n\r\n"
        );
        socket.stream.write_all(asked.as_bytes()).await?;
        let head = loop {
            socket.more().await?;
            if let Some(end) = find(&socket.read, b"\r\n\r\n") {
                break end + 4;
            }
        };
        if !socket.read.starts_with(b"HTTP/1.1 101 ") {
            let told = String::from_utf8_lossy(&socket.read).into_owned();
            return Err(io::Error::other(format!("no WebSocket: {told}")));
        }
        socket.taken = head;
        socket.send(r#"{"type":"connection_init"}"#).await?;
        socket.expect(r#"{"type":"connection_ack"}"#).await?;
        Ok(socket)
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub async fn send(&mut self, text: &str) -> io::Result<()> {
        self.write(TEXT, text.as_bytes()).await
    }

    /// Subscribes under the id `1`; the payload is JSON.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub async fn subscribe(&mut self, payload: &str) -> io::Result<()> {
        self.send(&format!(r#"{{"type":"subscribe","id":"1","payload":{payload}}}"#)).await
    }

    /// Waits until the server has taken in what was sent.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or another message comes first.
    pub async fn settle(&mut self) -> io::Result<()> {
        self.send(r#"{"type":"ping"}"#).await?;
        self.expect(r#"{"type":"pong"}"#).await
    }

    async fn expect(&mut self, wanted: &str) -> io::Result<()> {
        let message = self.next().await?;
        if message == wanted.as_bytes() {
            return Ok(());
        }
        Err(io::Error::other(format!("not {wanted}: {}", String::from_utf8_lossy(message))))
    }

    /// The next message. Pings are answered meanwhile.
    ///
    /// # Errors
    ///
    /// When the connection breaks or is closed.
    pub async fn next(&mut self) -> io::Result<&[u8]> {
        loop {
            let start = self.taken;
            let Some(frame) = frame(&self.read[start..]) else {
                self.more().await?;
                continue;
            };
            self.taken += frame.end;
            match frame.kind {
                TEXT if frame.last => return Ok(&self.read[start + frame.body..start + frame.end]),
                PING => {
                    let body = self.read[start + frame.body..start + frame.end].to_vec();
                    self.write(PONG, &body).await?;
                }
                PONG => {}
                CLOSE => {
                    let told = String::from_utf8_lossy(&self.read[start + frame.body..start + frame.end]);
                    return Err(io::Error::other(format!("closed: {told}")));
                }
                kind => return Err(io::Error::other(format!("a frame of kind {kind}"))),
            }
        }
    }

    /// Reads on; what was taken is gone then.
    async fn more(&mut self) -> io::Result<()> {
        self.read.drain(..self.taken);
        self.taken = 0;
        if self.stream.read_buf(&mut self.read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    async fn write(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        const LAST: u8 = 0x80;
        const MASKED: u8 = 0x80;
        self.sent.clear();
        self.sent.push(LAST | kind);
        match (u8::try_from(body.len()), u16::try_from(body.len())) {
            (Ok(length), _) if length < 126 => self.sent.push(MASKED | length),
            (_, Ok(length)) => {
                self.sent.push(MASKED | 126);
                self.sent.extend_from_slice(&length.to_be_bytes());
            }
            (_, Err(_)) => {
                self.sent.push(MASKED | 127);
                self.sent.extend_from_slice(&(body.len() as u64).to_be_bytes());
            }
        }
        // A mask that changes nothing.
        self.sent.extend_from_slice(&[0; 4]);
        self.sent.extend_from_slice(body);
        self.stream.write_all(&self.sent).await
    }
}

/// Reads a frame of a server, which masks nothing; `None` while it is not all there.
fn frame(read: &[u8]) -> Option<Frame> {
    let [first, second, rest @ ..] = read else { return None };
    let (length, more) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 2),
        127 => (u64::from_be_bytes(*rest.first_chunk()?), 8),
        length => (u64::from(length), 0),
    };
    let body = 2 + more;
    let end = usize::try_from(length).ok()?.checked_add(body)?;
    (read.len() >= end).then_some(Frame { kind: first & 0x0f, last: first & 0x80 != 0, body, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: &[u8], expect: Option<Frame>) {
        assert_eq!(frame(read), expect, "{read:?}");
    }

    #[test]
    fn frames_are_read() {
        let found = Frame { kind: TEXT, last: true, body: 2, end: 4 };
        check(&[0x81, 2, b'{', b'}'], Some(found));
        check(&[0x81, 2, b'{', b'}', 0x81], Some(found));
        check(&[0x01, 2, b'{', b'}'], Some(Frame { last: false, ..found }));
        check(&[0x81, 2, b'{'], None);
        check(&[0x81], None);
        check(&[0x89, 0], Some(Frame { kind: PING, last: true, body: 2, end: 2 }));
        let long = [b"\x81\x7e\x00\x7e".as_slice(), [b' '; 126].as_slice()].concat();
        check(&long, Some(Frame { body: 4, end: 130, ..found }));
        check(&long[..129], None);
        let longer =
            [b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00".as_slice(), vec![b' '; 1 << 16].as_slice()].concat();
        check(&longer, Some(Frame { body: 10, end: 10 + (1 << 16), ..found }));
    }
}
