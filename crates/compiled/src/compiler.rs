//! Compiled functions, kept by what they were compiled from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lmlang_ir::graph::calls::{Mentions, components_from};
use lmlang_ir::graph::closure_hashes;
use lmlang_ir::hash::{Content, Hash, Hasher};
use lmlang_ir::ops::signature;
use lmlang_ir::{FuncRef, Offset, Program, Ref, StorageKind, Type, VarRef};
use lmlang_verify::Checked;
use wasmtime::{Config, Engine, OptLevel};

use crate::cost::Cost;
use crate::refusal::{MOST_KEPT, MOST_NESTED, MOST_NODES, Refusal};
use crate::run::STACK;
use crate::unit::Unit;

/// Compiles functions, and keeps what it compiled as long as there is room. A clone shares it.
#[derive(Clone, Debug, Default)]
pub struct Compiler(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    engine: OnceLock<Result<Engine, Refusal>>,
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    units: HashMap<Hash, Kept>,
    /// Counts up with each use.
    clock: u64,
}

#[derive(Debug)]
struct Kept {
    unit: Arc<OnceLock<Result<Arc<Unit>, Refusal>>>,
    used: u64,
}

impl Kept {
    fn bytes(&self) -> usize {
        let unit = self.unit.get().and_then(|unit| unit.as_ref().ok());
        ENTRY + unit.map_or(0, |unit| unit.bytes())
    }
}

/// Bytes of machine code that are kept.
const CAPACITY: usize = 128 << 20;

/// Bytes that each entry counts for beyond its code.
const ENTRY: usize = 4 << 10;

impl Compiler {
    /// One that has compiled nothing.
    pub fn new() -> Compiler {
        Compiler::default()
    }

    /// The compiled function. Costs time in the size of what it reaches, unless it was compiled before and nothing of that
    /// has changed.
    ///
    /// # Errors
    ///
    /// What cannot be compiled.
    pub fn compile(&self, checked: &Checked, function: FuncRef) -> Result<Arc<Unit>, Refusal> {
        let program = checked.program();
        let found = program.function(function).ok_or(Refusal::NotCallable(function))?;
        let head = found.head();
        if !head.captures.is_empty() {
            return Err(Refusal::NotCallable(function));
        }
        let mut types = head.params.iter().map(|param| &param.ty).chain(&head.results);
        if let Some(ty) = types.find(|ty| matches!(ty, Type::FuncRef | Type::ExternRef | Type::Closure(_))) {
            return Err(Refusal::Reference { path: program.path(function.into()), ty: ty.clone() });
        }
        // Findings come of more than the code: of who may see whom, too.
        if !is_complete(checked, function) {
            return self.made(checked, function);
        }
        let (key, mut first) = (key(program, function), false);
        let made = || {
            first = true;
            self.made(checked, function)
        };
        let unit = self.kept(key).get_or_init(made).clone();
        match unit {
            Ok(unit) => {
                self.make_room();
                Ok(unit)
            }
            Err(refusal) => {
                // It may be called something else when it is asked for again, and by whoever asks at the same time.
                drop(self.shelf().units.remove(&key));
                if first { Err(refusal) } else { self.made(checked, function) }
            }
        }
    }

    fn made(&self, checked: &Checked, function: FuncRef) -> Result<Arc<Unit>, Refusal> {
        let nodes = nodes(checked.program(), function);
        if nodes > MOST_NODES {
            return Err(Refusal::TooLarge { path: checked.program().path(function.into()), nodes });
        }
        let program = checked.program();
        let Cost { kept, nested } = cost(program, function);
        if kept > MOST_KEPT {
            return Err(Refusal::Keeps { path: program.path(function.into()), kept });
        }
        if nested > MOST_NESTED {
            return Err(Refusal::Nests { path: program.path(function.into()), nested });
        }
        if let Some(of) = reached(program, function).find(|of| is_of_host(program, *of)) {
            return Err(Refusal::OfHost { path: program.path(of) });
        }
        Ok(Arc::new(Unit::new(self.engine()?, checked, function)?))
    }

    fn engine(&self) -> Result<&Engine, Refusal> {
        let engine = self.0.engine.get_or_init(|| {
            let mut config = Config::new();
            config.cranelift_opt_level(OptLevel::Speed);
            // The library wants the one below the other, though nothing here is asynchronous.
            config.async_stack_size(STACK).max_wasm_stack(STACK - (1 << 20));
            Engine::new(&config).map_err(|error| Refusal::Compiler(format!("{error:#}")))
        });
        engine.as_ref().map_err(Clone::clone)
    }

    fn kept(&self, key: Hash) -> Arc<OnceLock<Result<Arc<Unit>, Refusal>>> {
        let mut shelf = self.shelf();
        shelf.clock += 1;
        let used = shelf.clock;
        let kept = shelf.units.entry(key).or_insert_with(|| Kept { unit: Arc::default(), used });
        kept.used = used;
        Arc::clone(&kept.unit)
    }

    /// Lets go of what was not used for longest.
    fn make_room(&self) {
        let mut shelf = self.shelf();
        let mut bytes: usize = shelf.units.values().map(Kept::bytes).sum();
        if bytes <= CAPACITY {
            return;
        }
        let mut oldest: Vec<(u64, Hash)> = shelf.units.iter().map(|(key, kept)| (kept.used, *key)).collect();
        oldest.sort_unstable();
        // The newest stays, however large.
        oldest.pop();
        for (_, key) in oldest {
            if bytes <= CAPACITY / 2 {
                break;
            }
            bytes -= shelf.units.remove(&key).map_or(0, |kept| kept.bytes());
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // What is in there is never left half-written.
        self.0.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nodes of a function and of all that it reaches: what compiling costs.
pub fn nodes(program: &Program, function: FuncRef) -> u64 {
    let reached =
        components_from(Mentions::without_invariants(program), [function.into()]).into_iter().flatten();
    let functions = reached.filter_map(|of| program.function(FuncRef::try_from(of).ok()?));
    functions.map(|function| function.body().counts().nodes).sum()
}

/// What compiling a function, with all that it reaches, costs beyond the nodes.
fn cost(program: &Program, function: FuncRef) -> Cost {
    let functions = reached(program, function).filter_map(|of| program.function(FuncRef::try_from(of).ok()?));
    functions.map(|function| Cost::of(function)).fold(Cost::default(), Cost::and)
}

fn start(program: &Program) -> Option<FuncRef> {
    program.functions().find(|(_, of)| of.head().start).map(|(of, _)| of)
}

/// What would be compiled: functions, types and storage.
fn reached(program: &Program, function: FuncRef) -> impl Iterator<Item = Ref> {
    let roots = [function].into_iter().chain(start(program)).map(Ref::from);
    components_from(Mentions::without_invariants(program), roots).into_iter().flatten()
}

/// Whether nothing is missing or wrong in what would be compiled.
fn is_complete(checked: &Checked, function: FuncRef) -> bool {
    let program = checked.program();
    reached(program, function).all(|of| match FuncRef::try_from(of) {
        Ok(of) => {
            let asked = program.function(of).is_some_and(|function| function.head().import.is_some());
            asked || checked.complete(of).is_some()
        }
        Err(_) => true,
    })
}

/// Whether a function or storage has references that a host makes.
fn is_of_host(program: &Program, of: Ref) -> bool {
    let is_one = |ty: &Type| *ty == Type::ExternRef;
    if let Ok(of) = FuncRef::try_from(of) {
        return program.function(of).is_some_and(|function| {
            let (head, mut nodes) = (function.head(), function.body().nodes());
            let mut params = head.params.iter().chain(&head.captures);
            params.any(|param| is_one(&param.ty))
                || head.results.iter().any(is_one)
                || nodes.any(|(_, node)| {
                    let outputs = signature::outputs(program, function, node).unwrap_or_default();
                    outputs.iter().any(is_one)
                })
        });
    }
    let storage = VarRef::try_from(of).ok().and_then(|of| program.storage(of));
    storage.is_some_and(|storage| match &storage.kind {
        StorageKind::Global { ty, .. } => is_one(ty),
        other => other.holds().is_some_and(is_one),
    })
}

/// What compiled code depends on: the function with all that it reaches, the start function with the same, and the memory
/// with what is put into it, and where, which nobody names.
fn key(program: &Program, function: FuncRef) -> Hash {
    let start = start(program);
    let hashes = closure_hashes(program, [function].into_iter().chain(start));
    let mut hasher = Hasher::new(b"compiled");
    for of in [Some(function), start] {
        hasher.bytes(&of.and_then(|of| hashes.get(&of)).unwrap_or(&Hash::ZERO).0);
    }
    for (_, storage) in program.all_storage() {
        if matches!(storage.kind, StorageKind::Memory { .. } | StorageKind::Data { .. }) {
            storage.kind.hash_into(&mut hasher);
        }
        if let StorageKind::Data { offset: Some(Offset::Global(of)), .. } = &storage.kind
            && let Some(global) = program.storage(*of)
        {
            global.kind.hash_into(&mut hasher);
        }
    }
    hasher.finish()
}
