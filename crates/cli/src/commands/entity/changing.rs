//! `lmlang entity set`, `relate`, `unrelate`, `delete` and `patch`.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::edit;
use crate::commands::entity::{Entity, Name, Props};
use crate::error::Error;
use crate::exit::Exit;
use crate::fields;
use crate::output::{Counts, Output, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::input;

const UPSERT: &str = "mutation($input: UpsertNodeInput!) {
  done: upsertNode(input: $input) { effect entity { id label key props createdAt updatedAt } }
}";

const UPDATE: &str = "mutation($input: UpdatePropsInput!) {
  done: updateProps(input: $input) { effect entity { id label key props createdAt updatedAt } }
}";

const RELATE: &str = "mutation($input: UpsertEdgeInput!) { done: upsertEdge(input: $input) { effect } }";

const UNRELATE: &str = "mutation($input: DeleteEdgeInput!) { done: deleteEdge(input: $input) { deleted } }";

const DELETE: &str = "mutation($input: DeleteNodeInput!) { done: deleteNode(input: $input) { deleted } }";

const PATCH: &str = "mutation($input: ApplyEntityPatchInput!) {
  done: applyPatch(input: $input) { created updated deleted unchanged committed }
}";

#[derive(Debug, Deserialize)]
struct Answer<T> {
    done: T,
}

/// What became of an entity, or of a relation, which is not told again.
#[derive(Debug, Deserialize)]
struct Changed {
    effect: String,
    entity: Option<Entity>,
}

#[derive(Debug, Deserialize)]
struct Deleted {
    deleted: bool,
}

/// What became of a patch.
#[derive(Debug, Deserialize)]
struct Patched {
    created: u64,
    updated: u64,
    deleted: u64,
    unchanged: u64,
    committed: bool,
}

impl Props {
    fn read(&self) -> Result<Value, Error> {
        fields::object(&self.fields, self.props.as_deref())
    }
}

impl Changed {
    /// How the command ends: nothing was to be done where it was so already.
    fn exit(&self) -> Exit {
        if self.effect == "UNCHANGED" { Exit::Nothing } else { Exit::Success }
    }

    fn word(&self) -> String {
        self.effect.to_ascii_lowercase()
    }
}

pub(super) fn set(
    name: &Name,
    props: &Props,
    existing: bool,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let input = json!({ "label": name.label, "key": name.key, "props": props.read()? });
    let document = if existing { UPDATE } else { UPSERT };
    let Answer { done }: Answer<Changed> = with_client(settings, Missing::Make, async |client| {
        client.change(document, input, &look(name)).await
    })?;
    let json = json!({ "effect": done.effect, "entity": done.entity.as_ref().map(Entity::json) });
    output.data(&json, || format!("{name} {}\n", done.word()))?;
    Ok(done.exit())
}

pub(super) fn relate(
    [from, to]: [&Name; 2],
    kind: &str,
    props: &Props,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let mut input = relation([from, to], kind);
    input["props"] = props.read()?;
    let Answer { done }: Answer<Changed> = with_client(settings, Missing::Refuse, async |client| {
        client.change(RELATE, input, &look(from)).await
    })?;
    output.data(&json!({ "effect": done.effect }), || format!("{from} {kind} {to} {}\n", done.word()))?;
    Ok(done.exit())
}

pub(super) fn unrelate([from, to]: [&Name; 2], kind: &str, settings: &Settings) -> Result<Exit, Error> {
    let Answer { done }: Answer<Deleted> = with_client(settings, Missing::Refuse, async |client| {
        client.change(UNRELATE, relation([from, to], kind), &look(from)).await
    })?;
    if !done.deleted {
        let told = format!("there is no relation `{kind}` from `{from}` to `{to}`");
        return Err(Error::not_found(told, Vec::new()));
    }
    say(format_args!("deleted `{kind}` from `{from}` to `{to}`"));
    Ok(Exit::Success)
}

pub(super) fn delete(name: &Name, detach: bool, settings: &Settings) -> Result<Exit, Error> {
    let input = json!({ "label": name.label, "key": name.key, "detach": detach });
    let Answer { done }: Answer<Deleted> = with_client(settings, Missing::Refuse, async |client| {
        client.change(DELETE, input, &look(name)).await
    })?;
    if !done.deleted {
        return Err(Error::not_found(format!("there is no entity `{name}`"), Vec::new()));
    }
    say(format_args!("deleted `{name}`"));
    Ok(Exit::Success)
}

pub(super) fn patch(file: &Path, dry_run: bool, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let ops: Vec<Value> = serde_json::from_str(&input(file)?)
        .map_err(|error| Error::Input(format!("`{}` is no list of operations: {error}", edit::name(file))))?;
    let input = json!({ "ops": ops, "dryRun": dry_run });
    let Answer { done }: Answer<Patched> = with_client(settings, Missing::Make, async |client| {
        client.change(PATCH, input, "lmlang entity list").await
    })?;
    let Patched { created, updated, deleted, unchanged, committed } = done;
    let json = json!({
        "created": created,
        "updated": updated,
        "deleted": deleted,
        "unchanged": unchanged,
        "committed": committed,
    });
    output.data(&json, || {
        let counts = Counts { added: created, removed: deleted, modified: updated };
        if dry_run { format!("dry run  {counts}\n") } else { format!("{counts}\n") }
    })?;
    Ok(if created + updated + deleted == 0 { Exit::Nothing } else { Exit::Success })
}

/// A relation, as inputs name it.
fn relation([from, to]: [&Name; 2], kind: &str) -> Value {
    json!({
        "fromLabel": from.label,
        "fromKey": from.key,
        "type": kind,
        "toLabel": to.label,
        "toKey": to.key,
    })
}

/// The command that shows whether an entity was changed.
fn look(name: &Name) -> String {
    format!("lmlang entity show {name}")
}
