//! Reading texts into programs.

use std::collections::HashMap;

use crate::entities::Name;
use crate::program::Program;
use crate::refs::{ModuleRef, Ref, RefAllocator};
use crate::text::cursor::Parser;
use crate::text::dollar::Written;
use crate::text::error::{Mistake, TextError, locate};
use crate::text::lower::{Lowering, Policy};
use crate::text::places::Places;
use crate::text::syntax::Tree;

/// What a text added, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Modules, types, functions and storage, each with its name.
    pub entities: Vec<(Name, Ref)>,
    /// Where they and their parts stand.
    pub places: Places,
}

/// Reads a whole program. Refs in the text are honoured below 2^40; what has none gets one from the allocator.
pub fn parse_program(text: &str, refs: &mut RefAllocator) -> Result<Program, Vec<TextError>> {
    let mut program = Program::new();
    let (tree, mistakes) = parse_items(text);
    let lowering = Lowering::new(&program, refs, &tree, Policy::Honour);
    lower(text, mistakes, &mut program, refs, lowering, |lowering| lowering.modules(None))?;
    Ok(program)
}

/// Adds modules, types, storage and functions to a program. Items before any `module` line go to `module`; without one
/// to the only module, or to `main`. What the text adds cannot have refs yet; what it uses can.
pub fn add_text<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    module: Option<ModuleRef>,
    text: impl Into<Written<'t>>,
) -> Result<Added, Vec<TextError>> {
    let text = text.into();
    let (tree, mistakes) = parse_items(text);
    let policy = text.policy(HashMap::new());
    let lowering = Lowering::new(program, refs, &tree, policy).with_places();
    let (entities, places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        lowering.modules(module);
        std::mem::take(&mut lowering.made)
    })?;
    Ok(Added { entities, places })
}

pub(super) fn parse_items<'t>(text: impl Into<Written<'t>>) -> (Tree, Vec<Mistake>) {
    let mut parser = Parser::new(text);
    parser.items();
    (parser.tree, parser.mistakes)
}

/// Runs a lowering; on success its program and refs take the place of those given. The places are empty unless it was
/// asked for them.
pub(super) fn lower<'t, 'w, T>(
    text: impl Into<Written<'w>>,
    mistakes: Vec<Mistake>,
    program: &mut Program,
    refs: &mut RefAllocator,
    mut lowering: Lowering<'t>,
    run: impl FnOnce(&mut Lowering<'t>) -> T,
) -> Result<(T, Places), Vec<TextError>> {
    let text = text.into().text;
    let value = run(&mut lowering);
    let mut all = mistakes;
    all.append(&mut lowering.mistakes);
    if !all.is_empty() {
        return Err(locate(text, all));
    }
    *program = lowering.program;
    *refs = lowering.refs;
    let Some(places) = lowering.places else { return Ok((value, Places::default())) };
    Ok((value, Places::of(text, places, &lowering.given)))
}
