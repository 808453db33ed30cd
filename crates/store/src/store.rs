//! The store as a whole: opening and closing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::actors::ActorCache;
use crate::committer::{Committer, Loop};
use crate::fault::Fault;
use crate::faults::Faults;
use crate::location::Location;
use crate::lock::Lock;
use crate::open::{OpenError, Ready};
use crate::packing::Packing;
use crate::reader::Reader;
use crate::writer::{Access, Writer};
use crate::{postgres, sqlite};

/// How to open a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is.
    pub location: Location,
    /// How many connections read.
    pub readers: u32,
    /// How long a statement waits for a lock, which another process holds: of a file, a tool outside lmlang. A server is
    /// tried to be reached for as long.
    pub busy_timeout: Duration,
    /// Where this process can be asked instead, as other openers are told.
    pub address: Option<String>,
    /// How many of the newest entries have their edits in their rows; those of older ones are packed.
    pub unpacked: u64,
    /// The test hooks of the write path and of reads.
    pub faults: Faults,
}

impl Options {
    /// The usual options for a place.
    pub fn new(location: Location) -> Self {
        let busy_timeout = Duration::from_secs(5);
        Self { location, readers: 4, busy_timeout, address: None, unpacked: 4_096, faults: Faults::none() }
    }

    /// The usual options for a database file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self::new(Location::File(path.as_ref().to_owned()))
    }
}

/// An open database: a writing connection, another one of a file for whoever writes alone, a few that read.
///
/// Dropping it ends it as well as [`Store::close`] does, but later and without a word about errors.
#[derive(Debug)]
pub struct Store {
    pub(crate) reader: Reader,
    pub(crate) access: Access,
    pub(crate) faults: Faults,
    pub(crate) actors: ActorCache,
    committer: Committer,
    writing: Mutex<Option<JoinHandle<Option<Lock>>>>,
    packing: Mutex<Option<Packing>>,
    location: Location,
    is_new: bool,
    discarded: AtomicBool,
}

impl Store {
    /// Opens a database, makes it if it is not there, and brings it to the newest schema.
    ///
    /// Must be called within a tokio runtime, on which the committer runs from then on.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]: among others another process that has it open, and a schema that is newer than this binary.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let Ready { access, aside, reader, lock, location, is_new } = match &options.location {
            Location::File(path) => sqlite::open(path, &options).await?,
            Location::Postgres(url) => postgres::open(url, &options).await?,
        };
        let mut writer = Writer::new(access.clone(), options.faults.clone());
        writer
            .connect()
            .await
            .map_err(|failure| OpenError::Database { location: location.clone(), source: failure.into() })?;
        let (committer, work) = Loop::new(writer, lock, aside);
        let writing = tokio::spawn(work.run());
        let writing = Mutex::new(Some(writing));
        let reader = Reader::new(reader, options.faults.clone());
        let packing = Packing::start(reader.clone(), committer.clone(), options.unpacked);
        let packing = Mutex::new(Some(packing));
        let faults = options.faults;
        Ok(Self {
            reader,
            access,
            faults,
            actors: ActorCache::default(),
            committer,
            writing,
            packing,
            location,
            is_new,
            discarded: AtomicBool::new(false),
        })
    }

    /// The handle through which entries are appended.
    pub fn committer(&self) -> &Committer {
        &self.committer
    }

    /// Where it is, by its real name.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether the database was made by opening it here.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether no other process writes to the database.
    pub fn is_alone(&self) -> bool {
        matches!(self.location, Location::File(_))
    }

    /// Whether the database is where it was opened: a file may have been moved, removed or replaced since, and is not written to
    /// then. Of a server it is not known before it is asked.
    pub fn is_there(&self) -> bool {
        self.access.is_there()
    }

    /// Has [`Store::close`] remove the file, if that was made by opening it here; with all that is in it.
    pub fn discard(&self) {
        self.discarded.store(true, Ordering::Relaxed);
    }

    /// Finishes what is queued, closes the connections and gives the file free.
    ///
    /// Appends that come later are answered with [`Fault::Closed`].
    ///
    /// # Errors
    ///
    /// A fault on closing the connections that read; everything acknowledged is safe in any case.
    pub async fn close(&self) -> Result<(), Fault> {
        let packing = self.packing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(packing) = packing {
            packing.stop().await;
        }
        // First the readers: the last connection folds the write-ahead log into the file.
        let readers = self.reader.close_by_ref().await;
        self.committer.all_ended().await;
        self.committer.close();
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writing) = writing else { return Ok(readers?) };
        // Nobody else opens the file before this is over.
        let _lock = writing
            .await
            .inspect_err(|error| tracing::error!(%error, "the committer ended by a panic"))
            .unwrap_or_default();
        if let Location::File(path) = &self.location
            && self.is_new
            && self.discarded.load(Ordering::Relaxed)
            && self.is_there()
        {
            sqlite::remove(path);
        }
        Ok(readers?)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.committer.close();
    }
}
