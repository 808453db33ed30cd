//! The rules of the specification that the library's validation lacks, or knows only in part.
//!
//! They are asked once for each text, before anything else of it is believed, in time linear in the document. A document
//! that breaks another rule is left to the library, which finds the words for it. Read [`names`] for what the parser
//! loses, [`variables`] for where variables may stand, [`merging`] for fields with one key, [`roots`] for what a
//! subscription selects.

mod merging;
mod names;
pub(super) mod roots;
#[cfg(test)]
mod tests;
mod variables;

use async_graphql::parser::types::ExecutableDocument;

use super::literals::Placed;
use super::shape::Shape;

/// Checks a document that is within the limits; tells the first place that breaks a rule.
pub(super) fn check(text: &str, document: &ExecutableDocument, shape: &Shape) -> Result<(), Placed> {
    names::check(text)?;
    variables::check(document, shape)?;
    roots::check(document)?;
    merging::check(document, shape)
}
