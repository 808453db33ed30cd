//! What a revision touched, and what is left of it.

use async_graphql::{Object, Result};
use lmlang_history::EntityChange;
use lmlang_history::log::Header;
use lmlang_ir::{Body, FuncRef, Name, Place};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::diff::ChangeKind;
use crate::schema::failure::fail;
use crate::schema::outcome::EntityKind;
use crate::schema::provenance::Provenance;
use crate::schema::query::{self, Node};
use crate::schema::scalars::Text;
use crate::schema::view::{View, nullable};

/// An entity that a revision touched, as a view sees it.
#[derive(Clone)]
pub struct TouchedEntity {
    view: View,
    change: EntityChange,
}

impl Direct for TouchedEntity {}

impl Listed for TouchedEntity {
    const CONNECTION: &'static str = "TouchedEntityConnection";
    const EDGE: &'static str = "TouchedEntityEdge";
}

impl TouchedEntity {
    /// Where it stands in the view.
    fn place(&self) -> Option<Place> {
        self.view.program().place(self.change.of)
    }

    /// The path of a function, with a name behind it.
    fn inside(&self, of: FuncRef, name: impl FnOnce(&Body) -> Option<String>) -> String {
        let program = self.view.program();
        let name = program.function(of).and_then(|function| name(function.body()));
        let path = program.path(of.into());
        match name {
            Some(name) => format!("{path}::{name}"),
            None => path,
        }
    }
}

/// An entity that a revision made, changed or removed, and what is left of it in the view that the revision was asked for in:
/// `program(at:)`, the head if that does not say otherwise.
#[Object]
impl TouchedEntity {
    /// Short name within the program, which no other entity ever gets: `n12`.
    #[graphql(name = "ref")]
    async fn reference(&self) -> String {
        self.change.of.to_string()
    }

    /// What it is.
    async fn kind(&self) -> EntityKind {
        self.change.of.kind.into()
    }

    /// What the revision did: `ADDED` made it, `REMOVED` took it away, `MODIFIED` is all else.
    async fn change(&self) -> ChangeKind {
        self.change.change.into()
    }

    /// Whether it is there.
    async fn alive(&self) -> bool {
        self.place().is_some()
    }

    /// Its path, `m::f`; `m::f::sum` of what has a name in a function, and of all else in there the function's; null if it is
    /// gone.
    async fn path(&self) -> Option<Text> {
        let named = |name: Option<&Name>| name.map(ToString::to_string);
        let path = match self.place()? {
            Place::Module(_)
            | Place::Type(_)
            | Place::Member(..)
            | Place::Function(_)
            | Place::Storage(_) => self.view.program().path(self.change.of),
            Place::Region(of, _) | Place::Contract(of, _) => self.inside(of, |_| None),
            Place::Variable(of, variable) => {
                self.inside(of, |body| named(body.variable(variable)?.name.as_ref()))
            }
            Place::Node(of, node) => self.inside(of, |body| named(body.node(node)?.name())),
        };
        Some(path.into())
    }

    /// The entity itself; null if it is gone.
    async fn entity(&self) -> Option<Result<Node>> {
        nullable(query::entity(&self.view, self.place()?)).and_then(Result::transpose)
    }

    /// Who made it, and who changed it last: whether it is as the revision left it; null if it is gone, and in a dry run.
    async fn provenance(&self) -> Option<Result<Provenance>> {
        self.place()?;
        Provenance::of(&self.view, self.change.of).await
    }
}

/// What a revision touched; places are the numbers of refs.
pub(crate) async fn touched(
    view: &View,
    entry: &Header,
    page: &PageRequest,
    alive: Option<bool>,
) -> std::result::Result<Connection<TouchedEntity>, ApiError> {
    let from = page.start()?;
    let mut changes = view.engine().touched_by(view.open(), entry).await.map_err(fail)?;
    if let Some(alive) = alive {
        let program = view.program().clone();
        let kept = move || {
            changes.retain(|change| program.place(change.of).is_some() == alive);
            changes
        };
        changes = view.engine().compute(kept).await.map_err(fail)?;
    }
    let start = changes.partition_point(|change| change.of.number < from);
    let item = |change: &EntityChange| {
        let entity = TouchedEntity { view: view.clone(), change: *change };
        (change.of.number, entity)
    };
    Ok(Connection::collect(page, changes.len(), changes[start..].iter().map(item)))
}
