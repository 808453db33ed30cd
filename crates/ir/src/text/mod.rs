//! The text form.
mod api;
mod cursor;
mod edit;
mod error;
mod heads;
mod items;
mod layout;
mod lexer;
mod literal;
mod lower;
mod lower_body;
mod names;
mod op;
mod operands;
mod places;
mod print;
mod print_body;
mod resolve;
mod scope;
mod statements;
mod syntax;
mod types;
mod value;
mod words;

pub use api::{Added, add_text, parse_program};
pub use edit::{
    InsertPlace, OperatorForm, OperatorScope, insert_text, parse_operator, replace_contract,
    replace_function, replace_type,
};
pub use error::{TextError, code, nearest};
pub use op::{parse_op, parse_type, parse_type_refs, print_op};
pub use places::{Places, parse_program_with_places};
pub use print::{
    Detail, print_contract, print_function, print_module, print_node, print_program, print_signature,
    print_storage, print_type, print_type_name,
};
pub use value::{parse_value, print_value};

#[cfg(test)]
mod tests;
