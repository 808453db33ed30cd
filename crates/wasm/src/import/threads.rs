//! How many threads help to take a module in: to validate its bodies, and then to put its functions together.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread::available_parallelism;

/// Bytes of a module that is worth threads of its own.
const LARGE: usize = 64 << 10;

/// Most threads beside the one that reads: it has no work for more.
const MOST: usize = 3;

/// How many threads beside the one that reads help with a module of so many bytes.
pub(super) fn helpers(bytes: usize) -> usize {
    // Files say how many there are: that takes as long as a small module does.
    static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZeroUsize::get));
    if bytes < LARGE { 0 } else { (*CORES - 1).min(MOST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_modules_need_no_threads() {
        assert_eq!(helpers(LARGE - 1), 0);
        assert!(helpers(LARGE) <= MOST);
    }
}
