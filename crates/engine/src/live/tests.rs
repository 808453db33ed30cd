use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::*;

/// What a listener hears without waiting: `None` where it fell behind.
fn heard(listener: &mut Listener<u32>) -> Vec<Option<u32>> {
    std::iter::from_fn(|| listener.take()).map(Result::ok).collect()
}

#[test]
fn each_hears_what_is_told_from_then_on() {
    let live = Live::new(8, 100);
    live.tell(1, 1);
    let mut first = live.listen();
    live.tell(2, 1);
    let mut second = live.listen();
    live.tell(3, 1);
    assert_eq!(heard(&mut first), [Some(2), Some(3)]);
    assert_eq!(heard(&mut second), [Some(3)]);
    assert_eq!(heard(&mut second), []);
}

#[test]
fn what_is_kept_is_bounded_by_number_and_by_bytes() {
    let live = Live::new(3, 100);
    let mut listener = live.listen();
    for number in 1..=5 {
        live.tell(number, 10);
    }
    assert_eq!(heard(&mut listener), [None, Some(3), Some(4), Some(5)]);
    live.tell(6, 50);
    live.tell(7, 60);
    assert_eq!(heard(&mut listener), [None, Some(7)]);
    // What is too large by itself is not kept at all.
    live.tell(8, 101);
    assert_eq!(live.0.backlog().bytes, 0);
    live.tell(9, 100);
    assert_eq!(heard(&mut listener), [None, Some(9)]);
    drop(listener);
    let backlog = live.0.backlog();
    assert_eq!((backlog.bytes, backlog.items.len()), (0, 0));
}

#[tokio::test]
async fn a_listener_waits_for_what_is_told() {
    let live = Live::new(8, 100);
    let mut listener = live.listen();
    let mut next = pin!(listener.next());
    assert!(poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_pending())).await);
    live.tell(1, 1);
    assert_eq!(next.await, Ok(1));
}
