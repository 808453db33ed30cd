//! `lmlang entity list` and `show`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Page, with_client};
use crate::commands::entity::{Entity, Name, known};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, cell, columns, counted, moment, rest_behind, say};
use crate::session::Missing;
use crate::settings::Settings;

const LIST: &str = "query($label: String, $key: String, $first: Int!, $after: String) {
  entities(label: $label, key: $key, first: $first, after: $after) {
    nodes { id label key props createdAt updatedAt } pageInfo { hasNextPage endCursor } totalCount
  }
}";

const SHOW: &str = "query($label: String!, $key: String!, $hops: Int!) {
  entities(label: $label, key: $key, first: 1) { nodes { id label key props createdAt updatedAt } }
  around: entitySubgraph(label: $label, key: $key, hops: $hops)
}";

#[derive(Debug, Deserialize)]
struct Entities {
    entities: Page<Entity>,
}

#[derive(Debug, Deserialize)]
struct Shown {
    entities: Nodes,
    around: Around,
}

#[derive(Debug, Deserialize)]
struct Nodes {
    nodes: Vec<Entity>,
}

/// What lies around an entity.
#[derive(Debug, Deserialize)]
struct Around {
    nodes: Vec<Value>,
    edges: Vec<Relation>,
    truncated: bool,
}

/// What joins two entities.
#[derive(Debug, Deserialize)]
struct Relation {
    from: End,
    #[serde(rename = "type")]
    kind: String,
    to: End,
    props: Value,
}

#[derive(Debug, Deserialize)]
struct End {
    label: String,
    key: String,
}

pub(super) fn list(variables: Value, limit: u32, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let part = with_client(settings, Missing::Refuse, async |client| {
        client.part(LIST, variables, limit as usize, |answer: Entities| answer.entities).await
    })?;
    output.data(&part.json(Entity::json), || {
        columns(&part.items.iter().map(Entity::row).collect::<Vec<_>>())
    })?;
    match &part.next {
        Some(next) => say(rest_behind(next)),
        None => say(format_args!("{}, that is all", counted(part.items.len() as u64, "entity", "entities"))),
    }
    Ok(Exit::Success)
}

pub(super) fn show(name: &Name, hops: u32, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let variables = json!({ "label": name.label, "key": name.key, "hops": hops });
    let mut shown: Shown =
        with_client(settings, Missing::Refuse, async |client| client.ask(SHOW, &variables).await)?;
    let Some(entity) = shown.entities.nodes.pop() else {
        // It went between one field and the other.
        return Err(Error::not_found(format!("there is no entity `{name}`"), Vec::new()));
    };
    let around = shown.around;
    let mut json = entity.json();
    json["nodes"] = around.nodes.clone().into();
    json["edges"] = around.edges.iter().map(Relation::json).collect();
    json["complete"] = (!around.truncated).into();
    output.data(&json, || text(&entity, &around.edges))?;
    if around.truncated {
        say("the rest is left out: more lies around it than one answer holds");
    }
    Ok(Exit::Success)
}

/// The entity, its properties, and the relations around it.
fn text(entity: &Entity, relations: &[Relation]) -> String {
    let [name, updated, _] = entity.row();
    let created = moment(&entity.created_at);
    let head = [("entity", name), ("id", entity.id.clone()), ("created", created), ("updated", updated)];
    let mut text = columns(&head.map(|(word, value)| [word.to_owned(), value]));
    let props = entity.props.as_object().into_iter().flatten();
    let props: Vec<[String; 2]> = props.map(|(name, value)| [name.clone(), cell(value)]).collect();
    for rows in [columns(&props), columns(&relations.iter().map(Relation::row).collect::<Vec<_>>())] {
        if !rows.is_empty() {
            text.push('\n');
            text.push_str(&rows);
        }
    }
    text
}

impl Relation {
    fn json(&self) -> Value {
        json!({ "from": self.from.json(), "type": self.kind, "to": self.to.json(), "props": self.props })
    }

    fn row(&self) -> [String; 4] {
        [self.from.name(), self.kind.clone(), self.to.name(), known(&self.props)]
    }
}

impl End {
    fn json(&self) -> Value {
        json!({ "label": self.label, "key": self.key })
    }

    fn name(&self) -> String {
        format!("{}:{}", self.label, self.key)
    }
}
