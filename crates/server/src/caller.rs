//! Who calls: what its token says, else what it says itself.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, header};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Actor, ActorKind, Caller, Grant};

/// The header with the author's name.
pub(crate) const AUTHOR: HeaderName = HeaderName::from_static("lmlang-author");
/// The header with what kind of caller the author is.
pub(crate) const AUTHOR_KIND: HeaderName = HeaderName::from_static("lmlang-author-kind");

/// The kinds that a caller can say it is of; the others are the server's own.
const KINDS: [(&str, ActorKind); 3] =
    [("HUMAN", ActorKind::Human), ("AGENT", ActorKind::Agent), ("TOOL", ActorKind::Tool)];

/// The name of whoever gives none.
const NOBODY: &str = "anonymous";

/// Bytes that are kept of how a client names itself.
const CLIENT_BYTES: usize = 200;

/// Who is named in the log beside what was refused: of a holder of a token its name and id, else what the caller says.
#[derive(Debug)]
pub(crate) struct Who {
    pub(crate) author: Option<String>,
    pub(crate) token: Option<String>,
}

impl Who {
    /// Who has shown these headers, and is granted this.
    pub(crate) fn of(headers: &HeaderMap, grant: &Grant) -> Who {
        let said = || headers.get(&AUTHOR).and_then(|name| str::from_utf8(name.as_bytes()).ok());
        match grant.token() {
            Some(token) => Who { author: Some(token.name.clone()), token: Some(token.id.clone()) },
            // A name that is refused may be of any length.
            None => {
                Who { author: said().map(|name| name.chars().take(Actor::NAME_BYTES).collect()), token: None }
            }
        }
    }
}

/// The caller of requests with these headers; the client is what calls itself so in `User-Agent`.
pub(crate) fn from_headers(headers: &HeaderMap, grant: Grant) -> Result<Arc<Caller>, ApiError> {
    let text = |name: &HeaderName| match headers.get(name).map(|value| str::from_utf8(value.as_bytes())) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(refused(format!("the header `{name}` is not UTF-8"))),
    };
    granted(text(&AUTHOR)?, text(&AUTHOR_KIND)?, client(headers), grant)
}

/// How the client of a connection names itself.
pub(crate) fn client(headers: &HeaderMap) -> Option<String> {
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    agent.filter(|agent| !agent.is_empty()).map(|agent| agent.chars().take(CLIENT_BYTES).collect())
}

/// The caller with a grant, who says of itself that it has a name and is of a kind.
///
/// A token says who its holder is, whatever that says. Another name is taken for the one on whose behalf it acts: it is
/// recorded beside the holder's, so it can hide nobody.
pub(crate) fn granted(
    name: Option<&str>,
    kind: Option<&str>,
    client: Option<String>,
    grant: Grant,
) -> Result<Arc<Caller>, ApiError> {
    let said = named(name, kind, client)?;
    Ok(Arc::new(match grant.token() {
        None => Caller { actor: said, on_behalf_of: None, grant },
        Some(token) => {
            let actor = Actor { name: token.name.clone(), kind: token.kind, client: said.client };
            let other = name.is_some() && said.name != actor.name;
            Caller { actor, on_behalf_of: other.then_some(said.name), grant }
        }
    }))
}

/// The author with a name and a kind, as far as they are given.
fn named(name: Option<&str>, kind: Option<&str>, client: Option<String>) -> Result<Actor, ApiError> {
    let name = name.unwrap_or(NOBODY);
    if !Actor::is_name(name) {
        let most = Actor::NAME_BYTES;
        return Err(refused(format!("the author's name must be one line of 1 to {most} bytes")));
    }
    let kind = match kind {
        None => ActorKind::Tool,
        Some(given) => {
            let found = KINDS.iter().find(|(name, _)| given.eq_ignore_ascii_case(name));
            found.map(|(_, kind)| *kind).ok_or_else(|| {
                refused(format!("`{given}` is no kind of author: expected `HUMAN`, `AGENT` or `TOOL`"))
            })?
        }
    };
    Ok(Actor { name: name.to_owned(), kind, client })
}

fn refused(message: String) -> ApiError {
    ApiError::new(Code::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: Option<&str>, kind: Option<&str>, expect: Result<(&str, ActorKind), &str>) {
        let found = named(name, kind, None);
        let found = found.as_ref().map(|actor| (actor.name.as_str(), actor.kind));
        assert_eq!(found.map_err(|error| error.message.as_str()), expect);
    }

    #[test]
    fn an_author_has_a_name_and_a_kind_that_callers_can_have() {
        check(None, None, Ok(("anonymous", ActorKind::Tool)));
        check(Some("planner"), Some("agent"), Ok(("planner", ActorKind::Agent)));
        check(Some("Ada Ł"), Some("HUMAN"), Ok(("Ada Ł", ActorKind::Human)));
        check(Some(" "), None, Err("the author's name must be one line of 1 to 200 bytes"));
        check(Some("a\nb"), None, Err("the author's name must be one line of 1 to 200 bytes"));
        check(
            Some("a"),
            Some("SYSTEM"),
            Err("`SYSTEM` is no kind of author: expected `HUMAN`, `AGENT` or `TOOL`"),
        );
    }
}
