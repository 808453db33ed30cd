//! Running some nodes of a function by themselves, with values for what they take from elsewhere.
//!
//! The nodes are copied into a function of their own, in a copy of the program that nobody else sees; what the run says
//! is told in terms of the originals.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use lmlang_ir::ops::signature::{outputs, source_type};
use lmlang_ir::ops::{Expected, ports};
use lmlang_ir::{
    Attr, Body, Exit, FuncRef, FunctionHead, Node, NodeContent, NodeRef, Op, Opcode, Param, Program,
    RefAllocator, Region, RegionOwner, RegionRef, RegionRole, Source, StructureError, Type, Value, VarRef,
};
use lmlang_verify::Checked;
use thiserror::Error;

use crate::cache::Cache;
use crate::outcome::Outcome;
use crate::run::{Control, Options, Progress, Run, RunResult, StartError};
use crate::trace::{Step, Trace, TraceLevel, TracePage};

/// A port that gets a value from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenPort {
    /// What the nodes take from elsewhere: an output of another node, or a parameter.
    Source(Source),
    /// An input without a source.
    Hole(NodeRef, u16),
}

impl fmt::Display for OpenPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenPort::Source(source) => source.fmt(f),
            OpenPort::Hole(node, port) => write!(f, "{node}.in{port}"),
        }
    }
}

/// What running nodes gave.
#[derive(Clone, Debug, PartialEq)]
pub struct NodesResult {
    /// How the run ended and what it cost; the fuel is that of one `return` more than the nodes.
    pub result: RunResult,
    /// The outputs of the nodes, in the order in which they were given, when the run got to its end.
    pub outputs: Vec<(Source, Value)>,
    /// The steps, as many as were wanted.
    pub steps: Vec<Step>,
    /// Where those begin that are not shown; `None` when the end was shown.
    pub next: Option<u64>,
}

/// Which steps of a run of nodes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodesTrace {
    /// How much is shown.
    pub level: TraceLevel,
    /// Steps at most.
    pub steps: usize,
}

/// Why nodes cannot be run by themselves.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NodesError {
    /// No node was given.
    #[error("no node was given")]
    Nothing,
    /// There is no such node in the function.
    #[error("there is no node `{0}` in the function")]
    NoNode(NodeRef),
    /// The nodes stand in several regions.
    #[error("`{0}` and `{1}` stand in different regions")]
    Regions(NodeRef, NodeRef),
    /// A node leaves to a place that is not among the nodes.
    #[error("`{0}` leaves the nodes that were given")]
    Leaves(NodeRef),
    /// A node reads what a closure captured.
    #[error("`{0}` reads a captured value")]
    Captured(NodeRef),
    /// A value is missing.
    #[error("a value for `{0}` is missing")]
    Missing(Source),
    /// Something that a node names or takes is not there.
    #[error("the types of `{0}` are not known")]
    Untyped(NodeRef),
    /// A value was given for a port that does not take one.
    #[error("`{0}` takes no value")]
    NotOpen(OpenPort),
    /// Two values were given for a port.
    #[error("`{0}` is given twice")]
    Twice(OpenPort),
    /// A value is of another type.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The copy could not be made.
    #[error(transparent)]
    Structure(#[from] StructureError),
}

/// Runs nodes of one region in their order. Their outputs are told in the order in which the nodes are given.
///
/// `control` is asked after every slice of fuel.
#[expect(clippy::too_many_arguments, reason = "a run with one more: which nodes")]
pub fn run_nodes(
    checked: &Checked,
    function: FuncRef,
    nodes: &[NodeRef],
    inputs: &[(OpenPort, Value)],
    options: &Options,
    cache: &Cache,
    trace: NodesTrace,
    control: &mut dyn FnMut(&Run) -> Control,
) -> Result<NodesResult, NodesError> {
    /// Short enough for a clock to be looked at between.
    const SLICE: u64 = 1_000_000;
    let copy = Copy::make(checked.program(), function, nodes, inputs)?;
    let program = checked.update(copy.program.clone());
    let mut run = Run::new(&program, copy.of, &copy.args, options, cache)?;
    while run.resume(SLICE) == Progress::Paused {
        match control(&run) {
            Control::Continue => {}
            Control::Cancel => run.cancel(),
            Control::TimeOut => run.time_out(),
        }
    }
    let mut shown = TracePage { steps: Vec::new(), next: Some(0) };
    if trace.steps > 0
        && trace.level != TraceLevel::None
        && let Some(mut again) = Trace::of(&run, trace.level, Some(run.fuel_used()))
    {
        shown = again.page(0, trace.steps, u64::MAX);
        shown.steps.retain(|step| step.node != copy.end);
        shown.steps.iter_mut().for_each(|step| copy.rename_step(step));
    }
    let mut result = run.into_result();
    let mut found = Vec::new();
    if let Outcome::Returned { values } = &result.outcome {
        found = copy.results.iter().copied().zip(values.iter().cloned()).collect();
        result.steps -= 1;
    }
    copy.rename_outcome(&mut result.outcome);
    Ok(NodesResult { result, outputs: found, steps: shown.steps, next: shown.next })
}

/// A program with a function made of some nodes of another one.
struct Copy {
    program: Program,
    of: FuncRef,
    original: FuncRef,
    args: Vec<Value>,
    /// What the results are outputs of.
    results: Vec<Source>,
    /// The `return` at the end.
    end: NodeRef,
    /// From the copies to the originals.
    nodes: HashMap<NodeRef, NodeRef>,
    regions: HashMap<RegionRef, RegionRef>,
    /// What the parameters stand for.
    params: Vec<OpenPort>,
}

impl Copy {
    fn make(
        program: &Program,
        original: FuncRef,
        nodes: &[NodeRef],
        inputs: &[(OpenPort, Value)],
    ) -> Result<Copy, NodesError> {
        let first = *nodes.first().ok_or(NodesError::Nothing)?;
        let function = program.function(original).ok_or(NodesError::NoNode(first))?;
        let body = function.body();
        let home = body.node(first).ok_or(NodesError::NoNode(first))?.region();
        let mut ports = HashSet::new();
        if let Some((port, _)) = inputs.iter().find(|(port, _)| !ports.insert(*port)) {
            return Err(NodesError::Twice(*port));
        }
        for node in nodes {
            if body.node(*node).ok_or(NodesError::NoNode(*node))?.region() != home {
                return Err(NodesError::Regions(first, *node));
            }
        }
        let wanted: HashSet<NodeRef> = nodes.iter().copied().collect();
        let top: Vec<NodeRef> = body.nodes_in(home).filter(|node| wanted.contains(node)).collect();
        let inside = everything(body, &top);
        let mut plan = Plan {
            program,
            original,
            given: inputs.iter().map(|(port, value)| (*port, value)).collect(),
            params: Vec::new(),
            types: Vec::new(),
            args: Vec::new(),
            index: HashMap::new(),
        };
        for node in &inside.0 {
            plan.node(body, *node, &inside)?;
        }
        if let Some((port, _)) = inputs.iter().find(|(port, _)| !plan.index.contains_key(port)) {
            return Err(NodesError::NotOpen(*port));
        }
        let mut results = Vec::new();
        let mut result_types = Vec::new();
        for of in nodes {
            let node = body.node(*of).ok_or(NodesError::NoNode(*of))?;
            let types = outputs(program, function, node).ok_or(NodesError::Untyped(*of))?;
            results.extend((0..types.len() as u16).map(|port| Source::Node(*of, port)));
            result_types.extend(types);
        }
        let Plan { params, types, args, index, .. } = plan;
        let mut refs = RefAllocator::starting_at(program.largest_number() + 1);
        let mut program = program.clone();
        let numbered = types.into_iter().enumerate();
        let head = FunctionHead::new(
            format!("{} (some nodes)", function.head().name),
            function.head().module,
            numbered.map(|(index, ty)| Param { name: format!("p_{index}").into(), ty }).collect(),
            result_types,
        );
        let mut writer = Writer::new(&mut program, &mut refs, head, body)?;
        writer.index = index;
        let root = writer.root;
        writer.regions.insert(home, root);
        writer.write(&top, root)?;
        let values: Vec<Source> = results
            .iter()
            .map(|source| writer.source(*source))
            .collect::<Option<_>>()
            .ok_or(NodesError::Untyped(first))?;
        let end = writer.end(values)?;
        let (of, new_nodes, new_regions) = (writer.of, writer.nodes, writer.regions);
        Ok(Copy {
            program,
            of,
            original,
            args,
            results,
            end,
            nodes: new_nodes.into_iter().map(|(old, new)| (new, old)).collect(),
            regions: new_regions.into_iter().map(|(old, new)| (new, old)).collect(),
            params,
        })
    }

    fn rename_step(&self, step: &mut Step) {
        if step.function == self.of {
            step.function = self.original;
            step.node = self.nodes.get(&step.node).copied().unwrap_or(step.node);
            step.region = self.regions.get(&step.region).copied().unwrap_or(step.region);
        }
    }

    fn rename_outcome(&self, outcome: &mut Outcome) {
        if let Outcome::ReachedHole { node: Some(node), .. } = outcome {
            *node = self.nodes.get(node).copied().unwrap_or(*node);
        }
        if let Outcome::NotVerified { function } = outcome
            && *function == self.of
        {
            *function = self.original;
        }
        let Some(place) = outcome.place_mut() else { return };
        for location in &mut place.stack {
            if location.function == self.of {
                location.function = self.original;
                location.region = self.regions.get(&location.region).copied().unwrap_or(location.region);
                location.node = location.node.map(|node| self.nodes.get(&node).copied().unwrap_or(node));
            }
        }
        place.values.retain_mut(|value| {
            value.source = match value.source {
                Source::Node(node, port) => {
                    Source::Node(self.nodes.get(&node).copied().unwrap_or(node), port)
                }
                Source::RegionParam(region, port) => {
                    Source::RegionParam(self.regions.get(&region).copied().unwrap_or(region), port)
                }
                Source::Param(of, port) if of == self.of => match self.params.get(usize::from(port)) {
                    Some(OpenPort::Source(source)) => *source,
                    Some(OpenPort::Hole(..)) | None => return false,
                },
                other @ Source::Param(..) => other,
            };
            true
        });
    }
}

/// Some nodes and all that is inside of them, outer before inner, with the regions.
pub(crate) fn everything(
    body: &Body,
    top: &[NodeRef],
) -> (Vec<NodeRef>, HashSet<NodeRef>, HashSet<RegionRef>) {
    let mut nodes = Vec::new();
    let mut regions = HashSet::new();
    let mut queue: Vec<NodeRef> = top.iter().rev().copied().collect();
    while let Some(of) = queue.pop() {
        nodes.push(of);
        for region in body.node(of).map_or(&[][..], |node| node.regions()) {
            regions.insert(*region);
            queue.extend(body.nodes_in(*region));
        }
    }
    let set = nodes.iter().copied().collect();
    (nodes, set, regions)
}

/// Which parameters the copy needs.
struct Plan<'a> {
    program: &'a Program,
    original: FuncRef,
    given: HashMap<OpenPort, &'a Value>,
    params: Vec<OpenPort>,
    types: Vec<Type>,
    args: Vec<Value>,
    index: HashMap<OpenPort, u16>,
}

impl Plan<'_> {
    fn node(
        &mut self,
        body: &Body,
        of: NodeRef,
        inside: &(Vec<NodeRef>, HashSet<NodeRef>, HashSet<RegionRef>),
    ) -> Result<(), NodesError> {
        let Some(node) = body.node(of) else { return Err(NodesError::NoNode(of)) };
        let leaves = |target: NodeRef| !inside.1.contains(&target);
        let out = match node.op().attr() {
            Attr::Exit(target) => leaves(*target),
            Attr::Switch(targets) => targets.iter().any(|exit| exit.target().is_none_or(leaves)),
            _ => match node.op().code() {
                Opcode::Return => true,
                Opcode::Yield => !inside.2.contains(&node.region()),
                _ => false,
            },
        };
        if out {
            return Err(NodesError::Leaves(of));
        }
        if node.op().code() == Opcode::CaptureGet {
            return Err(NodesError::Captured(of));
        }
        for (port, source) in node.inputs().iter().enumerate() {
            let port = port as u16;
            match source {
                Some(Source::Node(other, _)) if inside.1.contains(&other) => {}
                Some(Source::RegionParam(region, _)) if inside.2.contains(&region) => {}
                Some(source) => {
                    let open = OpenPort::Source(source);
                    if !self.index.contains_key(&open) {
                        let function = self.program.function(self.original);
                        let ty = function.and_then(|f| source_type(self.program, f, source));
                        let value = *self.given.get(&open).ok_or(NodesError::Missing(source))?;
                        self.add(open, ty.ok_or(NodesError::Untyped(of))?, value.clone());
                    }
                }
                None => {
                    let open = OpenPort::Hole(of, port);
                    let Some(value) = self.given.get(&open).copied() else { continue };
                    let ty = self.hole_type(node, port, value).ok_or(NodesError::Untyped(of))?;
                    self.add(open, ty, value.clone());
                }
            }
        }
        Ok(())
    }

    fn hole_type(&self, node: &Node, port: u16, value: &Value) -> Option<Type> {
        let function = self.program.function(self.original)?;
        match ports(self.program, function, node)?.inputs.get(usize::from(port))? {
            Expected::Is(ty) => Some(ty.clone()),
            Expected::Address | Expected::Integer | Expected::Reference => Some(value.ty()),
        }
    }

    fn add(&mut self, open: OpenPort, ty: Type, value: Value) {
        self.index.insert(open, self.params.len() as u16);
        self.params.push(open);
        self.types.push(ty);
        self.args.push(value);
    }
}

/// Writes the copy.
pub(crate) struct Writer<'a> {
    function: lmlang_ir::FunctionMut<'a>,
    refs: &'a mut RefAllocator,
    body: &'a Body,
    pub(crate) of: FuncRef,
    pub(crate) root: RegionRef,
    pub(crate) index: HashMap<OpenPort, u16>,
    nodes: HashMap<NodeRef, NodeRef>,
    pub(crate) regions: HashMap<RegionRef, RegionRef>,
    variables: HashMap<VarRef, VarRef>,
}

const ROOM: &str = "48 bits of refs do not run out";

impl<'a> Writer<'a> {
    pub(crate) fn new(
        program: &'a mut Program,
        refs: &'a mut RefAllocator,
        head: FunctionHead,
        body: &'a Body,
    ) -> Result<Writer<'a>, StructureError> {
        let of = refs.allocate().and_then(FuncRef::new).expect(ROOM);
        let root = refs.allocate().and_then(RegionRef::new).expect(ROOM);
        program.add_function(of, head)?;
        let mut function = program.function_mut(of)?;
        function.add_region(root, Region::new(RegionOwner::Function, RegionRole::Body, Vec::new()))?;
        let mut variables = HashMap::new();
        for (variable, content) in body.variables() {
            let copy = refs.allocate().and_then(VarRef::new).expect(ROOM);
            function.add_variable(copy, content.clone())?;
            variables.insert(variable, copy);
        }
        let (nodes, regions) = (HashMap::new(), HashMap::new());
        Ok(Writer { function, refs, body, of, root, index: HashMap::new(), nodes, regions, variables })
    }

    /// Copies nodes into a region, with everything inside of them.
    pub(crate) fn write(&mut self, top: &[NodeRef], into: RegionRef) -> Result<(), NodesError> {
        let mut work: Vec<(Vec<NodeRef>, RegionRef)> = vec![(top.to_vec(), into)];
        while let Some((nodes, into)) = work.pop() {
            for of in nodes {
                let node = self.body.node(of).ok_or(NodesError::NoNode(of))?;
                let copy = self.refs.allocate().and_then(NodeRef::new).expect(ROOM);
                self.nodes.insert(of, copy);
                let regions: Vec<RegionRef> = node
                    .regions()
                    .iter()
                    .map(|_| self.refs.allocate().and_then(RegionRef::new).expect(ROOM))
                    .collect();
                let content = NodeContent {
                    op: self.op(node.op()).ok_or(NodesError::Leaves(of))?,
                    inputs: Default::default(),
                    regions: regions.clone(),
                    name: node.name().cloned(),
                    doc: None,
                };
                // Inputs of inner nodes may come from nodes that are copied later in the list, so they follow below.
                let after = self.function.body().last_in(into);
                self.function.insert_node(copy, into, after, content)?;
                for (old, new) in node.regions().iter().zip(regions) {
                    let found = self.body.region(*old).ok_or(NodesError::Untyped(of))?;
                    let region = Region::new(RegionOwner::Node(copy), found.role, found.params.clone());
                    self.function.add_region(new, region)?;
                    self.regions.insert(*old, new);
                    work.push((self.body.nodes_in(*old).collect(), new));
                }
            }
        }
        let copies: Vec<(NodeRef, NodeRef)> = self.nodes.iter().map(|(old, new)| (*old, *new)).collect();
        for (old, new) in copies {
            let node = self.body.node(old).ok_or(NodesError::NoNode(old))?;
            let inputs: Vec<Option<Source>> = (0u16..)
                .zip(node.inputs().iter())
                .map(|(port, source)| match source {
                    Some(source) => self.source(source),
                    None => self.param(OpenPort::Hole(old, port)),
                })
                .collect();
            let Some(content) = self.function.body().node(new).map(|node| node.content()) else { continue };
            let content = NodeContent { inputs: inputs.into_iter().collect(), ..content };
            self.function.set_node(new, content)?;
        }
        Ok(())
    }

    /// Begins with giving the copy of a variable the value of a parameter.
    pub(crate) fn begin_with(&mut self, variable: VarRef, param: u16) -> Result<(), NodesError> {
        let Some(copy) = self.variables.get(&variable) else { return Ok(()) };
        let of = self.refs.allocate().and_then(NodeRef::new).expect(ROOM);
        let op = Op::new(Opcode::VarSet, Attr::Variable(*copy)).expect("the op table has `var.set`");
        let content = NodeContent::new(op, [Some(Source::Param(self.of, param))]);
        let after = self.function.body().last_in(self.root);
        self.function.insert_node(of, self.root, after, content)?;
        Ok(())
    }

    pub(crate) fn end(&mut self, values: Vec<Source>) -> Result<NodeRef, NodesError> {
        let of = self.refs.allocate().and_then(NodeRef::new).expect(ROOM);
        let op = Op::new(Opcode::Return, Attr::None).expect("the op table has `return`");
        let content = NodeContent::new(op, values.into_iter().map(Some));
        let after = self.function.body().last_in(self.root);
        self.function.insert_node(of, self.root, after, content)?;
        Ok(of)
    }

    fn param(&self, open: OpenPort) -> Option<Source> {
        self.index.get(&open).map(|index| Source::Param(self.of, *index))
    }

    pub(crate) fn source(&self, source: Source) -> Option<Source> {
        let inside = match source {
            Source::Node(node, port) => self.nodes.get(&node).map(|copy| Source::Node(*copy, port)),
            Source::RegionParam(region, port) => match self.regions.get(&region) {
                Some(copy) if *copy != self.root => Some(Source::RegionParam(*copy, port)),
                Some(_) | None => None,
            },
            Source::Param(..) => None,
        };
        inside.or_else(|| self.param(OpenPort::Source(source)))
    }

    fn op(&self, op: &Op) -> Option<Op> {
        let attr = match op.attr() {
            Attr::Variable(variable) => {
                Attr::Variable(self.variables.get(variable).copied().unwrap_or(*variable))
            }
            Attr::Exit(target) => Attr::Exit(*self.nodes.get(target)?),
            Attr::Switch(targets) => {
                let exit = |exit: &Exit| {
                    Some(match exit {
                        Exit::Break(node) => Exit::Break(*self.nodes.get(node)?),
                        Exit::Continue(node) => Exit::Continue(*self.nodes.get(node)?),
                        Exit::Return => Exit::Return,
                    })
                };
                Attr::Switch(targets.iter().map(exit).collect::<Option<Arc<[Exit]>>>()?)
            }
            other => other.clone(),
        };
        Op::new(op.code(), attr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_told_by_their_refs() {
        let node = NodeRef::new(30).expect("in range");
        let told = |port| NodesError::NotOpen(port).to_string();
        assert_eq!(told(OpenPort::Source(Source::Node(node, 0))), "`n30` takes no value");
        assert_eq!(told(OpenPort::Hole(node, 1)), "`n30.in1` takes no value");
    }
}
