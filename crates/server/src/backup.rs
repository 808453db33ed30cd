//! Backups: the bytes that the host makes, for those who may see and do everything.

use std::io;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream;
use lmlang_graphql::error::ApiError;
use lmlang_graphql::schema::access;
use lmlang_graphql::transport::{Grant, RequestId};

use crate::admission;
use crate::answering::{named, outside, refused_to, request_id, status};
use crate::body::{self, Unreadable};
use crate::caller::Who;
use crate::config::Pieces;
use crate::negotiate::Form;
use crate::state::Shared;

/// Answers a request to `/backup`: what is wanted comes as JSON, so that no page of another site can ask unasked.
pub(crate) async fn backup(State(state): State<Shared>, request: Request) -> Response {
    let id = request_id(request.headers());
    let response = match request.method() == Method::POST {
        true => answer(&state, request, &id).await,
        false => {
            let allow = [(header::ALLOW, "POST")];
            (StatusCode::METHOD_NOT_ALLOWED, allow, "use POST\n").into_response()
        }
    };
    named(response, &id)
}

async fn answer(state: &Shared, request: Request, id: &RequestId) -> Response {
    let (parts, body) = request.into_parts();
    let grant = match admission::of_headers(state, &parts.headers, id).await {
        Ok(grant) => grant,
        Err(error) => return outside(Form::Json, error, id),
    };
    let who = Who::of(&parts.headers, &grant);
    let refuse = |error: ApiError| refused_to(&who, Form::Json, status(error.code), error, id);
    if let Err(error) = access::may_back_up(&grant) {
        return refuse(error);
    }
    let wanted = match body::json(&parts.headers, body, &state.config).await {
        Ok(wanted) => wanted,
        Err(Unreadable { status, error }) => return refused_to(&who, Form::Json, status, error, id),
    };
    let token = grant.token().map(|token| token.id.clone());
    match begun((state.hooks.backup)(wanted).await).await {
        Ok(pieces) => {
            tracing::info!(request_id = %id, token, "a backup is made");
            let form = [(header::CONTENT_TYPE, "application/octet-stream")];
            (form, Body::from_stream(lasting(pieces, grant, id.clone()))).into_response()
        }
        Err(error) => refuse(error),
    }
}

/// A backup whose first piece is there: what fails before that can still be told.
async fn begun(pieces: Result<Pieces, ApiError>) -> Result<Pieces, ApiError> {
    let mut pieces = pieces?;
    let first = pieces.next().await.transpose()?;
    Ok(stream::iter(first.map(Ok)).chain(pieces).boxed())
}

/// The pieces as long as the caller may have them. An answer that ends early is cut off, so that nobody takes it for whole.
fn lasting(
    pieces: Pieces,
    grant: Grant,
    id: RequestId,
) -> impl stream::Stream<Item = io::Result<Vec<u8>>> + Send {
    let ended = Box::pin(async move { grant.ended().await });
    stream::try_unfold((pieces, ended), move |(mut pieces, mut ended)| {
        let id = id.clone();
        async move {
            let next = tokio::select! {
                biased;
                () = &mut ended => Err("the token is good for nothing any more".to_owned()),
                next = pieces.next() => next.transpose().map_err(|error| error.message),
            };
            match next {
                Ok(next) => Ok(next.map(|piece| (piece, (pieces, ended)))),
                Err(reason) => {
                    tracing::warn!(request_id = %id, reason, "a backup is cut off");
                    Err(io::Error::other(reason))
                }
            }
        }
    })
}
