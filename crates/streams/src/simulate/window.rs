//! Which rows belong together, and when that is known.

use std::collections::BTreeMap;

use crate::plan::typed::Window;

/// The rows of a window that is closed, in order, with its bounds.
pub(super) struct Closed<R> {
    pub(super) rows: Vec<R>,
    pub(super) opens: i64,
    pub(super) closes: i64,
}

/// Rows that wait for their windows to close. The order is that of time, and of arrival where times are equal; that of a
/// count window is that of arrival alone.
pub(super) enum Waiting<R> {
    Tumbling { length: i64, open: BTreeMap<i64, Vec<(i64, u64, R)>> },
    Sliding { length: i64, rows: BTreeMap<(i64, u64), R>, next: Option<(i64, u64)> },
    Count { size: usize, rows: Vec<R> },
}

impl<R: Clone> Waiting<R> {
    pub(super) fn new(window: Window) -> Waiting<R> {
        match window {
            Window::Tumbling { length_ms } => Waiting::Tumbling { length: length_ms, open: BTreeMap::new() },
            Window::Sliding { length_ms } => {
                Waiting::Sliding { length: length_ms, rows: BTreeMap::new(), next: None }
            }
            Window::Count { rows } => Waiting::Count { size: rows as usize, rows: Vec::new() },
        }
    }

    /// Takes a row up. `number` counts the rows.
    pub(super) fn push(&mut self, time: i64, number: u64, row: R) {
        match self {
            Waiting::Tumbling { length, open } => {
                let opens = time.div_euclid(*length).saturating_mul(*length);
                open.entry(opens).or_default().push((time, number, row));
            }
            Waiting::Sliding { rows, .. } => drop(rows.insert((time, number), row)),
            Waiting::Count { rows, .. } => rows.push(row),
        }
    }

    /// The next window that is closed when no row before a time is to come; called until there is none.
    pub(super) fn pop(&mut self, watermark: i64) -> Option<Closed<R>> {
        match self {
            Waiting::Tumbling { length, open } => {
                let entry = open.first_entry()?;
                let opens = *entry.key();
                let closes = opens.saturating_add(*length);
                if closes > watermark {
                    return None;
                }
                let mut rows = entry.remove();
                rows.sort_by_key(|(time, number, _)| (*time, *number));
                Some(Closed { rows: rows.into_iter().map(|(_, _, row)| row).collect(), opens, closes })
            }
            Waiting::Sliding { length, rows, next } => {
                let from = next.map_or((i64::MIN, 0), |(time, number)| (time, number + 1));
                let (&(closes, number), _) = rows.range(from..).next()?;
                if closes > watermark {
                    return None;
                }
                *next = Some((closes, number));
                let opens = closes.saturating_sub(*length);
                // No later window reaches back further than this one.
                *rows = rows.split_off(&(opens.saturating_add(1), 0));
                let inside = rows.range(..=(closes, number)).map(|(_, row)| row.clone()).collect();
                Some(Closed { rows: inside, opens, closes })
            }
            Waiting::Count { size, rows } => {
                if rows.len() < *size {
                    return None;
                }
                let rest = rows.split_off(*size);
                Some(Closed { rows: std::mem::replace(rows, rest), opens: 0, closes: 0 })
            }
        }
    }

    /// Rows whose windows are not closed.
    pub(super) fn open_rows(&self) -> usize {
        match self {
            Waiting::Tumbling { open, .. } => open.values().map(Vec::len).sum(),
            Waiting::Sliding { rows, next, .. } => match next {
                Some((time, number)) => rows.range((*time, number + 1)..).count(),
                None => rows.len(),
            },
            Waiting::Count { rows, .. } => rows.len(),
        }
    }
}
