//! Passing on what happens, to those who listen at that moment.
//!
//! The newest of it is kept, as far as a number and bytes allow; who is further behind is told so and looks elsewhere.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Where it is told. A clone is a handle to the same one.
#[derive(Clone, Debug)]
pub(crate) struct Live<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    backlog: Mutex<Backlog<T>>,
    wake: watch::Sender<()>,
    most: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Backlog<T> {
    /// With what each weighs, oldest first.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// How many were kept and are not any more: the number of the oldest.
    gone: u64,
    listeners: usize,
}

impl<T> Backlog<T> {
    fn end(&self) -> u64 {
        self.gone + self.items.len() as u64
    }

    fn drop_first(&mut self) {
        if let Some((_, bytes)) = self.items.pop_front() {
            self.bytes -= bytes;
            self.gone += 1;
        }
    }
}

impl<T: Clone> Live<T> {
    /// Keeps so many at most, of so many bytes altogether.
    pub(crate) fn new(most: usize, bytes: usize) -> Live<T> {
        let backlog = Backlog { items: VecDeque::new(), bytes: 0, gone: 0, listeners: 0 };
        Live(Arc::new(Shared { backlog: Mutex::new(backlog), wake: watch::Sender::new(()), most, bytes }))
    }

    /// Tells those who listen; `bytes` is what keeping it takes, about.
    pub(crate) fn tell(&self, item: T, bytes: usize) {
        let mut backlog = self.0.backlog();
        if backlog.listeners == 0 {
            return;
        }
        backlog.items.push_back((item, bytes));
        backlog.bytes += bytes;
        while backlog.items.len() > self.0.most || backlog.bytes > self.0.bytes {
            backlog.drop_first();
        }
        drop(backlog);
        self.0.wake.send_replace(());
    }

    /// Hears what is told from now on.
    pub(crate) fn listen(&self) -> Listener<T> {
        let mut backlog = self.0.backlog();
        backlog.listeners += 1;
        let next = backlog.end();
        drop(backlog);
        Listener { shared: Arc::clone(&self.0), next, wake: self.0.wake.subscribe() }
    }
}

impl<T> Shared<T> {
    fn backlog(&self) -> MutexGuard<'_, Backlog<T>> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Someone who listens.
#[derive(Debug)]
pub(crate) struct Listener<T> {
    shared: Arc<Shared<T>>,
    next: u64,
    wake: watch::Receiver<()>,
}

/// What was told next is not kept any more; the listener goes on with the oldest that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Behind;

impl<T: Clone> Listener<T> {
    /// What was told next. Loses nothing when it is dropped half-way.
    pub(crate) async fn next(&mut self) -> Result<T, Behind> {
        loop {
            self.wake.borrow_and_update();
            if let Some(next) = self.take() {
                return next;
            }
            // The sender lives as long as this listener.
            self.wake.changed().await.ok();
        }
    }

    fn take(&mut self) -> Option<Result<T, Behind>> {
        let backlog = self.shared.backlog();
        if self.next < backlog.gone {
            self.next = backlog.gone;
            return Some(Err(Behind));
        }
        let index = usize::try_from(self.next - backlog.gone).ok()?;
        let (item, _) = backlog.items.get(index)?;
        self.next += 1;
        Some(Ok(item.clone()))
    }
}

impl<T> Drop for Listener<T> {
    fn drop(&mut self) {
        let mut backlog = self.shared.backlog();
        backlog.listeners -= 1;
        while backlog.listeners == 0 && !backlog.items.is_empty() {
            backlog.drop_first();
        }
    }
}

#[cfg(test)]
mod tests;
