//! The difference of two programs as text, applied to the first as a patch, gives the second.

use std::collections::BTreeMap;

use lmlang_history::request::{ApplyTextPatch, EditRequest, Expanded, MoveFunction, Rename, expand};
use lmlang_history::{diff, text_difference};
use lmlang_ir::text::{Detail, print_entity, print_module_head};
use lmlang_ir::{ModuleRef, Program, Ref, RefAllocator};
use lmlang_testkit::{Choices, Options, config, edits, generate};
use proptest::prelude::*;

/// The texts of all modules, types, storage and functions by path, with the refs in the order in which they first occur: those
/// of what is new are others.
fn texts(program: &Program) -> Vec<String> {
    let modules = program.modules().map(|(of, _)| Ref::from(of));
    let all = modules
        .chain(program.types().map(|(of, _)| of.into()))
        .chain(program.all_storage().map(|(of, _)| of.into()))
        .chain(program.functions().map(|(of, _)| of.into()));
    let mut all: Vec<(String, Ref)> = all.map(|of| (program.path(of), of)).collect();
    all.sort();
    let mut seen = BTreeMap::new();
    let text = |of: Ref| match ModuleRef::try_from(of) {
        Ok(module) => print_module_head(program, module, Detail::Full),
        Err(_) => print_entity(program, of, Detail::Full).unwrap_or_default(),
    };
    all.into_iter().map(|(_, of)| numbered(&text(of), &mut seen)).collect()
}

/// The text with the refs in it numbered as they occur.
fn numbered(text: &str, seen: &mut BTreeMap<Ref, usize>) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        // Two types look like refs of functions, which always stand behind a `#`, and bytes like any.
        let is_other = matches!(word, "f32" | "f64") && !out.ends_with('#') || out.ends_with('\\');
        match word.parse::<Ref>() {
            Ok(of) if !is_other => {
                let next = seen.len();
                out.push_str(&format!("{}_{}", of.kind.letter(), seen.entry(of).or_insert(next)));
            }
            _ => out.push_str(word),
        }
        let first = behind.chars().next();
        out.extend(first);
        rest = &behind[first.map_or(0, char::len_utf8)..];
    }
    out
}

/// Renames or moves a function.
fn renamed(program: &Program, refs: &mut RefAllocator, choices: &mut Choices, name: &str) -> Option<Program> {
    let functions: Vec<Ref> = program.functions().map(|(of, _)| of.into()).collect();
    let modules: Vec<Ref> = program.modules().map(|(of, _)| of.into()).collect();
    let of = choices.pick(&functions)?.to_string();
    let edit = match choices.chance(50) {
        true => EditRequest::RenameFunction(Rename { of, name: name.to_owned() }),
        false => EditRequest::MoveFunction(MoveFunction { of, module: choices.pick(&modules)?.to_string() }),
    };
    expand(program, refs, &[edit]).ok().map(|Expanded { program, .. }| program)
}

/// Applies what differs between two programs to the first.
fn patched(a: &Program, b: &Program, refs: &RefAllocator) -> Result<(), TestCaseError> {
    let found = diff(a, b);
    let patch: String = found.texts(a, b).collect();
    if patch.is_empty() {
        return Ok(());
    }
    let edit = EditRequest::ApplyTextPatch(ApplyTextPatch { patch: patch.clone() });
    let done = expand(a, &mut refs.clone(), &[edit]).map_err(|refused| {
        let told: Vec<String> = refused.errors.iter().map(|error| format!("{error:?}")).collect();
        TestCaseError::fail(format!("{}\n{patch}", told.join("\n")))
    })?;
    let (found, wanted) = (texts(&done.program).concat(), texts(b).concat());
    prop_assert!(found == wanted, "{patch}\nfound\n{found}\nexpected\n{wanted}");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_difference_is_a_patch(
        generated in generate::programs(Options::small()),
        mut choices in generate::choices(80),
    ) {
        let (before, mut refs) = (generated.program, generated.refs);
        let mut after = before.clone();
        for turn in 0..4 {
            let mut changed = after.clone();
            if edits::typed(&mut changed, &mut refs, &mut choices, &Options::small()).is_some() {
                after = changed;
            }
            if choices.chance(30) && let Some(changed) = renamed(&after, &mut refs, &mut choices, &format!("other_{turn}")) {
                after = changed;
            }
        }
        patched(&before, &after, &refs)?;
        patched(&after, &before, &refs)?;
    }
}

/// What was undone is made again, with refs of its own; what calls each other comes and goes together.
#[test]
fn what_calls_each_other_comes_and_goes() {
    let mut refs = RefAllocator::starting_at(1);
    let text = "module m\nfunc even (n: i64) -> (i64) {\n  r = call odd(n)\n  return r\n}\nfunc odd (n: i64) -> (i64) {\n  return (call even(n))\n}\n";
    let full = lmlang_ir::text::parse_program(text, &mut refs).expect("it reads");
    let bare = lmlang_ir::text::parse_program("module m#m1\n", &mut refs).expect("it reads");
    patched(&bare, &full, &refs).expect("they come");
    patched(&full, &bare, &refs).expect("they go");
    assert_eq!(text_difference(&full, &full, ModuleRef::new(1).expect("it is a ref").into()), "");
}
