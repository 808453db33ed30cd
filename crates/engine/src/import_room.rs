//! Room for modules that are taken in: large ones at the same time become no more nodes together than one may have, so
//! that the memory of all is bounded by that of one. Small ones wait for no large one.

use std::sync::Arc;

use lmlang_wasm::MOST_NODES;
use tokio::sync::OwnedSemaphorePermit;

use crate::engine::Engine;
use crate::error::Error;

/// Thousands of nodes of all large modules together.
pub(crate) const THOUSANDS: usize = (MOST_NODES / 1_000) as usize;

/// Bytes of a module that is large: one that is not takes no more memory than other requests.
const LARGE: usize = 256 << 10;

/// Nodes that a byte becomes at most, about. Of what compilers write two become fewer than one.
const NODES_OF_A_BYTE: usize = 3;

/// What a module has of the room until it is stored; nothing where it is small.
pub(crate) type ImportRoom = Option<OwnedSemaphorePermit>;

/// Thousands of nodes that a module of so many bytes may become, none where it is small.
fn thousands(bytes: usize) -> u32 {
    match bytes {
        0..LARGE => 0,
        LARGE.. => (bytes.saturating_mul(NODES_OF_A_BYTE) / 1_000).min(THOUSANDS) as u32,
    }
}

impl Engine {
    /// Waits until there is room for a module of so many bytes. Nobody who holds what others wait for may ask.
    pub(crate) async fn import_room(&self, bytes: usize) -> Result<ImportRoom, Error> {
        let thousands = thousands(bytes);
        if thousands == 0 {
            return Ok(None);
        }
        tokio::select! {
            room = Arc::clone(&self.0.imports).acquire_many_owned(thousands) => {
                room.map(Some).map_err(|_| Error::Closed)
            }
            () = self.closing().cancelled() => Err(Error::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_modules_have_room_by_their_bytes() {
        let check = |bytes: usize, expect: u32| assert_eq!(thousands(bytes), expect, "{bytes}");
        check(0, 0);
        check(LARGE - 1, 0);
        check(LARGE, 786);
        check(1_000_000, 3_000);
        check(2_600_000, 7_800);
        // There is room for one of them, and whoever has all of it is alone.
        check(2_700_000, 8_000);
        check(16 << 20, 8_000);
        check(usize::MAX, 8_000);
    }
}
