//! Which form of answer a client wants.

use axum::http::{HeaderMap, header};

/// The forms that an answer can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `application/graphql-response+json`: the status tells whether the operation ran.
    Response,
    /// `application/json`: the status is 200 for whatever is wrong with the document.
    Json,
    /// `text/event-stream`: one event an answer.
    Events,
}

impl Form {
    /// Returns the value of `Content-Type`.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Form::Response => "application/graphql-response+json; charset=utf-8",
            Form::Json => "application/json; charset=utf-8",
            Form::Events => "text/event-stream",
        }
    }

    fn of(media_type: &str) -> Option<Form> {
        match media_type.to_ascii_lowercase().as_str() {
            "application/graphql-response+json" => Some(Form::Response),
            "application/json" | "application/*" | "*/*" => Some(Form::Json),
            "text/event-stream" => Some(Form::Events),
            _ => None,
        }
    }
}

/// Picks the form with the highest weight, the first of several; none when the client accepts nothing we have.
///
/// A client that does not say gets plain JSON, as the specification of GraphQL over HTTP wants.
pub(crate) fn form(headers: &HeaderMap) -> Option<Form> {
    let mut best: Option<(u16, Form)> = None;
    let mut said = false;
    for value in headers.get_all(header::ACCEPT) {
        let ranges = value.to_str().unwrap_or_default().split(',');
        for range in ranges.map(str::trim).filter(|range| !range.is_empty()) {
            said = true;
            let mut parts = range.split(';').map(str::trim);
            let form = parts.next().and_then(Form::of);
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, weight);
            if let Some(form) = form
                && weight > best.map_or(0, |(best, _)| best)
            {
                best = Some((weight, form));
            }
        }
    }
    if said { best.map(|(_, form)| form) } else { Some(Form::Json) }
}

/// Reads a weight in thousandths; what is no weight counts as none.
fn weight(text: &str) -> u16 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole, digits.parse::<u16>()) {
        ("0", Ok(thousandths)) => thousandths,
        ("1", Ok(0)) => 1000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &[&str], expect: Option<Form>) {
        let mut headers = HeaderMap::new();
        for accept in accept {
            headers.append(header::ACCEPT, accept.parse().unwrap());
        }
        assert_eq!(form(&headers), expect, "{accept:?}");
    }

    #[test]
    fn the_form_follows_the_accept_header() {
        check(&[], Some(Form::Json));
        check(&["*/*"], Some(Form::Json));
        check(&["application/graphql-response+json"], Some(Form::Response));
        check(&["application/json, application/graphql-response+json"], Some(Form::Json));
        check(&["application/json;q=0.9, application/graphql-response+json"], Some(Form::Response));
        check(&["application/json;q=0.901, application/graphql-response+json;q=0.9"], Some(Form::Json));
        check(&["text/event-stream"], Some(Form::Events));
        check(&["text/html", "Application/JSON; charset=utf-8"], Some(Form::Json));
        check(&["text/html"], None);
        check(&["application/json;q=0"], None);
        check(&["text/html, */*;q=0.1"], Some(Form::Json));
        check(&["application/json;q=bad"], None);
    }
}
