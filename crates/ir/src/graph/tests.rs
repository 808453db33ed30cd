use petgraph::Direction as Way;
use petgraph::visit::{Bfs, Walker};

use crate::builder::{Builder, params, region_param};
use crate::entities::{ContractKind, FunctionHead};
use crate::graph::edges::{control_in, control_out, data_in, data_out, edge, edges_from};
use crate::graph::*;
use crate::node::{NodeContent, Source};
use crate::ops::{Attr, Exit, Opcode};
use crate::program::Program;
use crate::refs::{FuncRef, NodeRef, Ref, RefAllocator};
use crate::storage::StorageKind;
use crate::text::parse_program;
use crate::types::{Scalar, Type};

/// `sum` of the numbers below `n`, with a loop; `twice` calls it; both in a chain with `outer`.
struct Sample {
    program: Program,
    refs: RefAllocator,
    sum: FuncRef,
    twice: FuncRef,
    outer: FuncRef,
    spin: NodeRef,
    done: NodeRef,
    leave: NodeRef,
    next: NodeRef,
    round: NodeRef,
    call: NodeRef,
}

fn node(source: Source) -> NodeRef {
    match source {
        Source::Node(node, _) => node,
        other => panic!("{other} is no node"),
    }
}

fn sample() -> Sample {
    let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
    let mut build = Builder::new(&mut program, &mut refs);
    let module = build.module(None, "demo");
    let head = |name: &str| FunctionHead::new(name, module, params([("n", Type::I64)]), vec![Type::I64]);
    let mut f = build.function(head("sum"));
    let n = f.param(0);
    let zero = f.i64(0);
    let spin = f.loop_(Some("L".into()), [("i", Type::I64, zero), ("acc", Type::I64, zero)], vec![Type::I64]);
    let (i, acc) = (region_param(spin.regions[0], 0), region_param(spin.regions[0], 1));
    let (done, leave, next, round) = f.within(spin.regions[0], |f| {
        let done = f.scalar(Opcode::GeS, Scalar::I64, [i, n]);
        let leave = f.break_if(spin.node, done, [acc]);
        let one = f.i64(1);
        let next = f.scalar(Opcode::Add, Scalar::I64, [i, one]);
        let more = f.scalar(Opcode::Add, Scalar::I64, [acc, i]);
        (done, leave, next, f.exit(Exit::Continue(spin.node), [next, more]))
    });
    f.ret([spin.node.into()]);
    let sum = f.finish();
    let mut f = build.function(head("twice"));
    let n = f.param(0);
    let call = f.call(sum, [n]);
    let both = f.scalar(Opcode::Add, Scalar::I64, [Source::from(call), Source::from(call)]);
    f.ret([both]);
    let twice = f.finish();
    let mut f = build.function(FunctionHead { exports: vec!["run".into()], ..head("outer") });
    let n = f.param(0);
    let called = f.call(twice, [n]);
    f.ret([called.into()]);
    let outer = f.finish();
    let (done, next) = (node(done), node(next));
    Sample { program, refs, sum, twice, outer, spin: spin.node, done, leave, next, round, call }
}

fn names(edges: impl IntoIterator<Item = Edge>) -> Vec<String> {
    let end = |of: Option<NodeRef>| of.map_or("-".to_owned(), |node| node.to_string());
    edges.into_iter().map(|edge| format!("{} {}>{}", edge.id, end(edge.from), end(edge.to))).collect()
}

#[test]
fn edges_have_names_and_both_ends_see_them() {
    let s = sample();
    let body = s.program.function(s.sum).unwrap().body();
    let (spin, leave, done, round) = (s.spin, s.leave, s.done, s.round);
    let ret = body.terminator(body.root().unwrap()).unwrap();
    let zero = body.previous(spin).unwrap();
    assert_eq!(names(data_in(body, done)), [format!("{done}.in0 ->{done}"), format!("{done}.in1 ->{done}")]);
    assert_eq!(names(data_out(body, spin)), [format!("{ret}.in0 {spin}>{ret}")]);
    assert_eq!(
        names(control_out(body, spin)),
        [format!("{spin}.next {spin}>{ret}"), format!("{spin}.enter0 {spin}>{done}")]
    );
    assert_eq!(
        names(control_in(body, spin)),
        [
            format!("{zero}.next {zero}>{spin}"),
            format!("{leave}.exit {leave}>{spin}"),
            format!("{round}.exit {round}>{spin}")
        ]
    );
    assert_eq!(names(control_out(body, ret)), [format!("{ret}.exit {ret}>-")]);
    let all: Vec<Edge> = edges_from(body, 0).collect();
    assert!(all.is_sorted_by_key(|edge| edge.id.node));
    for one in &all {
        assert_eq!(one.id.to_string().parse(), Ok(one.id));
        assert_eq!(edge(body, one.id), Some(*one));
        let seen_from = |at: NodeRef, list: Vec<Edge>| assert!(list.contains(one), "{one:?} at {at}");
        match one.kind() {
            EdgeKind::Data => {
                one.from.into_iter().for_each(|from| seen_from(from, data_out(body, from).collect()));
            }
            EdgeKind::Control => {
                one.to.into_iter().for_each(|to| seen_from(to, control_in(body, to).collect()));
            }
        }
    }
    let kinds = |kind| all.iter().filter(|edge| edge.kind() == kind).count() as u64;
    let counts = body.counts();
    assert_eq!((kinds(EdgeKind::Data), kinds(EdgeKind::Control)), (counts.data_edges, counts.control_edges));
    assert_eq!(counts.control_edges, 11);
    for wrong in
        ["n1", "n1.in", "n1.in01", "n1.exit0", "n1.enter", "n1.in+1", "f1.in0", "n1.out0", "n1.in70000"]
    {
        assert!(wrong.parse::<EdgeRef>().is_err(), "{wrong}");
    }
}

#[test]
fn neighbourhoods_stop_at_hops_and_limits() {
    let s = sample();
    let ask = |center: &[Ref], hops, direction, max_nodes, cross_calls| {
        let asked =
            Neighbourhood { center, hops, direction, kinds: &[EdgeKind::Data], max_nodes, cross_calls };
        neighbourhood(&s.program, asked)
    };
    let center = [Ref::from(s.done)];
    let found = ask(&center, 1, Direction::Out, 10, false);
    assert_eq!(found.nodes, [(s.sum, s.done), (s.sum, s.leave)]);
    assert_eq!(found.edges.len(), 2 + 2, "two parameters, the condition and the accumulator");
    assert!(found.frontier.is_empty() && !found.truncated);
    let nothing = ask(&center, 1, Direction::Out, 1, false);
    assert_eq!((nothing.nodes.len(), nothing.truncated, &nothing.frontier[..]), (1, true, &[s.done][..]));
    let step = ask(&[s.next.into()], 0, Direction::Both, 10, false);
    assert_eq!((step.nodes.len(), &step.frontier[..]), (1, &[s.next][..]));
    // From the call into the callee's end, and from the callee's parameter back to the call.
    let body = s.program.function(s.sum).unwrap().body();
    let end = body.terminator(body.root().unwrap()).unwrap();
    let into = ask(&[s.call.into()], 1, Direction::In, 10, true);
    assert!(into.nodes.contains(&(s.sum, end)), "{:?}", into.nodes);
    let back = ask(&center, 1, Direction::In, 10, true);
    assert!(back.nodes.contains(&(s.twice, s.call)), "{:?}", back.nodes);
}

#[test]
fn slices_follow_rounds_and_ends() {
    let s = sample();
    let of = |node, way| slice(&s.program, node, way, 100);
    let back = of(s.done, Slice::Backward);
    let has = |found: &Subgraph, node| found.nodes.contains(&(s.sum, node));
    assert!(has(&back, s.spin) && has(&back, s.round) && has(&back, s.next), "{:?}", back.nodes);
    let forward = of(s.next, Slice::Forward);
    assert!(
        has(&forward, s.round) && has(&forward, s.done) && has(&forward, s.leave) && has(&forward, s.spin)
    );
    let body = s.program.function(s.sum).unwrap().body();
    let end = body.terminator(body.root().unwrap()).unwrap();
    assert!(has(&forward, end), "the result of the loop is returned");
    let cut = slice(&s.program, end, Slice::Backward, 2);
    assert_eq!((cut.nodes.len(), cut.truncated, cut.frontier.is_empty()), (2, true, false));
}

/// The nodes of a function that a slice finds, by name; those without one are left out.
#[track_caller]
fn check_backward(lines: &str, of: &str, expect: &[&str]) {
    let text =
        format!("func f (a: bool, n: i32) -> () {{\n{lines}\n}}\nfunc say (x: i32) -> () {{ return }}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let (_, function) = program.functions().next().expect("a function");
    let name = |node: NodeRef| function.body().node(node).and_then(|node| node.name()).map(|name| &**name);
    let (start, _) = function.body().nodes().find(|(node, _)| name(*node) == Some(of)).expect("a node");
    let found = slice(&program, start, Slice::Backward, 100);
    let mut names: Vec<&str> = found.nodes.iter().filter_map(|(_, node)| name(*node)).collect();
    names.sort_unstable();
    assert_eq!(names, expect, "{text}");
}

#[test]
fn a_slice_holds_the_exits_that_skip_a_node() {
    // In the same region, with its condition and without its value.
    check_backward(
        "b = block B -> (i32) {
  c = eqz.i32 n
  v = add.i32 n, 1
  leave = break_if B c (v)
  x = call say(n)
  yield 0
}
after = call say(n)
return",
        "x",
        &["b", "c", "leave", "x"],
    );
    // Deep inside of what stands before, where it leaves that too; not where it only ends what it is in.
    check_backward(
        "block B {
  p = if a { leave = break B } else { yield }
  q = if a { stay = yield } else { yield }
  r = block R { c = eqz.i32 n\n stay2 = break_if R c\n yield }
  x = call say(n)
  yield
}
y = call say(n)
return",
        "x",
        &["leave", "p", "x"],
    );
    check_backward("block B { leave = break B }\ny = call say(n)\nreturn", "y", &["y"]);
    // Exits of another branch, and those behind it, skip nothing here.
    check_backward(
        "block B { p = if a { leave = break B } else { x = call say(n)\n late = break B }\n yield }\nreturn",
        "x",
        &["p", "x"],
    );
    // A return, and a switch that may return.
    check_backward(
        "p = if a { out = return } else { yield }\nblock B { s = br_switch (break B, return) n }\nx = call say(n)\nreturn",
        "x",
        &["out", "p", "s", "x"],
    );
    // Behind it in a loop: whether there is another round.
    check_backward(
        "l = loop L {\n x = call say(n)\n c = eqz.i32 n\n leave = break_if L c\n again = continue L\n}\nreturn",
        "x",
        &["again", "c", "l", "leave", "x"],
    );
}

#[test]
fn impact_goes_backwards_to_exports() {
    let s = sample();
    let found = impact(&s.program, &[s.next.into()]);
    assert_eq!(found.functions, [s.sum, s.twice, s.outer]);
    assert_eq!(found.exports, ["run".into()]);
    assert_eq!(impact(&s.program, &[s.outer.into()]).functions, [s.outer]);
}

#[test]
fn what_uses_memory_is_concerned_by_it() {
    let text = "module m
memory mem#v1 1
data words#v2 b\"ab\"
func peek#f3 () -> (i32) { return (load.i32 0) }
func calls#f4 () -> (i32) { return (call peek()) }
func fill#f5 () -> () {
  memory.init words 0, 0, 2
  return
}
func apart#f6 () -> () { return }
";
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let functions = |of: &str| {
        let of: Ref = of.parse().unwrap();
        let found = impact(&program, &[of]).functions;
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(functions("v1"), "f3 f5 f4");
    assert_eq!(functions("v2"), "f5");
}

#[test]
fn calls_are_a_graph_for_petgraph() {
    let mut s = sample();
    assert_eq!(components(&s.program), [vec![s.sum], vec![s.twice], vec![s.outer]]);
    assert_eq!(reachable(&s.program, [s.outer], Way::Outgoing), [s.outer, s.twice, s.sum]);
    assert_eq!(reachable(&s.program, [s.sum], Way::Incoming), [s.sum, s.twice, s.outer]);
    let graph = Mentions::of_functions(&s.program);
    let walked: Vec<Ref> = Bfs::new(graph, s.outer.into()).iter(graph).collect();
    assert_eq!(walked, [s.outer.into(), s.twice.into(), Ref::from(s.sum)]);
    // A table closes the circle: `sum` reads it, and `twice` stands in it.
    let module = s.program.function(s.sum).unwrap().head().module;
    let mut build = Builder::new(&mut s.program, &mut s.refs);
    let entries = vec![Some(s.twice.into())];
    let table = build.storage(module, "table", StorageKind::Table { ty: Type::FuncRef, entries, max: None });
    let mut f = build.open(s.sum).unwrap();
    f.go(f.body().root().unwrap(), None).unwrap();
    f.op(Opcode::TableSize, Attr::Variable(table), [None::<Source>; 0]);
    f.finish();
    let all = Mentions::all(&s.program);
    let whole = calls::components_from(all, [s.outer.into()]);
    assert_eq!(whole.len(), 2);
    assert_eq!(whole[0].len(), 3, "{whole:?}");
    assert!(impact(&s.program, &[s.twice.into()]).functions.contains(&s.sum));
}

#[test]
fn a_chain_of_calls_needs_no_stack() {
    let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
    let mut build = Builder::new(&mut program, &mut refs);
    let module = build.module(None, "demo");
    let mut last: Option<FuncRef> = None;
    for index in 0..50_000 {
        let mut f = build.function(FunctionHead::new(format!("f{index}x"), module, vec![], vec![]));
        if let Some(callee) = last {
            f.call(callee, [None::<Source>; 0]);
        }
        f.ret([]);
        last = Some(f.finish());
    }
    assert_eq!(components(&program).len(), 50_000);
    assert!(closure_hash(&program, last.unwrap()).is_some());
    assert_eq!(closure_hashes(&program, last).len(), 50_000, "one walk finds them all");
}

#[test]
fn closure_hashes_are_the_same_together() {
    let program = sample().program;
    let all = closure_hashes(&program, program.functions().map(|(of, _)| of));
    assert_eq!(all.len(), program.functions().count());
    assert!(all.iter().all(|(of, hash)| closure_hash(&program, *of) == Some(*hash)));
}

/// Changes one node of `sum` or its label, and tells which hashes moved: of the closures of all three, and interfaces.
fn moved(change: impl FnOnce(&mut Sample)) -> [bool; 4] {
    let hashes = |s: &Sample| {
        let closure = |of| closure_hash(&s.program, of).unwrap();
        [
            closure(s.sum),
            closure(s.twice),
            closure(s.outer),
            interface_hash(s.program.function(s.sum).unwrap()),
        ]
    };
    let mut s = sample();
    let before = hashes(&s);
    change(&mut s);
    let after = hashes(&s);
    std::array::from_fn(|at| before[at] != after[at])
}

#[test]
fn closure_hashes_cover_what_is_called_and_no_names() {
    let set = |s: &mut Sample, of: FuncRef, node: NodeRef, change: &dyn Fn(&mut NodeContent)| {
        let mut function = s.program.function_mut(of).unwrap();
        let mut content = function.body().node(node).unwrap().content();
        change(&mut content);
        function.set_node(node, content).unwrap();
    };
    let (sum, twice) = (sample().sum, sample().twice);
    assert_eq!(
        moved(|s| set(s, sum, s.next, &|n| n.inputs = [None, None].into_iter().collect())),
        [true, true, true, false]
    );
    assert_eq!(
        moved(|s| set(s, twice, s.call, &|n| n.inputs = [None].into_iter().collect())),
        [false, true, true, false]
    );
    assert_eq!(moved(|s| set(s, sum, s.next, &|n| n.name = Some("renamed".into()))), [false; 4]);
    assert_eq!(moved(|s| set(s, sum, s.next, &|n| n.doc = Some("said".into()))), [false; 4]);
    let relabel = |n: &mut NodeContent| {
        n.op = crate::ops::Op::new(
            Opcode::Loop,
            Attr::Control(std::sync::Arc::new(crate::ops::Control {
                label: Some("M".into()),
                results: vec![Type::I64],
            })),
        )
        .unwrap();
    };
    assert_eq!(moved(|s| set(s, sum, s.spin, &relabel)), [false; 4]);
    let rename = |s: &mut Sample| {
        let mut function = s.program.function_mut(s.sum).unwrap();
        let head = FunctionHead { name: "total".into(), doc: Some("d".into()), ..function.head().clone() };
        function.set_head(head);
    };
    assert_eq!(moved(rename), [false; 4]);
    let contract = |s: &mut Sample| {
        let mut build = Builder::new(&mut s.program, &mut s.refs);
        let mut f = build.open(s.sum).unwrap();
        let region = f.contract(ContractKind::Require, "holds", vec![]);
        f.within(region, |f| {
            let yes = f.bool(true);
            f.yield_([yes])
        });
    };
    assert_eq!(moved(contract), [true, true, true, true]);
}

#[test]
fn recursive_functions_share_a_component_and_keep_hashes_of_their_own() {
    let mut s = sample();
    let module = s.program.function(s.sum).unwrap().head().module;
    let mut build = Builder::new(&mut s.program, &mut s.refs);
    let head = |name: &str| FunctionHead::new(name, module, vec![], vec![]);
    let (even, odd) = (build.declare(head("even")), build.declare(head("odd")));
    for (of, other) in [(even, odd), (odd, even)] {
        let mut f = build.open(of).unwrap();
        f.call(other, [None::<Source>; 0]);
        f.ret([]);
    }
    let both = components(&s.program);
    assert!(both.contains(&vec![even, odd]), "{both:?}");
    let hash = |program: &Program, of| closure_hash(program, of).unwrap();
    let before = (hash(&s.program, even), hash(&s.program, odd));
    assert_ne!(before.0, before.1);
    let mut build = Builder::new(&mut s.program, &mut s.refs);
    let mut f = build.open(odd).unwrap();
    f.go(f.body().root().unwrap(), None).unwrap();
    f.i64(1);
    f.finish();
    assert_ne!(hash(&s.program, even), before.0);
    assert_ne!(hash(&s.program, odd), before.1);
}

#[test]
fn closure_hashes_cover_invariants_where_they_are_checked() {
    let hashes = |share: &str, visibility: &str| {
        let text = format!(
            "module m#m1
            type Share#t2 = struct {{ percent#d3: i32 }}
            {share}
            {visibility} func of#f20 (n: i32) -> (Share) #g21 {{ return#n22 (struct.new#n23 Share n) }}
            func inner#f30 (n: i32) -> (Share) #g31 {{ return#n32 (struct.new#n33 Share n) }}
            pub func other#f40 (n: i32) -> (i32) #g41 {{ return#n42 n }}"
        );
        let program = parse_program(&text, &mut RefAllocator::starting_at(100)).unwrap();
        [20, 40].map(|of| closure_hash(&program, FuncRef::new(of).unwrap()).unwrap())
    };
    let stating = |most: u32| {
        format!(
            "func share#f5 (value: Share) -> () pure #g6 {{
              invariant#k7 \"at most\" #g8 {{ yield#n9 (le_u.i32#n10 (struct.get#n11 Share.percent value), {most}#n12) }}
              return#n13
            }}"
        )
    };
    let without = hashes("", "pub");
    let with = hashes(&stating(100), "pub");
    assert_ne!(with[0], without[0]);
    assert_ne!(with[0], hashes(&stating(99), "pub")[0]);
    assert_ne!(with[0], hashes(&stating(100), "")[0], "where it is private, nothing is checked");
    assert_eq!(without[0], hashes("", "")[0]);
    let stated = [without, with].map(|[_, other]| other);
    assert_eq!(stated[0], stated[1], "it has no such value");
}
