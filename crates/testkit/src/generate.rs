//! Random well-typed programs.
//!
//! [`world`] declares modules, types, storage and the heads of functions; [`body`] fills the functions, one statement
//! after another, with [`operators`] for everything that the op table describes and [`values`] for a value of any type.
//! What comes out verifies without an error. Most of it runs to an end: loops count, calls go to functions declared
//! earlier, and inputs that would trap are mostly tame ones.

pub mod body;
pub mod operators;
pub mod values;
pub mod world;

use lmlang_ir::builder::{Builder, FunctionBuilder};
use lmlang_ir::{FuncRef, Program, RefAllocator};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::choices::Choices;
use body::BodyWriter;
use world::World;

/// How large and how wild.
#[derive(Clone, Debug)]
pub struct Options {
    /// Functions at most; at least one.
    pub functions: usize,
    /// Nodes per function, roughly, at most.
    pub nodes: usize,
    /// How deep regions nest.
    pub depth: usize,
    /// Nominal types at most.
    pub types: usize,
    /// Whether there may be a memory, data segments and what works on them.
    pub memory: bool,
    /// Whether there may be strings, aggregates, boxes and closures; otherwise scalars and `unit` only.
    pub heap: bool,
    /// Whether functions may print, read and use files.
    pub io: bool,
    /// Whether functions may call themselves and each other without an end.
    pub recursion: bool,
    /// Whether functions may have contracts.
    pub contracts: bool,
    /// Whether functions may state invariants of types.
    pub invariants: bool,
    /// Whether some names are no identifiers, or clash.
    pub odd_names: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            functions: 5,
            nodes: 40,
            depth: 4,
            types: 4,
            memory: true,
            heap: true,
            io: true,
            recursion: false,
            contracts: true,
            invariants: false,
            odd_names: true,
        }
    }
}

impl Options {
    /// A program of a few nodes, for laws whose single case is dear.
    pub fn small() -> Options {
        Options { functions: 2, nodes: 12, depth: 2, types: 2, invariants: true, ..Options::default() }
    }
}

/// A generated program with the allocator that goes on from it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program.
    pub program: Program,
    /// Hands out refs that it does not use.
    pub refs: RefAllocator,
}

/// What a program is made from: choices for the declarations, and a list for each function. Removing a list removes a
/// function.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Choices of the declarations.
    pub world: Vec<u32>,
    /// Choices of each body.
    pub bodies: Vec<Vec<u32>>,
}

/// Makes the program of a recipe.
pub fn program(recipe: &Recipe, options: &Options) -> Generated {
    let bodies = recipe.bodies.iter().cloned().map(Choices::given).collect();
    build(Choices::given(recipe.world.clone()), bodies, options)
}

/// Makes the program of a seed; uses up the sizes of the options.
pub fn seeded(seed: u64, options: &Options) -> Generated {
    let mut source = Choices::seeded(seed);
    let mut fork = || Choices::seeded(u64::from(source.number()) << 32 | u64::from(source.number()));
    let world = fork();
    let bodies = (0..options.functions.max(1)).map(|_| fork()).collect();
    build(world, bodies, options)
}

/// Programs for property tests; they shrink by functions, then by statements.
pub fn programs(options: Options) -> impl Strategy<Value = Generated> {
    let bodies = vec(vec(any::<u32>(), 0..options.nodes * 3), 1..=options.functions.max(1));
    (vec(any::<u32>(), 0..60), bodies)
        .prop_map(move |(world, bodies)| program(&Recipe { world, bodies }, &options))
}

/// Lists of choices for whatever a test wants to vary: edits, arguments, places.
pub fn choices(length: usize) -> impl Strategy<Value = Choices> {
    vec(any::<u32>(), 0..length.max(1)).prop_map(Choices::given)
}

fn build(mut world: Choices, mut bodies: Vec<Choices>, options: &Options) -> Generated {
    let (mut program, mut refs) = (Program::new(), RefAllocator::starting_at(1));
    let mut build = Builder::new(&mut program, &mut refs);
    let functions = world::declare(&mut build, &mut world, options, bodies.len());
    let world = World::of(&program, options);
    for (function, choices) in functions.into_iter().zip(&mut bodies) {
        fill(&mut program, &mut refs, &world, function, choices, options);
    }
    Generated { program, refs }
}

/// Gives a declared function a body, by choices.
pub fn fill(
    program: &mut Program,
    refs: &mut RefAllocator,
    world: &World,
    function: FuncRef,
    choices: &mut Choices,
    options: &Options,
) {
    let head = program.function(function).map(|function| function.head().clone());
    if let (Some(head), Ok(builder)) = (head, FunctionBuilder::open(program, refs, function)) {
        BodyWriter::new(world, options, choices, builder, head).write();
    }
}
