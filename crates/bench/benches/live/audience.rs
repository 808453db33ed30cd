//! Those who subscribe to a program, and those who edit it meanwhile.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use lmlang_bench::editor::{Editor, Program};
use lmlang_bench::http::{find, number};
use lmlang_bench::load::{Caller, Load};
use lmlang_bench::socket::Socket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

/// How long all are waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// Subscribers of one server, who have all heard the same so far. One thread serves them all.
pub(crate) struct Audience {
    sockets: Vec<Socket>,
    runtime: Runtime,
    /// The newest revision that they have heard of.
    newest: u64,
}

impl Audience {
    /// Nobody yet; those who join hear of what comes after a revision.
    pub(crate) fn after(newest: u64) -> io::Result<Audience> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Audience { sockets: Vec::new(), runtime, newest })
    }

    /// So many more subscribe.
    pub(crate) fn join(&mut self, address: SocketAddr, payload: &str, count: usize) -> io::Result<()> {
        let Audience { runtime, sockets, .. } = self;
        runtime.block_on(async {
            for _ in 0..count {
                let mut socket = Socket::open(address).await?;
                socket.subscribe(payload).await?;
                socket.settle().await?;
                sockets.push(socket);
            }
            Ok(())
        })
    }

    /// What the first of them is told next.
    pub(crate) fn told(&mut self) -> io::Result<String> {
        let Audience { runtime, sockets, .. } = self;
        let socket = sockets.first_mut().ok_or_else(|| io::Error::other("nobody subscribes"))?;
        runtime.block_on(async {
            let told = timeout(PATIENCE, socket.next()).await??;
            Ok(String::from_utf8_lossy(told).into_owned())
        })
    }

    /// Waits until everybody has heard of so many revisions more; answers when who heard of which.
    pub(crate) fn listen(&mut self, revisions: u64) -> io::Result<Vec<Vec<Instant>>> {
        let Audience { runtime, sockets, newest } = self;
        let (first, last) = (*newest + 1, *newest + revisions);
        let listening = async {
            let listen = |mut socket: Socket| {
                spawn_local(async move {
                    let heard = hear(&mut socket, first, last).await?;
                    Ok::<_, io::Error>((socket, heard))
                })
            };
            let tasks: Vec<_> = sockets.drain(..).map(listen).collect();
            let mut all = Vec::with_capacity(tasks.len());
            for task in tasks {
                let (socket, heard) = task.await.map_err(io::Error::other)??;
                sockets.push(socket);
                all.push(heard);
            }
            Ok::<_, io::Error>(all)
        };
        let all = LocalSet::new().block_on(runtime, async { timeout(PATIENCE, listening).await })??;
        *newest = last;
        Ok(all)
    }
}

/// Hears of some revisions, each once and in order.
async fn hear(socket: &mut Socket, first: u64, last: u64) -> io::Result<Vec<Instant>> {
    let mut heard = Vec::new();
    for expected in first..=last {
        let message = socket.next().await?;
        let at = Instant::now();
        if revision(message) != Some(expected) {
            let told = String::from_utf8_lossy(message);
            return Err(io::Error::other(format!("not r{expected}: {told}")));
        }
        heard.push(at);
    }
    Ok(heard)
}

/// The revision that an event tells of.
pub(crate) fn revision(event: &[u8]) -> Option<u64> {
    number(event, br#""__typename":"RevisionCommitted","cursor":"r"#)
}

/// Who edits, and how often. A connection asks for the next edits of its editors when it has the answers to all before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Editing {
    pub(crate) connections: usize,
    /// On each of them.
    pub(crate) editors: usize,
    /// How often each of them edits.
    pub(crate) times: usize,
    pub(crate) pause: Duration,
}

impl Editing {
    pub(crate) fn edits(self) -> u64 {
        (self.connections * self.editors * self.times) as u64
    }
}

/// What editors did.
pub(crate) struct Edited {
    began: Instant,
    /// Each revision that they made, with when they heard of it.
    answered: Vec<(u64, Instant)>,
}

/// Edits a program, by values from `next` on.
pub(crate) fn edit(
    address: SocketAddr,
    program: &Program,
    editing: Editing,
    next: u64,
) -> io::Result<Edited> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let next = Rc::new(Cell::new(next));
        // All connections are open before the first request.
        let ready = Rc::new(Barrier::new(editing.connections));
        let connect = |connection: usize| {
            let numbers = connection * editing.editors..(connection + 1) * editing.editors;
            let editors: Vec<Editor> = numbers.map(|number| Editor::of(program, number, 1, &next)).collect();
            let ready = Rc::clone(&ready);
            spawn_local(async move {
                let socket = Socket::open(address).await;
                ready.wait().await;
                let began = Instant::now();
                Ok::<_, io::Error>((began, ask(socket?, editors, editing).await?))
            })
        };
        let tasks: Vec<_> = (0..editing.connections).map(connect).collect();
        let (mut first, mut all) = (None, Vec::new());
        for task in tasks {
            let (began, answered) = task.await.map_err(io::Error::other)??;
            first = first.min(Some(began)).or(Some(began));
            all.extend(answered);
        }
        Ok(Edited { began: first.unwrap_or_else(Instant::now), answered: all })
    })
}

/// Lets the editors of one connection edit.
async fn ask(
    mut socket: Socket,
    mut editors: Vec<Editor>,
    editing: Editing,
) -> io::Result<Vec<(u64, Instant)>> {
    let (mut answered, mut body) = (Vec::new(), String::new());
    for time in 0..editing.times {
        if time > 0 && !editing.pause.is_zero() {
            sleep(editing.pause).await;
        }
        for (id, editor) in editors.iter_mut().enumerate() {
            body.clear();
            editor.request(&mut body);
            socket.send(&format!(r#"{{"type":"subscribe","id":"{id}","payload":{body}}}"#)).await?;
        }
        let mut left = editors.len();
        while left > 0 {
            let message = socket.next().await?;
            if message.starts_with(br#"{"type":"complete""#) {
                left -= 1;
                continue;
            }
            let at = Instant::now();
            let made = find(message, br#""committed":true"#).and_then(|_| number(message, br#""number":"#));
            let told = || io::Error::other(format!("not applied: {}", String::from_utf8_lossy(message)));
            answered.push((made.ok_or_else(told)?, at));
        }
    }
    Ok(answered)
}

/// Sets what was heard beside what was edited: how long each delivery took since anybody knew of its revision, be it an editor
/// or another subscriber.
pub(crate) fn deliveries(mut edited: Edited, heard: &[Vec<Instant>]) -> Load {
    edited.answered.sort_unstable();
    let mut known: Vec<Instant> = edited.answered.iter().map(|(_, at)| *at).collect();
    for all in heard {
        assert_eq!(all.len(), known.len(), "everybody hears of every revision");
        known.iter_mut().zip(all).for_each(|(known, at)| *known = (*known).min(*at));
    }
    let micros = |took: Duration| u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
    let mut waited = Vec::with_capacity(heard.len() * known.len());
    for all in heard {
        waited.extend(all.iter().zip(&known).map(|(at, known)| micros(*at - *known)));
    }
    waited.sort_unstable();
    let last = heard.iter().flatten().max().copied().unwrap_or(edited.began);
    Load { answered: waited.len() as u64, took: last - edited.began, waited }
}
