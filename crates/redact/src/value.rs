//! JSON: names of fields decide, then the texts themselves.

use std::collections::BTreeSet;
use std::mem;

use serde_json::{Map, Value};

use crate::mark::MARK;
use crate::policy::Policy;

impl Policy {
    /// Hides what is secret in a JSON value, at any depth, and says in how many places it did.
    ///
    /// Under a field whose name says that its value is secret, texts, numbers and booleans are hidden, however deep;
    /// `null` and the empty text stay, and so do the shapes of objects and arrays. Elsewhere only texts and names of fields
    /// are, where they hold something that [`Policy::text`] hides. If names become the same thereby, they are numbered.
    pub fn value(&self, value: &mut Value) -> usize {
        hide(self, value)
    }
}

fn hide(policy: &Policy, value: &mut Value) -> usize {
    let mut changed = 0;
    // No recursion: a value can be deeper than the stack.
    let mut open = vec![(value, false)];
    while let Some((value, secret)) = open.pop() {
        match value {
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => {
                if secret {
                    *value = Value::String(MARK.to_owned());
                    changed += 1;
                }
            }
            Value::String(text) => {
                let hidden = if secret { whole(text) } else { changed_text(policy, text) };
                if let Some(hidden) = hidden {
                    *text = hidden;
                    changed += 1;
                }
            }
            Value::Array(items) => open.extend(items.iter_mut().map(|item| (item, secret))),
            Value::Object(fields) => {
                changed += names(policy, fields);
                open.extend(
                    fields.iter_mut().map(|(name, value)| (value, secret || policy.hides_field(name))),
                );
            }
        }
    }
    changed
}

fn whole(text: &str) -> Option<String> {
    (!text.is_empty() && text != MARK).then(|| MARK.to_owned())
}

fn changed_text(policy: &Policy, text: &str) -> Option<String> {
    match policy.text(text) {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(hidden) => Some(hidden),
    }
}

/// Hides what is secret in names of fields; what such a name said about its value, it says no more, so that the value is
/// hidden at once.
fn names(policy: &Policy, fields: &mut Map<String, Value>) -> usize {
    if fields.keys().all(|name| changed_text(policy, name).is_none()) {
        return 0;
    }
    let mut changed = 0;
    let mut taken: BTreeSet<String> =
        fields.keys().filter(|name| changed_text(policy, name).is_none()).cloned().collect();
    for (name, mut value) in mem::take(fields) {
        let name = match changed_text(policy, &name) {
            None => name,
            Some(hidden) => {
                changed += 1;
                if policy.hides_field(&name) {
                    changed += all(&mut value);
                }
                let name = free(&hidden, &taken);
                taken.insert(name.clone());
                name
            }
        };
        fields.insert(name, value);
    }
    changed
}

/// Hides every text, number and boolean of a value.
fn all(value: &mut Value) -> usize {
    let mut changed = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Null => {}
            Value::Array(items) => open.extend(items.iter_mut()),
            Value::Object(fields) => open.extend(fields.values_mut()),
            Value::String(text) if text.is_empty() || text == MARK => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                *value = Value::String(MARK.to_owned());
                changed += 1;
            }
        }
    }
    changed
}

fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2_usize..).map(|number| format!("{name} {number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .expect("there are more numbers than names")
}
