//! Programs as WebAssembly modules, and modules as programs.

use axum::extract::{Path, Query, Request, State};
use axum::http::{Method, Uri, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::schema::wasm::ModuleRequest;
use lmlang_graphql::transport::RequestId;
use serde::Deserialize;

use crate::admission;
use crate::answering::{named, needs, outside, request_id, unmade};
use crate::caller::Who;
use crate::import;
use crate::negotiate::Form;
use crate::state::Shared;

/// What a request may say beside the program.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    at: Option<String>,
    contracts: Option<bool>,
    canonical_nan: bool,
}

/// Answers a request to `/programs/{id}/wasm`.
pub(crate) async fn module(
    State(state): State<Shared>,
    Path(program): Path<String>,
    request: Request,
) -> Response {
    let id = request_id(request.headers());
    let response = match *request.method() {
        // The body of an answer to HEAD is left out by who sends it.
        Method::GET | Method::HEAD => answer(&state, program, request, &id).await,
        Method::POST => import::answer(&state, program, request, &id).await,
        _ => needs(Form::Json, "GET, POST", "a module needs GET or POST", &id),
    };
    named(response, &id)
}

async fn answer(state: &Shared, program: String, request: Request, id: &RequestId) -> Response {
    let grant = match admission::of_headers(state, request.headers(), id).await {
        Ok(grant) => grant,
        Err(error) => return outside(Form::Json, error, id),
    };
    let who = Who::of(request.headers(), &grant);
    let made = match asked(request.uri(), program) {
        Ok(asked) => (state.hooks.module)(grant, asked).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(module) => ([(header::CONTENT_TYPE, "application/wasm")], module).into_response(),
        Err(error) => unmade(&who, error, id),
    }
}

fn asked(uri: &Uri, program: String) -> Result<ModuleRequest, ApiError> {
    let Query(Asked { at, contracts, canonical_nan }) =
        Query::try_from_uri(uri).map_err(|error| ApiError::new(Code::BadRequest, error.body_text()))?;
    let contracts = contracts.unwrap_or(true);
    Ok(ModuleRequest { program, at, contracts, canonical_nans: canonical_nan })
}
