//! How many files a process may have open; each connection is one.

/// Raises the limit to the highest that the process may have, and returns it; `None` where there is no limit, or none is told.
#[cfg(unix)]
pub(crate) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        Ok(()) => limit.maximum,
        // Some systems tell a maximum that they do not allow.
        Err(_) => limit.current,
    }
}

/// The same: other systems tell no limit.
#[cfg(not(unix))]
pub(crate) fn raise() -> Option<u64> {
    None
}
