//! What is asked of the server: each statement with its parameters, in Cypher that Neo4j 5 and later understand.
//!
//! Every entity is a node with the label [`ENTITY_LABEL`] and its own label. Its name, which is unique and has an index, is
//! the label, a space and the key, so that the order of names is that of labels and keys: no label has a space, and every
//! letter of one comes after it.

/// The label of every entity, beside its own.
pub const ENTITY_LABEL: &str = "LmlangEntity";

/// The labels of all nodes that the store makes.
pub const LABELS: [&str; 3] = [ENTITY_LABEL, "LmlangRequest", "LmlangTurn"];

/// What must be there before the first transaction; each is run in one of its own.
pub const CONSTRAINTS: [&str; 4] = [
    "CREATE CONSTRAINT lmlang_entity_name IF NOT EXISTS FOR (e:LmlangEntity) REQUIRE e._lmlang_name IS UNIQUE",
    "CREATE CONSTRAINT lmlang_entity_id IF NOT EXISTS FOR (e:LmlangEntity) REQUIRE e.id IS UNIQUE",
    "CREATE CONSTRAINT lmlang_request_key IF NOT EXISTS FOR (r:LmlangRequest) REQUIRE r.key IS UNIQUE",
    "CREATE CONSTRAINT lmlang_turn_name IF NOT EXISTS FOR (t:LmlangTurn) REQUIRE t.name IS UNIQUE",
];

/// Takes the turn: no other transaction that takes it goes on until this one has ended.
pub const TAKE_TURN: &str =
    "MERGE (t:LmlangTurn {name: 'entities'}) SET t.taken = coalesce(t.taken, 0) + 1 RETURN t.taken AS taken";

/// The entity `$name`.
pub const ENTITY: &str = "MATCH (e:LmlangEntity {_lmlang_name: $name}) RETURN properties(e) AS entity";

/// The entities with names after `$after` and before `$before`, `$most` at most.
pub const PAGE: &str = "MATCH (e:LmlangEntity) WHERE e._lmlang_name > $after AND e._lmlang_name < $before \
     RETURN properties(e) AS entity ORDER BY e._lmlang_name LIMIT $most";

/// Of the same the ones whose `$prop` is `$value`.
pub const EQUAL: &str = "MATCH (e:LmlangEntity) WHERE e._lmlang_name > $after AND e._lmlang_name < $before \
     AND e[$prop] = $value RETURN properties(e) AS entity ORDER BY e._lmlang_name LIMIT $most";

/// How many entities have names after `$after` and before `$before`.
pub const COUNT: &str = "MATCH (e:LmlangEntity) WHERE e._lmlang_name > $after AND e._lmlang_name < $before \
     RETURN count(e) AS entities";

/// The relation of `$type` from `$from` to `$to`, ids of entities.
pub const RELATION: &str = "MATCH (:LmlangEntity {id: $from})-[r]->(:LmlangEntity {id: $to}) WHERE type(r) = $type \
     RETURN properties(r) AS relation";

/// The relations that begin at the entity `$id`, `$most` at most.
pub const RELATIONS_FROM: &str = "MATCH (e:LmlangEntity {id: $id})-[r]->(o:LmlangEntity) \
     RETURN type(r) AS type, properties(r) AS relation, o.id AS other LIMIT $most";

/// The relations that end at the entity `$id` and begin at another one, `$most` at most.
pub const RELATIONS_TO: &str = "MATCH (e:LmlangEntity {id: $id})<-[r]-(o:LmlangEntity) WHERE o.id <> $id \
     RETURN type(r) AS type, properties(r) AS relation, o.id AS other LIMIT $most";

/// The next relations that begin at the entity `$id`, with their other ends: of `$types`, or of all if that is empty; after
/// the one of `$type` to `$after`.
pub const HOPS_OUT: &str = "MATCH (e:LmlangEntity {id: $id})-[r]->(o:LmlangEntity) \
     WHERE (size($types) = 0 OR type(r) IN $types) \
     AND (type(r) > $type OR (type(r) = $type AND o._lmlang_name > $after)) \
     RETURN type(r) AS type, properties(r) AS relation, properties(o) AS entity \
     ORDER BY type(r), o._lmlang_name LIMIT $most";

/// The same of relations that end at it.
pub const HOPS_IN: &str = "MATCH (e:LmlangEntity {id: $id})<-[r]-(o:LmlangEntity) \
     WHERE (size($types) = 0 OR type(r) IN $types) \
     AND (type(r) > $type OR (type(r) = $type AND o._lmlang_name > $after)) \
     RETURN type(r) AS type, properties(r) AS relation, properties(o) AS entity \
     ORDER BY type(r), o._lmlang_name LIMIT $most";

/// Deletes relations: `$rows` of `{from, to, id}`.
pub const DELETE_RELATIONS: &str = "UNWIND $rows AS row \
     MATCH (:LmlangEntity {id: row.from})-[r]->(:LmlangEntity {id: row.to}) WHERE r.id = row.id DELETE r";

/// Deletes entities, which have no relations any more: `$ids`.
pub const DELETE_ENTITIES: &str = "UNWIND $ids AS id MATCH (e:LmlangEntity {id: id}) DELETE e";

/// What was answered under the key `$key`.
pub const REQUEST: &str = "MATCH (r:LmlangRequest {key: $key}) RETURN properties(r) AS request";

/// Notes what was answered under a key: `$request`, with its `key`.
pub const NOTE_REQUEST: &str = "CREATE (r:LmlangRequest) SET r = $request";

/// Deletes the nodes of a label, with their relations.
#[must_use]
pub fn clear(label: &str) -> String {
    format!("MATCH (n:{label}) DETACH DELETE n")
}

/// Makes or changes entities of one label: `$rows` of `{name, props}`.
#[must_use]
pub fn merge_entities(label: &str) -> String {
    format!(
        "UNWIND $rows AS row MERGE (e:LmlangEntity {{_lmlang_name: row.name}}) SET e = row.props SET e:`{label}`"
    )
}

/// Makes or changes relations of one type: `$rows` of `{from, to, props}`.
#[must_use]
pub fn merge_relations(relation_type: &str) -> String {
    format!(
        "UNWIND $rows AS row MATCH (a:LmlangEntity {{id: row.from}}), (b:LmlangEntity {{id: row.to}}) \
         MERGE (a)-[r:`{relation_type}`]->(b) SET r = row.props"
    )
}
