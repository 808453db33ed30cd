//! `; run:` lines: what a run of a function does.
//!
//! ```text
//! ; run: f(1, "a") == 3, [1, 2]           returns these values
//! ; run: f(-1) violates "n is positive"   a contract with this message does not hold
//! ; run: f() traps DIVISION_BY_ZERO       traps with this code
//! ; run: f() exceeds fuel                 meets this limit: fuel, memory, depth or output
//! ; run: f() reaches hole                 comes to something that is not there yet
//! ; run: f() prints "a\n"                 writes this to standard output, and returns unless something else is said
//! ; run: f() with stdin="a\n", fuel=1000 prints "a" exceeds fuel
//! ; run: f() with file:a.txt="abc", seed=1 == 3
//! ; run: f() with stdin=b"\ff" prints b"\00" == 3
//! ; run: f() with file:a.txt="abc", folder="b", args="x", env:HOME="/" == 3
//! ```

use std::sync::Arc;

use lmlang_interp::{
    Cache, Control, Entry, Files, Limits, Lowering, Options, Outcome, Progress, Run, RunResult, run,
};
use lmlang_ir::text::{parse_value, print_value};
use lmlang_ir::{FuncRef, ModuleRef, Program, Type, Value};
use lmlang_verify::Checked;

/// A `; run:` line that was read, apart from any program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The name or path of the function.
    pub function: String,
    /// Its arguments, as texts of values.
    pub arguments: Vec<String>,
    /// What the run is given: names and values of settings.
    pub settings: Vec<(String, String)>,
    /// Standard output, as the text of a string.
    pub prints: Option<String>,
    /// How it ends; returns anything when nothing is said.
    pub end: Option<End>,
}

/// How a run is expected to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With these values, as texts.
    Returns(Vec<String>),
    /// Because a contract with this message does not hold; a text of a string.
    Violates(String),
    /// With the trap of this code.
    Traps(String),
    /// At the limit of this name.
    Exceeds(String),
    /// At something that is not there yet.
    ReachesHole,
}

/// Reads what follows `; run:`.
pub fn parse(text: &str) -> Result<Case, String> {
    let mut rest = text.trim();
    let open = rest.find('(').ok_or("a call: `f(1, 2)`")?;
    let (arguments, after) = list(&rest[open + 1..], ')').ok_or("a `)` after the arguments")?;
    let mut case = Case { function: rest[..open].trim().to_owned(), arguments, ..Case::default() };
    rest = after.trim_start();
    if let Some(settings) = word(rest, "with") {
        rest = settings;
        loop {
            let (name, value) = rest.split_once('=').ok_or("`name=value` after `with`")?;
            let (value, after) = token(value.trim_start());
            case.settings.push((name.trim().to_owned(), value.to_owned()));
            rest = after.trim_start();
            match rest.strip_prefix(',') {
                Some(more) => rest = more.trim_start(),
                None => break,
            }
        }
    }
    while !rest.is_empty() {
        if case.end.is_some() {
            return Err(format!("nothing after the end of the run: `{rest}`"));
        }
        if let Some(values) = rest.strip_prefix("==") {
            let (values, after) = list(values, '\0').ok_or("values after `==`")?;
            (case.end, rest) = (Some(End::Returns(values)), after);
        } else if let Some(after) = word(rest, "prints") {
            let (text, after) = token(after);
            (case.prints, rest) = (Some(text.to_owned()), after.trim_start());
        } else if let Some(after) = word(rest, "violates") {
            let (text, after) = token(after);
            (case.end, rest) = (Some(End::Violates(text.to_owned())), after.trim_start());
        } else if let Some(after) = word(rest, "traps") {
            let (code, after) = token(after);
            (case.end, rest) = (Some(End::Traps(code.to_owned())), after.trim_start());
        } else if let Some(after) = word(rest, "exceeds") {
            let (limit, after) = token(after);
            (case.end, rest) = (Some(End::Exceeds(limit.to_owned())), after.trim_start());
        } else if let Some(after) = word(rest, "reaches").and_then(|after| word(after, "hole")) {
            (case.end, rest) = (Some(End::ReachesHole), after);
        } else {
            return Err(format!(
                "`==`, `prints`, `violates`, `traps`, `exceeds` or `reaches hole`: `{rest}`"
            ));
        }
    }
    if case.end.is_none() && case.prints.is_none() {
        return Err("what the run does".to_owned());
    }
    Ok(case)
}

/// What follows a word.
fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

/// A literal of a text or of bytes, or what stands before a space or comma, and the rest.
fn token(text: &str) -> (&str, &str) {
    let mut escaped = false;
    if text.starts_with('"') || text.starts_with("b\"") {
        let open = text.find('"').unwrap_or(0);
        for (at, found) in text.char_indices().skip(open + 1) {
            match found {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return text.split_at(at + 1),
                _ => {}
            }
        }
    }
    text.split_at(text.find([' ', ',']).unwrap_or(text.len()))
}

/// The texts between commas up to a closing bracket, or up to the end, and the rest.
fn list(text: &str, close: char) -> Option<(Vec<String>, &str)> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let (mut quoted, mut escaped) = (false, false);
    let push = |part: &str, parts: &mut Vec<String>| {
        if !part.trim().is_empty() {
            parts.push(part.trim().to_owned());
        }
    };
    for (at, found) in text.char_indices() {
        match found {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            _ if depth == 0 && found == close => {
                push(&text[start..at], &mut parts);
                return Some((parts, &text[at + found.len_utf8()..]));
            }
            '(' | '[' | '{' | '<' => depth += 1,
            // The arrow of a signature closes nothing.
            '>' if text[..at].ends_with('-') => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                push(&text[start..at], &mut parts);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(&text[start..], &mut parts);
    (close == '\0').then_some((parts, ""))
}

/// Runs a case, in both lowerings. The error says what was expected and what was found.
///
/// The function is looked up by name in a module, if one is given, else by its path.
pub fn check(
    checked: &Checked,
    cache: &Cache,
    module: Option<ModuleRef>,
    case: &Case,
) -> Result<(), (String, String)> {
    let program = checked.program();
    let wrong = |expected: &str, found: String| (expected.to_owned(), found);
    let of = function(program, module, &case.function)
        .ok_or_else(|| wrong("the name of a function", format!("`{}`", case.function)))?;
    let Some(head) = program.function(of).map(|function| function.head()) else {
        return Err(wrong("a function", format!("`{of}`")));
    };
    let params: Vec<&Type> = head.params.iter().map(|param| &param.ty).collect();
    let arguments = values(program, &params, &case.arguments)?;
    let options = options(program, &case.settings)?;
    let result = run(checked, of, &arguments, &options, cache, u64::MAX, &mut |_| Control::Continue)
        .map_err(|error| wrong("a run", error.to_string()))?;
    if result.fuel_used < COSTLY {
        agree(&result, &unfolded(checked, of, &arguments, &options, cache)?, program)?;
    }
    if let Some(prints) = &case.prints {
        let prints = bytes(program, prints)?;
        if result.stdout != prints {
            let output = |bytes: &[u8]| format!("output \"{}\"", bytes.escape_ascii());
            return Err((output(&prints), output(&result.stdout)));
        }
    }
    let found = || shown(program, &result);
    let holds = match (&case.end, &result.outcome) {
        (None, Outcome::Returned { .. }) => true,
        (None, _) => return Err(wrong("a return", found())),
        (Some(End::Returns(texts)), outcome) => {
            let results: Vec<&Type> = head.results.iter().collect();
            let expected = values(program, &results, texts)?;
            matches!(outcome, Outcome::Returned { values } if *values == expected)
        }
        (Some(End::Violates(message)), outcome) => {
            let expected = text(program, message)?;
            matches!(outcome, Outcome::ContractViolated { message, .. } if *message == expected)
        }
        (Some(End::Traps(code)), outcome) => {
            matches!(outcome, Outcome::Trapped { fault, .. } if fault.code() == code)
        }
        (Some(End::Exceeds(name)), outcome) => {
            matches!(outcome, Outcome::LimitReached { limit, .. } if limit.name() == name)
        }
        (Some(End::ReachesHole), outcome) => matches!(outcome, Outcome::ReachedHole { .. }),
    };
    if holds { Ok(()) } else { Err((end(case.end.as_ref()), found())) }
}

/// A run that uses more fuel is not repeated node by node.
const COSTLY: u64 = 5_000_000;

/// The same run, lowered as traces are read: each node by itself.
fn unfolded(
    checked: &Checked,
    of: FuncRef,
    arguments: &[Value],
    options: &Options,
    cache: &Cache,
) -> Result<RunResult, (String, String)> {
    let mut run = Run::with_lowering(checked, of, arguments, options, cache, Lowering::Plain)
        .map_err(|error| ("a run node by node".to_owned(), error.to_string()))?;
    while run.resume(u64::MAX) == Progress::Paused {}
    Ok(run.into_result())
}

/// However a run is lowered, it ends alike, with the same output, steps and fuel.
fn agree(folded: &RunResult, unfolded: &RunResult, program: &Program) -> Result<(), (String, String)> {
    let seen = |result: &RunResult| {
        let RunResult { stdout, stderr, written, steps, fuel_used, .. } = result;
        let [stdout, stderr] = [stdout, stderr].map(|bytes| bytes.escape_ascii().to_string());
        let output = format!("output \"{stdout}\", errors \"{stderr}\", files {written:?}");
        format!("{}, {output}, {steps} steps, fuel {fuel_used}", shown(program, result))
    };
    let (folded, unfolded) = (seen(folded), seen(unfolded));
    if folded == unfolded { Ok(()) } else { Err((folded, format!("node by node {unfolded}"))) }
}

fn end(of: Option<&End>) -> String {
    match of {
        None => "a return".to_owned(),
        Some(End::Returns(values)) => format!("`{}`", values.join(", ")),
        Some(End::Violates(message)) => format!("a violation of {message}"),
        Some(End::Traps(code)) => format!("the trap {code}"),
        Some(End::Exceeds(limit)) => format!("the limit of {limit}"),
        Some(End::ReachesHole) => "a hole".to_owned(),
    }
}

/// An outcome, as a test failure tells it.
fn shown(program: &Program, result: &RunResult) -> String {
    let at = |place: &lmlang_interp::Place| match place.at() {
        Some(at) => {
            let path = program.path(at.function.into());
            at.node.map_or(path.clone(), |node| format!("{node} of {path}"))
        }
        None => "the start".to_owned(),
    };
    match &result.outcome {
        Outcome::Returned { values } => {
            let values: Vec<String> = values.iter().map(|value| print_value(program, value)).collect();
            format!("`{}`", values.join(", "))
        }
        Outcome::Trapped { fault, place } => format!("the trap {} at {}", fault.code(), at(place)),
        Outcome::ContractViolated { message, place, .. } => {
            format!("a violation of {message:?} at {}", at(place))
        }
        Outcome::LimitReached { limit, place, .. } => format!("the limit of {limit} at {}", at(place)),
        Outcome::ReachedHole { place, .. } => format!("a hole at {}", at(place)),
        Outcome::NotVerified { function } => format!("errors in {}", program.path((*function).into())),
        Outcome::Cancelled { place } => format!("a cancellation at {}", at(place)),
    }
}

/// The function with a name in a module or above it, or with a path.
fn function(program: &Program, module: Option<ModuleRef>, name: &str) -> Option<FuncRef> {
    let name = name.trim_matches('"');
    let scopes = std::iter::successors(module, |module| program.module(*module)?.parent);
    let mut near = scopes.flat_map(|scope| program.lookup(Some(scope), name));
    let near = near.find_map(|of| FuncRef::try_from(of).ok());
    near.or_else(|| program.resolve_path(name).into_iter().find_map(|of| FuncRef::try_from(of).ok()))
}

fn values(program: &Program, types: &[&Type], texts: &[String]) -> Result<Vec<Value>, (String, String)> {
    if types.len() != texts.len() {
        return Err((format!("{} values", types.len()), format!("{}: `{}`", texts.len(), texts.join(", "))));
    }
    let parse = |(ty, text): (&&Type, &String)| {
        parse_value(program, ty, text)
            .map_err(|error| (format!("a value of `{ty}`"), format!("`{text}`: {error}")))
    };
    types.iter().zip(texts).map(parse).collect()
}

fn text(program: &Program, literal: &str) -> Result<String, (String, String)> {
    match parse_value(program, &Type::String, literal) {
        Ok(Value::Const(lmlang_ir::types::Const::String(text))) => Ok(text.to_string()),
        Ok(_) | Err(_) => Err(("a text in quotes".to_owned(), literal.to_owned())),
    }
}

/// The bytes of a text in quotes, or of bytes: `b"\ff"`.
fn bytes(program: &Program, literal: &str) -> Result<Vec<u8>, (String, String)> {
    match parse_value(program, &Type::Bytes, literal) {
        Ok(Value::Const(lmlang_ir::types::Const::Bytes(bytes))) => Ok(bytes.to_vec()),
        Ok(_) | Err(_) => text(program, literal).map(String::into_bytes),
    }
}

/// What a case runs with.
///
/// # Errors
///
/// A setting that is not known, with those that are; one without the value that it wants.
pub fn options(program: &Program, settings: &[(String, String)]) -> Result<Options, (String, String)> {
    let (mut options, mut files) = (Options::default(), Files::new());
    let (mut command_line, mut variables) = (Vec::new(), Vec::new());
    let Limits { fuel, memory_bytes, call_depth, output_bytes } = &mut options.limits;
    for (name, value) in settings {
        let number =
            || value.parse::<u64>().map_err(|_| (format!("a number for `{name}`"), format!("`{value}`")));
        match name.as_str() {
            "fuel" => *fuel = number()?,
            "memory" => *memory_bytes = number()?,
            "depth" => *call_depth = u32::try_from(number()?).unwrap_or(u32::MAX),
            "output" => *output_bytes = number()?,
            "stdin" => options.environment.stdin = bytes(program, value)?.into(),
            "seed" => options.environment.seed = number()?,
            // Several are behind each other.
            "args" => command_line.push(text(program, value)?.into()),
            "folder" => drop(files.insert(text(program, value)?.into(), Entry::Folder)),
            name => match name.split_once(':') {
                Some(("file", path)) => {
                    files.insert(path.into(), Entry::File(bytes(program, value)?.into()));
                }
                Some(("env", name)) => variables.push((name.into(), text(program, value)?.into())),
                Some(_) | None => {
                    let known =
                        "fuel, memory, depth, output, stdin, seed, args, env:NAME, folder or file:PATH";
                    return Err((known.to_owned(), format!("`{name}`")));
                }
            },
        }
    }
    options.environment.files = Arc::new(files);
    options.environment.command_line = command_line.into();
    options.environment.variables = variables.into();
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::{Case, End, parse};

    fn check(text: &str, expect: Case) {
        assert_eq!(parse(text), Ok(expect), "{text}");
    }

    fn strings<const N: usize>(of: [&str; N]) -> Vec<String> {
        of.map(str::to_owned).into()
    }

    #[test]
    fn lines_are_read() {
        let case = |function: &str| Case { function: function.to_owned(), ..Case::default() };
        check(
            "demo::f(1, \"a, (b\", P{x: 1, y: [2, 3]}, option<closure<(i32) -> (i32)>>.none) == 3, result<i32, string>.err(\"\\\"\")",
            Case {
                arguments: strings([
                    "1",
                    "\"a, (b\"",
                    "P{x: 1, y: [2, 3]}",
                    "option<closure<(i32) -> (i32)>>.none",
                ]),
                end: Some(End::Returns(strings(["3", "result<i32, string>.err(\"\\\"\")"]))),
                ..case("demo::f")
            },
        );
        check("f() == ", Case { end: Some(End::Returns(Vec::new())), ..case("f") });
        check("f() traps X", Case { end: Some(End::Traps("X".to_owned())), ..case("f") });
        check("f() reaches hole", Case { end: Some(End::ReachesHole), ..case("f") });
        check(
            "f() with stdin=\"a, b\", fuel=7 prints \"x \\\" y\" exceeds fuel",
            Case {
                settings: vec![("stdin".into(), "\"a, b\"".into()), ("fuel".into(), "7".into())],
                prints: Some("\"x \\\" y\"".to_owned()),
                end: Some(End::Exceeds("fuel".to_owned())),
                ..case("f")
            },
        );
    }

    #[test]
    fn mistakes_are_told() {
        for wrong in ["f", "f(", "f()", "f() is 3", "f() traps X prints \"a\"", "f() with a prints \"a\""] {
            assert!(parse(wrong).is_err(), "{wrong}: {:?}", parse(wrong));
        }
    }
}
