//! What is served where.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, header};
use axum::middleware;
use axum::routing::{any, get};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::answering::REQUEST_ID;
use crate::caller::{AUTHOR, AUTHOR_KIND};
use crate::config::Config;
use crate::import::KEY;
use crate::state::Shared;
use crate::{assets, backup, docs, gate, http, manager, mcp, modules, nl2pipeline, probes, ws};

/// Tells browsers that pages of other origins may call, where there are such.
///
/// Without credentials: there are no cookies, and a token is a header that a page has to know.
fn pages(config: &Config) -> Option<CorsLayer> {
    // A star is no origin: the gate lets nobody in by it.
    let listed = config.allowed_origins.iter().filter(|origin| *origin != "*");
    let origins: Vec<HeaderValue> = listed.filter_map(|origin| origin.parse().ok()).collect();
    let headers = [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        REQUEST_ID,
        AUTHOR,
        AUTHOR_KIND,
        KEY,
        mcp::VERSION,
        mcp::METHOD,
        mcp::NAME,
    ];
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins)
            // The Manager takes the others, too.
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
            .allow_headers(headers)
            .expose_headers([REQUEST_ID, header::WWW_AUTHENTICATE])
    })
}

/// The table of contents of the network side.
pub(crate) fn router(state: Shared) -> Router {
    let router = Router::new()
        .route("/graphql", any(http::graphql))
        .route("/graphql/ws", any(ws::upgrade))
        .route("/mcp", any(mcp::mcp))
        .route("/backup", any(backup::backup))
        .route("/programs/{id}/wasm", any(modules::module))
        .route("/manager/{*path}", any(manager::manager))
        .route("/nl2pipeline/turn", any(nl2pipeline::turn))
        .route("/sessions/{id}/trace", any(nl2pipeline::trace))
        .route("/graphiql", get(assets::graphiql))
        .route("/web/{*path}", get(assets::file))
        .route("/", get(assets::dashboard))
        .route("/llms.txt", get(docs::index))
        .route("/llms-full.txt", get(docs::all))
        .route("/docs", get(docs::folder))
        .route("/docs/", get(docs::contents))
        .route("/docs/{*path}", get(docs::one))
        .route("/ARCHITECTURE.md", get(docs::architecture))
        .route("/schema.graphql", get(docs::schema))
        .route("/healthz", get(probes::health))
        .route("/readyz", get(probes::ready))
        .route("/metrics", get(probes::metrics))
        // Bodies are read and limited in `body`, where the answer can be a typed error.
        .layer(DefaultBodyLimit::disable());
    // Inside of the gate, which turns away the pages that are not listed.
    let router = match pages(&state.config) {
        Some(pages) => router.layer(pages),
        None => router,
    };
    router
        .layer(middleware::from_fn_with_state(Arc::clone(&state), gate::check))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(CatchPanicLayer::new())
        .with_state(state)
}
