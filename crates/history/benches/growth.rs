//! What edits, differences and records cost, in programs of 1,000 to 1,000,000 nodes, in few functions and in many; and
//! by how much differences cost more as programs grow.
//!
//! `cargo bench -p lmlang-history`

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lmlang_history::line::Line;
use lmlang_history::record::{decode_edits, encode_edits};
use lmlang_history::request::{At, EditRequest, InsertNode, expand};
use lmlang_history::snapshot::{self, Reading, State, Written};
use lmlang_history::{Edit, FunctionEdit, Provenance, apply_all, diff, invert_all};
use lmlang_ir::{
    Attr, Const, FuncRef, FunctionHead, Module, ModuleRef, NodeContent, NodeRef, Op, Opcode, Program,
    RefAllocator, Region, RegionOwner, RegionRef, RegionRole, Scalar, Source, Visibility,
};

/// A program of functions with chains of additions.
struct Shape {
    program: Program,
    refs: RefAllocator,
    /// Each function with its region and nodes.
    functions: Vec<(FuncRef, RegionRef, Vec<NodeRef>)>,
}

fn add() -> Op {
    Op::new(Opcode::Add, Attr::Scalar(Scalar::I64)).expect("the table has this operator")
}

fn build(functions: usize, nodes: usize) -> Shape {
    let mut refs = RefAllocator::starting_at(1);
    let mut program = Program::new();
    let module = refs.allocate().and_then(ModuleRef::new).expect("refs are left");
    let record =
        Module { name: "m".into(), parent: None, visibility: Visibility::Private, doc: None, trailer: None };
    program.add_module(module, record).expect("a new module");
    let mut shape = Shape { program, refs, functions: Vec::new() };
    for index in 0..functions {
        let function = shape.refs.allocate().and_then(FuncRef::new).expect("refs are left");
        let head = FunctionHead::new(format!("f{index}_"), module, vec![], vec![]);
        shape.program.add_function(function, head).expect("a new function");
        let region = shape.refs.allocate_in(function).and_then(RegionRef::new).expect("refs are left");
        let mut open = shape.program.function_mut(function).expect("a function");
        open.add_region(region, Region::new(RegionOwner::Function, RegionRole::Body, vec![]))
            .expect("a region");
        let mut made: Vec<NodeRef> = Vec::with_capacity(nodes);
        for at in 0..nodes {
            let node = shape.refs.allocate_in(function).and_then(NodeRef::new).expect("refs are left");
            let before = |back: usize| made.get(at.wrapping_sub(back)).map(|node| Source::Node(*node, 0));
            let content = match before(2) {
                None => NodeContent::new(Op::constant(Const::I64(at as i64)), []),
                two => NodeContent::new(add(), [before(1), two]),
            };
            open.insert_node(node, region, made.last().copied(), content).expect("a new node");
            made.push(node);
        }
        shape.functions.push((function, region, made));
    }
    shape
}

/// The n-th of a spread-out series.
fn spread(n: usize, below: usize) -> usize {
    n.wrapping_mul(7919) % below
}

fn edits(shape: &mut Shape, count: usize) -> Vec<Edit> {
    (0..count)
        .map(|n| {
            let (function, region, nodes) = &shape.functions[spread(n, shape.functions.len())];
            let at = nodes[2 + spread(n, nodes.len() - 2)];
            let edit = match n % 4 {
                0 => FunctionEdit::SetInput { node: at, input: 0, source: Some(Source::Node(nodes[0], 0)) },
                1 => {
                    let node =
                        shape.refs.allocate_in(*function).and_then(NodeRef::new).expect("refs are left");
                    let content = Box::new(NodeContent::new(add(), [Some(Source::Node(at, 0)), None]));
                    FunctionEdit::InsertNode { node, region: *region, after: Some(at), content }
                }
                2 => FunctionEdit::SetLabel { node: at, name: Some("x".into()), doc: None },
                _ => FunctionEdit::MoveNode { node: at, region: *region, after: Some(nodes[0]) },
            };
            edit.within(*function)
        })
        .collect()
}

fn time<T>(rounds: u32, mut run: impl FnMut() -> T) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
    }
    best
}

fn report(what: &str, per: &str, count: usize, took: Duration) {
    println!("  {what:<34} {:>10.2} µs {per}", took.as_secs_f64() * 1e6 / count as f64);
}

/// Functions and the nodes of each, in families of growing size.
const FAMILIES: [[(usize, usize); 3]; 2] =
    [[(1, 1_000), (1, 100_000), (10, 100_000)], [(100, 10), (10_000, 10), (100_000, 10)]];

/// Edits between two revisions whose difference is taken.
const APART: [usize; 2] = [10, 100];
/// How many times more a difference may take at 1,000,000 nodes than at 1,000, and microseconds that it may take at all.
const MOST: (f64, f64) = (4.0, 300.0);
/// Edits that are undone, and microseconds that this may take with the hash after it, in a program of any size.
const UNDONE: (usize, f64) = (10, 25.0);
/// Microseconds that a copy may take, which is what a checkpoint is in memory, and the way to a state that is kept.
const COPY: f64 = 0.1;

fn main() {
    for family in FAMILIES {
        let taken = family.map(|(functions, nodes)| measure(functions, nodes));
        for (at, apart) in APART.into_iter().enumerate() {
            println!("difference of {apart} edits, by size");
            let micros = |taken: &[Duration; APART.len()]| taken[at].as_secs_f64() * 1e6;
            let first = micros(&taken[0]);
            for ((functions, nodes), taken) in family.iter().zip(&taken) {
                let (took, size) = (micros(taken), functions * nodes);
                println!("  {size:>10} nodes {took:>28.2} µs in all, {:>6.2} × the first", took / first);
            }
            let last = micros(&taken[taken.len() - 1]);
            println!("  at most {} × the first: {}", MOST.0, verdict(last / first <= MOST.0));
            println!("  at most {} µs: {}", MOST.1, verdict(last <= MOST.1));
        }
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

/// Prints what everything costs in a program, and answers what differences do.
fn measure(functions: usize, nodes: usize) -> [Duration; APART.len()] {
    let mut shape = build(functions, nodes);
    let total = functions * nodes;
    println!("{functions} functions of {nodes} nodes");
    // Hashes are there, as after every commit.
    shape.program.root_hash();
    let singles = edits(&mut shape, 100);
    let base = shape.program.clone();
    let each = time(20, || {
        let mut program = base.clone();
        for edit in &singles {
            let head = program.clone();
            drop(lmlang_history::apply(&mut program, edit));
            program.root_hash();
            drop(head);
        }
    });
    report("apply and hash, head kept", "an edit", singles.len(), each);
    let mut changed = base.clone();
    apply_all(&mut changed, &singles).expect("the edits fit");
    changed.root_hash();
    report(
        "apply 100 at once",
        "an edit",
        100,
        time(20, || {
            let mut program = base.clone();
            apply_all(&mut program, &singles)
        }),
    );
    report("difference of 100 edits", "an edit", 100, time(20, || diff(&base, &changed)));
    let apart = APART.map(|count| {
        let mut then = base.clone();
        apply_all(&mut then, &singles[..count]).expect("the edits fit");
        // As after a commit.
        then.root_hash();
        time(50, || diff(&base, &then))
    });
    let (undone, most) = UNDONE;
    let mut then = base.clone();
    apply_all(&mut then, &singles[..undone]).expect("the edits fit");
    then.root_hash();
    let way_back = invert_all(&singles[..undone], &base).expect("the edits fit");
    let undo = time(50, || {
        let mut program = then.clone();
        apply_all(&mut program, &way_back).expect("the way back fits");
        program.root_hash()
    });
    report("undo of 10 edits, with the hash", "in all", 1, undo);
    println!("  at most {most} µs: {}", verdict(undo.as_secs_f64() * 1e6 <= most));
    let copies = time(50, || (0..1_000).for_each(|_| drop(black_box(base.clone()))));
    report("copy", "each", 1_000, copies);
    println!("  at most {COPY} µs: {}", verdict(copies.as_secs_f64() * 1e3 <= COPY));
    let mut one = base.clone();
    apply_all(&mut one, &singles[1..2]).expect("the edit fits");
    report("difference of one edit", "in all", 1, time(50, || diff(&base, &one)));
    let there = diff(&base, &changed).edits;
    report("way back of 100 edits", "an edit", 100, time(20, || invert_all(&there, &base)));
    let json = encode_edits(&there);
    println!("  {:<34} {:>10.0} bytes an edit", "record", json.len() as f64 / there.len() as f64);
    report("write record", "an edit", there.len(), time(20, || encode_edits(&there)));
    report("read record", "an edit", there.len(), time(20, || decode_edits(&json)));
    let (_, _, nodes) = &shape.functions[0];
    let at = At { after: Some(nodes[nodes.len() / 2].to_string()), ..At::default() };
    let first = nodes[0].to_string();
    let insert = EditRequest::InsertNode(InsertNode {
        name_as: None,
        op: "add.i64".into(),
        at,
        inputs: vec![Some(first.clone()), Some(first)],
        name: None,
    });
    report(
        "request of one insertion",
        "in all",
        1,
        time(50, || expand(&base, &mut shape.refs.clone(), std::slice::from_ref(&insert)).is_ok()),
    );
    let state = |number: u64, program: &Program| State {
        number,
        program: program.clone(),
        next_ref: shape.refs.watermark(),
        line: Line::new(),
        provenance: Provenance::default(),
        marks: None,
    };
    let (whole, then) = (state(1, &base), state(2, &changed));
    let written = snapshot::write(&whole, None);
    let size = |written: &Written| written.objects.iter().map(|object| object.bytes.len()).sum::<usize>();
    println!("  {:<34} {:>10.1} bytes a node", "snapshot", size(&written) as f64 / total as f64);
    report("write snapshot", "a node", total, time(5, || snapshot::write(&whole, None)));
    report("read snapshot", "a node", total, time(5, || read(&written)));
    let next = snapshot::write(&then, Some(&whole));
    println!("  {:<34} {:>10.0} bytes an edit", "snapshot after 100 edits", size(&next) as f64 / 100.0);
    report(
        "write snapshot after 100 edits",
        "an edit",
        100,
        time(20, || snapshot::write(&then, Some(&whole))),
    );
    apart
}

fn read(written: &Written) -> State {
    let mut reading = Reading::open(&written.root, 1).expect("the root was just written");
    let objects: HashMap<_, _> = written.objects.iter().map(|object| (object.key, &object.bytes)).collect();
    loop {
        let wanted = reading.wanted();
        if wanted.is_empty() {
            return reading.finish().expect("all objects are there");
        }
        for key in wanted {
            reading.take(&key, objects[&key]).expect("the object was just written");
        }
    }
}
