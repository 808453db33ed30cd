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
    kept: Mutex<Kept<T>>,
    wake: watch::Sender<()>,
    most: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Kept<T> {
    /// With what each weighs, oldest first.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// How many were kept and are not any more: the number of the oldest.
    gone: u64,
    listeners: usize,
}

impl<T> Kept<T> {
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
        let kept = Kept { items: VecDeque::new(), bytes: 0, gone: 0, listeners: 0 };
        Live(Arc::new(Shared { kept: Mutex::new(kept), wake: watch::Sender::new(()), most, bytes }))
    }

    /// Tells those who listen; `bytes` is what keeping it takes, about.
    pub(crate) fn tell(&self, item: T, bytes: usize) {
        let mut kept = self.0.kept();
        if kept.listeners == 0 {
            return;
        }
        kept.items.push_back((item, bytes));
        kept.bytes += bytes;
        while kept.items.len() > self.0.most || kept.bytes > self.0.bytes {
            kept.drop_first();
        }
        drop(kept);
        self.0.wake.send_replace(());
    }

    /// Hears what is told from now on.
    pub(crate) fn listen(&self) -> Listener<T> {
        let mut kept = self.0.kept();
        kept.listeners += 1;
        let next = kept.end();
        drop(kept);
        Listener { shared: Arc::clone(&self.0), next, wake: self.0.wake.subscribe() }
    }
}

impl<T> Shared<T> {
    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
        let kept = self.shared.kept();
        if self.next < kept.gone {
            self.next = kept.gone;
            return Some(Err(Behind));
        }
        let index = usize::try_from(self.next - kept.gone).ok()?;
        let (item, _) = kept.items.get(index)?;
        self.next += 1;
        Some(Ok(item.clone()))
    }
}

impl<T> Drop for Listener<T> {
    fn drop(&mut self) {
        let mut kept = self.shared.kept();
        kept.listeners -= 1;
        while kept.listeners == 0 && !kept.items.is_empty() {
            kept.drop_first();
        }
    }
}

#[cfg(test)]
mod tests;
