//! The text form of a program, as far as one answer holds it.

use lmlang_ir::text;

use crate::error::{ApiError, Code};
use crate::schema::detail::Detail;
use crate::schema::natural::natural;
use crate::schema::view::View;

/// The text form of a program, or of one of its modules, unless it is too long.
pub(crate) fn text_within(
    view: &View,
    module: Option<&str>,
    detail: Detail,
    max_bytes: i32,
) -> Result<String, ApiError> {
    let limit: u64 = natural("maxBytes", max_bytes)?;
    let program = view.program();
    let module = module.map(|module| view.module_named(module)).transpose()?;
    let too_long = |actual: u64, found: &str| {
        let modules: Vec<String> =
            program.modules().map(|(of, _)| program.path(of.into())).take(50).collect();
        let message = format!("`maxBytes` is limited to {limit}, found {found}{actual}");
        let data =
            serde_json::json!({ "which": "maxBytes", "limit": limit, "actual": actual, "modules": modules });
        ApiError::new(Code::LimitExceeded, message).data(data)
    };
    let printed = match module {
        Some(module) => text::print_module(program, module, detail.into()),
        None => {
            // Every node is printed and takes a byte at least: what is far too long need not be printed to know.
            let least = program.totals().counts.nodes;
            if least > limit {
                return Err(too_long(least, "at least "));
            }
            text::print_program(program, detail.into())
        }
    };
    if printed.len() as u64 > limit {
        return Err(too_long(printed.len() as u64, ""));
    }
    Ok(printed)
}
