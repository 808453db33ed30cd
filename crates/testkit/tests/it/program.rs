//! What generated programs are like.

use lmlang_ir::ops::ports;
use lmlang_ir::{Function, Program, Source};
use lmlang_testkit::{Options, config, generate};
use proptest::prelude::*;

/// Every input has a source of the type that it takes, by the ports of `ir`.
fn check_types(program: &Program) -> Result<(), TestCaseError> {
    for (of, function) in program.functions() {
        for (node, content) in function.body().nodes() {
            let context = || format!("{of} {node} {content:?}");
            let Some(ports) = ports(program, function, content) else {
                return Err(TestCaseError::fail(format!("no ports: {}", context())));
            };
            prop_assert_eq!(ports.inputs.len(), content.inputs().len(), "{}", context());
            for (taken, source) in ports.inputs.iter().zip(content.inputs().iter()) {
                let given = source.and_then(|source| type_of(program, function, source));
                prop_assert!(given.is_some_and(|ty| taken.accepts(&ty)), "{}", context());
            }
        }
        for (region, content) in function.body().regions() {
            prop_assert!(function.body().terminator(region).is_some(), "{region} {content:?}");
        }
    }
    Ok(())
}

fn type_of(program: &Program, function: &Function, source: Source) -> Option<lmlang_ir::Type> {
    lmlang_ir::ops::signature::source_type(program, function, source)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_programs_are_well_typed(generated in generate::programs(Options::default())) {
        check_types(&generated.program)?;
    }

    #[test]
    fn seeded_programs_are_well_typed_and_the_same_again(seed in any::<u64>()) {
        let options = Options::default();
        let generated = generate::seeded(seed, &options);
        check_types(&generated.program)?;
        prop_assert_eq!(generated.program.root_hash(), generate::seeded(seed, &options).program.root_hash());
    }
}

#[test]
fn every_operator_is_generated() {
    let mut seen = std::collections::BTreeSet::new();
    let mut nodes = 0;
    for seed in 0..600 {
        let options = Options { functions: 6, nodes: 120, ..Options::default() };
        let program = generate::seeded(seed, &options).program;
        nodes += program.totals().counts.nodes;
        for (_, function) in program.functions() {
            seen.extend(function.body().nodes().map(|(_, node)| node.op().code()));
        }
    }
    let missing: Vec<&str> = lmlang_ir::ops::OPS
        .iter()
        .filter(|spec| !seen.contains(&spec.code))
        .map(|spec| spec.mnemonic)
        .collect();
    assert_eq!(missing, ["raw"], "{nodes} nodes");
}

/// Nothing that is wrong, missing or left behind: warnings are all that the verifier finds.
fn check_complete(program: &Program) -> Result<(), TestCaseError> {
    for (_, found) in lmlang_verify::full(program).iter() {
        prop_assert!(
            found.class() == lmlang_verify::Class::Warning,
            "{} at {:?}: {}",
            found.code,
            found.at,
            found.message(program)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_programs_are_complete(generated in generate::programs(Options::default())) {
        check_complete(&generated.program)?;
    }

    #[test]
    fn typed_edits_keep_programs_complete(
        generated in generate::programs(Options::small()),
        mut choices in generate::choices(300),
    ) {
        let (mut program, mut refs) = (generated.program, generated.refs);
        let options = Options::small();
        for _ in 0..20 {
            let before = program.clone();
            let done = lmlang_testkit::edits::typed(&mut program, &mut refs, &mut choices, &options);
            if done.is_none() {
                prop_assert_eq!(&before, &program);
            }
            if choices.exhausted() {
                break;
            }
        }
        check_types(&program)?;
        check_complete(&program)?;
    }
}
