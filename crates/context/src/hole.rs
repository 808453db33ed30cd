//! Inputs without a source: what each takes, and which values in scope fit.

use lmlang_ir::ops::{Expected, signature};
use lmlang_ir::{Body, FuncRef, Function, NodeRef, Program, RegionOwner, RegionRef, Source, text};

use crate::section::{Role, Section, cut};

/// Holes told of one function at most.
pub(crate) const HOLES: usize = 8;
/// Values named for one hole at most, the nearest first.
const FITTING: usize = 12;
/// Nodes looked at for one hole at most.
const LOOKED_AT: usize = 10_000;

/// The nodes of a function that have holes, by ref.
pub(crate) fn holes_of(function: &Function) -> impl Iterator<Item = NodeRef> + '_ {
    let some = function.body().counts().holes > 0;
    let nodes = some.then(|| function.body().nodes()).into_iter().flatten();
    nodes.filter(|(_, node)| node.inputs().iter().any(|source| source.is_none())).map(|(of, _)| of)
}

/// A node with its holes; without any, just its line.
pub(crate) fn section(program: &Program, function: FuncRef, node: NodeRef) -> Option<Section> {
    let found = program.function(function)?;
    let content = found.body().node(node)?;
    let path = program.path(function.into());
    let role = found.body().region(content.region()).map(|region| region.role.to_string());
    let place = format!("{path} {function}, region {} ({})", content.region(), role.unwrap_or_default());
    let mut out = line_of(program, node) + "\n";
    let ports = signature::ports(program, found, content).unwrap_or_default();
    let (mut fits, mut holes) = (Vec::new(), 0);
    for (at, source) in content.inputs().iter().enumerate() {
        if source.is_some() {
            continue;
        }
        holes += 1;
        let Some(expected) = ports.inputs.get(at) else {
            out.push_str(&format!("; {node}.in{at} takes nothing: the operator has no such input\n"));
            continue;
        };
        fits.clear();
        in_scope(program, function, found, node, expected, &mut fits);
        let takes = told(program, found, expected);
        let values = match fits.is_empty() {
            true => "no value in scope fits".to_owned(),
            false => format!("in scope: {}", fits.join(", ")),
        };
        out.push_str(&format!("; {node}.in{at} takes {takes}; {values}\n"));
    }
    let what = if holes > 0 { "hole" } else { "node" };
    Some(Section::lines(Role::Hole, node.into(), format!("; {what} in {place}\n"), out))
}

/// A node in one line.
pub(crate) fn line_of(program: &Program, node: NodeRef) -> String {
    let printed = text::print_node(program, node, text::Detail::Standard);
    let first = printed.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(';'));
    cut(first.unwrap_or_default())
}

fn told(program: &Program, function: &Function, expected: &Expected) -> String {
    match expected {
        Expected::Is(ty) => text::print_type_name(program, Some(function.head().module), ty),
        Expected::Address => "i32 or a ptr".to_owned(),
        Expected::Reference => "funcref or externref".to_owned(),
        Expected::Integer => "i32 or i64".to_owned(),
    }
}

/// The values that a node can take for an input, from the nearest on.
fn in_scope(
    program: &Program,
    of: FuncRef,
    function: &Function,
    node: NodeRef,
    expected: &Expected,
    fits: &mut Vec<String>,
) {
    let body = function.body();
    let mut take = |source: Source, name: Option<&str>| {
        let ty = signature::source_type(program, function, source);
        if fits.len() < FITTING && ty.is_some_and(|ty| expected.accepts(&ty)) {
            fits.push(match name {
                Some(name) => format!("{name} ({source})"),
                None => source.to_string(),
            });
        }
        fits.len() < FITTING
    };
    let mut looked_at = 0;
    for (region, mut standing) in around(body, node) {
        while let Some(before) = body.previous(standing) {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                return;
            }
            standing = before;
            let Some(content) = body.node(before) else { continue };
            let count = signature::outputs(program, function, content).map_or(0, |outputs| outputs.len());
            let names: Vec<&str> =
                content.name().map_or(Vec::new(), |name| text::output_names(name).collect());
            for port in 0..count {
                if !take(Source::Node(before, port as u16), names.get(port).copied()) {
                    return;
                }
            }
        }
        let params = body.region(region).map_or(&[][..], |region| &region.params);
        for (port, param) in params.iter().enumerate() {
            if !take(Source::RegionParam(region, port as u16), param.name.as_deref()) {
                return;
            }
        }
    }
    for (port, param) in function.head().params.iter().enumerate() {
        if !take(Source::Param(of, port as u16), Some(&param.name)) {
            return;
        }
    }
}

/// The regions around a node, the innermost first, each with the node in it that is or holds the given one.
fn around(body: &Body, node: NodeRef) -> Vec<(RegionRef, NodeRef)> {
    let Some(region) = body.node(node).map(|content| content.region()) else { return Vec::new() };
    let mut standing = node;
    let mut found = Vec::new();
    for region in body.chain(region) {
        found.push((region, standing));
        match body.region(region).map(|region| region.owner) {
            Some(RegionOwner::Node(owner)) => standing = owner,
            Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => break,
        }
    }
    found
}
