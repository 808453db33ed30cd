//! What holds for any patches.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_entities::{
    Counts, Entity, EntityRef, Graph, Indexed, MemoryGraph, Op, Patch, PatchError, Read, Relation, Stamp, Way,
};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

const CASES: u32 = 1_000;

fn end() -> impl Strategy<Value = Json> {
    (prop::sample::select(vec!["A", "B"]), prop::sample::select(vec!["a", "b", "c"]))
        .prop_map(|(label, key)| json!({ "label": label, "key": key }))
}

fn relation_type() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["R", "S"])
}

fn props() -> impl Strategy<Value = Json> {
    let value =
        prop::sample::select(vec![json!(null), json!(1), json!(2.5), json!("x"), json!([1, { "y": null }])]);
    let name = prop::sample::select(vec!["p", "q"]);
    prop::collection::btree_map(name, value, 0..3)
        .prop_map(|fields| {
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
        })
        .prop_map(Json::Object)
}

fn with(mut end: Json, name: &str, value: Json) -> Json {
    end[name] = value;
    end
}

fn writing() -> impl Strategy<Value = Json> {
    prop_oneof![
        4 => (end(), props()).prop_map(|(end, props)| json!({ "upsert_node": with(end, "props", props) })),
        3 => (end(), relation_type(), end(), props()).prop_map(|(from, relation_type, to, props)| {
            json!({ "upsert_edge": { "from": from, "type": relation_type, "to": to, "props": props } })
        }),
        1 => (end(), props()).prop_map(|(end, props)| json!({ "update_props": with(end, "props", props) })),
    ]
}

fn deleting() -> impl Strategy<Value = Json> {
    prop_oneof![
        (end(), any::<bool>())
            .prop_map(|(end, detach)| json!({ "delete_node": with(end, "detach", json!(detach)) })),
        (end(), relation_type(), end()).prop_map(|(from, relation_type, to)| {
            json!({ "delete_edge": { "from": from, "type": relation_type, "to": to } })
        }),
    ]
}

fn patch() -> impl Strategy<Value = Patch> {
    prop::collection::vec(prop_oneof![3 => writing(), 1 => deleting()], 0..8)
        .prop_map(|ops| Patch::from_ops(&ops).unwrap())
}

fn upserts() -> impl Strategy<Value = Patch> {
    prop::collection::vec(writing(), 0..8).prop_map(|ops| Patch::from_ops(&ops).unwrap())
}

/// A graph that is patched at one moment after the other.
struct World {
    graph: MemoryGraph,
    moment: i64,
    ids: u128,
}

impl World {
    fn new() -> Self {
        Self { graph: MemoryGraph::indexing(), moment: 0, ids: 0 }
    }

    fn of(patches: &[Patch]) -> Self {
        let mut world = Self::new();
        for patch in patches {
            if world.apply(patch).is_err() {
                continue;
            }
        }
        world
    }

    fn apply(&mut self, patch: &Patch) -> Result<Counts, PatchError<std::convert::Infallible>> {
        self.moment += 1;
        self.graph.patch(patch, Stamp { time_micros: self.moment }, || {
            self.ids += 1;
            self.ids.to_be_bytes()
        })
    }

    fn rows(&self) -> (Vec<Entity>, Vec<Relation>) {
        (self.graph.entities().collect(), self.graph.relations().collect())
    }
}

/// What there is, without ids and times.
#[derive(Clone, Debug, Default, PartialEq)]
struct Plain {
    nodes: BTreeMap<EntityRef, Json>,
    edges: BTreeMap<(EntityRef, String, EntityRef), Json>,
}

impl Plain {
    fn of(world: &World) -> Self {
        let (entities, relations) = world.rows();
        let names: BTreeMap<_, _> = entities.iter().map(|entity| (entity.id, entity.name())).collect();
        let edge = |relation: &Relation| {
            let ends = (
                names[&relation.from].clone(),
                relation.relation_type.to_string(),
                names[&relation.to].clone(),
            );
            (ends, relation.props.to_json())
        };
        Self {
            nodes: entities.iter().map(|entity| (entity.name(), entity.props.to_json())).collect(),
            edges: relations.iter().map(edge).collect(),
        }
    }

    /// Applies one operation as its description reads; nothing if it is refused.
    fn apply(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::UpsertNode(spec) => {
                merge(self.nodes.entry(spec.name()).or_insert(json!({})), &spec.props.to_json())
            }
            Op::UpdateProps(spec) => merge(self.nodes.get_mut(&spec.name())?, &spec.props.to_json()),
            Op::UpsertEdge(spec) => {
                self.nodes.get(&spec.from).and(self.nodes.get(&spec.to))?;
                let ends = (spec.from.clone(), spec.relation_type.to_string(), spec.to.clone());
                merge(self.edges.entry(ends).or_insert(json!({})), &spec.props.to_json());
            }
            Op::DeleteNode { label, key, detach } => {
                let name = EntityRef { label: label.clone(), key: key.clone() };
                let touches = |ends: &(EntityRef, String, EntityRef)| ends.0 == name || ends.2 == name;
                if !detach && self.edges.keys().any(touches) {
                    return None;
                }
                self.edges.retain(|ends, _| !touches(ends));
                self.nodes.remove(&name);
            }
            Op::DeleteEdge { from, relation_type, to } => {
                self.edges.remove(&(from.clone(), relation_type.to_string(), to.clone()));
            }
        }
        Some(())
    }
}

fn merge(into: &mut Json, change: &Json) {
    let fields = into.as_object_mut().unwrap();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Json::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
}

/// Counts what one map has and the other has not, or has otherwise.
fn differences<K: Ord, V: PartialEq>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
) -> (usize, usize, usize) {
    let created = after.keys().filter(|key| !before.contains_key(key)).count();
    let deleted = before.keys().filter(|key| !after.contains_key(key)).count();
    let updated =
        after.iter().filter(|(key, value)| before.get(key).is_some_and(|old| old != *value)).count();
    (created, updated, deleted)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// PUN-40, PUN-59: applied twice is applied once, and the second time says so.
    #[test]
    fn a_patch_comes_twice(before in prop::collection::vec(patch(), 0..3), patch in patch()) {
        let mut world = World::of(&before);
        if world.apply(&patch).is_ok() {
            let once = world.rows();
            if let Ok(counts) = world.apply(&patch) {
                prop_assert_eq!(counts, Counts { unchanged: patch.ops().len(), ..Counts::default() });
            }
            prop_assert_eq!(world.rows(), once);
        }
    }

    /// PUN-59: what only makes and merges can always come again.
    #[test]
    fn upserts_come_twice(before in prop::collection::vec(patch(), 0..3), patch in upserts()) {
        let mut world = World::of(&before);
        if world.apply(&patch).is_ok() {
            prop_assert_eq!(world.apply(&patch).unwrap().unchanged, patch.ops().len());
        }
    }

    /// PUN-40: a patch does what its operations say, or nothing, and counts what differs.
    #[test]
    fn a_patch_does_what_it_says(before in prop::collection::vec(patch(), 0..3), patch in patch()) {
        let mut world = World::of(&before);
        let (old, rows) = (Plain::of(&world), world.rows());
        let mut new = old.clone();
        let accepted = patch.ops().iter().try_for_each(|op| new.apply(op));
        match (world.apply(&patch), accepted) {
            (Ok(counts), Some(())) => {
                prop_assert_eq!(&Plain::of(&world), &new);
                let (nodes, edges) = (differences(&old.nodes, &new.nodes), differences(&old.edges, &new.edges));
                prop_assert_eq!(counts.created, nodes.0 + edges.0);
                prop_assert_eq!(counts.updated, nodes.1 + edges.1);
                prop_assert_eq!(counts.deleted, nodes.2 + edges.2);
            }
            (Err(_), None) => prop_assert_eq!(world.rows(), rows),
            (found, expected) => prop_assert!(false, "{found:?} where {expected:?} was expected"),
        }
    }

    /// PUN-51, PUN-52, PUN-60: names and ends are unique, no edge dangles, a time of making stays, and indexes know what there is.
    #[test]
    fn patches_keep_the_invariants(patches in prop::collection::vec(patch(), 0..8)) {
        let mut world = World::new();
        let mut made = BTreeMap::new();
        for patch in &patches {
            let moment = world.moment + 1;
            if world.apply(patch).is_err() {
                continue;
            }
            let (entities, relations) = world.rows();
            let ids: BTreeSet<_> = entities.iter().map(|entity| entity.id).collect();
            let names: BTreeSet<_> = entities.iter().map(Entity::name).collect();
            let ends: BTreeSet<_> = relations.iter().map(Relation::ends).collect();
            prop_assert_eq!((ids.len(), names.len(), ends.len()), (entities.len(), entities.len(), relations.len()));
            prop_assert!(relations.iter().all(|relation| ids.contains(&relation.from) && ids.contains(&relation.to)));
            for entity in &entities {
                prop_assert!(entity.created_at <= entity.updated_at && entity.updated_at.time_micros <= moment);
                prop_assert_eq!(*made.entry(entity.id).or_insert(entity.created_at), entity.created_at);
                let node = world.graph.node(&entity.label, &entity.key).unwrap().unwrap();
                let hops = |way| world.graph.hops(&node, way, &[], None).unwrap().items.len();
                let touching = |of: fn(&Relation) -> lmlang_entities::EntityId| {
                    relations.iter().filter(|relation| of(relation) == entity.id).count()
                };
                prop_assert_eq!(hops(Way::Out), touching(|relation| relation.from));
                prop_assert_eq!(hops(Way::In), touching(|relation| relation.to));
                let all = world.graph.relations_of(entity.id).unwrap();
                let either = relations.iter().filter(|one| one.from == entity.id || one.to == entity.id).count();
                prop_assert_eq!(all.len(), either);
                for (name, value) in entity.props.iter() {
                    let found = world.graph.equal(&entity.label, &[(&**name, value.clone())], None).unwrap();
                    let found = found.map(|page| page.items.iter().map(|node| node.key.clone()).collect::<Vec<_>>());
                    let has = |one: &&Entity, value: &Indexed| {
                        let own = one.props.get(name).and_then(Indexed::of);
                        one.label == entity.label && own.as_ref() == Some(value)
                    };
                    let all = Indexed::of(value).map(|value| {
                        entities.iter().filter(|one| has(one, &value)).map(|one| one.key.clone()).collect::<Vec<_>>()
                    });
                    prop_assert_eq!(found, all);
                }
            }
            prop_assert_eq!(world.graph.estimate(None).unwrap(), entities.len() as u64);
        }
    }

    /// What is written of a patch is read as the same patch.
    #[test]
    fn a_patch_reads_back(patch in patch()) {
        let json = serde_json::to_value(&patch).unwrap();
        prop_assert_eq!(Patch::from_json(&json).unwrap(), patch);
    }
}
