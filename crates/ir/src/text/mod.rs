//! The text form.
mod cursor;
mod error;
mod heads;
mod lexer;
mod literal;
mod names;
mod op;
mod resolve;
mod syntax;
mod types;
mod value;
mod words;

pub use error::{TextError, code, nearest};
pub use op::{parse_op, parse_type, parse_type_refs, print_op};
pub use value::{parse_value, print_value};
