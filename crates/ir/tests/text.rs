//! Laws of the text form over generated programs and over anything at all.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lmlang_ir::text::{self, Detail, parse_program, print_program};
use lmlang_ir::{Program, RefAllocator};
use lmlang_testkit::generate::{self, Options, choices, programs, values};
use lmlang_testkit::{config, config_of, edits};
use proptest::prelude::*;

#[path = "text/matching.rs"]
mod matching;

fn parse(text: &str) -> Program {
    parse_program(text, &mut RefAllocator::starting_at(1)).unwrap_or_else(|errors| {
        let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", shown.join("\n"))
    })
}

/// The first line in which two texts differ.
fn difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines());
    lines.into_iter().find(|(a, b)| a != b).map_or_else(String::new, |(a, b)| format!("{a}\n{b}"))
}

#[track_caller]
fn check_identity(program: &Program) {
    let printed = print_program(program, Detail::Full);
    let again = parse(&printed);
    let reprinted = print_program(&again, Detail::Full);
    assert!(reprinted == printed, "{}\n{printed}", difference(&printed, &reprinted));
    assert!(again == *program, "equal in print only:\n{printed}");
    assert_eq!(again.root_hash(), program.root_hash());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_printed_parses_to_the_same(generated in programs(Options::default())) {
        check_identity(&generated.program);
    }

    #[test]
    fn a_function_is_replaced_by_its_own_text(generated in programs(Options::small())) {
        let mut program = generated.program.clone();
        let mut refs = generated.refs.clone();
        let functions: Vec<_> = generated.program.functions().map(|(of, _)| of).collect();
        for of in functions {
            let text = text::print_function(&program, of, Detail::Full);
            if let Err(errors) = text::replace_function(&mut program, &mut refs, of, &text, None) {
                panic!("{errors:?}\n{text}");
            }
        }
        prop_assert!(program == generated.program);
        let types: Vec<_> = generated.program.types().map(|(of, _)| of).collect();
        for of in types {
            let text = text::print_type(&program, of, Detail::Full);
            prop_assert!(text::replace_type(&mut program, &mut refs, of, &text).is_ok());
        }
        prop_assert!(program == generated.program);
    }

    #[test]
    fn less_detail_still_parses(generated in programs(Options::small())) {
        for detail in [Detail::Summary, Detail::Standard] {
            let again = parse(&print_program(&generated.program, detail));
            prop_assert_eq!(again.totals(), generated.program.totals());
        }
    }

    /// Blanks that were lost or added come back, and nothing else changes.
    #[test]
    fn a_printed_text_is_laid_out(
        generated in programs(Options::default()),
        widths in prop::collection::vec(0usize..5, 1..20),
    ) {
        for detail in [Detail::Summary, Detail::Standard, Detail::Full] {
            let printed = print_program(&generated.program, detail);
            let formatted = text::format_text(&printed).expect("it parses");
            prop_assert!(formatted == printed, "{}\n{printed}", difference(&printed, &formatted));
            let mut ragged = String::new();
            for (line, width) in printed.lines().zip(widths.iter().cycle()) {
                let plain = !line.contains(['"', ';']);
                ragged.push_str(&" ".repeat(*width));
                ragged.push_str(&if plain { line.trim().replace(' ', "  ") } else { line.trim_start().to_owned() });
                ragged.push_str(if line.is_empty() { "\n\n" } else { "\n" });
            }
            let formatted = text::format_text(&ragged).expect("it parses");
            prop_assert!(formatted == printed, "{}\n{printed}", difference(&printed, &formatted));
            prop_assert_eq!(parse(&formatted).root_hash(), parse(&printed).root_hash());
        }
    }

    #[test]
    fn values_read_back(generated in programs(Options::small()), mut choices in choices(60)) {
        let program = &generated.program;
        let types: Vec<_> = program
            .functions()
            .flat_map(|(_, function)| function.head().params.iter().map(|param| param.ty.clone()))
            .collect();
        for ty in types {
            let Some(value) = values::value(program, &mut choices, &ty, 3) else { continue };
            let printed = text::print_value(program, &value);
            match text::parse_value(program, &ty, &printed) {
                // By bits: a NaN equals itself there.
                Ok(again) => prop_assert_eq!(text::print_value(program, &again), printed),
                Err(error) => panic!("{printed}: {error}"),
            }
        }
    }

    #[test]
    fn operators_read_back(generated in programs(Options::default())) {
        for (_, function) in generated.program.functions() {
            for (_, node) in function.body().nodes() {
                let printed = text::print_op(node.op());
                let again = text::parse_op(&printed);
                prop_assert_eq!(again.as_ref(), Ok(node.op()), "{}", printed);
            }
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,200}") {
        total(&text);
    }

    #[test]
    fn any_words_are_parsed_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..80)) {
        total(&words.join(" "));
        total(&words.concat());
    }
}

proptest! {
    #![proptest_config(config_of(500))]

    /// Programs that no verifier would let pass print all the same.
    #[test]
    fn anything_prints(generated in programs(Options::small()), mut choices in choices(120)) {
        let (mut program, mut refs) = (generated.program, generated.refs);
        for _ in 0..20 {
            if edits::structural(&mut program, &mut refs, &mut choices).is_err() {
                continue;
            }
        }
        for detail in [Detail::Summary, Detail::Standard, Detail::Full] {
            total(&print_program(&program, detail));
        }
        for (_, function) in program.functions() {
            let nodes: Vec<_> = function.body().nodes().map(|(node, _)| node).collect();
            // In whatever order nodes are printed: what stood around the one before makes no difference.
            let mut around = text::Surroundings::default();
            for node in nodes.iter().chain(nodes.iter().rev()) {
                let alone = text::print_node(&program, *node, Detail::Full);
                prop_assert!(!alone.is_empty());
                prop_assert_eq!(text::print_node_among(&program, *node, Detail::Full, &mut around), alone);
            }
        }
    }

    #[test]
    fn mutilated_texts_are_parsed_or_refused(
        generated in programs(Options::small()),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6, any::<char>()), 1..6),
    ) {
        let mut chars: Vec<char> = print_program(&generated.program, Detail::Full).chars().collect();
        for (at, length, put) in cuts {
            let at = at.index(chars.len() + 1);
            let end = (at + length).min(chars.len());
            chars.splice(at..end, [put]);
        }
        total(&chars.into_iter().collect::<String>());
    }
}

const WORDS: &[&str] = &[
    "func",
    "f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "->",
    "=",
    ",",
    ":",
    "::",
    ".",
    "#",
    "$",
    "<",
    ">",
    ";",
    "\n",
    "\"",
    "\\",
    "module",
    "type",
    "struct",
    "enum",
    "pub",
    "import",
    "export",
    "start",
    "global",
    "memory",
    "data",
    "table",
    "at",
    "var",
    "require",
    "ensure",
    "\"x\"",
    "i32",
    "i64",
    "f64",
    "n5",
    "#n5",
    "f7",
    "g9",
    "#g9",
    "t3",
    "-1",
    "0",
    "1.5",
    "nan:0x1",
    "0x",
    "if",
    "else",
    "loop",
    "block",
    "match",
    "case",
    "default",
    "yield",
    "return",
    "break",
    "L",
    "x",
    "add.i32",
    "const.i64",
    "call",
    "br_switch",
    "array.new<i32>",
    "option<i32>.some",
    "enum.new",
    "_",
    "true",
    "; run:",
    "end",
    "load.i32",
    "offset=4",
    "align=2^",
    "raw",
    "hex\"0g\"",
    "b\"\\zz\"",
    "closure.call<",
];

/// Parsing never panics, and what parses prints to something that parses to the same.
fn total(text: &str) {
    if let Ok(program) = parse_program(text, &mut RefAllocator::starting_at(1)) {
        check_identity(&program);
    }
    let program = Program::new();
    for ty in [lmlang_ir::Type::I32, lmlang_ir::Type::String] {
        drop(text::parse_value(&program, &ty, text));
    }
    drop(text::parse_op(text));
    drop(text::parse_type_refs(text));
}

/// A program of one function with that many additions, some of them used more than once.
fn long(nodes: usize) -> String {
    let mut text = String::from("func f (x: i64) -> (i64) {\n  a0 = add.i64 x, x\n");
    for index in 1..nodes / 2 {
        writeln!(
            text,
            "  a{index}_ = add.i64 a{}, {index}",
            if index == 1 { "0".into() } else { format!("{}_", index - 1) }
        )
        .expect("a string takes everything");
    }
    text.replace("a0 ", "a0_ ").replace("a0,", "a0_,") + "  return x\n}\n"
}

/// Regions within regions.
fn deep(levels: usize) -> String {
    let mut text = String::from("func f (x: i64) -> () {\n");
    for level in 0..levels {
        writeln!(text, "block L{level} {{").expect("a string takes everything");
    }
    text.push_str("break L0\n");
    for _ in 0..levels {
        text.push_str("}\nyield\n");
    }
    // The last `yield` stands in the function itself.
    text.truncate(text.len() - "yield\n".len());
    text + "return\n}\n"
}

/// Expressions within expressions.
fn nested(levels: usize) -> String {
    format!(
        "func f (x: i64) -> (i64) {{\n  return {}x{}\n}}\n",
        "(add.i64 x, ".repeat(levels),
        ")".repeat(levels)
    )
}

/// A struct with that many fields, each of which is read.
fn wide(fields: usize) -> String {
    let list =
        |of: &dyn Fn(usize) -> String, between: &str| (0..fields).map(of).collect::<Vec<_>>().join(between);
    let types = list(&|index| format!("a{index}_: i64"), ", ");
    let reads = list(&|index| format!("  x{index}_ = struct.get W.a{index}_ w"), "\n");
    format!("type W = struct {{ {types} }}\nfunc f (w: W) -> () {{\n{reads}\n  return\n}}\n")
}

fn time(text: &str) -> Duration {
    let start = Instant::now();
    let program = parse(text);
    let printed = print_program(&program, Detail::Full);
    assert!(parse(&printed) == program);
    start.elapsed()
}

#[test]
fn large_and_deep_programs_take_linear_time() {
    for (what, small, large, factor) in [
        ("long", long(10_000), long(100_000), 10),
        ("deep", deep(1_000), deep(10_000), 10),
        ("nested", nested(1_000), nested(10_000), 10),
        ("wide", wide(1_000), wide(10_000), 10),
    ] {
        // Small ones first, so that what is only made once is made.
        time(&small);
        // The best of some: whatever else the machine does only adds.
        let best = |text: &str| (0..3).map(|_| time(text)).min().unwrap_or_default();
        let (small, large) = (best(&small), best(&large));
        println!("{what}: {small:?}, ten times as much {large:?}");
        // Quadratic time would be a factor of ten more.
        assert!(large < small * factor * 5 + Duration::from_millis(200), "{what}: {small:?}, {large:?}");
    }
}

#[test]
fn a_seeded_program_of_some_size_reads_back() {
    let options = Options { functions: 40, nodes: 400, depth: 12, types: 20, ..Options::default() };
    check_identity(&generate::seeded(7, &options).program);
}
