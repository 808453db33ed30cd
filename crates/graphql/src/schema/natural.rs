//! Numbers of arguments whose type has negative ones too.

use crate::error::{ApiError, Code};

/// The number that a caller gave for an argument, which must not be negative; `place` is where that stands: `limits.callDepth`.
pub(crate) fn natural<N: TryFrom<i32>>(place: &str, given: i32) -> Result<N, ApiError> {
    N::try_from(given).map_err(|_| {
        let name = place.rsplit('.').next().unwrap_or(place);
        let message = format!("`{name}` must not be negative, found {given}");
        ApiError::new(Code::BadRequest, message).at(place)
    })
}
