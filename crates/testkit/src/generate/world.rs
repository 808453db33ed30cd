//! The declarations of a program, and what bodies may use of them.

use std::sync::Arc;

use lmlang_ir::builder::{Builder, params};
use lmlang_ir::{
    Const, EffectBound, FuncRef, FunctionHead, Import, Initial, ModuleRef, Offset, Program, Scalar,
    SectionPlace, Shape, Signature, Storage, StorageKind, TableEntry, Type, TypeDef, TypeRef, VarRef,
    Visibility,
};

use super::Options;
use super::values::{constant, default_constant};
use crate::choices::Choices;

/// What a body may use: an immutable view of the declarations.
#[derive(Clone, Debug)]
pub struct World {
    /// The program with its declarations.
    pub program: Program,
    /// Types that values can be made of, in a fixed order.
    pub types: Vec<Type>,
    /// Functions in the order of their refs.
    pub functions: Vec<(FuncRef, FunctionHead)>,
    /// Structs with their definitions.
    pub structs: Vec<(TypeRef, Arc<TypeDef>)>,
    /// Enum types, the built-in ones included.
    pub enums: Vec<Type>,
    /// Globals.
    pub globals: Vec<(VarRef, Type, bool)>,
    /// Data segments with their lengths.
    pub data: Vec<(VarRef, usize)>,
    /// Tables with their entries.
    pub tables: Vec<(VarRef, Vec<Option<FuncRef>>)>,
    /// Element segments.
    pub elements: Vec<VarRef>,
    /// Whether there is a linear memory.
    pub memory: bool,
}

impl World {
    /// What the bodies of a program may use.
    pub fn of(program: &Program, options: &Options) -> World {
        let mut world = World {
            program: program.clone(),
            types: Vec::new(),
            functions: program.functions().map(|(of, function)| (of, function.head().clone())).collect(),
            structs: Vec::new(),
            enums: Vec::new(),
            globals: Vec::new(),
            data: Vec::new(),
            tables: Vec::new(),
            elements: Vec::new(),
            memory: false,
        };
        for (of, def) in program.types() {
            match def.shape {
                Shape::Struct(_) => world.structs.push((of, Arc::clone(def))),
                Shape::Enum(_) => world.enums.push(Type::Named(of)),
            }
        }
        for (of, storage) in program.all_storage() {
            world.add_storage(of, storage);
        }
        let nominal: Vec<TypeRef> = program.types().map(|(of, _)| of).collect();
        world.types = simple_types(&nominal, options);
        if options.heap {
            let closures: Vec<Type> = world
                .functions
                .iter()
                .filter(|(_, head)| makes_closure(head))
                .map(|(_, head)| closure_of(head))
                .collect();
            world.types.extend(closures);
            world.types.push(Type::FuncRef);
        }
        if world.memory {
            world.types.push(Type::Ptr(Arc::new(Type::I32)));
            let plain = world.structs.iter().find(|(of, _)| plain(program, &Type::Named(*of)));
            world.types.extend(plain.map(|(of, _)| Type::Ptr(Arc::new(Type::Named(*of)))));
        }
        world.types.sort();
        world.types.dedup();
        world
            .enums
            .extend(world.types.iter().filter(|ty| matches!(ty, Type::Option(_) | Type::Result(_))).cloned());
        world
    }

    fn add_storage(&mut self, of: VarRef, storage: &Storage) {
        match &storage.kind {
            StorageKind::Global { ty, mutable, .. } => self.globals.push((of, ty.clone(), *mutable)),
            StorageKind::Memory { .. } => self.memory = true,
            StorageKind::Data { bytes, .. } => self.data.push((of, bytes.len())),
            StorageKind::Table { entries, .. } => {
                let functions = entries.iter().map(|entry| entry.and_then(TableEntry::function));
                self.tables.push((of, functions.collect()));
            }
            StorageKind::Elements { .. } => self.elements.push(of),
            StorageKind::Custom { .. } => {}
        }
    }

    /// The head of a function.
    pub fn head(&self, of: FuncRef) -> Option<&FunctionHead> {
        let at = self.functions.binary_search_by_key(&of, |(function, _)| *function).ok()?;
        Some(&self.functions[at].1)
    }

    /// Tells whether something private to a module may be used from another one.
    pub fn visible(&self, visibility: Visibility, owner: ModuleRef, from: ModuleRef) -> bool {
        let mut chain = std::iter::successors(Some(from), |module| self.program.module(*module)?.parent);
        visibility == Visibility::Public || chain.any(|module| module == owner)
    }
}

/// Tells whether closures are made from a function: those that captured something, and take only plain values.
pub fn makes_closure(head: &FunctionHead) -> bool {
    !head.captures.is_empty()
}

/// The type of closures made from a function.
pub fn closure_of(head: &FunctionHead) -> Type {
    let params = head.params.iter().map(|param| param.ty.clone()).collect();
    Type::Closure(Arc::new(Signature { params, results: head.results.clone() }))
}

/// Tells whether values of a type may lie in linear memory.
pub fn plain(program: &Program, ty: &Type) -> bool {
    let (mut stack, mut fuel) = (vec![ty.clone()], 200);
    while let Some(part) = stack.pop() {
        fuel -= 1;
        match part {
            _ if fuel == 0 => return false,
            Type::Scalar(_) | Type::Ptr(_) => {}
            Type::FixedArray(of, _) => stack.push((*of).clone()),
            Type::Named(of) => match program.type_def(of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => stack.extend(fields.iter().map(|field| field.ty.clone())),
                Some(Shape::Enum(_)) | None => return false,
            },
            Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => return false,
        }
    }
    true
}

/// Types without functions in them.
fn simple_types(nominal: &[TypeRef], options: &Options) -> Vec<Type> {
    let mut types: Vec<Type> = Scalar::ALL.into_iter().map(Type::Scalar).collect();
    types.push(Type::Unit);
    if options.heap {
        types.extend([Type::String, Type::Bytes]);
        types.extend(nominal.iter().map(|of| Type::Named(*of)));
        let array = |of: &Type| Type::Array(Arc::new(of.clone()));
        let mut made = vec![
            array(&Type::I32),
            Type::FixedArray(Arc::new(Type::I64), 3),
            Type::Option(Arc::new(Type::I32)),
            Type::Option(Arc::new(Type::String)),
            Type::Result(Arc::new((Type::I64, Type::String))),
            Type::Box(Arc::new(Type::F64)),
        ];
        if let Some(of) = nominal.last() {
            made.extend([array(&Type::Named(*of)), Type::Option(Arc::new(Type::Named(*of)))]);
        }
        types.extend(made);
    }
    types
}

/// Declares modules, types, storage and that many functions without bodies.
pub fn declare(
    build: &mut Builder<'_>,
    choices: &mut Choices,
    options: &Options,
    functions: usize,
) -> Vec<FuncRef> {
    let mut modules = vec![build.module(None, "demo")];
    for index in 0..choices.below(3) {
        let parent = choices.chance(50).then(|| modules[choices.below(modules.len())]);
        modules.push(build.module(parent, format!("part{index}")));
    }
    if options.heap {
        declare_types(build, choices, options, &modules);
    }
    let memory = options.memory && choices.chance(60);
    declare_storage(build, choices, &modules, options, memory);
    let nominal: Vec<TypeRef> = build.program.types().map(|(of, _)| of).collect();
    let simple = simple_types(&nominal, options);
    let mut declared: Vec<FuncRef> = Vec::new();
    for index in 0..functions {
        // Closures are made from the first functions, so that a type of them exists for the rest.
        let closures = options.heap && index < functions / 3;
        let rest = World::of(build.program, options);
        let head = head(choices, options, &modules, index, if closures { &simple } else { &rest.types });
        let states = options.invariants && !nominal.is_empty() && choices.chance(25);
        let head = if states { stating(choices, &nominal, head) } else { head };
        let captures = closures && !states && choices.chance(60);
        let captured = if captures { 1 + choices.below(2) } else { 0 };
        let pick = |choices: &mut Choices, at| {
            let ty = choices.pick(&simple).cloned().unwrap_or(Type::I32);
            (format!("captured{at}"), ty)
        };
        let captures = params((0..captured).map(|at| pick(choices, at)).collect::<Vec<_>>());
        declared.push(build.declare(FunctionHead { captures, ..head }));
    }
    if choices.chance(40) {
        let early = &declared[..declared.len().div_ceil(2)];
        declare_table(build, choices, &modules, early);
    }
    declared
}

/// The head of a function that may state invariants.
fn stating(choices: &mut Choices, nominal: &[TypeRef], head: FunctionHead) -> FunctionHead {
    let ty = Type::Named(nominal[choices.below(nominal.len())]);
    let effect_bound = EffectBound::Reads;
    FunctionHead { params: params([("value", ty)]), results: Vec::new(), effect_bound, ..head }
}

fn declare_types(build: &mut Builder<'_>, choices: &mut Choices, options: &Options, modules: &[ModuleRef]) {
    let mut made: Vec<TypeRef> = Vec::new();
    for index in 0..choices.below(options.types + 1) {
        let module = modules[choices.below(modules.len())];
        let pool = simple_types(&made, options);
        let part = |choices: &mut Choices| choices.pick(&pool).cloned().unwrap_or(Type::I32);
        let count = choices.below(4);
        let of = if choices.chance(60) {
            let fields: Vec<_> = (0..count).map(|at| (format!("field{at}"), part(choices))).collect();
            build.structure(module, format!("Struct{index}"), fields).0
        } else {
            // The first variant carries nothing, so that a value can always be made.
            let mut variants = vec![("empty".to_owned(), None)];
            for at in 0..count {
                variants.push((format!("variant{at}"), choices.chance(70).then(|| part(choices))));
            }
            build.enumeration(module, format!("Enum{index}"), variants).0
        };
        made.push(of);
        if choices.chance(25) {
            contain_itself(build.program, of, choices);
        }
    }
}

/// Lets a type contain itself below a box or an array, where a value can still be made.
fn contain_itself(program: &mut Program, of: TypeRef, choices: &mut Choices) {
    let Some(def) = program.type_def(of).cloned() else { return };
    let mut def = (*def).clone();
    let own = Arc::new(Type::Named(of));
    let list = Type::Array(Arc::clone(&own));
    match &mut def.shape {
        Shape::Struct(fields) => {
            if let Some(field) = fields.last_mut() {
                field.ty = if choices.chance(50) { list } else { Type::Option(Arc::new(Type::Box(own))) };
            }
        }
        Shape::Enum(variants) => {
            if let Some(variant) = variants.iter_mut().skip(1).last() {
                variant.payload = Some(if choices.chance(50) { list } else { Type::Box(own) });
            }
        }
    }
    if program.set_type(of, def).is_err() {
        unreachable!("the type was declared a moment ago, and keeps its members");
    }
}

/// A type for a global: a scalar, or what starts with its zero.
fn global_type(build: &Builder<'_>, choices: &mut Choices, heap: bool) -> Type {
    let scalar = Type::Scalar(*choices.pick(&Scalar::ALL).unwrap_or(&Scalar::I32));
    if !heap {
        return scalar;
    }
    let public = build.program.types().filter(|(_, def)| def.visibility == Visibility::Public);
    let named: Vec<TypeRef> = public.map(|(of, _)| of).collect();
    match choices.below(8) {
        4 => Type::String,
        5 => Type::Option(Arc::new(scalar)),
        6 => Type::Array(Arc::new(scalar)),
        7 => choices.pick(&named).map_or(scalar, |of| Type::Named(*of)),
        _ => scalar,
    }
}

fn declare_storage(
    build: &mut Builder<'_>,
    choices: &mut Choices,
    modules: &[ModuleRef],
    options: &Options,
    memory: bool,
) {
    for index in 0..choices.below(4) {
        let ty = global_type(build, choices, options.heap);
        let initial = constant(choices, &ty).or_else(|| default_constant(&ty)).unwrap_or(Const::Unit);
        let module = modules[choices.below(modules.len())];
        let mutable = choices.chance(70);
        let initial = initial.into();
        build.storage(module, format!("global{index}"), StorageKind::Global { ty, mutable, initial });
    }
    // What others begin with.
    let base = choices.chance(40).then(|| {
        let (ty, initial) = (Type::I32, Const::I32(16 * choices.below(64) as i32).into());
        build.add_storage(Storage {
            name: "base".into(),
            module: modules[0],
            visibility: Visibility::Public,
            exports: Vec::new(),
            import: Some(Import { module: "host".into(), name: "base".into() }),
            kind: StorageKind::Global { ty, mutable: false, initial },
            doc: None,
        })
    });
    if let Some(base) = base {
        let (ty, mutable, initial) = (Type::I32, choices.chance(70), Initial::Global(base));
        build.storage(modules[0], "based", StorageKind::Global { ty, mutable, initial });
    }
    if memory {
        let module = modules[0];
        build.storage(module, "memory", StorageKind::Memory { pages: 1, max_pages: Some(4) });
        for index in 0..choices.below(3) {
            let bytes: Arc<[u8]> = (0..choices.below(12)).map(|_| choices.number() as u8).collect();
            let offset = choices.chance(60).then(|| match base {
                Some(base) if choices.chance(50) => Offset::Global(base),
                Some(_) | None => Offset::At(16 * choices.below(64) as u32),
            });
            build.storage(module, format!("data{index}"), StorageKind::Data { offset, bytes });
        }
    }
    for index in 0..choices.below(3) {
        let place = SectionPlace::of_number(choices.below(14) as u64).unwrap_or(SectionPlace::Last);
        let bytes: Arc<[u8]> = (0..choices.below(6)).map(|_| choices.number() as u8).collect();
        let kind = StorageKind::Custom { section: "notes".into(), place, bytes };
        build.storage(modules[0], format!("notes{index}"), kind);
    }
}

fn declare_table(
    build: &mut Builder<'_>,
    choices: &mut Choices,
    modules: &[ModuleRef],
    functions: &[FuncRef],
) {
    let mut entries: Vec<Option<TableEntry>> = Vec::new();
    for _ in 0..1 + choices.below(4) {
        // A function that captures something cannot be called through a table.
        let callee = choices.pick(functions).filter(|of| {
            build.program.function(**of).is_some_and(|function| !makes_closure(function.head()))
        });
        entries.push(callee.copied().map(TableEntry::Function));
    }
    // What the host has is null in a run.
    if choices.chance(30) {
        let given = build.add_storage(Storage {
            name: "given".into(),
            module: modules[0],
            visibility: Visibility::Public,
            exports: Vec::new(),
            import: Some(Import { module: "host".into(), name: "given".into() }),
            kind: StorageKind::Global { ty: Type::FuncRef, mutable: false, initial: Const::Unit.into() },
            doc: None,
        });
        entries.push(Some(TableEntry::Global(given)));
    }
    let max = Some(entries.len() as u32 + 4);
    let (module, ty) = (modules[0], Type::FuncRef);
    let table = StorageKind::Table { ty: ty.clone(), entries: entries.clone(), max };
    let table = build.storage(module, "table", table);
    for index in 0..choices.below(3) {
        // No others than the table has: so what is called through it stays known.
        let part: Vec<Option<TableEntry>> =
            (0..choices.below(4)).map(|_| choices.pick(&entries).copied().flatten()).collect();
        let left = entries.len().checked_sub(part.len()).filter(|_| choices.chance(50));
        let target = left.map(|left| (table, Offset::At(choices.below(left + 1) as u32)));
        let kind = StorageKind::Elements { ty: ty.clone(), target, entries: part };
        build.storage(module, format!("elem{index}"), kind);
    }
}

pub(crate) fn head(
    choices: &mut Choices,
    options: &Options,
    modules: &[ModuleRef],
    index: usize,
    types: &[Type],
) -> FunctionHead {
    let module = modules[choices.below(modules.len())];
    let ty = |choices: &mut Choices| match choices.below(3) {
        0 => Type::I32,
        1 => Type::Scalar(*choices.pick(&Scalar::ALL).unwrap_or(&Scalar::I64)),
        _ => choices.pick(types).cloned().unwrap_or(Type::I64),
    };
    let taken = (0..choices.below(4)).map(|at| (format!("p{at}"), ty(choices))).collect::<Vec<_>>();
    let results = (0..[1, 1, 0, 2][choices.below(4)]).map(|_| ty(choices)).collect();
    let name = match choices.below(8) {
        7 if options.odd_names => format!("odd name {index}"),
        _ => format!("function{index}"),
    };
    let mut head = FunctionHead::new(name, module, params(taken), results);
    head.visibility = if choices.chance(20) { Visibility::Private } else { Visibility::Public };
    head.effect_bound =
        [EffectBound::Any, EffectBound::Any, EffectBound::Pure, EffectBound::Reads][choices.below(4)];
    head.doc = choices.chance(20).then(|| "says what it is for\nin two lines".into());
    head
}
