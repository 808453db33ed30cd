//! What a model is told of a program: text within a budget of tokens, exact answers about the graph, and search.
//!
//! [`pack`] gathers what belongs to a focus, the most useful first, and compresses it until it fits; with a [`Token`] of an
//! earlier pack it tells what has changed since. [`analysis`] answers questions about the graph, [`search`] finds entities
//! by words. All of it is a function of programs and arguments: no IO, clock, or state. This crate does not know how a
//! caller is answered, which revisions there are, or what a model does with the text.
//!
//! Read [`tokenizer`], `section` (what can be told, in its forms), `gather` and `hole` (which sections there are),
//! [`compress`] with [`abbreviations`] (the stages), `fit` and [`pack`] (what is left within the budget), [`token`]; then
//! [`analysis`], and [`search`] over [`words`].

#![forbid(unsafe_code)]

pub mod abbreviations;
pub mod analysis;
pub mod compress;
mod fit;
mod gather;
mod hole;
pub mod pack;
pub mod search;
mod section;
pub mod token;
pub mod tokenizer;
pub mod words;

pub use abbreviations::Abbreviations;
pub use compress::{Compressed, Compressor, Stage};
pub use fit::OverBudget;
pub use pack::{Item, Omission, Omitted, Pack, Request, Since, pack};
pub use section::{Role, Section};
pub use token::Token;
pub use tokenizer::Tokenizer;
