//! Files that a run wrote.

use async_graphql::{Context, SimpleObject};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_interp::Entry;

use crate::error::ApiError;
use crate::schema::scalars::Count;
use crate::transport::budget;

/// What became of a file or a folder in a run.
#[derive(Debug, SimpleObject)]
pub struct WrittenFile {
    /// Its path, with `/` between folders.
    path: String,
    /// Whether it is gone: removed, or called otherwise now.
    removed: bool,
    /// Whether it is a folder.
    folder: bool,
    /// Its length.
    bytes: Count,
    /// Its content; null if that is no text, or gone, or of a folder.
    content: Option<String>,
    /// Its content, in base64; null if it is gone, or of a folder.
    base64: Option<String>,
}

impl WrittenFile {
    pub(super) fn of(
        context: &Context<'_>,
        path: &str,
        entry: Option<&Entry>,
    ) -> Result<WrittenFile, ApiError> {
        let content = match entry {
            Some(Entry::File(bytes)) => Some(&bytes[..]),
            Some(Entry::Folder) | None => None,
        };
        let bytes = content.map_or(0, <[u8]>::len) as u64;
        // Text and base64 together.
        budget::count(context, path.len() as u64 + 3 * bytes)?;
        Ok(WrittenFile {
            path: path.to_owned(),
            removed: entry.is_none(),
            folder: entry == Some(&Entry::Folder),
            bytes: Count(bytes),
            content: content.and_then(|content| String::from_utf8(content.to_vec()).ok()),
            base64: content.map(|content| BASE64_STANDARD.encode(content)),
        })
    }
}
