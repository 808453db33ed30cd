//! Lets callers in: reads the token that a request shows, and asks the host what it is good for.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Denied, Grant, RequestId};

use crate::state::Shared;

/// Why a caller stays outside.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) status: StatusCode,
    pub(crate) error: ApiError,
    /// What the answer says of how to come in.
    pub(crate) challenge: Option<HeaderValue>,
}

/// What a caller may do whose request has these headers.
pub(crate) async fn of_headers(
    state: &Shared,
    headers: &HeaderMap,
    id: &RequestId,
) -> Result<Grant, Outside> {
    of_token(state, token(headers)?, id).await
}

/// What a caller may do who shows a token, or none.
pub(crate) async fn of_token(state: &Shared, token: Option<&str>, id: &RequestId) -> Result<Grant, Outside> {
    (state.hooks.admit)(token.map(str::to_owned)).await.map_err(|denied| outside(denied, id))
}

/// The token of a request's `Authorization` header.
pub(crate) fn token(headers: &HeaderMap) -> Result<Option<&str>, Outside> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (first, second) = (given.next(), given.next());
    if second.is_some() {
        // Somebody on the way could look at one, and we at the other.
        return Err(malformed("there are several `authorization` headers"));
    }
    match first.map(HeaderValue::to_str) {
        None => Ok(None),
        Some(Ok(value)) => bearer(value),
        Some(Err(_)) => Err(malformed("the header `authorization` is not readable")),
    }
}

/// The token of an `Authorization` value; none of one of another scheme, which is for somebody else.
pub(crate) fn bearer(value: &str) -> Result<Option<&str>, Outside> {
    let (scheme, token) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
    match (scheme.eq_ignore_ascii_case("bearer"), token.trim()) {
        (false, _) => Ok(None),
        (true, "") => Err(malformed("the header `authorization` has no token behind `Bearer`")),
        (true, token) => Ok(Some(token)),
    }
}

fn malformed(message: &str) -> Outside {
    let error = ApiError::new(Code::BadRequest, message);
    Outside { status: StatusCode::BAD_REQUEST, error, challenge: None }
}

fn outside(denied: Denied, id: &RequestId) -> Outside {
    let unauthenticated = |message, challenge| Outside {
        status: StatusCode::UNAUTHORIZED,
        error: ApiError::new(Code::Unauthenticated, message),
        challenge: Some(HeaderValue::from_static(challenge)),
    };
    match denied {
        Denied::Missing => unauthenticated("a token is needed: `Authorization: Bearer lml_...`", "Bearer"),
        Denied::Invalid { id: token } => {
            tracing::info!(request_id = %id, token, "a token is not valid");
            // Whoever shows it learns nothing of why.
            let challenge = r#"Bearer error="invalid_token""#;
            unauthenticated("the token is not valid: unknown, expired or revoked", challenge)
        }
        Denied::Unavailable(error) => {
            tracing::error!(request_id = %id, %error, "tokens cannot be read");
            let error = ApiError::new(Code::StorageUnavailable, "the tokens cannot be read");
            Outside { status: StatusCode::SERVICE_UNAVAILABLE, error, challenge: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expect: Result<Option<&str>, &str>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().expect("it is a header's value"));
        }
        let found = token(&headers).map_err(|outside| outside.error.message);
        assert_eq!(
            found.as_ref().map_err(String::as_str),
            expect.as_ref().map_err(|error| *error),
            "{values:?}"
        );
    }

    #[test]
    fn a_token_stands_behind_bearer_in_the_only_header() {
        check(&[], Ok(None));
        check(&["Bearer lml_a"], Ok(Some("lml_a")));
        check(&["bEARER   lml_a "], Ok(Some("lml_a")));
        check(&["Basic YTpi"], Ok(None));
        check(&["lml_a"], Ok(None));
        check(&["Bearer"], Err("the header `authorization` has no token behind `Bearer`"));
        check(&["Bearer a", "Bearer a"], Err("there are several `authorization` headers"));
        check(&["Basic YTpi", "Bearer a"], Err("there are several `authorization` headers"));
    }
}
