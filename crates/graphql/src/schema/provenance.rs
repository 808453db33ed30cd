//! Who did what, and why.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use lmlang_history::log::{self, Header};
use lmlang_ir::{Place, Ref};

use crate::direct::{Direct, Selected, Writer, leaf, object, word};
use crate::error::ApiError;
use crate::schema::failure::fail;
use crate::schema::ids::GlobalId;
use crate::schema::revision::Revision;
use crate::schema::view::{View, not_found, nullable};
use crate::transport::budget;

/// What kind of caller an author is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ActorKind {
    /// A person.
    Human,
    /// An agent: a model that calls tools.
    Agent,
    /// Another program: what a caller without a token is, unless it says otherwise.
    Tool,
    /// A run of a flow.
    Flow,
    /// The server itself.
    System,
}

impl From<log::ActorKind> for ActorKind {
    fn from(kind: log::ActorKind) -> ActorKind {
        match kind {
            log::ActorKind::Human => ActorKind::Human,
            log::ActorKind::Agent => ActorKind::Agent,
            log::ActorKind::Tool => ActorKind::Tool,
            log::ActorKind::Flow => ActorKind::Flow,
            log::ActorKind::System => ActorKind::System,
        }
    }
}

/// Who is recorded with a change.
#[derive(Clone, Debug, SimpleObject)]
pub struct Actor {
    /// The name under which the caller is known.
    name: String,
    /// What kind of caller.
    kind: ActorKind,
    /// The program that the caller used, as it named itself.
    client: Option<String>,
}

impl From<&log::Actor> for Actor {
    fn from(actor: &log::Actor) -> Actor {
        Actor { name: actor.name.clone(), kind: actor.kind.into(), client: actor.client.clone() }
    }
}

impl Direct for Actor {
    fn writer(selected: Selected<'_>) -> Option<Writer<Actor>> {
        object(selected, &["Actor"], |name, _| match name {
            "name" => leaf(|actor: &Actor, out| out.text(&actor.name)),
            "kind" => leaf(|actor: &Actor, out| out.plain(word(actor.kind))),
            "client" => leaf(|actor: &Actor, out| match &actor.client {
                Some(client) => out.text(client),
                None => out.null(),
            }),
            _ => None,
        })
    }
}

/// Where an entity comes from.
#[derive(Clone)]
pub struct Provenance {
    view: View,
    created: Arc<Header>,
    modified: Arc<Header>,
}

impl Provenance {
    /// The provenance of an entity as of a view; none in a dry run, whose revision nobody can look up.
    pub async fn of(view: &View, of: Ref) -> Option<Result<Provenance>> {
        if !view.is_stored() {
            return None;
        }
        // Apart from the futures of the many objects that have this field.
        nullable(Box::pin(Provenance::find(view, of)).await)
    }

    async fn find(view: &View, of: Ref) -> std::result::Result<Provenance, ApiError> {
        let owner = match view.program().place(of) {
            Some(Place::Member(owner, _)) => Some(Ref::from(owner)),
            Some(
                Place::Region(owner, _)
                | Place::Variable(owner, _)
                | Place::Contract(owner, _)
                | Place::Node(owner, _),
            ) => Some(Ref::from(owner)),
            Some(Place::Module(_) | Place::Type(_) | Place::Function(_) | Place::Storage(_)) | None => None,
        };
        let touched =
            view.engine().provenance(view.open(), view.revision(), of, owner).await.map_err(fail)?;
        let entry = |number| async move {
            let entry = view.engine().header(view.open(), number).await.map_err(fail)?;
            entry.ok_or_else(|| not_found("revision", &format!("r{number}")))
        };
        let (created, modified) = (entry(touched.created).await?, entry(touched.modified).await?);
        Ok(Provenance { view: view.clone(), created, modified })
    }
}

/// Who made an entity, and who changed it last.
#[Object]
impl Provenance {
    /// The revision that made it.
    async fn created_in(&self) -> Revision {
        Revision::new(&self.view, Arc::clone(&self.created))
    }

    /// The revision that changed it last.
    async fn modified_in(&self) -> Revision {
        Revision::new(&self.view, Arc::clone(&self.modified))
    }

    /// Who changed it last.
    async fn actor(&self) -> Actor {
        Actor::from(&self.modified.actor)
    }

    /// Why, in the author's words.
    async fn reason(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.modified.message.as_deref())
    }

    /// The flow's run that changed it last.
    async fn run_id(&self) -> Option<ID> {
        self.modified
            .origin
            .map(|origin| GlobalId::Run(uuid::Uuid::from_bytes(origin.run)).to_string().into())
    }

    /// The run's step that changed it last.
    async fn step_id(&self) -> Option<ID> {
        self.modified.origin.map(|origin| origin.step.to_string().into())
    }
}
