//! States beside the log, written in the background, so that opening a program reads little of its log.

use lmlang_history::record::{decode_program, encode_program};
use lmlang_ir::{Hash, Program};
use lmlang_store::{Object, Snapshot};
use uuid::Uuid;

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;

impl Engine {
    /// Writes a snapshot in the background when enough has happened since the last one.
    pub(crate) fn snapshot_if_due(&self, open: &OpenProgram) {
        let head = open.timeline.head();
        let number = head.revision.entry.number;
        if !open.timeline.claim_snapshot(number, &self.0.snapshots) {
            return;
        }
        let (engine, key, id) = (self.clone(), open.timeline.key(), open.timeline.id());
        self.spawn(async move {
            let written = engine.write_snapshot(key, number, head.revision.checked.program().clone()).await;
            if let Err(error) = written {
                // The log alone is enough to open the program; the next entry tries again.
                tracing::warn!(program = %id, number, %error, "a snapshot could not be written");
            }
        });
    }

    async fn write_snapshot(
        &self,
        program: lmlang_store::ProgramKey,
        seq: u64,
        content: Program,
    ) -> Result<(), Error> {
        let encode = move || {
            let bytes = zstd::encode_all(encode_program(&content).as_slice(), LEVEL);
            bytes.map(|bytes| (content.root_hash(), bytes))
        };
        let encoded = tokio::task::spawn_blocking(encode).await.map_err(|_| Error::Closed)?;
        // Compression writes to memory, which does not fail.
        let Ok((hash, bytes)) = encoded else { return Err(Error::Closed) };
        let object = Object { hash: hash.0, version: VERSION, bytes };
        let snapshot = Snapshot { program, seq, root: hash.0.to_vec() };
        self.store().put_snapshot(snapshot, 0, vec![object]).await?;
        Ok(())
    }

    /// The state that a snapshot holds.
    pub(crate) async fn read_snapshot(&self, id: Uuid, snapshot: Snapshot) -> Result<Program, Error> {
        let damaged = |reason: &str| self.damaged(id, snapshot.seq, reason);
        let hash: [u8; 32] =
            snapshot.root.as_slice().try_into().map_err(|_| damaged("its snapshot's root is no hash"))?;
        let object = self.store().objects(&[hash]).await?.pop();
        let object = object.ok_or_else(|| damaged("its snapshot's object is missing"))?;
        let decode = move || {
            let bytes = zstd::decode_all(object.bytes.as_slice()).ok()?;
            decode_program(&bytes).ok().filter(|program| program.root_hash() == Hash(hash))
        };
        let program = tokio::task::spawn_blocking(decode).await.map_err(|_| Error::Closed)?;
        program.ok_or_else(|| damaged("its snapshot cannot be read"))
    }
}

/// The version of the form of objects.
const VERSION: u8 = 1;

/// Little effort: snapshots are written often and read seldom.
const LEVEL: i32 = 1;
