//! The rules, one file per group. Each looks at one entity and a bounded neighbourhood.

pub(crate) mod contracts;
pub(crate) mod effects;
pub(crate) mod exits;
pub(crate) mod flow;
pub(crate) mod functions;
pub(crate) mod matches;
pub(crate) mod memory;
pub(crate) mod mentions;
pub(crate) mod modules;
pub(crate) mod regions;
pub(crate) mod sources;
pub(crate) mod storage;
pub(crate) mod types;
pub(crate) mod unused;
pub(crate) mod variables;

use crate::diagnostic::Diagnostic;
use crate::ports::Inputs;
use crate::view::{Site, View};

/// All rules about a node but the one about unused values, which asks for all uses.
pub(crate) fn check_node(view: &View<'_>, site: Site<'_>, out: &mut Vec<Diagnostic>) {
    let expected = Inputs::of(view.program, view.function, site.node);
    sources::check(view, site, &expected, out);
    mentions::check(view, site, out);
    exits::check(view, site, out);
    matches::check(view, site, out);
    regions::check_owner(view, site, out);
    memory::check(view, site, out);
    effects::check(view, site, out);
    flow::check(view, site, out);
}
