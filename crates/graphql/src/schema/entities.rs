//! What agents keep beside programs: entities, what joins them, and questions about them.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Json, Object, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_engine::entities::MOST_HOPS;
use lmlang_engine::{Engine, EntityFilter, Error, Patched};
use lmlang_entities::cypher::Table;
use lmlang_entities::{
    self as entities, EdgeSpec, EntityRef, Key, Label, NodeSpec, Op, Patch, PropsChange, RelationType,
    Subgraph, ValidationError,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::call::call;
use crate::schema::connection::{Connection, Counted, Listed, PageRequest};
use crate::schema::defaults::{No, Or};
use crate::schema::failure::{entity_conflict, entity_value, fail};
use crate::schema::ids::GlobalId;
use crate::schema::mutation::DeletePayload;
use crate::schema::revision::moment;
use crate::schema::view::not_found;
use crate::transport::budget;

/// A thing that agents keep: its label and natural key name it for ever. It belongs to no program.
#[derive(Clone, Debug)]
pub struct Entity(Arc<entities::Entity>);

impl Direct for Entity {}

impl Listed for Entity {
    const CONNECTION: &'static str = "EntityConnection";
    const EDGE: &'static str = "EntityEdge";
}

impl Entity {
    fn new(entity: entities::Entity) -> Entity {
        Entity(Arc::new(entity))
    }

    pub(crate) async fn find(engine: &Engine, id: Uuid) -> Result<Entity, ApiError> {
        Ok(Entity::new(engine.entity_with(id).await.map_err(fail)?))
    }

    fn bytes(&self) -> u64 {
        self.0.props.to_json().to_string().len() as u64
    }
}

/// A thing that agents keep: its label and natural key name it for ever. It belongs to no program.
#[Object]
impl Entity {
    /// Global id. The server makes it; inputs name an entity by label and key.
    pub async fn id(&self) -> ID {
        GlobalId::Kept(Uuid::from_bytes(self.0.id.0)).to_string().into()
    }

    /// What kind of thing it is.
    async fn label(&self) -> &str {
        self.0.label.as_str()
    }

    /// Its natural key: no other entity of the label has it.
    async fn key(&self) -> &str {
        self.0.key.as_str()
    }

    /// What is known of it, an object.
    async fn props(&self) -> Json<Value> {
        Json(self.0.props.to_json())
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime<Utc> {
        moment(self.0.created_at.time_micros)
    }

    /// When its properties changed last.
    async fn updated_at(&self) -> DateTime<Utc> {
        moment(self.0.updated_at.time_micros)
    }
}

/// What a query answers.
#[derive(Clone, Debug, SimpleObject)]
pub struct CypherResult {
    /// The names of the columns.
    columns: Vec<String>,
    /// The rows, each a list with a value per column. A node is `{labels, key, props}`, a relationship
    /// `{type, from: {label, key}, to: {label, key}, props}`, a path `{nodes, relationships}`.
    rows: Vec<Json<Value>>,
    /// Whether there are more rows than `cypherRows` and `cypherResultBytes` of `serverInfo.limits` allow.
    truncated: bool,
}

/// Makes an entity, or merges properties into the one that is there.
#[derive(Clone, Debug, InputObject)]
pub struct UpsertNodeInput {
    /// What kind of thing it is: 1 to 64 ASCII letters, digits and `_`, not beginning with a digit. `Document`, `Function`,
    /// `Module`, `Program` and `Type` are those of programs, and refused.
    label: String,
    /// Its natural key: 1 to 256 bytes, unique among those of its label.
    key: String,
    /// Properties, an object: a value replaces, null removes, what is not named stays. `id`, `key`, `created_at` and
    /// `updated_at` are refused.
    props: Option<Json<Value>>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Makes a relation between two entities that are there, or merges properties into the one that is there.
#[derive(Clone, Debug, InputObject)]
pub struct UpsertEdgeInput {
    /// The label of the entity that it begins at.
    from_label: String,
    /// The key of that one.
    from_key: String,
    /// What it says, spelled as a label is: `WROTE`.
    #[graphql(name = "type")]
    kind: String,
    /// The label of the entity that it ends at.
    to_label: String,
    /// The key of that one.
    to_key: String,
    /// Properties, as those of `upsertNode`.
    props: Option<Json<Value>>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Merges properties into an entity that must be there.
#[derive(Clone, Debug, InputObject)]
pub struct UpdatePropsInput {
    /// Its label.
    label: String,
    /// Its key.
    key: String,
    /// Properties, as those of `upsertNode`.
    props: Json<Value>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Deletes an entity, if it is there.
#[derive(Clone, Debug, InputObject)]
pub struct DeleteNodeInput {
    /// Its label.
    label: String,
    /// Its key.
    key: String,
    /// Whether its relations go with it; without, one that has some is refused.
    #[graphql(default)]
    detach: Or<No>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Deletes a relation, if it is there.
#[derive(Clone, Debug, InputObject)]
pub struct DeleteEdgeInput {
    /// The label of the entity that it begins at.
    from_label: String,
    /// The key of that one.
    from_key: String,
    /// What it says.
    #[graphql(name = "type")]
    kind: String,
    /// The label of the entity that it ends at.
    to_label: String,
    /// The key of that one.
    to_key: String,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Changes many entities and relations, all of it or nothing.
#[derive(Clone, Debug, InputObject)]
pub struct ApplyEntityPatchInput {
    /// The operations, in order, each an object with one key: `{"upsert_node": {"label", "key", "props"}}`,
    /// `{"upsert_edge": {"from": {"label", "key"}, "type", "to": {"label", "key"}, "props"}}`,
    /// `{"update_props": {"label", "key", "props"}}`, `{"delete_node": {"label", "key", "detach"}}`,
    /// `{"delete_edge": {"from", "type", "to"}}`.
    ops: Vec<Json<Value>>,
    /// Same path and same answer, nothing stored.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// What became of an entity or relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum EntityEffect {
    /// It is new.
    Created,
    /// It was there, and its properties differ now.
    Updated,
    /// It is as it was.
    Unchanged,
}

/// What became of an entity, or of a relation between two.
#[derive(Clone, Debug, SimpleObject)]
pub struct EntityPayload {
    /// The entity as it is now; of a relation, the one that it begins at. Null if it has been deleted since, which can be
    /// when a repeated request is answered as the first one.
    entity: Option<Entity>,
    /// What became of it.
    effect: EntityEffect,
}

/// What became of a patch.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub struct EntityPatchPayload {
    /// Entities and relations that are new.
    created: i32,
    /// Entities and relations whose properties differ.
    updated: i32,
    /// Entities and relations that are gone, relations of a detached entity included.
    deleted: i32,
    /// Operations whose entity or relation is as it was before the patch.
    unchanged: i32,
    /// Whether that is so now; false after a dry run.
    committed: bool,
}

/// A page of entities, by label and key.
pub(crate) async fn page(
    context: &Context<'_>,
    label: Option<String>,
    key: Option<String>,
    page: PageRequest,
) -> Result<Connection<Entity>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let filter = EntityFilter {
        label: label.map(|label| read("label", &label, Label::new)).transpose()?,
        key: key.map(|key| read("key", &key, Key::new)).transpose()?,
    };
    let after = page.after(name_of)?;
    let found = engine.entity_page(&filter, after.as_ref(), page.first).await.map_err(fail)?;
    let total = match Counted::of(context) {
        Counted::Yes => engine.count_entities(&filter).await.map_err(fail)?,
        Counted::No => 0,
    };
    let entities: Vec<Entity> = found.items.into_iter().map(Entity::new).collect();
    budget::count(context, entities.iter().map(Entity::bytes).sum())?;
    let items = entities.into_iter().map(|entity| (entity.0.name(), entity));
    Ok(Connection::known(&page, found.more, usize::try_from(total).unwrap_or(usize::MAX), items))
}

/// No label has a colon.
fn name_of(place: &str) -> Option<EntityRef> {
    let (label, key) = place.split_once(':')?;
    Some(EntityRef { label: Label::new(label).ok()?, key: Key::new(key).ok()? })
}

/// What lies around an entity.
pub(crate) async fn around(
    context: &Context<'_>,
    label: &str,
    key: &str,
    hops: i32,
) -> Result<Json<Value>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let hops = u32::try_from(hops).map_err(|_| {
        ApiError::new(Code::BadRequest, format!("`hops` must be from 0 to {MOST_HOPS}, found {hops}"))
            .at("hops")
    })?;
    let name = EntityRef { label: read("label", label, Label::new)?, key: read("key", key, Key::new)? };
    let missing = name.to_string();
    let found = engine.entity_subgraph(name, hops).await.map_err(fail)?;
    let shown = shown(&found.ok_or_else(|| not_found("entity", &missing))?);
    budget::count(context, shown.to_string().len() as u64)?;
    Ok(Json(shown))
}

fn shown(subgraph: &Subgraph) -> Value {
    let end = |node: &entities::Node| json!({ "label": node.labels.first(), "key": node.key });
    let nodes = subgraph.nodes.iter().map(|(node, hops)| {
        json!({ "label": node.labels.first(), "key": node.key, "props": node.props, "hops": hops })
    });
    let edges = subgraph.edges.iter().map(|(from, edge, to)| {
        json!({ "from": end(from), "type": edge.relation_type, "to": end(to), "props": edge.props })
    });
    json!({
        "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>(), "truncated": subgraph.truncated
    })
}

/// The answer to a query.
pub(crate) async fn cypher(
    context: &Context<'_>,
    query: String,
    params: Option<Json<Value>>,
) -> Result<CypherResult, ApiError> {
    let params = match params.map(|params| params.0) {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => Map::new(),
        Some(_) => {
            let message = "`params` must be an object: a value for each name";
            return Err(ApiError::new(Code::BadRequest, message).at("params"));
        }
    };
    let engine = context.data_unchecked::<Engine>();
    let Table { columns, rows, truncated } = engine.cypher(query, params).await.map_err(fail)?;
    let rows: Vec<Value> = rows.into_iter().map(Value::Array).collect();
    budget::count(context, rows.iter().map(|row| row.to_string().len() as u64).sum())?;
    Ok(CypherResult { columns, rows: rows.into_iter().map(Json).collect(), truncated })
}

pub(crate) async fn upsert_node(
    context: &Context<'_>,
    input: UpsertNodeInput,
) -> Result<EntityPayload, ApiError> {
    let props = props(input.props.as_ref())?;
    let (label, key) =
        (read("input.label", &input.label, Label::new)?, read("input.key", &input.key, Key::new)?);
    let spec = NodeSpec { label, key, props };
    let entity = spec.name();
    let done = one(context, Op::UpsertNode(spec), input.idempotency_key.as_deref(), &input).await?;
    payload(context, &entity, done).await
}

pub(crate) async fn update_props(
    context: &Context<'_>,
    input: UpdatePropsInput,
) -> Result<EntityPayload, ApiError> {
    let props = props(Some(&input.props))?;
    let (label, key) =
        (read("input.label", &input.label, Label::new)?, read("input.key", &input.key, Key::new)?);
    let spec = NodeSpec { label, key, props };
    let entity = spec.name();
    let done = one(context, Op::UpdateProps(spec), input.idempotency_key.as_deref(), &input).await?;
    payload(context, &entity, done).await
}

pub(crate) async fn upsert_edge(
    context: &Context<'_>,
    input: UpsertEdgeInput,
) -> Result<EntityPayload, ApiError> {
    let (from, to) = ends(&input.from_label, &input.from_key, &input.to_label, &input.to_key)?;
    let relation_type = read("input.type", &input.kind, RelationType::new)?;
    let spec = EdgeSpec { from: from.clone(), relation_type, to, props: props(input.props.as_ref())? };
    let done = one(context, Op::UpsertEdge(spec), input.idempotency_key.as_deref(), &input).await?;
    payload(context, &from, done).await
}

pub(crate) async fn delete_node(
    context: &Context<'_>,
    input: DeleteNodeInput,
) -> Result<DeletePayload, ApiError> {
    let (label, key) =
        (read("input.label", &input.label, Label::new)?, read("input.key", &input.key, Key::new)?);
    let op = Op::DeleteNode { label, key, detach: input.detach.0 };
    let done = one(context, op, input.idempotency_key.as_deref(), &input).await?;
    Ok(DeletePayload { deleted: done.counts.deleted > 0 })
}

pub(crate) async fn delete_edge(
    context: &Context<'_>,
    input: DeleteEdgeInput,
) -> Result<DeletePayload, ApiError> {
    let (from, to) = ends(&input.from_label, &input.from_key, &input.to_label, &input.to_key)?;
    let op = Op::DeleteEdge { from, relation_type: read("input.type", &input.kind, RelationType::new)?, to };
    let done = one(context, op, input.idempotency_key.as_deref(), &input).await?;
    Ok(DeletePayload { deleted: done.counts.deleted > 0 })
}

pub(crate) async fn apply_patch(
    context: &Context<'_>,
    input: ApplyEntityPatchInput,
) -> Result<EntityPatchPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let ops: Vec<Value> = input.ops.into_iter().map(|op| op.0).collect();
    let patch = Patch::from_ops(&ops).map_err(|error| fail(error.into()))?;
    let Patched { counts, committed } =
        engine.patch_entities(patch, input.dry_run.0, &call).await.map_err(fail)?;
    let count = |count| i32::try_from(count).unwrap_or(i32::MAX);
    Ok(EntityPatchPayload {
        created: count(counts.created),
        updated: count(counts.updated),
        deleted: count(counts.deleted),
        unchanged: count(counts.unchanged),
        committed,
    })
}

/// Carries out one operation.
async fn one(
    context: &Context<'_>,
    op: Op,
    key: Option<&str>,
    input: &impl std::fmt::Debug,
) -> Result<Patched, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, key, input)?;
    let patch = Patch::new(vec![op]).map_err(|error| fail(error.into()))?;
    engine.patch_entities(patch, false, &call).await.map_err(|error| match error {
        // There is one operation, whose fields are those of the input.
        Error::EntityValue(error) => {
            entity_value(&error, error.problem.to_string(), &place(&error.place.field))
        }
        Error::EntityConstraint(error) => {
            entity_conflict(&error, error.conflict.to_string(), &place(&error.place.field))
        }
        error => fail(error),
    })
}

/// The place in an input of what an operation calls `upsert_edge.from` or `upsert_node.props.tags[2]`.
fn place(field: &str) -> String {
    match field.split_once('.') {
        Some((_, "from.label")) => "input.fromLabel".to_owned(),
        Some((_, "to.label")) => "input.toLabel".to_owned(),
        Some((_, "from")) => "input.fromKey".to_owned(),
        Some((_, "to")) => "input.toKey".to_owned(),
        Some((_, field)) => format!("input.{field}"),
        None => "input".to_owned(),
    }
}

async fn payload(context: &Context<'_>, of: &EntityRef, done: Patched) -> Result<EntityPayload, ApiError> {
    let effect = match (done.counts.created, done.counts.updated) {
        (0, 0) => EntityEffect::Unchanged,
        (0, _) => EntityEffect::Updated,
        (_, _) => EntityEffect::Created,
    };
    let engine = context.data_unchecked::<Engine>();
    let entity = engine.entity(of).await.map_err(fail)?.map(Entity::new);
    budget::count(context, entity.as_ref().map_or(0, Entity::bytes))?;
    Ok(EntityPayload { entity, effect })
}

fn ends(
    from_label: &str,
    from_key: &str,
    to_label: &str,
    to_key: &str,
) -> Result<(EntityRef, EntityRef), ApiError> {
    let from = EntityRef {
        label: read("input.fromLabel", from_label, Label::new)?,
        key: read("input.fromKey", from_key, Key::new)?,
    };
    let to = EntityRef {
        label: read("input.toLabel", to_label, Label::new)?,
        key: read("input.toKey", to_key, Key::new)?,
    };
    Ok((from, to))
}

fn props(given: Option<&Json<Value>>) -> Result<PropsChange, ApiError> {
    // As everywhere: null says the same as leaving it out.
    let Some(Json(given)) = given.filter(|given| !given.0.is_null()) else {
        return Ok(PropsChange::default());
    };
    PropsChange::from_json(given).map_err(|error| {
        let path = match error.place.field.as_str() {
            "" => "input.props".to_owned(),
            field => format!("input.props.{field}"),
        };
        entity_value(&error, error.problem.to_string(), &path)
    })
}

fn read<T>(place: &str, text: &str, make: fn(&str) -> Result<T, ValidationError>) -> Result<T, ApiError> {
    make(text).map_err(|error| entity_value(&error, error.problem.to_string(), place))
}
