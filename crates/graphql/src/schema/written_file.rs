//! Files that a run wrote.

use async_graphql::{Context, SimpleObject};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::error::ApiError;
use crate::schema::scalars::Count;
use crate::transport::budget;

/// What became of a file in a run.
#[derive(Debug, SimpleObject)]
pub struct WrittenFile {
    /// Its path, with `/` between folders.
    path: String,
    /// Whether it is gone: removed, or called otherwise now.
    removed: bool,
    /// Its length.
    bytes: Count,
    /// Its content; null if that is no text, or gone.
    content: Option<String>,
    /// Its content, in base64; null if it is gone.
    base64: Option<String>,
}

impl WrittenFile {
    pub(super) fn of(
        context: &Context<'_>,
        path: &str,
        content: Option<&[u8]>,
    ) -> Result<WrittenFile, ApiError> {
        let bytes = content.map_or(0, <[u8]>::len) as u64;
        // Text and base64 together.
        budget::count(context, path.len() as u64 + 3 * bytes)?;
        Ok(WrittenFile {
            path: path.to_owned(),
            removed: content.is_none(),
            bytes: Count(bytes),
            content: content.and_then(|content| String::from_utf8(content.to_vec()).ok()),
            base64: content.map(|content| BASE64_STANDARD.encode(content)),
        })
    }
}
