//! What holds for any request.

use lmlang_ir::text::print_program;

use super::*;

/// A random request about the entities of a program, sensible or not.
fn random_request(program: &Program, (what, a, b, c): (u8, u32, u32, u32)) -> EditRequest {
    let refs = crate::testing::all_refs(program);
    let any = |by: u32, kinds: &[RefKind]| {
        let of: Vec<&Ref> = refs.iter().filter(|of| kinds.contains(&of.kind)).collect();
        match of.is_empty() || by.is_multiple_of(17) {
            true => ["n999", "$x", "$y", "x", "f", "", "$x.body"][by as usize % 7].to_owned(),
            false => of[by as usize % of.len()].to_string(),
        }
    };
    let of = |by, kind| any(by, &[kind]);
    let some_node = |by| of(by, RefKind::Node);
    let source = |by: u32| match by % 4 {
        0 => "a".to_owned(),
        1 => format!("{}.{}", of(by, RefKind::Region), by % 3),
        2 => ["1", "i64:1", "true", "\"x\"", "1x"][by as usize / 4 % 5].to_owned(),
        _ => some_node(by),
    };
    let at = |by: u32| match by % 4 {
        0 => within(&of(by / 4, RefKind::Function)),
        1 => region(&of(by / 4, RefKind::Region)),
        2 => after(&some_node(by / 4)),
        _ => At { before: Some(some_node(by / 4)), ..At::default() },
    };
    let op = |by: u32| {
        [
            "add.i32",
            "const.i32 7",
            "call f",
            "if -> (i32)",
            "loop (i: i32) -> ()",
            "block L -> ()",
            "return",
            "match (0, 1, default) -> ()",
            "match (1, default) -> ()",
            "yield",
            "var.get v",
            "sub.i64",
            "bad",
            "break $x",
        ][by as usize % 14]
            .to_owned()
    };
    let cascade = c.is_multiple_of(2);
    let nodes = |by: u32| match by % 3 {
        0 => vec![some_node(by)],
        // Neighbours, often.
        1 => (0..3).map(|more| some_node(by.saturating_add(more))).collect(),
        _ => (0..2).map(|more| some_node(by.wrapping_mul(more + 3))).collect(),
    };
    let target = |of: String| Target { name_as: cascade.then(|| "y".to_owned()), of };
    // The text of a function, as it is, with another operator, without one of its lines, or without refs and with a line more.
    let whole = |by: u32, how: u32| {
        let functions: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
        let Some(at) = (by as usize).checked_rem(functions.len()) else {
            return ("f2".into(), String::new());
        };
        let text = print_function(program, functions[at], Detail::Full);
        let parts = text.split('#').enumerate().map(|(index, part)| match index {
            0 => part,
            _ => part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
        });
        let bare: String = parts.collect();
        let with = |line: &str| bare.replacen("{\n", &format!("{{\n  {line}\n"), 1);
        let text = match how % 6 {
            0 => text,
            1 => text.replacen("add.i32", "sub.i32", 1),
            2 => bare,
            3 => with("var more: i32"),
            4 => with("require \"m\" = true"),
            _ => {
                let left = how as usize / 6 % text.lines().count().max(1);
                let kept = text.lines().enumerate().filter(|(line, _)| *line != left);
                kept.map(|(_, line)| format!("{line}\n")).collect()
            }
        };
        (functions[at].to_string(), text)
    };
    let replace = |of: String, text: String| ReplaceText { of, text, if_hash: None };
    let name = ["f", "h", "x", "cell", "a b", "n5", ""][b as usize % 7];
    match what % 40 {
        0..=4 => EditRequest::InsertNode(InsertNode {
            name_as: a.is_multiple_of(3).then(|| ["x", "y"][b as usize % 2].to_owned()),
            op: op(a),
            at: at(b),
            inputs: vec![Some(source(c)), c.is_multiple_of(3).then(|| source(a))],
            name: b.is_multiple_of(2).then(|| "x".to_owned()),
        }),
        5 | 6 => EditRequest::RemoveNode(RemoveNode {
            of: some_node(a),
            replace_uses_with: b.is_multiple_of(3).then(|| source(b)),
            cascade,
        }),
        7 | 8 => EditRequest::ModifyNode(ModifyNode { of: some_node(a), op: op(b) }),
        9 | 10 => EditRequest::MoveNode(MoveNode { of: some_node(a), at: at(b) }),
        11 => EditRequest::AddControlEdge(AddControlEdge {
            from: some_node(a),
            to: some_node(b),
            branch_index: cascade.then_some(c % 3),
        }),
        12 => edge(&source(a), &some_node(b), c as u16 % 4, cascade),
        13 => EditRequest::RemoveEdge(remove(&format!("{}.in{}", some_node(a), b % 3), false)),
        14 => EditRequest::ReplaceUses(ReplaceUses { of: some_node(a), with: source(b) }),
        15 => EditRequest::AddVar(AddVar {
            name_as: None,
            function: of(a, RefKind::Function),
            name: Some("v".into()),
            ty: ["i32", "P", "option<i64>", "bad<"][b as usize % 4].to_owned(),
        }),
        16 => match b % 6 {
            0 => EditRequest::RemoveFunction(remove(&of(a, RefKind::Function), cascade)),
            1 => EditRequest::RemoveVar(remove(&of(a, RefKind::Variable), cascade)),
            2 => EditRequest::RemoveType(remove(&of(a, RefKind::Type), cascade)),
            3 => EditRequest::RemoveContract(remove(&of(a, RefKind::Contract), cascade)),
            4 => EditRequest::RemoveModule(remove(&of(a, RefKind::Module), cascade)),
            _ => EditRequest::AddType(AddType {
                name_as: None,
                module: None,
                text: format!("type P = struct {{ x: {} }}", ["i32", "box<P>"][b as usize % 2]),
            }),
        },
        17 => EditRequest::SetSignature(SetSignature {
            of: of(a, RefKind::Function),
            params: cascade
                .then(|| vec![ParamRequest { name: ["a", "b"][b as usize % 2].into(), ty: "i64".into() }]),
            results: b.is_multiple_of(2).then(|| vec!["i32".into(); c as usize % 3]),
            effect_bound: None,
            rewrite_calls: c.is_multiple_of(3),
            defaults: if b.is_multiple_of(3) { vec![source(c)] } else { Vec::new() },
        }),
        18 => EditRequest::AddContract(AddContract {
            name_as: None,
            of: of(a, RefKind::Function),
            kind: [ConditionKind::Require, ConditionKind::Ensure][b as usize % 2],
            message: "m".into(),
            text: ["true", "eqz.i32 a", "yield true"][c as usize % 3].into(),
        }),
        19 => EditRequest::PromoteVar(PromoteVar { of: of(a, RefKind::Variable) }),
        20 => EditRequest::DemoteToVar(DemoteToVar {
            name_as: None,
            of: if b.is_multiple_of(3) { source(a) } else { some_node(a) },
        }),
        21 => EditRequest::Wrap(Wrap {
            name_as: None,
            refs: nodes(c),
            op: ["block", "loop", "if", "match (0, default)", "block -> (i32)"][b as usize % 5].to_owned(),
        }),
        22 => EditRequest::Unwrap(target(any(a, &[RefKind::Node, RefKind::Region]))),
        23 => EditRequest::ExtractFunction(ExtractFunction {
            name_as: None,
            refs: nodes(c),
            name: "part".to_owned(),
            module: None,
        }),
        24 => EditRequest::InlineCall(target(some_node(a))),
        25 => EditRequest::AddLoopParam(AddLoopParam {
            of: some_node(a),
            name: "more".to_owned(),
            ty: ["i32", "i64"][b as usize % 2].to_owned(),
            initial: source(b),
            next: source(c),
        }),
        26 => EditRequest::AddResult(AddResult {
            of: any(a, &[RefKind::Node, RefKind::Function]),
            ty: ["i32", "i64"][b as usize % 2].to_owned(),
            default: source(c),
        }),
        27 => EditRequest::ReplaceSubgraph(ReplaceSubgraph {
            refs: nodes(c),
            text: ["q = add.i32 a, 1\nyield q", "yield", "x = add.i32 a, 2", "yield 1, 2"][b as usize % 4]
                .to_owned(),
        }),
        28 => EditRequest::ReplacePattern(ReplacePattern {
            pattern: ["add.i32 $p, $q", "const.i32 1", "sub.i32 $p, (add.i32 $q, _)", "if $p {"]
                [a as usize % 4]
                .to_owned(),
            replacement: ["$p", "sub.i32 $q, $p", "1", "$x", "yield $p, $q"][b as usize % 5].to_owned(),
            within: None,
            limit: 100,
        }),
        29 => {
            let text = [
                "func k () -> () { return }",
                "func k (p: P) -> () { return }",
                "type P = struct { x: i32 }",
            ];
            let module = cascade.then(|| of(a, RefKind::Module));
            EditRequest::AddText(AddText { module, text: text[b as usize % 3].to_owned() })
        }
        30 | 31 => {
            let (of, text) = whole(a, b);
            EditRequest::ReplaceFunctionText(replace(of, text))
        }
        32 => {
            let text = print_program(program, Detail::Full);
            let text = if cascade { text } else { text.replacen("mul.i32", "sub.i32", 1) };
            EditRequest::ReplaceModuleText(replace(of(a, RefKind::Module), text))
        }
        33 => EditRequest::AddModule(AddModule {
            name_as: None,
            name: name.to_owned(),
            parent: cascade.then(|| of(a, RefKind::Module)),
            visibility: Visibility::Public,
            doc: None,
        }),
        34 => match c % 5 {
            0 => EditRequest::RenameModule(rename(&of(a, RefKind::Module), name)),
            1 => EditRequest::RenameType(rename(&of(a, RefKind::Type), name)),
            2 => EditRequest::RenameFunction(rename(&of(a, RefKind::Function), name)),
            3 => EditRequest::RenameVar(rename(&of(a, RefKind::Variable), name)),
            _ => EditRequest::RenameNode(rename(&some_node(a), name)),
        },
        35 => EditRequest::MoveFunction(MoveFunction {
            of: of(a, RefKind::Function),
            module: of(b, RefKind::Module),
        }),
        36 => EditRequest::SetVisibility(SetVisibility {
            of: any(a, &[RefKind::Function, RefKind::Module, RefKind::Type]),
            visibility: if cascade { Visibility::Public } else { Visibility::Private },
        }),
        37 => EditRequest::ReplaceType(replace(
            of(a, RefKind::Type),
            ["type P = struct { x: i64 }", "type P = enum { x, y(P) }", "type P = enum { x, y(i32) }"]
                [b as usize % 3]
                .to_owned(),
        )),
        38 => match cascade {
            true => EditRequest::ReplaceContract(replace(
                of(a, RefKind::Contract),
                ["require \"m\" = true", "ensure \"m\" = eqz.i32 result"][b as usize % 2].to_owned(),
            )),
            false => EditRequest::AddClosure(AddFunction {
                name_as: None,
                name: name.to_owned(),
                module: None,
                params: vec![ParamRequest { name: "a".into(), ty: "i32".into() }],
                results: vec!["i32".into()],
                captures: vec![ParamRequest { name: "k".into(), ty: "i32".into() }],
                visibility: Visibility::Private,
                effect_bound: EffectBound::Pure,
                doc: None,
                body: Some("return (add.i32 a, (capture.get k))".to_owned()),
            }),
        },
        _ => match b % 3 {
            0 => EditRequest::InsertText(InsertText { text: "q = add.i32 a, 1".into(), at: at(a) }),
            1 => function("h", cascade.then_some("return p")),
            _ => EditRequest::SetDoc(SetDoc {
                of: any(a, &RefKind::ALL),
                doc: cascade.then(|| "d".to_owned()),
            }),
        },
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: crate::testing::cases(), ..Default::default() })]

    /// Whatever is asked for: an answer, edits that lead there and back, and refs that were never there before.
    #[test]
    fn any_request_is_answered(steps in proptest::collection::vec(crate::testing::choices(5), 1..12)) {
        let mut refs = RefAllocator::starting_at(1);
        let mut program = parse_program(DEMO, &mut refs).unwrap();
        let mut ever: BTreeSet<u64> = crate::testing::all_refs(&program).iter().map(|of| of.number).collect();
        for choices in steps {
            let edits: Vec<EditRequest> = choices.iter().map(|choice| random_request(&program, *choice)).collect();
            let Ok(done) = expand(&program, &mut refs, &edits) else { continue };
            let mut replayed = program.clone();
            apply_all(&mut replayed, &done.edits).unwrap();
            proptest::prop_assert!(replayed == done.program);
            proptest::prop_assert_eq!(replayed.root_hash(), done.program.root_hash());
            apply_all(&mut replayed, &invert_all(&done.edits, &program).unwrap()).unwrap();
            proptest::prop_assert!(replayed == program);
            proptest::prop_assert_eq!(done.counts, crate::counts(&program, &done.program));
            for of in crate::testing::all_refs(&done.program) {
                if program.ref_of(of.number).is_none() {
                    proptest::prop_assert!(ever.insert(of.number), "{of} was there before");
                }
            }
            proptest::prop_assert!(ever.last().is_none_or(|last| *last < refs.watermark()));
            let mut ahead = refs.clone();
            for (of, _) in done.program.functions() {
                for number in (0..20).filter_map(|_| ahead.allocate_in(of)) {
                    proptest::prop_assert!(!ever.contains(&number), "{number} would be handed out again");
                }
            }
            program = done.program;
        }
    }
}
