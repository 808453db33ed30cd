//! Making values of a variable.
//!
//! The steps of the body are walked once more, with the value that the variable has at each of them: a `var.set` gives it
//! another one, and so do the results and parameters that [`flow`] found to be needed. Where the variable is read again
//! before it is written, the value is the one that a run would find there. Elsewhere nobody asks, and it is some value in
//! scope, so that targets of a switch which need none for themselves can be given one.

mod flow;
mod steps;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use lmlang_ir::ops::signature::exit_types;
use lmlang_ir::text::{is_bare, output_names};
use lmlang_ir::{
    Attr, Body, Const, Control, Exit, FuncRef, Match, Name, NodeContent, NodeRef, Op, Opcode, Place, RefKind,
    Region, RegionOwner, RegionParam, RegionRef, RegionRole, Source, Type, VarRef, Variable, Variant,
    node::MAX_PORTS,
};

use super::MOST_PROMOTED;
use super::error::{Done, EditError, Fail, code};
use super::inputs::PromoteVar;
use super::session::{Session, wrong_kind};
use flow::Needs;
use steps::{Step, Steps};

/// What the variable holds somewhere.
#[derive(Clone, Copy)]
enum Held {
    /// What it begins with.
    Zero,
    /// A value that was there before.
    Value(Source),
}

/// The variable that becomes values.
struct Cell {
    function: FuncRef,
    variable: VarRef,
    record: Variable,
    /// What it begins with, once something asked for it.
    zero: Option<Source>,
}

/// What is to be done, found out before anything is changed.
#[derive(Default)]
struct Plan {
    /// What takes the place of each `var.get`.
    gets: Vec<(NodeRef, Held)>,
    sets: Vec<NodeRef>,
    /// Nodes that take one value more: exits, and loops with a parameter more.
    given: Vec<(NodeRef, Held)>,
    /// Nodes with a result more.
    results: Vec<NodeRef>,
    /// Loop bodies with a parameter more.
    params: Vec<RegionRef>,
    /// Switches that return, too.
    returning: Vec<NodeRef>,
}

/// How many nodes that a promotion looks at count as an input that it writes.
const LOOKED_AT_AS_ONE: usize = 16;

fn refused(variable: VarRef, at: NodeRef, why: &str) -> Fail {
    let message = format!("`{variable}` cannot become values: `{at}` {why}");
    EditError::new(code::NOT_PROMOTABLE, &["ref"], message)
        .found(variable.to_string())
        .candidates([at.to_string()])
        .into()
}

impl Session<'_> {
    /// Replaces a variable by the values that it holds.
    pub(super) fn promote_variable(&mut self, edit: &PromoteVar) -> Done<()> {
        let variable: VarRef = self.entity_of(&["ref"], &edit.of)?;
        let Some(Place::Variable(function, _)) = self.program.place(variable.into()) else {
            let error = wrong_kind(&["ref"], variable.into(), &[RefKind::Variable]);
            let message = format!("expected a variable of a function, found storage `{variable}`");
            return Err(EditError { message, ..error }.into());
        };
        let Some(record) = self.body(function)?.variable(variable).cloned() else { return Ok(()) };
        // That it was too much is told once.
        let Some(left) = self.promotable else { return Err(Fail::Follows) };
        let plan = self.plan(function, variable)?;
        let body = self.body(function)?;
        let looked_at = body.counts().nodes as usize / LOOKED_AT_AS_ONE;
        self.promotable = left.checked_sub(written_anew(body, &plan) + looked_at);
        if self.promotable.is_none() {
            let message = format!(
                "`{variable}` and the variables before it have more inputs written, or nodes around them looked at, than `promotedInputs`, {MOST_PROMOTED}"
            );
            let error = EditError::new(code::PROMOTES_TOO_MUCH, &["ref"], message);
            return Err(error.found(variable.to_string()).into());
        }
        self.carry_out_promotion(Cell { function, variable, record, zero: None }, &plan)
    }

    fn plan(&self, function: FuncRef, variable: VarRef) -> Done<Plan> {
        let body = self.body(function)?;
        let steps = steps::steps(body, variable);
        all_found(body, variable, &steps)?;
        let Needs { places, returning } = flow::needs(&steps);
        let mut plan = Plan { returning, ..Plan::default() };
        let mut read: HashMap<NodeRef, Held> = HashMap::new();
        // What the variable held before each open node.
        let mut frames: Vec<(NodeRef, Held)> = Vec::new();
        let mut now = Held::Zero;
        for step in &steps.list {
            match step {
                Step::Get(node) => {
                    read.insert(*node, now);
                    plan.gets.push((*node, now));
                }
                Step::Set(node) => {
                    now = written(body, variable, *node, &read)?;
                    plan.sets.push(*node);
                }
                Step::Open { node, .. } => {
                    frames.push((*node, now));
                    if places.contains(&Exit::Continue(*node)) {
                        self.check_given(function, variable, *node, 0, Exit::Continue(*node))?;
                        plan.given.push((*node, now));
                    }
                }
                Step::Region(region) => {
                    let Some((node, before)) = frames.last().copied() else { continue };
                    now = before;
                    if places.contains(&Exit::Continue(node)) {
                        let port = next_port(variable, node, body.region(*region).map(|of| of.params.len()))?;
                        now = Held::Value(Source::RegionParam(*region, port));
                        plan.params.push(*region);
                    }
                }
                Step::Exit { node, targets, conditional } => {
                    if !targets.iter().any(|target| places.contains(target)) {
                        continue;
                    }
                    let first = usize::from(*conditional || targets_of_switch(body, *node).is_some());
                    for target in targets {
                        self.check_given(function, variable, *node, first, *target)?;
                    }
                    plan.given.push((*node, now));
                }
                Step::Close(node) => {
                    let Some((_, before)) = frames.pop() else { continue };
                    now = before;
                    if places.contains(&Exit::Break(*node)) {
                        let results = exit_types(self.function(&["ref"], function)?, Exit::Break(*node));
                        let port = next_port(variable, *node, results.map(|of| of.len()))?;
                        now = Held::Value(Source::Node(*node, port));
                        plan.results.push(*node);
                    }
                }
            }
        }
        Ok(plan)
    }

    /// A value more goes behind those that are there, so as many have to be there as the target takes.
    fn check_given(
        &self,
        function: FuncRef,
        variable: VarRef,
        node: NodeRef,
        first: usize,
        target: Exit,
    ) -> Done<()> {
        let around = self.function(&["ref"], function)?;
        let taken = exit_types(around, target).map(|types| types.len() + first);
        let given = around.body().node(node).map_or(0, |found| found.inputs().len());
        if taken != Some(given) {
            return Err(refused(variable, node, "does not give as many values as are taken"));
        }
        next_port(variable, node, Some(given)).map(drop)
    }

    fn carry_out_promotion(&mut self, mut cell: Cell, plan: &Plan) -> Done<()> {
        let (function, variable) = (cell.function, cell.variable);
        let gone: Vec<NodeRef> = plan.gets.iter().map(|(node, _)| *node).chain(plan.sets.clone()).collect();
        let known: HashSet<NodeRef> = gone.iter().copied().collect();
        for (get, held) in &plan.gets {
            let body = self.body(function)?;
            let uses: Vec<_> = body.uses_of(get.number()).filter(|one| !known.contains(&one.node)).collect();
            if let Some(odd) = uses.iter().find(|one| body.source_of(**one) != Some(Source::Node(*get, 0))) {
                return Err(refused(variable, odd.node, "takes an output that is not there"));
            }
            for one in uses {
                let source = self.source_of_held(&mut cell, *held, one.node)?;
                if let Some(input) = one.input {
                    self.open(function)?.set_input(one.node, usize::from(input), Some(source))?;
                }
            }
        }
        let mut changed: BTreeMap<NodeRef, NodeContent> = BTreeMap::new();
        for (node, held) in &plan.given {
            let source = self.source_of_held(&mut cell, *held, *node)?;
            let Some(mut content) = self.body(function)?.node(*node).map(|node| node.content()) else {
                continue;
            };
            content.inputs = content.inputs.iter().chain([Some(source)]).collect();
            changed.insert(*node, content);
        }
        for node in &plan.results {
            let Some(found) = self.body(function)?.node(*node) else { continue };
            let content = changed.entry(*node).or_insert_with(|| found.content());
            with_result(content, cell.record.name.as_ref(), &cell.record.ty);
        }
        let mut open = self.open(function)?;
        for (node, content) in changed {
            open.set_node(node, content)?;
        }
        for region in &plan.params {
            let Some(mut found) = open.body().region(*region).cloned() else { continue };
            found.params.push(RegionParam { name: cell.record.name.clone(), ty: cell.record.ty.clone() });
            open.set_region(*region, found)?;
        }
        for node in gone {
            open.remove_node(node)?;
        }
        open.remove_variable(variable)?;
        for switch in &plan.returning {
            self.return_from_around(function, *switch, &cell.record.ty)?;
        }
        Ok(())
    }

    /// A switch that returns takes no more values than the function gives. So a block around it is left instead, which has
    /// room for one more, and what comes out of that is returned.
    fn return_from_around(&mut self, function: FuncRef, switch: NodeRef, more: &Type) -> Done<()> {
        let [block, leave]: [NodeRef; 2] =
            [self.allocate_in(function, NodeRef::new)?, self.allocate_in(function, NodeRef::new)?];
        let inner: RegionRef = self.allocate_in(function, RegionRef::new)?;
        let returned = self.function(&["ref"], function)?.head().results.clone();
        let mut open = self.open(function)?;
        let (body, before) = (open.body(), open.body().previous(switch));
        let Some((region, mut content)) = body.node(switch).map(|node| (node.region(), node.content()))
        else {
            return Ok(());
        };
        let Attr::Switch(targets) = content.op.attr() else { return Ok(()) };
        let instead = |exit: &Exit| if *exit == Exit::Return { Exit::Break(block) } else { *exit };
        let targets = Attr::Switch(targets.iter().map(instead).collect());
        let values = (0..returned.len()).map(|port| Some(Source::Node(block, port as u16)));
        let values: Vec<Option<Source>> = values.collect();
        let results = returned.into_iter().chain([more.clone()]).collect();
        let around = Attr::Control(Arc::new(Control { label: None, results }));
        let (Some(around), Some(op), Some(ret)) = (
            Op::new(Opcode::Block, around),
            Op::new(Opcode::BrSwitch, targets),
            Op::new(Opcode::Return, Attr::None),
        ) else {
            return Ok(());
        };
        let around = NodeContent { regions: vec![inner], ..NodeContent::new(around, []) };
        open.insert_node(block, region, before, around)?;
        open.add_region(inner, Region::new(RegionOwner::Node(block), RegionRole::Body, Vec::new()))?;
        open.move_node(switch, inner, None)?;
        content.op = op;
        open.set_node(switch, content)?;
        open.insert_node(leave, region, Some(block), NodeContent::new(ret, values))?;
        Ok(())
    }

    /// The source of what the variable holds, for a node that takes it. The zero is made at the front of the function, when
    /// it is asked for first.
    fn source_of_held(&mut self, cell: &mut Cell, held: Held, taker: NodeRef) -> Done<Source> {
        match (held, cell.zero) {
            (Held::Value(source), _) | (Held::Zero, Some(source)) => return Ok(source),
            (Held::Zero, None) => {}
        }
        let no_zero = || {
            let Cell { variable, record, .. } = &*cell;
            let message = format!(
                "`{taker}` takes what `{variable}` begins with, and nothing makes the zero of `{}`",
                record.ty
            );
            let error = EditError::new(code::NO_ZERO, &["ref"], message).found(variable.to_string());
            error.candidates([taker.to_string()])
        };
        let root = self.body(cell.function)?.root();
        let (Some(root), Some(ops)) = (root, zero(&cell.record.ty)) else { return Err(no_zero().into()) };
        let mut last = None;
        for op in ops {
            let node: NodeRef = self.allocate_in(cell.function, NodeRef::new)?;
            let inputs = last.map(|last| Some(Source::Node(last, 0)));
            self.open(cell.function)?.insert_node(node, root, last, NodeContent::new(op, inputs))?;
            last = Some(node);
        }
        let made = last.map(|node| Source::Node(node, 0)).ok_or_else(no_zero)?;
        cell.zero = Some(made);
        Ok(made)
    }
}

/// The operators that make the zero of a type, each from the one before.
pub(super) fn zero(ty: &Type) -> Option<Vec<Op>> {
    let one = |code, attr| Op::new(code, attr).map(|op| vec![op]);
    match ty {
        Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes => {
            Some(vec![Op::constant(Const::zero(ty))])
        }
        Type::Ptr(of) => {
            let address = Op::new(Opcode::PtrFromI32, Attr::Type(Type::clone(of)))?;
            Some(vec![Op::constant(Const::I32(0)), address])
        }
        Type::Option(of) => one(Opcode::EnumNew, Attr::Variant(Arc::new(Variant::None(Arc::clone(of))))),
        Type::Array(_) => one(Opcode::ArrayNew, Attr::Type(ty.clone())),
        Type::FuncRef => one(Opcode::RefNull, Attr::None),
        Type::ExternRef => one(Opcode::RefNullExtern, Attr::None),
        Type::Never
        | Type::Named(_)
        | Type::Result(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_) => None,
    }
}

/// Fails when something names the variable that the steps do not have: what stands in a contract, or nowhere.
fn all_found(body: &Body, variable: VarRef, steps: &Steps) -> Done<()> {
    let known: HashSet<NodeRef> = steps
        .list
        .iter()
        .filter_map(|step| match step {
            Step::Get(node) | Step::Set(node) => Some(*node),
            Step::Open { .. } | Step::Region(_) | Step::Exit { .. } | Step::Close(_) => None,
        })
        .collect();
    let mut users = body.users_of(variable.number()).filter(|one| one.input.is_none());
    match users.find(|one| !known.contains(&one.node)) {
        Some(other) => Err(refused(variable, other.node, "uses it outside of the function's code")),
        None => Ok(()),
    }
}

/// How many inputs and parameters a plan writes: what takes one more is written as a whole.
fn written_anew(body: &Body, plan: &Plan) -> usize {
    let given = plan.given.iter().filter_map(|(node, _)| body.node(*node));
    let params = plan.params.iter().filter_map(|region| body.region(*region));
    given.map(|node| node.inputs().len() + 1).chain(params.map(|region| region.params.len() + 1)).sum()
}

/// What a `var.set` writes.
fn written(body: &Body, variable: VarRef, set: NodeRef, read: &HashMap<NodeRef, Held>) -> Done<Held> {
    let source = body.node(set).and_then(|node| node.inputs().get(0));
    let Some(source) = source else { return Err(refused(variable, set, "has no value to write")) };
    let Source::Node(of, port) = source else { return Ok(Held::Value(source)) };
    if let (Some(held), 0) = (read.get(&of), port) {
        return Ok(*held);
    }
    let reads = |node: &lmlang_ir::Node| {
        node.op().code() == Opcode::VarGet && *node.op().attr() == Attr::Variable(variable)
    };
    match body.node(of).is_some_and(reads) {
        true => Err(refused(variable, set, "writes a value that is not in scope")),
        false => Ok(Held::Value(source)),
    }
}

fn next_port(variable: VarRef, node: NodeRef, count: Option<usize>) -> Done<u16> {
    let count = count.filter(|count| count + 1 < MAX_PORTS);
    count.map(|count| count as u16).ok_or_else(|| refused(variable, node, "has too many ports"))
}

fn targets_of_switch(body: &Body, node: NodeRef) -> Option<&Arc<[Exit]>> {
    match body.node(node)?.op().attr() {
        Attr::Switch(targets) => Some(targets),
        _ => None,
    }
}

/// Gives a node that owns regions one more result, called by a name where names can be told apart.
pub(super) fn with_result(content: &mut NodeContent, name: Option<&Name>, ty: &Type) {
    let (attr, before) = match content.op.attr() {
        Attr::Control(control) => {
            let Control { label, mut results } = Control::clone(control);
            let before = results.len();
            results.push(ty.clone());
            (Attr::Control(Arc::new(Control { label, results })), before)
        }
        Attr::Match(of) => {
            let mut of = Match::clone(of);
            let before = of.results.len();
            of.results.push(ty.clone());
            (Attr::Match(Arc::new(of)), before)
        }
        _ => return,
    };
    let Some(op) = Op::new(content.op.code(), attr) else { return };
    content.op = op;
    let Some(name) = name.filter(|name| is_bare(name)) else { return };
    let old: Vec<&str> = content.name.iter().flat_map(|name| output_names(name)).collect();
    // A list of names has no quotes.
    if old.len() > before || old.iter().any(|part| *part != "_" && !is_bare(part)) {
        return;
    }
    let missing = std::iter::repeat_n("_", before - old.len());
    let all: Vec<&str> = old.into_iter().chain(missing).chain([&**name]).collect();
    content.name = Some(all.join(", ").into());
}
