//! `lmlang fmt`: files in the canonical form.
//!
//! The canonical form prints the ref of every entity. A file that gives none, as people write them, is written without
//! them too, as long as it means the same: what needs a ref to be told apart keeps all of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lmlang_ir::text::{Detail, TextError, parse_program, print_program};
use lmlang_ir::{Program, Ref, RefAllocator};
use serde_json::json;

use crate::diagnostics::{Problem, show};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::source::{Source, write};

/// Which files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files in the text form; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing; list the files that would change and fail if there are any.
    #[arg(long)]
    check: bool,
    /// Write the ref of every entity.
    #[arg(long)]
    refs: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let (mut changed, mut wrong) = (Vec::new(), false);
    for path in &args.files {
        let source = Source::read(path)?;
        let formatted = match format(&source.text, args.refs) {
            Ok(formatted) => formatted,
            Err(mistakes) => {
                show(&source, &mistakes.into_iter().map(Problem::from).collect::<Vec<_>>());
                wrong = true;
                continue;
            }
        };
        let through = path == Path::new("-") && !args.check;
        if through {
            output.data(&json!({ "text": formatted }), || formatted.clone())?;
        } else if formatted != source.text {
            if !args.check {
                write(path, &formatted)?;
            }
            changed.push(source.name());
        }
    }
    if args.check || args.files != [Path::new("-")] {
        output.data(&json!({ "changed": changed }), || {
            changed.iter().map(|name| format!("{name}\n")).collect()
        })?;
    }
    if !args.check && !changed.is_empty() {
        say(format_args!("wrote {} files", changed.len()));
    }
    Ok(match (wrong, args.check && !changed.is_empty()) {
        (true, _) => Exit::Verification,
        (false, true) => Exit::Failure,
        (false, false) => Exit::Success,
    })
}

/// The canonical form of a text.
fn format(text: &str, refs: bool) -> Result<String, Vec<TextError>> {
    let program = parse(text)?;
    let canonical = print_program(&program, Detail::Full);
    if refs || without_tags(text) != text {
        return Ok(canonical);
    }
    let bare = without_tags(&canonical);
    let same = parse(&bare).is_ok_and(|again| shape(&again) == shape(&program));
    Ok(if same { bare } else { canonical })
}

fn parse(text: &str) -> Result<Program, Vec<TextError>> {
    parse_program(text, &mut RefAllocator::starting_at(1))
}

/// The canonical form with refs by order of appearance: alike for programs that differ in their refs only.
fn shape(program: &Program) -> String {
    let mut numbers = HashMap::new();
    let mut shape = String::new();
    pieces(&print_program(program, Detail::Full), |piece| match piece {
        Piece::Text(text) => shape.push_str(text),
        Piece::Ref(of) | Piece::Tag(of) => {
            let next = numbers.len();
            shape.push_str(&format!("#{}", numbers.entry(of).or_insert(next)));
        }
    });
    shape
}

/// The text without the refs that follow names.
fn without_tags(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    pieces(text, |piece| match piece {
        Piece::Text(text) => bare.push_str(text),
        Piece::Ref(of) => bare.push_str(&of.to_string()),
        Piece::Tag(_) => {}
    });
    bare
}

/// A part of a text.
enum Piece<'t> {
    /// A ref in place of a name.
    Ref(Ref),
    /// A ref after a name, with its `#`.
    Tag(Ref),
    /// Anything else.
    Text(&'t str),
}

/// Takes a text apart. What looks like a ref in a comment or in quotes is none.
fn pieces<'t>(text: &'t str, mut each: impl FnMut(Piece<'t>)) {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(rest),
            '#' => {
                let end = rest[1..].find(|c| !word(c)).map_or(rest.len(), |end| end + 1);
                if let Ok(of) = rest[1..end].parse() {
                    each(Piece::Tag(of));
                    rest = &rest[end..];
                    continue;
                }
                end
            }
            c if word(c) => {
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                if let Ok(of) = rest[..end].parse() {
                    each(Piece::Ref(of));
                    rest = &rest[end..];
                    continue;
                }
                end
            }
            c => c.len_utf8(),
        };
        each(Piece::Text(&rest[..length]));
        rest = &rest[length..];
    }
}

/// The length of what stands in quotes at the beginning of a text.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_left_out_where_the_file_has_none() {
        let text = "module m\npub func f (a:i32)->(i32) {\nx = add.i32 a, 1\n; n5#n6\nprint \"#n7 #n8\"\nreturn x\n}\n";
        let formatted = format(text, false).unwrap();
        assert_eq!(format(&formatted, false).unwrap(), formatted, "formatting twice changes nothing");
        assert_eq!(without_tags(&formatted), formatted);
        let full = format(text, true).unwrap();
        assert!(full.contains("f#f"), "{full}");
        assert_eq!(format(&full, false).unwrap(), full, "a file with refs keeps them");
    }

    #[test]
    fn comments_and_quotes_have_no_refs() {
        assert_eq!(without_tags("a#n1 \"b#n2\\\"#n3\" n4 ; c#n5\nd#f6"), "a \"b#n2\\\"#n3\" n4 ; c#n5\nd");
    }
}
