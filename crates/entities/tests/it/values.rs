//! What values are legal.

use lmlang_entities::props::PropValue;
use lmlang_entities::{EntityId, Key, Label, Patch, Props, PropsChange, RelationType, Stamp};
use serde_json::json;

#[test]
fn names_are_bounded() {
    let long = "a".repeat(65);
    for (text, legal) in [
        ("Person", true),
        ("_x1", true),
        ("", false),
        ("1a", false),
        ("a-b", false),
        ("ä", false),
        (&long, false),
    ] {
        assert_eq!(Label::new(text).is_ok(), legal, "{text}");
        assert_eq!(RelationType::new(text).is_ok(), legal, "{text}");
    }
    let long = "é".repeat(129);
    for (text, legal) in
        [("a b/c:d#ü", true), ("", false), (" a", false), ("a\n", false), ("a\u{0}b", false), (&long, false)]
    {
        assert_eq!(Key::new(text).is_ok(), legal, "{text:?}");
    }
    let error = Label::new(&"x".repeat(1_000_000)).unwrap_err();
    assert!(error.to_string().len() < 300);
}

#[test]
fn names_are_read_as_they_are_made() {
    assert_eq!(serde_json::from_value::<Label>(json!("Person")).unwrap().as_str(), "Person");
    assert!(serde_json::from_value::<Label>(json!("no label")).is_err());
    assert_eq!(serde_json::to_value(Key::new("k").unwrap()).unwrap(), json!("k"));
    assert!(serde_json::from_value::<Patch>(json!([{ "delete_node": { "label": "A" } }])).is_err());
}

/// PUN-52: properties are bounded in number, bytes and depth.
#[test]
fn properties_are_bounded() {
    let code = |json| Props::from_json(&json).map_err(|error| error.code());
    let many = (0..257).map(|name| (format!("p{name}"), json!(1))).collect::<serde_json::Map<_, _>>();
    assert_eq!(code(many.into()), Err("ENTITY_PROPS_TOO_LARGE"));
    assert_eq!(code(json!({ "x": "y".repeat(70_000) })), Err("ENTITY_PROPS_TOO_LARGE"));
    assert_eq!(code(json!({ "x": "\u{1}".repeat(20_000) })), Err("ENTITY_PROPS_TOO_LARGE"));
    assert_eq!(code(json!({ "x".repeat(129): 1 })), Err("ENTITY_PROP_NAME"));
    assert_eq!(code(json!({ "x": [[[[[[[[1]]]]]]]] })).map(|props| props.len()), Ok(1));
    assert_eq!(code(json!({ "x": [[[[[[[[[1]]]]]]]]] })), Err("ENTITY_PROPS_TOO_DEEP"));
    // What is merged is bounded as what is made.
    let half = |name: &str| json!({ name: "y".repeat(40_000) });
    let merged = Props::from_json(&half("a")).unwrap().merged(&PropsChange::from_json(&half("b")).unwrap());
    assert_eq!(merged.map_err(|error| error.code()), Err("ENTITY_PROPS_TOO_LARGE"));
}

#[test]
fn properties_are_canonical() {
    let props = Props::from_json(&json!({ "b": 1, "a": { "z": null, "y": [1.0, 2] }, "c": null })).unwrap();
    assert_eq!(serde_json::to_string(&props).unwrap(), r#"{"a":{"y":[1.0,2],"z":null},"b":1}"#);
}

#[test]
fn a_patch_is_bounded() {
    let ops = vec![json!({ "upsert_node": { "label": "A", "key": "a" } }); 1_001];
    assert_eq!(Patch::from_ops(&ops).unwrap_err().code(), "ENTITY_PATCH_TOO_LARGE");
    assert!(Patch::from_ops(&ops[1..]).is_ok());
}

#[test]
fn moments_are_printed_as_dates() {
    for (time_micros, text) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
        (1_709_251_200_000_000, "2024-03-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (-2_203_891_200_000_000, "1900-03-01T00:00:00.000000Z"),
    ] {
        assert_eq!(Stamp { time_micros }.to_string(), text);
    }
    assert_eq!(EntityId([0xab; 16]).to_string(), "abababab-abab-abab-abab-abababababab");
}

/// Whoever shows something else beside entities keeps its labels for that.
#[test]
fn labels_can_be_refused() {
    let person = json!({ "label": "Person", "key": "ada" });
    let function = json!({ "label": "Function", "key": "f" });
    for (op, place) in [
        (json!({ "upsert_node": function }), "upsert_node.label"),
        (json!({ "update_props": { "label": "Function", "key": "f", "props": {} } }), "update_props.label"),
        (json!({ "upsert_edge": { "from": function, "type": "T", "to": person } }), "upsert_edge.from.label"),
        (json!({ "upsert_edge": { "from": person, "type": "T", "to": function } }), "upsert_edge.to.label"),
    ] {
        let patch = Patch::from_ops(&[json!({ "upsert_node": person }), op]).unwrap();
        assert_eq!(patch.refuse_labels(&["Program"]), Ok(()));
        let error = patch.refuse_labels(&["Program", "Function"]).unwrap_err();
        assert_eq!(error.code(), "ENTITY_LABEL_RESERVED");
        assert_eq!((error.place.op, error.place.field.as_str()), (Some(1), place));
    }
    // What was made before they were kept may go.
    for op in [
        json!({ "delete_node": function }),
        json!({ "delete_edge": { "from": person, "type": "T", "to": function } }),
    ] {
        assert_eq!(Patch::from_ops(&[op]).unwrap().refuse_labels(&["Function"]), Ok(()));
    }
}

/// A node that nobody has stored may have more to show.
#[test]
fn what_is_shown_is_as_large_as_it_is() {
    let long = "x".repeat(1024 * 1024);
    let props = Props::shown([("doc", PropValue::Text(long.as_str().into())), ("none", PropValue::Null)]);
    assert_eq!(props.to_json(), json!({ "doc": long }));
}
