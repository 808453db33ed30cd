//! A field of an input object is given once. The parser keeps the last one of each name, so this is asked of the tokens.

use std::collections::HashSet;

use async_graphql::Pos;
use serde_json::json;

use crate::error::{ApiError, Code, cut};
use crate::transport::literals::Placed;
use crate::transport::tokens::Tokens;

/// What a bracket opened.
enum Open<'a> {
    /// An input object, with the names of the fields so far.
    Object(HashSet<&'a str>),
    /// Arguments, or the variables of an operation: every brace inside is an input object's.
    Arguments,
    Other,
}

/// Finds the first name that stands twice in one input object.
pub(super) fn check(document: &str) -> Result<(), Placed> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut arguments = 0u64;
    let mut tokens = Tokens::of(document).peekable();
    while let Some(token) = tokens.next() {
        let Some(text) = document.get(token.clone()) else { continue };
        match text {
            "(" => {
                arguments += 1;
                open.push(Open::Arguments);
            }
            "{" if arguments > 0 => open.push(Open::Object(HashSet::new())),
            "{" | "[" => open.push(Open::Other),
            "}" | "]" | ")" => {
                if let Some(Open::Arguments) = open.pop() {
                    arguments -= 1;
                }
            }
            name => {
                let is_name = tokens.peek().is_some_and(|next| document.get(next.clone()) == Some(":"));
                if let Some(Open::Object(names)) = open.last_mut().filter(|_| is_name)
                    && !names.insert(name)
                {
                    let message = format!("the field `{}` of an input object is given twice", cut(name));
                    let error = ApiError::new(Code::BadRequest, message).data(json!({ "path": cut(name) }));
                    return Err((error, place(document, token.start)));
                }
            }
        }
    }
    Ok(())
}

/// The line and column of a byte, as the parser counts them.
fn place(document: &str, at: usize) -> Pos {
    let before = document.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    Pos { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
}
