//! Printing of bodies: lines and regions, and in `operands` what stands in a line. Nesting costs no stack.

mod operands;

use std::collections::HashSet;

use crate::entities::{Contract, ContractKind, RegionParam, Variable};
use crate::function::Function;
use crate::node::Node;
use crate::ops::signature::{outputs, payload_type, source_type};
use crate::ops::{Attr, Case};
use crate::program::Program;
use crate::refs::{ContractRef, FuncRef, NodeRef, Ref, RegionRef, VarRef};
use crate::text::layout;
use crate::text::literal::{put, write_text};
use crate::text::naming::{BodyNaming, ModuleNaming};
use crate::text::op::{write_case, write_named_type};
use crate::text::plain::Plain;
use crate::text::print::{Detail, write_doc};
use crate::text::scope::{Scope, output_names};
use crate::text::surroundings::Surroundings;
use crate::text::words::write_name;
use crate::types::Type;

/// Indentation stops growing here: deep programs would otherwise be mostly blanks.
pub(super) const MAX_INDENT: usize = 16;

/// Prints parts of one function.
pub(super) struct BodyPrinter<'p, 'o> {
    program: &'p Program,
    of: FuncRef,
    function: &'p Function,
    detail: Detail,
    names: ModuleNaming<'p>,
    scope: Scope,
    folded: HashSet<NodeRef>,
    /// Which refs are left out; only in a summary of the whole function.
    plain: Option<Plain<'p>>,
    level: usize,
    out: &'o mut String,
}

/// A step of the work that is left.
enum Step {
    /// A region with its braces.
    Region(RegionRef),
    /// The lines of a region that are left; `inline`: there is one, and it stands between the braces.
    Lines {
        lines: std::vec::IntoIter<NodeRef>,
        region: RegionRef,
        mark: usize,
        inline: bool,
    },
    /// A case of a `match`.
    Case(NodeRef, usize),
    /// What follows the regions of a node.
    Finish(NodeRef),
    Text(&'static str),
    /// A `}` on a line of its own, one level further out.
    Close,
}

impl<'p, 'o> BodyPrinter<'p, 'o> {
    pub(super) fn new(
        program: &'p Program,
        of: FuncRef,
        function: &'p Function,
        detail: Detail,
        out: &'o mut String,
    ) -> BodyPrinter<'p, 'o> {
        let mut scope = Scope::default();
        scope.bind_head(of, function);
        BodyPrinter {
            program,
            of,
            function,
            detail,
            names: ModuleNaming::new(program, Some(function.head().module)),
            scope,
            folded: HashSet::new(),
            plain: None,
            level: 0,
            out,
        }
    }

    fn naming(&self) -> BodyNaming<'_, 'p> {
        BodyNaming { module: &self.names, function: self.function, scope: &self.scope }
    }

    fn indent(&mut self) {
        for _ in 0..self.level.min(MAX_INDENT) {
            self.out.push_str("  ");
        }
    }

    fn doc(&mut self, doc: Option<&str>) {
        if let (Detail::Full, Some(doc)) = (self.detail, doc) {
            write_doc(self.out, doc, &"  ".repeat(self.level.min(MAX_INDENT)));
        }
    }

    fn tag(&mut self, of: Ref, left_out: bool) {
        if !left_out {
            put(self.out, format_args!("#{of}"));
        }
    }

    fn region_tag(&mut self, region: RegionRef) {
        // A parameter whose name is hidden is named by its region.
        let params = self.function.body().region(region).map_or(&[][..], |region| &region.params);
        let mut names = params.iter().map(|param| param.name.as_deref());
        let named = match &self.plain {
            Some(plain) => !plain.region(names),
            None => names.next().is_some(),
        };
        if self.detail > Detail::Summary || named {
            put(self.out, format_args!(" #{region}"));
        }
    }

    /// The `{` of the function's own region. `plain`: which refs the lines after it do without.
    pub(super) fn open(&mut self, root: RegionRef, plain: Option<Plain<'p>>) {
        self.plain = plain;
        self.region_tag(root);
        self.out.push_str(" {\n");
        self.level = 1;
    }

    pub(super) fn variable(&mut self, of: VarRef, variable: &Variable) {
        self.doc(variable.doc.as_deref());
        self.indent();
        self.out.push_str("var ");
        match &variable.name {
            Some(name) => {
                write_name(self.out, name);
                let plain = self.plain.as_ref().is_some_and(|plain| plain.variable(self.function.body(), of));
                self.tag(of.into(), plain);
                self.out.push_str(": ");
            }
            None => put(self.out, format_args!("{of}: ")),
        }
        write_named_type(self.out, &variable.ty, &self.names);
        self.out.push('\n');
    }

    pub(super) fn contract(&mut self, of: ContractRef, contract: &Contract, default: &[RegionParam]) {
        self.doc(contract.doc.as_deref());
        self.indent();
        self.out.push_str(match contract.kind {
            ContractKind::Require => "require",
            ContractKind::Ensure => "ensure",
            ContractKind::Invariant => "invariant",
        });
        self.tag(of.into(), self.plain.is_some());
        self.out.push(' ');
        write_text(self.out, &contract.message);
        if let Some(region) = self.function.body().region(contract.region)
            && region.params != default
        {
            self.out.push(' ');
            let types: Vec<Type> = default.iter().map(|param| param.ty.clone()).collect();
            self.region_params(&region.params, &types);
        }
        self.run(vec![Step::Text("\n"), Step::Region(contract.region)]);
    }

    /// The lines of the function's own region and its `}`.
    pub(super) fn body(&mut self, root: RegionRef) {
        let lines = self.lines(root);
        let mark = self.scope.mark();
        self.run(vec![Step::Lines { lines: lines.into_iter(), region: root, mark, inline: false }]);
    }

    /// One node, in the scope that it stands in.
    pub(super) fn node_alone(&mut self, of: NodeRef, around: &mut Surroundings) {
        around.go_to(self.program, self.of, self.function, of);
        std::mem::swap(&mut self.scope, &mut around.scope);
        std::mem::swap(&mut self.folded, &mut around.folded);
        let (mark, mut steps) = (self.scope.mark(), Vec::new());
        self.line(of, &mut steps);
        self.run(steps);
        self.scope.reset(mark);
        std::mem::swap(&mut self.scope, &mut around.scope);
        std::mem::swap(&mut self.folded, &mut around.folded);
    }

    fn lines(&mut self, region: RegionRef) -> Vec<NodeRef> {
        layout::lines(self.program, self.function, region, &mut self.folded)
    }

    fn bind_node(&mut self, of: NodeRef) {
        if let Some(name) = self.function.body().node(of).and_then(|node| node.name()) {
            self.scope.bind_outputs(name, of);
        }
    }

    fn run(&mut self, mut steps: Vec<Step>) {
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(text) => self.out.push_str(text),
                Step::Close => {
                    self.level -= 1;
                    self.indent();
                    self.out.push('}');
                }
                Step::Finish(of) => {
                    let label = self.function.body().node(of).and_then(|node| node.op().label());
                    if let Some(label) = label {
                        self.scope.pop_label(label);
                    }
                    self.bind_node(of);
                }
                Step::Case(of, index) => self.case(of, index),
                Step::Region(region) => self.region(region, &mut steps),
                Step::Lines { mut lines, region, mark, inline } => match lines.next() {
                    Some(node) => {
                        steps.push(Step::Lines { lines, region, mark, inline });
                        if inline {
                            self.out.push(' ');
                            self.line_head(node);
                            self.out.push(' ');
                        } else {
                            self.line(node, &mut steps);
                        }
                    }
                    None => {
                        self.scope.reset(mark);
                        if inline {
                            self.out.push('}');
                        } else {
                            let trailer =
                                self.function.body().region(region).and_then(|region| region.trailer.clone());
                            self.doc(trailer.as_deref());
                            steps.push(Step::Close);
                        }
                    }
                },
            }
        }
    }

    fn region(&mut self, region: RegionRef, steps: &mut Vec<Step>) {
        let Some(record) = self.function.body().region(region) else { return };
        self.region_tag(region);
        let mark = self.scope.mark();
        self.scope.bind_params(self.function, region);
        let lines = self.lines(region);
        let bare = self.detail < Detail::Full || record.trailer.is_none();
        let short = bare
            && match lines.as_slice() {
                [] => true,
                [only] => self.function.body().node(*only).is_some_and(|node| {
                    node.regions().is_empty() && (self.detail < Detail::Full || node.doc().is_none())
                }),
                _ => false,
            };
        self.out.push_str(if short { " {" } else { " {\n" });
        if !short {
            self.level += 1;
        }
        steps.push(Step::Lines { lines: lines.into_iter(), region, mark, inline: short });
    }

    /// A node on a line of its own; what its regions need goes to `steps`.
    fn line(&mut self, of: NodeRef, steps: &mut Vec<Step>) {
        let Some(node) = self.function.body().node(of) else { return };
        self.doc(node.doc().map(|doc| &**doc));
        self.indent();
        self.line_head(of);
        if node.regions().is_empty() && !matches!(node.op().attr(), Attr::Match(_)) {
            self.out.push('\n');
            self.bind_node(of);
            return;
        }
        if let Some(label) = node.op().label() {
            self.scope.push_label(label, of);
        }
        steps.push(Step::Finish(of));
        steps.push(Step::Text("\n"));
        match node.op().attr() {
            Attr::Match(_) => {
                self.out.push_str(" {\n");
                self.level += 1;
                steps.push(Step::Close);
                for (index, region) in node.regions().iter().enumerate().rev() {
                    steps.push(Step::Text("\n"));
                    steps.push(Step::Region(*region));
                    steps.push(Step::Case(of, index));
                }
            }
            _ => {
                for (index, region) in node.regions().iter().enumerate().rev() {
                    steps.push(Step::Region(*region));
                    if index > 0 {
                        steps.push(Step::Text(" else"));
                    }
                }
            }
        }
    }

    /// A node without its regions: label, operator and operands.
    fn line_head(&mut self, of: NodeRef) {
        let Some(node) = self.function.body().node(of) else { return };
        let plain = self.plain.as_ref().is_some_and(|plain| plain.node(self.function.body(), of, node));
        let mut tag = String::new();
        match node.name() {
            Some(name) => {
                let list = output_names(name).nth(1).is_some();
                if list {
                    self.out.push_str(name)
                } else {
                    write_name(self.out, name)
                }
                self.tag(of.into(), plain);
                self.out.push_str(" = ");
            }
            None => {
                let silent = node.op().spec().outputs.is_empty()
                    || outputs(self.program, self.function, node).is_some_and(|outputs| outputs.is_empty());
                if silent {
                    put(&mut tag, format_args!("#{of}"))
                } else {
                    put(self.out, format_args!("{of} = "))
                }
            }
        }
        self.operator(node, &tag);
    }

    /// The type that a `match` looks at, if it is known.
    fn scrutinee(&self, node: &Node) -> Option<Type> {
        source_type(self.program, self.function, node.inputs().get(0)?)
    }

    fn param(&mut self, param: &RegionParam) {
        match &param.name {
            Some(name) => write_name(self.out, name),
            None => self.out.push('_'),
        }
        self.out.push_str(": ");
        write_named_type(self.out, &param.ty, &self.names);
    }

    /// `(x, y: i32)`; types are left out where they are those that are known.
    fn region_params(&mut self, params: &[RegionParam], known: &[Type]) {
        self.out.push('(');
        for (index, param) in params.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { ", " });
            if known.get(index) == Some(&param.ty) {
                match &param.name {
                    Some(name) => write_name(self.out, name),
                    None => self.out.push('_'),
                }
            } else {
                self.param(param);
            }
        }
        self.out.push(')');
    }

    fn case(&mut self, of: NodeRef, index: usize) {
        self.indent();
        let Some(node) = self.function.body().node(of) else { return };
        let Attr::Match(cases) = node.op().attr() else { return };
        let scrutinee = self.scrutinee(node);
        let mut payload = None;
        match cases.cases.get(index) {
            Some(case) => {
                let mut out = std::mem::take(self.out);
                out.push_str("case ");
                write_case(&mut out, case, scrutinee.as_ref(), &self.naming());
                *self.out = out;
                if let Case::Variant(variant) = case {
                    payload = payload_type(self.program, variant).flatten();
                }
            }
            None => self.out.push_str("default"),
        }
        let region = node.regions().get(index).and_then(|region| self.function.body().region(*region));
        let Some(region) = region else { return };
        let default = payload.iter().map(|ty| RegionParam { name: None, ty: ty.clone() });
        if !region.params.iter().cloned().eq(default) {
            self.out.push(' ');
            self.region_params(&region.params, payload.as_slice());
        }
    }
}
