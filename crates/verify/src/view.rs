//! A function under check: what the rules ask about it.

use std::borrow::Cow;

use lmlang_ir::ops::signature;
use lmlang_ir::{
    Body, FuncRef, Function, ModuleRef, Node, NodeRef, Program, Ref, RegionOwner, RegionRef, Source, Type,
    VarRef,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Location};
use crate::layout::{Layout, PlacedNode, each_left, read_by};

/// One function of one program, with or without flat positions: the answers are the same, the costs are not.
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) of: FuncRef,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) has_memory: bool,
    pub(crate) has_contracts: bool,
    layout: Option<Layout<'a>>,
}

/// A node under check, with its record among the flat positions when there are some.
#[derive(Clone, Copy)]
pub(crate) struct Site<'v> {
    pub(crate) of: NodeRef,
    pub(crate) node: &'v Node,
    pub(crate) placed: Option<&'v PlacedNode<'v>>,
}

impl<'v> Site<'v> {
    /// The record, if the node has an interval.
    fn interval(self) -> Option<&'v PlacedNode<'v>> {
        self.placed.filter(|placed| placed.enter > 0)
    }
}

impl PlacedNode<'_> {
    pub(crate) fn site(&self) -> Site<'_> {
        Site { of: self.of, node: self.node, placed: Some(self) }
    }
}

/// What a node sees when it looks at one of its sources.
pub(crate) struct Look<'v> {
    pub(crate) given: Given<'v>,
    /// It stands earlier in the same region or in one around.
    pub(crate) in_scope: bool,
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
        let body = function.body();
        let has_contracts = body.contracts().next().is_some();
        View { program, of, function, body, has_memory, has_contracts, layout: None }
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

    /// A node that is not looked at as one of all.
    pub(crate) fn site<'v>(&'v self, of: NodeRef, node: &'v Node) -> Site<'v> {
        Site { of, node, placed: self.layout.as_ref().and_then(|layout| layout.node(of)) }
    }

    /// A finding about a node.
    pub(crate) fn node_finding(&self, code: Code, site: Site<'_>, port: Option<usize>) -> Diagnostic {
        let port = port.map(|port| port as u16);
        let region = Some(site.node.region());
        Diagnostic::new(code, Location { function: Some(self.of), entity: site.of.into(), region, port })
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

    /// Looks from a node at one of its sources.
    pub(crate) fn look(&self, source: Source, site: Site<'_>) -> Look<'_> {
        let port = usize::from(source.port());
        match source {
            Source::Node(of, _) => match &self.layout {
                Some(layout) => self.look_at_placed(layout, of, port, site),
                None => self.look_at_node(of, port, site),
            },
            Source::RegionParam(of, _) => Look {
                given: match self.body.region(of).map(|region| region.params.get(port)) {
                    None => Given::NoSource,
                    Some(None) => Given::NoPort,
                    Some(Some(param)) => Given::Is(Cow::Borrowed(&param.ty)),
                },
                in_scope: self.is_around(of, site),
            },
            Source::Param(of, _) => Look {
                given: match self.function.head().params.get(port) {
                    _ if of != self.of => Given::NoSource,
                    None => Given::NoPort,
                    Some(param) => Given::Is(Cow::Borrowed(&param.ty)),
                },
                in_scope: true,
            },
        }
    }

    fn look_at_placed<'v>(
        &'v self,
        layout: &'v Layout<'a>,
        of: NodeRef,
        port: usize,
        site: Site<'_>,
    ) -> Look<'v> {
        let Some(placed) = layout.node(of) else { return Look { given: Given::NoSource, in_scope: true } };
        placed.used.set(true);
        let given = match layout.outputs(placed).map(|types| types.get(port)) {
            None => Given::Unknown,
            Some(None) => Given::NoPort,
            Some(Some(ty)) => Given::Is(Cow::Borrowed(ty)),
        };
        let in_scope = match site.interval() {
            Some(user) if placed.enter > 0 => {
                let around = layout.region_around(placed);
                placed.exit <= user.enter && around.is_some_and(|region| user.enter < region.exit)
            }
            Some(_) | None => self.climbs_to(of, site.of, site.node),
        };
        Look { given, in_scope }
    }

    fn look_at_node(&self, of: NodeRef, port: usize, site: Site<'_>) -> Look<'_> {
        let Some(node) = self.body.node(of) else { return Look { given: Given::NoSource, in_scope: true } };
        let types = signature::outputs(self.program, self.function, node);
        let given = match types.map(|types| types.get(port).cloned()) {
            None => Given::Unknown,
            Some(None) => Given::NoPort,
            Some(Some(ty)) => Given::Is(Cow::Owned(ty)),
        };
        Look { given, in_scope: self.climbs_to(of, site.of, site.node) }
    }

    /// Tells whether a node stands in a region or inside of it.
    fn is_around(&self, region: RegionRef, site: Site<'_>) -> bool {
        match (site.interval(), self.layout.as_ref().and_then(|layout| layout.region(region))) {
            (Some(user), Some(region)) => (region.enter..region.exit).contains(&user.enter),
            (_, _) => self.body.chain(site.node.region()).any(|around| around == region),
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
    pub(crate) fn encloses(&self, outer: NodeRef, site: Site<'_>) -> bool {
        let placed = self.layout.as_ref().and_then(|layout| layout.node(outer));
        match (placed.filter(|outer| outer.enter > 0), site.interval()) {
            (Some(outer), Some(inner)) => outer.enter < inner.enter && inner.enter < outer.exit,
            (_, _) => self.owners_around(site).any(|owner| owner == RegionOwner::Node(outer)),
        }
    }

    fn owners_around(&self, site: Site<'_>) -> impl Iterator<Item = RegionOwner> + '_ {
        let regions = self.body.chain(site.node.region());
        regions.filter_map(|around| self.body.region(around)).map(|region| region.owner)
    }

    /// Tells whether a node is part of a contract.
    pub(crate) fn in_contract(&self, site: Site<'_>) -> bool {
        if !self.has_contracts {
            return false;
        }
        if let (Some(placed), Some(layout)) = (site.interval(), &self.layout) {
            return layout.region_around(placed).is_some_and(|region| region.contract);
        }
        self.owners_around(site).any(|owner| matches!(owner, RegionOwner::Contract(_)))
    }

    /// The node before another one in its region.
    pub(crate) fn previous(&self, site: Site<'_>) -> Option<(NodeRef, &'a Node)> {
        if let (Some(placed), Some(layout)) = (site.interval(), &self.layout) {
            return layout.previous(placed);
        }
        let before = self.body.previous(site.of)?;
        Some((before, self.body.node(before)?))
    }

    /// Tells whether somebody takes a value of a node. With flat positions: somebody who was looked at.
    pub(crate) fn is_used(&self, site: Site<'_>) -> bool {
        match site.placed {
            Some(placed) => placed.used.get(),
            None => self.body.uses_of(site.of.number()).next().is_some(),
        }
    }

    /// Tells whether a node reads a variable.
    pub(crate) fn is_read(&self, of: VarRef) -> bool {
        match &self.layout {
            Some(layout) => layout.is_read(of),
            None => self.users_of(of.number()).any(|node| read_by(node.op()) == Some(of)),
        }
    }

    /// Tells whether an exit leaves a node.
    pub(crate) fn is_left(&self, of: NodeRef) -> bool {
        if let Some(layout) = &self.layout {
            return layout.node(of).is_some_and(|placed| placed.left);
        }
        let mut is_left = false;
        self.users_of(of.number()).for_each(|node| each_left(node.op(), |left| is_left |= left == of));
        is_left
    }

    fn users_of(&self, number: u64) -> impl Iterator<Item = &'a Node> {
        let body = self.body;
        body.users_of(number).filter_map(move |one| body.node(one.node))
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
