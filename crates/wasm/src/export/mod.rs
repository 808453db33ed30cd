//! A program becomes a WebAssembly module.

mod body;
mod broken;
mod brought;
mod bytes;
mod constants;
mod custom;
mod guard;
mod host;
mod lent;
mod locals;
mod meter;
mod metered;
mod scope;
mod stack;
mod storage;
mod types;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use lmlang_ir::graph::checked_types;
use lmlang_ir::refs::looks_like_ref;
use lmlang_ir::{FuncRef, Function, Name, Program, Ref, Section, SectionPlace, StorageKind, VarRef};
use lmlang_verify::{Checked, Class};
use thiserror::Error;
use wasm_encoder::{
    CodeSection, DataCountSection, DataSection, ElementSection, EntityType, ExportKind, ExportSection,
    FunctionSection, GlobalSection, ImportSection, IndirectNameMap, MemorySection, Module, NameMap,
    NameSection, StartSection, TableSection, TypeSection, ValType,
};

use brought::Bringing;
use custom::Carried;
use guard::Guard;
use meter::Meter;
use scope::Scope;
use storage::StorageSections;
use types::Types;

pub use metered::{Counted, Metered, metered};

/// Why a program is not written as a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExportError {
    /// Something is missing or wrong.
    #[error("`{path}` is not complete: see its diagnostics")]
    Incomplete {
        /// The function, or the entity outside of functions.
        of: Ref,
        /// Its path.
        path: String,
    },
    /// Modules cannot have it yet.
    #[error("{what} (`{of}` in `{path}`) is not supported in a module")]
    Unsupported {
        /// Where.
        of: Ref,
        /// The path of the function around, or of the entity.
        path: String,
        /// What.
        what: String,
    },
    /// The function that is to run takes or returns values.
    #[error("`{path}` cannot be what runs: it takes or returns values")]
    NoMain {
        /// The function.
        of: FuncRef,
        /// Its path.
        path: String,
    },
}

/// What a module is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// Whether contracts are evaluated: one that does not hold ends in `unreachable`, in a function whose name says which.
    pub contracts: bool,
    /// Whether every NaN that is computed is the canonical one, as in a run here; WebAssembly leaves open which it is.
    pub canonical_nans: bool,
    /// The function that a WASI host runs: it is exported as `_start`.
    pub main: Option<FuncRef>,
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions { contracts: true, canonical_nans: false, main: None }
    }
}

/// The binary module that a program is.
///
/// # Errors
///
/// The first entity that is not complete, or has what modules cannot have yet.
pub fn export(checked: &Checked, options: ExportOptions) -> Result<Vec<u8>, ExportError> {
    // What a change elsewhere has left behind is no module either.
    if let Some(found) = checked.findings().outside().find(|found| found.code.class() != Class::Warning) {
        let path = checked.program().path(found.at.entity);
        return Err(ExportError::Incomplete { of: found.at.entity, path });
    }
    if options.contracts {
        refuse_invariants(checked.program(), &Scope::Whole)?;
    }
    write(checked, Scope::Whole, options)
}

/// Refuses functions on whose parameters or results invariants are to be checked: modules do not do that.
fn refuse_invariants(program: &Program, scope: &Scope) -> Result<(), ExportError> {
    for (of, function) in scope.functions(program) {
        if let Some(ty) = checked_types(program, function).first() {
            let what = format!("a check of the invariants of `{}`", program.path((*ty).into()));
            return Err(ExportError::Unsupported { of: of.into(), path: program.path(of.into()), what });
        }
    }
    Ok(())
}

/// A function as a module of its own, for those who read it: what it calls is imported, by its path. Invariants of types are
/// left out.
///
/// # Errors
///
/// It is not complete, or has what modules cannot have yet.
pub fn export_alone(checked: &Checked, function: FuncRef) -> Result<Vec<u8>, ExportError> {
    write(checked, Scope::alone(checked.program(), function), ExportOptions::default())
}

fn write(checked: &Checked, scope: Scope, options: ExportOptions) -> Result<Vec<u8>, ExportError> {
    let (program, scope) = (checked.program(), Rc::new(scope));
    let world = brought::world(program, &scope);
    let indices = Indices::of(program, &scope, world.len() as u32);
    let guard = Guard::of(program, &scope, options, indices.globals.len() as u32);
    let (types, declared) = (Types::default(), BTreeSet::new());
    let first = (indices.functions.len() + world.len()) as u32;
    let top = indices.globals.len() as u32 + u32::from(guard.is_some());
    let mut bringing = Bringing::new(program, &scope, &indices, first, top);
    bringing.world = world.into_iter().zip(indices.world..).collect();
    let heap = brought::has_heap(program, &scope);
    let mut writing = Writing {
        program,
        scope,
        options,
        indices,
        types,
        declared,
        guard,
        bringing,
        names_data: false,
        heap,
        meter: None,
    };
    writing.module(checked)
}

/// What the entities of a program are called in the module.
#[derive(Debug, Default)]
struct Indices {
    functions: HashMap<FuncRef, u32>,
    globals: HashMap<VarRef, u32>,
    tables: HashMap<VarRef, u32>,
    data: HashMap<VarRef, u32>,
    elements: HashMap<VarRef, u32>,
    /// The first function of the world outside that is brought along.
    world: u32,
}

impl Indices {
    /// What is imported comes first, then what of the world outside is brought along, all in the order of the refs.
    fn of(program: &Program, scope: &Scope, world: u32) -> Indices {
        let mut indices = Indices::default();
        let functions = |imported: bool| {
            let functions = scope.functions(program);
            functions
                .filter(move |(of, f)| scope.asked(program, *of, f.head()).is_some() == imported)
                .map(|(of, _)| of)
        };
        indices.functions = functions(true).zip(0u32..).collect();
        indices.world = indices.functions.len() as u32;
        indices.functions.extend(functions(false).zip(indices.world + world..));
        for imported in [true, false] {
            let storage = scope.storage(program);
            for (of, storage) in storage.filter(|(_, of)| scope.asks_host(of) == imported) {
                let map = match storage.kind {
                    StorageKind::Global { .. } => &mut indices.globals,
                    StorageKind::Table { .. } => &mut indices.tables,
                    StorageKind::Data { .. } => &mut indices.data,
                    StorageKind::Memory { .. }
                    | StorageKind::Elements { .. }
                    | StorageKind::Custom { .. } => {
                        continue;
                    }
                };
                map.insert(of, map.len() as u32);
            }
        }
        // What tables begin with stands before the segments.
        let mut next = 0;
        for (_, storage) in scope.storage(program) {
            if let StorageKind::Table { entries, .. } = &storage.kind {
                next += storage::runs(entries, &indices, scope).count() as u32;
            }
        }
        let segments =
            scope.storage(program).filter(|(_, of)| matches!(of.kind, StorageKind::Elements { .. }));
        indices.elements = segments.map(|(of, _)| of).zip(next..).collect();
        indices
    }
}

/// A module that is being written.
struct Writing<'p> {
    program: &'p Program,
    scope: Rc<Scope>,
    options: ExportOptions,
    indices: Indices,
    types: Types,
    /// Functions that references are taken of.
    declared: BTreeSet<u32>,
    /// What tells whether a contract is being evaluated, if that matters.
    guard: Option<Guard>,
    /// What it has beyond the program's own.
    bringing: Bringing,
    /// Whether a body names a data segment: then their number has to come before it.
    names_data: bool,
    /// Whether anything in the program may make a value of the heap.
    heap: bool,
    /// What counts the fuel, if something does.
    meter: Option<Meter>,
}

impl<'p> Writing<'p> {
    fn unsupported(&self, of: impl Into<Ref>, what: impl Into<String>) -> ExportError {
        let of = of.into();
        ExportError::Unsupported { of, path: self.program.path(of), what: what.into() }
    }

    fn module(&mut self, checked: &'p Checked) -> Result<Vec<u8>, ExportError> {
        let program = self.program;
        let (mut imports, mut functions) = (ImportSection::new(), FunctionSection::new());
        let (mut code, mut names) = (CodeSection::new(), Naming::of(program, &self.scope));
        let mut exports = ExportSection::new();
        let mut start = None;
        let scope = Rc::clone(&self.scope);
        let mut ordered: Vec<(u32, FuncRef, &Function)> = scope
            .functions(program)
            .filter_map(|(of, function)| Some((*self.indices.functions.get(&of)?, of, &**function)))
            .collect();
        ordered.sort_unstable_by_key(|(index, ..)| *index);
        let mut called: HashMap<&Name, u32> = HashMap::new();
        for (_, _, function) in &ordered {
            *called.entry(&function.head().name).or_default() += 1;
        }
        for (index, of, function) in ordered {
            let head = function.head();
            let ty = self.signature(function);
            let asked = scope.asked(program, of, head);
            match &asked {
                Some(import) => {
                    if let (true, Some((contract, _))) =
                        (self.options.contracts && scope.is_whole(), function.body().contracts().next())
                    {
                        return Err(self.unsupported(contract, "a contract of what the host provides"));
                    }
                    imports.import(&import.module, &import.name, EntityType::Function(ty));
                }
                None => {
                    let complete = checked.complete(of);
                    let complete = complete.ok_or_else(|| ExportError::Incomplete {
                        of: of.into(),
                        path: program.path(of.into()),
                    })?;
                    functions.function(ty);
                    let body = body::write(self, of, complete.function())?;
                    names.body(index, &body);
                    code.function(&body.code);
                }
            }
            let entry = self.entry(of, head);
            if scope.is_whole() {
                head.exports.iter().for_each(|name| {
                    exports.export(name, ExportKind::Func, entry);
                });
            }
            if self.options.main == Some(of) {
                if !(head.params.is_empty() && head.results.is_empty()) {
                    return Err(ExportError::NoMain { of, path: program.path(of.into()) });
                }
                self.free("_start")?;
                exports.export("_start", ExportKind::Func, entry);
            }
            if head.start && scope.is_whole() {
                start = Some(StartSection { function_index: index });
            }
            let given = head.exports.first().or_else(|| asked.as_ref().map(|import| &import.name));
            // Who reads a function alone wants to see what it calls.
            let named = scope.is_whole() && entry == index;
            // Those of several modules may have one name.
            let name: Name = match called.get(&head.name) {
                Some(2..) if scope.is_whole() => program.path(of.into()).into(),
                Some(_) | None => head.name.clone(),
            };
            names.function(index, &name, given.filter(|_| named));
        }
        if let Some(meter) = self.meter {
            self.meet_host(meter, &mut imports, &mut exports);
        } else {
            self.meet_world(&mut imports, &mut exports)?;
            self.offer_values(&mut exports)?;
        }
        self.refer();
        self.bring(&mut functions, &mut code, &mut names)?;
        let mut storage = self.storage(&mut imports, &mut exports, &mut names)?;
        let mut elements = self.elements()?;
        self.heap(&mut storage, &mut elements, &mut exports);
        let carried = Carried::of(program, &scope);
        let mut module = Module::new();
        carried.put(SectionPlace::First, &mut module);
        let mut put = |section: Section, of: &dyn Part| {
            of.put(&mut module);
            carried.put(SectionPlace::After(section), &mut module);
        };
        let count = self.names_data.then(|| DataCountSection { count: storage.data.len() });
        put(Section::Type, &self.types.section());
        put(Section::Import, &imports);
        put(Section::Func, &functions);
        put(Section::Table, &storage.tables);
        put(Section::Memory, &storage.memories);
        put(Section::Global, &storage.globals);
        put(Section::Export, &exports);
        put(Section::Start, &start);
        put(Section::Elem, &elements);
        put(Section::DataCount, &count);
        put(Section::Code, &code);
        put(Section::Data, &storage.data);
        if self.meter.is_none() {
            names.write(&mut module);
        }
        carried.put(SectionPlace::Last, &mut module);
        Ok(module.finish())
    }

    /// The type of a function. One that captures values gets the closure behind its parameters.
    fn signature(&mut self, function: &Function) -> u32 {
        let head = function.head();
        let mut params: Vec<ValType> = head.params.iter().map(|param| types::value(&param.ty)).collect();
        if !head.captures.is_empty() {
            params.push(ValType::I32);
        }
        self.types.index(params, types::values(&head.results))
    }
}

/// A section that is left out when nothing is in it.
trait Part {
    fn put(&self, module: &mut Module);
}

macro_rules! sections {
    ($($name:ident),*) => {$(
        impl Part for $name {
            fn put(&self, module: &mut Module) {
                if !self.is_empty() {
                    module.section(self);
                }
            }
        }
    )*};
}
sections!(
    TypeSection,
    ImportSection,
    FunctionSection,
    TableSection,
    MemorySection,
    GlobalSection,
    ExportSection,
    ElementSection,
    CodeSection,
    DataSection
);

impl<T: wasm_encoder::Section> Part for Option<T> {
    fn put(&self, module: &mut Module) {
        if let Some(section) = self {
            module.section(section);
        }
    }
}

/// The labels of a module. What an import would call a thing anyway is left out.
#[derive(Debug, Default)]
struct Naming {
    module: Option<Name>,
    functions: Vec<(u32, Name)>,
    locals: BTreeMap<u32, Vec<(u32, Name)>>,
    labels: BTreeMap<u32, Vec<(u32, Name)>>,
    globals: Vec<(u32, Name)>,
    tables: Vec<(u32, Name)>,
    memories: Vec<(u32, Name)>,
    elements: Vec<(u32, Name)>,
    data: Vec<(u32, Name)>,
}

/// What importing makes this label of: it puts a `_` behind what looks like a ref.
fn as_given(label: &str) -> &str {
    label.strip_suffix('_').filter(|name| looks_like_ref(name)).unwrap_or(label)
}

/// Whether importing calls by this label what is exported or imported by that name.
fn is_given(label: &Name, given: Option<&Name>) -> bool {
    given.is_some_and(|given| given == label || **given == *as_given(label))
}

impl Naming {
    /// What is all in one module is called like that.
    fn of(program: &Program, scope: &Scope) -> Naming {
        let mut modules = program.modules();
        let module = match (modules.next(), modules.next()) {
            (Some((_, only)), None) if scope.is_whole() && *only.name != *"main" => Some(only.name.clone()),
            (_, _) => None,
        };
        Naming { module, ..Naming::default() }
    }

    fn function(&mut self, index: u32, name: &Name, given: Option<&Name>) {
        if !is_given(name, given) && **name != *format!("func{index}") {
            self.functions.push((index, name.clone()));
        }
    }

    fn brought(&mut self, index: u32, name: &str) {
        self.functions.push((index, format!("lm_{name}").into()));
    }

    /// The names in a body.
    fn body(&mut self, function: u32, body: &body::Written) {
        for (names, all) in [(&body.names, &mut self.locals), (&body.labels, &mut self.labels)] {
            if !names.is_empty() {
                all.insert(function, names.clone());
            }
        }
    }

    fn write(mut self, module: &mut Module) {
        let mut section = NameSection::new();
        let map = |names: &mut Vec<(u32, Name)>, other: &str| -> Option<NameMap> {
            names.retain(|(index, name)| other.is_empty() || **name != *format!("{other}{index}"));
            names.sort_unstable();
            let mut map = NameMap::new();
            names.iter().for_each(|(index, name)| map.append(*index, as_given(name)));
            (!names.is_empty()).then_some(map)
        };
        let functions = map(&mut self.functions, "");
        let others = [
            map(&mut self.tables, "table"),
            map(&mut self.memories, "memory"),
            map(&mut self.globals, "global"),
            map(&mut self.elements, "elem"),
            map(&mut self.data, "data"),
        ];
        let nothing =
            self.module.is_none() && functions.is_none() && self.locals.is_empty() && self.labels.is_empty();
        if nothing && others.iter().all(Option::is_none) {
            return;
        }
        if let Some(module) = &self.module {
            section.module(module);
        }
        if let Some(functions) = functions {
            section.functions(&functions);
        }
        let indirect = |of: BTreeMap<u32, Vec<(u32, Name)>>| {
            let mut all = IndirectNameMap::new();
            for (function, mut names) in of {
                if let Some(names) = map(&mut names, "") {
                    all.append(function, &names);
                }
            }
            all
        };
        if !self.locals.is_empty() {
            section.locals(&indirect(self.locals));
        }
        if !self.labels.is_empty() {
            section.labels(&indirect(self.labels));
        }
        let [tables, memories, globals, elements, data] = others;
        if let Some(tables) = tables {
            section.tables(&tables);
        }
        if let Some(memories) = memories {
            section.memories(&memories);
        }
        if let Some(globals) = globals {
            section.globals(&globals);
        }
        if let Some(elements) = elements {
            section.elements(&elements);
        }
        if let Some(data) = data {
            section.data(&data);
        }
        module.section(&section);
    }
}
