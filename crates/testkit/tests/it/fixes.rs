//! What is offered against a finding takes it away.

use std::collections::BTreeSet;

use lmlang_history::request::{
    AddEdge, AddText, At, EditRequest, InsertNode, InsertText, Remove, RemoveNode, ReplaceText, SetSignature,
    SetVisibility, expand,
};
use lmlang_ir::graph::values_in_scope;
use lmlang_ir::text::parse_program;
use lmlang_ir::{NodeRef, Program, RefAllocator, Visibility};
use lmlang_testkit::generate::{Options, choices, programs};
use lmlang_testkit::{Choices, config_of};
use lmlang_verify::{Class, Code, Diagnostic, Findings, Step, fixes, full};
use proptest::prelude::*;

fn edits(program: &Program, at: usize, step: Step) -> Vec<EditRequest> {
    let connect = |from: String, to: NodeRef, port| {
        EditRequest::AddEdge(AddEdge {
            from,
            to: to.to_string(),
            source_port: 0,
            target_port: port,
            replace: true,
        })
    };
    let removal = |of: String| Remove { of, cascade: true };
    vec![match step {
        Step::Connect { from, to, port } => connect(from, to, port),
        Step::Disconnect { node, port } => EditRequest::RemoveEdge(removal(format!("{node}.in{port}"))),
        Step::Convert { op, from, to, port } => {
            let insert = EditRequest::InsertNode(InsertNode {
                name_as: Some(format!("c{at}")),
                op,
                at: At { before: Some(to.to_string()), ..At::default() },
                inputs: vec![Some(from.to_string())],
                name: None,
            });
            return vec![insert, connect(format!("$c{at}"), to, port)];
        }
        Step::Remove(node) => EditRequest::RemoveNode(RemoveNode {
            of: node.to_string(),
            replace_uses_with: None,
            cascade: true,
        }),
        Step::RemoveVariable(of) => EditRequest::RemoveVar(removal(of.to_string())),
        Step::InsertText { region, text } => EditRequest::InsertText(InsertText {
            text,
            at: At { region: Some(region.to_string()), ..At::default() },
        }),
        Step::SetEffectBound { function, bound } => EditRequest::SetSignature(SetSignature {
            of: function.to_string(),
            params: None,
            results: None,
            effect_bound: Some(bound),
            rewrite_calls: false,
            defaults: Vec::new(),
        }),
        Step::Publish(of) => {
            EditRequest::SetVisibility(SetVisibility { of: of.to_string(), visibility: Visibility::Public })
        }
        Step::AddText { beside, text } => EditRequest::AddText(AddText {
            module: program.function(beside).map(|function| function.head().module.to_string()),
            text,
        }),
        Step::ReplaceStorage { of, text } => {
            EditRequest::ReplaceStorage(ReplaceText { of: of.to_string(), text, if_hash: None })
        }
    }]
}

fn errors(findings: &Findings) -> usize {
    findings.iter().filter(|(_, one)| one.class() == Class::Error).count()
}

/// Applies every fix of a finding: each is accepted, takes the finding away and brings no error. Tells how many there are.
#[track_caller]
fn check(program: &Program, refs: &RefAllocator, findings: &Findings, found: &Diagnostic) -> usize {
    let offered = fixes(program, found);
    for fix in &offered {
        let steps = fix.steps.iter().cloned().enumerate();
        let list: Vec<EditRequest> = steps.flat_map(|(at, step)| edits(program, at, step)).collect();
        let done = expand(program, &mut refs.clone(), &list)
            .unwrap_or_else(|refused| panic!("{found:?}\n{fix:?}\n{refused:?}"));
        let after = full(&done.program);
        let left = after.iter().any(|(_, one)| one.identity() == found.identity());
        assert!(!left, "{found:?}\n{fix:?}");
        assert!(errors(&after) <= errors(findings), "{found:?}\n{fix:?}");
    }
    offered.len()
}

/// The example of each code's page that is a program.
#[test]
fn the_examples_of_codes_are_mended() {
    let mut mended = BTreeSet::new();
    for code in Code::ALL {
        let mut refs = RefAllocator::starting_at(1);
        let Ok(program) = parse_program(code.page().example, &mut refs) else { continue };
        let findings = full(&program);
        for (_, found) in findings.iter().filter(|(_, one)| one.code == *code) {
            if check(&program, &refs, &findings, found) > 0 {
                mended.insert(code.name());
            }
        }
    }
    let expected = [
        "ARITY_MISMATCH",
        "EFFECT_BOUND_WIDER",
        "EFFECT_EXCEEDS_BOUND",
        "EMPTY_INPUT",
        "GLOBAL_IMMUTABLE",
        "MEMORY_MISSING",
        "MISSING_TERMINATOR",
        "NOT_VISIBLE",
        "PORT_GONE",
        "TYPE_MISMATCH",
        "UNREACHABLE_CODE",
        "UNUSED_VALUE",
        "VARIABLE_NEVER_READ",
    ];
    assert_eq!(mended.into_iter().collect::<Vec<_>>(), expected);
}

/// Leaves a hole, takes an end away, or gives a function another type of results.
fn damaged(program: &mut Program, choices: &mut Choices) -> Option<()> {
    let functions: Vec<_> =
        program.functions().filter(|(_, f)| f.body().root().is_some()).map(|f| f.0).collect();
    let of = *choices.pick(&functions)?;
    let body = program.function(of)?.body().clone();
    let nodes: Vec<NodeRef> = body.nodes().map(|(node, _)| node).collect();
    let node = *choices.pick(&nodes)?;
    let found = body.node(node)?;
    let mut open = program.function_mut(of).ok()?;
    match found.inputs().len() {
        0 => return None,
        _ if found.op().is_terminator() => drop(open.remove_node(node).ok()?),
        count => drop(open.set_input(node, choices.below(count), None).ok()?),
    }
    Some(())
}

proptest! {
    #![proptest_config(config_of(300))]

    #[test]
    fn a_fix_takes_its_finding_away(generated in programs(Options::small()), mut choices in choices(8)) {
        let mut program = generated.program.clone();
        for _ in 0..3 {
            damaged(&mut program, &mut choices);
        }
        let findings = full(&program);
        for (_, found) in findings.iter() {
            let offered = check(&program, &generated.refs, &findings, found);
            if found.code == Code::MissingTerminator {
                prop_assert_eq!(offered, 1);
            }
        }
    }

    /// What is said to be in scope may be connected.
    #[test]
    fn values_in_scope_are(generated in programs(Options::small()), mut choices in choices(4)) {
        let program = &generated.program;
        let users: Vec<NodeRef> = program
            .functions()
            .flat_map(|(_, function)| function.body().nodes().map(|(node, _)| node).collect::<Vec<_>>())
            .filter(|node| {
                let function = program.function_of((*node).into()).and_then(|of| program.function(of));
                function.and_then(|f| f.body().node(*node)).is_some_and(|node| !node.inputs().is_empty())
            })
            .collect();
        let Some(user) = choices.pick(&users).copied() else { return Ok(()) };
        let of = program.function_of(user.into()).unwrap();
        let function = program.function(of).unwrap();
        let before = errors(&full(program));
        for (source, _) in values_in_scope(program, of, function, user).take(20) {
            let mut changed = program.clone();
            changed.function_mut(of).unwrap().set_input(user, 0, Some(source)).unwrap();
            let codes: Vec<Code> = full(&changed).iter().map(|(_, one)| one.code).collect();
            prop_assert!(!codes.contains(&Code::NotInScope) && !codes.contains(&Code::UnknownSource));
            prop_assert!(!codes.contains(&Code::PortGone) || before > 0);
        }
    }
}
