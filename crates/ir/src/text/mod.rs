//! The text form: what agents read and write, what filetests hold, what a diff of an export shows.
//!
//! ```text
//! module demo
//! pub func fib (n: i64) -> (i64) {
//!   require "n is not negative" = ge_s.i64 n, 0
//!   lt = lt_s.i64 n, 2
//!   r = if lt -> (i64) { yield n } else {
//!     a = call fib(sub.i64 n, 1)
//!     b = call fib(sub.i64 n, 2)
//!     yield (add.i64 a, b)
//!   }
//!   return r
//! }
//! ; run: fib(30) == 832040
//! ```
//!
//! **Canonical form.** At [`Detail::Full`] every entity prints its ref, so that [`parse_program`] of [`print_program`]
//! gives an equal program:
//! * definitions as `name#n12`, or `n12 = ...` for a node without a name, `op#n12 ...` for one without outputs;
//! * regions before their brace, `#g5 {`; folded nodes as `(mul.i64#n5 a, b)`; constants of the type that their place
//!   takes as `5#n7`, others as `(const.i64#n7 5)`;
//! * values by name where the name means them, else as `name#n12`, `n12`, `n12.1` (a port), `g5.0` (a parameter of a
//!   region), `f7.0` (one of the function); several outputs are named `a, b = ...`;
//! * names that are no identifiers, or words of the language, in quotes;
//! * what folds where is the rule of the module `layout`; indentation stops growing at level 16.
//!
//! **Input.** Refs may be left out. Given ones are honoured by [`parse_program`] (below 2^40), matched by the `replace_*`
//! functions, and unknown elsewhere; `$x` is the ref that a [`Written`] has for it. Expressions nest, `(add.i64 a, b)` or `add.i64(a, b)`; literals are constants of the
//! type that their place takes; the name of a variable or a capture reads it; an `if` without results needs no `else`; the
//! cases of a `match` need no list. A comment belongs to what follows it, one at the end of a line to that line; `; run:`
//! lines to the function before; comments at the end of a region or module to that. `end` closes a module whose comments
//! would otherwise belong to the next one. A comment line that begins with `run:` without being a run is written `\run:`.
//!
//! **Order of reading.** `lexer`, `dollar`, `literal`, `syntax`, `cursor`; the parser in `types`, `heads`, `operands`,
//! `statements`, `items`; what lines of other languages are here, for mistakes, in `foreign`; operators that there are not in `unknown`, entities in `near`; what names mean in `names`, `scope`, `body_names`, `resolve`; from the tree to the program in
//! `lower`, `lower_body`, `lower_regions`, with the entry points in `api`, `edit` and `edit_module`; the printer in `layout`, `naming`,
//! `print`, `print_body`, and in `surroundings` for nodes alone; [`print_op`] and [`print_value`] in `op` and `value`; [`format_text`] in `format`. Parser, lowering and printer work through
//! lists of what is left to do: nesting costs no stack, and time is linear in the text.

mod api;
mod body_names;
mod cursor;
mod dollar;
mod edit;
mod edit_module;
mod error;
mod foreign;
mod format;
mod given;
mod heads;
mod items;
mod layout;
mod lexer;
mod likely;
mod literal;
mod lower;
mod lower_body;
mod lower_regions;
mod lower_storage;
mod names;
mod naming;
mod near;
mod op;
mod operands;
mod places;
mod plain;
mod print;
mod print_body;
mod resolve;
mod scope;
mod settle;
mod statements;
mod surroundings;
mod syntax;
mod types;
mod unknown;
mod value;
mod words;

pub use api::{Added, add_text, parse_program};
pub use dollar::{Renewed, Written};
pub use edit::{
    InsertPlace, Inserted, LiteralPlace, OperatorForm, OperatorScope, insert_condition, insert_test,
    insert_text, is_literal, parse_literal, parse_operator, replace_contract, replace_function,
    replace_storage, replace_type,
};
pub use edit_module::{ReplacedModule, module_hash, replace_module};
pub use error::{TextError, code, in_scope, nearest};
pub use format::format_text;
pub use literal::is_unseen;
pub use near::near_entities;
pub use op::{parse_op, parse_type, parse_type_refs, print_op};
pub use places::{Places, Reading, parse_program_with_places, read_program};
pub use print::{
    Detail, print_contract, print_entity, print_function, print_module, print_module_head, print_node,
    print_node_among, print_program, print_signature, print_storage, print_type, print_type_name,
};
pub use scope::output_names;
pub use surroundings::Surroundings;
pub use value::{parse_value, print_value, print_value_by_refs};
pub use words::is_bare;

#[cfg(test)]
mod tests;
