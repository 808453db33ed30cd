//! FULL: everything is checked.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lmlang_ir::{FuncRef, Function, Program};

use crate::findings::{Findings, Group, Index};
use crate::rules::{self, contracts, functions, modules, regions, storage, types, unused, variables};
use crate::view::View;

/// Nodes below which a second thread costs more than it saves.
const WORTH_SPLITTING: u64 = 20_000;

/// Functions that a thread takes at a time.
const BATCH: usize = 16;

/// Finds everything about a program.
pub fn full(program: &Program) -> Findings {
    full_on(program, NonZeroUsize::MIN)
}

/// Finds everything about a program, on so many threads at most. The number changes nothing but the time.
pub fn full_on(program: &Program, threads: NonZeroUsize) -> Findings {
    let mut findings = Findings::starting_with(index(program));
    findings.set_group(0, outside(program, &findings.index));
    let all: Vec<(FuncRef, &Function)> =
        program.functions().map(|(of, function)| (of, function.as_ref())).collect();
    let threads = match program.totals().counts.nodes < WORTH_SPLITTING {
        true => 1,
        false => threads.get().min(all.len().max(1)),
    };
    if threads == 1 {
        for (of, function) in all {
            let group = function_group(program, &findings.index, of, function);
            findings.set_group(of.number(), group);
        }
        return findings;
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let work = || {
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(batch) = all.get(start..all.len().min(start + BATCH)) else { return };
                if batch.is_empty() {
                    return;
                }
                let groups: Vec<(FuncRef, Group)> = batch
                    .iter()
                    .map(|(of, function)| (*of, function_group(program, &findings.index, *of, function)))
                    .collect();
                done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(groups);
            }
        };
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    for (of, group) in done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        findings.set_group(of.number(), group);
    }
    findings
}

/// What the rules look up and the program does not index.
fn index(program: &Program) -> Index {
    let mut index = Index::default();
    program.functions().for_each(|(of, function)| index.note_function(of, function.head()));
    program.all_storage().for_each(|(of, storage)| index.note_storage(of, storage));
    index
}

/// The findings of modules, types and storage.
fn outside(program: &Program, index: &Index) -> Group {
    let mut found = Vec::new();
    program.modules().for_each(|(of, module)| modules::check(program, of, module, &mut found));
    let circular = types::circular(program, program.types().map(|(of, _)| of));
    program.types().for_each(|(of, def)| types::check(program, of, def, circular.contains(&of), &mut found));
    program.all_storage().for_each(|(of, one)| storage::check(program, index, of, one, &mut found));
    Group::new(found, None)
}

/// The findings inside of a function.
pub(crate) fn function_group(program: &Program, index: &Index, of: FuncRef, function: &Function) -> Group {
    let view = View::laid_out(program, of, function, !index.memories.is_empty());
    let mut found = Vec::new();
    let reader = functions::find_reader(&view);
    functions::check(&view, index, reader, &mut found);
    let body = function.body();
    body.variables().for_each(|(of, variable)| variables::check(&view, of, variable, &mut found));
    body.contracts().for_each(|(of, contract)| contracts::check(&view, of, contract, &mut found));
    body.regions().for_each(|(of, region)| regions::check(&view, of, region, &mut found));
    if let Some(layout) = view.layout() {
        layout.nodes().iter().for_each(|placed| rules::check_node(&view, placed.site(), &mut found));
        // Who is used is known once all have been looked at.
        layout.nodes().iter().for_each(|placed| unused::check(&view, placed.site(), &mut found));
    }
    Group::new(found, reader)
}
