//! What a context holds, and that it keeps to its budget.

use std::collections::BTreeSet;

use lmlang_context::token::{self, Told};
use lmlang_context::{Omission, Role, Since, Stage, Token, Tokenizer};
use lmlang_ir::text::Detail;
use lmlang_ir::{Program, Ref};

use crate::tools::{examples, functions, library, named, pack_of, pack_with, read};

const SHOP: &str = r#"
; Prices.
module shop

; What is sold.
type Item = struct {
  ; In cents.
  price: i64,
  count: i64
}

type Unrelated = struct { a: i64 }

global rate: i64 = 19

; The part that the state takes.
func tax (net: i64) -> (i64) reads {
  ; per cent
  return (div_s.i64 (mul.i64 net, (global.get rate)), 100)
}

; What an item costs with tax.
pub func total (item: Item) -> (i64) reads {
  require "there is one" = gt_s.i64 (struct.get Item.count item), 0
  ; without tax
  net = mul.i64 (struct.get Item.price item), (struct.get Item.count item)
  t = call tax(net)
  return (add.i64 net, t)
}
; run: total(Item{price: 100, count: 1}) == 119

pub func twice (item: Item) -> (i64) reads {
  t = call total(item)
  return (mul.i64 t, 2)
}

func far (item: Item) -> (i64) reads {
  t = call twice(item)
  return t
}
"#;

fn token_of(program: &Program, focus: &[Ref], told: &Told) -> Token {
    let root = token::root(program.root_hash());
    Token { program: [1; 16], revision: 7, root, focus: focus.to_vec(), told: told.clone() }
}

#[test]
fn the_most_useful_comes_first() {
    let program = read(SHOP);
    let focus = [named(&program, "shop::total")];
    let pack = pack_of(&program, &focus, 4_000).unwrap();
    assert!(pack.text.starts_with("; program p @ r7\n"), "{}", pack.text);
    let roles: Vec<Role> = pack.included.iter().map(|item| item.role).collect();
    assert_eq!(roles, [Role::Focus, Role::Type, Role::Callee, Role::Caller]);
    assert!(pack.text.contains("call total(item)"), "the call lines of callers: {}", pack.text);
    assert!(!pack.text.contains("Unrelated") && !pack.text.contains("far"), "{}", pack.text);
    assert!(!pack.text.contains("run:"), "runs are for the full text: {}", pack.text);
    assert_eq!((pack.stages.len(), pack.omitted.len()), (0, 0));
    let full = pack_with(&program, &focus, 4_000, Detail::Full, None, Tokenizer::default()).unwrap();
    assert!(full.text.contains("; run: total("), "{}", full.text);
    // What the callee uses belongs to it.
    let tax = pack_of(&program, &[named(&program, "shop::tax")], 4_000).unwrap();
    assert_eq!(tax.included[1].role, Role::Storage, "{}", tax.text);
}

#[test]
fn a_type_is_told_with_its_invariants() {
    let stating = "func item (value: Item) -> () reads {\n  invariant \"it costs something\" = \
                   gt_s.i64 (struct.get Item.price value), 0\n  return\n}\n";
    let program = read(&format!("{SHOP}\n{stating}"));
    let pack = pack_of(&program, &[named(&program, "shop::total")], 4_000).unwrap();
    let states = named(&program, "shop::item");
    let line = format!("; invariant \"it costs something\", stated in shop::item #{states}\n");
    assert!(pack.text.contains(&line), "{}", pack.text);
}

#[test]
fn a_hole_is_told_with_what_fits() {
    let text = "module m\nfunc f (a: i64, b: i32) -> (i64) pure {\n  c = add.i64 a, 1\n  d = mul.i64 c, _\n  return d\n}\n";
    let program = read(text);
    let node = named(&program, "m::f::d");
    for focus in [node, named(&program, "m::f")] {
        let pack = pack_of(&program, &[focus], 1_000).unwrap();
        assert_eq!(pack.included[0].role, Role::Hole);
        let line = pack.text.lines().find(|line| line.contains("takes")).unwrap();
        assert!(line.contains(&format!("{node}.in1 takes i64; in scope: c (")), "{line}");
        assert!(line.contains("a (f") && !line.contains("b (f"), "{line}");
    }
}

/// Requirement CUE-37: never more tokens than the budget, or an error; CUE-44: the stages are a prefix.
#[test]
fn cue_37_the_budget_holds_and_tokens_are_counted_exactly() {
    let mut programs = examples();
    programs.push(("library".to_owned(), library()));
    let (mut fits, mut refused) = (0, 0);
    for (name, program) in &programs {
        for (at, function) in functions(program).into_iter().enumerate() {
            for budget in [40, 90, 200, 600, 3_000] {
                let tokenizer = Tokenizer::ALL[at % 2];
                let detail = [Detail::Summary, Detail::Standard, Detail::Full][at % 3];
                match pack_with(program, &[function.into()], budget, detail, None, tokenizer) {
                    Ok(pack) => {
                        fits += 1;
                        assert_eq!(pack.tokens_used, tokenizer.count(&pack.text), "{name} {function}");
                        assert!(pack.tokens_used <= budget, "{name} {function}");
                        assert!(Stage::ALL.starts_with(&pack.stages), "{:?}", pack.stages);
                        assert!(
                            pack.included[0].of == function.into() || pack.included[0].role == Role::Hole
                        );
                        let items: usize = pack.included.iter().map(|item| item.tokens).sum();
                        assert!(items < pack.tokens_used, "{name} {function}");
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(error.current > error.limit && error.limit == budget, "{error}");
                    }
                }
            }
        }
    }
    assert!(fits > 500 && refused > 10, "{fits} {refused}");
}

/// Whole modules, whatever the budget: the error names a size that is enough.
#[test]
fn what_an_error_asks_for_is_enough() {
    for (name, program) in examples() {
        let function = functions(&program)[0];
        let error = pack_of(&program, &[function.into()], 8).unwrap_err();
        let pack = pack_of(&program, &[function.into()], error.current);
        assert!(pack.is_ok(), "{name}: {error}");
    }
}

#[test]
fn what_is_left_out_is_listed() {
    let program = read(SHOP);
    let focus = [named(&program, "shop")];
    let whole = pack_of(&program, &focus, 10_000).unwrap();
    let least = pack_of(&program, &focus, 1).unwrap_err().current;
    for budget in (least..whole.tokens_used).step_by(7) {
        let pack = pack_of(&program, &focus, budget).unwrap();
        let told: BTreeSet<Ref> = pack.included.iter().map(|item| item.of).collect();
        let left_out: BTreeSet<Ref> = pack
            .omitted
            .iter()
            .filter(|one| matches!(one.why, Omission::Sections(_)))
            .flat_map(|one| one.of.clone())
            .collect();
        let all: BTreeSet<Ref> = whole.included.iter().map(|item| item.of).collect();
        assert_eq!(&told | &left_out, all, "at {budget}");
        assert!(told.is_disjoint(&left_out));
    }
}

/// Room that is left goes to what is useful.
#[test]
fn a_shorter_form_is_used_only_where_a_longer_one_does_not_fit() {
    let program = read(SHOP);
    let focus = [named(&program, "shop::total")];
    let whole = pack_of(&program, &focus, 10_000).unwrap();
    for budget in 90..whole.tokens_used {
        let Ok(pack) = pack_of(&program, &focus, budget) else { continue };
        let left = budget - pack.tokens_used;
        let all: BTreeSet<Ref> = whole.included.iter().map(|item| item.of).collect();
        for of in &all - &pack.included.iter().map(|item| item.of).collect() {
            let least = whole.included.iter().find(|item| item.of == of).unwrap().tokens;
            assert!(least > left, "{of} takes {least} of {left} at {budget}");
        }
    }
}

#[test]
fn a_large_program_costs_no_more_than_its_budget() {
    let mut text = String::from("module m\n");
    for at in 0..3_000 {
        let next = (at + 1) % 3_000;
        text.push_str(&format!(
            "pub func f{at}x (a: i64) -> (i64) {{\n  b = call f{next}x(a)\n  return b\n}}\n"
        ));
    }
    let program = read(&text);
    let pack = pack_of(&program, &[named(&program, "m")], 2_000).unwrap();
    assert!(pack.tokens_used <= 2_000);
    let left_out: usize = pack
        .omitted
        .iter()
        .map(|one| match one.why {
            Omission::Sections(_) => one.count,
            _ => 0,
        })
        .sum();
    assert_eq!(left_out + pack.included.len(), 3_001, "every function is told or counted");
}

#[test]
fn long_lines_are_counted_as_others() {
    let blanks = " ".repeat(200_000);
    let letters = "a".repeat(200_000);
    let program = read(&format!(
        "module m\nfunc f () -> (string) pure {{\n  a = const.string \"{blanks}\"\n  return \"{letters}\"\n}}\n"
    ));
    let pack = pack_of(&program, &[named(&program, "m::f")], 500).unwrap();
    assert!(pack.tokens_used <= 500 && pack.stages.len() == 5, "{:?}", pack.stages);
}

#[test]
fn since_tells_what_has_changed() {
    let before = read(SHOP);
    let focus = [named(&before, "shop::total")];
    let first = pack_of(&before, &focus, 4_000).unwrap();
    let token = token_of(&before, &focus, &first.told);
    assert_eq!(token.to_string().parse::<Token>(), Ok(token.clone()), "it says all itself");
    let since = |program: &Program| {
        let since = Since { token: &token, program: &before };
        pack_with(program, &focus, 4_000, Detail::Standard, Some(since), Tokenizer::default()).unwrap()
    };
    let same = since(&before);
    assert!(same.changed.is_empty() && same.included.is_empty());
    assert_eq!(same.text, "; program p @ r7\n; since r7: 0 changed, 0 removed, 4 unchanged\n");
    assert_eq!(same.told, first.told);
    // A callee changes, and something that does not belong to the working set.
    let mut refs = lmlang_ir::RefAllocator::starting_at(before.largest_number() + 1);
    let full = lmlang_ir::text::print_program(&before, Detail::Full);
    let text = full.replace("100#", "1000#").replace("a#", "zz#");
    let after = lmlang_ir::text::parse_program(&text, &mut refs).unwrap();
    let delta = since(&after);
    let tax = named(&after, "shop::tax");
    assert_eq!(delta.changed, [tax]);
    assert_eq!(delta.included.iter().map(|item| item.of).collect::<Vec<_>>(), [tax]);
    assert!(delta.text.contains("1 changed, 0 removed, 3 unchanged"), "{}", delta.text);
    assert!(delta.tokens_used < first.tokens_used / 2);
    // It goes with its caller's line.
    let at = full.find("pub func twice").unwrap();
    let text = &full[..at];
    let after = lmlang_ir::text::parse_program(text, &mut refs).unwrap();
    let delta = since(&after);
    assert!(delta.text.contains("; removed: shop::twice"), "{}", delta.text);
    assert!(delta.changed.contains(&named(&before, "shop::twice")));
    assert!(!delta.told.callers.contains(&named(&before, "shop::twice")));
}

#[test]
fn what_the_focus_uses_no_longer_is_named() {
    let before = read(SHOP);
    let focus = [named(&before, "shop::total")];
    let first = pack_of(&before, &focus, 4_000).unwrap();
    let tax = named(&before, "shop::tax");
    assert!(first.told.entities.contains(&tax));
    let token = token_of(&before, &focus, &first.told);
    let mut refs = lmlang_ir::RefAllocator::starting_at(before.largest_number() + 1);
    let full = lmlang_ir::text::print_program(&before, Detail::Full);
    let call = full.lines().find(|line| line.contains("call tax")).unwrap();
    let (name, _) = call.trim().split_once(" = ").unwrap();
    let text = full.replace(call, &format!("  {name} = const.i64 7")).replace("100#", "1000#");
    let after = lmlang_ir::text::parse_program(&text, &mut refs).unwrap();
    let since = Since { token: &token, program: &before };
    let delta =
        pack_with(&after, &focus, 4_000, Detail::Standard, Some(since), Tokenizer::default()).unwrap();
    let named = format!("; not used here any more, and not followed: shop::tax {tax}\n");
    assert!(delta.text.contains(&named), "{}", delta.text);
    assert!(delta.changed.contains(&tax) && !delta.told.entities.contains(&tax));
}

#[test]
fn who_was_told_less_is_told_again() {
    let program = read(SHOP);
    let focus = [named(&program, "shop::total")];
    let of = |detail, told: Option<&Told>| {
        let token = told.map(|told| token_of(&program, &focus, told));
        let since = token.as_ref().map(|token| Since { token, program: &program });
        pack_with(&program, &focus, 4_000, detail, since, Tokenizer::default()).unwrap()
    };
    let (summary, full) = (of(Detail::Summary, None), of(Detail::Full, None));
    let again = of(Detail::Full, Some(&summary.told));
    assert_eq!((&again.included, &again.told), (&full.included, &full.told));
    let heading = "; since r7: 0 changed, 0 removed, 4 unchanged, all told again in more detail\n";
    assert_eq!(again.text.replacen(heading, "", 1), full.text);
    assert_eq!(again.changed, []);
    // The other way there is nothing to tell; from then on, no more than the least is known.
    let less = of(Detail::Summary, Some(&full.told));
    assert_eq!((&less.included[..], less.told.detail), (&[][..], Detail::Summary));
}

/// What the budget cut away stays left out, whatever the token says: nobody has read it.
#[test]
fn what_was_never_told_as_a_whole_is_not_unchanged() {
    let program = read(SHOP);
    let focus = [named(&program, "shop::total")];
    let whole = pack_of(&program, &focus, 4_000).unwrap();
    // The largest budget that the caller has no room in.
    let without = |budget| {
        let pack = pack_of(&program, &focus, budget).unwrap();
        pack.omitted.iter().any(|left| left.why == Omission::Sections(Role::Caller)).then_some(pack)
    };
    let first = (0..whole.tokens_whole).rev().find_map(without).unwrap();
    let token = token_of(&program, &focus, &first.told);
    let since = Since { token: &token, program: &program };
    let next =
        pack_with(&program, &focus, 4_000, Detail::Standard, Some(since), Tokenizer::default()).unwrap();
    let twice = named(&program, "shop::twice");
    assert_eq!(next.included, []);
    assert!(
        next.text.ends_with("0 changed, 0 removed, 3 unchanged, 1 not told as a whole\n"),
        "{}",
        next.text
    );
    let [left] = &next.omitted[..] else { panic!("{:?}", next.omitted) };
    assert_eq!((left.why, left.count, &left.of[..]), (Omission::Sections(Role::Caller), 1, &[twice][..]));
}

#[test]
fn a_token_that_was_changed_is_none() {
    let program = read(SHOP);
    let focus = [named(&program, "shop::total")];
    let told = Told { entities: BTreeSet::from(focus), ..Told::default() };
    let token = token_of(&program, &focus, &told).to_string();
    for at in 0..token.len() {
        let mut other = token.clone().into_bytes();
        other[at] = if other[at] == b'A' { b'B' } else { b'A' };
        assert!(String::from_utf8(other).unwrap().parse::<Token>().is_err());
        assert!(token[..at].parse::<Token>().is_err());
    }
}
