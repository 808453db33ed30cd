//! The function that a command calls, and its arguments.

use lmlang_ir::text::{nearest, parse_value, print_signature};
use lmlang_ir::{Const, FuncRef, Program, Type, Value};
use lmlang_verify::Checked;

use crate::error::Error;

/// What an executable module begins with, and a program in the text form.
const START: &str = "_start";
const MAIN: &str = "main";

/// The function that runs where nobody names one.
pub(crate) fn start(checked: &Checked, name: &str) -> Result<FuncRef, Error> {
    let started = [START, MAIN].into_iter().find_map(|given| match find(checked, given, name) {
        Err(Error::NoFunction { .. }) => None,
        found => Some(found),
    });
    started.unwrap_or_else(|| {
        /// Of more nobody would choose one.
        const MOST: usize = 20;
        let program = checked.program();
        let candidates = program.functions().map(|(of, _)| program.path(of.into())).take(MOST).collect();
        Err(Error::NoStart { name: name.to_owned(), candidates })
    })
}

/// The function that a caller names: as over GraphQL, by the name of an export, by path, by its name alone, or by ref.
pub(crate) fn find(checked: &Checked, given: &str, name: &str) -> Result<FuncRef, Error> {
    let program = checked.program();
    let mut found = checked.functions_named(given);
    if found.is_empty() {
        found.extend(given.parse::<FuncRef>().ok().filter(|of| program.function(*of).is_some()));
    }
    match found[..] {
        [of] => Ok(of),
        [] => {
            let names: Vec<_> = program.functions().map(|(_, found)| found.head().name.clone()).collect();
            let candidates = nearest(given, names.iter().map(|name| &**name));
            Err(Error::NoFunction { name: name.to_owned(), given: given.to_owned(), candidates })
        }
        [_, ..] => {
            let candidates = found.iter().map(|of| program.path((*of).into())).collect();
            Err(Error::AmbiguousFunction { given: given.to_owned(), candidates })
        }
    }
}

/// Reads the arguments as values of the parameters' types.
pub(crate) fn arguments(program: &Program, function: FuncRef, given: &[String]) -> Result<Vec<Value>, Error> {
    let params = program.function(function).map(|found| found.head().params.clone()).unwrap_or_default();
    if params.len() != given.len() {
        return Err(Error::ArgumentCount {
            function: program.path(function.into()),
            expected: params.len(),
            found: given.len(),
            signature: print_signature(program, function),
        });
    }
    let read = |(index, (param, text)): (usize, (&lmlang_ir::Param, &String))| {
        // As in GraphQL, a text needs no quotes where nothing else can be meant.
        if param.ty == Type::String && !text.starts_with('"') {
            return Ok(Value::Const(Const::String(text.as_str().into())));
        }
        parse_value(program, &param.ty, text).map_err(|error| Error::Argument {
            number: index + 1,
            given: text.clone(),
            parameter: param.name.to_string(),
            ty: lmlang_ir::text::print_type_name(program, None, &param.ty),
            reason: error.message,
        })
    };
    params.iter().zip(given).enumerate().map(read).collect()
}

/// A value as the API takes it, which reads a text for a `string` as it stands: without the quotes that it may have here, as it
/// is printed with them.
pub(crate) fn unquoted(given: &str) -> String {
    if given.starts_with('"')
        && let Ok(Value::Const(Const::String(text))) = parse_value(&Program::new(), &Type::String, given)
    {
        return text.to_string();
    }
    given.to_owned()
}
