//! Which form of answer a client wants.

use std::cmp::Reverse;

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

    /// Returns the media type by which clients ask for it.
    const fn media_type(self) -> &'static str {
        match self {
            Form::Response => "application/graphql-response+json",
            Form::Json => "application/json",
            Form::Events => "text/event-stream",
        }
    }
}

/// What a client says of some forms.
struct Range<'a> {
    media: &'a str,
    weight: u16,
}

impl<'a> Range<'a> {
    fn read(text: &'a str) -> Range<'a> {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let mut parameters = parts.filter_map(|part| part.split_once('='));
        let weight = parameters.find(|(name, _)| name.eq_ignore_ascii_case("q"));
        Range { media, weight: weight.map_or(1000, |(_, value)| weight_of(value)) }
    }

    /// How exactly it names a form; not at all, if it is about others.
    fn exactness(&self, form: Form) -> u8 {
        let is = |media: &str| self.media.eq_ignore_ascii_case(media);
        match form {
            _ if is(form.media_type()) => 3,
            Form::Response | Form::Json if is("application/*") => 2,
            _ if is("*/*") => 1,
            Form::Response | Form::Json | Form::Events => 0,
        }
    }
}

/// Picks the form with the highest weight, the first of several; none when the client accepts nothing we have. Of what is said
/// of a form, the most exact counts: `*/*` takes nothing in that has been refused by its name.
///
/// A client that does not say gets plain JSON, as the specification of GraphQL over HTTP wants.
pub(crate) fn form(headers: &HeaderMap) -> Option<Form> {
    let values = headers.get_all(header::ACCEPT).iter().map(|value| value.to_str().unwrap_or_default());
    let said = values.flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty());
    let ranges: Vec<Range<'_>> = said.map(Range::read).collect();
    if ranges.is_empty() {
        return Some(Form::Json);
    }
    let weighed = [Form::Json, Form::Response, Form::Events].into_iter().filter_map(|form| {
        let about = ranges.iter().enumerate().filter(|(_, range)| range.exactness(form) > 0);
        let exact = about.max_by_key(|(at, range)| (range.exactness(form), range.weight, Reverse(*at)));
        exact.filter(|(_, range)| range.weight > 0).map(|(at, range)| (form, (Reverse(range.weight), at)))
    });
    // Of equals, the first one.
    weighed.min_by_key(|(_, order)| *order).map(|(form, _)| form)
}

/// Reads a weight in thousandths; what is no weight counts as none.
fn weight_of(text: &str) -> u16 {
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
        check(&["application/json;Q=0.1, application/graphql-response+json"], Some(Form::Response));
        check(&["application/json, text/plain, */*"], Some(Form::Json));
        check(&["application/json;q=0, */*"], Some(Form::Response));
        check(&["*/*", "application/json;q=0, application/*;q=0"], Some(Form::Events));
        check(&["*/*, application/json;q=0.5"], Some(Form::Response));
        check(&["application/*, text/event-stream"], Some(Form::Json));
    }
}
