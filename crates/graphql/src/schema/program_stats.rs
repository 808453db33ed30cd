//! How much there is of what in a program.

use async_graphql::SimpleObject;

use crate::schema::scalars::Count;
use crate::schema::view::View;

/// How much there is of what.
#[derive(Clone, Debug, SimpleObject)]
pub struct ProgramStats {
    /// Modules.
    modules: i32,
    /// Nominal types.
    types: i32,
    /// Functions.
    functions: i32,
    /// Regions, those of contracts included.
    regions: i32,
    /// Nodes.
    nodes: Count,
    /// Edges of all functions, data and control edges: the sum of the totals of `Function.edges`.
    edges: Count,
    /// Inputs without a source.
    holes: i32,
    /// Warnings of the verifier, incomplete places included.
    warnings: i32,
}

impl ProgramStats {
    /// How much there is at a view.
    pub(crate) fn of(view: &View) -> ProgramStats {
        let totals = view.program().totals();
        let tally = view.findings().tally();
        let counts = totals.counts;
        ProgramStats {
            modules: int(totals.modules),
            types: int(totals.types),
            functions: int(totals.functions),
            regions: int(counts.regions),
            nodes: Count(counts.nodes),
            edges: Count(counts.data_edges + counts.control_edges),
            holes: int(counts.holes),
            warnings: int(tally.warnings + tally.incomplete + tally.stale),
        }
    }
}

fn int(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
