//! Nodes of the program graph, with their ports.

use std::sync::PoisonError;

use async_graphql::{Context, ID, Object, Result, SimpleObject, Union};
use lmlang_ir::graph::values_in_scope;
use lmlang_ir::ops::{Expected, Ports, signature};
use lmlang_ir::{NodeRef, Source, text};

use crate::direct::{Direct, Out, Selected, Writer, leaf, list, maybe, object, one, word};
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest, page_size};
use crate::schema::cursor::List;
use crate::schema::defaults::{Full, Int, Or};
use crate::schema::diagnostics::{self, Diagnostic, Severity, Within};
use crate::schema::edge::{self, EdgeKind, FlowEdge};
use crate::schema::function::{Function, Param};
use crate::schema::ops::{Effect, Opcode};
use crate::schema::provenance::Provenance;
use crate::schema::region::{Region, RegionParam};
use crate::schema::scalars::Text;
use crate::schema::view::{not_found, nullable};
use crate::transport::budget;

/// A node of a function.
#[derive(Clone)]
pub struct ComputeNode {
    pub(crate) function: Function,
    pub(crate) of: NodeRef,
}

impl Listed for ComputeNode {
    const CONNECTION: &'static str = "ComputeNodeConnection";
    const EDGE: &'static str = "ComputeNodeEdge";
}

impl ComputeNode {
    /// The node with a ref in a function, which must be there.
    pub fn new(function: &Function, of: NodeRef) -> ComputeNode {
        ComputeNode { function: function.clone(), of }
    }

    /// The node with a ref in a function, if it is there.
    pub(crate) fn find(function: &Function, of: NodeRef) -> Option<ComputeNode> {
        function.function.body().node(of).map(|_| ComputeNode::new(function, of))
    }

    pub(crate) fn record(&self) -> &lmlang_ir::Node {
        self.function.function.body().node(self.of).expect("a node that is looked at is in its function")
    }

    /// Its inputs in order.
    fn input_ports(&self) -> Vec<InputPort> {
        let node = self.record();
        let ports = self.ports();
        let names = port_names(node.op().spec().inputs, node.inputs().len());
        let port = |(index, name)| InputPort {
            node: self.clone(),
            index,
            name,
            expected: ports.as_ref().and_then(|ports| ports.inputs.get(index)).cloned(),
            source: node.inputs().get(index),
        };
        names.into_iter().enumerate().map(port).collect()
    }

    /// Its outputs in order.
    fn output_ports(&self) -> Vec<OutputPort> {
        let outputs = self.ports().map(|ports| ports.outputs).unwrap_or_default();
        let program = self.function.view.program();
        let port = |(index, ty)| OutputPort {
            node: self.clone(),
            index,
            ty: text::print_type_name(program, None, ty),
        };
        outputs.iter().enumerate().map(port).collect()
    }

    fn position(&self) -> i32 {
        self.function.positions.of(self.function.function.body(), self.of).map_or(0, |index| index as i32)
    }

    /// Its ports; none when its operator names something that does not exist.
    fn ports(&self) -> Option<Ports> {
        lmlang_ir::ops::ports(self.function.view.program(), &self.function.function, self.record())
    }
}

/// One computation: an operator with numbered inputs and outputs.
#[Object]
impl ComputeNode {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.function.view.entity_id(self.of)
    }

    /// Short name within the program: `n12`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// The operator with its attributes, entities by ref: `add.i32`, `const.i64 5`, `call f7`, `loop L -> (i64)`.
    async fn op(&self, context: &Context<'_>) -> String {
        budget::whole(context, text::print_op(self.record().op()))
    }

    /// The operator alone.
    async fn opcode(&self) -> Opcode {
        self.record().op().code().into()
    }

    /// Its optional name.
    async fn label(&self) -> Option<Text> {
        self.record().name().map(|name| name.to_string().into())
    }

    /// What is written about it.
    async fn doc(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.record().doc().map(|doc| &**doc))
    }

    /// The function that it is part of.
    async fn owner(&self) -> &Function {
        &self.function
    }

    /// The region that it stands in.
    async fn region(&self) -> Region {
        Region::new(&self.function, self.record().region())
    }

    /// Its position in the region, from 0.
    async fn index(&self) -> i32 {
        self.position()
    }

    /// The regions that it owns, in the order of its operator.
    async fn regions(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Region>>> {
        let regions = self.record().regions().iter().map(|of| Region::new(&self.function, *of)).collect();
        nullable(
            PageRequest::new(List::NodeRegions, first, after)
                .and_then(|page| Connection::by_name(&page, regions, |one| one.of.to_string())),
        )
    }

    /// What it does besides computing its outputs.
    async fn effect(&self) -> Effect {
        self.record().op().spec().effect.into()
    }

    /// Its inputs in order.
    async fn inputs(&self, context: &Context<'_>) -> Vec<InputPort> {
        budget::list(context, self.input_ports()).await
    }

    /// Its outputs in order.
    async fn outputs(&self, context: &Context<'_>) -> Vec<OutputPort> {
        budget::list(context, self.output_ports()).await
    }

    /// Edges that lead to it, data edges first.
    async fn incoming(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only edges of this kind.")] kind: Option<EdgeKind>,
    ) -> Option<Result<Connection<FlowEdge>>> {
        nullable(
            PageRequest::new(List::Incoming, first, after).and_then(|page| edge::incoming(self, &page, kind)),
        )
    }

    /// Edges that come from it, data edges first, by the node that they lead to.
    async fn outgoing(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only edges of this kind.")] kind: Option<EdgeKind>,
    ) -> Option<Result<Connection<FlowEdge>>> {
        nullable(
            PageRequest::new(List::Outgoing, first, after).and_then(|page| edge::outgoing(self, &page, kind)),
        )
    }

    /// Its text form, with the regions that it owns.
    async fn text(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How much the text says.", default)] detail: Or<Full>,
    ) -> Option<Result<String>> {
        let print = || {
            let mut around = self.function.around.lock().unwrap_or_else(PoisonError::into_inner);
            text::print_node_among(self.function.view.program(), self.of, detail.0.into(), &mut around)
        };
        nullable(budget::text(context, print).await)
    }

    /// What the verifier finds at it.
    async fn diagnostics(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
        #[graphql(desc = "Only findings of this severity.")] severity: Option<Severity>,
    ) -> Option<Result<Connection<Diagnostic>>> {
        nullable(PageRequest::new(List::NodeDiagnostics, first, after).and_then(|page| {
            let within = Within::Entity(self.function.of, self.of.number());
            diagnostics::page(&self.function.view, &page, within, severity)
        }))
    }

    /// Who made it, and who changed it last; null in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        Provenance::of(&self.function.view, self.of.into()).await
    }
}

impl Direct for ComputeNode {
    fn writer(selected: Selected<'_>) -> Option<Writer<ComputeNode>> {
        object(selected, &["ComputeNode", "Node"], |name, inner| match name {
            "id" => leaf(|node: &ComputeNode, out| out.text(&node.function.view.entity_id(node.of))),
            "ref" => leaf(|node: &ComputeNode, out| out.plain(node.of)),
            "op" => leaf(|node: &ComputeNode, out| out.counted(&text::print_op(node.record().op()))),
            "opcode" => leaf(|node: &ComputeNode, out| {
                out.plain(Opcode::from(node.record().op().code()).name());
            }),
            "label" => leaf(|node: &ComputeNode, out| match node.record().name() {
                Some(name) => out.counted(name),
                None => out.null(),
            }),
            "doc" => leaf(|node: &ComputeNode, out| match node.record().doc() {
                Some(doc) => out.counted(doc),
                None => out.null(),
            }),
            "owner" => one(inner, |node: &ComputeNode| node.function.clone()),
            "region" => one(inner, |node: &ComputeNode| Region::new(&node.function, node.record().region())),
            "index" => leaf(|node: &ComputeNode, out| out.number(node.position())),
            "effect" => leaf(|node: &ComputeNode, out| {
                out.plain(word(Effect::from(node.record().op().spec().effect)));
            }),
            "inputs" => list(inner, ComputeNode::input_ports),
            "outputs" => list(inner, ComputeNode::output_ports),
            _ => None,
        })
    }
}

/// Names for each of a node's ports: those of the table, repeated ones numbered.
fn port_names(ports: &[lmlang_ir::ops::Port], count: usize) -> Vec<String> {
    let fixed = ports.iter().filter(|port| !port.repeated()).count();
    let mut names = Vec::with_capacity(count);
    for port in ports {
        if port.repeated() {
            names.extend((0..count.saturating_sub(fixed)).map(|index| format!("{}{index}", port.name)));
        } else {
            names.push(port.name.to_owned());
        }
    }
    names
}

/// An input of a node.
#[derive(Clone)]
pub struct InputPort {
    node: ComputeNode,
    index: usize,
    name: String,
    expected: Option<Expected>,
    source: Option<Source>,
}

impl InputPort {
    /// What is missing when nothing is its source.
    fn open(&self) -> Option<Hole> {
        self.source.is_none().then(|| Hole { port: self.clone() })
    }

    fn expected_text(&self) -> String {
        match &self.expected {
            Some(Expected::Is(ty)) => text::print_type_name(self.node.function.view.program(), None, ty),
            Some(Expected::Address) => "i32 or ptr".to_owned(),
            Some(Expected::Reference) => "funcref or externref".to_owned(),
            Some(Expected::Integer) => "i32 or i64".to_owned(),
            None => "unknown".to_owned(),
        }
    }
}

/// An input of a node: it has one source, or it is a hole.
#[Object]
impl InputPort {
    /// Its position, from 0.
    async fn index(&self) -> i32 {
        self.index as i32
    }

    /// Its name.
    async fn name(&self) -> &str {
        &self.name
    }

    /// The type that it takes.
    async fn expected_type(&self) -> Text {
        self.expected_text().into()
    }

    /// Where its value comes from; null for a hole.
    async fn source(&self) -> Option<Result<ValueSource>> {
        nullable(ValueSource::new(&self.node.function, self.source?))
    }

    /// The hole, if there is no source.
    async fn hole(&self) -> Option<Hole> {
        self.open()
    }
}

impl Direct for InputPort {
    fn writer(selected: Selected<'_>) -> Option<Writer<InputPort>> {
        object(selected, &["InputPort"], |name, inner| match name {
            "index" => leaf(|port: &InputPort, out| out.number(port.index)),
            "name" => leaf(|port: &InputPort, out| out.text(&port.name)),
            "expectedType" => leaf(|port: &InputPort, out| out.counted(&port.expected_text())),
            "source" => {
                let writer = ValueSource::writer(inner)?;
                leaf(move |port: &InputPort, out| {
                    write_source(&port.node.function, port.source, &writer, out)
                })
            }
            "hole" => maybe(inner, InputPort::open),
            _ => None,
        })
    }
}

/// Writes where a value comes from, or that it comes from nowhere.
fn write_source(
    function: &Function,
    source: Option<Source>,
    writer: &Writer<ValueSource>,
    out: &mut Out<'_>,
) {
    match source.map(|source| ValueSource::new(function, source)) {
        Some(Ok(source)) => writer(&source, out),
        Some(Err(_)) => out.give_up(),
        None => out.null(),
    }
}

/// An input without a source.
pub struct Hole {
    port: InputPort,
}

/// An input without a source: a run stops there, an export is refused.
#[Object]
impl Hole {
    /// The type that it takes.
    async fn expected_type(&self) -> Text {
        self.port.expected_text().into()
    }

    /// Values in scope that fit, the nearest first: what nodes before it make, parameters of regions, parameters of the
    /// function. Of the nodes before it 10,000 are looked at. Empty where it is not known what the input takes.
    async fn candidates(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<20>>,
    ) -> Option<Result<Vec<ScopeValue>>> {
        let found = page_size(first).and_then(|first| {
            let values = self.port.candidates(first);
            budget::count(context, values.iter().map(|value| value.text.len() as u64).sum())?;
            Ok(values)
        });
        nullable(found)
    }
}

/// A value that could be the source of an input.
#[derive(Clone, Debug, SimpleObject)]
pub struct ScopeValue {
    /// The source, as `addEdge` takes it under `from`: `n12`, `n12.1`, `g5.0`, `f7.0`.
    source: String,
    /// Its type.
    #[graphql(name = "type")]
    ty: String,
    /// Where it comes from: the line of the node, or the parameter.
    text: String,
}

impl InputPort {
    fn candidates(&self, most: usize) -> Vec<ScopeValue> {
        let Some(expected) = &self.expected else { return Vec::new() };
        let Function { view, of, function, .. } = &self.node.function;
        let program = view.program();
        let told = |source: Source, ty: &str| {
            let param = |name: Option<&str>| format!("{}: {ty}", name.unwrap_or("_"));
            match source {
                Source::Node(node, _) => {
                    let printed = text::print_node(program, node, text::Detail::Summary);
                    printed.lines().next().unwrap_or_default().to_owned()
                }
                Source::RegionParam(region, port) => {
                    let record = function.body().region(region);
                    let found = record.and_then(|record| record.params.get(usize::from(port)));
                    param(found.and_then(|found| found.name.as_deref()))
                }
                Source::Param(_, port) => {
                    param(function.head().params.get(usize::from(port)).map(|found| &*found.name))
                }
            }
        };
        values_in_scope(program, *of, function, self.node.of)
            .filter(|(_, ty)| expected.accepts(ty))
            .take(most)
            .map(|(source, ty)| {
                let ty = text::print_type_name(program, None, &ty);
                ScopeValue { source: source.to_string(), text: told(source, &ty), ty }
            })
            .collect()
    }
}

impl Direct for Hole {
    fn writer(selected: Selected<'_>) -> Option<Writer<Hole>> {
        object(selected, &["Hole"], |name, _| match name {
            "expectedType" => leaf(|hole: &Hole, out| out.counted(&hole.port.expected_text())),
            _ => None,
        })
    }
}

/// An output of a node.
#[derive(Clone)]
pub struct OutputPort {
    node: ComputeNode,
    index: usize,
    ty: String,
}

/// An output of a node.
#[Object]
impl OutputPort {
    /// Its position, from 0.
    async fn index(&self) -> i32 {
        self.index as i32
    }

    /// Its type.
    #[graphql(name = "type")]
    async fn ty(&self) -> Text {
        self.ty.clone().into()
    }

    /// The edges that take its value, by the node that they lead to.
    async fn uses(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<FlowEdge>>> {
        nullable(PageRequest::new(List::OutputUses, first, after).and_then(|page| {
            edge::uses(&self.node.function, Source::Node(self.node.of, self.index as u16), &page)
        }))
    }
}

impl Direct for OutputPort {
    fn writer(selected: Selected<'_>) -> Option<Writer<OutputPort>> {
        object(selected, &["OutputPort"], |name, _| match name {
            "index" => leaf(|port: &OutputPort, out| out.number(port.index)),
            "type" => leaf(|port: &OutputPort, out| out.counted(&port.ty)),
            _ => None,
        })
    }
}

/// Where a value comes from.
#[derive(Clone, Union)]
pub enum ValueSource {
    /// An output of a node.
    Node(NodeOutput),
    /// A parameter of the function.
    Param(ParamSource),
    /// A parameter of a region around.
    RegionParam(RegionParamSource),
}

/// An output of a node, as a source.
#[derive(Clone, SimpleObject)]
pub struct NodeOutput {
    /// The node.
    node: ComputeNode,
    /// Which of its outputs.
    port: i32,
    /// The type of the value.
    #[graphql(name = "type")]
    ty: Text,
}

/// A parameter of the function, as a source.
#[derive(Clone, SimpleObject)]
pub struct ParamSource {
    /// The parameter.
    param: Param,
    /// The type of the value.
    #[graphql(name = "type")]
    ty: Text,
}

/// A parameter of a region, as a source.
#[derive(Clone, SimpleObject)]
pub struct RegionParamSource {
    /// The parameter.
    region_param: RegionParam,
    /// The type of the value.
    #[graphql(name = "type")]
    ty: Text,
}

impl ValueSource {
    /// A source as clients see it.
    pub(crate) fn new(function: &Function, source: Source) -> std::result::Result<ValueSource, ApiError> {
        let program = function.view.program();
        let ty = signature::source_type(program, &function.function, source)
            .map_or_else(|| "unknown".to_owned(), |ty| text::print_type_name(program, None, &ty));
        let ty = Text(ty);
        let missing = || not_found("source", &source.to_string());
        Ok(match source {
            Source::Node(of, port) => ValueSource::Node(NodeOutput {
                node: ComputeNode::find(function, of).ok_or_else(missing)?,
                port: i32::from(port),
                ty,
            }),
            Source::RegionParam(of, index) => {
                let region = Region::new(function, of);
                let param = region.param_at(usize::from(index)).ok_or_else(missing)?;
                ValueSource::RegionParam(RegionParamSource { region_param: param, ty })
            }
            Source::Param(_, index) => {
                let param = function.param_at(usize::from(index)).ok_or_else(missing)?;
                ValueSource::Param(ParamSource { param, ty })
            }
        })
    }
}

impl Direct for ValueSource {
    fn writer(selected: Selected<'_>) -> Option<Writer<ValueSource>> {
        let node = object(selected, &["NodeOutput", "ValueSource"], |name, inner| match name {
            "node" => one(inner, |source: &NodeOutput| source.node.clone()),
            "port" => leaf(|source: &NodeOutput, out| out.number(source.port)),
            "type" => leaf(|source: &NodeOutput, out| out.counted(&source.ty.0)),
            _ => None,
        })?;
        let param = object(selected, &["ParamSource", "ValueSource"], |name, inner| match name {
            "param" => one(inner, |source: &ParamSource| source.param.clone()),
            "type" => leaf(|source: &ParamSource, out| out.counted(&source.ty.0)),
            _ => None,
        })?;
        let region = object(selected, &["RegionParamSource", "ValueSource"], |name, inner| match name {
            "regionParam" => one(inner, |source: &RegionParamSource| source.region_param.clone()),
            "type" => leaf(|source: &RegionParamSource, out| out.counted(&source.ty.0)),
            _ => None,
        })?;
        Some(Box::new(move |source, out| match source {
            ValueSource::Node(source) => node(source, out),
            ValueSource::Param(source) => param(source, out),
            ValueSource::RegionParam(source) => region(source, out),
        }))
    }
}
