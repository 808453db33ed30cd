//! Regions and their parameters.

use async_graphql::{Context, Enum, ID, Object, Result};
use lmlang_ir::{RegionOwner, RegionRef, text};

use crate::direct::{Direct, Selected, Writer, leaf, object, one};
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::function::Function;
use crate::schema::node::ComputeNode;
use crate::schema::scalars::Text;
use crate::schema::view::nullable;
use crate::transport::budget;

/// A region of a function.
#[derive(Clone)]
pub struct Region {
    pub(crate) function: Function,
    pub(crate) of: RegionRef,
}

impl Listed for Region {
    const CONNECTION: &'static str = "RegionConnection";
    const EDGE: &'static str = "RegionEdge";
}

/// What a region is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum RegionRole {
    /// The body of a function, a block or a loop.
    Body,
    /// The first region of an `if`.
    Then,
    /// The second region of an `if`.
    Else,
    /// A case of a `match`.
    Case,
    /// The rest of a `match`.
    Default,
    /// The condition of a contract.
    Contract,
}

impl Region {
    /// The region with a ref in a function, which must be there.
    pub fn new(function: &Function, of: RegionRef) -> Region {
        Region { function: function.clone(), of }
    }

    fn record(&self) -> &lmlang_ir::Region {
        self.function.function.body().region(self.of).expect("a region that is looked at is in its function")
    }

    /// The parameter with an index.
    pub(crate) fn param_at(&self, index: usize) -> Option<RegionParam> {
        let param = self.function.function.body().region(self.of)?.params.get(index)?;
        Some(RegionParam {
            name: param.name.as_ref().map(ToString::to_string),
            ty: text::print_type_name(self.function.view.program(), None, &param.ty),
            index,
            region: self.clone(),
        })
    }
}

/// A body of nodes in order, ended by a terminator.
#[Object]
impl Region {
    /// Global id.
    pub async fn id(&self) -> ID {
        self.function.view.entity_id(self.of)
    }

    /// Short name within the program: `g5`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.of.to_string()
    }

    /// What it is for.
    async fn role(&self) -> RegionRole {
        match self.record().role {
            lmlang_ir::RegionRole::Body => RegionRole::Body,
            lmlang_ir::RegionRole::Then => RegionRole::Then,
            lmlang_ir::RegionRole::Else => RegionRole::Else,
            lmlang_ir::RegionRole::Case(_) => RegionRole::Case,
            lmlang_ir::RegionRole::Default => RegionRole::Default,
            lmlang_ir::RegionRole::Contract => RegionRole::Contract,
        }
    }

    /// The name that exits aim at, if its owner has one.
    async fn label(&self) -> Option<Text> {
        let RegionOwner::Node(owner) = self.record().owner else { return None };
        Some(self.function.function.body().node(owner)?.op().label()?.to_string().into())
    }

    /// The function that it is part of.
    async fn owner(&self) -> &Function {
        &self.function
    }

    /// The node that owns it; null for a function's body and for contracts.
    async fn owner_node(&self) -> Option<ComputeNode> {
        match self.record().owner {
            RegionOwner::Node(owner) => ComputeNode::find(&self.function, owner),
            RegionOwner::Function | RegionOwner::Contract(_) => None,
        }
    }

    /// Its parameters: those of a loop, the payload of a case, the results in an `ensure`.
    async fn params(&self, context: &Context<'_>) -> Vec<RegionParam> {
        budget::list(
            context,
            (0..self.record().params.len()).filter_map(|index| self.param_at(index)).collect(),
        )
        .await
    }

    /// Its nodes in order, those of inner regions not included.
    async fn nodes(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<ComputeNode>>> {
        nullable(PageRequest::new(List::RegionNodes, first, after).and_then(|page| {
            let body = self.function.function.body();
            let total = body.region(self.of).map_or(0, lmlang_ir::Region::len);
            let item = |of| (of, ComputeNode::new(&self.function, of));
            match page.after(|place| place.parse::<lmlang_ir::NodeRef>().ok())? {
                None => Ok(Connection::collect(&page, total, body.nodes_in(self.of).map(item))),
                Some(last) => {
                    if body.node(last).is_none_or(|node| node.region() != self.of) {
                        return Err(page.invalid());
                    }
                    Ok(Connection::collect(&page, total, body.nodes_after(self.of, last).map(item)))
                }
            }
        }))
    }

    /// Its last node, if that ends it.
    async fn terminator(&self) -> Option<ComputeNode> {
        let of = self.function.function.body().terminator(self.of)?;
        Some(ComputeNode::new(&self.function, of))
    }

    /// How many regions are around it.
    async fn depth(&self) -> i32 {
        self.function.function.body().chain(self.of).count().saturating_sub(1) as i32
    }
}

impl Direct for Region {
    fn writer(selected: Selected<'_>) -> Option<Writer<Region>> {
        object(selected, &["Region", "Node"], |name, inner| match name {
            "id" => leaf(|region: &Region, out| out.text(&region.function.view.entity_id(region.of))),
            "ref" => leaf(|region: &Region, out| out.plain(region.of)),
            "owner" => one(inner, |region: &Region| region.function.clone()),
            _ => None,
        })
    }
}

/// A parameter of a region.
#[derive(Clone)]
pub struct RegionParam {
    name: Option<String>,
    ty: String,
    index: usize,
    region: Region,
}

/// A parameter of a region: its value changes from round to round of a loop.
#[Object]
impl RegionParam {
    /// Its name.
    async fn name(&self) -> Option<Text> {
        self.name.clone().map(Text::from)
    }

    /// Its type.
    #[graphql(name = "type")]
    async fn ty(&self) -> Text {
        self.ty.clone().into()
    }

    /// Its position, from 0.
    async fn index(&self) -> i32 {
        self.index as i32
    }

    /// The region.
    async fn region(&self) -> &Region {
        &self.region
    }
}

impl Direct for RegionParam {
    fn writer(selected: Selected<'_>) -> Option<Writer<RegionParam>> {
        object(selected, &["RegionParam"], |name, inner| match name {
            "name" => leaf(|param: &RegionParam, out| match &param.name {
                Some(name) => out.counted(name),
                None => out.null(),
            }),
            "type" => leaf(|param: &RegionParam, out| out.counted(&param.ty)),
            "index" => leaf(|param: &RegionParam, out| out.number(param.index)),
            "region" => one(inner, |param: &RegionParam| param.region.clone()),
            _ => None,
        })
    }
}
