//! How connections are set that write to a file, whoever opens them.

/// Settings of SQLite, by name.
pub(crate) const WRITING: [(&str, &str); 4] = [
    ("foreign_keys", "ON"),
    // A commit is on the disk before it is answered.
    ("synchronous", "FULL"),
    // Pages of the write-ahead log before it is folded into the file: four times the default, for fewer pauses, at 16 MB of log.
    ("wal_autocheckpoint", "4000"),
    // Bytes to which the log is cut that has grown for as long as somebody read what was before, such as a backup.
    ("journal_size_limit", "67108864"),
];
