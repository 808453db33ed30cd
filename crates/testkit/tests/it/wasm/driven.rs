//! Calls that depend on those before them. A run here keeps nothing, so one function makes them all: what an agent would
//! add to a program to try it.

use std::num::NonZeroUsize;

use lmlang_compiled::Compiler;
use lmlang_interp::{Cache, Control, Options, Outcome, run};
use lmlang_ir::builder::Builder;
use lmlang_ir::{Const, FuncRef, FunctionHead, Program, RefAllocator, Source, StorageKind, Value};
use lmlang_verify::Checked;

use super::oracle::bits;
use crate::tiers::tools::alike;

/// A call with its arguments.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) of: FuncRef,
    pub(super) arguments: Vec<Value>,
}

/// How a call ended in wasmi.
#[derive(Clone, Debug)]
pub(super) enum Ended {
    /// With the bits of its results.
    Returned(Vec<u64>),
    Trapped,
    Exhausted,
}

/// What was asked of an instance, one after the other.
#[derive(Debug)]
pub(super) struct Calls {
    /// The program, with nothing left that the host provides.
    program: Program,
    refs: RefAllocator,
    pub(super) made: Vec<(Call, Ended)>,
}

/// Results that one function returns.
const AT_ONCE: usize = 50;

impl Calls {
    /// Nothing where other modules have a part: what they share is not here.
    pub(super) fn of(program: &Program) -> Option<Calls> {
        let (mut program, mut refs) = (program.clone(), RefAllocator::starting_at(1 << 30));
        let imported: Vec<(FuncRef, FunctionHead)> = program
            .functions()
            .filter(|(_, function)| function.head().import.is_some())
            .map(|(of, function)| (of, function.head().clone()))
            .collect();
        for (of, head) in imported {
            // The host of the tests only prints.
            let prints = head.import.as_ref().is_some_and(|import| *import.module == *"spectest");
            if !prints || !head.results.is_empty() {
                return None;
            }
            program.function_mut(of).ok()?.set_head(FunctionHead { import: None, ..head });
            Builder::new(&mut program, &mut refs).open(of).ok()?.ret([]);
        }
        for (of, mut storage) in program.clone().all_storage().map(|(of, storage)| (of, storage.clone())) {
            let Some(import) = storage.import.take() else { continue };
            match (&mut storage.kind, &*import.name) {
                (StorageKind::Global { initial, mutable: false, .. }, name)
                    if *import.module == *"spectest" =>
                {
                    *initial = match name {
                        "global_i32" => Const::I32(666).into(),
                        "global_i64" => Const::I64(666).into(),
                        "global_f32" => Const::F32(666.6f32.to_bits()).into(),
                        "global_f64" => Const::F64(666.6f64.to_bits()).into(),
                        _ => return None,
                    };
                    // Others may begin with it, so it stays one of the host's.
                    storage.import = Some(import);
                }
                (_, _) => return None,
            }
            program.set_storage(of, storage).ok()?;
        }
        Some(Calls { program, refs, made: Vec::new() })
    }

    /// A function that makes calls, and returns the results of those from a place on.
    fn driver(&mut self, calls: &[Call], from: usize) -> (Checked, FuncRef) {
        let mut program = self.program.clone();
        let types = |call: &Call| program.function(call.of).unwrap().head().results.clone();
        let results: Vec<_> = calls.iter().map(types).collect();
        let (module, _) = program.modules().next().unwrap();
        let head = FunctionHead::new("driver", module, Vec::new(), results[from..].concat());
        let mut refs = self.refs.clone();
        let mut build = Builder::new(&mut program, &mut refs);
        let mut build = build.function(head);
        let mut given = Vec::new();
        for (at, (call, results)) in calls.iter().zip(&results).enumerate() {
            let arguments: Vec<Source> = call
                .arguments
                .iter()
                .map(|argument| match argument {
                    Value::Const(value) => build.constant(value.clone()),
                    other => panic!("{other:?}"),
                })
                .collect();
            let node = build.call(call.of, arguments);
            if at >= from {
                given.extend((0..results.len()).map(|port| Source::Node(node, port as u16)));
            }
        }
        build.ret(given);
        let driver = build.function();
        (Checked::full(program, NonZeroUsize::MIN), driver)
    }

    /// Makes the calls here; how many ended as in wasmi, and how many of them as compiled code too.
    pub(super) fn check(&mut self, compiler: &Compiler) -> Result<(u32, u32), String> {
        let (mut here, mut compiled) = (0, 0);
        let made = std::mem::take(&mut self.made);
        let (mut before, mut waiting): (Vec<Call>, Vec<&Vec<u64>>) = (Vec::new(), Vec::new());
        for (at, (call, ended)) in made.iter().enumerate() {
            let expected = match ended {
                Ended::Returned(bits) => {
                    before.push(call.clone());
                    waiting.push(bits);
                    if waiting.len() < AT_ONCE && at + 1 < made.len() {
                        continue;
                    }
                    None
                }
                other => Some(other),
            };
            if !waiting.is_empty() && (expected.is_none() || at + 1 == made.len()) {
                let (checked, driver) = self.driver(&before, before.len() - waiting.len());
                let wanted: Vec<u64> = waiting.iter().flat_map(|bits| bits.iter().copied()).collect();
                match ran(&checked, driver) {
                    Outcome::Returned { values } if values.iter().map(bits).eq(wanted.iter().copied()) => {}
                    other => return Err(format!("here {other:?}, there {wanted:x?}")),
                }
                here += waiting.len() as u32;
                if alike(compiler, &checked, driver, &[]) {
                    compiled += waiting.len() as u32;
                }
                waiting.clear();
            }
            if let Some(ended) = expected {
                let calls: Vec<Call> = before.iter().chain([call]).cloned().collect();
                let (checked, driver) = self.driver(&calls, before.len());
                match (ran(&checked, driver), ended) {
                    (Outcome::Trapped { .. }, Ended::Trapped)
                    | (Outcome::LimitReached { .. }, Ended::Exhausted) => here += 1,
                    (other, _) => return Err(format!("here {other:?}, there {ended:?}: {call:?}")),
                }
                compiled += u32::from(alike(compiler, &checked, driver, &[]));
            }
        }
        Ok((here, compiled))
    }
}

fn ran(checked: &Checked, of: FuncRef) -> Outcome {
    let (options, cache) = (Options::default(), Cache::default());
    run(checked, of, &[], &options, &cache, u64::MAX, &mut |_| Control::Continue).unwrap().outcome
}
