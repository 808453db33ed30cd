//! Each code, with the smallest program that has it.

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_ir::ops::{Attr, MemArg, Opcode};
use lmlang_ir::*;
use lmlang_verify::{Code, full};

use crate::build::{Build, Func, cases, control, i32_op, no_node, number, op, plain, value};

/// A function over `i32` to build in.
fn start() -> (Build, Func) {
    let mut b = Build::new();
    let f = b.func("f", &[Type::I32], &[Type::I32]);
    (b, f)
}

/// The codes found, each once.
fn codes(program: &Program) -> Vec<Code> {
    let findings = full(program);
    for (_, one) in findings.iter() {
        let text = one.message(program);
        assert!(
            !text.is_empty() && !text.ends_with('.') && !text.contains("nothing"),
            "{:?}: {text}",
            one.code
        );
        assert!(text.starts_with(|first: char| !first.is_uppercase()), "{text}");
    }
    findings.iter().map(|(_, one)| one.code).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Case_ {
    code: Code,
    program: Program,
    also: &'static [Code],
}

fn case(code: Code, b: Build) -> Case_ {
    Case_ { code, program: b.program, also: &[] }
}

fn with(code: Code, b: Build, also: &'static [Code]) -> Case_ {
    Case_ { code, program: b.program, also }
}

fn edges() -> Vec<Case_> {
    let mut all = Vec::new();

    let (mut b, f) = start();
    let add = NodeContent::new(i32_op(Opcode::Add), [Some(f.param(0)), None]);
    let sum = b.node_with(f.of, f.root, add);
    b.ret(f, &[value(sum)]);
    all.push(case(Code::EmptyInput, b));

    let (mut b, f) = start();
    b.ret(f, &[value(no_node())]);
    all.push(case(Code::UnknownSource, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(1)]);
    all.push(case(Code::PortGone, b));

    let (mut b, f) = start();
    let long = b.node(f.of, f.root, Op::constant(Const::I64(1)), &[]);
    b.ret(f, &[value(long)]);
    all.push(case(Code::TypeMismatch, b));

    let (mut b, f) = start();
    let (_, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    let hidden = b.node(f.of, inner[0], number(1), &[]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[value(hidden)]);
    all.push(case(Code::NotInScope, b));

    let (mut b, f) = start();
    let ret = b.ret(f, &[]);
    let late = b.node(f.of, f.root, number(1), &[]);
    b.change(f.of).move_node(ret, f.root, Some(late)).expect("moves");
    b.change(f.of)
        .set_node(ret, NodeContent::new(plain(Opcode::Return), [Some(value(late))]))
        .expect("exists");
    b.change(f.of).move_node(late, f.root, Some(ret)).expect("moves");
    all.push(with(Code::NotInScope, b, &[Code::MissingTerminator, Code::CodeAfterTerminator]));

    let (mut b, f) = start();
    let sum = b.node(f.of, f.root, i32_op(Opcode::Add), &[f.param(0), f.param(0), f.param(0)]);
    b.ret(f, &[value(sum)]);
    all.push(case(Code::InputCount, b));

    let (mut b, f) = start();
    b.ret(f, &[]);
    all.push(case(Code::ArityMismatch, b));
    all
}

fn regions() -> Vec<Case_> {
    let mut all = Vec::new();

    let (b, _) = start();
    all.push(case(Code::MissingTerminator, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    b.node(f.of, f.root, plain(Opcode::Unreachable), &[]);
    all.push(case(Code::CodeAfterTerminator, b));

    let (mut b, f) = start();
    b.node(f.of, f.root, plain(Opcode::Yield), &[]);
    all.push(case(Code::YieldOutsideNode, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let region = b.contract(f.of, ContractKind::Require, &[]);
    b.node(f.of, region, plain(Opcode::Return), &[f.param(0)]);
    all.push(case(Code::ReturnInContract, b));

    let (mut b, f) = start();
    b.node(f.of, f.root, op(Opcode::Break, Attr::Exit(no_node())), &[]);
    all.push(case(Code::UnknownLabel, b));

    let (mut b, f) = start();
    let (block, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    b.node(f.of, inner[0], op(Opcode::Continue, Attr::Exit(block)), &[]);
    b.node(f.of, f.root, plain(Opcode::Unreachable), &[]);
    all.push(case(Code::ContinueNotLoop, b));

    let (mut b, f) = start();
    let (block, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    let targets: Arc<[Exit]> = Arc::new([Exit::Break(block), Exit::Return]);
    b.node(f.of, inner[0], op(Opcode::BrSwitch, Attr::Switch(targets)), &[f.param(0), f.param(0)]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::SwitchTargetsDiffer, b));

    let (mut b, f) = start();
    let truth = b.node(f.of, f.root, i32_op(Opcode::Eqz), &[f.param(0)]);
    let (_, inner) =
        b.owner(f.of, f.root, control(Opcode::If, &[]), &[value(truth)], &[(RegionRole::Then, &[])]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::RegionCount, b));

    let (mut b, f) = start();
    let (_, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Else, &[])]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::RegionRoleWrong, b));

    let (mut b, f) = start();
    let (_, inner) =
        b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[Type::I32])]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::RegionParams, b));

    let (mut b, f) = start();
    let (block, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    b.list(f.of, block, vec![RegionRef::new(90_000).expect("in range")]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(with(Code::UnknownRegion, b, &[Code::StrayRegion]));

    let (mut b, f) = start();
    let (_, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    let thief = b.node(f.of, f.root, control(Opcode::Block, &[]), &[]);
    b.list(f.of, thief, inner.clone());
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::RegionNotOwned, b));

    let (mut b, f) = start();
    let truth = b.node(f.of, f.root, i32_op(Opcode::Eqz), &[f.param(0)]);
    let (either, inner) =
        b.owner(f.of, f.root, control(Opcode::If, &[]), &[value(truth)], &[(RegionRole::Then, &[])]);
    b.list(f.of, either, vec![inner[0], inner[0]]);
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::DuplicateRegion, b));

    let (mut b, f) = start();
    let (block, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    b.list(f.of, block, Vec::new());
    b.node(f.of, inner[0], plain(Opcode::Yield), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(with(Code::StrayRegion, b, &[Code::RegionCount]));
    all
}

fn operators() -> Vec<Case_> {
    let mut all = Vec::new();

    let (mut b, f) = start();
    let fixed = Type::FixedArray(Arc::new(Type::I32), 1);
    let array = b.node(f.of, f.root, op(Opcode::ArrayNew, Attr::Type(fixed.clone())), &[f.param(0)]);
    let inputs = [value(array), f.param(0)];
    let pushed = b.node(f.of, f.root, op(Opcode::ArrayPush, Attr::Type(fixed.clone())), &inputs);
    let len = b.node(f.of, f.root, op(Opcode::ArrayLen, Attr::Type(fixed)), &[value(pushed)]);
    b.ret(f, &[value(len)]);
    all.push(case(Code::FixedLength, b));

    let (mut b, f) = start();
    let shape = b.variants(&[("only", None)]);
    let of = b.add_type("Shape", shape);
    b.node(f.of, f.root, op(Opcode::StructNew, Attr::Named(of)), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(with(Code::WrongTypeShape, b, &[Code::UnusedValue]));

    let (mut b, f) = start();
    let shape = b.fields(&[("x", Type::I32)]);
    let of = b.add_type("Point", shape);
    let point = b.node(f.of, f.root, op(Opcode::StructNew, Attr::Named(of)), &[f.param(0)]);
    let gone = MemberRef::new(90_000).expect("in range");
    let got = b.node(f.of, f.root, op(Opcode::StructGet, Attr::Field(of, gone)), &[value(point)]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::UnknownMember, b));

    let (mut b, f) = start();
    let got = b.node(f.of, f.root, op(Opcode::CaptureGet, Attr::Index(0)), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::UnknownCapture, b));

    let mut b = Build::new();
    let f = b.func("f", &[Type::Named(TypeRef::new(90_000).expect("in range"))], &[]);
    b.ret(f, &[]);
    all.push(case(Code::UnknownType, b));

    let (mut b, f) = start();
    let gone = VarRef::new(90_000).expect("in range");
    let got = b.node(f.of, f.root, op(Opcode::VarGet, Attr::Variable(gone)), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::UnknownVariable, b));

    let (mut b, f) = start();
    let got = b.node(f.of, f.root, op(Opcode::GlobalGet, Attr::Variable(gone)), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::UnknownStorage, b));

    let (mut b, f) = start();
    let data = b.storage("words", StorageKind::Data { offset: None, bytes: Arc::new([1]) });
    let got = b.node(f.of, f.root, op(Opcode::GlobalGet, Attr::Variable(data)), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::WrongStorage, b));

    let mut b = Build::new();
    b.storage("hosts", StorageKind::Table { ty: Type::I32, entries: vec![None], max: None });
    all.push(case(Code::NoReference, b));

    let mut b = Build::new();
    let (section, bytes) = ("name".into(), Arc::from([0]));
    b.storage("labels", StorageKind::Custom { section, place: SectionPlace::Last, bytes });
    all.push(case(Code::ReservedSection, b));

    let (mut b, f) = start();
    let kind = StorageKind::Global { ty: Type::I32, mutable: false, initial: Const::I32(0).into() };
    let limit = b.storage("limit", kind);
    b.node(f.of, f.root, op(Opcode::GlobalSet, Attr::Variable(limit)), &[f.param(0)]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::GlobalImmutable, b));

    let mut b = Build::new();
    b.storage("g", StorageKind::Global { ty: Type::I64, mutable: false, initial: Const::I32(0).into() });
    all.push(case(Code::GlobalInitial, b));

    let (mut b, f) = start();
    let got = b.node(f.of, f.root, Op::call(FuncRef::new(90_000).expect("in range")), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::UnknownFunction, b));

    let (mut b, f) = start();
    let other = b.module("other", None, Visibility::Public);
    let g = b.func("g", &[], &[Type::I32]);
    b.set_head(g.of, |head| head.module = other);
    let one = b.node(g.of, g.root, number(1), &[]);
    b.ret(g, &[value(one)]);
    let got = b.node(f.of, f.root, Op::call(g.of), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::NotVisible, b));

    let (mut b, f) = start();
    let inner = b.module("inner", Some(b.module), Visibility::Public);
    b.set_head(f.of, |head| head.module = inner);
    let g = b.func("g", &[], &[Type::I32]);
    let hidden = b.module("hidden", None, Visibility::Public);
    let hidden = b.module("below", Some(hidden), Visibility::Private);
    b.set_head(g.of, |head| (head.module, head.visibility) = (hidden, Visibility::Public));
    let one = b.node(g.of, g.root, number(1), &[]);
    b.ret(g, &[value(one)]);
    let got = b.node(f.of, f.root, Op::call(g.of), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::NotVisible, b));

    let (mut b, f) = start();
    let g = b.func("g", &[], &[Type::I32]);
    b.set_head(g.of, |head| head.captures = vec![Param { name: "c".into(), ty: Type::I32 }]);
    let one = b.node(g.of, g.root, op(Opcode::CaptureGet, Attr::Index(0)), &[]);
    b.ret(g, &[value(one)]);
    let got = b.node(f.of, f.root, Op::call(g.of), &[]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::CallNeedsClosure, b));
    all
}

fn matches() -> Vec<Case_> {
    let mut all = Vec::new();
    let choose = |b: &mut Build, f: Func, chosen: Vec<Case>, default: bool| {
        let roles: Vec<(RegionRole, &[Type])> =
            (0..chosen.len()).map(|at| (RegionRole::Case(at as u16), &[][..])).collect();
        let default_role = default.then_some((RegionRole::Default, &[][..]));
        let roles: Vec<_> = roles.into_iter().chain(default_role).collect();
        let (_, inner) = b.owner(f.of, f.root, cases(chosen, default, &[]), &[f.param(0)], &roles);
        for region in inner {
            b.node(f.of, region, plain(Opcode::Yield), &[]);
        }
        b.ret(f, &[f.param(0)]);
    };

    let (mut b, f) = start();
    choose(&mut b, f, vec![Case::Int(0)], false);
    all.push(case(Code::MatchNotExhaustive, b));

    let (mut b, f) = start();
    choose(&mut b, f, vec![Case::Int(0), Case::Int(0)], true);
    all.push(case(Code::DuplicateCase, b));

    let (mut b, f) = start();
    let none = Case::Variant(Variant::None(Arc::new(Type::I32)));
    choose(&mut b, f, vec![Case::Int(0), none], true);
    all.push(case(Code::MixedCases, b));
    all
}

fn memory() -> Vec<Case_> {
    let mut all = Vec::new();
    let load = |align_log2| op(Opcode::Load, Attr::Memory(MemArg { ty: Scalar::I32, offset: 0, align_log2 }));

    let (mut b, f) = start();
    let got = b.node(f.of, f.root, load(0), &[f.param(0)]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::MemoryMissing, b));

    let mut b = Build::new();
    b.storage("words", StorageKind::Data { offset: Some(Offset::At(0)), bytes: Arc::new([1]) });
    all.push(case(Code::MemoryMissing, b));

    let (mut b, f) = start();
    b.memory();
    let got = b.node(f.of, f.root, load(3), &[f.param(0)]);
    b.ret(f, &[value(got)]);
    all.push(case(Code::AlignmentTooLarge, b));

    let mut b = Build::new();
    let f = b.func("f", &[Type::Ptr(Arc::new(Type::String))], &[]);
    b.ret(f, &[]);
    all.push(case(Code::NoPlainLayout, b));

    let mut b = Build::new();
    b.storage("memory", StorageKind::Memory { pages: 4, max_pages: Some(2) });
    all.push(case(Code::LimitsExceeded, b));

    let mut b = Build::new();
    b.memory();
    b.storage("second", StorageKind::Memory { pages: 4, max_pages: None });
    all.push(case(Code::DuplicateMemory, b));
    all
}

fn program() -> Vec<Case_> {
    let mut all = Vec::new();

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let region = b.contract(f.of, ContractKind::Require, &[]);
    b.change(f.of).remove_region(region).expect("empty");
    all.push(case(Code::ContractRegion, b));

    let mut b = Build::new();
    let head = b.head("f", &[], &[]);
    let of = FuncRef::new(b.number()).expect("in range");
    b.program.add_function(of, head).expect("fresh");
    all.push(case(Code::BodyMissing, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    b.set_head(f.of, |head| head.import = Some(Import { module: "env".into(), name: "f".into() }));
    all.push(case(Code::ImportWithBody, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    b.set_head(f.of, |head| head.module = ModuleRef::new(90_000).expect("in range"));
    all.push(case(Code::UnknownModule, b));

    let mut b = Build::new();
    let outer = b.module("outer", None, Visibility::Public);
    let inner = b.module("inner", Some(outer), Visibility::Public);
    let mut record = b.program.module(outer).expect("exists").clone();
    record.parent = Some(inner);
    b.program.set_module(outer, record).expect("exists");
    all.push(case(Code::ModuleCycle, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let shape = b.fields(&[]);
    b.add_type("f", shape);
    all.push(case(Code::DuplicateName, b));

    let mut b = Build::new();
    let shape = b.fields(&[("x", Type::I32), ("x", Type::I64)]);
    b.add_type("Point", shape);
    all.push(case(Code::DuplicateName, b));

    let mut b = Build::new();
    for name in ["f", "g"] {
        let f = b.func(name, &[], &[]);
        b.ret(f, &[]);
        b.set_head(f.of, |head| head.exports = vec!["main".into()]);
    }
    all.push(case(Code::DuplicateExport, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    b.set_head(f.of, |head| head.start = true);
    all.push(case(Code::StartSignature, b));

    let mut b = Build::new();
    for name in ["f", "g"] {
        let f = b.func(name, &[], &[]);
        b.ret(f, &[]);
        b.set_head(f.of, |head| head.start = true);
    }
    all.push(case(Code::DuplicateStart, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let region = b.contract(f.of, ContractKind::Ensure, &[Type::I32]);
    b.node(f.of, region, plain(Opcode::Yield), &[Source::RegionParam(region, 0)]);
    all.push(case(Code::ContractNotBoolean, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let region = b.contract(f.of, ContractKind::Invariant, &[]);
    let holds = b.node(f.of, region, Op::constant(Const::Bool(true)), &[]);
    b.node(f.of, region, plain(Opcode::Yield), &[value(holds)]);
    all.push(case(Code::InvariantMisplaced, b));

    let (mut b, f) = start();
    b.ret(f, &[f.param(0)]);
    let variable = b.variable(f.of, Type::BOOL);
    let region = b.contract(f.of, ContractKind::Require, &[]);
    let got = b.node(f.of, region, op(Opcode::VarGet, Attr::Variable(variable)), &[]);
    b.node(f.of, region, plain(Opcode::Yield), &[value(got)]);
    all.push(case(Code::VariableInContract, b));

    let (mut b, f) = start();
    b.set_head(f.of, |head| head.effect_bound = EffectBound::Pure);
    let text = b.node(f.of, f.root, Op::constant(Const::String("x".into())), &[]);
    b.node(f.of, f.root, plain(Opcode::Print), &[value(text)]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::EffectExceedsBound, b));

    let mut b = Build::new();
    let of = TypeRef::new(50).expect("in range");
    let shape = b.fields(&[("left", Type::Option(Arc::new(Type::Named(of))))]);
    b.type_at(of, "Tree", shape);
    all.push(case(Code::TypeContainsItself, b));

    let mut b = Build::new();
    let (one, two) = (TypeRef::new(50).expect("in range"), TypeRef::new(51).expect("in range"));
    let shape = b.fields(&[("two", Type::Named(two))]);
    b.type_at(one, "One", shape);
    let shape = b.fields(&[("one", Type::Named(one)), ("ok", Type::Box(Arc::new(Type::Named(two))))]);
    b.type_at(two, "Two", shape);
    all.push(case(Code::TypeContainsItself, b));

    let mut b = Build::new();
    let shape = b.fields(&[("none", Type::Never)]);
    b.type_at(TypeRef::new(50).expect("in range"), "Nothing", shape);
    all.push(case(Code::TypeWithoutValues, b));
    all
}

fn warnings() -> Vec<Case_> {
    let mut all = Vec::new();

    let (mut b, f) = start();
    b.node(f.of, f.root, number(1), &[]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::UnusedValue, b));

    let (mut b, f) = start();
    let (_, inner) = b.owner(f.of, f.root, control(Opcode::Block, &[]), &[], &[(RegionRole::Body, &[])]);
    b.node(f.of, inner[0], plain(Opcode::Return), &[f.param(0)]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::UnreachableCode, b));

    let (mut b, f) = start();
    let variable = b.variable(f.of, Type::I32);
    b.node(f.of, f.root, op(Opcode::VarSet, Attr::Variable(variable)), &[f.param(0)]);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::VariableNeverRead, b));

    let (mut b, f) = start();
    b.set_head(f.of, |head| head.effect_bound = EffectBound::Reads);
    b.ret(f, &[f.param(0)]);
    all.push(case(Code::EffectBoundWider, b));
    all
}

#[test]
fn every_code_is_found_where_it_should_be_and_nothing_else() {
    let mut untested: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    let groups = [edges(), regions(), operators(), matches(), memory(), program(), warnings()];
    for Case_ { code, program, also } in groups.into_iter().flatten() {
        let wanted: BTreeSet<Code> = also.iter().copied().chain([code]).collect();
        assert_eq!(codes(&program), wanted.into_iter().collect::<Vec<_>>(), "for {code}");
        untested.remove(&code);
    }
    // It is found on request alone.
    untested.remove(&Code::VariableUnassigned);
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn what_is_right_has_no_findings() {
    let mut b = Build::new();
    b.memory();
    let shape = b.fields(&[("x", Type::I32), ("next", Type::Ptr(Arc::new(Type::I64)))]);
    let point = b.add_type("Point", shape);
    let f = b.func("f", &[Type::I32, Type::Ptr(Arc::new(Type::Named(point)))], &[Type::I32]);
    let (circle, inner) = b.owner(
        f.of,
        f.root,
        control(Opcode::Loop, &[Type::I32]),
        &[f.param(0)],
        &[(RegionRole::Body, &[Type::I32])],
    );
    let round = Source::RegionParam(inner[0], 0);
    let done = b.node(f.of, inner[0], i32_op(Opcode::Eqz), &[round]);
    b.node(f.of, inner[0], op(Opcode::BreakIf, Attr::Exit(circle)), &[value(done), round]);
    let one = b.node(f.of, inner[0], number(1), &[]);
    let less = b.node(f.of, inner[0], i32_op(Opcode::Sub), &[round, value(one)]);
    b.node(f.of, inner[0], op(Opcode::Continue, Attr::Exit(circle)), &[value(less)]);
    let again = b.node(f.of, f.root, Op::call(f.of), &[value(circle), f.param(1)]);
    b.ret(f, &[value(again)]);
    assert_eq!(codes(&b.program), []);
}

#[test]
fn pages_are_written_and_names_read_back() {
    for code in Code::ALL {
        assert_eq!(code.name().parse(), Ok(*code));
        assert!(code.name().chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        let page = code.page();
        for text in [page.title, page.meaning, page.example, page.repair] {
            assert!(!text.is_empty(), "{code}");
        }
    }
}
