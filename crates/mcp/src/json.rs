//! JSON in few lines: what is short stands in one.

use serde_json::Value;

/// Letters of a line that is not broken.
const WIDTH: usize = 100;

/// A value as text, laid out over lines so that it can be cut between them.
pub(crate) fn written(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let short = value.to_string();
    if short.len() + depth <= WIDTH {
        out.push_str(&short);
        return;
    }
    match value {
        Value::Object(fields) => {
            let entries =
                fields.iter().map(|(name, value)| (format!("{}:", Value::from(name.as_str())), value));
            block(out, ('{', '}'), entries, depth);
        }
        Value::Array(items) => {
            block(out, ('[', ']'), items.iter().map(|item| (String::new(), item)), depth);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&short),
    }
}

fn block<'v>(
    out: &mut String,
    (open, close): (char, char),
    entries: impl Iterator<Item = (String, &'v Value)>,
    depth: usize,
) {
    out.push(open);
    for (index, (name, value)) in entries.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push('\n');
        out.push_str(&" ".repeat(depth + 1));
        out.push_str(&name);
        write(out, value, depth + 1);
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_short_stands_in_one_line() {
        let value = json!({ "a": 1, "b": [{ "name": "x".repeat(60) }, { "name": "y".repeat(60) }] });
        let text = written(&value);
        assert_eq!(text.lines().count(), 7, "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), value);
    }
}
