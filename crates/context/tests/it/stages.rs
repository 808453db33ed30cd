//! The stages of compression, one by one.

use lmlang_context::{Abbreviations, Compressor, Stage, Tokenizer};
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{FuncRef, Ref};

use crate::tools::{examples, functions, named, pack_with, read};

/// Packs something with less and less, until a stage is applied, and returns the text.
fn until(text: &str, focus: &str, stage: Stage) -> lmlang_context::Pack {
    let program = read(text);
    let focus = [named(&program, focus)];
    let pack = |budget| pack_with(&program, &focus, budget, Detail::Full, None, Tokenizer::default());
    let mut budget = pack(100_000).unwrap().tokens_used;
    loop {
        let pack = pack(budget).unwrap();
        if pack.stages.last() == Some(&stage) {
            return pack;
        }
        budget = pack.tokens_used - 1;
    }
}

const DOCUMENTED: &str = r#"
module m

; A doc that stays.
pub func f (a: i64) -> (i64) pure {
  ; A comment that goes.
  b = add.i64 a, 1
  ; Another comment that goes.
  return b
}
; run: f(1) == 2
"#;

/// Requirement CUE-39.
#[test]
fn cue_39_comments_go_and_docs_stay() {
    let pack = until(DOCUMENTED, "m::f", Stage::Comments);
    assert!(pack.text.contains("; A doc that stays."), "{}", pack.text);
    assert!(!pack.text.contains("that goes") && !pack.text.contains("run:"), "{}", pack.text);
    assert_eq!((pack.omitted.len(), pack.omitted[0].count), (1, 3));
    assert_eq!(pack.stages, [Stage::Comments]);
}

/// Requirements CUE-36 and CUE-40.
#[test]
fn cue_36_the_dictionary_is_given_and_its_legend_told() {
    let mut text = String::from("module m\n\ntype P = struct { x: i64 }\n\nfunc f (p: P) -> (i64) pure {\n");
    for at in 0..20 {
        text.push_str(&format!("  a{at} = struct.get P.x p\n"));
    }
    text.push_str("  return a0\n}\n");
    let pack = until(&text, "m::f", Stage::Abbreviations);
    let legend = pack.text.lines().nth(1).unwrap();
    assert!(legend.starts_with("; abbreviated: ") && legend.contains("sg=struct.get"), "{legend}");
    assert!(pack.text.contains("= sg P.x") && pack.text.matches("struct.get").count() == 1, "{}", pack.text);
    let program = read(&text);
    let sections = |compressor: &Compressor, budget| {
        let request = lmlang_context::Request {
            name: "p",
            revision: 1,
            focus: &[named(&program, "m::f")],
            detail: Detail::Summary,
            budget,
            compressor,
            since: None,
        };
        lmlang_context::pack(&program, &request).unwrap()
    };
    let own =
        Compressor { abbreviations: Abbreviations::new([("struct.get", "pick")]), ..Compressor::default() };
    let whole = sections(&own, 10_000).tokens_used;
    assert!(sections(&own, whole - 1).text.contains("pick P.x"));
}

#[test]
fn what_is_abbreviated_can_be_read_back() {
    let words = Abbreviations::default();
    for (name, program) in examples() {
        let text = print_program(&program, Detail::Full);
        let short = words.shorten(&text);
        assert!(short.len() < text.len(), "{name}");
        assert_eq!(words.lengthen(&short), text, "{name}");
        assert_eq!(short.matches('"').count(), text.matches('"').count());
    }
    let quoted = "a = \"func \\\" func\" ; func\nfunc f#func\n";
    assert_eq!(words.shorten(quoted), "a = \"func \\\" func\" ; func\nfn f#func\n");
}

/// Requirement CUE-41.
#[test]
fn cue_41_indentation_goes() {
    let pack = until(DOCUMENTED, "m::f", Stage::Whitespace);
    assert!(pack.text.lines().all(|line| !line.starts_with(' ') && !line.is_empty()), "{}", pack.text);
}

/// Requirement CUE-42.
#[test]
fn cue_42_long_sections_are_summarised() {
    let mut text = String::from(
        "module m\n; A doc.\npub func long (a: i64) -> (i64) pure {\n  require \"it is there\" = gt_s.i64 a, 0\n",
    );
    (0..40).for_each(|at| text.push_str(&format!("  b{at} = add.i64 a, {at}\n")));
    text.push_str(
        "  return b39\n}\npub func short (a: i64) -> (i64) pure {\n  b = call long(a)\n  return b\n}\n",
    );
    let pack = until(&text, "m::short", Stage::Summaries);
    for told in ["; A doc.", "pure", "require \"it is there\"", "nodes in", "b39#", "lines left out of"] {
        assert!(pack.text.contains(told), "{told}: {}", pack.text);
    }
    assert!(!pack.text.contains("b20"), "{}", pack.text);
    assert!(pack.text.contains("call long(a)"), "the focus stays whole: {}", pack.text);
}

/// Requirement CUE-43: what a reference names can be had, and is what it says.
#[test]
fn cue_43_a_reference_is_resolvable() {
    let mut text = String::from("module m\n; A doc.\npub func long (a: i64) -> (i64) pure {\n");
    (0..40).for_each(|at| text.push_str(&format!("  b{at} = add.i64 a, {at}\n")));
    text.push_str(
        "  return b39\n}\npub func short (a: i64) -> (i64) pure {\n  b = call long(a)\n  return b\n}\n",
    );
    let pack = until(&text, "m::short", Stage::References);
    let program = read(&text);
    let long = FuncRef::try_from(named(&program, "m::long")).unwrap();
    let hash = program.function(long).unwrap().content_hash().to_string();
    assert!(pack.text.contains(&format!("hash {}", &hash[..16])), "{}", pack.text);
    assert!(pack.text.contains(&format!("func m::long #{long} (a: i64) -> (i64) pure")), "{}", pack.text);
    let omitted = pack.omitted.iter().find(|one| one.why == lmlang_context::Omission::Rest).unwrap();
    assert_eq!(omitted.of, [Ref::from(long)]);
}

/// Requirement CUE-38: on the examples, all stages leave at most 65 % of the tokens, with nothing left out as a whole.
#[test]
fn cue_38_a_third_and_more_goes() {
    let (mut whole, mut left) = (0, 0);
    for (name, program) in examples() {
        for function in functions(&program) {
            let pack = |budget| {
                pack_with(&program, &[function.into()], budget, Detail::Full, None, Tokenizer::default())
            };
            let full = pack(100_000).unwrap();
            let mut best = full.clone();
            while let Ok(next) = pack(best.tokens_used - 1) {
                if next.included.len() < full.included.len() || next.tokens_used >= best.tokens_used {
                    break;
                }
                best = next;
            }
            assert_eq!(best.included.len(), full.included.len(), "{name} {function}");
            whole += full.tokens_used;
            left += best.tokens_used;
        }
    }
    let ratio = left as f64 / whole as f64;
    assert!(ratio <= 0.65, "{left} of {whole} tokens are left: {ratio:.3}");
}
