//! Code that is wrapped, unwrapped, taken out, put in, rewritten, renamed and moved gives what it gave, and comes back exactly.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use lmlang_history::request::{
    AddLoopParam, AddResult, EditRequest, ExtractFunction, MoveFunction, ParamRequest, Rename,
    ReplacePattern, SetSignature, Target, Wrap, code,
};
use lmlang_ir::{Attr, Body, FuncRef, Function, ModuleRef, NodeRef, Opcode, Program, RegionRef};
use lmlang_testkit::generate::values::arguments;
use lmlang_testkit::{Choices, Options, config_of, generate};
use lmlang_verify::{Checked, Code};
use proptest::prelude::*;

use crate::promoting::{alike, edited, sound};

/// What may stand in the way of a refactoring that was chosen by chance.
const REFUSALS: &[&str] = &[
    code::NOT_TOGETHER,
    code::NOT_EXTRACTABLE,
    code::NOT_INLINABLE,
    code::NOT_UNWRAPPABLE,
    code::SHARED_EXIT,
    code::NO_MATCH,
    code::TOO_MANY_MATCHES,
];

fn some_function<'p>(program: &'p Program, choices: &mut Choices) -> Option<(FuncRef, &'p Function)> {
    let all: Vec<(FuncRef, &Function)> = program
        .functions()
        .filter(|(_, of)| of.body().root().is_some())
        .map(|(of, f)| (of, f.as_ref()))
        .collect();
    choices.pick(&all).copied()
}

fn some_node(body: &Body, choices: &mut Choices, fits: impl Fn(NodeRef) -> bool) -> Option<NodeRef> {
    let all: Vec<NodeRef> = body.nodes().map(|(node, _)| node).filter(|node| fits(*node)).collect();
    choices.pick(&all).copied()
}

/// Nodes of a region that follow each other, more or less.
fn some_run(body: &Body, choices: &mut Choices) -> Vec<String> {
    let regions: Vec<RegionRef> = body
        .regions()
        .map(|(region, _)| region)
        .filter(|region| body.nodes_in(*region).nth(1).is_some())
        .collect();
    let Some(region) = choices.pick(&regions) else { return Vec::new() };
    let nodes: Vec<NodeRef> = body.nodes_in(*region).collect();
    let start = choices.below(nodes.len());
    let length = 1 + choices.below(6);
    let run = nodes.iter().skip(start).take(length);
    let ends = |node: &&NodeRef| body.node(**node).is_some_and(|found| found.op().is_terminator());
    let gaps = choices.chance(20);
    run.filter(|node| !ends(node)).filter(|_| !gaps || choices.chance(60)).map(ToString::to_string).collect()
}

/// A refactoring that keeps what runs give, with its name and the function whose signature it changes.
fn some_refactoring(
    program: &Program,
    choices: &mut Choices,
    count: usize,
) -> Option<(&'static str, EditRequest, Option<FuncRef>)> {
    let (of, function) = some_function(program, choices)?;
    let body = function.body();
    let op_of = |node: NodeRef| body.node(node).map(|found| found.op().code());
    let target = |node: NodeRef| Target { name_as: None, of: node.to_string() };
    Some(match choices.below(10) {
        0 => {
            let op = ["block", "block B", "loop", "loop L"][choices.below(4)].to_owned();
            ("wrap", EditRequest::Wrap(Wrap { name_as: None, refs: some_run(body, choices), op }), None)
        }
        1 => {
            let owns = |node| matches!(op_of(node), Some(Opcode::Block | Opcode::Loop | Opcode::If));
            ("unwrap", EditRequest::Unwrap(target(some_node(body, choices, owns)?)), None)
        }
        2 => {
            let (refs, name) = (some_run(body, choices), format!("extracted{count}"));
            let edit = ExtractFunction { name_as: None, refs, name, module: None };
            ("extractFunction", EditRequest::ExtractFunction(edit), None)
        }
        3 => {
            let call = some_node(body, choices, |node| op_of(node) == Some(Opcode::Call))?;
            ("inlineCall", EditRequest::InlineCall(target(call)), None)
        }
        4 => {
            let node = some_node(body, choices, |node| op_of(node) == Some(Opcode::Loop))?;
            let edit = AddLoopParam {
                of: node.to_string(),
                name: format!("more{count}"),
                ty: "i64".to_owned(),
                initial: "7".to_owned(),
                next: if choices.chance(50) { format!("more{count}") } else { "8".to_owned() },
            };
            ("addLoopParam", EditRequest::AddLoopParam(edit), None)
        }
        5 => {
            let owns = |node: NodeRef| body.node(node).is_some_and(|found| found.op().owns_regions());
            let node = some_node(body, choices, owns)?.to_string();
            let edit = AddResult { of: node, ty: "i64".to_owned(), default: "3".to_owned() };
            ("addResult", EditRequest::AddResult(edit), None)
        }
        6 => {
            let referred = |node: &lmlang_ir::Node| {
                matches!(node.op().code(), Opcode::FuncRef | Opcode::ClosureNew)
                    && *node.op().attr() == Attr::Function(of)
            };
            let taken =
                program.functions().any(|(_, other)| other.body().nodes().any(|(_, node)| referred(node)));
            let fixed = function.head().start || !function.head().exports.is_empty() || taken;
            if fixed || program.all_storage().next().is_some() {
                return None;
            }
            let module = function.head().module;
            let mut params: Vec<ParamRequest> = Vec::new();
            for param in function.head().params.iter().rev() {
                let ty = lmlang_ir::text::print_type_name(program, Some(module), &param.ty);
                params.push(ParamRequest { name: param.name.to_string(), ty });
            }
            params.push(ParamRequest { name: format!("new{count}"), ty: "i64".to_owned() });
            let edit = SetSignature {
                of: of.to_string(),
                params: Some(params),
                results: None,
                effect_bound: None,
                rewrite_calls: true,
                defaults: vec!["5".to_owned()],
            };
            ("setSignature", EditRequest::SetSignature(edit), Some(of))
        }
        7 => {
            let edit = Rename { of: of.to_string(), name: format!("renamed{count}") };
            ("renameFunction", EditRequest::RenameFunction(edit), None)
        }
        8 => {
            let modules: Vec<ModuleRef> = program.modules().map(|(module, _)| module).collect();
            let module = choices.pick(&modules)?.to_string();
            let edit = MoveFunction { of: of.to_string(), module };
            ("moveFunction", EditRequest::MoveFunction(edit), None)
        }
        _ => {
            let (pattern, replacement) = [
                ("add.i64 $a, $b", "add.i64 $b, $a"),
                ("mul.i32 $a, $b", "mul.i32 $b, $a"),
                ("xor.i64 $a, $b", "or.i64 (and.i64 $a, (xor.i64 $b, -1)), (and.i64 (xor.i64 $a, -1), $b)"),
                ("eqz.i64 $a", "eq.i64 $a, 0"),
                ("sub.i32 $a, $b", "add.i32 $a, (sub.i32 0, $b)"),
                ("select<i64> $c, $a, $b", "s = if $c -> (i64) { yield $a } else { yield $b }\nyield s"),
            ][choices.below(6)];
            let edit = ReplacePattern {
                pattern: pattern.to_owned(),
                replacement: replacement.to_owned(),
                within: choices.chance(50).then(|| vec![of.to_string()]),
                limit: 50,
            };
            ("replacePattern", EditRequest::ReplacePattern(edit), None)
        }
    })
}

/// Whether code was moved to where it may not name what it names.
fn hidden(program: &Program) -> bool {
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    checked.findings().iter().any(|(_, found)| found.code == Code::NotVisible)
}

/// How often which refactoring was carried out.
fn refactor(seed: (u64, bool), mut choices: Choices, steps: usize) -> BTreeMap<&'static str, usize> {
    let options = Options { contracts: seed.1, ..Options::default() };
    let generated = generate::seeded(seed.0, &options);
    let mut refs = generated.refs;
    let mut before = Checked::full(generated.program, NonZeroUsize::MIN);
    let mut counts = BTreeMap::new();
    for count in 0..steps {
        let Some((name, edit, other)) = some_refactoring(before.program(), &mut choices, count) else {
            continue;
        };
        let after = match edited(before.program(), &mut refs, std::slice::from_ref(&edit)) {
            Ok(after) => after,
            Err(codes) => {
                assert!(codes.iter().all(|code| REFUSALS.contains(code)), "{codes:?} {edit:?}");
                continue;
            }
        };
        if matches!(name, "inlineCall" | "moveFunction") && hidden(&after) && !hidden(before.program()) {
            continue;
        }
        let after = sound(after, &before);
        for of in before.program().functions().map(|(of, _)| of).collect::<Vec<FuncRef>>() {
            if Some(of) == other {
                continue;
            }
            let Some(args) = arguments(before.program(), of, &mut choices) else { continue };
            alike(&before, &after, of, &args);
        }
        before = after;
        *counts.entry(name).or_default() += 1;
    }
    counts
}

proptest! {
    #![proptest_config(config_of(300))]

    #[test]
    fn refactorings_keep_what_runs_give(
        seed in any::<(u64, bool)>(),
        choices in generate::choices(400),
    ) {
        refactor(seed, choices, 15);
    }
}

#[test]
fn every_refactoring_is_carried_out() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..60 {
        for (name, count) in refactor((seed, seed % 3 == 0), Choices::seeded(seed + 1000), 50) {
            *counts.entry(name).or_default() += count;
        }
    }
    println!("{counts:?}");
    let names = [
        "addLoopParam",
        "addResult",
        "extractFunction",
        "inlineCall",
        "moveFunction",
        "renameFunction",
        "replacePattern",
        "setSignature",
        "unwrap",
        "wrap",
    ];
    for name in names {
        assert!(counts.get(name).is_some_and(|count| *count >= 10), "{name}: {counts:?}");
    }
}
