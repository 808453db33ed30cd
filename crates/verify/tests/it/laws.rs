//! Laws: verification is total, generated programs are right, and LOCAL finds what FULL finds.

use lmlang_ir::ops::Opcode;
use lmlang_ir::{Const, NodeContent, Op, Program, RegionRole, Type};
use lmlang_testkit::edits::structural;
use lmlang_testkit::generate::{Generated, Options, choices, programs};
use lmlang_testkit::{Choices, config};
use lmlang_verify::{Findings, affected, full, local};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::build::{Build, control, number, plain, value};
use crate::mutate::{Bin, mutate};

fn options() -> Options {
    Options { odd_names: false, ..Options::default() }
}

fn describe(program: &Program, findings: &Findings) -> Vec<String> {
    findings.iter().map(|(_, one)| format!("{:?} {}", one.identity(), one.message(program))).collect()
}

/// Changes a program step by step. What an engine would refuse is mostly given up again, so that many steps start from
/// a state without errors.
fn walk(generated: Generated, mut choices: Choices) {
    let Generated { program: mut before, mut refs } = generated;
    let (mut found, mut bin) = (full(&before), Bin::new());
    while !choices.exhausted() {
        let mut after = before.clone();
        if found.tally().errors == 0 && choices.chance(40) {
            // A change that the structure does not allow changes nothing.
            drop(structural(&mut after, &mut refs, &mut choices));
        }
        for _ in 0..=choices.below(4) {
            mutate(&mut after, &mut refs, &mut bin, &mut choices);
        }
        let next = local(&before, &found, &after);
        let all = full(&after);
        if next != all {
            let (next, all) = (describe(&after, &next), describe(&after, &all));
            let missing: Vec<_> = all.iter().filter(|one| !next.contains(one)).collect();
            let surplus: Vec<_> = next.iter().filter(|one| !all.contains(one)).collect();
            panic!("LOCAL misses {missing:#?}, and has {surplus:#?}");
        }
        assert_eq!(next.tally(), all.tally());
        // What is newly found is where the change is said to reach.
        if let Some(reached) = affected(&before, &found, &after) {
            for one in next.since(&found).added {
                let is_reached = match one.at.function {
                    Some(function) => reached.functions.contains(&function),
                    None => reached.outside.contains(&one.at.entity),
                };
                assert!(is_reached, "{:?} is out of reach of the change", one.identity());
            }
        }
        if next.tally().errors == 0 || choices.chance(5) {
            (before, found) = (after, next);
        }
    }
}

#[test]
fn local_finds_what_full_finds() {
    let law = |(generated, choices)| {
        walk(generated, choices);
        Ok(())
    };
    let result = TestRunner::new(config()).run(&(programs(options()), choices(400)), law);
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn any_structure_can_be_checked() {
    let law = |(generated, mut choices): (Generated, Choices)| {
        let Generated { mut program, mut refs } = generated;
        let mut bin = Bin::new();
        for _ in 0..choices.below(20) {
            drop(structural(&mut program, &mut refs, &mut choices));
        }
        while !choices.exhausted() {
            mutate(&mut program, &mut refs, &mut bin, &mut choices);
        }
        let findings = full(&program);
        prop_assert_eq!(findings.tally().total(), findings.iter().count() as u64);
        describe(&program, &findings);
        Ok(())
    };
    let result = TestRunner::new(config()).run(&(programs(Options::default()), choices(300)), law);
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn generated_programs_are_right() {
    let law = |generated: Generated| {
        let findings = full(&generated.program);
        prop_assert!(findings.tally().is_complete(), "{:#?}", describe(&generated.program, &findings));
        Ok(())
    };
    if let Err(error) = TestRunner::new(config()).run(&programs(options()), law) {
        panic!("{error}");
    }
}

/// Nesting costs neither stack nor patience.
#[test]
fn deep_nesting_is_no_burden() {
    const LEVELS: usize = 3_000;
    let mut b = Build::new();
    let f = b.func("f", &[Type::I32], &[Type::I32]);
    let outer = b.node(f.of, f.root, number(1), &[]);
    let (mut region, mut owner) = (f.root, None);
    for _ in 0..LEVELS {
        let block = control(Opcode::Block, &[Type::I32]);
        let (node, inner) = b.owner(f.of, region, block, &[], &[(RegionRole::Body, &[])]);
        match owner {
            None => drop(b.ret(f, &[value(node)])),
            Some(_) => drop(b.node(f.of, region, plain(Opcode::Yield), &[value(node)])),
        }
        (region, owner) = (inner[0], Some(node));
    }
    let last = b.node(f.of, region, plain(Opcode::Yield), &[value(outer)]);
    let before = b.program.clone();
    let found = full(&before);
    assert_eq!(describe(&before, &found), Vec::<String>::new());

    let wrong = NodeContent::new(Op::constant(Const::I64(1)), []);
    b.change(f.of).set_node(outer, wrong).expect("exists");
    b.change(f.of).move_node(outer, f.root, None).expect("moves");
    let next = local(&before, &found, &b.program);
    assert_eq!(next, full(&b.program));
    assert_eq!(next.of_entity(Some(f.of), last.number()).len(), 1);

    let first = b.program.function(f.of).expect("exists").body().next(outer).expect("the outermost block");
    b.change(f.of).move_node(outer, f.root, Some(first)).expect("moves");
    assert_eq!(local(&before, &found, &b.program), full(&b.program));
}
