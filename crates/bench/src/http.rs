//! A connection to a server over HTTP/1.1 that is kept open: what a client needs, and nothing that costs more.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    head: String,
    sent: Vec<u8>,
    read: Vec<u8>,
}

/// The start of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Where the body begins.
    body: usize,
    /// Bytes of the body.
    length: usize,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json\r\ncontent-length: "
        );
        Ok(Connection { stream, head, sent: Vec::with_capacity(4096), read: Vec::with_capacity(4096) })
    }

    /// Posts a JSON body and waits for the body of the answer.
    ///
    /// # Errors
    ///
    /// When the connection breaks, and for every status but 200.
    pub async fn post(&mut self, body: &str) -> io::Result<&[u8]> {
        self.sent.clear();
        self.sent.extend_from_slice(self.head.as_bytes());
        self.sent.extend_from_slice(body.len().to_string().as_bytes());
        self.sent.extend_from_slice(b"\r\n\r\n");
        self.sent.extend_from_slice(body.as_bytes());
        self.stream.write_all(&self.sent).await?;
        self.read.clear();
        loop {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(head) = head(&self.read)? else { continue };
            if self.read.len() < head.body + head.length {
                continue;
            }
            let body = &self.read[head.body..head.body + head.length];
            if head.status != 200 {
                let told = String::from_utf8_lossy(body);
                return Err(io::Error::other(format!("status {}: {told}", head.status)));
            }
            return Ok(body);
        }
    }
}

/// Reads the start of an answer; `None` while it is not all there.
fn head(read: &[u8]) -> io::Result<Option<Head>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let Some(end) = find(read, b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&read[..end]).map_err(|_| bad("a head that is no text"))?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| bad("an answer without status"))?;
    let mut fields = lines.filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, length)| length.trim().parse().ok());
    let length = length.ok_or_else(|| bad("an answer without length"))?;
    Ok(Some(Head { status, body: end + 4, length }))
}

/// Where some bytes begin in others.
#[must_use]
pub fn find(within: &[u8], wanted: &[u8]) -> Option<usize> {
    within.windows(wanted.len()).position(|window| window == wanted)
}

/// The number that stands behind some bytes.
#[must_use]
pub fn number(within: &[u8], before: &[u8]) -> Option<u64> {
    let start = find(within, before)? + before.len();
    let digits = within[start..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number: Option<u64>, digit| Some(number.unwrap_or(0) * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: &str, expect: Option<Head>) {
        assert_eq!(head(read.as_bytes()).ok().flatten(), expect, "{read:?}");
    }

    #[test]
    fn heads_are_read() {
        let found = Head { status: 200, body: 38, length: 2 };
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", Some(found));
        check("HTTP/1.1 200 OK\r\nCONTENT-LENGTH:2\r\nx: y\r\n\r\n{", Some(Head { body: 43, ..found }));
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n", None);
        check("HTTP/1.1 200 OK\r\n\r\n", None);
        check("nothing\r\n\r\n", None);
    }

    #[test]
    fn numbers_are_found() {
        assert_eq!(number(br#"{"cursor":120,"steps":7}"#, br#""cursor":"#), Some(120));
        assert_eq!(number(br#"{"cursor":null}"#, br#""cursor":"#), None);
        assert_eq!(number(b"{}", br#""cursor":"#), None);
    }
}
