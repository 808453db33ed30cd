//! A function as a module that counts its fuel, to be run by somebody who bounds it.

use std::collections::BTreeSet;
use std::rc::Rc;

use lmlang_ir::FuncRef;
use lmlang_verify::Checked;
use wasm_encoder::{EntityType, ExportKind, ExportSection, ImportSection, ValType};

use super::brought::{self, Bringing, Brought, HEAP};
use super::guard::Guard;
use super::host::Asked;
use super::meter::{DEPTH_BITS, GLOBALS, Meter};
use super::scope::Scope;
use super::types::Types;
use super::{ExportError, ExportOptions, Indices, Writing};
use crate::runtime::RUNTIME;

/// A function with all that it reaches, as a module that counts: a unit of fuel for each node that is executed, and
/// beyond that what bulk operators cost, exactly as a run here counts them.
///
/// The module exports what is called here after the constants, and asks the host for [`Metered::MORE`] and for what of the
/// world outside it needs: `print`, `read_line`, `open_file`, `read_file`, `write_file`, `close_file`, which take and give
/// what the operators do. Other imports are those of the program.
#[derive(Clone, Debug)]
pub struct Metered {
    /// The binary module.
    pub module: Vec<u8>,
    /// Whether the program has a start function, which is to be called first.
    pub starts: bool,
    /// Whether it may make values of the heap.
    pub heap: bool,
    /// How many globals hold one.
    pub globals: u64,
    /// Bytes that texts and bytes in the code take at most, as a run here counts them.
    pub constants: u64,
}

impl Metered {
    /// The function; what it takes and returns are machine words.
    pub const RUN: &str = "lm_run";
    /// The start function of the program, if it is another one.
    pub const START: &str = "lm_start";
    /// A global of 64 bits: what is left, as [`Counted`] packs it.
    pub const LEFT: &str = "lm_left";
    /// A global of 64 bits: what bulk operators have cost.
    pub const EXTRA: &str = "lm_extra";
    /// A global of 64 bits: bytes of values that somebody holds, as a run here counts them.
    pub const LIVE: &str = "lm_live";
    /// A global of 64 bits: the most of them that there were.
    pub const PEAK: &str = "lm_peak";
    /// A global of 64 bits: in how many places calls may hold values, at most. A run here has no more of them.
    pub const PLACES: &str = "lm_places";
    /// The memory of the program, if it has one; that of the heap is another.
    pub const MEMORY: &str = "lm_own_memory";
    /// The memory of the heap.
    pub const HEAP: &str = HEAP;
    /// Makes a value: bytes and references that it holds, its word, and the bits of its [`Measure`](crate::values::Measure).
    pub const NEW: &str = "lm_new";
    /// The module that functions of the host come from.
    pub const HOST: &str = "lm";
    /// Module and name of the function that is called with what is left when either half is below zero; the run goes on
    /// with what it returns.
    pub const MORE: (&str, &str) = (Metered::HOST, "more");
}

/// What a run may still do: fuel, and calls inside of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Nodes, and what bulk operators cost; below zero where a run went on until it could ask.
    pub fuel: i64,
    /// Calls; below zero for one too many.
    pub depth: i32,
}

impl Counted {
    /// The most fuel that is handed out at once.
    pub const MOST_FUEL: i64 = 1 << 40;
    /// The most calls that are counted.
    pub const MOST_DEPTH: i32 = 1 << (DEPTH_BITS - 1);

    /// Both in one number.
    pub fn pack(self) -> i64 {
        (self.fuel << DEPTH_BITS) + i64::from(self.depth)
    }

    /// Takes the number apart.
    pub fn of(packed: i64) -> Counted {
        let unused = i64::BITS - DEPTH_BITS;
        let depth = packed << unused >> unused;
        Counted { fuel: (packed - depth) >> DEPTH_BITS, depth: depth as i32 }
    }
}

/// Writes a function as a module that counts.
///
/// # Errors
///
/// The first function that is not complete, or has what such modules cannot have.
pub fn metered(checked: &Checked, function: FuncRef) -> Result<Metered, ExportError> {
    let program = checked.program();
    let start = program.functions().find(|(of, f)| f.head().start && *of != function).map(|(of, _)| of);
    let scope = Rc::new(Scope::reached(program, [function].into_iter().chain(start)));
    super::refuse_invariants(program, &scope)?;
    let heap = brought::has_heap(program, &scope);
    let asked = Asked::by(program, &scope);
    let options = ExportOptions { contracts: true, canonical_nans: true, main: None };
    let indices = Indices::of(program, &scope, 1 + asked.len() as u32);
    let own = indices.globals.len() as u32;
    let guard = Guard::of(program, &scope, options, own);
    let left = own + u32::from(guard.is_some());
    let (run, start) = (indices.functions[&function], start.map(|of| indices.functions[&of]));
    let brought = indices.functions.len() as u32 + 1 + asked.len() as u32;
    let more = indices.world;
    let meter = Meter { more, left, extra: left + 1, run, start, brought };
    let mut bringing = Bringing::new(program, &scope, &indices, brought, left + GLOBALS.len() as u32);
    bringing.asked = asked.into_iter().zip(more + 1..).collect();
    bringing.constants.counted = true;
    bringing.offered = heap;
    let globals = scope.storage(program).filter(|(_, storage)| brought::holds_value(&storage.kind)).count();
    let constants = super::constants::counted_bytes(program, &scope);
    let (types, declared) = (Types::default(), BTreeSet::new());
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
        meter: Some(meter),
    };
    let module = writing.module(checked)?;
    Ok(Metered { module, starts: start.is_some(), heap, globals: globals as u64, constants })
}

impl Writing<'_> {
    /// Asks for what the host gives, and offers what it looks at.
    pub(super) fn meet_host(
        &mut self,
        meter: Meter,
        imports: &mut ImportSection,
        exports: &mut ExportSection,
    ) {
        let (module, name) = Metered::MORE;
        let ty = self.types.index(vec![ValType::I64], vec![ValType::I64]);
        imports.import(module, name, EntityType::Function(ty));
        self.meet_outside(module, imports);
        exports.export(Metered::LEFT, ExportKind::Global, meter.left);
        exports.export(Metered::EXTRA, ExportKind::Global, meter.extra);
        if self.heap {
            for (name, global) in
                [(Metered::LIVE, "live"), (Metered::PEAK, "peak"), (Metered::PLACES, "most_places")]
            {
                exports.export(name, ExportKind::Global, meter.global(global).unwrap_or_default());
            }
            let give = self.brought(Brought::Runtime(RUNTIME.function("give")));
            exports.export(Metered::NEW, ExportKind::Func, give);
        }
        if self.has_memory() {
            exports.export(Metered::MEMORY, ExportKind::Memory, 0);
        }
        exports.export(Metered::RUN, ExportKind::Func, meter.run);
        if let Some(start) = meter.start {
            exports.export(Metered::START, ExportKind::Func, start);
        }
    }
}
