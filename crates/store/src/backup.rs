//! Programs with all of their history in a file, with what belongs to no program beside them, and from it into another
//! database.
//!
//! The file is a list of [records](record) in [frames]. [`Backup`] makes one of a single moment of a database;
//! [`BackupFile`] has looked at all of one before anything in it is used; [`Plan`] says what is missing in a database, or
//! why it cannot be there, and then stores it. Keys of actors and programs and the positions of entries mean something in
//! one database only: the file has numbers of its own for the first, and order for the last.
//!
//! Snapshots and their objects are not in it, for they follow from the logs, nor is what runs of test cases gave; nor are
//! runs of flows, which would be carried on twice;
//! simulations, which are kept for a while; and tokens, which are for one database.

mod fate;
mod file;
mod frames;
mod making;
mod making_parts;
mod parts;
mod plan;
mod plan_parts;
mod record;
mod taking;
mod taking_parts;

pub use fate::{Fate, Refusal, Refused};
pub use file::{BackupFile, Contents, Item, Items, ProgramInFile};
pub use frames::FileError;
pub use making::{Backup, Choice};
pub use parts::{ManagerChangeInFile, Part, PartItem, PartsInFile};
pub use plan::{LoadError, Plan, Planned, Wishes};
pub use plan_parts::PlannedPart;
pub use record::{CaseInFile, RequestInFile};
pub use taking::Progress;
