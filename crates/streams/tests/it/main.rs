//! Tests of the crate from outside: cases as text, and laws.

mod cases;
mod constructs;
mod laws;
mod oracle;
mod records;

use lmlang_streams::{Catalog, Stream};
use serde_json::{Value as Json, json};

/// The stream of the documentation.
fn readings() -> Json {
    json!({
        "stream": "readings",
        "spec_version": 1,
        "spec": {
            "type": "mqtt",
            "schema": { "columns": [
                { "name": "device", "data_type": "string" },
                { "name": "temp", "data_type": "double" },
                { "name": "level", "data_type": "bigint" },
                { "name": "small", "data_type": "int" },
                { "name": "ok", "data_type": "boolean" },
                { "name": "at", "data_type": "timestamp" },
                { "name": "pos", "data_type": "struct", "fields": [
                    { "name": "x", "data_type": "double" },
                    { "name": "y", "data_type": "double" },
                ] },
                { "name": "tags", "data_type": "array", "element": { "data_type": "string" } },
            ] },
            "eventtime": { "column": "at" },
        },
    })
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    catalog.insert(Stream::from_json(&readings()).unwrap()).unwrap();
    catalog
}
