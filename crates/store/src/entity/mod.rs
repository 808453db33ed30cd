//! The tables, one file each.

pub(crate) mod actors;
pub(crate) mod api_tokens;
pub(crate) mod case_results;
pub(crate) mod case_sightings;
pub(crate) mod cases;
pub(crate) mod entities;
pub(crate) mod entity_changes;
pub(crate) mod flow_definitions;
pub(crate) mod heads;
pub(crate) mod interrupts;
pub(crate) mod journal;
pub(crate) mod log;
pub(crate) mod look_requests;
pub(crate) mod manager_changes;
pub(crate) mod manager_records;
pub(crate) mod objects;
pub(crate) mod packs;
pub(crate) mod program_changes;
pub(crate) mod program_requests;
pub(crate) mod programs;
pub(crate) mod relations;
pub(crate) mod removals;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod simulations;
pub(crate) mod snapshots;
