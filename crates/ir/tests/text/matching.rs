//! Laws of texts that replace a function: what did not change keeps its refs.

use std::collections::HashMap;

use lmlang_ir::text::{self, Detail};
use lmlang_ir::{
    Attr, Const, FuncRef, Function, Node, NodeContent, NodeRef, Op, Opcode, Program, RefAllocator,
};
use lmlang_testkit::generate::{Options, choices, programs};
use lmlang_testkit::{config, edits};
use proptest::prelude::*;

/// A text in which refs are what they are by order alone.
fn canonical(text: &str) -> String {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let number = bare.get(1..).unwrap_or_default();
        if bare.starts_with(|c: char| "mtdfgvkn".contains(c))
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            let next = known.len();
            out.push_str(&format!("{}{}", &bare[..1], known.entry(bare).or_insert(next)));
            out.push_str(&word[bare.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out
}

/// How much differs between two states of a function: nodes, regions, places.
fn changed(a: &Function, b: &Function) -> usize {
    let (a, b) = (a.body(), b.body());
    a.changed_nodes(b).len()
        + a.changed_regions(b).len()
        + a.changed_variables(b).len()
        + a.changed_contracts(b).len()
        + a.displaced_nodes(b).len()
}

/// A summary in which operators without a value give no ref; named values without a name are `w12` instead of `n12`.
fn without_refs(text: &str, labels: Labels) -> String {
    let mut out = String::new();
    let (mut before, mut quoted) = (' ', false);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        quoted ^= c == '"' && before != '\\';
        let word = rest.as_str().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let follows = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let begins = !before.is_alphanumeric() && !matches!(before, '#' | '_' | '"' | '.');
        let line = out.rsplit(['\n', '{']).next().unwrap_or_default().trim_start();
        let operator = c == '#' && !line.is_empty() && !line.contains(' ') && rest.as_str().starts_with('n');
        let behind = rest.as_str().trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        if operator && !quoted && !behind.starts_with(" =") {
            rest = behind.chars();
            continue;
        }
        out.push(if labels == Labels::Named && c == 'n' && follows && begins && !quoted { 'w' } else { c });
        before = c;
    }
    out
}

/// Takes the names away that [`without_refs`] gave.
fn unnamed(program: &mut Program, of: FuncRef) {
    let Some(function) = program.function(of).cloned() else { return };
    let given = |name: &str| name.strip_prefix('w').is_some_and(|rest| rest.parse::<u64>().is_ok());
    for (node, found) in
        function.body().nodes().filter(|(_, node)| node.name().is_some_and(|name| given(name)))
    {
        let content = NodeContent { name: None, ..found.content() };
        program.function_mut(of).unwrap().set_node(node, content).unwrap();
    }
}

/// Whether values without a name get one in a text, or keep their refs.
#[derive(Clone, Copy, PartialEq)]
enum Labels {
    Named,
    Refs,
}

/// Replaces a function of one program by its text in another one; `None` if the text does not do without its refs.
fn replaced(
    before: &Program,
    refs: &RefAllocator,
    (after, of): (&Program, FuncRef),
    labels: Labels,
) -> Option<Program> {
    let text = without_refs(&text::print_function(after, of, Detail::Summary), labels);
    let mut result = before.clone();
    text::replace_function(&mut result, &mut refs.clone(), of, &text, None).ok()?;
    if labels == Labels::Named {
        unnamed(&mut result, of);
    }
    Some(result)
}

fn function(program: &Program, of: FuncRef) -> &Function {
    program.function(of).unwrap()
}

/// Another constant of the same type.
fn another(of: &Const) -> Option<Const> {
    Some(match of {
        Const::Bool(value) => Const::Bool(!value),
        Const::I32(value) => Const::I32(value.wrapping_add(1)),
        Const::I64(value) => Const::I64(value.wrapping_add(1)),
        _ => return None,
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_function_printed_without_refs_stays(generated in programs(Options::default())) {
        for (of, before) in generated.program.functions() {
            let summary = text::print_function(&generated.program, of, Detail::Summary);
            let mut program = generated.program.clone();
            text::replace_function(&mut program, &mut generated.refs.clone(), of, &summary, None).unwrap();
            prop_assert_eq!(changed(before, function(&program, of)), 0, "{}", summary);
            prop_assert!(program == generated.program);
            if let Some(program) = replaced(&generated.program, &generated.refs, (&generated.program, of), Labels::Named) {
                prop_assert_eq!(changed(before, function(&program, of)), 0, "{}", summary);
            }
        }
    }

    #[test]
    fn another_constant_is_the_same_node(generated in programs(Options::default()), mut choices in choices(2)) {
        let constants: Vec<(FuncRef, NodeRef)> = generated.program.functions().flat_map(|(of, function)| {
            let nodes = function.body().nodes().filter(|(_, node)| node.op().code() == Opcode::Const);
            nodes.map(move |(node, _)| (of, node)).collect::<Vec<_>>()
        }).collect();
        let Some((of, node)) = choices.pick(&constants).copied() else { return Ok(()) };
        let before = function(&generated.program, of).body().node(node).unwrap();
        let Attr::Const(value) = before.op().attr() else { unreachable!() };
        let Some(value) = another(value) else { return Ok(()) };
        let mut edited = generated.program.clone();
        let content = NodeContent { op: Op::constant(value), ..before.content() };
        edited.function_mut(of).unwrap().set_node(node, content).unwrap();
        let Some(result) = replaced(&generated.program, &generated.refs, (&edited, of), Labels::Refs) else { return Ok(()) };
        prop_assert_eq!(
            changed(function(&generated.program, of), function(&result, of)), 1,
            "{}\n{}", text::print_function(&generated.program, of, Detail::Full),
            text::print_function(&result, of, Detail::Full)
        );
    }

    #[test]
    fn one_edit_in_the_text_changes_no_more_than_that(
        generated in programs(Options::default()),
        mut choices in choices(40),
    ) {
        let (mut edited, mut refs) = (generated.program.clone(), generated.refs.clone());
        if edits::typed(&mut edited, &mut refs, &mut choices, &Options::default()).is_none() {
            return Ok(());
        }
        for (of, before) in generated.program.functions() {
            let Some(after) = edited.function(of).filter(|after| after.head() == before.head()) else { continue };
            let mut plain = generated.program.clone();
            plain.remove_function(of).unwrap();
            plain.add_whole_function(of, after.clone()).unwrap();
            let Some(result) = replaced(&generated.program, &refs, (&plain, of), Labels::Refs) else { continue };
            let show = |program: &Program| text::print_function(program, of, Detail::Standard);
            // Summaries do not carry comments, and what has one stands on a line of its own.
            let comments = |function: &Function| {
                function.body().nodes().filter(|(_, node)| node.doc().is_some()).count()
            };
            if comments(before) != comments(after) {
                continue;
            }
            prop_assert_eq!(canonical(&show(&result)), canonical(&show(&plain)));
            let (least, most) = (changed(before, function(&result, of)), changed(before, after));
            // Another operator is another node in a text, and the same one for an edit that changes it.
            let other = |(node, found): (NodeRef, &Node)| {
                after.body().node(node).is_some_and(|now| now.op().code() != found.op().code())
            };
            if before.body().nodes().any(other) {
                continue;
            }
            prop_assert!(
                least <= most, "{} instead of {}\n{}\n{}\n{}", least, most,
                show(&generated.program), show(&plain), show(&result)
            );
        }
    }
}
