//! Derived state and hashes under arbitrary structural changes.

use std::sync::Arc;

use lmlang_ir::draft::Draft;
use lmlang_ir::graph::edges::edges_from;
use lmlang_ir::text::parse_program;
use lmlang_ir::{
    Function, FunctionHead, NodeContent, NodeRef, Program, Ref, RefAllocator, Region, RegionRef, Source,
};
use lmlang_testkit::{Options, config, edits, generate};
use proptest::prelude::*;

/// The same program, built anew entity by entity: in another order than any history had.
pub(crate) fn rebuilt(program: &Program) -> Program {
    let mut fresh = Program::new();
    for (of, storage) in program.all_storage() {
        fresh.add_storage(of, storage.clone()).unwrap();
    }
    let functions: Vec<_> = program.functions().collect();
    for (of, function) in functions.into_iter().rev() {
        let placeholder = FunctionHead { name: "later".into(), ..function.head().clone() };
        fresh.add_function(of, placeholder).unwrap();
        let mut writer = fresh.function_mut(of).unwrap();
        for (variable, record) in function.body().variables() {
            writer.add_variable(variable, record.clone()).unwrap();
        }
        for (contract, record) in function.body().contracts() {
            writer.add_contract(contract, record.clone()).unwrap();
        }
        let roots = function.body().regions().filter(|(region, _)| function.body().outer(*region).is_none());
        let mut stack: Vec<(RegionRef, Region)> =
            roots.map(|(region, record)| (region, record.clone())).collect();
        while let Some((region, record)) = stack.pop() {
            writer.add_region(region, record).unwrap();
            // From the last to the first, each at the front.
            let nodes: Vec<NodeRef> = function.body().nodes_in(region).collect();
            for node in nodes.into_iter().rev() {
                let content = function.body().node(node).unwrap().content();
                for inner in &content.regions {
                    stack.extend(function.body().region(*inner).map(|record| (*inner, record.clone())));
                }
                writer.insert_node(node, region, None, content).unwrap();
            }
        }
        writer.set_head(function.head().clone());
    }
    for (of, def) in program.types() {
        fresh.add_type(of, (**def).clone()).unwrap();
    }
    for (of, module) in program.modules() {
        fresh.add_module(of, module.clone()).unwrap();
    }
    fresh
}

/// The same program, each of its functions put together in one go: regions by ref, so that some come before their owners.
fn made_in_one_go(program: &Program) -> Program {
    let (mut fresh, mut draft) = (Program::new(), Draft::new());
    for (of, module) in program.modules() {
        fresh.add_module(of, module.clone()).unwrap();
    }
    for (of, function) in program.functions() {
        let body = function.body();
        for (region, record) in body.regions() {
            draft.add_region(region, record.clone()).unwrap();
            for node in body.nodes_in(region) {
                draft.append(node, region, body.node(node).unwrap().content()).unwrap();
            }
        }
        body.variables().for_each(|(of, variable)| draft.add_variable(of, variable.clone()));
        body.contracts().for_each(|(of, contract)| draft.add_contract(of, contract.clone()));
        let function = draft.finish(function.head().clone()).unwrap();
        fresh.add_whole_function(of, Arc::new(function)).unwrap();
    }
    for (of, def) in program.types() {
        fresh.add_type(of, (**def).clone()).unwrap();
    }
    for (of, storage) in program.all_storage() {
        fresh.add_storage(of, storage.clone()).unwrap();
    }
    fresh
}

/// Everything, the derived parts included: the printed form shows each field, and tries have one shape per content.
fn everything(program: &Program) -> String {
    program.root_hash();
    // Who uses what is noted when somebody asks.
    let uses: usize = program.functions().map(|(_, function)| function.body().all_users().count()).sum();
    format!("{uses}: {program:?}")
}

fn check_against_rebuilt(program: &Program) -> Result<(), TestCaseError> {
    let fresh = rebuilt(program);
    prop_assert_eq!(program, &fresh);
    prop_assert_eq!(program.totals(), fresh.totals());
    prop_assert_eq!(
        program.all_users().collect::<Vec<(Ref, Ref, u32)>>(),
        fresh.all_users().collect::<Vec<(Ref, Ref, u32)>>()
    );
    for (of, function) in program.functions() {
        let other: &Arc<Function> = fresh.function(of).unwrap();
        prop_assert_eq!(
            function.body().all_users().collect::<Vec<_>>(),
            other.body().all_users().collect::<Vec<_>>()
        );
        prop_assert_eq!(function.content_hash(), other.content_hash());
        let counts = function.body().counts();
        let edges = edges_from(function.body(), 0).count() as u64;
        prop_assert_eq!(edges, counts.data_edges + counts.control_edges, "the edges of {}", of);
    }
    prop_assert_eq!(program.root_hash(), fresh.root_hash());
    prop_assert!(everything(program) == everything(&fresh), "derived state depends on the history");
    let whole = made_in_one_go(program);
    prop_assert!(everything(program) == everything(&whole), "made in one go, something is another");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn derived_state_follows_every_change(
        generated in generate::programs(Options::small()),
        mut choices in generate::choices(400),
    ) {
        check_against_rebuilt(&generated.program)?;
        // What was made in one go is written to as all else.
        let (mut program, mut refs) = (made_in_one_go(&generated.program), generated.refs);
        let mut kept = Vec::new();
        for round in 0..40 {
            if choices.exhausted() {
                break;
            }
            if round % 7 == 0 {
                kept.push((program.clone(), everything(&program)));
            }
            let before = program.clone();
            if edits::structural(&mut program, &mut refs, &mut choices).is_err() {
                prop_assert_eq!(&before, &program, "a refused change left traces");
                prop_assert_eq!(before.root_hash(), program.root_hash());
            }
            prop_assert_eq!(before == program, before.root_hash() == program.root_hash());
        }
        check_against_rebuilt(&program)?;
        for (old, printed) in kept {
            prop_assert!(everything(&old) == printed, "a write reached an older revision");
        }
    }
}

#[test]
fn a_node_with_other_inputs_is_a_user_of_those_alone() {
    let text = "module m
func f (a: i32, b: i32) -> (i32) {
  c = add.i32 a, b
  d = add.i32 c, c
  return d
}
";
    let mut program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let (of, function) = program.functions().map(|(of, function)| (of, Arc::clone(function))).next().unwrap();
    let nodes: Vec<NodeRef> = function.body().nodes_in(function.body().root().unwrap()).collect();
    let [c, d, _] = nodes[..] else { panic!("{nodes:?}") };
    let (a, b, c) = (Some(Source::Param(of, 0)), Some(Source::Param(of, 1)), Some(Source::Node(c, 0)));
    let content = function.body().node(d).unwrap().content();
    // From here on its uses are kept along.
    assert_eq!(function.body().all_users().count(), 5);
    for inputs in [vec![c, a], vec![c, None, a], vec![None], vec![b, None, c, c], vec![], vec![c, c]] {
        let content = NodeContent { inputs: inputs.iter().copied().collect(), ..content.clone() };
        program.function_mut(of).unwrap().set_node(d, content).unwrap();
        check_against_rebuilt(&program).unwrap();
    }
}
