//! What a tool takes: the schema of a type, in the dialect that all clients understand, and arguments held against it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::{RpcError, nearest};

/// Makes the schema of a type.
///
/// Everything stands in its place, without references. Formats such as `uint32` are left out, of which strict clients
/// complain, and so is `null`: what is optional is left out, not null.
pub(crate) fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    let mut schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| Map::new().into());
    schema
}

fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("format");
            if fields.get("title").is_some_and(Value::is_string) {
                fields.remove("title");
            }
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if let Some(Value::Array(variants)) = fields.get_mut("anyOf") {
                variants.retain(|variant| variant["type"] != "null");
                if let [only] = variants.as_slice() {
                    let only = only.clone();
                    fields.remove("anyOf");
                    for (name, value) in only.as_object().cloned().unwrap_or_default() {
                        fields.entry(name).or_insert(value);
                    }
                }
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = fields.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            // Clients know no schemas but objects; this one lets everything through, too.
            if fields.get("items") == Some(&Value::Bool(true)) {
                fields.insert("items".to_owned(), Map::new().into());
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Reads arguments that fit a schema as the type that it is of.
pub(crate) fn typed<T: DeserializeOwned>(arguments: Value) -> Result<T, RpcError> {
    serde_json::from_value(arguments)
        .map_err(|error| RpcError::invalid("arguments", "arguments of this tool", error.to_string()))
}

/// Holds arguments against the schema of a tool, and names the first place where they do not fit.
pub(crate) fn check(arguments: &Value, schema: &Map<String, Value>) -> Result<(), RpcError> {
    fits(arguments, schema, "")
}

fn fits(value: &Value, schema: &Map<String, Value>, place: &str) -> Result<(), RpcError> {
    let wrong = |expected: String| Err(RpcError::invalid(named(place), expected, told(value)));
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values.contains(value)
    {
        let known: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        let near = value.as_str().and_then(|given| nearest(given, known.iter().copied()));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return wrong(format!("{}{near}", one_of(values)));
    }
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return Ok(()) };
    let is = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => true,
    };
    if !is {
        return wrong(kind.to_owned());
    }
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        match (bound("minimum"), bound("maximum")) {
            (Some(least), _) if number < least => return wrong(format!("at least {least}")),
            (_, Some(most)) if number > most => return wrong(format!("at most {most}")),
            _ => {}
        }
    }
    match value {
        Value::Array(items) => {
            let length = items.len() as f64;
            if bound("maxItems").is_some_and(|most| length > most) {
                return Err(RpcError::invalid(
                    named(place),
                    format!("at most {} items", schema["maxItems"]),
                    format!("{} items", items.len()),
                ));
            }
            if bound("minItems").is_some_and(|least| length < least) {
                return Err(RpcError::invalid(
                    named(place),
                    format!("at least {} items", schema["minItems"]),
                    format!("{} items", items.len()),
                ));
            }
            let Some(Value::Object(of)) = schema.get("items") else { return Ok(()) };
            let mut each = items.iter().enumerate();
            each.try_for_each(|(index, item)| fits(item, of, &format!("{place}[{index}]")))
        }
        Value::Object(fields) => object(fields, schema, place),
        _ => Ok(()),
    }
}

fn object(fields: &Map<String, Value>, schema: &Map<String, Value>, place: &str) -> Result<(), RpcError> {
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let below = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    for (name, value) in fields {
        match known.get(name).and_then(Value::as_object) {
            Some(schema) => fits(value, schema, &below(name))?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let near = nearest(name, names.iter().copied());
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(RpcError::invalid(
                    &below(name),
                    format!("one of {}{near}", names.join(", ")),
                    format!("`{name}`"),
                ));
            }
            None => {}
        }
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !fields.contains_key(name) {
            let of = known.get(name).and_then(Value::as_object).unwrap_or(&none);
            let expected = match of.get("enum").and_then(Value::as_array) {
                Some(values) => one_of(values),
                None => of.get("type").and_then(Value::as_str).unwrap_or("a value").to_owned(),
            };
            return Err(RpcError::invalid(&below(name), expected, "nothing"));
        }
    }
    Ok(())
}

fn one_of(values: &[Value]) -> String {
    let known: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    format!("one of {}", known.join(", "))
}

fn named(place: &str) -> &str {
    if place.is_empty() { "params" } else { place }
}

/// A value in few words.
fn told(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => value.to_string(),
        Value::String(text) => format!("a string of {} bytes", text.len()),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(fields) => format!("an object of {}", fields.len()),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        In,
        Out,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// Which.
        program: String,
        way: Option<Way>,
        #[schemars(range(min = 1, max = 9))]
        hops: Option<u32>,
        refs: Option<Vec<String>>,
    }

    #[test]
    fn schemas_are_plain() {
        let expect = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["program"],
            "properties": {
                "program": { "type": "string", "description": "Which." },
                "way": { "type": "string", "enum": ["in", "out"] },
                "hops": { "type": "integer", "minimum": 1, "maximum": 9 },
                "refs": { "type": "array", "items": { "type": "string" } },
            },
        });
        assert_eq!(Value::from(schema::<Args>()), expect);
    }

    fn check_of(arguments: Value, expect: Option<(&str, &str, &str)>) {
        let data = check(&arguments, &schema::<Args>()).err().map(|error| error.data);
        let seen = data.as_ref().map(|data| {
            let text = |name: &str| data[name].as_str().expect("it is a text");
            (text("field"), text("expected"), text("actual"))
        });
        assert_eq!(seen, expect, "{arguments}");
    }

    /// CUE-20: what is wrong with an argument names the field, what was expected and what was found.
    #[test]
    fn cue_20_the_first_place_that_does_not_fit_is_named() {
        check_of(json!({ "program": "a", "way": "in", "hops": 3, "refs": ["f1"] }), None);
        check_of(json!([]), Some(("params", "object", "an array of 0")));
        check_of(json!({}), Some(("program", "string", "nothing")));
        check_of(json!({ "program": 5 }), Some(("program", "string", "5")));
        check_of(json!({ "program": "a", "hops": 10 }), Some(("hops", "at most 9", "10")));
        check_of(json!({ "program": "a", "hops": 1.5 }), Some(("hops", "integer", "1.5")));
        check_of(json!({ "program": "a", "refs": ["f1", null] }), Some(("refs[1]", "string", "null")));
        check_of(
            json!({ "program": "a", "way": "inn" }),
            Some(("way", "one of in, out; did you mean `in`?", "\"inn\"")),
        );
        check_of(
            json!({ "program": "a", "hop": 1 }),
            Some(("hop", "one of hops, program, refs, way; did you mean `hops`?", "`hop`")),
        );
    }
}
