//! Edits of nodes and edges.

use std::borrow::Cow;
use std::sync::Arc;

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::ops::{self, Attr, Case, Expected, Opcode, Ports};
use lmlang_ir::text::LiteralPlace;
use lmlang_ir::{
    FuncRef, NodeContent, NodeRef, Op, Ref, Region, RegionOwner, RegionParam, RegionRef, RegionRole, Source,
    Use, counted, node::MAX_PORTS,
};

use super::error::{Done, EditError, Fail, code};
use super::inputs::{
    AddControlEdge, AddEdge, At, InsertNode, ModifyNode, MoveNode, Remove, Rename, ReplaceUses,
};
use super::places::{What, after_terminator};
use super::session::{Session, check_name, shortened};
use super::sources::{Given, Scope};

/// An operator as a caller wrote it: with the parameters of the region of a loop.
pub(super) struct Operator {
    pub(super) op: Op,
    pub(super) params: Vec<RegionParam>,
}

impl Session<'_> {
    /// Inserts a node with its regions.
    pub(super) fn insert_node(&mut self, edit: &InsertNode) -> Done<Ref> {
        let place = self.spot(&edit.at, None, What::Inner, None)?;
        let operator = self.operator(&["op"], place, &edit.op);
        let Operator { op, params } = operator.map_err(Fail::without_operands)?;
        let place =
            if op.is_terminator() { self.spot(&edit.at, None, What::Terminator, None)? } else { place };
        if edit.inputs.len() > MAX_PORTS {
            let message = format!("{} inputs, a node has at most {MAX_PORTS}", edit.inputs.len());
            return Err(EditError::new(code::TOO_MANY_PORTS, &["inputs"], message).into());
        }
        let (mut inputs, mut literals) = (Vec::with_capacity(edit.inputs.len()), Vec::new());
        for (index, text) in edit.inputs.iter().enumerate() {
            let Some(text) = text else {
                inputs.push(None);
                continue;
            };
            match self.given(&["inputs", &index.to_string()], place, text)? {
                Given::Source(source) => inputs.push(Some(source)),
                literal @ Given::Literal { .. } => {
                    inputs.push(None);
                    literals.push((index, literal));
                }
            }
        }
        if let Some(name) = &edit.name {
            check_name(&["name"], name)?;
        }
        let Scope { function, region, after } = place;
        let node: NodeRef = self.allocate_in(function, NodeRef::new)?;
        let content =
            NodeContent { name: edit.name.as_deref().map(Arc::from), ..NodeContent::new(op, inputs) };
        self.open(function)?.insert_node(node, region, after, content)?;
        self.set_operator(function, node, params)?;
        if !literals.is_empty() {
            // What the inputs take is known when the node is there.
            let found = self.function(&["function"], function)?;
            let ports = found.body().node(node).and_then(|node| ops::ports(&self.program, found, node));
            for (index, literal) in literals {
                let field = ["inputs", &index.to_string()];
                let wanted = literal_place(ports.as_ref(), index);
                let before = Scope { after: self.body(function)?.previous(node), ..place };
                let source = self.input(&field, before, literal, wanted)?;
                self.open(function)?.set_input(node, index, Some(source))?;
            }
        }
        self.bind(edit.name_as.as_ref(), node)?;
        Ok(node.into())
    }

    /// Gives a node the regions and the number of inputs that its operator takes. Regions whose role and case stay are
    /// kept with what is in them.
    pub(super) fn set_operator(
        &mut self,
        function: FuncRef,
        node: NodeRef,
        params: Vec<RegionParam>,
    ) -> Done<()> {
        let Some(found) = self.body(function)?.node(node) else { return Ok(()) };
        let mut content = found.content();
        let wanted = self.regions_of(&content.op, params);
        if wanted.len() != content.regions.len() || !wanted.is_empty() {
            let mut kept: Vec<RegionRef> = std::mem::take(&mut content.regions);
            let mut regions = Vec::with_capacity(wanted.len());
            let mut new = Vec::new();
            for (role, params) in wanted {
                let body = self.body(function)?;
                let same =
                    kept.iter().position(|of| body.region(*of).is_some_and(|region| region.role == role));
                match same {
                    Some(at) => {
                        let region = kept.remove(at);
                        self.set_region_params(function, region, params)?;
                        regions.push(region);
                    }
                    None => {
                        let region: RegionRef = self.allocate_in(function, RegionRef::new)?;
                        new.push((region, Region::new(RegionOwner::Node(node), role, params)));
                        regions.push(region);
                    }
                }
            }
            for region in kept {
                self.cut_region(function, region)?;
            }
            // What went may have left holes in the node itself.
            if let Some(found) = self.body(function)?.node(node) {
                content.inputs = found.inputs().clone();
            }
            content.regions = regions;
            let mut open = self.open(function)?;
            open.set_node(node, content)?;
            for (region, record) in new {
                open.add_region(region, record)?;
            }
        }
        self.fit_inputs(function, node)
    }

    /// Adds holes up to what the operator takes.
    fn fit_inputs(&mut self, function: FuncRef, node: NodeRef) -> Done<()> {
        let found = self.function(&["function"], function)?;
        let Some(content) = found.body().node(node) else { return Ok(()) };
        let Some(ports) = ops::ports(&self.program, found, content) else { return Ok(()) };
        let (have, want) = (content.inputs().len(), ports.inputs.len());
        if have < want {
            let mut content = content.content();
            let holes = std::iter::repeat_n(None, want - have);
            content.inputs = content.inputs.iter().chain(holes).collect();
            self.open(function)?.set_node(node, content)?;
        }
        Ok(())
    }

    /// The regions that a node with an operator owns.
    fn regions_of(&self, op: &Op, params: Vec<RegionParam>) -> Vec<(RegionRole, Vec<RegionParam>)> {
        match (op.code(), op.attr()) {
            (Opcode::If, _) => vec![(RegionRole::Then, vec![]), (RegionRole::Else, vec![])],
            (_, Attr::Control(_)) => vec![(RegionRole::Body, params)],
            (_, Attr::Match(of)) => {
                let payload = |case: &Case| match case {
                    Case::Int(_) => None,
                    Case::Variant(variant) => ops::signature::payload_type(&self.program, variant).flatten(),
                };
                let param = |ty| RegionParam { name: None, ty };
                let cases = of.cases.iter().enumerate();
                let cases = cases.map(|(index, case)| {
                    (RegionRole::Case(index as u16), payload(case).map(param).into_iter().collect())
                });
                cases.chain(of.default.then(|| (RegionRole::Default, Vec::new()))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Changes what a node computes.
    pub(super) fn modify_node(&mut self, edit: &ModifyNode) -> Done<()> {
        let (function, node) = self.node(&["ref"], &edit.of, None)?;
        let body = self.body(function)?;
        let Some(found) = body.node(node) else { return Ok(()) };
        let place = Scope { function, region: found.region(), after: body.previous(node) };
        let Operator { op, params } = self.operator(&["op"], place, &edit.op)?;
        let body = self.body(function)?;
        let Some(found) = body.node(node) else { return Ok(()) };
        let shapes = |op: &Op| op.owns_regions().then(|| std::mem::discriminant(op.attr()));
        let (from, to) = (shapes(found.op()), shapes(&op));
        let other_regions = found.op().code() != op.code()
            && [found.op().code(), op.code()].iter().any(|code| matches!(code, Opcode::If | Opcode::Match));
        if from.is_some() && (from != to || other_regions) {
            let message = format!(
                "`{}` has not the regions of `{}`",
                op.code().mnemonic(),
                found.op().code().mnemonic()
            );
            return Err(EditError::new(code::REGIONS_LOST, &["op"], message)
                .found(shortened(&edit.op))
                .into());
        }
        let region = found.region();
        if op.is_terminator() && !found.op().is_terminator() {
            let at = At { region: Some(region.to_string()), ..At::default() };
            self.spot(&at, Some(function), What::Terminator, Some(node))?;
            if let Some(next) = self.body(function)?.next(node) {
                let message = format!("`{next}` would stand after a terminator");
                return Err(EditError::new(code::AFTER_TERMINATOR, &["op"], message)
                    .found(next.to_string())
                    .into());
            }
        }
        let mut content = found.content();
        let params = if params.is_empty() { self.loop_params(function, &content, &op) } else { params };
        self.keep_cases(function, node, &mut content, &op)?;
        content.op = op;
        self.open(function)?.set_node(node, content)?;
        self.set_operator(function, node, params)?;
        self.drop_holes(function, node)
    }

    /// The parameters of a loop whose new operator says none.
    fn loop_params(&self, function: FuncRef, content: &NodeContent, op: &Op) -> Vec<RegionParam> {
        let loops = op.code() == Opcode::Loop && content.op.code() == Opcode::Loop;
        let body = content.regions.first().filter(|_| loops);
        let record = body.and_then(|region| self.program.function(function)?.body().region(*region));
        record.map_or_else(Vec::new, |record| record.params.clone())
    }

    /// Gives the regions of a `match` the positions of their cases under a new operator; those of cases that are gone go.
    fn keep_cases(
        &mut self,
        function: FuncRef,
        node: NodeRef,
        content: &mut NodeContent,
        op: &Op,
    ) -> Done<()> {
        let (Attr::Match(old), Attr::Match(new)) = (content.op.attr().clone(), op.attr()) else {
            return Ok(());
        };
        let mut kept = Vec::new();
        let mut gone = Vec::new();
        for region in content.regions.drain(..) {
            let Some(mut record) = self.body(function)?.region(region).cloned() else { continue };
            let role = match record.role {
                RegionRole::Case(index) => {
                    let case = old.cases.get(usize::from(index));
                    let at = case.and_then(|case| new.cases.iter().position(|other| other == case));
                    at.map(|at| RegionRole::Case(at as u16))
                }
                other @ (RegionRole::Body | RegionRole::Then | RegionRole::Else | RegionRole::Contract) => {
                    Some(other)
                }
                RegionRole::Default => new.default.then_some(RegionRole::Default),
            };
            match role {
                Some(role) => {
                    if role != record.role {
                        record.role = role;
                        self.open(function)?.set_region(region, record)?;
                    }
                    kept.push(region);
                }
                None => gone.push(region),
            }
        }
        content.regions = kept;
        if gone.is_empty() {
            return Ok(());
        }
        // Out of the node first, so that what is left of it stays when they go.
        self.open(function)?.set_node(node, content.clone())?;
        gone.into_iter().try_for_each(|region| self.cut_region(function, region))?;
        // Cutting may have left holes in the node itself.
        if let Some(found) = self.body(function)?.node(node) {
            content.inputs = found.inputs().clone();
        }
        Ok(())
    }

    /// Drops holes at the end that the operator does not take. Sources stay: that they are too many is an error.
    fn drop_holes(&mut self, function: FuncRef, node: NodeRef) -> Done<()> {
        let found = self.function(&["function"], function)?;
        let Some(content) = found.body().node(node) else { return Ok(()) };
        let Some(ports) = ops::ports(&self.program, found, content) else { return Ok(()) };
        let (have, want) = (content.inputs().len(), ports.inputs.len());
        if have > want && content.inputs().iter().skip(want).all(|source| source.is_none()) {
            let mut content = content.content();
            content.inputs = content.inputs.iter().take(want).collect();
            self.open(function)?.set_node(node, content)?;
        }
        Ok(())
    }

    /// Moves a node.
    pub(super) fn move_node(&mut self, edit: &MoveNode) -> Done<()> {
        let places = [&edit.at.region, &edit.at.before, &edit.at.after].into_iter().flatten();
        let home = places.filter_map(|place| self.home_of(place)).next();
        let (function, node) = self.node(&["ref"], &edit.of, home)?;
        self.put(function, node, &edit.at).map_err(|fail| fail.renamed("op", "ref"))
    }

    fn put(&mut self, function: FuncRef, node: NodeRef, at: &At) -> Done<()> {
        let Some(found) = self.body(function)?.node(node) else { return Ok(()) };
        let terminator = found.op().is_terminator();
        let region = found.region().to_string();
        let anchored = at.region.is_some() || at.before.is_some() || at.after.is_some();
        let home = At { region: Some(region), ..at.clone() };
        let what = if terminator { What::Terminator } else { What::Inner };
        let place = self.spot(if anchored { at } else { &home }, Some(function), what, Some(node))?;
        self.open(place.function)?.move_node(node, place.region, place.after)?;
        Ok(())
    }

    /// Puts a node after another one or into one of its regions.
    pub(super) fn add_control_edge(&mut self, edit: &AddControlEdge) -> Done<()> {
        let (function, from) = self.node(&["from"], &edit.from, self.home_of(&edit.to))?;
        let (home, to) = self.node(&["to"], &edit.to, Some(function))?;
        if home != function {
            let message = format!("`{from}` and `{to}` are not in one function");
            return Err(EditError::new(code::BAD_ANCHOR, &["to"], message).found(to.to_string()).into());
        }
        let Some(found) = self.body(function)?.node(from) else { return Ok(()) };
        let at = match edit.branch_index {
            None if found.op().is_terminator() => {
                return Err(Fail::from(after_terminator(from)).renamed("after", "from"));
            }
            None => At { after: Some(from.to_string()), ..At::default() },
            Some(index) => match found.regions().get(index as usize) {
                Some(region) => At { region: Some(region.to_string()), ..At::default() },
                None => {
                    let regions = counted(found.regions().len() as u64, "region", "regions");
                    let message = format!("`{from}` has {regions}");
                    let error = EditError::new(code::NO_SUCH_EDGE, &["branchIndex"], message);
                    let expected = (0..found.regions().len().min(16)).map(|index| index.to_string());
                    return Err(error.found(index.to_string()).expected(expected).into());
                }
            },
        };
        let put = self.put(function, to, &at);
        put.map_err(|fail| ["after", "op"].into_iter().fold(fail, |fail, place| fail.renamed(place, "to")))
    }

    /// Connects an input.
    pub(super) fn add_edge(&mut self, edit: &AddEdge) -> Done<()> {
        let (function, to) = self.node(&["to"], &edit.to, self.home_of(&edit.from))?;
        let body = self.body(function)?;
        let Some(found) = body.node(to) else { return Ok(()) };
        let place = Scope { function, region: found.region(), after: body.previous(to) };
        let given = self.given(&["from"], place, &edit.from)?;
        if let (Given::Literal { named: None, .. }, 1..) = (given, edit.source_port) {
            let error = EditError::new(code::NO_SUCH_PORT, &["sourcePort"], "a literal is one value");
            return Err(error.found(edit.source_port.to_string()).expected(["0".to_owned()]).into());
        }
        self.make_room(function, to, edit.target_port, edit.replace)?;
        let found = self.function(&["to"], function)?;
        let ports = found.body().node(to).and_then(|node| ops::ports(&self.program, found, node));
        let wanted = literal_place(ports.as_ref(), usize::from(edit.target_port));
        let source = with_port(self.input(&["from"], place, given, wanted)?, edit.source_port);
        self.open(function)?.set_input(to, usize::from(edit.target_port), Some(source))?;
        Ok(())
    }

    /// Sees to it that a node has an input that may be connected.
    fn make_room(&mut self, function: FuncRef, to: NodeRef, port: u16, replace: bool) -> Done<()> {
        let around = self.function(&["to"], function)?;
        let Some(found) = around.body().node(to) else { return Ok(()) };
        let (index, have) = (usize::from(port), found.inputs().len());
        let ports = ops::ports(&self.program, around, found).map_or(have, |ports| ports.inputs.len());
        // A list of any length grows at its end.
        let repeated = found.op().spec().inputs.last().is_some_and(|port| port.repeated()) && ports == have;
        let limit = ports.max(have) + usize::from(repeated && matches!(found.op().code(), Opcode::ArrayNew));
        if index >= limit || index >= MAX_PORTS {
            let message = format!("`{to}` has no input {port}");
            let expected = (0..limit.min(16)).map(|input| input.to_string());
            let error = EditError::new(code::NO_SUCH_PORT, &["targetPort"], message);
            return Err(error.found(port.to_string()).expected(expected).into());
        }
        if let Some(taken) = found.inputs().get(index)
            && !replace
        {
            let message = format!("input {port} of `{to}` takes `{taken}`");
            return Err(EditError::new(code::INPUT_TAKEN, &["targetPort"], message)
                .found(taken.to_string())
                .into());
        }
        if index >= have {
            let mut content = found.content();
            let holes = std::iter::repeat_n(None, index + 1 - have);
            content.inputs = content.inputs.iter().chain(holes).collect();
            self.open(function)?.set_node(to, content)?;
        }
        Ok(())
    }

    /// Disconnects an input, given the ref of its edge; takes it away where the operator has more inputs than it takes.
    pub(super) fn remove_edge(&mut self, edit: &Remove) -> Done<()> {
        let text = edit.of.as_str();
        let no_edge =
            |message: String| EditError::new(code::NO_SUCH_EDGE, &["ref"], message).found(shortened(text));
        let Some((node, end)) = text.rsplit_once('.') else {
            return Err(no_edge(format!("`{}` is no ref of an edge", shortened(text)))
                .expected(["n12.in0".to_owned()])
                .into());
        };
        let (function, node) = self.node(&["ref"], node, None)?;
        let number = |prefix: &str| end.strip_prefix(prefix).map(str::parse::<u16>);
        if end == "next" || end == "exit" || matches!(number("enter"), Some(Ok(_))) {
            let message = format!("`{}` follows from the order of nodes and regions", shortened(text));
            return Err(EditError::new(code::EDGE_DERIVED, &["ref"], message).found(shortened(text)).into());
        }
        let Some(Ok(input)) = number("in") else {
            return Err(no_edge(format!("`{}` is no ref of an edge", shortened(text)))
                .expected(["n12.in0".to_owned()])
                .into());
        };
        let around = self.function(&["ref"], function)?;
        let Some(found) = around.body().node(node) else { return Ok(()) };
        let index = usize::from(input);
        let have = found.inputs().len();
        let surplus = ops::ports(&self.program, around, found).is_some_and(|ports| ports.inputs.len() < have);
        if index < have && surplus {
            // A hole would be one too many as well: those behind it move up.
            let mut content = found.content();
            let kept = content.inputs.iter().enumerate().filter(|(at, _)| *at != index);
            content.inputs = kept.map(|(_, source)| source).collect();
            self.open(function)?.set_node(node, content)?;
            return Ok(());
        }
        if found.inputs().get(index).is_none() {
            return Err(no_edge(format!("input {input} of `{node}` has no source")).into());
        }
        self.open(function)?.set_input(node, index, None)?;
        Ok(())
    }

    /// Lets all uses of a value take another one.
    pub(super) fn replace_all_uses(&mut self, edit: &ReplaceUses) -> Done<()> {
        let of = self.value(&edit.of, self.home_of(&edit.with))?;
        let function = match of {
            Source::Node(node, _) => self.within(&["ref"], node.into())?,
            Source::RegionParam(region, _) => self.within(&["ref"], region.into())?,
            Source::Param(function, _) => function,
        };
        let body = self.body(function)?;
        let (region, after) = match of {
            Source::Node(node, _) => (body.node(node).map(|node| node.region()), Some(node)),
            Source::RegionParam(region, _) => (Some(region), None),
            Source::Param(..) => (body.root(), None),
        };
        let Some(region) = region else { return Ok(()) };
        let expected = self.taken(function, of);
        let used = body.uses_of(of.number()).any(|one| body.source_of(one) == Some(of));
        // What is used may be gone: then its uses are to be mended.
        if expected.is_none() && !used {
            let message = format!("there is no value `{of}`");
            let error = EditError::new(code::NO_SUCH_PORT, &["ref"], message);
            return Err(error.found(shortened(&edit.of)).into());
        }
        let place = Scope { function, region, after };
        let given = self.given(&["with"], place, &edit.with)?;
        let wanted = expected.as_ref().map_or(LiteralPlace::Unknown, LiteralPlace::Takes);
        let with = self.input(&["with"], place, given, wanted)?;
        self.replace_uses(function, of.number(), Some(of.port()), with)
    }

    /// What takes the place of a value.
    pub(super) fn taken(&self, function: FuncRef, value: Source) -> Option<Expected> {
        let around = self.program.function(function)?;
        source_type(&self.program, around, value).map(Expected::Is)
    }

    /// A source that is given by ref, `$name` or path; by its name alone in `home`.
    pub(super) fn value(&self, text: &str, home: Option<FuncRef>) -> Done<Source> {
        let (first, port) = text.split_at(text.find('.').unwrap_or(text.len()));
        let (of, text) = match self.is_name(first) {
            true => {
                let (_, node) = self.node(&["ref"], first, home)?;
                (node.into(), Cow::Owned(format!("{node}{port}")))
            }
            false => (self.entity(&["ref"], first)?, Cow::Borrowed(text)),
        };
        let function = self.within(&["ref"], of)?;
        let Some(region) = self.body(function)?.root() else {
            return Err(
                EditError::new(code::BAD_SOURCE, &["ref"], "an imported function has no values").into()
            );
        };
        self.source(&["ref"], Scope { function, region, after: None }, &text)
    }

    /// Lets the uses of one port of an entity (of each, without one) take another source; what the new source itself
    /// takes stays, or it would take its own value.
    pub(super) fn replace_uses(
        &mut self,
        function: FuncRef,
        number: u64,
        port: Option<u16>,
        with: Source,
    ) -> Done<()> {
        let body = self.body(function)?;
        let users: Vec<(Use, Source)> = body
            .uses_of(number)
            .filter_map(|one| Some((one, body.source_of(one)?)))
            .filter(|(one, source)| {
                port.is_none_or(|port| source.port() == port) && one.node.number() != with.number()
            })
            .collect();
        let mut open = self.open(function)?;
        for (one, source) in users {
            let Some(input) = one.input else { continue };
            // Without a port the ports of both correspond.
            let to = if port.is_none() { with_port(with, source.port()) } else { with };
            open.set_input(one.node, usize::from(input), Some(to))?;
        }
        Ok(())
    }

    /// Lets what takes the outputs of a node take other values instead, each by its place; where there is none, a hole stays.
    pub(super) fn replace_outputs(
        &mut self,
        function: FuncRef,
        node: NodeRef,
        values: &[Option<Source>],
    ) -> Done<()> {
        let body = self.body(function)?;
        let uses: Vec<_> = body
            .uses_of(node.number())
            .filter_map(|one| Some((one.node, one.input?, body.source_of(one)?.port())))
            .collect();
        let mut open = self.open(function)?;
        for (user, input, port) in uses {
            open.set_input(user, usize::from(input), values.get(usize::from(port)).copied().flatten())?;
        }
        Ok(())
    }

    /// Gives a node another name; an empty one takes it away.
    pub(super) fn rename_node(&mut self, edit: &Rename) -> Done<()> {
        let (function, node) = self.node(&["ref"], &edit.of, None)?;
        let name = match edit.name.as_str() {
            "" => None,
            name => {
                check_name(&["name"], name)?;
                Some(Arc::from(name))
            }
        };
        let Some(found) = self.body(function)?.node(node) else { return Ok(()) };
        let content = NodeContent { name, ..found.content() };
        self.open(function)?.set_node(node, content)?;
        Ok(())
    }
}

/// What an input of an operator wants of a literal.
fn literal_place(ports: Option<&Ports>, input: usize) -> LiteralPlace<'_> {
    match ports {
        None => LiteralPlace::Unknown,
        Some(ports) => ports.inputs.get(input).map_or(LiteralPlace::Surplus, LiteralPlace::Takes),
    }
}

/// The source with a port, if it was given without one.
fn with_port(source: Source, port: u16) -> Source {
    match source {
        Source::Node(node, 0) => Source::Node(node, port),
        Source::RegionParam(region, 0) => Source::RegionParam(region, port),
        Source::Param(function, 0) => Source::Param(function, port),
        other @ (Source::Node(..) | Source::RegionParam(..) | Source::Param(..)) => other,
    }
}
