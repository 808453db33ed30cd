//! Structural questions about the examples and an imported library, beside computed answers.

use std::collections::BTreeSet;

use lmlang_context::Tokenizer;
use lmlang_context::analysis::{Question, answers};
use lmlang_ir::graph::{impact, reachable};
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{FuncRef, Program, Ref};

use crate::model;
use crate::tools::{examples, library};

/// What is asked of one program.
enum Asked {
    Graph(Question, Vec<Ref>),
    Callers(FuncRef),
    Impact(Ref),
    Callees(FuncRef),
}

/// Answers as a caller gets them, a line each.
fn told(program: &Program, asked: &Asked) -> (BTreeSet<Ref>, String) {
    let line = |of: Ref| format!("{of} {}\n", program.path(of));
    match asked {
        Asked::Graph(question, of) => {
            let found = answers(program, *question, of, &[]).expect("it can be asked");
            let lines = found.iter().map(|answer| {
                format!("{} {}: {}\n", answer.of, answer.text(program), answer.reason.words(program))
            });
            (found.iter().map(|answer| answer.of).collect(), lines.collect())
        }
        Asked::Callers(of) => {
            let users = program.users_of((*of).into()).map(|(user, _)| user);
            let found: BTreeSet<Ref> =
                users.filter(|user| user.kind == lmlang_ir::RefKind::Function).collect();
            (found.clone(), found.into_iter().map(line).collect())
        }
        Asked::Impact(of) => {
            let found = impact(program, &[*of]);
            let refs = found.functions.iter().map(|of| Ref::from(*of));
            let refs = refs.chain(found.types.iter().map(|of| Ref::from(*of)));
            let refs: BTreeSet<Ref> = refs.chain(found.storage.iter().map(|of| Ref::from(*of))).collect();
            (refs.clone(), refs.into_iter().map(line).collect())
        }
        Asked::Callees(of) => {
            let found = reachable(program, [*of], petgraph::Direction::Outgoing);
            let refs: BTreeSet<Ref> = found.into_iter().map(Ref::from).collect();
            (refs.clone(), refs.into_iter().map(line).collect())
        }
    }
}

/// The same by a walk over everything.
fn computed(program: &Program, asked: &Asked) -> BTreeSet<Ref> {
    match asked {
        Asked::Graph(Question::DeadCode, _) => model::dead_code(program),
        Asked::Graph(Question::UnusedTypes, _) => model::unused_types(program),
        Asked::Graph(Question::MayTrap, of) => only(model::may_trap(program), of),
        Asked::Graph(Question::HasEffect, of) => only(model::has_effect(program), of),
        Asked::Graph(question @ (Question::Writers | Question::Readers), of) => {
            let write = *question == Question::Writers;
            match program.place(of[0]) {
                Some(lmlang_ir::Place::Member(owner, member)) => model::member(program, owner, member, write),
                _ => model::storage(program, of[0], write),
            }
        }
        Asked::Callers(of) => model::callers(program, *of),
        Asked::Impact(of) => model::dependents(program, *of),
        Asked::Callees(of) => {
            let mut found = BTreeSet::from([Ref::from(*of)]);
            loop {
                let before = found.len();
                for (callee, _) in program.functions() {
                    if model::callers(program, callee).iter().any(|caller| found.contains(caller)) {
                        found.insert(callee.into());
                    }
                }
                if found.len() == before {
                    return found;
                }
            }
        }
    }
}

fn only(found: BTreeSet<Ref>, of: &[Ref]) -> BTreeSet<Ref> {
    found.into_iter().filter(|one| of.is_empty() || of.contains(one)).collect()
}

fn questions(program: &Program) -> Vec<Asked> {
    let mut asked = vec![Asked::Graph(Question::UnusedTypes, Vec::new())];
    let functions: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
    // Evenly over the program, so that large ones do not ask about their beginnings only.
    let some = functions.iter().step_by(functions.len().div_ceil(3)).copied();
    for of in some {
        asked.push(Asked::Callers(of));
        asked.push(Asked::Impact(of.into()));
        asked.push(Asked::Callees(of));
        asked.push(Asked::Graph(Question::MayTrap, vec![of.into()]));
        asked.push(Asked::Graph(Question::HasEffect, vec![of.into()]));
    }
    if let Some((_, def)) = program.types().next() {
        for field in def.fields().iter().take(2) {
            asked.push(Asked::Graph(Question::Writers, vec![field.member.into()]));
            asked.push(Asked::Graph(Question::Readers, vec![field.member.into()]));
        }
    }
    asked.push(Asked::Graph(Question::DeadCode, Vec::new()));
    asked
}

/// 200 questions and more: all exact, at a tenth of the tokens of the text that would have to be read at most.
#[test]
fn two_hundred_questions_are_answered_exactly_and_briefly() {
    let mut programs = examples();
    programs.push(("library".to_owned(), library()));
    let tokenizer = Tokenizer::default();
    let (mut count, mut tokens_told, mut tokens_whole) = (0, 0, 0);
    for (name, program) in &programs {
        let whole = tokenizer.count(&print_program(program, Detail::Full));
        for asked in questions(program) {
            let (found, text) = told(program, &asked);
            assert_eq!(found, computed(program, &asked), "{name}, question {count}");
            count += 1;
            tokens_told += tokenizer.count(&text);
            tokens_whole += whole;
        }
    }
    assert!(count >= 200, "{count}");
    assert!(10 * tokens_told <= tokens_whole, "{tokens_told} of {tokens_whole} tokens in {count} answers");
}
