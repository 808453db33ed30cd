//! A function under check: what the rules ask about it.

use std::borrow::Cow;

use lmlang_ir::ops::signature;
use lmlang_ir::{
    Body, FuncRef, Function, ModuleRef, Node, NodeRef, Program, Ref, RegionOwner, RegionRef, Source, Type,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Location};
use crate::layout::{Layout, PlacedNode};

/// One function of one program, with or without flat positions: the answers are the same, the costs are not.
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) of: FuncRef,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) has_memory: bool,
    layout: Option<Layout<'a>>,
}

/// The type of the value that a source gives.
pub(crate) enum Given<'v> {
    /// The source does not exist.
    NoSource,
    /// It exists and has no such output or parameter.
    NoPort,
    /// Its own operator names something that does not exist: reported there.
    Unknown,
    Is(Cow<'v, Type>),
}

impl<'a> View<'a> {
    /// For a look at a few places.
    pub(crate) fn new(
        program: &'a Program,
        of: FuncRef,
        function: &'a Function,
        has_memory: bool,
    ) -> View<'a> {
        View { program, of, function, body: function.body(), has_memory, layout: None }
    }

    /// For a look at all of it.
    pub(crate) fn laid_out(
        program: &'a Program,
        of: FuncRef,
        function: &'a Function,
        has_memory: bool,
    ) -> View<'a> {
        let layout = Some(Layout::new(program, function));
        View { layout, ..View::new(program, of, function, has_memory) }
    }

    pub(crate) fn layout(&self) -> Option<&Layout<'a>> {
        self.layout.as_ref()
    }

    pub(crate) fn module(&self) -> ModuleRef {
        self.function.head().module
    }

    /// A finding about a node.
    pub(crate) fn node_finding(
        &self,
        code: Code,
        of: NodeRef,
        node: &Node,
        port: Option<usize>,
    ) -> Diagnostic {
        let port = port.map(|port| port as u16);
        let region = Some(node.region());
        Diagnostic::new(code, Location { function: Some(self.of), entity: of.into(), region, port })
    }

    /// A finding about a region.
    pub(crate) fn region_finding(&self, code: Code, of: RegionRef) -> Diagnostic {
        let at = Location { function: Some(self.of), entity: of.into(), region: Some(of), port: None };
        Diagnostic::new(code, at)
    }

    /// A finding about the function itself, one of its variables or contracts.
    pub(crate) fn part_finding(&self, code: Code, of: impl Into<Ref>) -> Diagnostic {
        let at = Location { function: Some(self.of), entity: of.into(), region: None, port: None };
        Diagnostic::new(code, at)
    }

    /// A node with its interval, when there are flat positions and it has one.
    fn placed(&self, of: NodeRef) -> Option<&PlacedNode<'a>> {
        self.layout.as_ref()?.node(of).filter(|placed| placed.enter > 0)
    }

    /// The type of the value that a source gives.
    pub(crate) fn given(&self, source: Source) -> Given<'_> {
        let port = usize::from(source.port());
        let pick = |types: &'_ [Type]| types.get(port).cloned();
        match source {
            Source::Node(of, _) => {
                if let Some(layout) = &self.layout {
                    let Some(placed) = layout.node(of) else { return Given::NoSource };
                    return match layout.outputs(placed).map(|types| types.get(port)) {
                        None => Given::Unknown,
                        Some(None) => Given::NoPort,
                        Some(Some(ty)) => Given::Is(Cow::Borrowed(ty)),
                    };
                }
                let Some(node) = self.body.node(of) else { return Given::NoSource };
                match signature::outputs(self.program, self.function, node).map(|types| pick(&types)) {
                    None => Given::Unknown,
                    Some(None) => Given::NoPort,
                    Some(Some(ty)) => Given::Is(Cow::Owned(ty)),
                }
            }
            Source::RegionParam(of, _) => match self.body.region(of).map(|region| region.params.get(port)) {
                None => Given::NoSource,
                Some(None) => Given::NoPort,
                Some(Some(param)) => Given::Is(Cow::Borrowed(&param.ty)),
            },
            Source::Param(of, _) if of == self.of => match self.function.head().params.get(port) {
                None => Given::NoPort,
                Some(param) => Given::Is(Cow::Borrowed(&param.ty)),
            },
            Source::Param(..) => Given::NoSource,
        }
    }

    /// Tells whether a source may be used by a node: it stands earlier in the same region or in one around.
    pub(crate) fn in_scope(&self, source: Source, user: NodeRef, node: &Node) -> bool {
        match source {
            Source::Param(..) => true,
            Source::RegionParam(region, _) => {
                let flat =
                    self.placed(user).zip(self.layout.as_ref().and_then(|layout| layout.region(region)));
                match flat {
                    Some((user, region)) => (region.enter..region.exit).contains(&user.enter),
                    None => self.body.chain(node.region()).any(|around| around == region),
                }
            }
            Source::Node(producer, _) => match (self.placed(producer), self.placed(user)) {
                (Some(producer), Some(user)) => {
                    let around = self.layout.as_ref().and_then(|layout| layout.region_around(producer));
                    producer.exit <= user.enter && around.is_some_and(|region| user.enter < region.exit)
                }
                (_, _) => self.climbs_to(producer, user, node),
            },
        }
    }

    /// Climbs from a user to the region of a producer and compares their places there.
    fn climbs_to(&self, producer: NodeRef, user: NodeRef, node: &Node) -> bool {
        let Some(region) = self.body.node(producer).map(Node::region) else { return false };
        let mut standing = user;
        for around in self.body.chain(node.region()) {
            if around == region {
                return producer != standing && self.body.precedes(producer, standing);
            }
            match self.body.region(around).map(|region| region.owner) {
                Some(RegionOwner::Node(owner)) => standing = owner,
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => return false,
            }
        }
        false
    }

    /// Tells whether a node stands inside of a region of another one.
    pub(crate) fn encloses(&self, outer: NodeRef, inner: NodeRef, node: &Node) -> bool {
        match (self.placed(outer), self.placed(inner)) {
            (Some(outer), Some(inner)) => outer.enter < inner.enter && inner.enter < outer.exit,
            (_, _) => self
                .body
                .chain(node.region())
                .filter_map(|around| self.body.region(around))
                .any(|region| region.owner == RegionOwner::Node(outer)),
        }
    }

    /// Tells whether a node is part of a contract.
    pub(crate) fn in_contract(&self, of: NodeRef, node: &Node) -> bool {
        if let (Some(placed), Some(layout)) = (self.placed(of), &self.layout) {
            return layout.region_around(placed).is_some_and(|region| region.contract);
        }
        self.body
            .chain(node.region())
            .filter_map(|around| self.body.region(around))
            .any(|region| matches!(region.owner, RegionOwner::Contract(_)))
    }

    /// The node before another one in its region.
    pub(crate) fn previous(&self, of: NodeRef) -> Option<NodeRef> {
        match (self.placed(of), &self.layout) {
            (Some(placed), Some(layout)) => layout.previous(placed),
            (_, _) => self.body.previous(of),
        }
    }

    /// Tells whether somebody takes a value of a node.
    pub(crate) fn is_used(&self, of: NodeRef) -> bool {
        match self.layout.as_ref().and_then(|layout| layout.node(of)) {
            Some(placed) => placed.used,
            None => self.body.uses_of(of.number()).next().is_some(),
        }
    }

    /// Tells whether a region leads up to the function or to a contract.
    pub(crate) fn is_rooted(&self, of: RegionRef) -> bool {
        if let Some(layout) = &self.layout {
            return layout.region(of).is_some_and(|region| region.enter > 0);
        }
        let mut last = of;
        let mut steps = 0;
        for around in self.body.chain(of) {
            (last, steps) = (around, steps + 1);
        }
        steps < self.body.counts().regions || self.body.outer(last).is_none()
    }
}
