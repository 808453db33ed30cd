//! A way to a PostgreSQL server that can be cut.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, Weak};

use sea_orm::sqlx::postgres::PgConnectOptions;

/// What becomes of what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It arrives.
    Open,
    /// Connections are ended, and new ones too.
    Cut,
    /// It does not arrive, and nobody is told.
    Silent,
}

/// A way to the server of a URL, with an address of its own.
pub(crate) struct Way {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// The ends of all connections.
    ends: Mutex<Vec<End>>,
}

impl Way {
    pub(crate) fn to(url: &str) -> Way {
        let options: PgConnectOptions = url.parse().expect("it is one of PostgreSQL");
        let server = match options.get_socket() {
            Some(folder) => Server::Socket(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
            None if options.get_host().starts_with('/') => Server::Socket(
                PathBuf::from(options.get_host()).join(format!(".s.PGSQL.{}", options.get_port())),
            ),
            None => Server::Address(options.get_host().to_owned(), options.get_port()),
        };
        let door = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = door.local_addr().expect("it has an address").port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State::Open),
            changed: Condvar::new(),
            ends: Mutex::default(),
        });
        let behind = Arc::downgrade(&shared);
        // It ends with whoever comes after this was dropped.
        std::thread::spawn(move || {
            for here in door.incoming() {
                let (Some(shared), Ok(here)) = (behind.upgrade(), here) else { return };
                shared.join(here, &server);
            }
        });
        Way { url: through(url, port), shared }
    }

    /// Where the same database is by this way.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn set(&self, state: State) {
        *self.shared.state.lock().unwrap() = state;
        self.shared.changed.notify_all();
        if state == State::Cut {
            self.shared.end_all();
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.set(State::Cut);
    }
}

impl Shared {
    /// Joins a caller with the server, if there is a way.
    fn join(self: &Arc<Self>, here: TcpStream, server: &Server) {
        if *self.state.lock().unwrap() == State::Cut {
            return;
        }
        let Ok(there) = server.connect() else { return };
        let here = End::Tcp(here);
        {
            let mut ends = self.ends.lock().unwrap();
            ends.extend([here.copy(), there.copy()]);
        }
        // Cut while it was made, it is ended by whoever looks next.
        for (from, to) in [(here.copy(), there.copy()), (there, here)] {
            let shared = Arc::downgrade(self);
            std::thread::spawn(move || pass_on(from, to, &shared));
        }
    }

    /// Waits as long as nothing gets through and nobody is told; whether it gets through then.
    fn lets_through(&self) -> bool {
        let state = self.state.lock().unwrap();
        let state = self.changed.wait_while(state, |state| *state == State::Silent).unwrap();
        *state == State::Open
    }

    fn end_all(&self) {
        for end in self.ends.lock().unwrap().drain(..) {
            end.end();
        }
    }
}

/// Passes on what comes from one end to the other, until either is closed.
fn pass_on(mut from: End, mut to: End, shared: &Weak<Shared>) {
    let mut part = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut part) {
        let is_open = shared.upgrade().is_some_and(|shared| shared.lets_through());
        if !is_open || to.write_all(&part[..read]).is_err() {
            break;
        }
    }
    from.end();
    to.end();
}

/// The same URL by a port of this machine.
fn through(url: &str, port: u16) -> String {
    let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (user, rest) = place.rsplit_once('@').expect("it names a user");
    let database = rest.split_once('/').map_or("", |(_, database)| database);
    let elsewhere =
        |one: &&str| ["host=", "hostaddr=", "port=", "ssl"].iter().any(|name| one.starts_with(name));
    let kept = parameters.split('&').filter(|one| !one.is_empty() && !elsewhere(one));
    let parameters: Vec<&str> = ["sslmode=disable"].into_iter().chain(kept).collect();
    format!("{user}@127.0.0.1:{port}/{database}?{}", parameters.join("&"))
}

/// Where a server listens.
enum Server {
    Socket(PathBuf),
    Address(String, u16),
}

impl Server {
    fn connect(&self) -> io::Result<End> {
        match self {
            Server::Socket(path) => UnixStream::connect(path).map(End::Unix),
            Server::Address(host, port) => TcpStream::connect((host.as_str(), *port)).map(End::Tcp),
        }
    }
}

/// An end of a connection.
enum End {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl End {
    /// Another handle of the same end.
    fn copy(&self) -> End {
        match self {
            End::Tcp(stream) => End::Tcp(stream.try_clone().expect("there are handles left")),
            End::Unix(stream) => End::Unix(stream.try_clone().expect("there are handles left")),
        }
    }

    /// Ends the connection; one that is over stays so.
    fn end(&self) {
        match self {
            End::Tcp(stream) => stream.shutdown(Shutdown::Both).ok(),
            End::Unix(stream) => stream.shutdown(Shutdown::Both).ok(),
        };
    }
}

impl Read for End {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        match self {
            End::Tcp(stream) => stream.read(part),
            End::Unix(stream) => stream.read(part),
        }
    }
}

impl Write for End {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        match self {
            End::Tcp(stream) => stream.write(part),
            End::Unix(stream) => stream.write(part),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            End::Tcp(stream) => stream.flush(),
            End::Unix(stream) => stream.flush(),
        }
    }
}
