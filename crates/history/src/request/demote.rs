//! Making a variable of a value.
//!
//! Why each `var.get` reads the value that its user took before: scope is lexical, so the user stands behind the place that
//! makes the value, in the same region or in one inside of what stands behind it there. A region is left as a whole, so
//! whenever the user runs, that place has run in the same round of the region, and cannot run again before the region is
//! entered anew. What was written last is therefore the value of this round, in a loop as well; another call of the
//! function has variables of its own.

use std::collections::{BTreeSet, HashMap};

use lmlang_ir::ops::signature::{outputs, source_type};
use lmlang_ir::text::output_names;
use lmlang_ir::{
    Attr, Body, FuncRef, Name, NodeContent, NodeRef, Op, Opcode, RegionOwner, RegionRef, Source, Type,
    VarRef, Variable,
};

use super::error::{Done, EditError, code};
use super::inputs::DemoteToVar;
use super::session::{Session, shortened};

/// The place from which a value is there.
#[derive(Clone, Copy)]
struct Begin {
    region: RegionRef,
    /// The node that makes it; `None`: from the front of the region on.
    after: Option<NodeRef>,
}

/// A value that becomes a variable.
struct Value {
    source: Source,
    ty: Type,
    name: Option<Name>,
}

impl Session<'_> {
    /// Lets the uses of a value read it from a new variable.
    pub(super) fn demote_to_variable(&mut self, edit: &DemoteToVar) -> Done<()> {
        let source = self.value(&edit.of, None)?;
        let function = match source {
            Source::Node(node, _) => self.within(&["ref"], node.into())?,
            Source::RegionParam(region, _) => self.within(&["ref"], region.into())?,
            Source::Param(function, _) => function,
        };
        let (begin, values) = self.values(function, source, &edit.of)?;
        let body = self.body(function)?;
        if body.chain(begin.region).last() != body.root() {
            let message = format!("`{source}` is a value of a contract");
            let error = EditError::new(code::IN_CONTRACT, &["ref"], message);
            return Err(error.found(shortened(&edit.of)).into());
        }
        let (mut made, mut after) = (Vec::new(), begin.after);
        for value in values {
            let (variable, set) = self.make_variable(function, begin, after, value)?;
            made.push(variable);
            after = Some(set);
        }
        match made.first() {
            Some(first) => self.bind(edit.name_as.as_ref(), *first),
            None => Ok(()),
        }
    }

    /// The values that a caller means: those of a node, or the one of a port.
    fn values(&self, function: FuncRef, source: Source, text: &str) -> Done<(Begin, Vec<Value>)> {
        let around = self.function(&["ref"], function)?;
        let body = around.body();
        let begin = match source {
            Source::Node(node, _) => {
                body.node(node).map(|found| Begin { region: found.region(), after: Some(node) })
            }
            Source::RegionParam(region, _) => Some(Begin { region, after: None }),
            Source::Param(..) => body.root().map(|region| Begin { region, after: None }),
        };
        let names_port = text.rsplit_once('.').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let node = match source {
            Source::Node(node, 0) if !names_port => body.node(node),
            Source::Node(..) | Source::RegionParam(..) | Source::Param(..) => None,
        };
        let values: Vec<Value> = match (source, node) {
            (Source::Node(of, _), Some(node)) => {
                let types = outputs(&self.program, around, node).unwrap_or_default();
                let value = |(port, ty)| named(around.head(), body, Source::Node(of, port), ty);
                (0..).zip(types).map(value).collect()
            }
            (_, _) => {
                let ty = source_type(&self.program, around, source);
                ty.map(|ty| named(around.head(), body, source, ty)).into_iter().collect()
            }
        };
        match begin {
            Some(begin) if !values.is_empty() => Ok((begin, values)),
            Some(_) | None => {
                let message = format!("there is no value `{source}`");
                Err(EditError::new(code::NO_SUCH_PORT, &["ref"], message).found(shortened(text)).into())
            }
        }
    }

    /// The variable of a value, and the node that writes it.
    fn make_variable(
        &mut self,
        function: FuncRef,
        begin: Begin,
        after: Option<NodeRef>,
        value: Value,
    ) -> Done<(VarRef, NodeRef)> {
        let Value { source, ty, name } = value;
        let users = in_scope(self.body(function)?, begin, source);
        let variable: VarRef = self.allocate_in(function, VarRef::new)?;
        self.open(function)?.add_variable(variable, Variable { name, ty, doc: None })?;
        let op = |opcode| -> Done<Op> {
            let error = || EditError::new(code::STRUCTURE, &[], "a variable has another operator");
            Op::new(opcode, Attr::Variable(variable)).ok_or_else(|| error().into())
        };
        let set: NodeRef = self.allocate_in(function, NodeRef::new)?;
        let content = NodeContent::new(op(Opcode::VarSet)?, [Some(source)]);
        self.open(function)?.insert_node(set, begin.region, after, content)?;
        for user in users {
            let get: NodeRef = self.allocate_in(function, NodeRef::new)?;
            let mut open = self.open(function)?;
            let Some(found) = open.body().node(user) else { continue };
            let (region, before) = (found.region(), open.body().previous(user));
            let inputs: Vec<usize> = (0..)
                .zip(found.inputs().iter())
                .filter(|(_, of)| *of == Some(source))
                .map(|(at, _)| at)
                .collect();
            open.insert_node(get, region, before, NodeContent::new(op(Opcode::VarGet)?, []))?;
            for input in inputs {
                open.set_input(user, input, Some(Source::Node(get, 0)))?;
            }
        }
        Ok((variable, set))
    }
}

fn named(head: &lmlang_ir::FunctionHead, body: &Body, source: Source, ty: Type) -> Value {
    let port = usize::from(source.port());
    let name = match source {
        Source::Node(node, _) => {
            let names = body.node(node).and_then(|node| node.name());
            names.and_then(|names| output_names(names).nth(port)).filter(|name| *name != "_").map(Name::from)
        }
        Source::RegionParam(region, _) => {
            body.region(region).and_then(|region| region.params.get(port)?.name.clone())
        }
        Source::Param(..) => head.params.get(port).map(|param| param.name.clone()),
    };
    Value { source, ty, name }
}

/// The nodes that use a value where it is in scope. Contracts keep the parameters of their function: they see them as at
/// entry.
fn in_scope(body: &Body, begin: Begin, source: Source) -> BTreeSet<NodeRef> {
    let stands = |node: NodeRef| begin.after.is_none_or(|after| body.precedes(after, node));
    let mut known: HashMap<RegionRef, bool> = HashMap::new();
    let mut inside = |region: RegionRef| {
        let (mut at, mut way) = (region, Vec::new());
        let found = loop {
            if let Some(found) = known.get(&at) {
                break *found;
            }
            way.push(at);
            let owner = match body.region(at).map(|region| region.owner) {
                Some(RegionOwner::Node(owner)) => body.node(owner).map(|found| (owner, found.region())),
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
            };
            match owner {
                Some((owner, around)) if around == begin.region => break stands(owner),
                // More steps than regions: they run in a circle.
                Some((_, around)) if way.len() <= body.counts().regions as usize => at = around,
                Some(_) | None => break false,
            }
        };
        known.extend(way.into_iter().map(|region| (region, found)));
        found
    };
    let uses = body.uses_of(source.number()).filter(|one| body.source_of(*one) == Some(source));
    let users = uses.filter_map(|one| Some((one.node, body.node(one.node)?.region())));
    let within = users.filter(|(user, region)| match *region == begin.region {
        true => stands(*user),
        false => inside(*region),
    });
    within.map(|(user, _)| user).collect()
}
