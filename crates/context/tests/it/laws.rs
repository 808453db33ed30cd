//! Answers are those of a slow walk over everything.

use std::collections::BTreeSet;

use lmlang_context::analysis::{Question, answers};
use lmlang_ir::{Place, Program, Ref};
use lmlang_testkit::generate::{self, Options};
use proptest::prelude::*;

use crate::model;

pub(crate) fn asked(program: &Program, question: Question, of: &[Ref]) -> BTreeSet<Ref> {
    let found = answers(program, question, of, &[]).expect("it can be asked");
    let refs: BTreeSet<Ref> = found.iter().map(|answer| answer.of).collect();
    assert_eq!(refs.len(), found.len(), "each is told once");
    for answer in &found {
        assert!(!answer.text(program).is_empty() && !answer.reason.words(program).is_empty());
    }
    refs
}

/// Only what nodes do; segments and the host are asked about apart.
fn nodes_of(refs: BTreeSet<Ref>) -> BTreeSet<Ref> {
    refs.into_iter().filter(|of| of.kind == lmlang_ir::RefKind::Node).collect()
}

pub(crate) fn check(program: &Program) {
    assert_eq!(asked(program, Question::DeadCode, &[]), model::dead_code(program));
    assert_eq!(asked(program, Question::UnusedTypes, &[]), model::unused_types(program));
    assert_eq!(asked(program, Question::MayTrap, &[]), model::may_trap(program));
    assert_eq!(asked(program, Question::HasEffect, &[]), model::has_effect(program));
    for (owner, def) in program.types() {
        let fields = def.fields().iter().map(|field| field.member);
        for member in fields.chain(def.variants().iter().map(|variant| variant.member)) {
            for (question, write) in [(Question::Writers, true), (Question::Readers, false)] {
                let expected = model::member(program, owner, member, write);
                assert_eq!(asked(program, question, &[member.into()]), expected, "{member} {write}");
            }
        }
    }
    let locals = program.functions().flat_map(|(_, function)| function.body().variables().map(|(of, _)| of));
    let storage = program.all_storage().map(|(of, _)| of);
    let all: Vec<Ref> = locals.chain(storage).map(Ref::from).collect();
    for of in all {
        assert!(matches!(program.place(of), Some(Place::Variable(..) | Place::Storage(_))));
        for (question, write) in [(Question::Writers, true), (Question::Readers, false)] {
            assert_eq!(
                nodes_of(asked(program, question, &[of])),
                model::storage(program, of, write),
                "{of} {write}"
            );
        }
    }
}

proptest! {
    #![proptest_config(lmlang_testkit::config())]

    #[test]
    fn answers_are_those_of_a_walk_over_everything(made in generate::programs(Options::small())) {
        check(&made.program);
    }
}

#[test]
fn also_for_examples_and_a_library() {
    for (_, program) in crate::tools::examples() {
        check(&program);
    }
    check(&crate::tools::library());
}

#[test]
fn also_where_tests_of_the_language_go() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filetests/lang");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let parsed = lmlang_ir::text::parse_program(&text, &mut lmlang_ir::RefAllocator::starting_at(1));
        let Ok(program) = parsed else { continue };
        read += 1;
        check(&program);
    }
    assert!(read > 20, "{read}");
}
