//! Paging, comparing and proofs.

use std::num::NonZeroUsize;

use lmlang_ir::ops::Opcode;
use lmlang_ir::{Type, TypeDef};
use lmlang_verify::{Checked, Code, full};

use crate::build::{Build, i32_op, number, value};

/// Three functions with two unused values each.
fn noisy() -> Build {
    let mut b = Build::new();
    for name in ["a", "b", "c"] {
        let f = b.func(name, &[], &[]);
        b.node(f.of, f.root, number(1), &[]);
        b.node(f.of, f.root, number(2), &[]);
        b.ret(f, &[]);
    }
    b
}

#[test]
fn pages_resume_after_any_key() {
    let b = noisy();
    let findings = full(&b.program);
    let all: Vec<_> = findings.iter().collect();
    assert_eq!(all.len(), 6);
    assert_eq!(findings.tally().warnings, 6);
    for (at, (key, _)) in all.iter().enumerate() {
        let rest: Vec<_> = findings.iter_after(*key).collect();
        assert_eq!(rest, all[at + 1..]);
    }
}

#[test]
fn a_delta_names_what_came_and_went() {
    let mut b = noisy();
    let before = full(&b.program);
    let f = b.func("d", &[], &[Type::I32]);
    let one = b.node(f.of, f.root, number(1), &[]);
    b.ret(f, &[value(one), value(one)]);
    let after = full(&b.program);
    let delta = after.since(&before);
    assert_eq!(delta.added.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::ArityMismatch]);
    assert!(delta.resolved.is_empty());
    assert_eq!(before.since(&after).resolved, delta.added);
}

#[test]
fn what_was_wrong_before_a_rule_was_there_is_no_news() {
    let mut b = noisy();
    let shape = b.fields(&[("none", Type::Never)]);
    let ty = b.add_type("Nothing", shape);
    let before = Checked::full(b.program.clone(), NonZeroUsize::MIN);
    let wrong = |of: &Checked| (of.findings().tally().errors, of.findings().tally().stale);
    assert_eq!(wrong(&before), (0, 1));
    let f = b.func("d", &[], &[]);
    b.ret(f, &[]);
    let def = b.program.type_def(ty).expect("it is there").as_ref().clone();
    let def = TypeDef { doc: Some("Has no values.".into()), name: "Never".into(), ..def };
    b.program.set_type(ty, def).expect("it is there");
    let after = before.update(b.program);
    assert_eq!(wrong(&after), (0, 1));
    let delta = after.findings().since(before.findings());
    assert!(delta.added.is_empty() && delta.resolved.is_empty(), "{delta:?}");
}

#[test]
fn threads_find_the_same() {
    let mut b = Build::new();
    for index in 0..60 {
        let f = b.func(&format!("f{index}"), &[Type::I32], &[Type::I32]);
        for _ in 0..400 {
            b.node(f.of, f.root, i32_op(Opcode::Add), &[f.param(0), f.param(index % 2)]);
        }
        b.ret(f, &[f.param(0)]);
    }
    let alone = full(&b.program);
    let together = Checked::full(b.program.clone(), NonZeroUsize::new(3).expect("not zero"));
    assert_eq!(&alone, together.findings());
}

#[test]
fn proofs_follow_the_classes() {
    let mut b = Build::new();
    let complete = b.func("complete", &[Type::I32], &[Type::I32]);
    b.ret(complete, &[complete.param(0)]);
    let stale = b.func("stale", &[], &[Type::I64]);
    let one = b.node(stale.of, stale.root, number(1), &[]);
    let end = b.ret(stale, &[value(one)]);
    let wrong = b.func("wrong", &[], &[]);
    b.node(wrong.of, wrong.root, i32_op(Opcode::Add), &[wrong.param(0)]);
    b.ret(wrong, &[]);
    let checked = Checked::full(b.program.clone(), NonZeroUsize::MIN);
    assert!(checked.complete(complete.of).is_some());
    assert!(checked.complete(stale.of).is_none());
    let verified = checked.function(stale.of).expect("no error inside");
    assert!(verified.stops_at(end) && !verified.stops_at(one));
    assert!(checked.function(wrong.of).is_none());
}
