//! Which values can be used at a place.

use crate::entities::RegionOwner;
use crate::function::{Body, Function};
use crate::node::Source;
use crate::ops::signature::outputs;
use crate::program::Program;
use crate::refs::{FuncRef, NodeRef, RegionRef};
use crate::types::Type;

/// How many nodes are looked at for values in scope; those nearest to the place come first.
pub const MOST_LOOKED_AT: usize = 10_000;

/// The values that an input of a node can take, with their types, the nearest first: outputs of the nodes before it in its
/// region, the parameters of that, then the same of the regions around, and at last the parameters of the function. Looks
/// at [`MOST_LOOKED_AT`] nodes at most.
pub fn values_in_scope<'a>(
    program: &'a Program,
    of: FuncRef,
    function: &'a Function,
    user: NodeRef,
) -> impl Iterator<Item = (Source, Type)> + 'a {
    let body = function.body();
    let home = body.node(user).map(|node| node.region());
    let regions = places(body, home, user);
    let mut left = MOST_LOOKED_AT;
    let inner = regions.flat_map(move |(region, standing)| {
        let before = std::iter::successors(body.previous(standing), |node| body.previous(*node));
        let nodes: Vec<NodeRef> = before.take(left).collect();
        left -= nodes.len();
        let params = body.region(region).map_or(&[][..], |region| &region.params);
        let params = params.iter().enumerate().rev();
        let values = nodes.into_iter().flat_map(move |node| {
            let types =
                body.node(node).and_then(|found| outputs(program, function, found)).unwrap_or_default();
            let ports = types.into_iter().enumerate();
            ports.map(move |(port, ty)| (Source::Node(node, port as u16), ty))
        });
        values.chain(
            params.map(move |(index, param)| (Source::RegionParam(region, index as u16), param.ty.clone())),
        )
    });
    let params = function.head().params.iter().enumerate().rev();
    inner.chain(params.map(move |(index, param)| (Source::Param(of, index as u16), param.ty.clone())))
}

/// The regions around a node, the innermost first, each with the node of it that the place is in.
fn places(
    body: &Body,
    home: Option<RegionRef>,
    user: NodeRef,
) -> impl Iterator<Item = (RegionRef, NodeRef)> + '_ {
    let chain = home.map(|home| body.chain(home)).into_iter().flatten();
    let mut standing = Some(user);
    chain.map_while(move |region| {
        let here = standing?;
        standing = match body.region(region)?.owner {
            RegionOwner::Node(owner) => Some(owner),
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        };
        Some((region, here))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refs::RefAllocator;
    use crate::text::parse_program;

    #[test]
    fn the_nearest_come_first() {
        let text = "module m#m1
func f#f2 (a: i64, b: bool) -> (i64) #g3 {
  x#n4 = add.i64 a, 1#n5
  r#n6 = loop L (i: i64 = x, t: bool = b) -> (i64) #g7 {
    y#n8 = mul.i64 i, i
    break#n9 L y
  }
  z#n10 = add.i64 r, r
  return#n11 z
}
";
        let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("fits");
        let (of, function) = program.functions().next().expect("one");
        let at = |node| {
            let values = values_in_scope(&program, of, function, NodeRef::of_key(node));
            values.map(|(source, ty)| format!("{source}: {ty}")).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(at(9), "n8: i64, g7.1: bool, g7.0: i64, n4: i64, n5: i64, f2.1: bool, f2.0: i64");
        assert_eq!(at(10), "n6: i64, n4: i64, n5: i64, f2.1: bool, f2.0: i64");
        assert_eq!(at(5), "f2.1: bool, f2.0: i64");
    }
}
